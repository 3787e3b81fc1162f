// A call that makes the module stop costs that call: the module is made anew, with the objects that were there.

import assert from "node:assert/strict";
import test from "node:test";

import { Controller, Engine, Simulation, StoppedError, evaluate, readYaml } from "apportion";

const CLASS = { apiVersion: "resource.k8s.io/v1", kind: "DeviceClass", metadata: { name: "c" }, spec: {} };
const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "node-a" } };
const CLASS_REF = { kind: "DeviceClass", namespace: "", name: "c" };
const NODE_REF = { kind: "Node", namespace: "", name: "node-a" };

/** Takes much of the stack inside of the module. */
const NESTED = { expression: `${"(".repeat(100)}true${")".repeat(100)}`, device: { driver: "d" } };

/** Makes the module stop: by a call so deep in the stack that there is no room for what it has to do. Returns what was thrown. */
function stop() {
  let thrown;
  const deep = (rest) => {
    if (rest > 0) return deep(rest - 1) + 1;
    try {
      evaluate(NESTED);
    } catch (error) {
      thrown = error;
    }
    return 0;
  };
  for (let depth = 1_000; thrown === undefined; depth += 10) {
    try {
      deep(depth);
    } catch {
      break;
    }
  }
  return thrown;
}

test("a call that stops the module says so, and the module is there again", () => {
  const engine = new Engine();
  engine.apply([CLASS]);
  const error = stop();
  assert.ok(error instanceof StoppedError, String(error));
  assert.equal(error.name, "StoppedError");
  assert.match(error.message, /^the module stopped in the middle of a call, and the next one makes it anew: /);
  assert.match(error.cause.stack, /wasm/, "it stopped inside of the module");
  // What it left behind is not gone on with.
  let instances = 0;
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function counted(...made) {
    instances += 1;
    return new Instance(...made);
  };
  assert.deepEqual(engine.run().pods, []);
  assert.ok(engine.get(CLASS_REF));
  WebAssembly.Instance = Instance;
  assert.equal(instances, 1);
  assert.equal(evaluate(NESTED).status, "match");
});

test("an engine goes on with the objects that it was given", () => {
  const engine = new Engine({ version: "1.36" });
  const findings = engine.apply([CLASS, JSON.stringify(NODE), { kind: "DeviceClass", metadata: { name: "broken" }, spec: 1 }]);
  assert.deepEqual(findings.map((of) => of.some(({ severity }) => severity === "error")), [false, false, true]);
  engine.applyYaml("{apiVersion: v1, kind: Namespace, metadata: {name: ml}}\n---\n{apiVersion: v1, kind: Pod, metadata: {}}");
  engine.delete(NODE_REF);
  const before = engine.fork();
  engine.apply([{ ...CLASS, metadata: { name: "c", labels: { later: "yes" } } }]);
  assert.ok(stop() instanceof StoppedError);
  assert.equal(engine.get(CLASS_REF).metadata.labels.later, "yes");
  assert.equal(before.get(CLASS_REF).metadata.labels?.later, undefined, "a fork has facts of its own");
  assert.equal(engine.get({ kind: "DeviceClass", namespace: "", name: "broken" }), undefined);
  assert.ok(engine.get({ kind: "Namespace", namespace: "", name: "ml" }));
  assert.equal(engine.get(NODE_REF), undefined, "what was deleted stays away");
  engine.free();
  before.free();
});

test("forks, what was committed and prepared questions go on with what they knew", () => {
  const names = ["d", "e", "f"];
  const known = (engine) => ["c", ...names].filter((name) => engine.get({ ...CLASS_REF, name }) !== undefined).join("");
  const engine = new Engine();
  engine.apply([CLASS]);
  const [gone, kept] = [engine.prepare({ claims: [] }), engine.prepare({ claims: [], nodes: ["node-a"] })];
  engine.forget(gone);
  const forks = names.map((name) => {
    const fork = engine.fork();
    fork.apply([{ ...CLASS, metadata: { name } }]);
    return fork;
  });
  const below = forks[1].fork();
  below.delete(CLASS_REF);
  forks[0].commit();
  assert.ok(stop() instanceof StoppedError);
  assert.deepEqual([engine, forks[1], forks[2], below].map(known), ["cd", "ce", "cf", "e"]);
  assert.deepEqual([engine.fits(kept).bits, engine.fits(gone).status], ["1", "unreadable"]);
  forks[2].revert();
  below.apply([CLASS]);
  below.commit();
  assert.ok(stop() instanceof StoppedError);
  assert.deepEqual([forks[1], forks[2], engine].map(known), ["ce", "c", "cd"]);
});

test("manifests and controllers go on, a simulation has ended", () => {
  const manifests = readYaml("{apiVersion: v1, kind: Node, metadata: {name: node-a}}");
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "ml", uid: "u" }, spec: { containers: [{ name: "c" }] } };
  const member = { ...pod, spec: { ...pod.spec, schedulingGroup: { podGroupName: "g" } } };
  const group = {
    apiVersion: "scheduling.k8s.io/v1alpha3", kind: "PodGroup", metadata: { name: "g", namespace: "ml", uid: "g" },
    spec: { schedulingPolicy: { gang: { minCount: 1 } } },
  };
  const controller = new Controller({ part: "podgroup-protection" });
  controller.apply([member, group]);
  const due = controller.due();
  assert.ok(due.length > 0);
  const simulation = new Simulation({ nowMillis: 0 });
  assert.ok(stop() instanceof StoppedError);
  assert.equal(manifests.locate(NODE_REF, "metadata.name").line, 1);
  assert.deepEqual(new Engine().applyYaml(manifests), []);
  assert.deepEqual(controller.due(), due, "it looks at everything again");
  assert.throws(() => simulation.step(), (error) => error instanceof StoppedError && /the simulation ended/.test(error.message));
  simulation.free();
  assert.equal(new Simulation({ nowMillis: 0 }).nowMillis, 0);
});

test("what is thrown for a mistake of the program is no stop", () => {
  const engine = new Engine();
  engine.apply([CLASS]);
  assert.throws(() => engine.explain({ subject: { kind: "Pod", namespace: "ml", name: "none" } }), (error) => !(error instanceof StoppedError));
  assert.ok(engine.get(CLASS_REF));
});
