// What is tried on the cluster by hand, as a supposition of the package, and how things stand with it.

import type { Difference, Json, ObjectRef, Report, Supposition, TaintSpec } from "apportion";

import { type Fields, list, record, text } from "../foreign";
import { renamed } from "./hardware";
import type { Inventory, PoolEntry } from "./inventory";

/** One thing that is tried. */
export type Deed =
  | { does: "cordon"; node: string }
  | { does: "remove"; node: string }
  /** One more node like this one. */
  | { does: "add"; node: string; name: string }
  /** `devices` as `driver/pool/device`. */
  | { does: "taint"; devices: string; taint: string }
  /** All devices of a node. */
  | { does: "taintNode"; node: string; taint: string };

/** The deeds as the package asks for them; `objects` are all objects of the text, `inventory` the hardware among them. */
export function suppositionOf(deeds: readonly Deed[], objects: readonly { object: ObjectRef; value: unknown }[], inventory: Inventory, now: string): Supposition {
  const of = <Does extends Deed["does"]>(does: Does) => deeds.filter((deed): deed is Extract<Deed, { does: Does }> => deed.does === does);
  const { pools } = inventoryAfter(inventory, of("add"));
  const taints: TaintSpec[] = [
    ...of("taint").map(({ devices, taint }) => ({ devices, taint })),
    ...of("taintNode").flatMap(({ node, taint }) => {
      const some = devicesOn(pools, node);
      // A node that is gone is refused by its name.
      return (some.length === 0 ? [node] : some).map((devices) => ({ devices, taint }));
    }),
  ];
  // Taints are for devices that are there; what comes brings its own.
  const given = new Set(inventory.pools.map(poolKey));
  const come = new Set(pools.map(poolKey).filter((key) => !given.has(key)));
  const isNew = ({ devices }: TaintSpec) => come.has(devices.split("/").slice(0, 2).join("/"));
  const added = of("add").flatMap(({ node, name }) => likeNode(objects, node, name));
  return {
    cordon: of("cordon").map(({ node }) => node),
    without: of("remove").map(({ node }) => ({ kind: "Node", namespace: "", name: node })),
    with: added.map((value) => taints.filter(isNew).reduce(withTaint, value) as unknown as Json),
    taints: taints.filter((taint) => !isNew(taint)),
    now,
  };
}

/** What belongs to a node, as that of another: the Node where there is one, and its slices. */
function likeNode(objects: readonly { object: ObjectRef; value: unknown }[], node: string, name: string): Fields[] {
  return objects.flatMap(({ object, value }) => {
    const isNode = object.kind === "Node" && object.name === node;
    const isSlice = object.kind === "ResourceSlice" && text(record(record(value).spec).nodeName) === node;
    if (!isNode && !isSlice) return [];
    const like = renamed(record(value), node, name);
    const metadata = { ...record(like.metadata), name: otherName(object.name, node, name) };
    const spec = record(like.spec);
    const pool = { ...record(spec.pool), name: otherName(text(record(record(record(value).spec).pool).name), node, name) };
    return [{ ...like, metadata, ...(isSlice ? { spec: { ...spec, pool } } : {}) }];
  });
}

/** A name of one node's things as another node has it: never the same. */
function otherName(own: string, from: string, to: string): string {
  return own === from || own.startsWith(`${from}-`) ? to + own.slice(from.length) : `${to}-${own}`;
}

/** A slice with a taint on those of its devices that are meant. */
function withTaint(slice: Fields, { devices, taint }: TaintSpec): Fields {
  const spec = record(slice.spec);
  const [driver, pool, device] = devices.split("/");
  if (text(spec.driver) !== driver || text(record(spec.pool).name) !== pool) return slice;
  const [name = "", effect = ""] = taint.split(/:(?=[^:]*$)/);
  const [key = "", value] = name.split("=");
  const own = { key, effect, ...(value === undefined ? {} : { value }) };
  const isMeant = (entry: Fields) => device === undefined || entry.name === device;
  const tainted = list(spec.devices).map(record).map((entry) => (isMeant(entry) ? { ...entry, taints: [...list(entry.taints), own] } : entry));
  return { ...slice, spec: { ...spec, devices: tainted } };
}

function poolKey({ driver, name }: Pick<PoolEntry, "driver" | "name">): string {
  return `${driver}/${name}`;
}

