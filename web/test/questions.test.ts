import { expect, test } from "vitest";

import { matrixOf } from "../src/model/matrix";
import { modelOf, tilesOf } from "../src/model/model";
import { type Deed, nextName, withDeed } from "../src/model/suppose";
import { coloursOf, workloadsOf } from "../src/model/workloads";
import { ask, example, slice } from "./fixtures";

const TOUR = example("gpu-sharing/");

test("how many more fit is counted by node, and what cannot be asked is refused", () => {
  const { answer } = ask("fit", TOUR, { request: { device: { class: "gpu.example.com" }, per: "node" } });
  expect(answer?.rows.map(({ name }) => name)).toEqual(["node-a", "node-b", "node-c"]);
  expect(Number(answer?.total.atMost)).toBe(answer?.rows.reduce((sum, { fits }) => sum + Number(fits.atMost), 0));
  const { refused } = ask("fit", TOUR, { request: { subject: { kind: "ResourceClaimTemplate", namespace: "ml", name: "none" } } });
  expect(refused?.[0]?.message).toContain("none");
});

test("nodes compare for a Pod that has a place, and a Pod that is not there is refused", () => {
  const pod = (name: string) => ({ pod: { kind: "Pod", namespace: "ml", name } });
  const [scores] = ask("scores", TOUR, pod("notebook")).answer ?? [];
  expect(scores?.chosen).toBe("node-a");
  expect(scores?.nodes.map(({ node }) => node)).toEqual(["node-a", "node-c"]);
  for (const { score, plugins } of scores?.nodes ?? []) {
    expect(Number(score)).toBe(Object.entries(plugins).reduce((sum, [plugin, value]) => sum + Number(value) * Number(scores?.weights[plugin]), 0));
  }
  expect(ask("scores", TOUR, pod("none")).refused?.[0]?.message).toContain("none");
});

const supposed = (...deeds: Deed[]) => {
  const { answer } = ask("whatIf", TOUR, { deeds });
  if (answer === undefined) throw new Error("refused");
  return answer;
};

test("nothing changed is nothing different", () => {
  expect(supposed().difference).toMatchObject({ pods: [], claims: [], nodesAdded: [], nodesRemoved: [] });
});

test("a node that goes takes its devices along, in the picture as in words", () => {
  const { difference, inventory, report } = supposed({ does: "remove", node: "node-a" });
  expect(difference.nodesRemoved).toEqual(["node-a"]);
  expect(difference.pods.length).toBeGreaterThan(0);
  const shown = modelOf(inventory, report);
  expect(shown.groups.map(({ title }) => title)).toEqual(["node-b", "node-c"]);
  for (const { pod, after } of difference.pods) {
    const now = report.pods.find(({ namespace, name }) => `${namespace}/${name}` === pod);
    expect(typeof after === "object" ? after.node : undefined).toBe(now?.node);
  }
  const held = tilesOf(shown).flatMap(({ key, holders }) => holders.map(({ claim }) => `${claim} ${key}`));
  for (const { claim, after } of difference.claims) for (const device of after ?? []) expect(held).toContain(`${claim} ${device}`);
});

test("one more node like another brings devices of its own, which wait for those who had none", () => {
  const text = `${slice("node-1", "  - name: gpu-0\n")}---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: gpu }
spec: {}
${["a", "b"].map((name) => `---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: { name: ${name} }
spec: { devices: { requests: [{ name: r, exactly: { deviceClassName: gpu } }] } }
---
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec: { containers: [{ name: c, image: x }], resourceClaims: [{ name: r, resourceClaimName: ${name} }] }
`).join("")}`;
  const { answer } = ask("whatIf", text, { deeds: [{ does: "add", node: "node-1", name: nextName("node-1", ["node-1"]) }] });
  expect(answer?.difference.devicesAdded).toEqual([{ driver: "gpu.example.com", pool: "node-2", device: "gpu-0" }]);
  expect(answer?.difference.pods).toMatchObject([{ pod: "default/b", before: "pending", after: { node: "node-2" } }]);
  expect(tilesOf(modelOf(answer!.inventory, answer!.report)).map(({ key, holders }) => [key, holders[0]?.name])).toEqual([
    ["gpu.example.com/node-1/gpu-0", "a"], ["gpu.example.com/node-2/gpu-0", "b"],
  ]);
});

test("a cordoned node and a tainted device are drawn as such", () => {
  const { inventory, difference } = supposed({ does: "cordon", node: "node-b" }, { does: "taint", devices: "gpu.example.com/node-c/gpu-0", taint: "a=b:NoSchedule" });
  expect(inventory.nodes.find(({ name }) => name === "node-b")?.isCordoned).toBe(true);
  const tainted = inventory.pools.flatMap(({ name, devices }) => devices.filter(({ taints }) => taints.includes("a=b:NoSchedule")).map((device) => `${name}/${device.name}`));
  expect(tainted).toEqual(["node-c/gpu-0"]);
  expect(difference.pods.length).toBeGreaterThan(0);
});

