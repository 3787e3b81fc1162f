// The README's calls are what somebody copies: each block runs, and says what stands behind its lines.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import * as apportion from "apportion";

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const EXAMPLE = new URL("../../examples/gpu-sharing/", import.meta.url);

const text = readdirSync(EXAMPLE).filter((name) => name.endsWith(".yaml")).sort().map((name) => readFileSync(new URL(name, EXAMPLE), "utf8")).join("---\n");
const blocks = [...README.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code]) => code);

/** Runs code, and returns what it logs, a text for each call. */
async function logged(code) {
  const lines = [];
  const console = { log: (...values) => lines.push(values.join(" ")) };
  const names = Object.keys(apportion);
  const body = code.replace(/^import .*$/gm, "");
  const run = new Function(...names, "text", "console", `return (async () => {${body}})();`);
  await run(...names.map((name) => apportion[name]), text, console);
  return lines;
}

test("the first block runs, and names every Pod", async () => {
  const lines = await logged(blocks[0]);
  assert.equal(lines.length, 10);
  assert.ok(lines.includes("notebook node-a"));
});

test("the ten calls say what the README says", async () => {
  const calls = blocks.slice(1);
  assert.equal(calls.length, 10);
  const said = calls.map((code) => [...code.matchAll(/; \/\/ (.*)$/gm)].map(([, words]) => words));
  for (const words of said) assert.ok(words.length > 0);
  assert.deepEqual(await logged(calls.join("\n")), said.flat());
});
