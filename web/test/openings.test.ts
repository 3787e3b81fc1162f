import { expect, test, vi } from "vitest";

import { createActions } from "../src/actions";
import { Client } from "../src/client";
import { type Browser, type Entry, Openings } from "../src/share/address";
import { Drafts, MOST } from "../src/share/drafts";
import { fragmentOf, sharedOf } from "../src/share/link";
import { type Shared, initial } from "../src/state";
import { Store } from "../src/store";

const TOUR = [{ name: "tour.yaml", text: "kind: Pod\n" }];
const OTHER = [{ name: "other.yaml", text: "kind: Job\n" }];

/** The history of one tab. */
class Tab implements Browser {
  readonly entries: { state: unknown; fragment: string }[] = [{ state: null, fragment: "" }];
  at = 0;
  #listener: () => void = () => undefined;
  fragment = () => this.entries[this.at]?.fragment ?? "";
  entry = () => this.entries[this.at]?.state;
  push(state: Entry, fragment = ""): void {
    this.at += 1;
    this.entries.splice(this.at, Infinity, { state, fragment });
  }
  replace(state: Entry, fragment = ""): void {
    this.entries[this.at] = { state, fragment };
  }
  back(): void {
    this.go(-1);
  }
  forward(): void {
    this.go(1);
  }
  go(steps: number): void {
    this.at += steps;
    this.#listener();
  }
  /** Another address is written by hand. */
  visit(fragment: string): void {
    this.at += 1;
    this.entries.splice(this.at, Infinity, { state: null, fragment });
    this.#listener();
  }
  onArrival(listener: () => void): void {
    this.#listener = listener;
  }
}

/** The page, loaded in a tab of a browser that keeps these drafts. */
async function load(tab: Tab, drafts: Drafts) {
  let follow = () => undefined as void;
  const store = new Store(initial(TOUR), () => follow());
  const client = new Client(() => ({ postMessage: () => undefined, terminate: () => undefined, onmessage: null, onerror: null }));
  const { act, ask } = createActions(store, client, { back: () => openings.back(), forward: () => openings.forward() });
  const openings = new Openings(store, ask, drafts, tab);
  await openings.start();
  follow = () => openings.follow(store.value);
  const shows = (text: string) => vi.waitFor(() => expect(store.value.files.map(({ text }) => text).join("|")).toBe(text));
  /** Until what changed is kept. */
  const kept = async () => {
    await Promise.resolve();
    openings.flush();
    const { draft } = store.value;
    await vi.waitFor(() => expect(tab.entry()).toMatchObject({ draft }));
    await vi.waitFor(async () => expect((await drafts.get(draft))?.shared.files).toEqual(store.value.files));
  };
  return { store, act, openings, shows, kept };
}

test("opening something is an entry of the history, and Back brings back what was typed before", async () => {
  const tab = new Tab();
  const { act, shows, store } = await load(tab, new Drafts());
  act.edit(0, "kind: Mine\n");
  await Promise.resolve();
  act.open(OTHER, { name: "Other" });
  await Promise.resolve();
  expect(tab.entries.length).toBe(2);
  tab.back();
  await shows("kind: Mine\n");
  tab.go(1);
  await shows("kind: Job\n");
  expect(store.value.name).toBe("Other");
});

test("undo goes back to what was open before, and nowhere where there is nothing", async () => {
  const { act, shows } = await load(new Tab(), new Drafts());
  expect(act.undo()).toBe(false);
  act.open(OTHER);
  await Promise.resolve();
  expect(act.undo()).toBe(true);
  await shows("kind: Pod\n");
  // And forward again, as far as there was something.
  expect(act.redo()).toBe(true);
  await shows("kind: Job\n");
  expect(act.redo()).toBe(false);
});

test("Back leads to the page as it starts after a reload, too", async () => {
  const [tab, drafts] = [new Tab(), new Drafts()];
  const before = await load(tab, drafts);
  before.act.open(OTHER);
  await Promise.resolve();
  before.act.edit(0, "kind: Mine\n");
  await before.kept();
  const after = await load(tab, drafts);
  await after.shows("kind: Mine\n");
  tab.back();
  await after.shows("kind: Pod\n");
  tab.go(1);
  await after.shows("kind: Mine\n");
});

test("a removed file comes back where it was, beside what was typed meanwhile", async () => {
  const { act, store, shows } = await load(new Tab(), new Drafts());
  act.open([...TOUR, ...OTHER, { name: "third.yaml", text: "kind: Node\n" }]);
  act.removeFile(1);
  expect(store.value.notice).toEqual({ text: "Removed other.yaml.", canUndo: true });
  act.edit(1, "kind: Node # mine\n");
  act.undo();
  await shows("kind: Pod\n|kind: Job\n|kind: Node # mine\n");
  // The last file leaves an empty one, which makes room again.
  for (let count = 0; count < 3; count += 1) act.removeFile(0);
  await shows("");
  for (let count = 0; count < 3; count += 1) act.undo();
  await shows("kind: Pod\n|kind: Job\n|kind: Node # mine\n");
});

