import { expect, test } from "vitest";

import type { FromWorker, Result } from "../src/protocol";
import { initial, onAnswer, onAsk, onEdit, onVersion } from "../src/state";

const RESULT: Result = { report: { nodes: [], pods: [], claims: [], findings: [] }, findings: [], places: [], reasons: [] };
const done = (id: number): FromWorker => ({ kind: "done", id, result: RESULT });

test("the newest question wins", () => {
  const asked = onAsk(onAsk(initial("a")));
  expect(onAnswer(asked, done(1))).toBe(asked);
  expect(onAnswer(asked, done(2))).toMatchObject({ busy: false, result: RESULT });
});

test("a failure keeps the last result, and the next result removes the failure", () => {
  const answered = onAnswer(onAsk(initial("a")), done(1));
  const failed = onAnswer(onAsk(answered), { kind: "failed", id: 2, message: "trap" });
  expect(failed).toMatchObject({ busy: false, result: RESULT, failure: "trap" });
  expect(onAnswer(onAsk(failed), done(3)).failure).toBeUndefined();
});

test("an edit changes the question and nothing else", () => {
  const state = initial("a");
  expect(onEdit(state, "a")).toBe(state);
  expect(onEdit(state, "b").question).toEqual({ text: "b", version: "all" });
  expect(onVersion(state, "1.36").question).toEqual({ text: "a", version: "1.36" });
});
