// The package in Deno, which is neither Node.js nor a browser.

import { deepEqual } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const deno = (...words) => spawnSync("deno", words, { cwd: folder, encoding: "utf8" });
const hasDeno = deno("--version").status === 0;

test("both entries answer in Deno", { skip: !hasDeno && "Deno is not installed" }, () => {
  const { stdout, stderr } = deno("run", "--allow-read=..", "deno.mjs");
  deepEqual(JSON.parse(stdout || JSON.stringify(stderr)), ["match", "match"]);
});
