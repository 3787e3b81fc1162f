import { expect, test } from "vitest";

import { diffLines } from "../src/model/diff";

const signs = { same: " ", gone: "-", new: "+", gap: "~" } as const;
const shown = (before: string, after: string) => diffLines(before, after).map(({ kind, text }) => `${signs[kind]}${text}`);

test("what goes and what comes stands between a little of what stays", () => {
  const before = "a\nb\nc\nd\ne\nf\ng\nh";
  expect(shown(before, before.replace("e", "E"))).toEqual([" b", " c", " d", "-e", "+E", " f", " g", " h"]);
  expect(shown(before, before)).toEqual([]);
});

test("changes far from each other have a gap between them", () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  const changed = lines.map((line, index) => (index === 2 || index === 25 ? `${line}!` : line));
  const found = shown(lines.join("\n"), changed.join("\n"));
  expect(found.filter((line) => line === "~").length).toBe(1);
  expect(found.filter((line) => /^[-+]/.test(line))).toEqual(["-line 2", "+line 2!", "-line 25", "+line 25!"]);
});

test("a large change is not matched line by line", () => {
  const many = (sign: string) => Array.from({ length: 50_000 }, (_, index) => `${sign}${index}`).join("\n");
  expect(diffLines(many("a"), many("b")).length).toBe(100_000);
});
