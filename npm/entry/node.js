// The package's entry in Node.js: the module is read from disk and is ready when the import returns.
import { readFileSync } from "node:fs";
import { initSync } from "./apportion.js";

initSync({ module: readFileSync(new URL("./apportion_bg.wasm", import.meta.url)) });

export * from "./apportion.js";

// The same call as elsewhere, so that code runs unchanged in Node.js and in browsers.
export default async function init() {}
