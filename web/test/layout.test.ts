import { expect, test } from "vitest";

import { sessionOf } from "../src/answer/answer";
import { modelOf } from "../src/model/model";
import { type Box, type TileBox, fitted, layout, neighbour, visible } from "../src/picture/layout";
import { ask, example, questionOf, slice } from "./fixtures";

function boxesOf(text: string, width: number) {
  const { report } = ask("run", text);
  return layout(modelOf(sessionOf(questionOf(text)).inventory(), report), width);
}

const isTile = (box: Box): box is TileBox => box.kind === "tile";
const overlap = (one: Box, other: Box) =>
  one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height && other.y < one.y + one.height;

for (const path of ["gpu-sharing/", "partitionable/", "network-attached/", "consumable-capacity/", "drivers/nvidia-mig.yaml"]) {
  for (const width of [200, 330, 720, 1600]) {
    test(`tiles of ${path} lie in their frames at ${width} px, none over another`, () => {
      const { boxes, height } = boxesOf(example(path), width);
      const tiles = boxes.filter(isTile);
      expect(tiles.length).toBeGreaterThan(0);
      const frames = boxes.filter(({ kind }) => kind === "frame");
      for (const [index, tile] of tiles.entries()) {
        expect(tiles.slice(index + 1).some((other) => overlap(tile, other))).toBe(false);
        const around = frames.filter((frame) => overlap(frame, tile));
        expect(around.length).toBeGreaterThan(0);
        for (const frame of around) {
          expect(frame.x <= tile.x && frame.x + frame.width >= tile.x + tile.width && frame.y + frame.height >= tile.y + tile.height).toBe(true);
        }
      }
      expect(Math.max(...boxes.map((box) => box.y + box.height))).toBeLessThanOrEqual(height);
      expect(Math.max(...boxes.map((box) => box.x + box.width))).toBeLessThanOrEqual(width);
    });
  }
}

test("of ten thousand devices only those in view are drawn", () => {
  const devices = Array.from({ length: 8 }, (_, index) => `  - name: gpu-${index}\n`).join("");
  const text = Array.from({ length: 1250 }, (_, index) => slice(`node-${index}`, devices)).join("");
  const { boxes, height } = layout(modelOf(sessionOf(questionOf(text)).inventory(), undefined), 700);
  expect(boxes.filter(isTile).length).toBe(10_000);
  const drawn = visible(boxes, height / 2, height / 2 + 2000);
  expect(drawn.length).toBeGreaterThan(50);
  expect(drawn.length).toBeLessThan(700);
});

test("arrows go to the nearest device and stay where there is none", () => {
  const tiles = boxesOf(example("gpu-sharing/"), 700).boxes.filter(isTile);
  const [first] = tiles;
  if (first === undefined) throw new Error("no tiles");
  const right = neighbour(tiles, first, "right");
  expect([right.y, right.x > first.x]).toEqual([first.y, true]);
  expect(neighbour(tiles, right, "left")).toBe(first);
  expect(neighbour(tiles, first, "left")).toBe(first);
  expect(neighbour(tiles, first, "down").y).toBeGreaterThan(first.y);
  expect(neighbour(tiles, first, "up")).toBe(first);
});

test("numbered counters of one stand side by side", () => {
  const { boxes } = boxesOf(example("drivers/nvidia-mig.yaml"), 700);
  const cells = boxes.filter((box) => box.kind === "cells");
  expect(cells.map(({ fills }) => fills.map(({ name }) => name.replace(/\d$/, "")))).toEqual([
    Array(8).fill("memory-slice-"), Array(8).fill("memory-slice-"),
  ]);
});

test("a text that does not fit is cut with a sign, before its end where that tells more", () => {
  expect(fitted("gpu-0-mig-1g10gb-15-2", 60, 6, true)).toBe("gpu…b-15-2");
  expect([fitted("gpu-0", 100, 6), fitted("a-long-name", 36, 6), fitted("abc", 6, 6)]).toEqual(["gpu-0", "a-lon…", ""]);
});
