import type { AllocatedDevice } from "apportion";
import { expect, test } from "vitest";

import { capacityText, claimsWithoutPod, deviceName, podRows, sameReasons, summary } from "../src/model/rows";
import { plural } from "../src/words";
import { ask, example } from "./fixtures";

const DEVICE: AllocatedDevice = { request: "r", driver: "d", pool: "p", device: "x", adminAccess: false };
const TEXT = example("gpu-sharing/");

test("the example becomes rows with nodes, devices and reasons", () => {
  const rows = podRows(ask("run", TEXT));
  const row = (name: string) => rows.find((row) => row.name === name);
  expect(row("notebook")).toMatchObject({ node: "node-a", owner: undefined, reasons: [] });
  expect(row("notebook")?.claims[0]?.devices[0]).toMatchObject({ pool: "node-a", device: "gpu-0" });
  const inference = rows.filter(({ owner }) => owner === "Deployment inference");
  expect(inference.map(({ node }) => node)).toEqual(["node-b", "node-b", "node-b"]);
  expect(inference[0]?.claims[0]?.template).toBe("small-gpu");
  const pending = row("huge-model");
  expect(pending?.node).toBeUndefined();
  expect(pending?.reasons[0]?.place?.line).toBeGreaterThan(300);
  const line = TEXT.split("\n")[(inference[0]?.place?.line ?? 0) - 1];
  expect(line).toBe("apiVersion: apps/v1");
});

test("broken text gives findings with lines, and the rest is answered", () => {
  const result = ask("run", `kind: [\n---\n${TEXT}`);
  expect(result.findings[0]).toMatchObject({ code: "yaml/syntax", severity: "error" });
  expect(podRows(result).length).toBeGreaterThan(5);
  expect(summary(result, result.findings)).toMatch(/^\d+ of \d+ Pods placed, \d+ of \d+ claims allocated, 3 nodes, 1 error/);
});

test("one cause is said once, whatever Pods and claims are called, and other causes are not mixed with it", () => {
  const pod = (name: string, template: string) => `---
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  containers: [{ name: c, image: x, resources: { claims: [{ name: gpu }] } }]
  resourceClaims: [{ name: gpu, resourceClaimTemplateName: ${template} }]
`;
  const template = (name: string, deviceClass: string) => `---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: { name: ${name} }
spec: { spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: ${deviceClass} } }] } } }
`;
  const text = template("one", "none") + template("two", "neither") + ["a-1", "a-2", "a-3"].map((name) => pod(name, "one")).join("") + pod("b-1", "two");
  const rows = podRows(ask("run", text));
  expect(rows.every(({ reasons }) => reasons.length > 0)).toBe(true);
  expect([...sameReasons(rows)].map(([key, { name }]) => [key, name])).toEqual([["default/a-2", "a-1"], ["default/a-3", "a-1"]]);
});

test("claims that no Pod names are listed apart", () => {
  const claim = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: { name: alone, namespace: ml }\nspec: {}\n";
  expect(claimsWithoutPod(ask("run", `${TEXT}---\n${claim}`)).map(({ name }) => name)).toEqual(["alone"]);
});

test("a pool is named where it is not the node's", () => {
  expect(deviceName({ ...DEVICE, pool: "node-a" }, "node-a")).toBe("x");
  expect(deviceName(DEVICE, "node-a")).toBe("p/x");
});

test("amounts and counts read well", () => {
  expect(capacityText({ ...DEVICE, consumedCapacity: { memory: "1Gi", lanes: "2" } })).toBe("1Gi memory, 2 lanes");
  expect(capacityText(DEVICE)).toBe("");
  expect([plural(0, "Pod"), plural(1, "Pod")]).toEqual(["0 Pods", "1 Pod"]);
});
