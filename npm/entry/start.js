// Loading the module, once.

import initModule, { initSync as initModuleSync } from "./apportion.js";

/** @import { ModuleSource } from "./types.d.ts" */

let isStarted = false;

/** @param {ModuleSource} [source] */
export async function init(source) {
  if (isStarted) return;
  // Bundlers find the file by this very form.
  const module = source ?? new URL("./apportion_bg.wasm", import.meta.url);
  await initModule({ module_or_path: /** @type {any} */ (module) });
  isStarted = true;
}

/** @param {Exclude<ModuleSource, string | URL>} source */
export function initSync(source) {
  if (isStarted) return;
  initModuleSync({ module: /** @type {any} */ (source) });
  isStarted = true;
}

export function needStarted() {
  if (!isStarted) throw new Error("the module is not loaded: call `await init()` first");
}

/**
 * Lets `using` free what a class holds, where the platform knows `using`.
 *
 * @param {{ prototype: { free(): void } }} holder
 */
export function makeDisposable(holder) {
  if (Symbol.dispose) Object.defineProperty(holder.prototype, Symbol.dispose, { value: holder.prototype.free });
}
