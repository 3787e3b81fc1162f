// JSON with exact integers: what JavaScript's numbers cannot hold becomes a bigint, and back.

/** @import { Json } from "./types.d.ts" */

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const INTEGER = /^-?\d+$/;

/**
 * As `JSON.parse`, but integers beyond 2^53 become `bigint`. The text is one that the module made, so its shape is known.
 *
 * @param {string} text
 * @returns {any}
 */
export function parse(text) {
  // Hardly any text has an integer of 16 digits, and looking is much faster than rewriting.
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const mark = unusedMark(text);
  const marked = text.replace(TOKEN, (token) =>
    INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${mark}${token}"` : token,
  );
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}

/**
 * As `JSON.stringify`, but a `bigint` becomes an integer with all its digits, and what JSON cannot say becomes null.
 *
 * @param {unknown} value
 * @returns {string}
 */
export function stringify(value) {
  let hasBigint = false;
  /** @type {string | undefined} */
  const plain = JSON.stringify(value, (_, part) => {
    if (typeof part !== "bigint") return part;
    hasBigint = true;
    return null;
  });
  if (!hasBigint) return plain ?? "null";
  const mark = unusedMark(plain);
  const marked = JSON.stringify(value, (_, part) => (typeof part === "bigint" ? `${mark}${part}` : part));
  return marked.replace(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}

/**
 * A text that occurs nowhere in another.
 *
 * @param {string} text
 */
function unusedMark(text) {
  let mark = "integer:";
  while (text.includes(mark)) mark = `_${mark}`;
  return mark;
}
