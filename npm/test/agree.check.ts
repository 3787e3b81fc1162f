// Compiled, never run: what `types.d.ts` promises is what the JavaScript has, no more and no less.

import * as actual from "../entry/index.js";
import type * as promised from "../entry/types.d.ts";

export const package_: typeof promised = actual;

type NotPromised = Exclude<keyof typeof actual, keyof typeof promised>;
export const nothing: [NotPromised] extends [never] ? true : NotPromised = true;
