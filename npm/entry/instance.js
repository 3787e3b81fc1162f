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

  free() {
    if (this.#generation === generation) this.#raw.free();
  }
}

/** The objects that something in the module was given, as texts in the order of their first arrival: what it is filled with again. */
export class Facts {
  /** @type {Map<string, string>} */
  #texts;

  /** @param {Facts} [others] */
  constructor(others) {
    this.#texts = new Map(others === undefined ? [] : others.#texts);
  }

  /** @param {string} text */
  keep(text) {
    const object = headOf(text);
    if (object !== undefined) this.#texts.set(keyOf(object), text);
  }

  /** @param {ObjectRef} object */
  remove(object) {
    this.#texts.delete(keyOf(object));
  }

  get texts() {
    return Array.from(this.#texts.values());
  }
}

/**
 * @param {string} text
 * @returns {ObjectRef | undefined}
 */
function headOf(text) {
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
