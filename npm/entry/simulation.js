// The life of claims and groups in virtual time.

import { Simulation as Raw, inspect as rawInspect, readScript as rawReadScript } from "./apportion.js";
import { answered } from "./call.js";
import { made } from "./engine.js";
import { Held, StoppedError, guarded } from "./instance.js";
import { parse, stringify } from "./json.js";
import { makeDisposable } from "./start.js";

/** @import { Command, Finding, InspectOptions, Json, Moment, ObjectRef, RecordedEvent, Refused } from "./types.d.ts" */
/** @import { Report, ScriptStep, Settings, SimulationOptions } from "./types.d.ts" */

export class Simulation {
  #held;

  /** @param {SimulationOptions} [options] */
  constructor({ settings = {}, nowMillis, objects = [] } = {}) {
    const now = nowMillis === undefined ? "" : String(nowMillis);
    const looked = nowMillis === undefined ? stringify(Array.from(objects)) : "[]";
    this.#held = made(() => new Held(over, () => new Raw(stringify(settings), now, looked)));
  }

  /**
   * @param {string} name
   * @param {unknown} argument
   */
  #call(name, argument) {
    return answered(this.callText(name, stringify(argument)));
  }

  /**
   * @param {Iterable<unknown>} objects
   * @returns {Finding[][]}
   */
  apply(objects) {
    return this.#call("apply", Array.from(objects));
  }

  /**
   * @param {Iterable<unknown>} objects
   * @returns {Finding[][]}
   */
  submit(objects) {
    return this.#call("submit", Array.from(objects));
  }

  /** @returns {Finding[]} */
  begin() {
    return this.#call("begin", null);
  }

  /**
   * @param {Command} command
   * @returns {Refused | undefined}
   */
  perform(command) {
    return this.#call("perform", command).refused;
  }

  /**
   * @param {ObjectRef} object
   * @param {string} detail
   */
  tell(object, detail) {
    this.#call("tell", { object, detail });
  }

  /**
   * @param {number} untilMillis
   * @returns {"quiet" | "restless"}
   */
  runUntil(untilMillis) {
    return this.#call("runUntil", untilMillis);
  }

  /** @returns {boolean} */
  step() {
    return this.#call("step", null);
  }

  /** @returns {number} */
  get nowMillis() {
    return Number(this.#call("now", null));
  }

  /**
   * @param {number} [start]
   * @returns {Moment[]}
   */
  timeline(start = 0) {
    return this.#call("timeline", start);
  }

  /** @returns {Report} */
  report() {
    return this.#call("report", null);
  }

  /**
   * @param {ObjectRef} object
   * @returns {Json | undefined}
   */
  get(object) {
    return this.#call("get", object) ?? undefined;
  }

  /**
   * @param {string} kind
   * @returns {Json[]}
   */
  objects(kind) {
    return this.#call("list", kind);
  }

  /** @returns {RecordedEvent[]} */
  events() {
    return this.#call("events", null);
  }

  /**
   * @param {string} name
   * @param {string} argument
   */
  callText(name, argument) {
    return this.#held.call((raw) => raw.call(name, argument));
  }

  fork() {
    const fork = new Simulation();
    fork.#held.free();
    fork.#held = new Held(over, () => this.#held.raw.fork());
    return fork;
  }

  free() {
    this.#held.free();
  }
}

makeDisposable(Simulation);

/**
 * What happened in a simulation cannot be had again.
 *
 * @returns {Raw}
 */
function over() {
  throw new StoppedError("the simulation ended when a call into the module stopped");
}

/**
 * @param {unknown} script
 * @returns {ScriptStep[]}
 */
export function readScript(script) {
  return answered(guarded(() => rawReadScript(stringify(script)))).steps;
}

/**
 * @param {Iterable<unknown>} objects
 * @param {InspectOptions} [options]
 * @returns {Finding[]}
 */
export function inspect(objects, { settings = {}, nowMillis } = {}) {
  const asked = stringify({ settings, objects: Array.from(objects), nowMillis });
  return answered(guarded(() => rawInspect(asked))).findings;
}
