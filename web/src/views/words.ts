// What the views say that are loaded when they are first looked at, beside what the whole page says.

import type { Bounds, Eviction, Happening, Integer, PlaceOfPod, PodScores, ReasonKind, Report } from "apportion";

import type { Fate } from "../model/difference";
import type { Deed } from "../model/suppose";
import type { Hardware } from "../windows/inventories";
import { plural, some } from "../words";

export * from "../words";

export const AT = "At";
export const DEED = "What is done";
export const TARGET = "To what";
export const DO_IT = "Add to the script";
export const WATCH = "Watch";
export const SCRIPT = "Script";
export const SCRIPT_HINT = "- at: 30s\n  delete: pod/trainer-0";
export const PLAYER = "Player";
export const BACK = "Back";
export const PLAY = "Play";
export const PAUSE = "Pause";
export const STEP = "Step";
export const TIME = "Time";
export const STANDING = "How things stand";
export const EVENTS = "What happens";
export const ALL_EVENTS = "every write";
export const RESTLESS = "Some component writes without end.";
export const OBJECT = "Object";
export const HAPPENED = "Happens";
export const LANES = "Lanes of groups, Pods and claims in time; the table below says the same";
export const LANES_SAY = "A triangle is a step of the script. A click goes to that time.";
export const WHOLE_TIME = "Show all of the time";
export const BUSY_PART = "Show the busy part";
export const HAPPENINGS: Record<Happening, string> = {
  requested: "asked for",
  created: "created",
  deleting: "being deleted",
  deleted: "gone",
  placed: "placed on",
  pending: "Pending",
  phase: "is",
  recorded: "records",
  allocated: "allocated",
  deallocated: "gives back",
  reserved: "reserved",
  released: "released",
  protected: "protected",
  unprotected: "no longer protected",
  condition: "condition",
  taints: "taints",
  changed: "changed",
  event: "event",
};

export function at(clock: string): string {
  return `at ${clock}`;
}

export function standing({ pods, claims, nodes }: Report): string {
  const placed = pods.filter(({ node }) => node !== undefined).length;
  const allocated = claims.filter((claim) => claim.allocated).length;
  return `${placed} of ${plural(pods.length, "Pod")} placed, ${allocated} of ${plural(claims.length, "claim")} allocated, ${plural(nodes.length, "node")}`;
}

export const EXPRESSION = "CEL expression";
export const EXPRESSION_HINT = "An expression about `device`, or one of the selectors below";
export const SELECTORS = "Take";
export const NO_SUCH_DEVICE = "There is no device to evaluate it on.";
export const PARTS = "Parts on";
export const PART = "Part";
export const VALUE = "Value";
export const TYPE = "Type";
export const COST = "Cost";
export const READS = "Reads";
export const CAUSE = "decides";
export const NOT_THERE = "not there";

export function isYes(value: string | undefined): boolean {
  return value === "true";
}

/** A sign before the value, so that it is seen at a glance. */
export function verdict(value: string | undefined, isError: boolean): string {
  if (isError) return `✕ ${value ?? ""}`;
  return value === "true" ? "✓ true" : value === "false" ? "– false" : (value ?? "");
}

/** `true on 4 devices, false on 6`. */
export function values(all: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of all) counts.set(value, (counts.get(value) ?? 0) + 1);
  const most = [...counts].sort(([, one], [, other]) => other - one);
  return some(most.map(([value, count]) => `${value} on ${plural(count, "device")}`), 4).join(", ");
}

export function cost(cost: Integer | undefined, most: Integer): string {
  return cost === undefined ? `Cost: at most ${most}` : `Cost: ${cost}, at most ${most}`;
}

export const FIT_SUBJECT = "How many more of";
export const FIT_COUNT = "Devices per claim";
export const FIT_PER = "Counted by";
export const FIT_BY = { node: "node", pool: "pool", class: "class" } as const;
export const FITS = "Fit";
export const FIT_NOTHING = "There is nothing to count: no ResourceClaimTemplate, no claim without devices, no DeviceClass.";
export const LARGEST = "The largest claim that still fits on one node";
export const REMAINDERS = "Left over when no more fit";
export const NAMESPACES = "Devices in use by namespace";
export const TEMPLATES = "Templates";
export const CLASSES = "Devices of a class";

