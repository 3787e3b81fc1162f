import { expect, test } from "vitest";

import { apiVersions, fieldOf, fieldsAt, kinds, spotAt } from "../src/editor/fields";
import { seenValues } from "../src/editor/knowledge";

const HEAD = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: { name: c }\n";

/** The spot at the mark `|`. */
function at(text: string) {
  const lines = text.split("\n");
  const line = lines.findIndex((line) => line.includes("|"));
  const column = (lines[line] ?? "").indexOf("|");
  return spotAt(lines.map((line) => line.replace("|", "")), line, column);
}

function offered(text: string): string[] {
  const spot = at(text);
  return spot === undefined || !spot.isKey ? [] : fieldsAt(spot).map(({ name }) => name);
}

test.each([
  [`${HEAD}|`, ["spec", "status"]],
  [`${HEAD}spec:\n  |`, ["devices"]],
  [`${HEAD}spec:\n  devices:\n    re|`, ["requests", "constraints", "config"]],
  [`${HEAD}spec:\n  devices:\n    requests:\n    - |`, ["name", "exactly", "firstAvailable"]],
  [`${HEAD}spec:\n  devices:\n    requests:\n    - name: a\n      |`, ["exactly", "firstAvailable"]],
  [`${HEAD}spec:\n  devices:\n    requests:\n      - exactly:\n          count: 1\n        n|\n      - name: b`, ["name", "firstAvailable"]],
  [`${HEAD}spec:\n  devices: { constraints: [{ |`, ["requests", "matchAttribute", "distinctAttribute"]],
  [`${HEAD}spec: { devices: { requests: [{ name: a, exactly: { deviceClassName: x } }, { na|`, ["name", "exactly", "firstAvailable"]],
  [`${HEAD}spec:\n  devices:\n    requests:\n    # a comment\n\n    - name: a\n      exactly:\n        selectors:\n        - cel: { |`, ["expression"]],
])("%j can go on", (text, names) => {
  expect(offered(text)).toEqual(names);
});

test("Pod templates, other kinds and free keys are followed", () => {
  const deployment = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      resourceClaims:\n      - ";
  expect(offered(`${deployment}|`)).toEqual(["name", "resourceClaimName", "resourceClaimTemplateName"]);
  const slice = "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nspec:\n  devices:\n  - name: a\n    capacity:\n      memory:\n        ";
  expect(offered(`${slice}|`)).toContain("value");
  expect(offered("apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  na|")).toContain("namespace");
  expect(offered("kind: Thing\nspec:\n  |")).toEqual([]);
});

test("a value is no key, and neither is what stands in a text of several lines", () => {
  expect(at(`${HEAD}spec: |`)).toMatchObject({ isKey: false, key: "spec", begun: "" });
  expect(at(`${HEAD}spec:\n  devices: { requests: [{ exactly: { allocationMode: A|`)).toMatchObject({ isKey: false, key: "allocationMode", begun: "A" });
  expect(at(`${HEAD}data:\n  text: >-\n    spec|`)).toBeUndefined();
  expect(at(`${HEAD}# sp|`)).toBeUndefined();
  expect(at(`${HEAD}metadata: { name: "not clo|`)).toBeUndefined();
});

test("a field says what it holds and since when", () => {
  const claim = "resource.k8s.io/v1 ResourceClaim";
  expect(fieldOf(claim, ["spec", "devices", "requests"])).toEqual({ name: "requests", holds: "list of objects", fields: ["name", "exactly", "firstAvailable"], era: "" });
  expect(fieldOf(claim, ["spec", "devices", "requests", "exactly", "derivedAttributes"])?.era).toBe("since 1.37");
  expect(fieldOf(claim, ["spec", "devices", "requests", "exactly", "count"])?.holds).toBe("whole number");
  expect(fieldOf("v1 Pod", ["spec", "workloadRef"])?.era).toBe("in 1.35 alone");
  for (const name of ["constructor", "nothing"]) expect(fieldOf(claim, ["spec", name])).toBeUndefined();
  expect(kinds).toContain("DeviceTaintRule");
  expect(apiVersions).toContain("resource.k8s.io/v1");
});

test("an attribute says which values devices have", () => {
  const values = new Map([["attributes gpu.example.com/model", ["A100", "H100"]]]);
  const line = 'expression: device.attributes["gpu.example.com"].model';
  expect(seenValues(line, { values })).toEqual({ from: line.length - 5, name: "gpu.example.com/model", values: ["A100", "H100"] });
  expect(seenValues(line.replace("model", "index"), { values })?.values).toEqual([]);
  expect(seenValues("model", { values })).toBeUndefined();
});
