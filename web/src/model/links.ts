// Who uses which claim: PodGroups and Pods on one side, claims on the other, lines between them.

import type { ClaimView } from "./model";

/** A PodGroup, a Pod, or Pods that use the same claims. */
export interface User {
  key: string;
  kind: "PodGroup" | "Pod" | "Pods";
  /** Of a PodGroup or Pod; of Pods, that of the first. */
  name: string;
  namespace: string;
  pods: number;
}

export interface Link {
  user: number;
  claim: number;
}

export interface Links {
  users: User[];
  claims: readonly ClaimView[];
  /** Positions in the two lists. */
  links: Link[];
}

/** Pods of no group with the same claims are one user when they are this many. */
const ALIKE = 3;

/** Users in the order of their first claim, so that few lines cross. */
export function linksOf(claims: readonly ClaimView[]): Links {
  const claimsOfPod = new Map<string, number[]>();
  for (const [claim, { pods }] of claims.entries()) {
    for (const pod of pods) add(claimsOfPod, pod, claim);
  }
  const alike = new Map<string, string[]>();
  for (const [pod, used] of claimsOfPod) add(alike, used.join(), pod);
  const users = new Map<string, { user: User; claims: Set<number> }>();
  const note = (user: User, claim: number) => {
    const known = users.get(user.key) ?? { user, claims: new Set<number>() };
    known.user.pods = Math.max(known.user.pods, user.pods);
    known.claims.add(claim);
    users.set(user.key, known);
  };
  for (const [claim, { pods, groupOf, namespace }] of claims.entries()) {
    const ofGroup = new Map<string, number>();
    for (const pod of pods) {
      const group = groupOf[pod];
      if (group !== undefined) ofGroup.set(group, (ofGroup.get(group) ?? 0) + 1);
    }
    for (const [group, count] of ofGroup) {
      if (count > 1) note({ key: `group ${namespace}/${group}`, kind: "PodGroup", name: group, namespace, pods: count }, claim);
    }
    for (const pod of pods) {
      const group = groupOf[pod];
      if (group !== undefined && (ofGroup.get(group) ?? 0) > 1) continue;
      const same = alike.get(claimsOfPod.get(pod)?.join() ?? "") ?? [pod];
      const isOne = group !== undefined || same.length < ALIKE;
      const name = (isOne ? pod : same[0] ?? pod).split("/")[1] ?? pod;
      note({ key: `pod ${namespace}/${name}`, kind: isOne ? "Pod" : "Pods", name, namespace, pods: isOne ? 1 : same.length }, claim);
    }
  }
  const sorted = [...users.values()];
  return {
    users: sorted.map(({ user }) => user), claims,
    links: sorted.flatMap(({ claims }, user) => [...claims].map((claim) => ({ user, claim }))),
  };
}

function add<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** The middle of an entry of a list whose entries share the height evenly. */
export function middle(index: number, count: number, height: number): number {
  return ((index + 0.5) * height) / count;
}
