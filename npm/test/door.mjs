// The package as one of the engines of the conformance runner: a question per line in, the canonical JSON text of its
// answer per line out. Texts go through as they are, so that the answers can be compared byte by byte.
//
//   {"settings": {..}, "objects": [..], "question": {..}}     one allocation
//   {"evaluate": {..}}                                        one CEL selector
//   {"validate": {"settings": {..}, "submission": {..}}}      one request to the API server

import { createInterface } from "node:readline";

import { allocateText, evaluateText, validateText } from "apportion";

const ASK = { evaluate: evaluateText, validate: validateText };

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const name = line.match(/^\{"(evaluate|validate)":/)?.[1];
  const answer = name ? ASK[name](line.slice(name.length + 4, -1)) : allocateText(line);
  process.stdout.write(`${answer}\n`);
}
