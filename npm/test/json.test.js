import assert from "node:assert/strict";
import test from "node:test";

import { parse, stringify } from "../entry/json.js";

test("integers beyond 2^53 keep all their digits, both ways", () => {
  for (const text of [
    '{"a":9007199254740993,"b":[-9223372036854775808,1,1.5,"9007199254740993"]}',
    '"integer:9007199254740993"',
    '["integer:1",9007199254740993,"_integer:2"]',
    '{"9007199254740993":"\\\\\\"9007199254740993"}',
    "18446744073709551615",
    "null",
  ]) {
    assert.equal(stringify(parse(text)), text);
  }
  assert.equal(parse("[9007199254740993]")[0], 9007199254740993n);
  assert.equal(parse("[9007199254740991]")[0], 9007199254740991);
});

test("what JSON cannot say becomes null", () => {
  assert.equal(stringify(undefined), "null");
  assert.equal(stringify([undefined, Number.NaN]), "[null,null]");
});