export const HIDDEN_CHARACTERS = "Characters that cannot be seen";

export function hiddenAt(character: string, line: number): string {
  return `${character} in line ${line}`;
}

/** The line may break before `of`, not behind it. */
export function outOf(part: number, all: number): string {
  return `${part} of\u00a0${all}`;
}

/** `3`, `3 to 5`, `at least 3`. */
export function bounds({ atLeast, atMost }: Bounds): string {
  if (atLeast === atMost) return String(atLeast);
  return typeof atMost === "bigint" ? `at least ${atLeast}` : `${atLeast} to ${atMost}`;
}

export function leftOver(stranded: number): string {
  return `Left over then: ${plural(stranded, "device")} that match${stranded === 1 ? "es" : ""} but ${stranded === 1 ? "does" : "do"} not make up another claim.`;
}

export const SUPPOSE_SAYS = "Click a node or a device of the picture, then choose what happens to it. The text stays as it is.";
export const CORDON = "Cordon";
export const REMOVE_NODE = "Remove";
export const ADD_NODE = "Add one like it";
export const TAINT = "Taint";
export const TAINT_NODE = "Taint its devices";
export const DEEDS_LABEL = "What is tried";
export const TAKE_BACK = "Take back";
export const START_OVER = "Take back all";
export const CHOSEN = "Chosen";
export const BEFORE_PICTURE = "As it is";
export const AFTER_PICTURE = "With the changes";
export const EVICTED = "Driven out";
export const SAME = "Nothing comes out otherwise.";

export function deed(deed: Deed): string {
  switch (deed.does) {
    case "cordon":
      return `cordon ${deed.node}`;
    case "remove":
      return `remove ${deed.node}`;
    case "add":
      return `add ${deed.name}, a node like ${deed.node}`;
    case "taint":
      return `taint ${deed.devices} with ${deed.taint}`;
    case "taintNode":
      return `taint all devices of ${deed.node} with ${deed.taint}`;
    default:
      return deed satisfies never;
  }
}

export function placeOf(place: PlaceOfPod): string {
  return place === "absent" ? "not there" : place === "pending" ? "Pending" : place.node;
}

const FATES: Record<Fate, readonly [one: string, many: string]> = {
  loses: ["loses its place", "lose their place"],
  gains: ["gets a place", "get a place"],
  moves: ["gets another place", "get another place"],
  goes: ["is not there", "are not there"],
  comes: ["comes, and waits", "come, and wait"],
};

/** `1 Pod loses its place, 3 Pods get another place.` */
export function fates(counts: readonly (readonly [fate: Fate, pods: number])[]): string {
  return `${counts.map(([fate, pods]) => `${plural(pods, "Pod")} ${FATES[fate][pods === 1 ? 0 : 1]}`).join(", ")}.`;
}

export function devicesOf(devices: readonly string[] | null): string {
  return devices === null ? "not there" : devices.length === 0 ? "no device" : devices.map((name) => name.slice(name.indexOf("/") + 1)).join(", ");
}

export function evicted({ pod, node, inSeconds, unknown }: Eviction): string {
  if (unknown === true) return `${pod} from ${node}: not known, as its claims are not given or were refused`;
  return `${pod} from ${node}${Number(inSeconds) === 0 ? " at once" : ` in ${inSeconds} s`}`;
}

export const COMPARE_WITH = "Compare with";
export const COMPARE_VERSIONS = "Kubernetes 1.34 to 1.38";
export const COMPARE_TEXT = "another text";
export const OTHER_TEXT = "The other text";
export const OTHER_HINT = "Paste the manifests to compare with";
export const SAME_EVERYWHERE = "Every version comes to the same answer.";
export const THIS_TEXT = "This text";
export const OTHER = "The other";
export const FROM_DRAFT = "Take a draft";

