import { existsSync } from "node:fs";

import { expect, test } from "vitest";

import { joined } from "../src/files";
import { CATALOGUE, filesOf, scriptOf } from "../src/windows/catalogue";
import { ask } from "./fixtures";

const EXAMPLES = CATALOGUE.flatMap(({ examples }) => examples);
const run = async (title: string) => {
  const example = EXAMPLES.find((example) => example.title === title);
  return ask("run", joined(await filesOf(example ?? { files: [] })));
};

for (const example of EXAMPLES) {
  test(`${example.title}: its files are there, hold objects, and only what is meant to be wrong is`, async () => {
    for (const file of [...example.files, ...(example.script === undefined ? [] : [example.script])]) {
      expect(existsSync(new URL(`../../examples/${file}`, import.meta.url))).toBe(true);
    }
    const text = joined(await filesOf(example));
    const { documents, findings } = ask("run", text);
    expect(documents.length).toBeGreaterThan(1);
    const errors = [...findings, ...ask("check", text)].filter(({ severity }) => severity === "error");
    if (example.title === "Typing errors") expect(errors.length).toBeGreaterThan(3);
    else expect(errors).toEqual([]);
  });
}

test("no two examples have one name in a link", () => {
  expect(new Set(EXAMPLES.map(({ name }) => name)).size).toBe(EXAMPLES.length);
});

test("every example to be explained has an explanation", async () => {
  for (const example of CATALOGUE.at(-1)?.examples ?? []) {
    if (example.view !== "why") continue;
    expect(ask("why", joined(await filesOf(example)), {}).length).toBe(1);
  }
});

test("a prioritised list gives each Pod the first wish that is left", async () => {
  const { report } = await run("Prioritised list");
  expect(report.pods.map(({ name, claims }) => [name, report.claims.find((claim) => claim.name === claims[0]?.claim)?.devices[0]?.request])).toEqual([
    ["first", "gpus/one-large"], ["second", "gpus/two-medium"], ["third", "gpus/four-small"], ["fourth", undefined],
  ]);
});

test("trainings get a rack each, and one gets none", async () => {
  const { report } = await run("Racks and domains");
  const racks = (group: string) => new Set(report.pods.filter(({ name }) => name.startsWith(group)).map(({ node }) => node?.slice(0, 2)));
  expect([racks("alpha"), racks("beta"), racks("gamma")]).toEqual([new Set(["r1"]), new Set(["r2"]), new Set([undefined])]);
});

test("300 Pods share one claim", async () => {
  const { report } = await run("300 Pods on one claim");
  expect(report.pods.filter(({ node }) => node !== undefined).length).toBe(300);
  expect(report.claims.length).toBe(1);
});

test("a life has a script", async () => {
  const example = EXAMPLES.find(({ script }) => script !== undefined);
  expect(await scriptOf(example ?? EXAMPLES[0]!)).toContain("- at: 30s");
});
