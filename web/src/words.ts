// What the page says, in one place.

import type { ObjectRef, RequestExplanation } from "apportion";

import type { User } from "./model/links";
import type { ClaimView, Fill, Hindrance, Holder, Tile } from "./model/model";

export const TITLE = "Apportion";
export const TAGLINE = "What Dynamic Resource Allocation does with your YAML";
export const OPEN_IN = "Open in Apportion";
export const NO_LINK = "there is nothing behind the # of its address";
export const PRIVACY = "Nothing leaves this page.";
export const EDITOR_LABEL = "Manifests, YAML or JSON";
export const MANIFESTS = "Manifests";
export const RESULT = "Result";
export const WORKING = "Working";
export const CANCEL = "Cancel";
export const CANCELLED = "Stopped. The next change of the text asks again.";
export const LOADING = "Loading";
export const ENGINE = "Loading the engine";
export const HEADLINE = "In one sentence";
export const FINDINGS = "Findings";
export const NOTES = "Notes";
export const NOTHING = "No Pods yet. Paste Pods or workloads that use claims, together with DeviceClasses and ResourceSlices.";
export const FAILED = "The engine stopped";
export const FAILED_HELP = "It starts again with the next change. If this happens every time, please report it together with the text.";
export const VERSION_LABEL = "Kubernetes";
/** How a Kubernetes version is named. */
export function versionName(version: string): string {
  return version === "all" ? "newest, every gate on" : version === "1.38" ? "1.38 (preview)" : version;
}
export const APPLY_FIX = "Fix";
export const CLOSE = "Close";
export const MORE_TOOLS = "Version, settings and keys";
export const VIEWS = {
  result: RESULT, why: "Why", fit: "Fit", whatif: "What-if", nodes: "Scores", compare: "Compare", time: "Time", cel: "CEL",
} as const;
export const VIEWS_LABEL = "Views";
export const SIDES = { answer: "Answer", text: "Text" } as const;
export const SPLITTER = "Width of the text, in per cent";
export const SIDES_LABEL = "What this screen shows";

export const PICTURE = "Devices by node; arrow keys move, Enter picks";
export const DEVICES = "Devices";
export const DEVICE_TABLE = "Devices as a table";
export const FILTER = "Which devices are shown";
export const FIND = "Find";
export const FIND_HINT = "name or attribute";
export const CLAIM = "Claim";
export const CLAIMS = "Claims that hold devices";
export const LINKS = "Pods and their claims";
export const USERS = "PodGroups and Pods";
export const USED_CLAIMS = "Claims that they use";
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

export const HEAT_MAP = "Nodes by how many of their devices are in use; arrow keys move, Enter shows the devices";
export const IN_USE = "in use";
export const LEVELS = "Level";
export const LEVEL = { cluster: "Nodes", pools: "Pools", devices: "Devices" } as const;
export const ALL_NODES = "all nodes";
export const STALE = "The text cannot be read as it is. This is the answer to the last one that could.";

