// Explanations as they are shown: equal ones together, the devices of a request as a funnel, an answer beside an older one.

import type { Explanation, Finding, ObjectRef, Place, PlacedFinding, ReasonKind, Report, RequestExplanation } from "apportion";

import { plural } from "../words";
import { anonymous } from "./likeness";
import { compareNumbered } from "./order";

export interface ExplanationGroup {
  first: Explanation;
  subjects: ObjectRef[];
}

/** Explanations that say the same of several subjects, once: Pods first, in the order of their names. `pods` say which claims are whose. */
export function grouped(explanations: readonly Explanation[], pods: Report["pods"] = []): ExplanationGroup[] {
  const groups = new Map<string, ExplanationGroup>();
  const claims = new Map(pods.map(({ namespace, name, claims }) => [`${namespace}/${name}`, claims.flatMap(({ claim }) => claim ?? [])]));
  const rank = ({ subject: { kind, namespace, name } }: Explanation) => `${kind === "Pod" ? 0 : 1} ${namespace}/${name}`;
  for (const explanation of [...explanations].sort((one, other) => compareNumbered(rank(one), rank(other)))) {
    const { kind, namespace, name } = explanation.subject;
    const key = likeness(explanation, (kind === "Pod" && claims.get(`${namespace}/${name}`)) || []);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { first: explanation, subjects: [explanation.subject] });
    else group.subjects.push(explanation.subject);
  }
  return [...groups.values()];
}

/** What an explanation says, without the names of its subject and of the claims that it uses. */
function likeness({ subject, state, headline, stage, requests, conflict, suggestions }: Explanation, claims: readonly string[]): string {
  const texts = suggestions?.map(({ text }) => text);
  const text = JSON.stringify([subject.kind, subject.namespace, state, headline, stage, requests, conflict, texts], (_, value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  const used = [...new Set([...claims, ...requests.map(({ claim }) => claim)])].filter((claim) => claim !== "");
  return anonymous(text, subject.name, used);
}

/** The place in the text of what an explanation says, where a reason of the answer is the same. */
export function placeOf({ code, message }: Pick<Finding, "code" | "message">, reasons: readonly (readonly PlacedFinding[])[]): Place | undefined {
  return reasons.flat().find((reason) => reason.code === code && reason.message === message)?.place;
}

/** Where a device leaves the funnel, by its reason; in the order of the funnel. */
const STEPS: readonly { name: string; kinds: readonly ReasonKind[] }[] = [
  { name: "reachable", kinds: ["poolOutdated", "poolIncomplete", "poolInvalid", "noNode", "otherNode"] },
  { name: "match", kinds: ["selectorFails", "selectorFalse", "featureOff", "needsDriver", "constraintMissing"] },
  { name: "large enough", kinds: ["capacityNever", "counterNever", "constraintConflict"] },
  { name: "tolerated", kinds: ["tainted"] },
  { name: "free", kinds: ["otherGroup", "counterShort", "capacityShort", "inUse"] },
];

export interface FunnelStep {
  name: string;
  devices: number;
  /** Why devices did not come this far. */
  lost: { devices: number; text: string }[];
}

/** How many devices are left after each test of a request, from all that there are to those that can be used. */
export function funnel({ devices, otherDevices, reasons }: RequestExplanation): FunnelStep[] {
  let left = Number(devices);
  const other = Number(otherDevices);
  const ofClass = { name: "of the class", devices: left, lost: other === 0 ? [] : [{ devices: other, text: "are not of the class" }] };
  const steps: FunnelStep[] = [{ name: "offered", devices: left + other, lost: [] }, ofClass];
  for (const { name, kinds } of STEPS) {
    const lost = reasons.filter(({ kind }) => kinds.includes(kind)).map(({ devices, text }) => ({ devices: Number(devices), text }));
    left -= lost.reduce((sum, { devices }) => sum + devices, 0);
    // Where nothing is left, nothing is tested.
    if (steps.at(-1)?.devices === 0 && lost.length === 0) break;
    steps.push({ name, devices: left, lost: lost.sort((one, other) => other.devices - one.devices) });
  }
  return steps;
}

/** What a selector read, in words. */
export function readText({ name, present, devices, values, didYouMean }: RequestExplanation["reads"][number]): string {
  const each = values.map((one) => `${one.value} on ${one.devices}`).join(", ");
  const [has, all] = [Number(present), Number(devices)];
  const meant = didYouMean === undefined ? "" : `; did you mean \`${didYouMean}\`?`;
  if (has === 0) return `none of ${plural(all, "device")} has \`${name}\`${meant}`;
  return has < all ? `${has} of ${all} have \`${name}\`: ${each}${meant}` : `\`${name}\` is ${each}${meant}`;
}

/** One Pod or claim that came out otherwise. */
export interface Change {
  kind: "Pod" | "Claim";
  name: string;
  before: string;
  after: string;
}

/** What came out otherwise in a newer answer. */
export function changes(before: Report, after: Report): Change[] {
  const pods = differences(podStates(before), podStates(after), "Pod");
  return [...pods, ...differences(claimStates(before), claimStates(after), "Claim")];
}

function podStates({ pods }: Report): Map<string, string> {
  return new Map(pods.map(({ namespace, name, node }) => [`${namespace}/${name}`, node ?? "Pending"]));
}

function claimStates({ claims }: Report): Map<string, string> {
  return new Map(claims.map(({ namespace, name, devices, allocated }) => {
    const names = devices.map(({ pool, device }) => `${pool}/${device}`).join(", ");
    return [`${namespace}/${name}`, names === "" ? (allocated ? "allocated" : "not allocated") : names];
  }));
}

const ABSENT = "not there";

function differences(before: Map<string, string>, after: Map<string, string>, kind: Change["kind"]): Change[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].flatMap((name) => {
    const [was, is] = [before.get(name) ?? ABSENT, after.get(name) ?? ABSENT];
    return was === is ? [] : [{ kind, name, before: was, after: is }];
  });
}
