import { expect, test } from "vitest";

import { sessionOf } from "../src/answer/answer";
import { type Group, type Tile, filtered, finder, modelOf, refusedSlices, tilesOf } from "../src/model/model";
import * as words from "../src/words";
import { ask, example, questionOf, slice } from "./fixtures";

function model(text: string) {
  const { report } = ask("run", text);
  return modelOf(sessionOf(questionOf(text)).inventory(), report);
}

const titles = (groups: readonly Group[]): unknown[] =>
  groups.map(({ title, children }) => (children.length === 0 ? title : [title, titles(children)]));

test("nodes are racks, and devices know their holders", () => {
  const shown = model(example("gpu-sharing/"));
  expect(titles(shown.groups)).toEqual(["node-a", "node-b", "node-c"]);
  const gpu = tilesOf(shown).find(({ key }) => key === "gpu.example.com/node-a/gpu-0");
  expect(gpu?.holders.map(({ claim, isAdmin }) => [claim, isAdmin])).toEqual([["ml/team-gpu", false], ["monitoring/all-gpus", true]]);
  const claim = shown.claims.find(({ name }) => name === "team-gpu");
  expect(claim).toMatchObject({ pods: ["ml/notebook", "ml/profiler"], devices: ["gpu.example.com/node-a/gpu-0"] });
});

test("what counters have left is what nobody drew", () => {
  const shown = model(example("partitionable/"));
  const sets = shown.groups.flatMap(({ pools }) => pools.flatMap(({ sets }) => sets)).filter(({ gauges }) => gauges.length > 0);
  expect(sets.length).toBeGreaterThan(0);
  for (const { gauges, tiles } of sets) {
    for (const { name, parts } of gauges) {
      const drawing = tiles.filter(({ holders, device }) => holders.length > 0 && device.consumes.some(({ counters }) => counters.some(([counter]) => counter === name)));
      expect(parts.length).toBe(drawing.length);
    }
  }
  expect(sets.some(({ gauges }) => gauges.some(({ used }) => used !== "0"))).toBe(true);
});

test("a partition is not free where others have what it draws on, nor where its slice was refused", () => {
  const shown = model(example("drivers/nvidia-mig.yaml") + "---\n" + example("mig/"));
  const said = (name: string) => words.owner(tilesOf(shown).find(({ device }) => device.name === name) as Tile);
  expect(["gpu-0-mig-7g40gb-0-0", "gpu-0-mig-3g20gb-9-4", "gpu-0-mig-1g5gb-19-5", "gpu-0-mig-1g5gb-19-6"].map(said)).toEqual([
    "no room", "no room", "no room", "notebook-mig-4r6qc",
  ]);
  const [free] = tilesOf(shown).filter(({ hindrance, holders }) => hindrance === undefined && holders.length === 0);
  expect(free === undefined ? "" : words.owner(free)).toBe("free");
  const broken = slice("node-1", "  - name: GPU_0\n") + slice("node-2", "  - name: gpu-0\n");
  const { report, findings } = ask("run", broken);
  const tiles = tilesOf(modelOf(sessionOf(questionOf(broken)).inventory(), report, [], refusedSlices(findings)));
  expect(tiles.map(words.owner)).toEqual(["refused", "free"]);
  expect(tiles.map((tile) => words.tile(tile))[0]).toContain("refused. its slice has an error and is left out");
});

test("a shared device shows what each claim consumes", () => {
  const shown = model(example("consumable-capacity/"));
  const shared = tilesOf(shown).find(({ fills, holders }) => fills.length > 0 && holders.length > 1);
  expect(shared?.fills[0]?.parts.length).toBe(shared?.holders.length);
});

test("a pool that some nodes reach stands around them", () => {
  const groups = titles(model(example("network-attached/")).groups);
  expect(groups).toEqual(["floating", ["rack-r1", ["node-a"]], ["rack-r2", ["node-b"]]]);
});

test("racks within racks are drawn as such, and what overlaps is not", () => {
  const pool = (name: string, nodes: string) => `---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: { name: ${name} }
spec:
  driver: fabric.example.com
  pool: { name: ${name}, generation: 1, resourceSliceCount: 1 }
  nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: kubernetes.io/hostname, operator: In, values: [${nodes}] }] }] }
  devices: [{ name: x }]
`;
  const nodes = ["a", "b", "c"].map((node) => slice(node, "  - name: gpu-0\n")).join("");
  const tree = model(nodes + pool("rack", "a, b") + pool("hall", "a, b, c") + pool("across", "b, c"));
  expect(titles(tree.groups)).toEqual(["rack", ["hall", ["a", ["across", ["b", "c"]]]]]);
});

test("only the newest generation counts, and a slice that is missing is told", () => {
  const old = slice("a", "  - name: old\n");
  const fresh = slice("a", "  - name: new\n").replace("name: a }", "name: a-2 }").replace("generation: 1, resourceSliceCount: 1", "generation: 2, resourceSliceCount: 2");
  const { pools } = sessionOf(questionOf(old + fresh)).inventory();
  expect(pools.map(({ devices, isIncomplete }) => [devices.map(({ name }) => name), isIncomplete])).toEqual([[["new"], true]]);
});

test("a device stands from its first line to the next device", () => {
  const text = slice("a", "  - name: one\n    attributes: { model: { string: A } }\n  - name: two\n");
  const session = sessionOf(questionOf(text));
  const [pool] = session.inventory().pools;
  // Places are those in the document: what is written before it moves none of them.
  const own = text.slice(session.reading.documents[0]?.utf16Range.start);
  const lines = pool?.devices.map(({ start, end }) => own.slice(start, end).trim().split("\n")[0]);
  expect(lines?.every((line) => /name: (one|two)$/.test(line ?? ""))).toBe(true);
  expect(own.slice(pool?.devices[0]?.start, pool?.devices[0]?.end)).toContain("string: A");
});

test("taints of rules stand beside those of slices", () => {
  const tiles = tilesOf(model(example("taints/")));
  const taints = (key: string) => tiles.find((tile) => tile.key === key)?.device.taints;
  expect(taints("gpu.example.com/node-b/gpu-0")).toEqual(["example.com/maintenance:NoSchedule by rule node-b-maintenance"]);
  expect(taints("gpu.example.com/node-a/gpu-0")).toEqual(["gpu.example.com/firmware=outdated:NoSchedule"]);
});

test("words are looked for in names, attributes, taints and claims", () => {
  const shown = model(example("gpu-sharing/"));
  const count = (text: string) => filtered(shown, finder(text)).devices;
  expect(count("")).toBe(shown.devices);
  expect(count("team-gpu")).toBe(1);
  expect(count("node-b gpu")).toBe(4);
  expect(count("nothing like it")).toBe(0);
});

test("documents of any shape do no harm", () => {
  for (const spec of ["null", "[]", "{ devices: 1, pool: [] }", "{ devices: [null, 1, { attributes: [] }] }", "{ nodeSelector: { nodeSelectorTerms: [1] }, devices: [{}] }"]) {
    const text = `apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: { name: s }\nspec: ${spec}\n`;
    expect(sessionOf(questionOf(text)).inventory().pools.length).toBeLessThan(2);
  }
});
