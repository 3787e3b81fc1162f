// Controllers of a real cluster: what happened goes in, what to write comes out.

import { Controller as Raw } from "./apportion.js";
import { answered } from "./call.js";
import { made } from "./engine.js";
import { Facts, Held } from "./instance.js";
import { parse, stringify } from "./json.js";
import { makeDisposable } from "./start.js";

/** @import { Conclusion, ControllerOptions, ControllerTask, Finding, ObjectRef, Reconciliation, SourceStanding } from "./types.d.ts" */

export class Controller {
  #held;
  #facts;
  #options;

  /** @param {ControllerOptions} options */
  constructor(options) {
    this.#options = options;
    this.#facts = new Facts();
    this.#held = made(() => new Held(() => this.#fill()));
  }

  /** A controller that knows the objects, and remembers nothing else. */
  #fill() {
    const { settings = {}, ...controller } = this.#options;
    const raw = new Raw(stringify(controller), stringify(settings));
    raw.call("apply", `[${this.#facts.texts.join()}]`);
    return raw;
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
   * @param {ObjectRef} object
   * @returns {boolean}
   */
  delete({ kind, namespace, name }) {
    return this.#call("delete", { kind, namespace, name });
  }

  /** @returns {ControllerTask[]} */
  due() {
    return this.#call("due", null);
  }

  /**
   * @param {ObjectRef} object
   * @param {number} nowMillis
   * @returns {Reconciliation}
   */
  reconcile(object, nowMillis) {
    return this.#call("reconcile", { object, nowMillis });
  }

  /**
   * @param {ObjectRef} object
   * @param {Conclusion} conclusion
   */
  conclude(object, conclusion) {
    this.#call("conclude", { object, conclusion });
  }

  /** @returns {SourceStanding[]} */
  standings() {
    return this.#call("standings", null);
  }

  /**
   * @param {string} name
   * @param {string} argument
   */
  callText(name, argument) {
    // Whatever happens to the call, the object is not to come back.
    if (name === "delete") this.#facts.remove(parse(argument));
    const answer = this.#held.call((raw) => raw.call(name, argument));
    // One that cannot be read, too: it has to be known that it is there.
    if (name === "apply") for (const object of parse(argument)) this.#facts.keep(stringify(object));
    return answer;
  }

  fork() {
    const fork = new Controller(this.#options);
    fork.#held.free();
    fork.#facts = this.#facts.fork();
    fork.#held = new Held(() => fork.#fill(), () => this.#held.raw.fork());
    return fork;
  }

  free() {
    this.#held.free();
  }
}

makeDisposable(Controller);
