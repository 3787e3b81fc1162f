import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { meanings } from "../src/model/codes";

test("every code has its paragraph", async () => {
  const found = await meanings();
  const sources = ["core/src/finding.rs", "yaml/src/problem.rs"].map((path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"));
  const codes = sources.flatMap((text) => [...text.matchAll(/ = "([a-z0-9]+\/[a-z0-9-]+)",/g)].map(([, code]) => code));
  expect(codes.length).toBeGreaterThan(140);
  expect([...found.keys()].sort()).toEqual([...new Set(codes)].sort());
  expect(found.get("read/unknown-field")).toMatch(/^A field that this kind does not have\./);
  for (const paragraph of found.values()) expect(paragraph).not.toContain("\\");
});
