import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { createActions } from "../src/actions";
import { firstFiles } from "../src/example";
import { Client, type Outcome } from "../src/client";
import type { Inventory } from "../src/model/inventory";
import type { Result } from "../src/protocol";
import { type State, initial } from "../src/state";
import { Store } from "../src/store";

const TOUR = [{ name: "10-nodes.yaml", text: "kind: Node\n" }, { name: "20-pods.yaml", text: "kind: Pod\n" }];

/** The page's actions, with an engine that never answers. */
function setUp(files = TOUR) {
  const store = new Store(initial(files), () => undefined);
  const client = new Client(() => ({ postMessage: () => undefined, terminate: () => undefined, onmessage: null, onerror: null }));
  const { act } = createActions(store, client);
  return { store, act, names: () => store.value.files.map(({ name }) => name) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a new file comes beside an example that nobody changed", () => {
  const { store, act, names } = setUp();
  act.addFiles([{ name: "new.yaml", text: "" }]);
  expect(names()).toEqual(["10-nodes.yaml", "20-pods.yaml", "new.yaml"]);
  expect(store.value.active).toBe(2);
});

test("one's own manifests come in the place of the tour, and beside anything else", () => {
  const mine = [{ name: "dump", text: "kind: Pod\n" }];
  const { store, act, names } = setUp(firstFiles);
  const { draft } = store.value;
  act.turn("text");
  act.bring(mine);
  expect(store.value).toMatchObject({ files: mine, opened: { files: firstFiles }, side: "text", notice: { canUndo: true } });
  expect(store.value.draft).not.toBe(draft);
  act.bring(mine);
  expect(names()).toEqual(["dump", "dump-2"]);
  const tour = setUp(firstFiles);
  // Hardware that is chosen, and an edit, belong to the tour.
  tour.act.addFiles([{ name: "hardware.yaml", text: "kind: ResourceSlice\n" }]);
  tour.act.bring(mine);
  expect(tour.names().slice(-2)).toEqual(["hardware.yaml", "dump"]);
});

test("a paste over the whole text of a file takes the place of the tour, and of one file elsewhere", () => {
  const { store, act, names } = setUp(firstFiles);
  act.edit(2, "");
  act.replace(2, "kind: Pod\n");
  expect(store.value.files).toEqual([{ name: "cluster.yaml", text: "kind: Pod\n" }]);
  const other = setUp();
  other.act.replace(1, "kind: Job\n");
  expect(other.store.value.files.map(({ text }) => text)).toEqual(["kind: Node\n", "kind: Job\n"]);
  const changed = setUp(firstFiles);
  changed.act.edit(0, "kind: Mine\n");
  changed.act.replace(1, "kind: Job\n");
  expect(changed.names().length).toBe(firstFiles.length);
  expect(names()).toEqual(["cluster.yaml"]);
});

test("a second drop comes beside the first one", () => {
  const { store, act, names } = setUp();
  act.addFiles([{ name: "one.yaml", text: "kind: Pod\n" }]);
  act.addFiles([{ name: "one.yaml", text: "kind: Job\n" }, { name: "two.yaml", text: "kind: Job\n" }]);
  expect(names()).toEqual(["10-nodes.yaml", "20-pods.yaml", "one.yaml", "one-2.yaml", "two.yaml"]);
  expect(store.value.active).toBe(3);
});

test("a text takes the room of files without one, a file without one takes none", () => {
  const { act, names } = setUp([{ name: "cluster.yaml", text: "\n" }]);
  act.addFiles([{ name: "new.yaml", text: "" }]);
  expect(names()).toEqual(["cluster.yaml", "new.yaml"]);
  act.addFiles([{ name: "dump", text: "kind: Pod\n" }]);
  expect(names()).toEqual(["dump"]);
});

test("what was added is taken back, and what was written in it since comes back, too", () => {
  const { store, act, names } = setUp();
  act.addFiles([{ name: "hardware.yaml", text: "kind: ResourceSlice\n" }]);
  act.edit(0, "kind: Node # mine\n");
  expect(act.undo()).toBe(true);
  expect(store.value.files.map(({ text }) => text)).toEqual(["kind: Node # mine\n", "kind: Pod\n"]);
  act.addFiles([{ name: "hardware.yaml", text: "kind: ResourceSlice\n" }]);
  act.edit(2, "kind: ResourceSlice # edited\n");
  act.undo();
  expect(names()).toEqual(["10-nodes.yaml", "20-pods.yaml"]);
  expect(store.value.notice).toEqual({ text: "Removed hardware.yaml.", canUndo: true });
  act.undo();
  expect(store.value.files[2]?.text).toBe("kind: ResourceSlice # edited\n");
  // Of several that were edited each one comes back.
  act.addFiles([{ name: "a.yaml", text: "kind: Job\n" }, { name: "b.yaml", text: "kind: Job\n" }]);
  act.edit(3, "kind: Job # a\n");
  act.edit(4, "kind: Job # b\n");
  for (let count = 0; count < 3; count += 1) act.undo();
  expect(names().slice(3)).toEqual(["a.yaml", "b.yaml"]);
});