/** `node-a: 3 of 8 in use`. */
export function cell({ name, used, all }: { name: string; used: number; all: number }): string {
  return `${name}: ${all === 0 ? "no devices" : `${used} of ${all} in use`}`;
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

/** `memory-slice 3 of 8`, for places that are numbered. */
export function cells(first: string, used: number, all: number): string {
  return `${first.replace(/[-_.]?\d+$/, "")} ${used} of ${all}`;
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

const HINDRANCES: Record<Hindrance, readonly [says: string, meaning: string]> = {
  refused: ["refused", "its slice has an error and is left out"],
  drawn: ["no room", "other devices have what it draws on"],
};

/** Who holds a device, in the room of a tile. */
export function owner({ holders, hindrance, device }: Tile): string {
  const owners = holders.filter(({ isAdmin }) => !isAdmin);
  const [first] = owners;
  if (hindrance !== undefined) return HINDRANCES[hindrance][0];
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
  const { device, pool, driver, holders, hindrance } = tile;
  const held = holders.length === 0 ? (hindrance === undefined ? FREE : HINDRANCES[hindrance][0]) : `held by ${holders.map(holder).join("; ")}`;
  return [`${device.name}, pool ${pool} of ${driver}`, held, ...remarks(tile)].join(". ");
}

export function remarks(tile: Tile): string[] {
  const hindrance = tile.hindrance === undefined ? [] : [HINDRANCES[tile.hindrance][1]];
  return [...hindrance, ...marks(tile).map(({ meaning }) => meaning), ...tile.fills.map(fill)];
}

/** A workload with what its claims hold: `4 claims, 8 devices`. */
export function holdings(claims: readonly ClaimView[]): string {
  const [first] = claims;
  if (first !== undefined && claims.length === 1) return users(first);
  return `${plural(claims.length, "claim")}, ${plural(claims.reduce((sum, { devices }) => sum + devices.length, 0), "device")}`;
}

/** A claim with who uses it: `2 devices, 300 Pods of PodGroup trainers`. */
export function users(claim: ClaimView): string {
  return `${plural(claim.devices.length, "device")}${claim.pods.length === 0 ? "" : `, ${usedBy(claim)}`}`;
}

export function usedBy({ pods, podGroups, groupOf }: ClaimView): string {
  const groups = podGroups.length === 0 || pods.some((pod) => groupOf[pod] === undefined) ? "" : ` of PodGroup ${some(podGroups, 2).join(", ")}`;
  return pods.length === 1 && podGroups.length === 0 ? `Pod ${pods[0]?.split("/")[1] ?? ""}` : `${plural(pods.length, "Pod")}${groups}`;
}

/** `PodGroup trainers`, `Pod web-0`, `Pods like web-0`. */
export function user({ kind, name }: User): string {
  return kind === "Pods" ? `Pods like ${name}` : `${kind} ${name}`;
}

/** What is behind the name of a user: `300 Pods`. */
export function userSize({ kind, pods }: User): string {
  return kind === "Pod" ? "" : plural(pods, "Pod");
}

/** What a claim holds: `2 devices`. */
export function holds({ devices, isAllocated }: ClaimView): string {
  return isAllocated ? plural(devices.length, "device") : "not allocated";
}

export const MORE_FOLLOWS = "Changes that help, and what else waits, are being looked for …";
export const NOTHING_PENDING = "Nothing is Pending: every Pod has a node and every claim its devices.";
export const STATES = { placed: "placed", fits: "fits", blocked: "Pending", noDevices: "Pending", gaveUp: "not known" } as const;
export const LEFT = "Left";
export const SHARE = "Share";
export const LOST = "Lost here";
export const NEEDED = "needed";
export const CONFLICT = "These conditions contradict each other; without any one of them the others can be met";
export const SUGGESTIONS = "Each of these alone would help, the smallest change first";
export const APPLY = "Apply";
export const APPLIED = "Applied";
export const BY_HAND = "to be done by hand";
export const UNDO = "Undo";
export const UNDONE = "Undone.";
export const REDO = "Redo";
export const TOUR = "Tour";
export const EMPTY = "Empty";
export const DRAFTS = "Drafts";
export const DRAFTS_SAY = "What you wrote, kept by this browser and by nobody else: the newest 20. Opening one leaves the others as they are.";
export const DRAFT_NAME = "Name of this draft";
export const PUT_BACK = "Put back";

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

/** `Request gpu: 2 devices of class gpu.example.com`; of what the scheduler asks for, `Container main, example.com/gpu: ..`. */
export function request({ request, serves, claim, needed, isAll, class: deviceClass }: RequestExplanation, namesClaim: boolean): string {
  const of = namesClaim && claim !== "" ? ` of claim ${claim}` : "";
  const who = serves === undefined ? `Request ${request}${of}` : `Container ${serves.container}, ${serves.resource}`;
  return `${who}: ${isAll ? "all devices" : plural(Number(needed), "device")} of class ${deviceClass}`;
}

export function best(devices: number): string {
  return devices === 0 ? "no node has one" : `at most ${devices} on one node`;
}

export const ANSWER = "Answer";
export const NOT_LOADED = "This part of the page could not be loaded.";
export const EXAMPLES = "Examples";
export const FILES = "Files";
export const HARDWARE = "Hardware";
export const SHOW_AROUND = "Show me around";
export const OUTLINE = "Go to";
export const UNKNOWN_KIND = "unknown";

export function refused(names: readonly string[]): string {
  return `Not read, for it holds no manifest or is too large: ${some(names, 5).join(", ")}`;
}

export function sameReasons(pod: string): string {
  return `For the same reasons as ${pod}.`;
}

export function canStart(pods: number): string {
  return pods === 1 ? "The Pod can start." : `All ${pods} Pods can start.`;
}

/** `2 of 10 Pods cannot start: huge-model asks for 192Gi; and 1 more.` */
export function cannotStart(pending: number, pods: number, first: string): string {
  const who = pods === 1 ? "The Pod" : `${pending} of ${plural(pods, "Pod")}`;
  return `${who} cannot start: ${first}${pending === 1 ? "" : `; and ${pending - 1} more`}.`;
}

/** `Nothing can be said yet: a tab is used as indentation; and 1 more error.` */
export function noPods(first: string, others: number): string {
  return `Nothing can be said yet: ${first}${others === 0 ? "" : `; and ${others} more ${others === 1 ? "error" : "errors"}`}.`;
}

export const INSTEAD_OF_TOUR = "Your manifests are open. The tour is one step back.";
export const PASTED = "pasted.yaml";

export function removed(name: string): string {
  return `Removed ${name}.`;
}

export const NOT_KEPT = "This browser keeps nothing, and the text is too long for a link: before you leave, download it under Share.";

export function restored(name: string): string {
  return `Restored as you left it: ${name}.`;
}

/** The name of a draft, or else of its files. */
export function draftName({ name, files }: { name: string; files: readonly { name: string }[] }): string {
  return name === "" ? some(files.map(({ name }) => name), 2).join(", ") : name;
}

export const SHARE_TITLE = "Share and keep";
export const LINK = "Link";
export const LINK_SAYS = "The text is in the link itself, behind the #, which browsers do not send to a server.";
export const LINK_TOO_LONG = "The text is too long for a link. Download it instead.";
export const COPY = "Copy";
export const COPIED = "Copied";
export const NOT_COPIED = "The browser did not allow it: select the link and copy it.";
export const DOWNLOADS = "Downloads";
export const AS_YAML = "YAML";
export const YAML_SAYS = "all files as one";
export const AS_JSON = "JSON";
export const JSON_SAYS = "the report: Pods, claims, nodes, findings";
export const AS_SVG = "SVG";
export const SVG_SAYS = "the picture, as lines and text";
export const AS_PNG = "PNG";
export const PNG_SAYS = "the same as pixels";
export const EXTENT = "Picture of";
export const EXTENTS = { view: "what is in view", cluster: "all nodes", pools: "all pools", devices: "all devices" } as const;
export const SNAPSHOT = "Snapshot";
export const SNAPSHOT_SAYS = "the cluster after the run, for `apportion replay`";
export const NO_ANSWER = "There is no answer to keep yet.";
export const NO_PNG = "The browser could not make a picture of that size.";
export const REMOVE = "Remove";
export const ADD_FILE = "New file";
export const OPEN_FILES = "Open files";
export const OPEN_FOLDER = "Open a folder";
export const START_EMPTY = "Start empty";
export const DROP_HINT = "Files and folders can also be dropped anywhere on the page. They stay in it.";
export const SETTINGS = "Settings";
export const THEME = "Colours";
export const THEMES = { system: "of the system", light: "light", dark: "dark" } as const;
export const GATES = "Feature gates";
export const GATES_SAY = "What is set here differs from the version chosen.";
export const GATE_DEFAULT = "of the version";
export const ON = "on";
export const OFF = "off";
export const KEYS = "Keys";
export const SINGLE_KEYS = "Keys without Ctrl or Alt do something outside of fields";
export const SHARE_BUTTON = "Share";

export function settings(gates: number): string {
  return `${SETTINGS} (${plural(gates, "gate")})`;
}

export function fileName(index: number): string {
  return `Name of file ${index + 1}`;
}

export function unknown(names: readonly string[]): string {
  return `Left out, for this page does not know it: ${some(names, 5).join(", ")}.`;
}

export const LOAD = "Load";
export const LEAVE = "Do not load";

export function asksToLoad(address: string): string {
  return `This link wants to load a text from \`${address}\`. The host learns that you asked for it, and nothing else.`;
}

export function notFetched(why: string): string {
  return `The text could not be loaded: ${why}.`;
}

export function badEmbed(why: string): string {
  return `Nothing can be drawn: ${why}.`;
}

export function badLink(why: string): string {
  return `The link cannot be opened: ${why}. The page is as it would be without it.`;
}
