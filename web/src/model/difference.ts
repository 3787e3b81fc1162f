// What differs between two answers, in the order in which it matters.

import type { PlaceOfPod, PodDifference } from "apportion";

import { compareNumbered } from "./order";

/** What becomes of a Pod, the worst first. */
export const FATES = ["loses", "gains", "moves", "goes", "comes"] as const;
export type Fate = (typeof FATES)[number];

export function fateOf({ before, after }: PodDifference): Fate {
  if (after === "absent") return "goes";
  if (hasNode(before) && !hasNode(after)) return "loses";
  if (!hasNode(before) && hasNode(after)) return "gains";
  return before === "absent" ? "comes" : "moves";
}

function hasNode(place: PlaceOfPod): boolean {
  return typeof place === "object";
}

/** Pods by what becomes of them, then by name. */
export function byFate(pods: readonly PodDifference[]): PodDifference[] {
  const rank = (pod: PodDifference) => FATES.indexOf(fateOf(pod));
  return [...pods].sort((one, other) => rank(one) - rank(other) || compareNumbered(one.pod, other.pod));
}

/** How many Pods have each fate, without those that none has. */
export function fates(pods: readonly PodDifference[]): [fate: Fate, pods: number][] {
  return FATES.map((fate): [Fate, number] => [fate, pods.filter((pod) => fateOf(pod) === fate).length]).filter(([, count]) => count > 0);
}
