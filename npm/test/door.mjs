// The package as one of the engines of the conformance runner: a question per line in, the canonical JSON text of its
// answer per line out. Texts go through as they are, so that the answers can be compared byte by byte.
//
//   {"settings": {..}, "objects": [..], "question": {..}}     one allocation
//   {"evaluate": {..}}                                        one CEL selector
//   {"validate": {"settings": {..}, "submission": {..}}}      one request to the API server
//   {"life": {"settings": {..}, "nowMillis": 0}}              a simulation, in the place of the one before
//   {"life": {"call": "runUntil", "argument": 1000}}          a call of it

import { createInterface } from "node:readline";

import { Simulation, allocateText, evaluateText, validateText } from "apportion";

/** @type {Simulation | undefined} */
let simulation;

/** @param {string} text */
function life(text) {
  const asked = JSON.parse(text);
  if (asked.call !== undefined) {
    // The argument as it came: `{"argument":..,"call":..}` has its keys in the order of the alphabet.
    const end = text.lastIndexOf(`,"call":`);
    return simulation?.callText(asked.call, text.slice(`{"argument":`.length, end)) ?? "null";
  }
  simulation?.free();
  simulation = new Simulation(asked);
  return "{}";
}

const ASK = { evaluate: evaluateText, life, validate: validateText };

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const name = line.match(/^\{"(evaluate|life|validate)":/)?.[1];
  const answer = name ? ASK[name](line.slice(name.length + 4, -1)) : allocateText(line);
  process.stdout.write(`${answer}\n`);
}