export const WAITING = "waiting, by refusals";
export const PLACED = "placed, by scores";
export const SCORE = "Score";
export const SCORES_SAY = "What the plugins of kube-scheduler's default profile give each node that fits, from 0 to 100, and the sum by their weights.";
export const MATRIX_SUBJECT = "Pod or claim";
export const MATRIX_SAYS = "For each node, how many devices each reason keeps away. A device counts for each of its reasons.";
export const USABLE_DEVICES = "Usable";
export const NO_REASONS = "No node was asked for devices: the reasons above come first.";
/** `node-a scores best, as one of 2 nodes`. */
export function chosenBy({ chosen, ties }: PodScores): string {
  if (chosen === undefined) return "No node fits.";
  const many = Number(ties);
  return many <= 1 ? `\`${chosen}\` scores best.` : `${many} nodes score best; kube-scheduler draws one of them, here the first by name stands: \`${chosen}\`.`;
}

export const REASONS: Record<ReasonKind, string> = {
  notOfClass: "not of the class",
  poolOutdated: "pool outdated",
  poolIncomplete: "slices missing",
  poolInvalid: "pool invalid",
  noNode: "reached by no node",
  otherNode: "on other nodes",
  selectorFails: "selector fails",
  selectorFalse: "selector false",
  featureOff: "feature off",
  needsDriver: "needs the driver",
  constraintMissing: "attribute missing",
  capacityNever: "too small",
  counterNever: "counter too small",
  constraintConflict: "constraint",
  tainted: "tainted",
  otherGroup: "other group",
  counterShort: "counter used up",
  capacityShort: "capacity used up",
  inUse: "in use",
};

export const PODS_PLACED = "Pods placed";
export const CLAIMS_ALLOCATED = "Claims allocated";

export const HARDWARE_TITLE = "Add hardware";
export const KNOWN_HARDWARE = "Known inventories";
export const MODEL = "Model";
export const NODES = "Nodes";
export const DEVICES_PER_NODE = "Devices per node";
export const ADD = "Add";
export const FIXED_DEVICES = "The driver decides how many devices a node has.";
export const OWN_HARDWARE = "From your cluster";
export const DUMP_SAYS = "Run one of these, then paste what it prints or drop the file on the page. Nothing of it leaves the page.";
export const DUMP_HARDWARE = "Command for hardware alone";
export const DUMP_EVERYTHING = "Command for hardware, claims and Pods";
export const PASTE = "Classes and slices";
export const PASTE_HINT = "Paste DeviceClasses, ResourceSlices and Nodes";
export const ADD_PASTED = "Add what is pasted";
export const OFFER = "Hardware for what is asked for";
export const OTHER_HARDWARE = "Choose hardware";

export function brings({ driver, classes, note }: Pick<Hardware, "driver" | "classes" | "note">): string {
  const devices = driver === "" ? "No devices" : `Devices of driver ${driver}`;
  const says = note === undefined ? "" : `: ${note}`;
  return `${devices}${says}. ${classes.length === 0 ? "Without a DeviceClass." : `Classes: ${classes.join(", ")}.`}`;
}

/** `There is no hardware here for `gpu.nvidia.com`.` */
export function absent(names: readonly string[]): string {
  return `The text asks for ${some(names.map((name) => `\`${name}\``), 3).join(", ")}, and has no devices for ${names.length === 1 ? "it" : "them"}.`;
}

/** `Try with 2 nodes of 8 H100`. */
export function tryWith({ model, perNode }: Pick<Hardware, "model" | "perNode">, { nodes, devices }: { nodes: number; devices: number }): string {
  const each = devices === 0 ? perNode : devices;
  return `Try with ${plural(nodes, "node")} of ${each} ${model}`;
}

export const EMPTY_SAYS = "Paste manifests into the text, drop files or folders anywhere on the page, or open an example.";
export const DUMP_FIRST = "From a cluster, this command prints what the page needs:";
export const TERMS_SAY = "The words, explained:";
export const TOUR_LABEL = "A tour of the page";
export const NEXT = "Next";
export const DONE = "Done";

export function tourStep(step: number, steps: number, title: string): string {
  return `${step} of ${steps}. ${title}.`;
}

export const PROPOSAL = "Change the text";
export const DIFFERENCE = "What changes";
export const DIFF_KINDS = { gone: "removed: ", new: "added: " } as const;
export const MAKE_CHANGE = "Make the change";
export const LEAVE_TEXT = "Leave it";

export function moreLines(count: number): string {
  return `and ${plural(count, "more line")}`;
}
