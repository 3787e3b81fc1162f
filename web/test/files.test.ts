import { expect, test } from "vitest";

import { globalOffset, joined, lineAt, localPlace, localRange, normalised, split } from "../src/files";

const FILES = [
  { name: "a.yaml", text: "kind: A\nx: 1" },
  { name: "b.yaml", text: "kind: B\n" },
  { name: "c.yaml", text: "kind: C\ny: 2\n" },
];
const TEXT = "kind: A\nx: 1\n---\nkind: B\n---\nkind: C\ny: 2\n";

test("files are one text, and places of it are places of a file", () => {
  expect(joined(FILES)).toBe(TEXT);
  for (const word of ["x: 1", "kind: B", "y: 2"]) {
    const start = TEXT.indexOf(word);
    const utf16Range = { start, end: start + word.length };
    const place = localPlace(FILES, { line: lineAt(TEXT, start), utf16Range });
    const text = FILES[place.file]?.text ?? "";
    expect(text.slice(place.utf16Range.start, place.utf16Range.end)).toBe(word);
    expect(text.split("\n")[place.line - 1]).toBe(word);
    expect(globalOffset(FILES, place.file, place.utf16Range.start)).toBe(start);
  }
});

test("a range ends where its file ends", () => {
  expect(localRange(FILES, { start: 0, end: TEXT.length })).toEqual({ file: 0, range: { start: 0, end: 12 } });
  expect(localRange(FILES, { start: 999, end: 1000 })).toEqual({ file: 2, range: { start: 13, end: 13 } });
});

test("a change of the one text is a change of its file", () => {
  const changed = split(FILES, TEXT.replace("kind: B", "kind: Bee"));
  expect(changed?.map(({ text }) => text)).toEqual([FILES[0]?.text, "kind: Bee\n", FILES[2]?.text]);
  expect(split(FILES, TEXT)).toEqual(FILES);
  expect(split(FILES, `${TEXT}---\nkind: D\n`)?.[2]?.text).toBe("kind: C\ny: 2\n---\nkind: D\n");
});

test("changes of several files need the documents", () => {
  const after = TEXT.replace("kind: A", "kind: Aa").replace("y: 2", "y: 22");
  expect(split(FILES, after)).toBeUndefined();
  const ranges = (text: string) => ["kind: A", "kind: B", "kind: C"].map((kind) => ({ start: text.indexOf(kind), end: 0 }));
  const files = split(FILES, after, { before: ranges(TEXT), after: ranges(after) });
  expect(files?.map(({ text }) => text)).toEqual(["kind: Aa\nx: 1\n", "kind: B\n", "kind: C\ny: 22\n"]);
});

test("line breaks become those of the editor", () => {
  expect(normalised("\uFEFFa\r\nb\rc\n")).toBe("a\nb\nc\n");
});
