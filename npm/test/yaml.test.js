import assert from "node:assert/strict";
import test from "node:test";

import { Engine, readYaml, validate } from "apportion";

const TEXT = `# ä😀
apiVersion: v1
kind: Namespace
metadata:
  name: é😀
---
kind: [
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: { name: c }
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassNam: gpu.example.com
        count: 9223372036854775807
`;

test("documents and problems have ranges of the JavaScript string", () => {
  const manifests = readYaml(TEXT);
  assert.deepEqual(manifests.documents.map(({ object }) => object.kind), ["Namespace", "ResourceClaim"]);
  const { start, end } = manifests.documents[0].utf16Range;
  assert.equal(TEXT.slice(start, end).trimEnd(), "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: é😀");
  const [problem] = manifests.problems;
  assert.equal(problem.code, "yaml/syntax");
  assert.equal(problem.severity, "error");
  assert.ok(problem.place.line >= 7 && problem.place.line <= 8);
  manifests.free();
});

test("documents are the JSON that kubectl makes, with exact integers", () => {
  const manifests = readYaml(TEXT);
  assert.equal(manifests.json(1).spec.devices.requests[0].exactly.count, 9223372036854775807n);
  assert.match(manifests.jsonText(1), /"count":9223372036854775807/);
  assert.equal(manifests.json(7), undefined);
});

test("fields are found by object and path", () => {
  const manifests = readYaml(TEXT);
  const object = { kind: "ResourceClaim", namespace: "default", name: "c" };
  const shown = (place) => place && [place.line, TEXT.slice(place.utf16Range.start, place.utf16Range.end), place.isExact];
  assert.deepEqual(shown(manifests.locate(object, "spec.devices.requests[0].name")), [15, "gpu", true]);
  assert.deepEqual(shown(manifests.locate(object, "spec.devices")), [13, "devices", true]);
  assert.deepEqual(shown(manifests.locate(object, "spec.devices.constraints[0]")), [13, "devices", false]);
  assert.equal(manifests.locate({ ...object, name: "d" }), undefined);
  assert.equal(manifests.locateAll([{ object }, { object, path: "metadata.name" }]).length, 2);
});

test("findings of the engine stand at the line of their field", () => {
  const findings = new Engine().applyYaml(TEXT);
  assert.deepEqual(
    findings.map(({ code, place }) => [code, place?.line, place && TEXT.slice(place.utf16Range.start, place.utf16Range.end)])
      .find(([code]) => code === "read/unknown-field"),
    ["read/unknown-field", 17, "gpu.example.com"],
  );
  const starts = findings.map(({ place }) => place?.utf16Range.start ?? 0);
  assert.deepEqual(starts, starts.toSorted((left, right) => left - right));
});

test("suggested objects and corrections are written into the text, comments stay", () => {
  const manifests = readYaml(TEXT);
  const claim = manifests.json(1);
  claim.spec.devices.requests[0].exactly = { deviceClassName: "gpu.example.com", count: 9223372036854775807n };
  const added = { apiVersion: "v1", kind: "Namespace", metadata: { name: "new" } };
  const text = manifests.rewrite([claim, added]);
  assert.ok(text.startsWith("# ä😀\n"));
  assert.match(text, /deviceClassName: gpu.example.com\n {8}count: 9223372036854775807\n/);
  assert.ok(text.endsWith("---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: new\n"));

  const found = validate({ object: manifests.json(1) }).find(({ fix }) => fix !== undefined);
  const finding = { ...found, place: manifests.locate(manifests.documents[1].object, found.path) };
  assert.deepEqual(finding.fix, { rename: "deviceClassName" });
  assert.equal(manifests.correct(finding), TEXT.replace("deviceClassNam:", "deviceClassName:"));
  assert.equal(manifests.correct({ ...finding, fix: undefined }), undefined);
});
