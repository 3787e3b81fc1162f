// Clusters that several tests ask about.

import { readFileSync, readdirSync } from "node:fs";

import { answer } from "../src/answer/answer";
import type { Answers, AskKind, Asks, Question } from "../src/protocol";

const EXAMPLES = new URL("../../examples/", import.meta.url);

/** The files of an example, as one text. */
export function example(path: string): string {
  const place = new URL(path, EXAMPLES);
  if (!path.endsWith("/")) return readFileSync(place, "utf8");
  const names = readdirSync(place).filter((name) => name.endsWith(".yaml")).sort();
  return names.map((name) => readFileSync(new URL(name, place), "utf8")).join("---\n");
}

export function questionOf(text: string): Question {
  return { text, version: "all", gates: {} };
}

/** What the worker answers. */
export function ask<Kind extends AskKind>(kind: Kind, text: string, rest?: Omit<Asks[Kind], "question">): Answers[Kind] {
  const asked = { kind, ask: { question: questionOf(text), ...rest } } as Parameters<typeof answer>[0];
  return answer(asked) as Answers[Kind];
}

/** A node with devices; what is left out of a device is left out of the manifest. */
export function slice(node: string, devices: string, more = ""): string {
  return `---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: { name: ${node} }
spec:
  driver: gpu.example.com
  nodeName: ${node}
  pool: { name: ${node}, generation: 1, resourceSliceCount: 1 }
${more}  devices:
${devices}`;
}
