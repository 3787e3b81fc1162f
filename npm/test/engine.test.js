import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import { ChangedError, Engine, RequestError, SettingsError, allocate, allocateText, evaluate, init, version } from "apportion";

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

test("the example is allocated as everywhere", () => {
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

  // The whole report but for its wording; the `report` of `apportion run --output json -f examples/gpu-sharing/`.
  const withoutWords = (name, value) => (name === "message" || name === "hint" ? undefined : value);
  assert.equal(`${JSON.stringify(report, withoutWords, 2)}\n`, readFileSync(REPORT, "utf8"));
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

test("a fork is committed, reverted or dropped", () => {
  const named = (name, labels = {}) => ({ apiVersion: "resource.k8s.io/v1", kind: "DeviceClass", metadata: { name, labels }, spec: {} });
  const reference = (name) => ({ kind: "DeviceClass", namespace: "", name });
  const has = (engine, name) => engine.get(reference(name)) !== undefined;
  const engine = new Engine();
  engine.apply([named("a"), named("b")]);
  const fork = engine.fork();
  const other = engine.fork();
  fork.apply([named("d")]);
  fork.revert();
  assert.equal(has(fork, "d"), false);
  fork.apply([named("c")]);
  fork.delete(reference("a"));
  engine.apply([named("b")]);
  assert.equal(engine.delete(reference("none")), false);
  fork.commit();
  assert.deepEqual(["a", "b", "c", "d"].map((name) => has(engine, name)), [false, true, true, false]);
  fork.free();
  assert.ok(has(engine, "c"), "what was committed is the engine's");
  assert.throws(() => has(fork, "c"), TypeError, "the fork was freed");
  assert.throws(() => other.commit(), ChangedError);
  const again = (one) => one.apply([named("c", { later: "yes" })]);
  // After a run, objects may be others than were given.
  for (const change of [again, (one) => one.run(), (one) => one.delete(reference("b")), again]) {
    const late = engine.fork();
    change(engine);
    assert.throws(() => late.commit(), ChangedError);
    late.free();
  }
  const [upper, lower] = [engine.fork(), engine.fork().fork()];
  upper.fork().revert();
  upper.revert();
  lower.commit();
  assert.throws(() => engine.commit(), TypeError);
  assert.throws(() => engine.revert(), TypeError);
});

test("who listens hears of each change, and of what it changed", () => {
  const named = (name) => ({ apiVersion: "resource.k8s.io/v1", kind: "DeviceClass", metadata: { name }, spec: {} });
  const reference = (name) => ({ kind: "DeviceClass", namespace: "", name });
  const engine = new Engine();
  const heard = [];
  const stop = engine.onChange((change) => heard.push(change));
  const hears = (call) => {
    heard.length = 0;
    call();
    return heard;
  };
  assert.deepEqual(hears(() => engine.apply([named("a"), named("b"), { kind: "DeviceClass" }])), [{ objects: [reference("a"), reference("b")] }]);
  assert.deepEqual(hears(() => engine.apply([named("a")])), []);
  assert.deepEqual(hears(() => engine.applyYaml("{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: c}, spec: {}}")), [{ objects: [reference("c")] }]);
  assert.deepEqual(hears(() => engine.delete(reference("a"))), [{ objects: [reference("a")] }]);
  assert.deepEqual(hears(() => engine.delete(reference("a"))), []);
  assert.deepEqual(hears(() => engine.fits({ claims: [] })), []);
  const fork = engine.fork();
  assert.deepEqual(hears(() => fork.apply([named("d")])), [], "a fork has listeners of its own");
  // What is heard is there already.
  const stopAnother = engine.onChange(() => assert.ok(engine.get(reference("d"))));
  assert.deepEqual(hears(() => fork.commit()), [{}]);
  stopAnother();
  assert.deepEqual(hears(() => engine.run()), [{}]);
  stop();
  assert.deepEqual(hears(() => engine.run()), []);
});

test("places of several questions are one bit per node, prepared or not", () => {
  const engine = new Engine();
  for (const text of example()) engine.applyYaml(text);
  const claim = (count) => ({
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name: "mine", namespace: "ml" },
    spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com", count } }] } },
  });
  const three = engine.prepare({ claims: [claim(3)] });
  const { status, bits } = engine.fits(three);
  assert.deepEqual([status, bits], ["known", "010"]);
  const fork = engine.fork();
  const answers = fork.fitsAll([three, { ...three, nodes: ["node-b"] }, { claims: [claim(9)] }, { claims: [1] }]);
  assert.deepEqual(answers.map(({ status, bits }) => bits ?? status), ["010", "1", "000", "unreadable"]);
  assert.deepEqual(engine.allocateAll([three, { claims: [claim(9)] }]).map(({ status }) => status), ["allocated", "none"]);
  assert.equal(engine.forget(three), true);
  assert.equal(engine.forget(three), false);
  assert.equal(engine.allocate(three).status, "unreadable");
  assert.equal(fork.allocate(three).node, "node-b", "a fork keeps it");
  const own = engine.prepare({ claims: [claim(1)] });
  fork.commit();
  assert.equal(engine.fits(own).bits, "111", "a commit leaves prepared questions alone");
  assert.equal(engine.fits(three).status, "unreadable");
  assert.throws(() => engine.prepare({ claims: [1] }), RequestError);
});

test("claims of the cluster are allocated one after another, and take what they get where that is asked for", () => {
  const engine = new Engine();
  for (const text of example()) engine.applyYaml(text);
  const claim = (name) => ({
    apiVersion: "resource.k8s.io/v1", kind: "ResourceClaim", metadata: { name, namespace: "ml" },
    spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com", count: 2 } }] } },
  });
  const names = ["a", "b", "c", "d"];
  engine.apply(names.map(claim));
  const question = { claims: [{ namespace: "ml", names }], nodes: ["node-b"] };
  const statuses = (one) => one.map(({ status }) => status);
  for (let round = 0; round < 2; round += 1) {
    assert.deepEqual(statuses(engine.allocateEach(question)), ["allocated", "allocated", "allocated", "allocated"]);
  }
  assert.equal(engine.allocateKnown(question).status, "none", "together they need more than there is");
  const fork = engine.fork();
  const changes = [];
  fork.onChange((change) => changes.push(change));
  assert.deepEqual(statuses(fork.allocateEach({ ...question, take: true })), ["allocated", "allocated", "none"]);
  assert.deepEqual(changes, [{ objects: ["a", "b"].map((name) => ({ kind: "ResourceClaim", namespace: "ml", name })) }]);
  const device = (engine, name) => engine.get({ kind: "ResourceClaim", namespace: "ml", name }).status?.allocation.devices.results.length;
  assert.deepEqual(names.map((name) => [device(engine, name), device(fork, name)]), [[undefined, 2], [undefined, 2], [undefined, undefined], [undefined, undefined]]);
  fork.commit();
  assert.equal(device(engine, "b"), 2);
  assert.throws(() => engine.allocateEach({ claims: [{ names: ["nobody"] }] }), RequestError);
});

test("a request that names what is not there is no mistake in the settings", () => {
  assert.throws(() => new Engine().explain({ subject: { kind: "Pod", namespace: "ml", name: "none" } }), (error) =>
    error instanceof RequestError && !(error instanceof SettingsError) && error.name === "RequestError");
});

test("selectors are evaluated, with exact integers", () => {
  const device = { driver: "d", attributes: { serial: { int: 9007199254740993n } } };
  const ask = (expression) => evaluate({ expression, device });
  const answer = ask("device.attributes['d'].serial == 9007199254740993");
  assert.equal(answer.status, "match");
  assert.ok(answer.actualCost > 0 && answer.maxCost >= answer.actualCost);
  assert.equal(ask("device.attributes['d'].serial == 9007199254740992").status, "noMatch");
  assert.equal(ask("device.attributes[").status, "compileError");
  assert.equal(ask("device.attributes['d'].other > 1").status, "runtimeError");
  assert.equal(evaluate({ expression: 1, device }).status, "unreadable");
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
