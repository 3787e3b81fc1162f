// Whatever is opened is an entry of the browser's history, its address follows the state, and the state follows the address.

import { record } from "../foreign";
import type { Store } from "../store";
import { type Opened, type Shared, type State, onElsewhere, onNotice, onOpen } from "../state";
import * as words from "../words";
import { type Drafts, newId } from "./drafts";
import { fragmentOf, readFragment, recognised, sharedOf } from "./link";

const PAUSE_MS = 400;
/** A long text is written less often: a pause is a millisecond longer for so many of its characters. */
const CHARACTERS_PER_MS = 2_000;

/** How long the page waits for what the browser kept before it starts without. */
const PATIENCE_MS = 500;

/** The browser's history and address, as far as they are used here. */
export interface Browser {
  /** What stands behind the `#`, with it. */
  fragment(): string;
  entry(): unknown;
  /** An entry with an address; `undefined` for that of the page alone. */
  push(entry: Entry, fragment: string | undefined): void;
  replace(entry: Entry, fragment: string | undefined): void;
  back(): void;
  forward(): void;
  /** The user went to another entry or wrote another address. */
  onArrival(listener: () => void): void;
}

/** One entry: which draft it shows, and how many entries of this page are behind it. */
export interface Entry {
  draft: string;
  depth: number;
}

interface Visit {
  shared: Shared;
  opened: Opened;
}

export class Openings {
  readonly #store: Store<State>;
  readonly #ask: () => void;
  readonly #drafts: Drafts;
  readonly #browser: Browser;
  #entry: Entry = { draft: "", depth: 0 };
  /** How many entries of this page there are behind the newest one, as far as is known. */
  #newest = 0;
  /** The address that this page wrote last. */
  #written = "";
  /** The page as it starts. */
  readonly #first: Visit;
  /** Everything that was opened since the page was loaded, as it is now. */
  readonly #visits = new Map<string, Visit>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether what is shown is nowhere but on this page: the browser keeps nothing, and it is too long for an address. */
  isAtRisk = false;

  constructor(store: Store<State>, ask: () => void, drafts: Drafts, browser: Browser) {
    this.#store = store;
    this.#first = { shared: sharedOf(store.value), opened: store.value.opened };
    this.#ask = ask;
    this.#drafts = drafts;
    this.#browser = browser;
  }

