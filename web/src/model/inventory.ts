// What the manifests offer: pools and devices as their slices publish them, nodes, claims' requests. Nothing is decided here.

import type { ObjectRef } from "apportion";

import { type Fields, isRecord, list, record, text } from "../foreign";
import { compareNumbered } from "./order";

export interface Inventory {
  /** Whether a part of the text cannot be read: then something of this is missing. */
  isBroken: boolean;
  pools: PoolEntry[];
  nodes: NodeEntry[];
  classes: string[];
  /** CEL expressions of all selectors, each once, in the order of the text. */
  selectors: string[];
  /** Classes and extended resources that are asked for, each once, by name. */
  wanted: string[];
  /** Names of extended resources that classes serve. */
  served: string[];
  /** PodGroups of Pods, as `namespace/name` both. */
  podGroups: Record<string, string>;
}

export interface NodeEntry {
  name: string;
  labels: Record<string, string>;
  taints: string[];
  isCordoned: boolean;
}

export interface PoolEntry {
  driver: string;
  name: string;
  /** The node of a pool that belongs to one. */
  node?: string;
  /** Who can reach a pool that belongs to no single node. */
  reach?: string;
  /** Nodes that can reach such a pool, as far as its selector's labels and names say so: for drawing it around them. */
  nodes: string[];
  /** Whether slices of the newest generation are missing. */
  isIncomplete: boolean;
  counterSets: { name: string; counters: [string, string][] }[];
  devices: DeviceEntry[];
}

export interface DeviceEntry {
  name: string;
  /** `[name, value]`, in the order of the slice. */
  attributes: [string, string][];
  capacity: [string, string][];
  /** Of the slice, then those of DeviceTaintRules. */
  taints: string[];
  allowsMultiple: boolean;
  bindingConditions: string[];
  consumes: { set: string; counters: [string, string][] }[];
  /** Node of a device with a node of its own. */
  node?: string;
  /** The slice, and the path of the device in it. */
  slice: string;
  path: string;
  /** Where it stands in the document of its slice, from start to end. */
  start: number;
  end: number;
}

/** An object of the text with the place of its document. */
export interface Stored {
  object: ObjectRef;
  value: unknown;
}

/** Takes the newest generation of each pool. The owner of the text fills in where devices stand. */
export function inventory(stored: readonly Stored[]): Inventory {
  const pools = new Map<string, { pool: PoolEntry; generation: bigint; slices: number; expected: number }>();
  const found: Inventory = { isBroken: false, pools: [], nodes: [], classes: [], selectors: [], wanted: [], served: [], podGroups: {} };
  const last = new Map(stored.map((entry) => [keyOf(entry.object), entry]));
  const labels = new Map<string, Record<string, string>>();
  for (const { object, value } of last.values()) {
    if (object.kind !== "Node") continue;
    const node = nodeOf(object.name, record(value));
    found.nodes.push(node);
    labels.set(node.name, node.labels);
  }
  for (const { object, value } of last.values()) {
    const spec = record(record(value).spec);
    found.selectors.push(...selectorsIn(spec));
    if (object.kind === "DeviceClass") {
      found.classes.push(object.name);
      if (text(spec.extendedResourceName) !== "") found.served.push(text(spec.extendedResourceName));
    } else if (object.kind !== "ResourceSlice") found.wanted.push(...wantedIn(spec));
    if (object.kind === "Pod") notePodGroup(found.podGroups, object, spec);
    if (object.kind !== "ResourceSlice") continue;
    const [driver, info] = [text(spec.driver), record(spec.pool)];
    const [name, generation] = [text(info.name), integer(info.generation)];
    const key = `${driver}/${name}`;
    const known = pools.get(key);
    if (known !== undefined && known.generation > generation) continue;
    const entry = known?.generation === generation ? known : { pool: poolOf(driver, name, spec, labels), generation, slices: 0, expected: Number(integer(info.resourceSliceCount)) };
    pools.set(key, entry);
    entry.slices += 1;
    const node = text(spec.nodeName);
    for (const [index, device] of list(spec.devices).entries()) entry.pool.devices.push(deviceOf(device, index, object.name, node));
    for (const set of list(spec.sharedCounters).map(record)) {
      entry.pool.counterSets.push({ name: text(set.name), counters: amounts(set.counters) });
    }
  }
  const rules = [...last.values()].filter(({ object }) => object.kind === "DeviceTaintRule");
  for (const { object, value } of rules) addTaint([...pools.values()].map(({ pool }) => pool), object.name, record(record(value).spec));
  for (const { pool, slices, expected } of pools.values()) found.pools.push({ ...pool, isIncomplete: slices < expected });
  found.pools.sort((one, other) => compareNumbered(one.driver, other.driver) || compareNumbered(one.name, other.name));
  found.nodes.sort((one, other) => compareNumbered(one.name, other.name));
  found.classes.sort(compareNumbered);
  found.selectors = [...new Set(found.selectors)];
  found.wanted = [...new Set(found.wanted)].sort(compareNumbered);
  return found;
}