/** What a node has, as `driver/pool` where the whole pool is its own, else as `driver/pool/device`. */
function devicesOn(pools: readonly PoolEntry[], node: string): string[] {
  return pools.flatMap(({ driver, name, node: owner, devices }) => {
    if (owner !== undefined) return owner === node && devices.length > 0 ? [poolKey({ driver, name })] : [];
    return devices.filter((device) => device.node === node).map((device) => `${driver}/${name}/${device.name}`);
  });
}

/** The hardware after the deeds. */
export function inventoryAfter(inventory: Inventory, deeds: readonly Deed[]): Inventory {
  return deeds.reduce((before, deed) => {
    switch (deed.does) {
      case "cordon":
        return { ...before, nodes: withNode(before.nodes, deed.node).map((node) => (node.name === deed.node ? { ...node, isCordoned: true } : node)) };
      case "remove":
        return { ...before, nodes: before.nodes.filter(({ name }) => name !== deed.node), pools: before.pools.filter(({ node }) => node !== deed.node) };
      case "add":
        return {
          ...before,
          nodes: before.nodes.flatMap((node) => (node.name === deed.node ? [node, { ...node, name: deed.name }] : [node])),
          pools: before.pools.flatMap((pool) => (pool.node === deed.node ? [pool, likePool(pool, deed.node, deed.name)] : [pool])),
        };
      case "taint":
        return { ...before, pools: tainted(before.pools, [deed.devices], deed.taint) };
      case "taintNode":
        return { ...before, pools: tainted(before.pools, devicesOn(before.pools, deed.node), deed.taint) };
      default:
        return deed satisfies never;
    }
  }, inventory);
}

function likePool(pool: PoolEntry, node: string, name: string): PoolEntry {
  return { ...(renamed(pool as unknown as Fields, node, name) as unknown as PoolEntry), name: otherName(pool.name, node, name) };
}

/** A node that only its slices speak of has no entry of its own yet. */
function withNode(nodes: Inventory["nodes"], name: string): Inventory["nodes"] {
  return nodes.some((node) => node.name === name) ? nodes : [...nodes, { name, labels: {}, taints: [], isCordoned: false }];
}

function tainted(pools: readonly PoolEntry[], some: readonly string[], taint: string): PoolEntry[] {
  const all = new Set(some);
  return pools.map((pool) => {
    const key = poolKey(pool);
    const isMeant = (name: string) => all.has(key) || all.has(`${key}/${name}`);
    return { ...pool, devices: pool.devices.map((device) => (isMeant(device.name) ? { ...device, taints: [...device.taints, taint] } : device)) };
  });
}

/** The report with what came out otherwise. What a claim takes of a shared device is known only where it stays in its place. */
export function reportAfter(report: Report, { pods, claims }: Difference): Report {
  const moved = new Map(pods.map(({ pod, after }) => [pod, after]));
  const held = new Map(claims.map(({ claim, after }) => [claim, after]));
  const key = ({ namespace, name }: { namespace: string; name: string }) => `${namespace}/${name}`;
  return {
    ...report,
    pods: report.pods.flatMap((pod) => {
      const after = moved.get(key(pod));
      if (after === undefined) return [pod];
      if (after === "absent") return [];
      const { node: _, ...others } = pod;
      return [after === "pending" ? others : { ...others, node: after.node }];
    }),
    claims: report.claims.flatMap((claim) => {
      const after = held.get(key(claim));
      if (after === undefined) return [claim];
      if (after === null) return [];
      const devices = after.map((name, index) => {
        const [driver = "", ...rest] = name.split("/");
        const device = rest.pop() ?? "";
        const before = claim.devices[index];
        return { request: "", adminAccess: false, ...before, driver, pool: rest.join("/"), device };
      });
      return [{ ...claim, allocated: devices.length > 0, devices: devices as typeof claim.devices }];
    }),
  };
}

/** The same deed is done once; another one to the same thing takes its place. */
export function withDeed(deeds: readonly Deed[], deed: Deed): Deed[] {
  const about = (deed: Deed) => {
    switch (deed.does) {
      case "add":
        return `add ${deed.name}`;
      case "taint":
        return `taint ${deed.devices}`;
      case "taintNode":
        return `taint node ${deed.node}`;
      default:
        return `node ${deed.node}`;
    }
  };
  return [...deeds.filter((other) => about(other) !== about(deed)), deed];
}

/** A name for one more node like another. */
export function nextName(node: string, taken: readonly string[]): string {
  const [, stem = `${node}-`, digits = "1"] = /^(.*?)(\d+)$/.exec(node) ?? [];
  let number = Number(digits) + 1;
  while (taken.includes(`${stem}${number}`)) number += 1;
  return `${stem}${number}`;
}
