// Inventories of drivers made to measure: so many nodes like one that is known, so many devices on each.

import { type Fields, isRecord, list, record, text } from "../foreign";

/** What is wanted of an inventory. */
export interface Order {
  /** Whose devices; slices of other drivers are left out. */
  driver: string;
  nodes: number;
  /** Devices on each node; 0 for as many as the inventory has. */
  devices: number;
}

/** Names that are taken already, as `Kind/name`. */
export type Names = ReadonlySet<string>;

/**
 * Classes, nodes and slices for an order; classes that are there already are left out, and no node takes the name of another.
 * Beside Node objects, slices alone make no node: then each gets one with the room of `likeNode`.
 */
export function equipment(inventory: readonly unknown[], { driver, nodes, devices }: Order, taken: Names, likeNode?: unknown): Fields[] {
  const objects = inventory.map(record);
  const classes = objects.filter(({ kind, metadata, spec }) => kind === "DeviceClass" && !taken.has(`DeviceClass/${nameOf(metadata)}`) && speaksOf(spec, driver));
  const slices = objects.filter(({ kind, spec }) => kind === "ResourceSlice" && text(record(spec).driver) === driver);
  const models = [...new Set(slices.map(({ spec }) => text(record(spec).nodeName)).filter((name) => name !== ""))];
  // What belongs to no node is there once.
  const shared = slices.filter(({ spec }) => text(record(spec).nodeName) === "");
  const used = new Set<string>();
  const made = Array.from({ length: models.length === 0 ? 0 : nodes }, (_, index) => {
    const model = models[index % models.length] ?? "";
    const name = freeName(models[index] ?? models[0] ?? "", (name) => used.has(name) || taken.has(`Node/${name}`) || taken.has(`ResourceSlice/${name}-${driver}`));
    used.add(name);
    const own = slices.filter(({ spec }) => record(spec).nodeName === model).map((slice) => sized(slice, devices));
    const node = objects.filter(({ kind, metadata }) => kind === "Node" && nameOf(metadata) === model);
    const made = node.length === 0 && likeNode !== undefined ? [nodeLike(record(likeNode), model)] : node;
    return [...made, ...own].map((object) => renamed(object, model, name));
  });
  return [...classes, ...shared, ...made.flat()] as Fields[];
}

/** A node with as much CPU, memory and room for Pods as another, and nothing else of it. */
function nodeLike({ apiVersion, kind, status }: Fields, name: string): Fields {
  const { allocatable, capacity } = record(status);
  const room = { ...(capacity === undefined ? {} : { capacity }), ...(allocatable === undefined ? {} : { allocatable }) };
  return { apiVersion, kind, metadata: { name, labels: { "kubernetes.io/hostname": name } }, ...(Object.keys(room).length === 0 ? {} : { status: room }) };
}

/** Whether a selector of a class names a driver. */
function speaksOf(spec: unknown, driver: string): boolean {
  return list(record(spec).selectors).some((selector) => text(record(record(selector).cel).expression).includes(driver));
}

/** Partitions draw on counters that come in other slices: their number is the driver's to say. */
function isSizable({ spec }: Fields): boolean {
  const { devices, sharedCounters } = record(spec);
  return sharedCounters === undefined && list(devices).length > 0 && list(devices).every((device) => record(device).consumesCounters === undefined);
}

function sized(slice: Fields, count: number): Fields {
  const spec = record(slice.spec);
  const devices = list(spec.devices).map(record);
  if (count === 0 || count === devices.length || !isSizable(slice)) return slice;
  const own = ownAttributes(devices);
  const names = new Set<string>();
  const made = Array.from({ length: count }, (_, index) => {
    const model = devices[index % devices.length] ?? {};
    const name = freeName(text(model.name), (name) => names.has(name));
    names.add(name);
    return index < devices.length ? model : another(model, name, index, own);
  });
  return { ...slice, spec: { ...spec, devices: made } };
}

/** Names of attributes in which no two devices are equal. */
function ownAttributes(devices: readonly Fields[]): Set<string> {
  const values = new Map<string, Set<string>>();
  for (const { attributes } of devices) {
    for (const [name, value] of Object.entries(record(attributes))) values.set(name, (values.get(name) ?? new Set()).add(JSON.stringify(value, bigints)));
  }
  return new Set([...values].filter(([, { size }]) => size === devices.length && size > 1).map(([name]) => name));
}

function another(model: Fields, name: string, index: number, own: ReadonlySet<string>): Fields {
  const attributes = Object.entries(record(model.attributes)).map(([attribute, value]) => {
    const { string, int } = record(value);
    if (!own.has(attribute)) return [attribute, value];
    if (typeof string === "string") return [attribute, { string: string === model.name ? name : `${string}-${index}` }];
    return [attribute, int === undefined ? value : { int: index }];
  });
  return { ...model, name, ...(model.attributes === undefined ? {} : { attributes: Object.fromEntries(attributes) }) };
}

/** The name, or one like it with the next number that is free. */
function freeName(name: string, isTaken: (name: string) => boolean): string {
  const [, stem = name, digits = "0"] = /^(.*?)(\d+)$/.exec(name) ?? [undefined, `${name}-`];
  let free = name;
  for (let number = Number(digits); isTaken(free); free = `${stem}${number}`) number += 1;
  return free;
}

/** An object of one node as one of another. */
export function renamed(object: Fields, from: string, to: string): Fields {
  if (from === to) return object;
  const change = (value: unknown): unknown => {
    if (typeof value === "string") return value === from || value.startsWith(`${from}-`) ? to + value.slice(from.length) : value;
    if (Array.isArray(value)) return value.map(change);
    return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, change(part)])) : value;
  };
  return change(object) as Fields;
}

function nameOf(metadata: unknown): string {
  return text(record(metadata).name);
}

const bigints = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
