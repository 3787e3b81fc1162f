// The component that is published beside the package, in hosts that are not ours: its answers are those of the package.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { transpile } from "@bytecodealliance/jco-transpile";
import { Engine, readYaml } from "apportion";

const COMPONENT = fileURLToPath(import.meta.resolve("apportion/component.wasm"));
const EXAMPLE = new URL("../../examples/gpu-sharing/", import.meta.url);
const PYTHON_SCRIPT = fileURLToPath(new URL("component.py", import.meta.url));
const WORK = fileURLToPath(new URL("../../target/hosts/", import.meta.url));
const WASMTIME = "50.0.1";

const texts = readdirSync(EXAMPLE).filter((name) => name.endsWith(".yaml")).sort()
  .map((name) => readFileSync(new URL(name, EXAMPLE), "utf8"));
const objects = texts.flatMap((text) => {
  const manifests = readYaml(text);
  return manifests.documents.map((_, number) => manifests.jsonText(number));
});

/** What the package says: Pods with their nodes, claims with their devices. */
function expected() {
  const engine = new Engine();
  for (const text of texts) assert.deepEqual(engine.applyYaml(text), []);
  const { pods, claims } = engine.run();
  return {
    pods: pods.map(({ name, node }) => [name, node ?? null]),
    claims: claims.map(({ name, devices }) => [name, devices.map(({ pool, device }) => `${pool}/${device}`)]),
  };
}

test("the component and its interfaces are in the package", () => {
  assert.match(readFileSync(fileURLToPath(import.meta.resolve("apportion/apportion.wit")), "utf8"), /^package apportion:dra@/m);
  // The component preamble, not that of a module.
  assert.deepEqual([...readFileSync(COMPONENT).subarray(0, 8)], [0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]);
});

test("jco runs it in Node", async () => {
  const { files, imports } = await transpile(COMPONENT, { name: "dra", instantiation: { tag: "async" }, noTypescript: true });
  assert.deepEqual(imports, []);
  const out = join(WORK, "jco");
  for (const [name, bytes] of Array.isArray(files) ? files : Object.entries(files)) {
    mkdirSync(dirname(join(out, name)), { recursive: true });
    writeFileSync(join(out, name), bytes);
  }
  writeFileSync(join(out, "package.json"), '{ "type": "module" }');
  const { instantiate } = await import(pathToFileURL(join(out, "dra.js")));
  const { decisions } = await instantiate((name) => WebAssembly.compile(readFileSync(join(out, name))), {});

  const cluster = decisions.Cluster.create({ version: "all", gates: [], mode: "sound", placement: "first" }, { maxSteps: 1_000_000n });
  assert.deepEqual(cluster.apply(objects).flat(), []);
  const { pods, claims } = cluster.run();
  const found = {
    pods: pods.map(({ name, node }) => [name, node ?? null]),
    claims: claims.map(({ name, devices }) => [name, devices.map(({ id }) => `${id.pool}/${id.device}`)]),
  };
  assert.deepEqual(found, expected());
});

test("wasmtime runs it in Python", (t) => {
  const python = join(WORK, "python", "bin", "python");
  const has = () => existsSync(python) && spawnSync(python, ["-c", "import wasmtime.component"]).status === 0;
  if (!has()) {
    spawnSync("python3", ["-m", "venv", join(WORK, "python")]);
    spawnSync(python, ["-m", "pip", "install", "--quiet", `wasmtime==${WASMTIME}`]);
  }
  if (!has()) return t.skip("there is no Python with venv, or its package index cannot be reached");
  const answer = execFileSync(python, [PYTHON_SCRIPT, COMPONENT], { input: JSON.stringify(objects), encoding: "utf8" });
  assert.deepEqual(JSON.parse(answer), expected());
});
