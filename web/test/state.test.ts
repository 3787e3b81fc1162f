import type { PlacedFinding } from "apportion";
import { expect, test } from "vitest";

import type { Result } from "../src/protocol";
import {
  findingsOf, initial, onActive, onAsk, onEdit, onFailure, onFiles, onGate, onPick, onResult, onVersion, questionOf,
} from "../src/state";

const RESULT: Result = {
  report: { nodes: [], pods: [], claims: [], findings: [] }, findings: [], places: [], reasons: [], documents: [],
};
const FILES = [{ name: "a.yaml", text: "a\n" }, { name: "b.yaml", text: "b\n" }];
const start = initial(FILES);

test("a failure keeps the last result, and the next result removes the failure", () => {
  const answered = onResult(onAsk(start, questionOf(start)), RESULT);
  const failed = onFailure(onAsk(answered, questionOf(answered)), "trap");
  expect(failed).toMatchObject({ busy: false, result: RESULT, failure: "trap" });
  expect(onResult(failed, RESULT).failure).toBeUndefined();
});

test("an edit changes one file and nothing else", () => {
  expect(onEdit(start, 0, "a\n")).toBe(start);
  expect(onEdit(start, 7, "x")).toBe(start);
  const edited = onEdit(start, 1, "c\n");
  expect(edited.files).toEqual([FILES[0], { name: "b.yaml", text: "c\n" }]);
  expect(edited.files[0]).toBe(FILES[0]);
});

test("the question is all files under the version and gates chosen", () => {
  const state = onGate(onVersion(start, "1.36"), "DRADeviceTaints", false);
  expect(questionOf(state)).toEqual({ text: "a\n---\nb\n", version: "1.36", gates: { DRADeviceTaints: false } });
  expect(questionOf(onGate(state, "DRADeviceTaints", undefined)).gates).toEqual({});
});

test("there is always a file, and the active one exists", () => {
  expect(onFiles(start, []).files.length).toBe(1);
  expect(onFiles(onActive(start, 1), [{ name: "c", text: "" }]).active).toBe(0);
  expect(onActive(start, 2)).toBe(start);
});

test("picking the same again changes nothing", () => {
  const picked = onPick(start, { kind: "device", key: "d/p/x" });
  expect(onPick(picked, { kind: "device", key: "d/p/x" })).toBe(picked);
  expect(onPick(picked, undefined).picked).toBeUndefined();
});

test("what reading and checking both tell is told once, in the order of the text", () => {
  const finding = (code: string, start: number, message: string): PlacedFinding => ({
    code, severity: "error", message, place: { line: 1, column: 1, utf16Range: { start, end: start + 1 }, isExact: true },
  });
  const result = { ...RESULT, findings: [finding("read/wrong-type", 5, "loose"), finding("run/x", 9, "run")] };
  const checked = [finding("read/wrong-type", 5, "strict"), finding("lint/y", 2, "lint")];
  expect(findingsOf({ result, checked }).map(({ message }) => message)).toEqual(["lint", "strict", "run"]);
});
