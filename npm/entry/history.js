// Laws over what happens in a cluster: events of watches go in, what breaks a law comes out.

import { History as Raw } from "./apportion.js";
import { answered } from "./call.js";
import { made } from "./engine.js";
import { Held, StoppedError } from "./instance.js";
import { stringify } from "./json.js";
import { makeDisposable } from "./start.js";

/** @import { Finding, Settings, WatchEvent } from "./types.d.ts" */

export class History {
  #held;

  /** @param {Settings} [settings] */
  constructor(settings = {}) {
    this.#held = made(() => new Held(over, () => new Raw(stringify(settings))));
  }

  /**
   * @param {Iterable<WatchEvent>} events
   * @returns {Finding[][]}
   */
  note(events) {
    const text = stringify(Array.from(events));
    return answered(this.#held.call((raw) => raw.note(text))).findings;
  }

  free() {
    this.#held.free();
  }
}

makeDisposable(History);

/**
 * What the module knew of earlier events is gone with it.
 *
 * @returns {Raw}
 */
function over() {
  throw new StoppedError("the history ended when the module stopped: begin another one with a list of every kind");
}
