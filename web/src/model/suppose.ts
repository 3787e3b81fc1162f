// What is tried on the cluster by hand, as a supposition of the package, and how things stand with it.

import type { Difference, Json, ObjectRef, Report, Supposition } from "apportion";

import { type Fields, record, text } from "../foreign";
import { renamed } from "./hardware";
import type { Inventory, PoolEntry } from "./inventory";

/** One thing that is tried. */
export type Deed =
  | { does: "cordon"; node: string }
  | { does: "remove"; node: string }
  /** One more node like this one. */
  | { does: "add"; node: string; name: string }
  /** `devices` as `driver`, `driver/pool` or `driver/pool/device`. */
  | { does: "taint"; devices: string; taint: string };

/** The deeds as the package asks for them; `objects` are all objects of the text. */
export function suppositionOf(deeds: readonly Deed[], objects: readonly { object: ObjectRef; value: unknown }[], now: string): Supposition {
  const of = <Does extends Deed["does"]>(does: Does) => deeds.filter((deed): deed is Extract<Deed, { does: Does }> => deed.does === does);
  return {
    cordon: of("cordon").map(({ node }) => node),
    without: of("remove").map(({ node }) => ({ kind: "Node", namespace: "", name: node })),
    with: of("add").flatMap(({ node, name }) => likeNode(objects, node).map((value) => renamed(value, node, name) as unknown as Json)),
    taints: of("taint").map(({ devices, taint }) => ({ devices, taint })),
    now,
  };
}

/** What belongs to a node: the Node where there is one, and its slices. */
function likeNode(objects: readonly { object: ObjectRef; value: unknown }[], name: string): Fields[] {
  return objects.flatMap(({ object, value }) => {
    const isNode = object.kind === "Node" && object.name === name;
    const isSlice = object.kind === "ResourceSlice" && text(record(record(value).spec).nodeName) === name;
    return isNode || isSlice ? [record(value)] : [];
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
          pools: before.pools.flatMap((pool) => (pool.node === deed.node ? [pool, renamed(pool as unknown as Fields, deed.node, deed.name) as unknown as PoolEntry] : [pool])),
        };
      case "taint":
        return { ...before, pools: before.pools.map((pool) => tainted(pool, deed.devices, deed.taint)) };
      default:
        return deed satisfies never;
    }
  }, inventory);
}

/** A node that only its slices speak of has no entry of its own yet. */
function withNode(nodes: Inventory["nodes"], name: string): Inventory["nodes"] {
  return nodes.some((node) => node.name === name) ? nodes : [...nodes, { name, labels: {}, taints: [], isCordoned: false }];
}

function tainted(pool: PoolEntry, devices: string, taint: string): PoolEntry {
  const [driver, ...rest] = devices.split("/");
  const isPool = driver === pool.driver && (rest.length === 0 || devices === `${pool.driver}/${pool.name}`);
  const isOf = (name: string) => isPool || devices === `${pool.driver}/${pool.name}/${name}`;
  return { ...pool, devices: pool.devices.map((device) => (isOf(device.name) ? { ...device, taints: [...device.taints, taint] } : device)) };
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
  const about = (deed: Deed) => (deed.does === "add" ? `add ${deed.name}` : deed.does === "taint" ? `taint ${deed.devices}` : `node ${deed.node}`);
  return [...deeds.filter((other) => about(other) !== about(deed)), deed];
}

/** A name for one more node like another. */
export function nextName(node: string, taken: readonly string[]): string {
  const [, stem = `${node}-`, digits = "1"] = /^(.*?)(\d+)$/.exec(node) ?? [];
  let number = Number(digits) + 1;
  while (taken.includes(`${stem}${number}`)) number += 1;
  return `${stem}${number}`;
}
