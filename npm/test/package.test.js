import assert from "node:assert/strict";
import test from "node:test";
import init, { version } from "apportion";

test("the package loads in Node.js and answers", async () => {
  await init();
  assert.match(version(), /^\d+\.\d+\.\d+$/);
});
