// What the page says, in one place.

import type { ObjectRef, RequestExplanation } from "apportion";

import type { ClaimView, Fill, Holder, Tile } from "./model/model";

export const TITLE = "Apportion";
export const TAGLINE = "What Dynamic Resource Allocation does with your YAML";
export const PRIVACY = "Nothing leaves this page.";
export const EDITOR_LABEL = "Manifests, YAML or JSON";
export const MANIFESTS = "Manifests";
export const RESULT = "Result";
export const WORKING = "Working";
export const LOADING = "Loading";
export const FINDINGS = "Findings";
export const NOTES = "Notes";
export const NOTHING = "No Pods yet. Paste Pods or workloads that use claims, together with DeviceClasses and ResourceSlices.";
export const FAILED = "The engine stopped";
export const FAILED_HELP = "It starts again with the next change. If this happens every time, please report it together with the text.";
export const VERSION_LABEL = "Kubernetes";
export const ALL_VERSIONS = "newest, every gate on";
export const APPLY_FIX = "Fix";
export const CLOSE = "Close";
export const VIEWS = { result: RESULT, why: "Why", time: "Time", cel: "CEL" } as const;
export const VIEWS_LABEL = "Views";

export const PICTURE = "Devices by node; arrow keys move, Enter picks";
export const DEVICES = "Devices";
export const DEVICE_TABLE = "Devices as a table";
export const FILTER = "Which devices are shown";
export const FIND = "Find";
export const FIND_HINT = "name, attribute, taint";
export const CLAIM = "Claim";
export const CLAIMS = "Claims that hold devices";
export const CLASS = "Class";
export const ALL = "all";
export const FREE = "free";
export const HELD_BY = "Held by";
export const PODS = "Used by Pods";
export const TAINTS = "Taints";
export const BINDING = "Binding conditions";
export const ATTRIBUTES = "Attributes";
export const CAPACITY = "Capacity";
export const DRAWS = "Draws on";

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function line(number: number): string {
  return `line ${number}`;
}

export function more(count: number): string {
  return `Show ${count} more`;
}

/** The first of many, then how many more there are. */
export function some(names: readonly string[], most: number): string[] {
  return names.length <= most ? [...names] : [...names.slice(0, most), `and ${names.length - most} more`];
}

export function objectName({ namespace, name }: Pick<ObjectRef, "namespace" | "name">): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

export function shownDevices(shown: number, all: number): string {
  return `${shown} of ${plural(all, "device")} shown`;
}

export function deviceTitle({ device, driver, pool }: Tile): string {
  return `Device ${device.name} of ${driver}, pool ${pool}`;
}

/** `memory 20Gi of 80Gi`. */
export function fill({ name, used, total }: Fill): string {
  return `${name} ${used} of ${total}`;
}

/** `memory-slice 3 of 8`: what counters of one each have in common, and how many of them are taken. */
export function cells(names: readonly string[], used: number): string {
  const [first = ""] = names;
  let length = first.length;
  while (length > 0 && !names.every((name) => name.startsWith(first.slice(0, length)))) length -= 1;
  const common = names.length > 1 ? first.slice(0, length).replace(/[-_.\d]+$/, "") : first;
  return `${common.length > 2 ? common : "single counters"} ${used} of ${names.length}`;
}

/** Signs on a tile, with what they mean. */
export function marks({ device, holders }: Tile): { sign: string; meaning: string }[] {
  const marks = [];
  if (device.taints.length > 0) marks.push({ sign: "▲", meaning: `tainted ${device.taints.join(", ")}` });
  if (holders.some(({ isAdmin }) => isAdmin)) marks.push({ sign: "◇", meaning: "admin access" });
  if (device.bindingConditions.length > 0) marks.push({ sign: "◷", meaning: `binding waits for ${device.bindingConditions.join(", ")}` });
  if (device.allowsMultiple) marks.push({ sign: "⧉", meaning: "can be shared by several claims" });
  return marks;
}

