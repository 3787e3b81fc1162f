// The package for Node.js and its like: the module lies beside this file and is ready when the import returns.

import { readFileSync } from "node:fs";

import { initSync } from "./start.js";

initSync(readFileSync(new URL("./apportion_bg.wasm", import.meta.url)));

export * from "./index.js";
