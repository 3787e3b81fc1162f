// Pools and devices together with who holds them: what the picture and its table show.

import type { AllocatedDevice, Finding, Report } from "apportion";

import { type DeviceEntry, type Inventory, type PoolEntry, deviceKey } from "./inventory";
import { compareNumbered } from "./order";
import { type Nano, format, parse, ratio } from "./quantity";
import { type Workload, coloursOf, workloadsOf } from "./workloads";

export interface Model {
  groups: Group[];
  claims: ClaimView[];
  devices: number;
}

/** A node, or a pool that several nodes reach, around these nodes where they are its own. */
export interface Group {
  key: string;
  kind: "node" | "shared";
  title: string;
  note: string;
  pools: PoolView[];
  children: Group[];
}

export interface PoolView {
  driver: string;
  name: string;
  isIncomplete: boolean;
  /** Devices by the counters that they draw on; first those that draw on none. */
  sets: SetView[];
}

export interface SetView {
  /** Empty for devices that draw on no counters. */
  name: string;
  gauges: Fill[];
  tiles: Tile[];
}

/** How much of something is used, and by whom. */
export interface Fill {
  name: string;
  used: string;
  total: string;
  parts: { share: number; colour: number; claim: string }[];
}

export interface Tile {
  key: string;
  driver: string;
  pool: string;
  device: DeviceEntry;
  holders: Holder[];
  /** Why nobody can have a device that nobody has; absent where nothing here says so. */
  hindrance?: Hindrance | undefined;
  /** Capacity of a device that several claims can share. */
  fills: Fill[];
  /** The largest share of a counter that the device draws; 0 for one that draws on none. */
  draws: number;
}

/** Its slice was refused, or its counters have too little left. */
export type Hindrance = "refused" | "drawn";

export interface Holder {
  /** `namespace/name`. */
  claim: string;
  name: string;
  request: string;
  isAdmin: boolean;
  colour: number;
  consumed: Record<string, string>;
}

export interface ClaimView {
  key: string;
  name: string;
  namespace: string;
  /** What it belongs to; all claims of a workload have one colour. */
  workload: Workload;
  colour: number;
  isAllocated: boolean;
  devices: string[];
  /** Pods that use it, as `namespace/name`. */
  pods: string[];
  /** PodGroups of these Pods, without namespace. */
  podGroups: string[];
  /** The same by Pod, for those that are in one. */
  groupOf: Record<string, string>;
  template: string | undefined;
}

/** Names of slices that the engine did not take. */
export type Refused = ReadonlySet<string>;

export function refusedSlices(findings: readonly Finding[]): Refused {
  return new Set(findings.filter(({ severity, object }) => severity === "error" && object?.kind === "ResourceSlice").map(({ object }) => object?.name ?? ""));
}

const NONE: Refused = new Set();

/** Other reports that are shown beside this one have the same colours: those of all of them. */
export function modelOf(inventory: Inventory, report: Report | undefined, others: readonly Report[] = [], refused = NONE): Model {
  const claims = claimsOf(inventory, report, others);
  const colours = new Map(claims.map(({ key, colour }) => [key, colour]));
  const holders = new Map<string, Holder[]>();
  for (const claim of report?.claims ?? []) {
    const key = `${claim.namespace}/${claim.name}`;
    for (const device of claim.devices) {
      const held = holders.get(deviceKey(device)) ?? [];
      held.push(holderOf(device, key, claim.name, colours.get(key) ?? 0));
      holders.set(deviceKey(device), held);
    }
  }
  return { groups: groupsOf(inventory, holders, refused), claims, devices: inventory.pools.reduce((sum, pool) => sum + pool.devices.length, 0) };
}

