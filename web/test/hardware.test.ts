import { readFileSync, readdirSync } from "node:fs";

import { expect, test } from "vitest";

import type { Page } from "../src/page";
import { initial } from "../src/state";
import { addHardware } from "../src/windows/adding";
import { HARDWARE, type Hardware, hardwareFor } from "../src/windows/inventories";
import { missing } from "../src/model/missing";
import { sessionOf } from "../src/answer/answer";
import { ask, questionOf } from "./fixtures";

const DRIVERS = new URL("../../examples/drivers/", import.meta.url);
const inventory = (file: string) => readFileSync(new URL(`${file}.yaml`, DRIVERS), "utf8");
const made = (text: string, file: string, driver: string, nodes: number, devices = 0) =>
  ask("hardware", text, { inventory: inventory(file), order: { driver, nodes, devices } }).text;
const read = (text: string) => sessionOf(questionOf(text)).inventory();

/** What most documents suggest: no namespace, no class. */
const PASTE = `apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: { name: single-gpu }
spec: { spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu.nvidia.com } }] } } }
---
apiVersion: v1
kind: Pod
metadata: { name: pod }
spec:
  containers: [{ name: ctr, image: ubuntu, resources: { claims: [{ name: gpu }] } }]
  resourceClaims: [{ name: gpu, resourceClaimTemplateName: single-gpu }]
`;

test("every inventory of the folder is offered", () => {
  const files = readdirSync(DRIVERS).filter((name) => name.endsWith(".yaml")).map((name) => name.slice(0, -5));
  expect([...new Set(HARDWARE.map(({ file }) => file))].sort()).toEqual(files.sort());
});

test.each(HARDWARE.map((hardware) => [`${hardware.vendor} ${hardware.model}`, hardware] as const))("%s brings its classes and devices", (_, hardware) => {
  const { file, driver, classes, perNode, isPartitioned = false, nodes = 1 } = hardware;
  const text = made("", file, driver, nodes);
  const found = read(text);
  expect(new Set(found.classes)).toEqual(new Set(classes));
  expect(found.pools.map((pool) => pool.driver)).toEqual(Array.from({ length: driver === "" ? 0 : nodes }, () => driver));
  expect(found.pools[0]?.devices.length ?? 0).toBe(perNode);
  // What has no devices, and what a driver divides, cannot have more.
  const more = read(made("", file, driver, 1, perNode + 1)).pools[0]?.devices.length ?? 0;
  expect(more).toBe(driver === "" || isPartitioned ? perNode : perNode + 1);
  expect(ask("check", text).filter(({ severity }) => severity === "error")).toEqual([]);
});

test("nodes and devices are as many as are wanted, each with a name and serial numbers of its own", () => {
  const first = made("", "nvidia-gpu", "gpu.nvidia.com", 3, 16);
  const found = read(first);
  expect(found.pools.map(({ name, devices }) => [name, devices.length])).toEqual([["dgx-a100-0", 16], ["dgx-a100-1", 16], ["dgx-a100-2", 16]]);
  const [pool] = found.pools;
  for (const values of [pool?.devices.map(({ name }) => name), pool?.devices.map(({ attributes }) => new Map(attributes).get("uuid"))]) {
    expect(new Set(values).size).toBe(16);
  }
  expect(read(made("", "nvidia-gpu", "gpu.nvidia.com", 1, 2)).pools[0]?.devices.length).toBe(2);
  // Once more beside the first: the classes are there already, the nodes are others.
  const more = read(`${first}---\n${made(first, "nvidia-gpu", "gpu.nvidia.com", 1)}`);
  expect(more.pools.map(({ name }) => name)).toEqual(["dgx-a100-0", "dgx-a100-1", "dgx-a100-2", "dgx-a100-3"]);
  expect(made(first, "nvidia-gpu", "gpu.nvidia.com", 1)).not.toContain("kind: DeviceClass");
});

