// The package as one of the engines of the conformance runner: a question per line in, the canonical JSON text of its
// answer per line out. Texts go through as they are, so that the answers can be compared byte by byte.
//
//   {"settings": {..}, "objects": [..], "question": {..}}     one allocation
//   {"evaluate": {..}}                                        one CEL selector

import { createInterface } from "node:readline";

import { allocateText, evaluateText } from "apportion";

const EVALUATE = '{"evaluate":';

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const answer = line.startsWith(EVALUATE) ? evaluateText(line.slice(EVALUATE.length, -1)) : allocateText(line);
  process.stdout.write(`${answer}\n`);
}
