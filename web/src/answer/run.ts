// What DRA does with the cluster: report and findings with their lines.

import type { Result } from "../protocol";
import { NO_OBJECT, type Session } from "./session";

export function run(session: Session): Result {
  const { manifests } = session;
  const read = session.readFindings();
  const report = session.report();
  const own = manifests.locateAll(report.pods.map(({ namespace, name }) => ({ object: { kind: "Pod", namespace, name } })));
  const owners = manifests.locateAll(report.pods.map(({ owner }) => ({ object: owner ?? NO_OBJECT })));
  const reasons = session.placed(report.pods.flatMap((pod) => pod.reasons));
  let next = 0;
  return {
    report,
    findings: [...read, ...session.placed(report.findings)],
    places: report.pods.map((_, index) => own[index] ?? owners[index]),
    reasons: report.pods.map((pod) => reasons.slice(next, (next += pod.reasons.length))),
    documents: manifests.documents.map(({ object, line, utf16Range }) => ({ object, line, utf16Range })),
  };
}
