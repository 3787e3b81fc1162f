// The report as rows of tables.

import type { AllocatedDevice, ClaimReport, NodeReport, Place, PlacedFinding, Severity } from "apportion";

import type { Result } from "../protocol";
import { plural } from "../words";
import { anonymous } from "./likeness";

export interface ClaimCell {
  /** Name of the Pod's entry; empty for a claim without a Pod. */
  entry: string;
  /** Name of the claim; absent where it was not made or not found. */
  claim?: string | undefined;
  template?: string | undefined;
  devices: AllocatedDevice[];
}

export interface PodRow {
  key: string;
  namespace: string;
  name: string;
  /** `Deployment inference`; absent for a Pod that was written as such. */
  owner?: string | undefined;
  /** Absent while the Pod is Pending. */
  node?: string | undefined;
  claims: ClaimCell[];
  reasons: PlacedFinding[];
  place?: Place | undefined;
}

export function podRows({ report, places, reasons }: Result): PodRow[] {
  const claims = new Map(report.claims.map((claim) => [`${claim.namespace}/${claim.name}`, claim]));
  return report.pods.map((pod, index) => ({
    key: `${pod.namespace}/${pod.name}`,
    namespace: pod.namespace,
    name: pod.name,
    owner: pod.owner && `${pod.owner.kind} ${pod.owner.name}`,
    node: pod.node,
    claims: pod.claims.map(({ name, claim }) => ({
      entry: name,
      ...cell(claim === undefined ? undefined : claims.get(`${pod.namespace}/${claim}`)),
      claim,
    })),
    reasons: reasons[index] ?? [],
    place: places[index],
  }));
}

/** Of Pods that wait for the same reasons at the same places of the text, the first by the key of each of the others. */
export function sameReasons(rows: readonly PodRow[]): ReadonlyMap<string, PodRow> {
  const firsts = new Map<string, PodRow>();
  const same = new Map<string, PodRow>();
  for (const row of rows) {
    if (row.reasons.length === 0) continue;
    const said = row.reasons.map(({ code, message, hint, place }) => [code, message, hint, place?.utf16Range.start]);
    const key = anonymous(JSON.stringify([row.namespace, said]), row.name, row.claims.flatMap(({ claim }) => claim ?? []));
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, row);
    else same.set(row.key, first);
  }
  return same;
}

/** Claims that no Pod of the report names. */
export function claimsWithoutPod({ report }: Result): ClaimReport[] {
  const named = new Set(report.pods.flatMap((pod) => pod.claims.map(({ claim }) => `${pod.namespace}/${claim}`)));
  return report.claims.filter((claim) => !named.has(`${claim.namespace}/${claim.name}`));
}

function cell(claim: ClaimReport | undefined): Pick<ClaimCell, "template" | "devices"> {
  return { template: claim?.template, devices: claim?.devices ?? [] };
}

/** `gpu-0`, behind its pool where that is not named like the node. */
export function deviceName({ pool, device }: AllocatedDevice, node: string | undefined): string {
  return pool === node ? device : `${pool}/${device}`;
}

/** `40Gi memory, 2 lanes`. */
export function capacityText(device: AllocatedDevice): string {
  const amounts = Object.entries(device.consumedCapacity ?? {});
  return amounts.map(([name, amount]) => `${amount} ${name}`).join(", ");
}

/** What is read out and shown above the tables. */
export function summary({ report }: Result, findings: readonly PlacedFinding[]): string {
  const pending = report.pods.filter(({ node }) => node === undefined).length;
  const allocated = report.claims.filter((claim) => claim.allocated).length;
  const parts = [
    `${report.pods.length - pending} of ${plural(report.pods.length, "Pod")} placed`,
    `${allocated} of ${plural(report.claims.length, "claim")} allocated`,
    plural(report.nodes.length, "node"),
  ];
  for (const severity of ["error", "warning"] as const) {
    const count = countOf(findings, severity);
    if (count > 0) parts.push(plural(count, severity));
  }
  return parts.join(", ");
}

export function countOf(findings: readonly PlacedFinding[], severity: Severity): number {
  return findings.filter((finding) => finding.severity === severity).length;
}

/** Taken and all devices of a node. */
export function usage({ allocatedDevices, localDevices }: NodeReport): string {
  return `${allocatedDevices} of ${localDevices}`;
}
