// The one instance of the module. A call that makes it stop costs that call: the module is made anew, and what was in it again.

import { __wbg_reset_state as renew } from "./apportion.js";
import { needStarted } from "./start.js";

/** @import { ObjectRef } from "./types.d.ts" */

export class StoppedError extends Error {
  name = "StoppedError";

  /**
   * @param {string} message
   * @param {unknown} [cause]
   */
  constructor(message, cause) {
    super(message, { cause });
  }
}

/** How often the module stopped. What was made before the last time points into memory that is gone. */
let generation = 0;

/** Whether the module has stopped. It is made anew by the next call: where the stack ran over there is no room for that at once. */
let isGone = false;

/**
 * Calls the module. Where it stops in the middle, nothing that it holds can be trusted any more.
 *
 * @template T
 * @param {() => T} ask
 * @returns {T}
 */
export function guarded(ask) {
  needStarted();
  if (isGone) {
    renew();
    isGone = false;
  }
  try {
    return ask();
  } catch (error) {
    if (!isStop(error)) throw error;
    generation += 1;
    isGone = true;
    throw new StoppedError(`the module stopped in the middle of a call, and the next one makes it anew: ${error.message}`, error);
  }
}

/**
 * A trap, or a stack that ran over: `RangeError` in V8 and JavaScriptCore, `InternalError` in SpiderMonkey. The module throws texts.
 *
 * @param {unknown} error
 * @returns {error is Error}
 */
function isStop(error) {
  return error instanceof WebAssembly.RuntimeError || error instanceof RangeError || (error instanceof Error && error.name === "InternalError");
}

/**
 * Something inside the module, which is made again where the module was.
 *
 * @template {{ free(): void }} T
 */
export class Held {
  /** @type {() => T} */
  #make;
  /** @type {T} */
  #raw;
  #generation;

  /**
   * @param {() => T} make
   * @param {() => T} [first] how it is made this once
   */
  constructor(make, first = make) {
    this.#make = make;
    this.#raw = guarded(first);
    this.#generation = generation;
  }

  get raw() {
    if (this.#generation !== generation) {
      this.#raw = guarded(this.#make);
      this.#generation = generation;
    }
    return this.#raw;
  }

  /**
   * @template A
   * @param {(raw: T) => A} ask
   */
  call(ask) {
    const raw = this.raw;
    return guarded(() => ask(raw));
  }

  /** Has the next call make it again. */
  makeAgain() {
    if (this.#generation === generation) this.#raw.free();
    this.#generation = -1;
  }

  free() {
    this.makeAgain();
    this.#make = () => {
      throw new TypeError("it was freed");
    };
  }
}

/**
 * Changes to objects by key, on top of earlier ones. Layers that forks share are not changed any more.
 *
 * @typedef {object} Layer
 * @property {Map<string, Change>} changes
 * @property {Layer | undefined} below
 *
 * @typedef {object} Change
 * @property {string | undefined} text what the object is now; nothing where it is gone
 * @property {boolean} isLast whether it comes after what is below, although there was one of that name
 */

/** The objects that something in the module was given, as texts in the order of their first arrival: what it is filled with again. */
export class Facts {
  /** @type {Layer} */
  #top = { changes: new Map(), below: undefined };

  /** Facts that change as these do not, and the other way round. It costs what was changed since the last time. */
  fork() {
    const fork = new Facts();
    if (this.#top.changes.size > 0) this.#top = { changes: new Map(), below: joined(this.#top) };
    fork.#top = { changes: new Map(), below: this.#top.below };
    return fork;
  }

  /**
   * False where that is what the object was.
   *
   * @param {string} text
   */
  keep(text) {
    const object = headOf(text);
    if (object === undefined) return true;
    const key = keyOf(object);
    const { changes } = this.#top;
    // Without a name it is another object each time.
    if (object.name !== "" && this.#now(key) === text) return false;
    const before = changes.get(key);
    const isBack = before !== undefined && before.text === undefined;
    if (isBack) changes.delete(key);
    changes.set(key, { text, isLast: isBack || before?.isLast === true });
    return true;
  }

  /** @param {string} key */
  #now(key) {
    for (let at = /** @type {Layer | undefined} */ (this.#top); at !== undefined; at = at.below) {
      const change = at.changes.get(key);
      if (change !== undefined) return change.text;
    }
  }

  /** @param {ObjectRef} object */
  remove(object) {
    const key = keyOf(object);
    const { changes, below } = this.#top;
    changes.delete(key);
    if (below !== undefined) changes.set(key, { text: undefined, isLast: false });
  }

  get texts() {
    /** @type {Map<string, Change>} */
    const texts = new Map();
    for (const { changes } of layersOf(this.#top)) change(texts, changes);
    return Array.from(texts.values()).flatMap(({ text }) => text ?? []);
  }
}

/**
 * The layers, the lowest first.
 *
 * @param {Layer} top
 */
function layersOf(top) {
  const layers = [];
  for (let at = /** @type {Layer | undefined} */ (top); at !== undefined; at = at.below) layers.unshift(at);
  return layers;
}

/**
 * The same with each layer much larger than the one on top of it, so that there are few.
 *
 * @param {Layer} top
 * @returns {Layer}
 */
function joined({ changes, below }) {
  if (below === undefined || below.changes.size > 2 * changes.size) return { changes, below };
  const both = new Map(below.changes);
  change(both, changes);
  if (below.below === undefined) {
    for (const [key, { text }] of both) if (text === undefined) both.delete(key);
  }
  return joined({ changes: both, below: below.below });
}

/**
 * @param {Map<string, Change>} all
 * @param {Map<string, Change>} changes
 */
function change(all, changes) {
  for (const [key, { text, isLast }] of changes) {
    const before = all.get(key);
    const isNew = isLast || (before !== undefined && (before.isLast || before.text === undefined));
    if (isNew) all.delete(key);
    all.set(key, { text, isLast: isNew });
  }
}

/**
 * Which object a JSON text is.
 *
 * @param {string} text
 * @returns {ObjectRef | undefined}
 */
export function headOf(text) {
  try {
    const { apiVersion, kind, metadata } = JSON.parse(text);
    const isSource = String(apiVersion).startsWith("apportion.dev/");
    return { kind: isSource ? `${kind}.apportion.dev` : String(kind), namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
  } catch {
    return undefined;
  }
}

/**
 * The namespace `default` is the one of objects without any.
 *
 * @param {ObjectRef} object
 */
function keyOf({ kind, namespace, name }) {
  return JSON.stringify([kind, namespace === "default" ? "" : namespace, name]);
}