/** Kinds of which all that they say is in an inventory. */
const WHOLE = new Set(["Node", "ResourceSlice", "DeviceClass", "DeviceTaintRule"]);

/** What an object says to an inventory: where that is the same, so is the inventory. */
export function saying({ object, value }: Stored): unknown {
  if (WHOLE.has(object.kind)) return value;
  const spec = record(record(value).spec);
  const podGroups = {};
  notePodGroup(podGroups, object, spec);
  return [object, selectorsIn(spec), wantedIn(spec), podGroups];
}

/** Marks the devices that a rule names. Rules that select by class or expression, as older versions had them, are not drawn. */
function addTaint(pools: readonly PoolEntry[], rule: string, { deviceSelector, taint }: Fields): void {
  const { driver, pool: poolName, device: deviceName, deviceClassName, selectors } = record(deviceSelector);
  if (deviceClassName !== undefined || selectors !== undefined || [driver, poolName, deviceName].every((name) => name === undefined)) return;
  const fits = (wanted: unknown, name: string) => wanted === undefined || wanted === name;
  for (const pool of pools.filter((pool) => fits(driver, pool.driver) && fits(poolName, pool.name))) {
    for (const device of pool.devices) if (fits(deviceName, device.name)) device.taints.push(`${taintText(taint)} by rule ${rule}`);
  }
}

/** Identity of a device everywhere in the page. */
export function deviceKey({ driver, pool, device }: { driver: string; pool: string; device: string }): string {
  return `${driver}/${pool}/${device}`;
}

function poolOf(driver: string, name: string, spec: Fields, labels: Labels): PoolEntry {
  const node = text(spec.nodeName);
  const pool: PoolEntry = { driver, name, nodes: [], isIncomplete: false, counterSets: [], devices: [] };
  if (node !== "") return { ...pool, node };
  if (spec.perDeviceNodeSelection === true) return { ...pool, reach: "each device from nodes of its own" };
  if (spec.allNodes === true) return { ...pool, reach: "all nodes" };
  return { ...pool, ...selectorOf(spec.nodeSelector, labels) };
}

type Labels = ReadonlyMap<string, Record<string, string>>;

const NAMES = ["kubernetes.io/hostname", "metadata.name"];

function selectorOf(value: unknown, labels: Labels): { reach: string; nodes: string[] } {
  const terms = list(record(value).nodeSelectorTerms).map(record).map((term) =>
    [...list(term.matchExpressions), ...list(term.matchFields)].map(record).map(({ key, operator, values }) => ({
      key: text(key),
      operator: text(operator),
      values: list(values).map(text),
    })),
  );
  const nodes = new Set<string>();
  for (const term of terms) {
    const isPlain = term.length > 0 && term.every(({ operator }) => operator === "In");
    if (!isPlain) continue;
    // Without Node objects nothing is known of their labels; what a selector calls by name is there all the same.
    const named = term.find(({ key }) => NAMES.includes(key));
    const known = named === undefined ? [...labels.keys()] : named.values;
    const fits = (node: string) =>
      term.every(({ key, values }) => NAMES.includes(key) || values.includes(labels.get(node)?.[key] ?? ""));
    for (const node of known.filter(fits)) nodes.add(node);
  }
  const texts = terms.map((term) => term.map(({ key, operator, values }) => `${key} ${operator} ${values.join(", ")}`.trimEnd()).join(" and "));
  return { reach: texts.length === 0 ? "no node" : `nodes with ${texts.join(", or ")}`, nodes: [...nodes].sort(compareNumbered) };
}