test("all devices of a node are tainted, also of one that was added, and a node that is not there is refused", () => {
  const taint = "a=b:NoExecute";
  const { inventory, difference } = supposed({ does: "add", node: "node-b", name: "node-d" }, { does: "taintNode", node: "node-b", taint }, { does: "taintNode", node: "node-d", taint });
  const tainted = inventory.pools.filter(({ devices }) => devices.every(({ taints }) => taints.includes(taint)));
  expect(tainted.map(({ node }) => node)).toEqual(["node-b", "node-d"]);
  expect(inventory.pools.flatMap(({ devices }) => devices.filter(({ taints }) => taints.includes(taint)))).toHaveLength(8);
  expect(difference.claims.flatMap(({ before }) => before ?? []).some((device) => device.includes("/node-b/"))).toBe(true);
  expect(difference.claims.flatMap(({ after }) => after ?? []).some((device) => /\/node-[bd]\//.test(device))).toBe(false);
  expect(ask("whatIf", TOUR, { deeds: [{ does: "taintNode", node: "none", taint }] }).refused?.[0]?.message).toContain("none");
});

test("one more node takes no name of another, whatever slices and pools are called", () => {
  const text = slice("node-1", "  - name: gpu-0\n").replace("metadata: { name: node-1 }", "metadata: { name: first }").replace("pool: { name: node-1", "pool: { name: gpus");
  const { difference, inventory } = ask("whatIf", text, { deeds: [{ does: "add", node: "node-1", name: "node-2" }] }).answer!;
  expect(difference).toMatchObject({ devicesAdded: [{ pool: "node-2-gpus", device: "gpu-0" }], devicesRemoved: [] });
  expect(inventory.pools.map(({ name, node }) => [name, node])).toEqual([["gpus", "node-1"], ["node-2-gpus", "node-2"]]);
});

test("devices of a pool with several nodes are tainted on one of them", () => {
  const text = `${slice("node-1", "  - name: gpu-0\n    nodeName: a\n  - name: gpu-1\n    nodeName: b\n").replace("nodeName: node-1", "perDeviceNodeSelection: true")}`;
  const { inventory } = ask("whatIf", text, { deeds: [{ does: "taintNode", node: "b", taint: "a=b:NoSchedule" }] }).answer!;
  expect(inventory.pools[0]?.devices.map(({ name, taints }) => [name, taints])).toEqual([["gpu-0", []], ["gpu-1", ["a=b:NoSchedule"]]]);
});

test("a node is either cordoned or gone", () => {
  const deeds = withDeed(withDeed([{ does: "cordon", node: "a" }], { does: "taint", devices: "d", taint: "x:NoSchedule" }), { does: "remove", node: "a" });
  expect(deeds.map(({ does }) => does)).toEqual(["taint", "remove"]);
});

test("another text is compared as the command line does, with its picture", () => {
  const { difference, report, inventory } = ask("compare", TOUR, { other: TOUR.replaceAll("192Gi", "16Gi") });
  expect(difference.pods).toMatchObject([{ pod: "ml/huge-model", before: "pending", after: { node: "node-c" } }]);
  expect(report.pods.every(({ node }) => node !== undefined)).toBe(true);
  expect(inventory.pools.length).toBeGreaterThan(0);
});

test("versions are compared, and only differences are shown", () => {
  const { columns, rows } = ask("versions", example("extended-resource/"));
  expect(columns.map(({ version }) => version)).toEqual(["all", "1.38", "1.37", "1.36", "1.35", "1.34"]);
  expect(rows.length).toBeGreaterThan(0);
  for (const { states } of rows) expect(new Set(states).size).toBeGreaterThan(1);
  expect(ask("versions", slice("node-1", "  - name: gpu-0\n")).rows).toEqual([]);
});

test("the matrix counts for each node what is against its devices", () => {
  const [explanation] = ask("why", TOUR, { subject: { kind: "Pod", namespace: "ml", name: "huge-model" }, nodes: ["node-a", "node-b", "node-c"] });
  const { kinds, rows } = matrixOf(explanation!);
  expect(rows.map(({ node }) => node)).toEqual(["node-a", "node-b", "node-c"]);
  expect(kinds).toContain("selectorFalse");
  for (const { counts, usable, needed } of rows) {
    expect(counts.length).toBe(kinds.length);
    expect(usable).toBeLessThan(needed);
  }
});

test("claims of one workload have one colour, whatever else there is", () => {
  const { report } = ask("run", TOUR);
  const workloads = workloadsOf(report, {});
  const names = [...workloads.values()].map(({ name }) => name);
  expect(names).toContain("Job training");
  expect(names.filter((name) => name === "Job training").length).toBeGreaterThan(1);
  const few = ["a", "b", "c", "d", "e", "f", "g", "h"].map((key) => ({ key, name: key }));
  expect(new Set(coloursOf(few).values()).size).toBe(8);
  const many = [...few, ...Array.from({ length: 40 }, (_, index) => ({ key: `w${index}`, name: "" }))];
  expect(coloursOf(many).get("a")).toBe(coloursOf([...many, { key: "another", name: "" }]).get("a"));
});