test("after a reload the text is as it was, however long, and as it was opened after Undo", async () => {
  const [tab, drafts] = [new Tab(), new Drafts()];
  const before = await load(tab, drafts);
  before.act.edit(0, LONG);
  await before.kept();
  expect(tab.fragment()).toBe("");
  const after = await load(tab, drafts);
  await after.shows(LONG);
  expect(after.store.value.notice).toEqual({ text: "Restored as you left it: tour.yaml.", canUndo: true });
  after.act.undo();
  await after.shows("kind: Pod\n");
  expect(tab.entries.length).toBe(2);
  tab.back();
  await after.shows(LONG);
});

test("a tab that crashed left its text behind: the next one restores it, one step before is the page as it starts", async () => {
  const drafts = new Drafts();
  const crashed = await load(new Tab(), drafts);
  crashed.act.edit(0, "kind: Mine\n");
  await crashed.kept();
  const tab = new Tab();
  const next = await load(tab, drafts);
  await next.shows("kind: Mine\n");
  expect(next.store.value.notice?.text).toContain("Restored");
  next.act.undo();
  await next.shows("kind: Pod\n");
});

test("what nobody changed is no draft, and a link is opened as it is", async () => {
  const [firstTab, drafts] = [new Tab(), new Drafts()];
  const first = await load(firstTab, drafts);
  first.act.open(OTHER, { script: "- at: 1s\n  delete: pod/p\n" });
  await Promise.resolve();
  first.openings.flush();
  await vi.waitFor(() => expect(firstTab.fragment()).not.toBe(""));
  expect(await drafts.list()).toEqual([]);
  first.act.edit(0, "kind: Mine\n");
  await first.kept();
  expect((await drafts.list()).map(({ shared }) => shared.files[0]?.text)).toEqual(["kind: Mine\n"]);
  const tab = new Tab();
  tab.entries[0] = { state: null, fragment: (await fragmentOf(sharedOf(initial(OTHER)))) ?? "" };
  const linked = await load(tab, drafts);
  await linked.shows("kind: Job\n");
  expect(linked.store.value.notice).toBeUndefined();
});

test("a link that is pasted over the address is an entry, and a damaged one changes nothing", async () => {
  const tab = new Tab();
  const { act, store, shows } = await load(tab, new Drafts());
  act.edit(0, "kind: Mine\n");
  await Promise.resolve();
  tab.visit("#v1=abc");
  await vi.waitFor(() => expect(store.value.notice?.text).toContain("it is damaged or cut short"));
  await shows("kind: Mine\n");
  tab.visit((await fragmentOf(sharedOf(initial(OTHER)))) ?? "");
  await shows("kind: Job\n");
  tab.go(-2);
  await shows("kind: Mine\n");
});

test("a link of a newer page opens, and what this one does not know is left out and named", async () => {
  const tab = new Tab();
  const shared = { ...sharedOf(initial(OTHER)), gates: { DRADeviceTaints: false, DRAFromTheFuture: true } };
  tab.entries[0] = { state: null, fragment: (await fragmentOf(shared)) ?? "" };
  const drafts = new Drafts();
  const { store, shows } = await load(tab, drafts);
  await shows("kind: Job\n");
  expect(store.value.gates).toEqual({ DRADeviceTaints: false });
  expect(store.value.notice?.text).toBe("Left out, for this page does not know it: feature gate `DRAFromTheFuture`.");
  // A draft of another build of the page, too.
  await drafts.put({ id: "old", at: 1, shared: { ...shared, files: TOUR }, opened: shared });
  const next = await load(new Tab(), drafts);
  await next.shows("kind: Pod\n");
  expect(next.store.value.gates).toEqual({ DRADeviceTaints: false });
});

test("an example opens by a short link and is one step of the history", async () => {
  const tab = new Tab();
  const { store, shows } = await load(tab, new Drafts());
  tab.visit("#example=tainted");
  // The examples are loaded first.
  await vi.waitFor(() => expect(store.value).toMatchObject({ name: "Tainted", view: "why" }), 10_000);
  tab.visit("#example=nothing");
  await vi.waitFor(() => expect(store.value.notice?.text).toContain("there is no example `nothing`"));
  expect(store.value.name).toBe("Tainted");
  tab.go(-2);
  await shows("kind: Pod\n");
});