test("beside Node objects hardware brings its nodes, with the room of those that are there", () => {
  const node = (name: string) => `apiVersion: v1
kind: Node
metadata: { name: ${name}, uid: abc, labels: { zone: z1, kubernetes.io/hostname: ${name} } }
spec: { taints: [{ key: old, effect: NoSchedule }] }
status: { allocatable: { cpu: "8", memory: 64Gi, pods: "110" }, capacity: { cpu: "8", memory: 64Gi, pods: "110" } }
`;
  const text = `${node("worker-0")}---\n${PASTE.replace("claims: [{ name: gpu }]", "claims: [{ name: gpu }], requests: { cpu: 4 }")}`;
  const more = made(text, "nvidia-gpu", "gpu.nvidia.com", 2);
  const { report } = ask("run", `${text}---\n${more}`);
  expect(report.pods.map(({ node }) => node)).toEqual(["dgx-a100-0"]);
  expect(read(`${text}---\n${more}`).nodes.map(({ name, labels, taints }) => [name, Object.keys(labels).length, taints.length])).toEqual([
    ["dgx-a100-0", 1, 0], ["dgx-a100-1", 1, 0], ["worker-0", 2, 1],
  ]);
  expect(more).not.toContain("uid: abc");
  // Without Node objects the nodes are known from the slices.
  expect(made(PASTE, "nvidia-gpu", "gpu.nvidia.com", 1)).not.toContain("kind: Node\n");
});

test("partitions stay as many as their driver publishes", () => {
  expect(read(made("", "nvidia-mig", "gpu.nvidia.com", 2, 3)).pools.map(({ devices }) => devices.length)).toEqual([50, 50]);
});

test("what most documents suggest gets its device from the hardware that is offered first", () => {
  const { wanted } = read(PASTE);
  expect(wanted).toEqual(["gpu.nvidia.com"]);
  const [name = ""] = missing(read(PASTE));
  const hardware = hardwareFor(name);
  expect(hardware?.model).toBe("H100");
  const text = `${PASTE}---\n${made(PASTE, hardware?.file ?? "", hardware?.driver ?? "", hardware?.nodes ?? 1)}`;
  const { report } = ask("run", text);
  expect(report.pods.map(({ namespace, node }) => [namespace, node !== undefined])).toEqual([["default", true]]);
  expect(report.claims[0]?.devices.length).toBe(1);
  expect(missing(read(text))).toEqual([]);
  expect(ask("check", text).filter(({ severity }) => severity === "error")).toEqual([]);
});

test("an extended resource and a class in a fallback are asked for, too", () => {
  const text = PASTE.replace("exactly: {", "firstAvailable: [{ name: a,").replace("gpu.nvidia.com } }", "mig.nvidia.com }] }")
    .replace("claims: [{ name: gpu }]", "limits: { amd.com/gpu: 1, cpu: 1, hugepages-2Mi: 1Gi, deviceclass.resource.kubernetes.io/nic.example.com: 1 }");
  expect(read(text).wanted).toEqual(["amd.com/gpu", "mig.nvidia.com", "nic.example.com"]);
  expect(hardwareFor("amd.com/gpu")?.vendor).toBe("AMD");
  expect(hardwareFor("nic.example.com")).toBeUndefined();
});

test("an order that another question overtakes is given again", async () => {
  const outcomes = [{ kind: "overtaken" }, { kind: "done", answer: { text: "kind: Node" } }];
  const added: string[] = [];
  const act = { addFiles: (files: { text: string }[]) => added.push(...files.map(({ text }) => text)), notice: (text: string) => added.push(text) };
  const page = { now: () => initial([{ name: "cluster.yaml", text: "" }]), ask: async () => outcomes.shift(), act } as unknown as Page;
  expect(await addHardware(page, HARDWARE[0] as Hardware, { nodes: 1, devices: 0 })).toBe(true);
  expect(added).toEqual(["kind: Node"]);
});