/** The model with those devices only that are wanted; what is empty then is left out. */
export function filtered(model: Model, isWanted: (tile: Tile) => boolean): Model {
  let devices = 0;
  const narrowed = (group: Group): Group[] => {
    const pools = group.pools.flatMap((pool) => {
      const sets = pool.sets.map((set) => ({ ...set, tiles: set.tiles.filter(isWanted) })).filter(({ tiles }) => tiles.length > 0);
      devices += sets.reduce((sum, { tiles }) => sum + tiles.length, 0);
      return sets.length === 0 ? [] : [{ ...pool, sets }];
    });
    const children = group.children.flatMap(narrowed);
    return pools.length + children.length === 0 ? [] : [{ ...group, pools, children }];
  };
  const groups = model.groups.flatMap(narrowed);
  return { ...model, groups, devices };
}

export function tilesOf({ groups }: Pick<Model, "groups">): Tile[] {
  return groups.flatMap((group) => [
    ...group.pools.flatMap(({ sets }) => sets.flatMap(({ tiles }) => tiles)),
    ...tilesOf({ groups: group.children }),
  ]);
}

/** All nodes, wherever they stand. */
export function nodesOf({ groups }: Pick<Model, "groups">): Group[] {
  return groups.flatMap((group) => [...(group.kind === "node" ? [group] : []), ...nodesOf({ groups: group.children })]);
}

/** The model with one node alone. */
export function onlyNode(model: Model, name: string): Model {
  const groups = nodesOf(model).filter(({ title }) => title === name);
  return { ...model, groups, devices: tilesOf({ groups }).length };
}

/** Whether every word of a text is found with a device: in its names, attributes, taints, claims. */
export function finder(text: string): (tile: Tile) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  return (tile) => {
    if (words.length === 0) return true;
    const { device } = tile;
    const all = [
      tile.key, device.node, ...tile.holders.map(({ claim }) => claim), ...device.taints,
      ...device.attributes.map((pair) => pair.join("=")), ...device.capacity.map((pair) => pair.join("=")),
    ].join("\n").toLowerCase();
    return words.every((word) => all.includes(word));
  };
}

function claimsOf({ podGroups }: Inventory, report: Report | undefined, others: readonly Report[]): ClaimView[] {
  if (report === undefined) return [];
  const pods = new Map<string, string[]>();
  for (const pod of report.pods) {
    for (const { claim } of pod.claims) {
      if (claim === undefined) continue;
      const key = `${pod.namespace}/${claim}`;
      const known = pods.get(key);
      if (known === undefined) pods.set(key, [`${pod.namespace}/${pod.name}`]);
      else known.push(`${pod.namespace}/${pod.name}`);
    }
  }
  const workloads = workloadsOf(report, podGroups);
  const holding = [report, ...others].flatMap((other) => {
    const own = other.claims.filter(({ devices }) => devices.length > 0).map(({ namespace, name }) => `${namespace}/${name}`);
    const all = other === report ? workloads : workloadsOf(other, podGroups);
    return own.flatMap((key) => all.get(key) ?? []);
  });
  const colours = coloursOf(holding);
  return report.claims.map((claim) => {
    const key = `${claim.namespace}/${claim.name}`;
    const users = pods.get(key) ?? [];
    const groupOf = Object.fromEntries(
      users.flatMap((pod) => (podGroups[pod] === undefined ? [] : [[pod, podGroups[pod].split("/")[1] ?? podGroups[pod]]])),
    );
    const workload = workloads.get(key) ?? { key, name: claim.name };
    return {
      key, name: claim.name, namespace: claim.namespace, isAllocated: claim.allocated, template: claim.template, workload,
      colour: colours.get(workload.key) ?? 0,
      devices: claim.devices.map(deviceKey), pods: users, podGroups: [...new Set(Object.values(groupOf))], groupOf,
    };
  });
}

function holderOf(device: AllocatedDevice, claim: string, name: string, colour: number): Holder {
  return { claim, name, request: device.request, isAdmin: device.adminAccess, colour, consumed: device.consumedCapacity ?? {} };
}

type Holders = ReadonlyMap<string, Holder[]>;

