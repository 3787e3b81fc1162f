// What a page downloads does not grow unseen.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";

const MODULE = readFileSync(new URL("../dist/apportion_bg.wasm", import.meta.url));

// What the module weighs today, and little more. The aims are 1,400,000 bytes with gzip and 1,050,000 with Brotli.
const MOST_GZIP = 1_511_000;
const MOST_BROTLI = 1_195_000;

test("the module weighs no more than it does today", () => {
  const [gzip, brotli] = [gzipSync(MODULE, { level: 9 }).length, brotliCompressSync(MODULE).length];
  assert.ok(gzip <= MOST_GZIP, `${gzip} bytes with gzip, more than ${MOST_GZIP}`);
  assert.ok(brotli <= MOST_BROTLI, `${brotli} bytes with Brotli, more than ${MOST_BROTLI}`);
});
