import type { Happening, Moment } from "apportion";
import { expect, test } from "vitest";

import { DEEDS, type Deed, clock, instants, lanes, stageAt, ticks, withStep } from "../src/model/life";
import { ask, example } from "./fixtures";

const CLUSTER = example("life/cluster.yaml");
const SCRIPT = example("life/script.yaml");
const UNTIL = { untilMillis: 600_000 };
const play = (script: string) => ask("life", CLUSTER, { script, ...UNTIL });

test("a script is played, and every step happens", () => {
  const life = play(SCRIPT);
  expect(life.findings).toEqual([]);
  expect(life.steps.map(({ atMillis, refused }) => [atMillis, refused])).toEqual([
    [30_000, undefined], [60_000, undefined], [180_000, undefined], [185_000, undefined], [210_000, undefined], [240_000, undefined], [300_000, undefined],
  ]);
  const gone = life.moments.find(({ object, happened }) => object.name === "trainer-0" && happened === "deleted");
  expect(gone?.atMillis).toBe(60_000);
  expect(life.stages.at(-1)?.report.nodes.map(({ name }) => name)).toEqual(["node-b"]);
});

test("how things stood is known at any time", () => {
  const life = play(SCRIPT);
  const pods = (at: number) => stageAt(life, at)?.report.pods.map(({ name }) => name);
  expect(pods(0)).toEqual(["trainer-0", "trainer-1", "notebook"]);
  expect(pods(60_000)).toEqual(["trainer-1", "notebook"]);
  expect(pods(599_000)?.length).toBe(0);
  // Exactly when something happened, and after it.
  expect(pods(59_999)).toEqual(["trainer-0", "trainer-1", "notebook"]);
  expect(pods(149_999)).toEqual(["trainer-1", "notebook"]);
  expect(pods(150_000)).toEqual(["trainer-1"]);
  expect(instants(life)[0]).toBe(0);
  expect(instants(life)).toContain(120_000);
});

test("lanes follow an object from its beginning to its end", () => {
  const { moments, endMillis } = play(SCRIPT);
  const lane = lanes(moments, endMillis).find(({ name }) => name === "Pod ml/notebook");
  expect(lane?.spans).toEqual([
    { from: 0, to: 120_000, state: "Running" },
    { from: 120_000, to: 150_000, state: "deleting" },
  ]);
});

test("lanes of who waits come first, then those of lower numbers", () => {
  const moment = (name: string, happened: Happening, detail = "") => ({ atMillis: 0, object: { kind: "Pod", namespace: "", name }, happened, detail });
  const moments = [
    moment("pod-10", "phase", "Running"), moment("pod-2", "phase", "Running"), moment("pod-30", "pending"), moment("pod-4", "pending"),
  ];
  expect(lanes(moments as Moment[], 1_000).map(({ object }) => object.name)).toEqual(["pod-4", "pod-30", "pod-2", "pod-10"]);
});

test("what is done by hand is understood as a step of the script", () => {
  const targets: Record<Deed, string> = {
    delete: "ml/trainer-0", finish: "ml/trainer-1", taint: "gpu.example.com/node-a/gpu-1", removeNode: "node-a", drain: "node-b",
    gate: "DRADeviceTaints", crash: "kube-scheduler",
  };
  let script = "";
  for (const deed of Object.keys(DEEDS) as Deed[]) script = withStep(script, clock(90_500), deed, targets[deed]);
  const life = play(script);
  expect(life.findings).toEqual([]);
  // A crash has two ends.
  expect(life.steps.length).toBe(Object.keys(DEEDS).length + 1);
  expect(life.steps[0]?.atMillis).toBe(90_500);
});

test("a script that cannot be read gives findings and a life without it", () => {
  for (const script of ["- at: soon\n  delete: pod/x\n", "- [", "delete: pod/x\n"]) {
    const life = play(script);
    expect(life.findings.length).toBeGreaterThan(0);
    expect(life.moments.length).toBeGreaterThan(5);
  }
});

test("times read as durations, and an axis has a few round ones", () => {
  expect([0, 1500, 90_000, 7_500_000].map(clock)).toEqual(["0s", "1s500ms", "1m30s", "2h5m"]);
  for (const end of [5_000, 345_000, 600_000, 86_400_000]) {
    expect(ticks(end).length).toBeGreaterThan(1);
    expect(ticks(end).length).toBeLessThan(9);
  }
});
