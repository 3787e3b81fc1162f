// Which workload a claim belongs to, and the colour that the workload has.

import type { Report } from "apportion";

/** Colours that workloads have. */
export const COLOURS = 8;

/** What makes claims that belong together. */
export interface Workload {
  key: string;
  /** `Job training`, `PodGroup trainers`, `template small-gpu`; the claim where it stands alone. */
  name: string;
}

/** The workload of each claim, by `namespace/name` of the claim. */
export type Workloads = ReadonlyMap<string, Workload>;

/** The controller of the Pods that use a claim, or their PodGroup, or the template; a claim of several workloads stands for itself. */
export function workloadsOf({ pods, claims }: Pick<Report, "pods" | "claims">, podGroups: Readonly<Record<string, string>>): Workloads {
  const users = new Map<string, Map<string, Workload>>();
  for (const { namespace, name, owner, claims } of pods) {
    const group = podGroups[`${namespace}/${name}`]?.split("/")[1];
    const kind = owner === undefined ? (group === undefined ? undefined : "PodGroup") : owner.kind;
    const made = owner?.name ?? group;
    for (const { claim } of claims) {
      if (claim === undefined) continue;
      const workload = kind === undefined || made === undefined ? { key: "", name: "" } : { key: `${kind} ${namespace}/${made}`, name: `${kind} ${made}` };
      const key = `${namespace}/${claim}`;
      users.set(key, (users.get(key) ?? new Map<string, Workload>()).set(workload.key, workload));
    }
  }
  return new Map(claims.map(({ namespace, name, template }) => {
    const key = `${namespace}/${name}`;
    const [first, ...others] = users.get(key)?.values() ?? [];
    if (first !== undefined && others.length === 0 && first.key !== "") return [key, first];
    if (template !== undefined) return [key, { key: `template ${namespace}/${template}`, name: `template ${template}` }];
    return [key, { key: `claim ${key}`, name }];
  }));
}

/** A colour for each workload: that of its name, or the next one that is free while there are more colours than workloads. */
export function coloursOf(workloads: Iterable<Workload>): ReadonlyMap<string, number> {
  const keys = [...new Set([...workloads].map(({ key }) => key))].sort();
  const taken = new Set<number>();
  return new Map(keys.map((key) => {
    let colour = hash(key) % COLOURS;
    if (keys.length <= COLOURS) while (taken.has(colour)) colour = (colour + 1) % COLOURS;
    taken.add(colour);
    return [key, colour];
  }));
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
