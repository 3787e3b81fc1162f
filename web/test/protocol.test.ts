import type { Report } from "apportion";
import { expect, test } from "vitest";

import { type Result, heard, readAnswer, readFromWorker, readToWorker, received, sent, told } from "../src/protocol";

const report = { nodes: [], pods: [], claims: [], findings: [] };
const edit = { start: 0, end: 0, insert: "a" };
const question = { edit, version: "1.36", gates: { DRADeviceTaints: false } };

test("messages of the page are read", () => {
  const run = { kind: "run", id: 1, ask: { question } };
  expect(readToWorker(run)).toEqual(run);
  expect(readToWorker({ kind: "life", id: 2, ask: { question, script: "", untilMillis: 1 } })).toBeDefined();
  const foreign = [
    null, 1, "run", {}, { ...run, id: "1" }, { ...run, kind: "toString" }, { ...run, ask: {} },
    { ...run, ask: { question: { ...question, version: "2" } } },
    { ...run, ask: { question: { ...question, edit: { ...edit, end: 0.5 } } } },
    { ...run, ask: { question: { ...question, gates: { A: 1 } } } },
    { kind: "life", id: 2, ask: { question, script: "", untilMillis: 0.5 } },
    { kind: "attempt", id: 2, ask: { question, manifests: "x" } },
  ];
  for (const message of foreign) expect(readToWorker(message)).toBeUndefined();
});

test("of the text only what has changed is sent", () => {
  const line = "kind: Pod\n";
  const long = line.repeat(10_000);
  const texts = ["", long, long, long.replace("Pod", "Node"), long, `${long}x`, long, long.slice(50), long, ""];
  let known = "";
  for (const text of texts) {
    const asked = { question: { text, version: "all" as const, gates: {} } };
    const message = { id: 1, kind: "run" as const, ask: sent(asked, known) };
    if (known.length > 0) expect(message.ask.question.edit.insert.length).toBeLessThan(60);
    expect(readToWorker(message)).toBe(message);
    expect(received(message, known).ask).toEqual(asked);
    known = text;
  }
});

test("messages of the worker are read", () => {
  expect(readFromWorker({ kind: "done", id: 1, answer: 1 })).toEqual({ kind: "done", id: 1, answer: 1 });
  expect(readFromWorker({ kind: "failed", id: 1, message: "m" })).toMatchObject({ kind: "failed", message: "m" });
  expect(readFromWorker({ kind: "read", id: 1, inventory: {} })).toMatchObject({ kind: "read" });
  expect(readFromWorker({ kind: "loading", share: 0.5 })).toEqual({ kind: "loading", share: 0.5 });
  expect(readFromWorker({ kind: "ready" })).toEqual({ kind: "ready" });
  for (const foreign of [undefined, [], { kind: "loading" }, { kind: "done" }, { kind: "failed", id: 1 }, { kind: "read", id: 1 }, { id: 1 }]) {
    expect(readFromWorker(foreign)).toBeUndefined();
  }
});

test("an answer has the shape of what was asked", () => {
  const run = { report, findings: [], places: [], reasons: [], documents: [] };
  expect(readAnswer("run", run)).toBe(run);
  expect(readAnswer("run", { ...run, report: { ...report, pods: 1 } })).toBeUndefined();
  expect(readAnswer("run", [])).toBeUndefined();
  expect(readAnswer("why", {})).toBeUndefined();
  expect(readAnswer("cel", { status: "refused", message: "m" })).toBeDefined();
});

test("a report that the page has is not sent again", () => {
  const result = { report, findings: [], places: [], reasons: [], documents: [] };
  const known: Report = result.report;
  expect(told(result, undefined)).toBe(result);
  const sent = told(result, known);
  expect(sent).not.toHaveProperty("report");
  expect((heard(sent, known) as Result).report).toBe(known);
  // A report that came counts, whatever is known; without either there is no answer.
  expect(heard(result, { ...known })).toBe(result);
  expect(readAnswer("run", heard(sent, undefined))).toBeUndefined();
});