function deviceOf(value: unknown, index: number, slice: string, sliceNode: string): DeviceEntry {
  const outer = record(value);
  // Up to v1beta1 most of a device is one level deeper.
  const isBasic = isRecord(outer.basic);
  const fields = isBasic ? record(outer.basic) : outer;
  const node = sliceNode === "" ? text(fields.nodeName) : "";
  return {
    name: text(outer.name),
    attributes: Object.entries(record(fields.attributes)).map(([name, value]) => [name, attributeText(value)]),
    capacity: amounts(fields.capacity),
    taints: list(fields.taints).map(taintText),
    allowsMultiple: fields.allowMultipleAllocations === true,
    bindingConditions: list(fields.bindingConditions).map(text),
    consumes: list(fields.consumesCounters).map(record).map(({ counterSet, counters }) => ({ set: text(counterSet), counters: amounts(counters) })),
    ...(node === "" ? {} : { node }),
    slice,
    path: `spec.devices[${index}]`,
    start: 0,
    end: 0,
  };
}

function nodeOf(name: string, node: Fields): NodeEntry {
  const spec = record(node.spec);
  const labels = Object.entries(record(record(node.metadata).labels)).map(([key, value]): [string, string] => [key, text(value)]);
  return { name, labels: Object.fromEntries(labels), taints: list(spec.taints).map(taintText), isCordoned: spec.unschedulable === true };
}

function notePodGroup(podGroups: Record<string, string>, { namespace, name }: ObjectRef, spec: Fields): void {
  const group = text(record(spec.schedulingGroup).podGroupName) || text(record(spec.workloadRef).podGroup);
  const home = namespace === "" ? "default" : namespace;
  if (group !== "") podGroups[`${home}/${name}`] = `${home}/${group}`;
}

/** How deep selectors are looked for; those of a class, claim or template lie higher. */
const MAX_DEPTH = 12;

function selectorsIn(value: unknown, depth = 0): string[] {
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((item) => selectorsIn(item, depth + 1));
  if (!isRecord(value)) return [];
  const own = list(value.selectors).map((selector) => text(record(record(selector).cel).expression)).filter((expression) => expression !== "");
  const { devices, spec, requests, exactly, firstAvailable, deviceSelector } = value;
  return [...own, ...[devices, spec, requests, exactly, firstAvailable, deviceSelector].flatMap((part) => selectorsIn(part, depth + 1))];
}

/** Extended resources are those with a domain that is not Kubernetes' own. */
function isExtended(resource: string): boolean {
  return resource.includes("/") && !/(^|\.)kubernetes\.io\//.test(resource);
}

/** What stands for a class in the limits of a container. */
const IMPLICIT = "deviceclass.resource.kubernetes.io/";

/** Classes that requests name, and extended resources of containers. */
function wantedIn(value: unknown, depth = 0): string[] {
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((item) => wantedIn(item, depth + 1));
  if (!isRecord(value)) return [];
  const { deviceClassName, limits, devices, spec, requests, exactly, firstAvailable, template, containers, initContainers, resources, jobTemplate } = value;
  const resourceNames = Object.keys(record(limits));
  const own = [
    text(deviceClassName), ...resourceNames.filter(isExtended),
    ...resourceNames.filter((name) => name.startsWith(IMPLICIT)).map((name) => name.slice(IMPLICIT.length)),
  ].filter((name) => name !== "");
  const parts = [devices, spec, requests, exactly, firstAvailable, template, jobTemplate, containers, initContainers, resources];
  return [...own, ...parts.flatMap((part) => wantedIn(part, depth + 1))];
}

/** `{memory: {value: 1Gi}}` and `{memory: 1Gi}` alike. */
function amounts(value: unknown): [string, string][] {
  return Object.entries(record(value)).map(([name, amount]) => [name, isRecord(amount) ? text(amount.value) : text(amount)]);
}

/** `{string: A100}`: whatever the one field holds. */
function attributeText(value: unknown): string {
  const held = Object.values(record(value))[0];
  return Array.isArray(held) ? held.map(String).join(", ") : typeof held === "boolean" ? String(held) : text(held);
}

function taintText(value: unknown): string {
  const { key, value: is, effect } = record(value);
  return `${text(key)}${text(is) === "" ? "" : `=${text(is)}`}:${text(effect)}`;
}

function integer(value: unknown): bigint {
  return typeof value === "bigint" ? value : Number.isSafeInteger(value) ? BigInt(value as number) : 0n;
}

function keyOf({ kind, namespace, name }: ObjectRef): string {
  return `${kind}/${namespace}/${name}`;
}