/** Who holds a device, in the room of a tile. */
export function owner({ holders, device }: Tile): string {
  const owners = holders.filter(({ isAdmin }) => !isAdmin);
  const [first] = owners;
  if (first === undefined) return device.taints.length > 0 ? "free, tainted" : FREE;
  return owners.length === 1 ? first.name : plural(owners.length, "claim");
}

/** `ml/training, request gpu, 10Gi memory`. */
export function holder({ claim, request, isAdmin, consumed }: Holder): string {
  const amounts = Object.entries(consumed).map(([name, amount]) => `, ${amount} ${name}`).join("");
  return `${claim}, request ${request}${isAdmin ? ", admin access" : ""}${amounts}`;
}

/** A tile for those who do not see it. */
export function tile(tile: Tile): string {
  const { device, pool, driver, holders } = tile;
  const held = holders.length === 0 ? FREE : `held by ${holders.map(holder).join("; ")}`;
  return [`${device.name}, pool ${pool} of ${driver}`, held, ...remarks(tile)].join(". ");
}

export function remarks(tile: Tile): string[] {
  return [...marks(tile).map(({ meaning }) => meaning), ...tile.fills.map(fill)];
}

/** Who uses a claim: `2 devices, 300 Pods of PodGroup trainers`. */
export function users({ devices, pods, podGroups }: ClaimView): string {
  const groups = podGroups.length === 0 ? "" : ` of PodGroup ${some(podGroups, 2).join(", ")}`;
  const used = pods.length === 1 && podGroups.length === 0 ? `Pod ${pods[0]?.split("/")[1] ?? ""}` : `${plural(pods.length, "Pod")}${groups}`;
  return `${plural(devices.length, "device")}${pods.length === 0 ? "" : `, ${used}`}`;
}

export const NOTHING_PENDING = "Nothing is Pending: every Pod has a node and every claim its devices.";
export const STATES = { placed: "placed", fits: "fits", blocked: "Pending", noDevices: "Pending", gaveUp: "not known" } as const;
export const LEFT = "Left";
export const SHARE = "Share";
export const LOST = "Lost here";
export const NEEDED = "needed";
export const CONFLICT = "These cannot hold together; without any one of them the rest could";
export const SUGGESTIONS = "Each of these alone would help, the smallest change first";
export const APPLY = "Apply";
export const APPLIED = "Applied";
export const BY_HAND = "to be done by hand";
export const UNDO = "Undo";
export const BEFORE = "Before";
export const AFTER = "Now";
export const WHAT = "What";
export const NO_DIFFERENCE = "No Pod and no claim came out otherwise.";
export const CHANGED_MEANWHILE = "The text was changed meanwhile; the suggestion is worked out anew.";
export const CANNOT_REWRITE = "The text cannot be changed in its place. Copy the change by hand.";
export const EACH_DEVICE = "Each device with its reasons";
export const NODE = "Node";
export const DEVICE = "Device";
export const REQUEST = "Request";
export const AGAINST = "What is against it";
export const USABLE = "can be used";

/** `Request gpu: 2 devices of class gpu.example.com`. */
export function request({ request, claim, needed, isAll, class: deviceClass }: RequestExplanation, namesClaim: boolean): string {
  const of = namesClaim && claim !== "" ? ` of claim ${claim}` : "";
  return `Request ${request}${of}: ${isAll ? "all devices" : plural(Number(needed), "device")} of class ${deviceClass}`;
}

export function best(devices: number): string {
  return devices === 0 ? "no node has one" : `at most ${devices} on one node`;
}

export const ANSWER = "Answer";
export const NOT_LOADED = "This part of the page could not be loaded.";
export const EXAMPLES = "Examples";
export const FILES = "Files";
export const OUTLINE = "Go to";
export const UNKNOWN_KIND = "unknown";

export function refused(names: readonly string[]): string {
  return `Not read, for it is no YAML or JSON or too large: ${some(names, 5).join(", ")}`;
}
