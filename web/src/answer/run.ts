// What DRA does with the cluster: report and findings with their lines.

import type { Result } from "../protocol";
import { NO_OBJECT, type Session } from "./session";

export function run(session: Session): Result {
  const { reading } = session;
  const read = session.readFindings();
  const report = session.report();
  const own = reading.locateAll(report.pods.map(({ namespace, name }) => ({ object: { kind: "Pod", namespace, name } })));
  const owners = reading.locateAll(report.pods.map(({ owner }) => ({ object: owner ?? NO_OBJECT })));
  const reasons = session.placed(report.pods.flatMap((pod) => pod.reasons));
  let next = 0;
  return {
    report,
    findings: [...read, ...session.placed(report.findings)],
    places: report.pods.map((_, index) => own[index] ?? owners[index]),
    reasons: report.pods.map((pod) => reasons.slice(next, (next += pod.reasons.length))),
    documents: reading.documents.map(({ object, line, utf16Range }) => ({ object, line, utf16Range })),
  };
}
