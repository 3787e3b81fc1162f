import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import { Engine, SettingsError, allocate, allocateText, init, version } from "apportion";

const EXAMPLE = new URL("../../examples/gpu-sharing/", import.meta.url);
const REPORT = new URL("gpu-sharing.report.json", import.meta.url);

function example() {
  const files = readdirSync(EXAMPLE).filter((name) => name.endsWith(".yaml")).sort();
  return files.map((name) => readFileSync(new URL(name, EXAMPLE), "utf8"));
}

test("the module is loaded by the import, and init changes nothing", async () => {
  await init();
  assert.match(version(), /^\d+\.\d+\.\d+$/);
});

test("the example is allocated as everywhere", { skip: !existsSync(REPORT) }, () => {
  const engine = new Engine();
  for (const text of example()) assert.deepEqual(engine.applyYaml(text), []);
  const report = engine.run();

  const devices = (name) => {
    const claim = report.claims.find((claim) => claim.name === name);
    return claim.devices.map(({ request, driver, pool, device }) => [request, driver, pool, device].join(" "));
  };
  assert.deepEqual(devices("team-gpu"), ["gpu gpu.example.com node-a gpu-0"]);
  assert.deepEqual(devices("flexible"), ["gpus/small gpu.example.com node-b gpu-3"]);
  assert.deepEqual(devices("huge"), []);
  const node = (name) => report.pods.find((pod) => pod.name === name).node;
  assert.deepEqual([node("notebook"), node("profiler"), node("batch-eval"), node("huge-model")], ["node-a", "node-a", "node-b", undefined]);

  // The whole report is what `apportion run --output json` gives.
  const again = new Engine();
  for (const text of example()) again.applyYaml(text);
  assert.equal(again.runText(), readFileSync(REPORT, "utf8").trimEnd());
});

test("a question about claims that are not in the cluster changes nothing", () => {
  const engine = new Engine();
  for (const text of example()) engine.applyYaml(text);
  const claim = {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name: "mine", namespace: "ml" },
    spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com", count: 3 } }] } },
  };
  const answer = engine.allocate({ claims: [claim] });
  assert.equal(answer.status, "allocated");
  assert.equal(answer.node, "node-b");
  const inUse = { devices: [0, 1].map((n) => ({ driver: "gpu.example.com", pool: "node-b", device: `gpu-${n}` })) };
  const refused = engine.allocate({ claims: [claim], nodes: ["node-b"], inUse });
  assert.equal(refused.status, "none");
  assert.equal(refused.nodes[0].requests[0].free, 2);
  assert.deepEqual(engine.allocate({ claims: [claim] }), answer);
});

test("objects go in, come out, and forks do not touch each other", () => {
  const object = { kind: "DeviceClass", namespace: "", name: "c" };
  const engine = new Engine();
  const text = '{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"c","labels":{}},"spec":{"extra":9007199254740993}}';
  const [first, second] = engine.apply([text, { kind: "DeviceClass" }]);
  assert.equal(first[0].code, "read/unknown-field");
  assert.equal(second[0].code, "read/no-kind");
  assert.equal(engine.get(object).spec.extra, 9007199254740993n);
  assert.match(engine.getText(object), /9007199254740993/);
  const fork = engine.fork();
  assert.equal(fork.delete(object), true);
  assert.equal(fork.delete(object), false);
  assert.equal(fork.get(object), undefined);
  assert.ok(engine.get(object));
  fork.free();
});

test("bad settings throw, and say what is wrong", () => {
  assert.throws(
    () => new Engine({ featureGates: { DRAMagic: true } }),
    (error) => error instanceof SettingsError && error.findings[0].path === "featureGates[DRAMagic]",
  );
});

test("garbage gives findings and never throws", () => {
  const deep = "[".repeat(50_000);
  const garbage = ["", "\0", "{", "[", "a: b: c", "- ".repeat(50_000), deep, "&a [*a]", "\ud800", "{}", "null", "\ufeff", "kind: \u202e"];
  for (const text of garbage) {
    const engine = new Engine();
    assert.ok(Array.isArray(engine.applyYaml(text)));
    assert.ok(Array.isArray(engine.apply([text])));
    assert.equal(JSON.parse(engine.allocateText(text)).status === undefined, false);
    assert.equal(JSON.parse(allocateText(text)).status, "unreadable");
    assert.deepEqual(engine.run().pods, []);
    engine.free();
  }
  assert.equal(allocate({ question: { claims: [1, null, "x"] } }).status, "unreadable");
  assert.equal(new Engine().apply([undefined, 1n, Number.NaN]).length, 3);
});

test("every truncation of the example is survived", () => {
  const text = example().join("\n---\n");
  for (let length = 0; length < text.length; length += 97) {
    const engine = new Engine();
    engine.applyYaml(text.slice(0, length));
    engine.run();
    engine.free();
  }
});
