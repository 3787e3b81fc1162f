// The package as one of the engines of the conformance runner: a question per line in, the canonical JSON text of its
// answer per line out. Texts go through as they are, so that the answers can be compared byte by byte.
//
//   {"settings": {..}, "objects": [..], "question": {..}}
//   {"evaluate": {"expression": .., "device": {..}, ..}}

import { createInterface } from "node:readline";

import { allocateText } from "apportion";

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  process.stdout.write(`${allocateText(line)}\n`);
}
