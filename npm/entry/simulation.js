// The life of claims and groups in virtual time.

import { Simulation as Raw, inspect as rawInspect, readScript as rawReadScript } from "./apportion.js";
import { call } from "./call.js";
import { SettingsError } from "./engine.js";
import { parse, stringify } from "./json.js";
import { makeDisposable, needStarted } from "./start.js";

/** @import { Command, Finding, InspectOptions, Json, Moment, ObjectRef, RecordedEvent, Refused } from "./types.d.ts" */
/** @import { Report, ScriptStep, Settings, SimulationOptions } from "./types.d.ts" */

export class Simulation {
  #raw;

  /** @param {SimulationOptions} [options] */
  constructor({ settings = {}, nowMillis, objects = [] } = {}) {
    needStarted();
    const now = nowMillis === undefined ? "" : String(nowMillis);
    const looked = nowMillis === undefined ? stringify(Array.from(objects)) : "[]";
    try {
      this.#raw = new Raw(stringify(settings), now, looked);
    } catch (error) {
      if (typeof error !== "string") throw error;
      throw new SettingsError(parse(error));
    }
  }

  /**
   * @param {Iterable<unknown>} objects
   * @returns {Finding[][]}
   */
  apply(objects) {
    return call(this.#raw, "apply", Array.from(objects));
  }

  /**
   * @param {Iterable<unknown>} objects
   * @returns {Finding[][]}
   */
  submit(objects) {
    return call(this.#raw, "submit", Array.from(objects));
  }

  /** @returns {Finding[]} */
  begin() {
    return call(this.#raw, "begin", null);
  }

  /**
   * @param {Command} command
   * @returns {Refused | undefined}
   */
  perform(command) {
    return call(this.#raw, "perform", command).refused;
  }

  /**
   * @param {ObjectRef} object
   * @param {string} detail
   */
  tell(object, detail) {
    call(this.#raw, "tell", { object, detail });
  }

  /**
   * @param {number} untilMillis
   * @returns {"quiet" | "restless"}
   */
  runUntil(untilMillis) {
    return call(this.#raw, "runUntil", untilMillis);
  }

  /** @returns {boolean} */
  step() {
    return call(this.#raw, "step", null);
  }

  /** @returns {number} */
  get nowMillis() {
    return Number(call(this.#raw, "now", null));
  }

  /**
   * @param {number} [start]
   * @returns {Moment[]}
   */
  timeline(start = 0) {
    return call(this.#raw, "timeline", start);
  }

  /** @returns {Report} */
  report() {
    return call(this.#raw, "report", null);
  }

  /**
   * @param {ObjectRef} object
   * @returns {Json | undefined}
   */
  get(object) {
    return call(this.#raw, "get", object) ?? undefined;
  }

  /**
   * @param {string} kind
   * @returns {Json[]}
   */
  objects(kind) {
    return call(this.#raw, "list", kind);
  }

  /** @returns {RecordedEvent[]} */
  events() {
    return call(this.#raw, "events", null);
  }

  /**
   * @param {string} name
   * @param {string} argument
   */
  callText(name, argument) {
    return this.#raw.call(name, argument);
  }

  fork() {
    const fork = new Simulation();
    fork.#raw.free();
    fork.#raw = this.#raw.fork();
    return fork;
  }

  free() {
    this.#raw.free();
  }
}

makeDisposable(Simulation);

/**
 * @param {unknown} script
 * @returns {ScriptStep[]}
 */
export function readScript(script) {
  needStarted();
  const answer = parse(rawReadScript(stringify(script)));
  if (answer.status === "unreadable") throw new SettingsError(answer.findings);
  return answer.steps;
}

/**
 * @param {Iterable<unknown>} objects
 * @param {InspectOptions} [options]
 * @returns {Finding[]}
 */
export function inspect(objects, { settings = {}, nowMillis } = {}) {
  needStarted();
  const answer = parse(rawInspect(stringify({ settings, objects: Array.from(objects), nowMillis })));
  if (answer.status === "unreadable") throw new SettingsError(answer.findings);
  return answer.findings;
}
