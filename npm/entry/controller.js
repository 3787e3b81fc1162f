// Controllers of a real cluster: what happened goes in, what to write comes out.

import { Controller as Raw } from "./apportion.js";
import { call } from "./call.js";
import { SettingsError } from "./engine.js";
import { parse, stringify } from "./json.js";
import { makeDisposable, needStarted } from "./start.js";

/** @import { Conclusion, ControllerOptions, ControllerTask, Finding, ObjectRef, Reconciliation, SourceStanding } from "./types.d.ts" */

export class Controller {
  #raw;
  #options;

  /** @param {ControllerOptions} options */
  constructor(options) {
    needStarted();
    const { settings = {}, ...controller } = options;
    this.#options = options;
    try {
      this.#raw = new Raw(stringify(controller), stringify(settings));
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
   * @param {ObjectRef} object
   * @returns {boolean}
   */
  delete({ kind, namespace, name }) {
    return call(this.#raw, "delete", { kind, namespace, name });
  }

  /** @returns {ControllerTask[]} */
  due() {
    return call(this.#raw, "due", null);
  }

  /**
   * @param {ObjectRef} object
   * @param {number} nowMillis
   * @returns {Reconciliation}
   */
  reconcile(object, nowMillis) {
    return call(this.#raw, "reconcile", { object, nowMillis });
  }

  /**
   * @param {ObjectRef} object
   * @param {Conclusion} conclusion
   */
  conclude(object, conclusion) {
    call(this.#raw, "conclude", { object, conclusion });
  }

  /** @returns {SourceStanding[]} */
  standings() {
    return call(this.#raw, "standings", null);
  }

  /**
   * @param {string} name
   * @param {string} argument
   */
  callText(name, argument) {
    return this.#raw.call(name, argument);
  }

  fork() {
    const fork = new Controller(this.#options);
    fork.#raw.free();
    fork.#raw = this.#raw.fork();
    return fork;
  }

  free() {
    this.#raw.free();
  }
}

makeDisposable(Controller);
