import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { Client, type Outcome, PATIENCE_MS, type Thread } from "../src/client";
import type { AskKind, Asks, ToWorker } from "../src/protocol";

const QUESTION = { question: { text: "", version: "all", gates: {} } } as const;

class FakeThread implements Thread {
  sent: number[] = [];
  inserted: string[] = [];
  isOver = false;
  onmessage: Thread["onmessage"] = null;
  onerror: Thread["onerror"] = null;
  postMessage({ id, ask }: ToWorker): void {
    this.sent.push(id);
    this.inserted.push(ask.question.edit.insert);
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
  const outcomes: [AskKind, Outcome<AskKind>["kind"]][] = [];
  const loading: (number | undefined)[] = [];
  const start = () => {
    const thread = new FakeThread();
    threads.push(thread);
    return thread;
  };
  const client = new Client(start, (share) => loading.push(share));
  const ask = <Kind extends AskKind>(kind: Kind, rest?: Omit<Asks[Kind], "question">, onRead?: () => void) =>
    void client.ask(kind, { ...QUESTION, ...rest } as Asks[Kind], onRead).then((outcome) => outcomes.push([kind, outcome.kind]));
  return { threads, outcomes, loading, ask, client };
}

const REPORT = { nodes: [], pods: [], claims: [], findings: [] };
const ran = (id: number) => ({
  kind: "done", id, answer: { report: REPORT, findings: [], places: [], reasons: [], documents: [] },
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const settled = () => vi.advanceTimersByTimeAsync(0);

test("of the questions that come meanwhile only the newest is asked", async () => {
  const { threads, outcomes, ask } = setUp();
  for (let count = 0; count < 3; count += 1) ask("run");
  expect(threads[0]?.sent).toEqual([1]);
  threads[0]?.reply(ran(1));
  expect(threads[0]?.sent).toEqual([1, 3]);
  threads[0]?.reply(ran(3));
  await settled();
  expect(outcomes).toEqual([["run", "overtaken"], ["run", "overtaken"], ["run", "done"]]);
});

test("a new cluster goes before everything that waits", async () => {
  const { threads, outcomes, ask } = setUp();
  ask("check");
  ask("why");
  ask("run");
  threads[0]?.reply({ kind: "done", id: 1, answer: [] });
  expect(threads[0]?.sent).toEqual([1, 3]);
  threads[0]?.reply(ran(3));
  expect(threads[0]?.sent).toEqual([1, 3, 2]);
  threads[0]?.reply({ kind: "done", id: 2, answer: [] });
  await settled();
  expect(outcomes).toEqual([["check", "done"], ["run", "done"], ["why", "done"]]);
});

test("a worker that takes too long is replaced when a newer question waits", async () => {
  const { threads, outcomes, ask } = setUp();
  ask("run");
  threads[0]?.reply({ kind: "ready" });
  vi.advanceTimersByTime(10 * PATIENCE_MS);
  expect(threads.length).toBe(1);
  ask("run");
  vi.advanceTimersByTime(PATIENCE_MS);
  expect(threads.map(({ isOver, sent }) => [isOver, sent])).toEqual([[true, [1]], [false, [2]]]);
  await settled();
  expect(outcomes).toEqual([["run", "overtaken"]]);
});

test("typing never starts the loading of the module again, however slow the network is", async () => {
  const { threads, outcomes, loading, ask } = setUp();
  for (let count = 0; count < 10; count += 1) {
    ask("run");
    vi.advanceTimersByTime(3 * PATIENCE_MS);
    threads[0]?.reply({ kind: "loading", share: count / 10 });
  }
  expect(threads.length).toBe(1);
  expect(loading).toEqual([0, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]);
  threads[0]?.reply({ kind: "ready" });
  expect(loading.at(-1)).toBeUndefined();
  // From now on only an answer takes time, and a newer question waits.
  vi.advanceTimersByTime(PATIENCE_MS - 1);
  expect(threads.length).toBe(1);
  threads[0]?.reply(ran(1));
  threads[0]?.reply(ran(10));
  await settled();
  expect(outcomes.map(([, kind]) => kind)).toEqual([...Array.from({ length: 9 }, () => "overtaken"), "done"]);
});

test("what only waits for its turn replaces nothing", () => {
  const { threads, ask } = setUp();
  ask("run");
  threads[0]?.reply({ kind: "ready" });
  ask("cel", { expression: "", device: "" });
  vi.advanceTimersByTime(10 * PATIENCE_MS);
  expect(threads.length).toBe(1);
});

test("after a failure or a message that is none, the next question gets a new worker", async () => {
  const { threads, outcomes, ask } = setUp();
  ask("run");
  threads[0]?.reply({ kind: "failed", id: 1, message: "trap" });
  ask("run");
  threads[1]?.reply("garbage");
  ask("run");
  threads[2]?.reply({ kind: "done", id: 3, answer: { report: {} } });
  ask("run");
  threads[3]?.reply(ran(4));
  await settled();
  expect(outcomes.map(([, kind]) => kind)).toEqual(["failed", "failed", "failed", "done"]);
  expect(threads.map(({ isOver }) => isOver)).toEqual([true, true, true, false]);
});

test("a worker that was started in advance takes the first question, or is replaced where it failed", () => {
  const { threads, client, ask } = setUp();
  client.prepare();
  client.prepare();
  expect(threads.length).toBe(1);
  ask("run");
  expect(threads[0]?.sent).toEqual([1]);
  const failing = setUp();
  failing.client.prepare();
  failing.threads[0]?.onerror?.({ message: "blocked" } as ErrorEvent);
  failing.ask("run");
  expect(failing.threads.map(({ sent }) => sent)).toEqual([[], [1]]);
});

test("a worker that cannot be started is a failure", async () => {
  const { threads, outcomes, ask } = setUp();
  ask("run");
  threads[0]?.onerror?.({ message: "blocked" } as ErrorEvent);
  await settled();
  expect(outcomes).toEqual([["run", "failed"]]);
});

test("what the manifests hold comes first, and not of a question that is overtaken", () => {
  const { threads, ask } = setUp();
  const onRead = vi.fn();
  ask("run", {}, onRead);
  threads[0]?.reply({ kind: "read", id: 1, inventory: {} });
  expect(onRead).toHaveBeenCalledTimes(1);
  ask("run");
  threads[0]?.reply({ kind: "read", id: 1, inventory: {} });
  threads[0]?.reply({ kind: "read", id: 7, inventory: {} });
  expect(onRead).toHaveBeenCalledTimes(1);
});

test("what runs is cancelled with what waits, and the next ask starts anew", async () => {
  const { threads, outcomes, ask, client } = setUp();
  ask("run");
  ask("why");
  client.cancel();
  await settled();
  expect(outcomes).toEqual([["run", "overtaken"], ["why", "overtaken"]]);
  expect(threads[0]?.isOver).toBe(true);
  ask("run");
  threads[1]?.reply(ran(3));
  await settled();
  expect(outcomes.at(-1)).toEqual(["run", "done"]);
});

test("a worker is told what has changed, a new one everything", () => {
  const { threads, client } = setUp();
  const ask = (text: string) => void client.ask("run", { question: { ...QUESTION.question, text } });
  ask("kind: Pod\n");
  threads[0]?.reply(ran(1));
  ask("kind: Pods\n");
  threads[0]?.reply(ran(2));
  ask("kind: Pods\n");
  threads[0]?.reply({ kind: "failed", id: 3, message: "trap" });
  ask("kind: Pods\n");
  expect(threads.map(({ inserted }) => inserted)).toEqual([["kind: Pod\n", "s", ""], ["kind: Pods\n"]]);
});

test("what the manifests hold is kept for questions to which it is the same", async () => {
  const { threads, ask, client } = setUp();
  const onRead = vi.fn();
  const inventory = { pools: [] };
  ask("run");
  threads[0]?.reply({ kind: "read", id: 1, inventory });
  threads[0]?.reply(ran(1));
  ask("run", {}, onRead);
  threads[0]?.reply(ran(2));
  expect(onRead).toHaveBeenCalledExactlyOnceWith(inventory);
  // Another thread has said nothing yet.
  client.cancel();
  ask("run", {}, onRead);
  threads[1]?.reply(ran(3));
  await settled();
  expect(onRead).toHaveBeenCalledTimes(1);
});

test("a report that the worker sent before stands for one that is missing, until the worker is another one", async () => {
  const { threads, client, outcomes, ask } = setUp();
  const again = (id: number) => ({ kind: "done", id, answer: { findings: [], places: [], reasons: [], documents: [] } });
  ask("run");
  threads[0]?.reply(ran(1));
  const asked = client.ask("run", QUESTION);
  threads[0]?.reply(again(2));
  expect(await asked).toMatchObject({ kind: "done", answer: { report: REPORT } });
  ask("run");
  client.cancel();
  ask("run");
  threads[1]?.reply(again(4));
  await settled();
  expect(outcomes.at(-1)).toEqual(["run", "failed"]);
});
