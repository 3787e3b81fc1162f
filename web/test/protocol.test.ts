import { expect, test } from "vitest";

import { readFromWorker, readToWorker } from "../src/protocol";

const report = { nodes: [], pods: [], claims: [], findings: [] };
const result = { report, findings: [], places: [], reasons: [] };

test("messages of the page are read", () => {
  const ask = { kind: "ask", id: 1, question: { text: "a", version: "1.36" } };
  expect(readToWorker(ask)).toEqual(ask);
  for (const foreign of [null, 1, "ask", {}, { ...ask, id: "1" }, { ...ask, question: { text: "a", version: "2" } }]) {
    expect(readToWorker(foreign)).toBeUndefined();
  }
});

test("messages of the worker are read", () => {
  expect(readFromWorker({ kind: "done", id: 1, result })).toMatchObject({ kind: "done", id: 1 });
  expect(readFromWorker({ kind: "failed", id: 1, message: "m" })).toMatchObject({ kind: "failed", message: "m" });
  for (const foreign of [undefined, [], { kind: "done", id: 1 }, { kind: "done", id: 1, result: { ...result, report: 1 } }, { id: 1 }]) {
    expect(readFromWorker(foreign)).toBeUndefined();
  }
});