function groupsOf({ pools, nodes }: Inventory, holders: Holders, refused: Refused): Group[] {
  const byNode = new Map<string, PoolView[]>(nodes.map(({ name }) => [name, []]));
  const shared: { group: Group; nodes: string[] }[] = [];
  for (const pool of pools) {
    const apart = new Map<string | undefined, DeviceEntry[]>();
    const left = leftOf(pool, holders);
    const hindranceOf = (device: DeviceEntry): Hindrance | undefined => (refused.has(device.slice) ? "refused" : isDrawn(device, left) ? "drawn" : undefined);
    for (const device of pool.devices) {
      const node = pool.node ?? device.node;
      const together = apart.get(node);
      if (together === undefined) apart.set(node, [device]);
      else together.push(device);
    }
    for (const [node, devices] of apart) {
      const view = poolView(pool, devices, holders, hindranceOf);
      if (node !== undefined) byNode.set(node, [...(byNode.get(node) ?? []), view]);
      else shared.push({ group: sharedGroup(pool, view), nodes: pool.nodes });
    }
  }
  const known = new Map(nodes.map((node) => [node.name, node]));
  const racks = [...byNode].sort(([one], [other]) => compareNumbered(one, other)).map(([name, views]): Group => {
    const node = known.get(name);
    const note = [node?.isCordoned === true ? "cordoned" : "", ...(node?.taints.map((taint) => `taint ${taint}`) ?? [])];
    return { key: `node ${name}`, kind: "node", title: name, note: note.filter((part) => part !== "").join(", "), pools: views, children: [] };
  });
  return nested(racks, shared);
}

function sharedGroup(pool: PoolEntry, view: PoolView): Group {
  return { key: `pool ${pool.driver}/${pool.name}`, kind: "shared", title: pool.name, note: pool.reach ?? "", pools: [view], children: [] };
}

/** Shared pools around the nodes and smaller shared pools that they reach, as far as these form a tree. */
function nested(racks: Group[], shared: { group: Group; nodes: string[] }[]): Group[] {
  const frames = shared
    .filter(({ nodes }) => nodes.length > 0)
    .map(({ group, nodes }) => ({ group, nodes: new Set(nodes) }))
    .sort((one, other) => one.nodes.size - other.nodes.size);
  // Frames that overlap without one holding the other could not be drawn; what comes second then stands by itself.
  const kept: typeof frames = [];
  const alone: Group[] = [];
  for (const frame of frames) {
    const fits = kept.every(({ nodes }) => nodes.size <= frame.nodes.size && (isWithin(nodes, frame.nodes) || isApart(nodes, frame.nodes)));
    if (fits) kept.push(frame);
    else alone.push(frame.group);
  }
  const top: Group[] = [];
  const home = (names: ReadonlySet<string>, after: number) =>
    kept.slice(after).find(({ nodes }) => names.size > 0 && isWithin(names, nodes))?.group.children ?? top;
  for (const rack of racks) home(new Set([rack.title]), 0).push(rack);
  for (const [index, { group, nodes }] of kept.entries()) home(nodes, index + 1).push(group);
  const reachable = shared.filter(({ nodes }) => nodes.length === 0).map(({ group }) => group);
  // A node without devices says something only inside a frame that reaches it.
  const worthwhile = top.filter(({ pools, children }) => pools.length + children.length > 0);
  return [...reachable, ...alone, ...worthwhile.sort((one, other) => compareNumbered(one.title, other.title))];
}

function isWithin(inner: ReadonlySet<string>, outer: ReadonlySet<string>): boolean {
  return [...inner].every((name) => outer.has(name));
}

function isApart(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return [...one].every((name) => !other.has(name));
}

type Amounts = ReadonlyMap<string, ReadonlyMap<string, Nano>>;

/** What the counters of a pool have left, by set and name; those with admin access draw nothing. */
function leftOf({ driver, name, counterSets, devices }: PoolEntry, holders: Holders): Amounts {
  const left = new Map(counterSets.map(({ name, counters }) => [name, new Map(counters.map(([counter, total]) => [counter, parse(total) ?? 0n]))]));
  for (const device of left.size === 0 ? [] : devices) {
    const isHeld = holders.get(deviceKey({ driver, pool: name, device: device.name }))?.some(({ isAdmin }) => !isAdmin) === true;
    for (const { set, counters } of isHeld ? device.consumes : []) {
      for (const [counter, amount] of counters) {
        const before = left.get(set)?.get(counter);
        if (before !== undefined) left.get(set)?.set(counter, before - (parse(amount) ?? 0n));
      }
    }
  }
  return left;
}

