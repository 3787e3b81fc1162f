// What the API server would answer to each manifest, and what only shows when they are seen together.

import { type Finding, type PlacedFinding, validate, validateSet } from "apportion";

import { settingsOf } from "../protocol";
import type { Session } from "./session";

export function check(session: Session): PlacedFinding[] {
  const settings = settingsOf(session.question);
  const { manifests } = session;
  const numbered = manifests.documents.flatMap(({ object, isRefused }, number) => (isRefused ? [] : [{ object, number }]));
  const objects = numbered.map(({ number }) => manifests.json(number));
  const together = validateSet(objects, settings);
  const found = numbered.map(({ object }, index) => [
    ...validate({ object: objects[index] }, settings).map(about(object)),
    ...(together[index] ?? []).map(about(object)),
  ]);
  return session.placed(found.flat());
}

function about(object: NonNullable<Finding["object"]>): (finding: Finding) => Finding {
  return (finding) => ({ object, ...finding });
}
