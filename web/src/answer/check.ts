// What the API server would answer to each manifest, and what only shows when they are seen together.

import { type Finding, type Json, type PlacedFinding, validate, validateSet } from "apportion";

import { isRecord, record } from "../foreign";
import { settingsOf } from "../protocol";
import type { Session } from "./session";

export function check(session: Session): PlacedFinding[] {
  const settings = settingsOf(session.question);
  const { manifests } = session;
  const numbered = manifests.documents.flatMap(({ object, isRefused }, number) => (isRefused ? [] : [{ object, number }]));
  const objects = numbered.map(({ number, object: { kind, namespace } }) => inNamespace(manifests.json(number), NAMESPACED.has(kind) && namespace === ""));
  const together = validateSet(objects, settings);
  const found = numbered.map(({ object }, index) => [
    ...validate({ object: objects[index] }, settings).map(about(object)),
    ...(together[index] ?? []).map(about(object)),
  ]);
  return session.placed(found.flat());
}

/** Kinds for which a namespace is filled in. */
const NAMESPACED = new Set(["Pod", "PodGroup", "ResourceClaim", "ResourceClaimTemplate", "Workload"]);

/** As kubectl sends an object: in the namespace `default` where none is written. */
function inNamespace(object: Json | undefined, isLacking: boolean): Json | undefined {
  if (!isLacking || !isRecord(object)) return object;
  return { ...object, metadata: { ...record(object.metadata), namespace: "default" } } as Json;
}

function about(object: NonNullable<Finding["object"]>): (finding: Finding) => Finding {
  return (finding) => ({ object, ...finding });
}
