import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { createActions } from "../src/actions";
import { Client } from "../src/client";
import { initial } from "../src/state";
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
