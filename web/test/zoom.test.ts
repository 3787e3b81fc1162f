import { expect, test } from "vitest";

import { sessionOf } from "../src/answer/answer";
import { modelOf } from "../src/model/model";
import { seenOf, zoomOf, zoomed } from "../src/model/zoom";
import { layout } from "../src/picture/layout";
import { ask, example, questionOf, slice } from "./fixtures";

const modelOfText = (text: string) => modelOf(sessionOf(questionOf(text)).inventory(), ask("run", text).report);
const many = (nodes: number) => Array.from({ length: nodes }, (_, node) => slice(`node-${node}`, "  - { name: gpu-0 }\n  - { name: gpu-1 }\n")).join("");

test("many devices begin as nodes, few as devices, and what is gone is not looked at", () => {
  const [few, large] = [modelOfText(many(3)), modelOfText(many(201))];
  expect(zoomOf(few, undefined)).toEqual({ level: "devices" });
  expect(zoomOf(large, undefined)).toEqual({ level: "cluster" });
  // A few devices on each of many nodes are as tall.
  expect(zoomOf(modelOfText(many(25)), undefined)).toEqual({ level: "cluster" });
  expect(zoomOf(modelOfText(many(24)), undefined)).toEqual({ level: "devices" });
  expect(zoomOf(large, { level: "devices", node: "node-7" })).toEqual({ level: "devices", node: "node-7" });
  expect(zoomOf(large, { level: "devices", node: "gone" })).toEqual({ level: "cluster" });
  expect(seenOf(large, { level: "devices", node: "node-7" }).devices).toBe(2);
});

test("each step is one level, and both ends are ends", () => {
  expect(["cluster", "pools", "devices"].map((level) => zoomed({ level } as Parameters<typeof zoomed>[0], true).level)).toEqual(["pools", "devices", "devices"]);
  expect(zoomed({ level: "cluster" }, false)).toEqual({ level: "cluster" });
  expect(zoomed({ level: "devices", node: "node-7" }, false)).toEqual({ level: "cluster" });
});

test("a pool is one bar with how many of its devices are in use", () => {
  const model = modelOfText(example("gpu-sharing/"));
  const { boxes, height } = layout(model, 700, "pools");
  expect(boxes.some(({ kind }) => kind === "tile")).toBe(false);
  expect(height).toBeLessThan(layout(model, 700).height);
  const uses = boxes.flatMap((box) => (box.kind === "gauge" ? [`${box.fill.used} of ${box.fill.total}`] : []));
  expect(uses).toEqual(["2 of 2", "1 of 1", "4 of 4", "1 of 2", "1 of 1"]);
});