function isDrawn({ consumes }: DeviceEntry, left: Amounts): boolean {
  return consumes.some(({ set, counters }) => counters.some(([counter, amount]) => {
    const rest = left.get(set)?.get(counter);
    return rest !== undefined && (parse(amount) ?? 0n) > rest;
  }));
}

function poolView(pool: PoolEntry, devices: readonly DeviceEntry[], holders: Holders, hindranceOf: (device: DeviceEntry) => Hindrance | undefined): PoolView {
  const totals = new Map(pool.counterSets.map(({ name, counters }) => [name, new Map(counters)]));
  const sets = new Map<string, Tile[]>();
  for (const device of devices) {
    const key = deviceKey({ driver: pool.driver, pool: pool.name, device: device.name });
    const held = holders.get(key) ?? [];
    const tile: Tile = {
      key, driver: pool.driver, pool: pool.name, device, holders: held,
      hindrance: held.some(({ isAdmin }) => !isAdmin) ? undefined : hindranceOf(device),
      fills: device.allowsMultiple ? device.capacity.map(([name, total]) => capacityFill(name, total, held)) : [],
      draws: drawn(device, totals),
    };
    const set = device.consumes[0]?.set ?? "";
    const together = sets.get(set);
    if (together === undefined) sets.set(set, [tile]);
    else together.push(tile);
  }
  const names = [...sets.keys()].sort(compareNumbered);
  return {
    driver: pool.driver, name: pool.name, isIncomplete: pool.isIncomplete,
    sets: names.map((name) => {
      const tiles = sets.get(name) ?? [];
      return { name, tiles, gauges: gaugesOf(name, totals.get(name) ?? new Map(), [...sets.values()].flat()) };
    }),
  };
}

function drawn({ consumes }: DeviceEntry, totals: ReadonlyMap<string, ReadonlyMap<string, string>>): number {
  const shares = consumes.flatMap(({ set, counters }) =>
    counters.map(([name, amount]) => {
      const total = totals.get(set)?.get(name) ?? "";
      return { isSingle: total === "1", share: ratio(parse(amount) ?? 0n, parse(total) ?? 0n) };
    }),
  );
  // Of a counter of one everybody draws all or nothing: that says little about size.
  const telling = shares.some(({ isSingle }) => !isSingle) ? shares.filter(({ isSingle }) => !isSingle) : shares;
  return Math.max(0, ...telling.map(({ share }) => share));
}

/** Every holder but those with admin access uses up what its device draws. */
function gaugesOf(set: string, totals: ReadonlyMap<string, string>, tiles: readonly Tile[]): Fill[] {
  return [...totals].map(([name, total]) => {
    const uses = tiles.flatMap(({ device, holders }) => {
      const amount = device.consumes.find((consumed) => consumed.set === set)?.counters.find(([counter]) => counter === name)?.[1];
      const holder = holders.find(({ isAdmin }) => !isAdmin);
      return amount === undefined || holder === undefined ? [] : [{ amount: parse(amount) ?? 0n, holder }];
    });
    return fill(name, total, uses);
  });
}

function capacityFill(name: string, total: string, holders: readonly Holder[]): Fill {
  const users = holders.filter(({ isAdmin }) => !isAdmin);
  return fill(name, total, users.map((holder) => ({ amount: parse(holder.consumed[name] ?? "0") ?? 0n, holder })));
}

function fill(name: string, total: string, uses: readonly { amount: Nano; holder: Holder }[]): Fill {
  const whole = parse(total) ?? 0n;
  const used = uses.reduce((sum, { amount }) => sum + amount, 0n);
  const parts = uses.filter(({ amount }) => amount > 0n).map(({ amount, holder: { colour, claim } }) => ({ share: ratio(amount, whole), colour, claim }));
  return { name, total, used: format(used, total), parts };
}
