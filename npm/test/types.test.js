// What the module answers fits the types: real answers become TypeScript, and the compiler judges, fields too many included.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { Engine, allocateText, evaluateText, readYaml } from "apportion";

const EXAMPLES = new URL("../../examples/", import.meta.url);
const path = (below) => fileURLToPath(new URL(below, import.meta.url));

test("reports, findings, places and answers of all examples fit the types", () => {
  const values = [];
  const add = (type, text) => values.push(`export const value${values.length} = ${text} satisfies ${type};`);
  const question = '{"claims":[{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c"},"spec":{"devices":' +
    '{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu.example.com","count":COUNT}}]}}}]}';
  for (const name of readdirSync(EXAMPLES, { recursive: true }).filter((name) => name.endsWith(".yaml")).sort()) {
    const manifests = readYaml(readFileSync(new URL(name, EXAMPLES), "utf8"));
    const engine = new Engine();
    add("PlacedFinding[]", JSON.stringify(engine.applyYaml(manifests)));
    add("ManifestDocument[]", JSON.stringify(manifests.documents));
    if (name.startsWith("gpu-sharing")) for (const count of [1, 9]) add("Answer", engine.allocateText(question.replace("COUNT", count)));
    add("Report", engine.runText());
    engine.free();
  }
  add("Answer", allocateText("{}"));
  const device = { driver: "d", attributes: { n: { int: 1 } } };
  for (const expression of ["true", "false", "1", "device", "nothing", "device.attributes['d'].m > 0", "device.attributes["]) {
    add("Evaluation", evaluateText(JSON.stringify({ expression, device })));
  }
  add("Evaluation", evaluateText("{}"));
  add("PlacedFinding[]", JSON.stringify(readYaml("a: [\n---\nb: yes").problems));
  const folder = mkdtempSync(join(tmpdir(), "apportion-types-"));
  const types = `import type { Answer, Evaluation, ManifestDocument, PlacedFinding, Report } from ${JSON.stringify(path("../dist/types.js"))};`;
  writeFileSync(join(folder, "answers.ts"), `${types}\n${values.join("\n")}\n`);
  const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "preserve", "--lib", "es2023,dom", "answers.ts"];
  const compiler = spawnSync(path("../node_modules/.bin/tsc"), options, { cwd: folder, encoding: "utf8" });
  rmSync(folder, { recursive: true });
  assert.equal(compiler.status, 0, compiler.stdout.slice(0, 4_000));
});
