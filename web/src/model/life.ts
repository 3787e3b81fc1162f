// A life in virtual time as it is shown: clock times, instants, lanes, and steps that are added to a script.

import type { Happening, Moment, ObjectRef } from "apportion";

import type { Life, Stage } from "../protocol";
import { objectName } from "../words";
import type { Inventory } from "./inventory";
import { compareNumbered } from "./order";

/** `0s`, `1m30s`, `2h5m`, `1s500ms`: as scripts read it, too. */
export function clock(millis: number): string {
  const parts: [number, string][] = [
    [Math.floor(millis / 3_600_000), "h"], [Math.floor(millis / 60_000) % 60, "m"], [Math.floor(millis / 1000) % 60, "s"],
    [Math.round(millis % 1000), "ms"],
  ];
  const text = parts.filter(([amount]) => amount > 0).map(([amount, unit]) => `${amount}${unit}`).join("");
  return text === "" ? "0s" : text;
}

/** Times at which something happened, each once; always the start. */
export function instants({ moments, stages }: Life): number[] {
  return [...new Set([0, ...moments.map(({ atMillis }) => atMillis), ...stages.map(({ atMillis }) => atMillis)])].sort((one, other) => one - other);
}

/** How things stood at a time. */
export function stageAt({ stages }: Life, atMillis: number): Stage | undefined {
  return stages.findLast((stage) => stage.atMillis <= atMillis);
}

/** What the manifests hold, with the pools and nodes of a time. */
export function inventoryAt(inventory: Inventory, { stages }: Life, atMillis: number): Inventory {
  const latest = stages.findLast((stage) => stage.atMillis <= atMillis && stage.hardware !== undefined);
  return { ...inventory, ...latest?.hardware };
}

/** What people look for first. */
const MAIN: ReadonlySet<Happening> = new Set<Happening>([
  "requested", "created", "deleting", "deleted", "placed", "pending", "phase", "allocated", "deallocated", "taints", "condition",
]);

export function isMain({ happened }: Moment): boolean {
  return MAIN.has(happened);
}

/** What an object is in from one time to another. */
export interface Span {
  from: number;
  to: number;
  state: string;
}

export interface Lane {
  object: ObjectRef;
  name: string;
  spans: Span[];
}

/** What a moment makes of an object; undefined where it leaves it as it is, the empty text where it is gone. */
function stateAfter({ happened, detail }: Moment): string | undefined {
  switch (happened) {
    case "created":
      return "there";
    case "pending":
      return "Pending";
    case "placed":
      return `on ${detail}`;
    case "phase":
      return detail;
    case "allocated":
      return "allocated";
    case "reserved":
      return "reserved";
    case "released":
      return "released";
    case "deallocated":
      return "not allocated";
    case "deleting":
      return "deleting";
    case "deleted":
      return "";
    default:
      return undefined;
  }
}

const LANES = ["PodGroup", "Pod", "ResourceClaim"];

/** A lane for every group, Pod and claim to which something happened: by kind, who waits at some time first, then by name. */
export function lanes(moments: readonly Moment[], endMillis: number): Lane[] {
  const found = new Map<string, Lane>();
  for (const moment of moments) {
    const { object, atMillis } = moment;
    const state = LANES.includes(object.kind) ? stateAfter(moment) : undefined;
    if (state === undefined) continue;
    const name = `${object.kind} ${objectName(object)}`;
    const lane = found.get(name) ?? { object, name, spans: [] };
    found.set(name, lane);
    const last = lane.spans.at(-1);
    if (last !== undefined && last.to === endMillis) last.to = atMillis;
    if (state !== "") lane.spans.push({ from: atMillis, to: endMillis, state });
  }
  const rank = ({ object }: Lane) => LANES.indexOf(object.kind);
  const waits = ({ spans }: Lane) => Number(spans.some(({ state }) => state === "Pending"));
  // What lasted for no time at all was passed through.
  return [...found.values()]
    .map((lane) => ({ ...lane, spans: lane.spans.filter(({ from, to }) => to > from) }))
    .filter(({ spans }) => spans.length > 0)
    .sort((one, other) => rank(one) - rank(other) || waits(other) - waits(one) || compareNumbered(one.name, other.name));
}

const TICKS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400].map((seconds) => seconds * 1000);

/** Round times to write on an axis, a few of them. */
export function ticks(endMillis: number): number[] {
  const step = TICKS.find((tick) => endMillis / tick <= 6) ?? 86_400_000;
  return Array.from({ length: Math.min(40, Math.floor(endMillis / step) + 1) }, (_, index) => index * step);
}

/** What can be done by hand, each with what it is done to. */
export const DEEDS = {
  delete: { says: "delete Pod", targets: "pods" },
  finish: { says: "finish Pod", targets: "pods" },
  taint: { says: "taint device", targets: "devices" },
  removeNode: { says: "lose node", targets: "nodes" },
  drain: { says: "cordon node", targets: "nodes" },
  gate: { says: "turn gate off", targets: "gates" },
  crash: { says: "crash", targets: "components" },
} as const;

export type Deed = keyof typeof DEEDS;

/** The script with one more step. What is given is quoted: it may look like something else. */
export function withStep(script: string, at: string, deed: Deed, target: string): string {
  const quoted = JSON.stringify;
  const lines = [`- at: ${/^\w+$/.test(at) ? at : quoted(at)}`];
  switch (deed) {
    case "delete":
    case "finish":
      lines.push(`  ${deed}: ${quoted(`pod/${target}`)}`);
      break;
    case "taint":
      lines.push(`  taint: ${quoted(target)}`, "  key: example.com/broken", "  effect: NoExecute");
      break;
    case "removeNode":
      lines.push(`  removeNode: ${quoted(target)}`);
      break;
    case "drain":
      lines.push(`  patch: ${quoted(`node/${target}`)}`, "  with: { spec: { unschedulable: true } }");
      break;
    case "gate":
      lines.push(`  gate: ${quoted(`${target}=false`)}`);
      break;
    case "crash":
      lines.push(`  crash: ${quoted(target)}`, "  for: 30s");
      break;
    default:
      return deed satisfies never;
  }
  const before = script.trimEnd();
  return `${before === "" ? "" : `${before}\n`}${lines.join("\n")}\n`;
}