test("the newest drafts are kept, each under its name", async () => {
  const drafts = new Drafts();
  for (let at = 1; at <= MOST + 2; at += 1) {
    await drafts.put({ id: `d${at}`, at, shared: { ...sharedOf(initial(TOUR)), name: `draft ${at}` }, opened: { files: [], script: "" } });
  }
  const kept = await drafts.list();
  expect([kept.length, kept[0]?.shared.name, kept.at(-1)?.shared.name]).toEqual([MOST, `draft ${MOST + 2}`, "draft 3"]);
  await drafts.remove("d5");
  expect(await drafts.get("d5")).toBeUndefined();
});

test("a damaged link takes nothing away: neither by a reload behind it, nor where a tab was closed", async () => {
  const [tab, drafts] = [new Tab(), new Drafts()];
  const { act, store, kept } = await load(tab, drafts);
  act.edit(0, "kind: Mine\n");
  await kept();
  tab.visit("#v1=abc");
  await vi.waitFor(() => expect(store.value.notice?.text).toContain("it is damaged or cut short"));
  const reloaded = await load(tab, drafts);
  await reloaded.shows("kind: Mine\n");
  const other = new Tab();
  other.entries[0] = { state: null, fragment: "#v1=abc" };
  const next = await load(other, drafts);
  await next.shows("kind: Mine\n");
  expect(next.store.value.notice).toMatchObject({ text: expect.stringMatching(/damaged.*Restored/), canUndo: true });
});

test("what was written in the CEL lab and beside the text is kept like the text", async () => {
  const [tab, drafts] = [new Tab(), new Drafts()];
  const { act, kept } = await load(tab, drafts);
  act.compareWith("kind: Other\n");
  act.setExpression("device.driver == 'x'");
  await kept();
  const next = await load(new Tab(), drafts);
  await vi.waitFor(() => expect(next.store.value).toMatchObject({ otherText: "kind: Other\n", isComparingText: true, expression: "device.driver == 'x'" }));
});

/** A text for which no address is long enough. */
const LONG = Array.from({ length: 40_000 }, (_, index) => `# ${(index * 48_271) % 2_147_483_647}\n`).join("");

test("warns when the browser cannot keep a text", async () => {
  const refusing = await load(new Tab(), new Drafts());
  refusing.act.edit(0, LONG);
  await refusing.kept();
  await vi.waitFor(() => expect(refusing.openings.isAtRisk).toBe(true));
  expect(refusing.store.value.notice?.text).toMatch(/^This browser keeps nothing/);
  refusing.act.edit(0, "kind: Short\n");
  await refusing.kept();
  await vi.waitFor(() => expect(refusing.openings.isAtRisk).toBe(false));
});

test("a long text that came from elsewhere is there after a reload, and does not hide what was written before", async () => {
  class Keeping extends Drafts {
    override put = async (draft: Parameters<Drafts["put"]>[0]) => (await super.put(draft), true);
  }
  const [tab, drafts] = [new Tab(), new Keeping()];
  const first = await load(new Tab(), drafts);
  first.act.edit(0, "kind: Mine\n");
  await first.kept();
  const page = await load(tab, drafts);
  page.act.open([{ name: "elsewhere.yaml", text: LONG }]);
  await page.kept();
  expect(page.openings.isAtRisk).toBe(false);
  await (await load(tab, drafts)).shows(LONG);
  await (await load(new Tab(), drafts)).shows("kind: Mine\n");
});

test("a draft of an older page opens without what it did not know", async () => {
  const drafts = new Drafts();
  const { otherText: _, ...older } = { ...sharedOf(initial(TOUR)), expression: "" };
  await drafts.put({ id: "old", at: 1, shared: { ...older, files: OTHER } as unknown as Shared, opened: { files: TOUR, script: "" } });
  const { store, shows } = await load(new Tab(), drafts);
  await shows("kind: Job\n");
  expect(store.value).toMatchObject({ otherText: "", isComparingText: false, expression: undefined });
});

test("an example is found however its name is written", async () => {
  const tab = new Tab();
  const { store } = await load(tab, new Drafts());
  tab.visit("#example=Tainted");
  await vi.waitFor(() => expect(store.value.name).toBe("Tainted"), 10_000);
});

test("a draft is written while one goes on typing, a long one less often", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    for (const [characters, first, last] of [[10, 400, 500], [4_000_000, 2_300, 2_500]] as const) {
      const drafts = new Drafts();
      const put = vi.spyOn(drafts, "put");
      const store = new Store(initial([{ name: "long.yaml", text: "#".repeat(characters) }]), () => undefined);
      const openings = new Openings(store, () => undefined, drafts, new Tab());
      for (let at = 0; at <= last; at += 100) {
        store.value = { ...store.value, files: [{ name: "long.yaml", text: `${"#".repeat(characters)}${at}` }] };
        openings.follow(store.value);
        await vi.advanceTimersByTimeAsync(100);
        if (at + 100 < first) expect(put).not.toHaveBeenCalled();
      }
      expect(put).toHaveBeenCalled();
    }
  } finally {
    vi.useRealTimers();
  }
});
