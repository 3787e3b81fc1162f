import assert from "node:assert/strict";
import test from "node:test";

import { Controller, RequestError, SettingsError } from "apportion";

const HOME = "apportion-system";
const NOW = 1_700_000_000_000;

const namespace = (name, labels = {}) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name, uid: `uid of ${name}`, labels } });
const source = {
  apiVersion: "apportion.dev/v1alpha1",
  kind: "ClusterResourceClaimTemplate",
  metadata: { name: "gpu", uid: "u", resourceVersion: "7", generation: 1 },
  spec: {
    targets: [{ namespaceSelector: { matchLabels: { team: "ml" } } }],
    template: { spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com" } }] } } },
  },
};

/** An API server that takes everything, with the objects that it holds. */
class Server {
  objects = new Map();
  writes = 0;

  take(write, controller) {
    const store = (object) => {
      object.metadata.uid ??= `uid ${this.objects.size}`;
      object.metadata.resourceVersion = String((this.writes += 1));
      this.objects.set([object.kind, object.metadata.namespace, object.metadata.name].join(), object);
      controller.apply([object]);
    };
    if ("create" in write) store(write.create.object);
    else if ("updateStatus" in write) store(write.updateStatus);
    else assert.ok("record" in write, JSON.stringify(write));
  }

  /** Carries out what a controller decides, until nothing is due. */
  settle(controller) {
    for (let due = controller.due(); due.length > 0; due = controller.due()) {
      for (const { object } of due) {
        for (const write of controller.reconcile(object, NOW).writes) this.take(write, controller);
        controller.conclude(object, "done");
      }
    }
  }

  copies() {
    return [...this.objects.keys()].filter((key) => key.startsWith("ResourceClaimTemplate,")).sort();
  }
}

test("templates are copied into the namespaces that are selected, and a second look writes nothing", () => {
  const cluster = [namespace("a", { team: "ml" }), namespace("b"), namespace("c", { team: "ml" }), source];
  const controller = new Controller({ part: "template-sync", home: HOME, settings: { version: "1.36" } });
  assert.deepEqual(controller.apply(cluster), [[], [], [], []]);
  const server = new Server();
  server.settle(controller);
  assert.deepEqual(server.copies(), ["ResourceClaimTemplate,a,gpu", "ResourceClaimTemplate,c,gpu"]);
  const [standing] = controller.standings();
  assert.deepEqual([standing.name, standing.counts], ["gpu", { matched: 2, current: 2, updating: 0, conflicting: 0, refused: 0 }]);

  const [tried, writes] = [controller.fork(), server.writes];
  assert.equal(tried.delete({ kind: "ResourceClaimTemplate", namespace: "a", name: "gpu" }), true);
  const task = tried.due().find(({ lane }) => lane === "repair");
  assert.equal(tried.reconcile(task.object, NOW).cause, "drift");
  assert.deepEqual(controller.due(), [], "a fork is its own");

  const anew = new Controller({ part: "template-sync", home: HOME, settings: { version: "1.36" } });
  anew.apply([...cluster.slice(0, 3), ...server.objects.values()]);
  server.settle(anew);
  assert.equal(server.writes, writes, "restarted, it writes nothing");
  for (const each of [controller, tried, anew]) each.free();
});

test("a Pod gets the claim of its template", () => {
  const request = { name: "gpu", exactly: { deviceClassName: "gpu.example.com" } };
  const template = {
    apiVersion: "resource.k8s.io/v1", kind: "ResourceClaimTemplate", metadata: { name: "t", namespace: "n", uid: "t" },
    spec: { spec: { devices: { requests: [request] } } },
  };
  const pod = {
    apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "n", uid: "p" },
    spec: { containers: [{ name: "c", image: "i" }], resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "t" }] },
  };
  const controller = new Controller({ part: "claims" });
  controller.apply([template, pod]);
  const [{ object }] = controller.due();
  assert.deepEqual(object, { kind: "Pod", namespace: "n", name: "p" });
  const [{ create }] = controller.reconcile(object, NOW).writes;
  assert.equal(create.object.spec.devices.requests[0].name, "gpu");
  assert.equal(create.object.metadata.ownerReferences[0].uid, "p");
  assert.equal(
    controller.callText("reconcile", JSON.stringify({ object, nowMillis: NOW })),
    JSON.stringify(controller.reconcile(object, NOW)),
  );
  controller.apply([create.object]);
  const [{ patch }] = controller.reconcile(object, NOW).writes;
  assert.deepEqual(patch.fields.status.resourceClaimStatuses, [{ name: "gpu", resourceClaimName: create.object.metadata.name }]);
  controller.free();
});

test("what cannot be understood is said", () => {
  assert.throws(() => new Controller({ part: "kitchen" }), SettingsError);
  assert.throws(() => new Controller({ part: "claims", settings: { version: "1.2" } }), SettingsError);
  const controller = new Controller({ part: "claims" });
  assert.equal(controller.apply([{ kind: "Pod" }])[0][0].code, "read/no-kind");
  assert.throws(() => controller.reconcile({ kind: "Pod", namespace: "n", name: "p" }, "now"), RequestError);
  assert.match(controller.callText("fly", "null"), /there is no call/);
  controller.free();
});
