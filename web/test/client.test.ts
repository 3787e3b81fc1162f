import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { Client, PATIENCE_MS, type Thread } from "../src/client";
import type { FromWorker, ToWorker } from "../src/protocol";

const QUESTION = { text: "", version: "all" } as const;

class FakeThread implements Thread {
  sent: number[] = [];
  isOver = false;
  onmessage: Thread["onmessage"] = null;
  onerror: Thread["onerror"] = null;
  postMessage({ id }: ToWorker): void {
    this.sent.push(id);
  }
  terminate(): void {
    this.isOver = true;
  }
  reply(data: unknown): void {
    this.onmessage?.({ data } as MessageEvent<unknown>);
  }
}

function setUp() {
  const threads: FakeThread[] = [];
  const answers: FromWorker[] = [];
  const start = () => {
    const thread = new FakeThread();
    threads.push(thread);
    return thread;
  };
  return { threads, answers, client: new Client(start, (answer) => answers.push(answer)) };
}

const failed = (id: number) => ({ kind: "failed", id, message: "m" });
const done = (id: number) => ({
  kind: "done",
  id,
  result: { report: { nodes: [], pods: [], claims: [], findings: [] }, findings: [], places: [], reasons: [] },
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("of the questions that come meanwhile only the newest is asked", () => {
  const { client, threads, answers } = setUp();
  for (const id of [1, 2, 3]) client.ask(id, QUESTION);
  expect(threads[0]?.sent).toEqual([1]);
  threads[0]?.reply(done(1));
  expect(threads[0]?.sent).toEqual([1, 3]);
  threads[0]?.reply(done(3));
  expect(answers.map(({ id }) => id)).toEqual([1, 3]);
  expect(threads).toHaveLength(1);
});

test("a question that takes long gives way to a newer one, in a new worker", () => {
  const { client, threads } = setUp();
  client.ask(1, QUESTION);
  vi.advanceTimersByTime(PATIENCE_MS * 2);
  expect(threads[0]?.isOver).toBe(false);
  client.ask(2, QUESTION);
  client.ask(3, QUESTION);
  vi.advanceTimersByTime(PATIENCE_MS);
  expect(threads[0]?.isOver).toBe(true);
  expect(threads[1]?.sent).toEqual([3]);
});

test("after a failure the next question gets a new worker", () => {
  const { client, threads, answers } = setUp();
  client.ask(1, QUESTION);
  threads[0]?.reply(failed(1));
  client.ask(2, QUESTION);
  threads[1]?.onerror?.({ message: "lost" } as ErrorEvent);
  client.ask(3, QUESTION);
  threads[2]?.reply("something else");
  expect(threads.slice(0, 2).every(({ isOver }) => isOver)).toBe(true);
  expect(answers).toMatchObject([failed(1), { kind: "failed", id: 2, message: "lost" }, { kind: "failed", id: 3 }]);
});
