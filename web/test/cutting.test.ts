import { expect, test } from "vitest";

import { cut } from "../src/answer/cutting";

const pod = (name: string) => ({ apiVersion: "v1", kind: "Pod", metadata: { name, annotations: { space: "-".repeat(3_000) } } });
const NAMES = Array.from({ length: 20 }, (_, index) => `pod-${index}`);
const json = (names: readonly string[]) => `${JSON.stringify({ apiVersion: "v1", items: names.map(pod), kind: "List", metadata: { resourceVersion: "" } }, undefined, 4)}\n`;
const item = (indent: string) => (name: string) =>
  `${indent}- apiVersion: v1\n${indent}  kind: Pod\n${indent}  metadata:\n${indent}    name: ${name}\n${indent}    annotations:\n${indent}      space: ${"-".repeat(3_000)}\n`;
const yaml = (names: readonly string[], indent = "") =>
  `apiVersion: v1\nitems:\n${names.map(item(indent)).join("")}kind: List\nmetadata:\n  resourceVersion: ""\n`;

/** Each piece as it is read. */
function readAs(text: string): string[] {
  let at = 0;
  return cut(text).map(({ before, length, after }) => before + text.slice(at, (at += length)) + after);
}

test("a list is cut between its items, and each piece is such a list", () => {
  for (const [index, piece] of readAs(json(NAMES)).entries()) {
    const list = JSON.parse(piece) as { kind: string; items: unknown[] };
    expect(list.kind).toBe("List");
    expect(list.items.filter((item) => item !== null).length).toBe(index < 6 ? 3 : 2);
  }
  for (const indent of ["", "  "]) {
    const pieces = readAs(yaml(NAMES, indent));
    expect(pieces).toHaveLength(7);
    expect(pieces[1]).toBe(yaml(NAMES.slice(3, 6), indent));
  }
  // The fields may stand in front, and comments around all of it.
  expect(readAs(`# from prod\napiVersion: v1\nkind: List\nitems:\n${NAMES.map(item("")).join("")}`)[1]).toBe(`# from prod\napiVersion: v1\nkind: List\nitems:\n${NAMES.slice(3, 6).map(item("")).join("")}`);
});

test("lists stand beside documents, and all pieces together are the text", () => {
  const text = `kind: Namespace\n---\n${yaml(NAMES)}---\n${json(NAMES)}---\nkind: Namespace\n`;
  const pieces = cut(text);
  expect(pieces.reduce((sum, { length }) => sum + length, 0)).toBe(text.length);
  expect(pieces).toHaveLength(1 + 7 + 7 + 1);
});

test("what is no such list stays whole", () => {
  const whole = (text: string) => expect(cut(text)).toEqual([{ length: text.length, before: "", after: "" }]);
  whole(yaml(NAMES).replace("kind: List\n", "kind: Deployment\n"));
  whole(yaml(NAMES).replace("kind: List\n", "kind: List\nmore:\n- 1\n"));
  whole(yaml(NAMES).replace("annotations:", "annotations: &same"));
  whole(JSON.stringify(JSON.parse(json(NAMES))));
  whole(json(NAMES).replace("    ],\n", "    ]\n"));
  whole(yaml(NAMES).replace("name: pod-1\n", "name: {{ .name }}\n"));
});

test("untouched pieces come back", () => {
  for (const make of [json, (names: readonly string[]) => yaml(names)]) {
    const text = make(NAMES);
    const kept = new Map<number, { length: number; before: string; after: string }>();
    let at = 0;
    for (const piece of cut(text)) {
      kept.set(at, piece);
      at += piece.length;
    }
    expect(cut(text, kept)).toEqual([...kept.values()]);
    const pieces = [...kept];
    const [start, changed] = pieces[2] ?? [0, { length: 0 }];
    const more = `${text.slice(0, start)}${text.slice(start, start + changed.length).replace("pod-7", "another")}${text.slice(start + changed.length)}`;
    const growth = more.length - text.length;
    const others = new Map(pieces.filter(([from]) => from !== start).map(([from, piece]) => [from < start ? from : from + growth, piece]));
    const again = cut(more, others);
    expect(again.filter((piece) => ![...kept.values()].includes(piece))).toHaveLength(1);
    // Another field of the list is another one around every piece.
    const renamed = text.replace('resourceVersion": ""', 'resourceVersion": "7"').replace('resourceVersion: ""', 'resourceVersion: "7"');
    const heads = new Map(pieces.slice(0, -1));
    expect(cut(renamed, heads).some((piece) => [...kept.values()].includes(piece))).toBe(false);
  }
});
