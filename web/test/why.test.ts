import { expect, test } from "vitest";

import { changes, funnel, grouped, placeOf, readText } from "../src/model/why";
import { ask, example, slice } from "./fixtures";

const TEXT = example("gpu-sharing/");

test("a funnel ends where no device is left", () => {
  const [explanation] = ask("why", TEXT, {});
  const steps = funnel(explanation?.requests[0] ?? fail());
  expect(steps.map(({ name, devices }) => [name, devices])).toEqual([
    ["offered", 10], ["of the class", 8], ["reachable", 8], ["match", 0],
  ]);
  expect(steps.at(-1)?.lost[0]?.text).toContain("192Gi");
});

test("a funnel loses every device that cannot be used, whatever the reason", () => {
  for (const path of ["taints/", "partitionable/", "consumable-capacity/", "network-attached/", "numa-aligned/"]) {
    for (const { requests } of ask("why", example(path), {})) {
      for (const request of requests) {
        const lost = request.reasons.reduce((sum, { devices }) => sum + Number(devices), 0);
        expect(funnel(request).at(-1)?.devices).toBe(Number(request.devices) - lost);
      }
    }
  }
});

test("a template whose claims no device is large enough for is changed, too", () => {
  const text = `${slice("node-1", "  - { name: gpu-0, capacity: { memory: { value: 80Gi } } }\n")}---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: gpu }
spec: {}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: { name: large }
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: gpu
          selectors:
          - cel:
              expression: device.capacity["gpu.example.com"].memory.compareTo(quantity("140Gi")) >= 0
---
apiVersion: v1
kind: Pod
metadata: { name: p }
spec: { containers: [{ name: c, image: x }], resourceClaims: [{ name: gpu, resourceClaimTemplateName: large }] }
`;
  const [{ suggestions: [first] = [] } = fail()] = ask("why", text, {});
  expect(first?.text).toContain('quantity("80Gi")');
  const { text: changed, report } = ask("attempt", text, { manifests: first?.manifests ?? [] });
  expect(changed).toBe(text.replace("140Gi", "80Gi"));
  expect(report.pods.map(({ node }) => node)).toEqual(["node-1"]);
});

test("a refused slice is gone to from what explains it", () => {
  const text = `${slice("node-1", "  - name: GPU_0\n")}---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: gpu }
spec: {}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: { name: c }
spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu } }] } }
---
apiVersion: v1
kind: Pod
metadata: { name: p }
spec: { containers: [{ name: c, image: x }], resourceClaims: [{ name: gpu, resourceClaimName: c }] }
`;
  const [{ stage } = fail()] = ask("why", text, {});
  const refused = stage.find(({ code }) => code === "run/refused") ?? fail();
  const place = placeOf(refused, ask("run", text).reasons) ?? fail();
  expect(text.split("\n")[place.line - 1]).toContain("GPU_0");
  expect(placeOf({ ...refused, message: "something else" }, ask("run", text).reasons)).toBeUndefined();
});

test("subjects of one explanation stand together", () => {
  const pods = ["one", "two"].map((name) => `---
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec: { containers: [{ name: c, image: x }], resourceClaims: [{ name: c, resourceClaimTemplateName: t }] }
`);
  const template = `apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: { name: t }
spec: { spec: { devices: { requests: [{ name: r, exactly: { deviceClassName: none } }] } } }
`;
  const groups = grouped(ask("why", template + pods.join(""), {}));
  expect(groups.map(({ subjects }) => subjects.map(({ name }) => name))).toEqual([["one", "two"]]);
});

test("Pods that differ in the names of their claims stand together, in the order of numbers", () => {
  const text = ["pod-10 own", "pod-2 any", "pod-1 other"].map((names) => {
    const [pod, claim] = names.split(" ");
    return `---
apiVersion: v1
kind: Pod
metadata: { name: ${pod} }
spec: { containers: [{ name: c, image: x }], resourceClaims: [{ name: c, resourceClaimName: ${claim} }] }
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: { name: ${claim} }
spec: { devices: { requests: [{ name: r, exactly: { deviceClassName: none } }] } }
`;
  });
  const groups = grouped(ask("why", text.join(""), {}), ask("run", text.join("")).report.pods);
  expect(groups.map(({ subjects }) => subjects.map(({ name }) => name))).toEqual([["pod-1", "pod-2", "pod-10"]]);
});

test("a suggestion that is tried changes the text and the answer", () => {
  const before = ask("run", TEXT).report;
  const suggestion = ask("why", TEXT, {})[0]?.suggestions?.[0];
  const attempt = ask("attempt", TEXT, { manifests: suggestion?.manifests ?? fail() });
  // Nothing but the claim is another, and its comment stays.
  const parts = (text = "") => text.split("---\n");
  const changed = parts(attempt.text).filter((part, index) => part !== parts(TEXT)[index]);
  expect(changed).toEqual([expect.stringMatching(/^# Stays Pending: [^]*name: huge\n[^]*quantity\("80Gi"\)/)]);
  expect(changes(before, attempt.report)).toContainEqual({ kind: "Pod", name: "ml/huge-model", before: "Pending", after: "node-c" });
  expect(changes(before, before)).toEqual([]);
});

test("what a selector read is told with a name that was likely meant", () => {
  expect(readText({ name: "a", present: 0, devices: 2, values: [], didYouMean: "b" })).toBe("none of 2 devices has `a`; did you mean `b`?");
  expect(readText({ name: "a", present: 1, devices: 2, values: [{ value: "x", devices: 1 }] })).toBe("1 of 2 have `a`: x on 1");
});

function fail(): never {
  throw new Error("not there");
}
