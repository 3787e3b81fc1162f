// What the views say that are loaded when they are first looked at, beside what the whole page says.

import type { Happening, Integer, Report } from "apportion";

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
