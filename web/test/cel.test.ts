import { Engine } from "apportion";
import { expect, test } from "vitest";

import { sessionOf } from "../src/answer/answer";
import { GATES } from "../src/windows/gates";
import { verdict, values } from "../src/views/words";
import { ask, example, questionOf } from "./fixtures";

const TEXT = example("gpu-sharing/");

test("an expression has a value, a type and a cost on every device, and its parts have theirs", () => {
  const answer = ask("cel", TEXT, { expression: `device.driver == "gpu.example.com"`, device: "" });
  if (answer.status !== "evaluated") throw new Error(answer.message);
  expect(answer.answers.length).toBe(10);
  expect(values(answer.answers.map(({ parts }) => parts[0]?.value ?? ""))).toBe("true on 8 devices, false on 2 devices");
  expect(answer.answers[0]?.parts.map(({ text, value, resultType }) => [text, value, resultType])).toEqual([
    [`device.driver == "gpu.example.com"`, "true", "bool"], ["device.driver", `"gpu.example.com"`, "string"],
  ]);
  expect(Number(answer.answers[0]?.cost)).toBeGreaterThan(0);
});

test("an expression that does not compile says where", () => {
  expect(ask("cel", TEXT, { expression: "device.driver ==", device: "" })).toMatchObject({ status: "refused", message: expect.stringContaining("Syntax error") });
});

test("a class has the devices that all its selectors accept", () => {
  expect(ask("members", TEXT, { deviceClass: "nic.example.com" })).toEqual(["nic.example.com/node-a/nic-0", "nic.example.com/node-c/nic-0"]);
  expect(ask("members", TEXT, { deviceClass: "none" })).toEqual([]);
  const open = `${TEXT}---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: { name: any }\nspec: {}\n`;
  expect(ask("members", open, { deviceClass: "any" }).length).toBe(10);
});

test("selectors of classes, claims and templates are offered", () => {
  const { selectors } = sessionOf(questionOf(TEXT)).inventory();
  expect(selectors).toContain(`device.driver == "gpu.example.com"`);
  expect(selectors.some((selector) => selector.includes("192Gi"))).toBe(true);
  expect(new Set(selectors).size).toBe(selectors.length);
});

test("every gate that can be chosen is one", () => {
  for (const gate of GATES) new Engine({ featureGates: { [gate]: false } }).free();
  expect(() => new Engine({ featureGates: { NoSuchGate: false } })).toThrow();
});

test("a gate that is off changes the answer", () => {
  const text = example("prioritized-list/");
  const off = { ...questionOf(text), version: "1.36" as const, gates: { DRAPrioritizedList: false } };
  const placed = (question: typeof off) => sessionOf(question).report().pods.filter(({ node }) => node !== undefined).length;
  expect([placed({ ...off, gates: { DRAPrioritizedList: true } }), placed(off)]).toEqual([3, 0]);
});

test("a value has a sign beside its word", () => {
  expect([verdict("true", false), verdict("false", false), verdict("7", false), verdict("no such key", true)]).toEqual(["✓ true", "– false", "7", "✕ no such key"]);
});

test("a snapshot is what `replay` takes", () => {
  const snapshot = ask("snapshot", TEXT);
  expect(snapshot.format).toBe("apportion/snapshot/v1");
  expect(snapshot.objects.length).toBeGreaterThan(20);
});