test("a text that took the room of an empty file gives it back", () => {
  const { act, names } = setUp([{ name: "cluster.yaml", text: "" }]);
  act.addFiles([{ name: "dump", text: "kind: Pod\n" }]);
  act.undo();
  expect(names()).toEqual(["cluster.yaml"]);
});

test("a file that gets the name of another gets one like it, and none without a name", () => {
  const { act, names } = setUp();
  act.renameFile(0, "20-pods.yaml");
  expect(names()).toEqual(["20-pods-2.yaml", "20-pods.yaml"]);
  act.renameFile(0, "");
  expect(names()).toEqual(["20-pods-2.yaml", "20-pods.yaml"]);
});

test("an added file that was renamed is taken back, too", () => {
  const { act, names } = setUp();
  act.addFiles([{ name: "dump", text: "kind: Pod\n" }]);
  act.renameFile(2, "cluster.yaml");
  expect(names()[2]).toBe("cluster.yaml");
  act.undo();
  expect(names().length).toBe(2);
});

test("Escape closes one thing at a time: the tour, what is picked, a notice", () => {
  const { store, act } = setUp();
  act.notice("Something.");
  act.pick({ kind: "device", key: "a/b/c" });
  act.goOn(0);
  const open = () => [store.value.tour !== undefined, store.value.picked !== undefined, store.value.notice !== undefined];
  for (const left of [[false, true, true], [false, false, true], [false, false, false]]) {
    expect(act.dismiss()).toBe(true);
    expect(open()).toEqual(left);
  }
  expect(act.dismiss()).toBe(false);
});

test("a new answer is drawn with what it is of, and what takes longer is drawn before it", async () => {
  const drawn: string[] = [];
  const store: Store<State> = new Store(initial(TOUR), () => {
    const { inventory, result } = store.value;
    const now = `${(inventory as { name?: string } | undefined)?.name} ${(result as { name?: string } | undefined)?.name}`;
    if (drawn.at(-1) !== now) drawn.push(now);
  });
  const client = new Client(() => ({ postMessage: () => undefined, terminate: () => undefined, onmessage: null, onerror: null }));
  let read: ((inventory: Inventory) => void) | undefined;
  let settle: ((outcome: Outcome<"run">) => void) | undefined;
  vi.spyOn(client, "ask").mockImplementation((kind, _, onRead) => {
    if (kind !== "run") return Promise.resolve({ kind: "overtaken" });
    read = onRead;
    return new Promise((resolve) => (settle = resolve as typeof settle));
  });
  const { ask } = createActions(store, client);
  const answer = async (name: string, millis: number) => {
    ask();
    read?.({ name } as unknown as Inventory);
    await vi.advanceTimersByTimeAsync(millis);
    settle?.({ kind: "done", answer: { name, report: { pods: [] } } as unknown as Result });
    await vi.advanceTimersByTimeAsync(2_000);
  };
  await answer("first", 0);
  await answer("second", 900);
  await answer("slow", 1_100);
  expect(drawn).toEqual(["first undefined", "first first", "second second", "slow second", "slow slow"]);
});

test("what was taken back can be done again, step by step, as long as nothing was changed since", () => {
  const { store, act, names } = setUp();
  act.addFiles([{ name: "dump", text: "kind: Node\n" }]);
  act.removeFile(0);
  const both = store.value.files;
  act.undo();
  act.undo();
  expect(names()).toEqual(["10-nodes.yaml", "20-pods.yaml"]);
  expect(act.redo()).toBe(true);
  expect(names()).toEqual(["10-nodes.yaml", "20-pods.yaml", "dump"]);
  expect(act.redo()).toBe(true);
  expect(store.value.files).toBe(both);
  expect(act.redo()).toBe(false);
  // What was done again can be taken back again.
  act.undo();
  act.undo();
  expect(names()).toEqual(["10-nodes.yaml", "20-pods.yaml"]);
  act.edit(0, "kind: Node # mine\n");
  expect(act.redo()).toBe(false);
  expect(names().length).toBe(2);
});