  /** Opens what the address says, or else what was left unfinished. */
  async start(): Promise<void> {
    this.#browser.onArrival(() => void this.#arrive());
    const entry = readEntry(this.#browser.entry());
    const kept = entry && (await within(this.#drafts.get(entry.draft)));
    if (entry !== undefined && kept !== undefined) {
      this.#entry = { ...entry, draft: await this.#drafts.own(entry.draft) };
      this.#browser.replace(this.#entry, this.#browser.fragment());
      this.#written = this.#browser.fragment();
      this.#open(kept);
      if (isChanged(kept)) this.#tellRestored(kept);
      return;
    }
    this.#entry = entry ?? { draft: newId(), depth: 0 };
    const link = await readFragment(this.#browser.fragment());
    const isText = typeof link === "object" && "shared" in link;
    this.#browser.replace(this.#entry, isText ? this.#browser.fragment() : undefined);
    if (isText) return this.#open({ shared: link.shared, opened: link.shared }, link.unknown);
    this.#visits.set(this.#entry.draft, this.#first);
    this.#store.value = { ...this.#store.value, draft: this.#entry.draft };
    if (typeof link === "object") return void (this.#store.value = onElsewhere(this.#store.value, link.address.href));
    // A link that cannot be opened takes nothing away.
    if (entry === undefined) await this.#restoreNewest();
    if (typeof link === "string") this.#tellBad(link);
  }

  /** What a tab left behind that was closed or crashed. The page as it starts is one step back. */
  async #restoreNewest(): Promise<void> {
    const newest = (await within(this.#drafts.list()))?.find(isChanged);
    if (newest === undefined) return;
    this.#entry = { draft: await this.#drafts.own(newest.id), depth: this.#entry.depth + 1 };
    this.#browser.push(this.#entry, undefined);
    this.#open(newest);
    this.#tellRestored(undefined);
    this.#writeSoon();
  }

  /** Keeps what changed, and gives what was opened an entry of its own. */
  follow(state: State): void {
    const { draft, opened } = state;
    const shared = sharedOf(state);
    const before = this.#visits.get(draft);
    if (draft !== this.#entry.draft) {
      this.flush();
      this.#entry = { draft, depth: this.#entry.depth + 1 };
      this.#newest = this.#entry.depth;
      this.#browser.push(this.#entry, undefined);
    } else if (before !== undefined && isSame(shared, before.shared)) return;
    this.#visits.set(draft, { shared, opened });
    this.#writeSoon();
  }

  /** Goes back to what was opened before; false where there is nothing. */
  back(): boolean {
    if (this.#entry.depth === 0) return false;
    this.#newest = Math.max(this.#newest, this.#entry.depth);
    this.#browser.back();
    return true;
  }

  /** Goes forward to what was opened after this; false where there is nothing. */
  forward(): boolean {
    if (this.#entry.depth >= this.#newest) return false;
    this.#browser.forward();
    return true;
  }

  /** Writes at once what waits to be written. */
  flush(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void this.#write();
  }

  #open(visit: Visit, unknownInLink: readonly string[] = []): void {
    const { draft } = this.#entry;
    const { opened } = visit;
    // What another build of this page kept may be unknown to this one.
    const { shared, unknown } = recognised(visit.shared);
    this.#visits.set(draft, { shared, opened });
    this.#store.value = onOpen(this.#store.value, shared, draft, opened);
    const left = [...unknownInLink, ...unknown];
    if (left.length > 0) this.#store.value = onNotice(this.#store.value, words.unknown(left));
    this.#ask();
  }

  /** Says that a draft is shown again; undone by opening what it was made from, or else by going back. */
  #tellRestored(from: Visit | undefined): void {
    const { value } = this.#store;
    const undos = from === undefined ? [] : [{ kind: "opened", opened: from.opened } as const];
    this.#store.value = onNotice({ ...value, undos }, words.restored(words.draftName(value)), true);
  }

  /** Says that a link cannot be opened, and what is shown in its place. */
  #tellBad(why: string): void {
    const { value } = this.#store;
    const { notice } = value;
    const text = [words.badLink(why), notice?.canUndo === true ? notice.text : ""].filter((text) => text !== "").join(" ");
    this.#store.value = onNotice(value, text, notice?.canUndo);
  }

  async #arrive(): Promise<void> {
    const entry = readEntry(this.#browser.entry());
    const fragment = this.#browser.fragment();
    if (entry?.draft === this.#entry.draft) {
      this.#entry = entry;
      return;
    }
    if (entry === undefined && fragment === this.#written) return;
    this.flush();
    const visit = entry && (this.#visits.get(entry.draft) ?? (await this.#drafts.get(entry.draft)));
    if (entry !== undefined && visit !== undefined) {
      this.#entry = entry;
      this.#written = fragment;
      return this.#open(visit);
    }
    const link = await readFragment(fragment);
    if (entry !== undefined && link === undefined) {
      // Nobody changed this entry, and it has no address: the page started there.
      this.#entry = entry;
      this.#written = fragment;
      return this.#open(this.#first);
    }
    if (typeof link !== "object" && entry === undefined) {
      // The new entry goes on with what is shown: a reload there must not lose it.
      this.#browser.replace(this.#entry, this.#written);
    }
    if (typeof link === "string") this.#tellBad(link);
    if (typeof link !== "object") return;
    if (!("shared" in link)) return void (this.#store.value = onElsewhere(this.#store.value, link.address.href));
    this.#entry = entry ?? { draft: newId(), depth: this.#entry.depth + 1 };
    this.#browser.replace(this.#entry, fragment);
    this.#written = fragment;
    this.#open({ shared: link.shared, opened: link.shared }, link.unknown);
  }

  #writeSoon(): void {
    // Not put off by what is written meanwhile: a crash must not take all of it.
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#write();
    }, pauseOf(this.#visits.get(this.#entry.draft)));
  }

  async #write(): Promise<void> {
    const { draft } = this.#entry;
    const visit = this.#visits.get(draft);
    if (visit === undefined) return;
    const keep = () => this.#drafts.put({ id: draft, at: Date.now(), ...visit });
    let isKept = false;
    // First what must not be lost.
    if (isChanged(visit)) {
      isKept = await keep();
      await this.#drafts.own(draft);
    }
    const fragment = await fragmentOf(visit.shared);
    // What came from elsewhere and has no address is lost by a reload, too.
    if (fragment === undefined && !isChanged(visit)) isKept = await keep();
    // What was opened meanwhile has an address of its own.
    if (this.#entry.draft !== draft) return;
    const wasAtRisk = this.isAtRisk;
    this.isAtRisk = fragment === undefined && !isKept;
    if (this.isAtRisk && !wasAtRisk) this.#store.value = onNotice(this.#store.value, words.NOT_KEPT);
    // What is too long for an address has none: an older one would tell something else.
    this.#written = fragment ?? "";
    this.#browser.replace(this.#entry, fragment);
  }
}

/** How long after the first change a draft is written. */
function pauseOf(visit: Visit | undefined): number {
  const characters = (visit?.shared.files ?? []).reduce((sum, { text }) => sum + text.length, 0);
  return PAUSE_MS + characters / CHARACTERS_PER_MS;
}

/** The browser that this page is in. */
export function thisBrowser(): Browser {
  const bare = () => location.pathname + location.search;
  return {
    fragment: () => location.hash,
    entry: () => history.state as unknown,
    push: (entry, fragment) => history.pushState(entry, "", fragment || bare()),
    replace: (entry, fragment) => history.replaceState(entry, "", fragment || bare()),
    back: () => history.back(),
    forward: () => history.forward(),
    // Writing another fragment is an arrival, too.
    onArrival: (listener) => addEventListener("popstate", listener),
  };
}

function readEntry(value: unknown): Entry | undefined {
  const { draft, depth } = record(value);
  return typeof draft === "string" && Number.isSafeInteger(depth) ? { draft, depth: depth as number } : undefined;
}

/** Whether there is something to lose. */
function isChanged({ shared: { files, script, expression, otherText }, opened }: Visit): boolean {
  if (script !== opened.script || expression !== opened.expression || (otherText ?? "") !== (opened.otherText ?? "")) return true;
  if (files.length !== opened.files.length) return true;
  return files.some(({ name, text }, index) => opened.files[index]?.name !== name || opened.files[index]?.text !== text);
}

function isSame(one: Shared, other: Shared): boolean {
  return (Object.keys(one) as (keyof Shared)[]).every((name) => one[name] === other[name]);
}

async function within<Value>(wanted: Promise<Value>): Promise<Value | undefined> {
  return Promise.race([wanted, new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), PATIENCE_MS))]);
}
