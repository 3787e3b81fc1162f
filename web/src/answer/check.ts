// What the API server would answer to each manifest, and what only shows when they are seen together.

import { type Finding, type Json, type PlacedFinding, type Settings, validate, validateSet } from "apportion";

import { isRecord, record } from "../foreign";
import { settingsOf } from "../protocol";
import type { Part } from "./reading";
import type { Session } from "./session";

export function check(session: Session): PlacedFinding[] {
  const settings = settingsOf(session.question);
  const { parts } = session.reading;
  const sent = parts.map(({ stored }) => stored.map(({ object: { kind, namespace }, value }) => inNamespace(value as Json, NAMESPACED.has(kind) && namespace === "")));
  const each = parts.flatMap((part, index) => checked(part, sent[index] ?? [], settings));
  const together = validateSet(sent.flat(), settings);
  const found = session.stored().map(({ object }, index) => [...(each[index] ?? []), ...(together[index] ?? [])].map(about(object)));
  return session.placed(found.flat());
}

/** What is found in each object of a part by itself: that stays while the part does. */
function checked(part: Part, objects: readonly (Json | undefined)[], settings: Settings): readonly (readonly Finding[])[] {
  const key = JSON.stringify(settings);
  if (part.checked?.settings !== key) part.checked = { settings: key, findings: objects.map((object) => validate({ object }, settings)) };
  return part.checked.findings;
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
