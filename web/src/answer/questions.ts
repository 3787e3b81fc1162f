// The inquiries of the command line, each answered for the manifests as they are: `fit`, `what-if`, `diff`.

import { type Json, RequestError } from "apportion";

import { type Deed, inventoryAfter, reportAfter, suppositionOf } from "../model/suppose";
import { changes } from "../model/why";
import { type Asked, type Compared, VERSIONS, type Version, type VersionAnswer } from "../protocol";
import { Session } from "./session";

/** What an inquiry answers, or why it cannot be asked. */
export function asked<Answer>(inquire: () => Answer): Asked<Answer> {
  try {
    return { answer: inquire() };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { refused: error.findings };
  }
}

/** What a cluster of other manifests does otherwise. */
export function compare(session: Session, other: string): Compared {
  const after = new Session({ ...session.question, text: other });
  try {
    const difference = session.submitted().compare(after.stored().map(({ value }) => value as Json));
    return { difference, inventory: after.inventory(), report: after.report() };
  } finally {
    after.free();
  }
}

/** What each Kubernetes makes of the cluster; only what is not the same in all of them. */
export function versions({ question, reading }: Session): VersionAnswer {
  const reports = VERSIONS.map((version): [Version, ReturnType<Session["report"]>] => {
    const session = new Session({ ...question, version }, reading);
    try {
      return [version, session.report()];
    } finally {
      session.free(false);
    }
  });
  const first = reports[0]?.[1];
  const differing = new Set(reports.flatMap(([, report]) => (first === undefined ? [] : changes(first, report).map(({ kind, name }) => `${kind} ${name}`))));
  const columns = reports.map(([version, { pods, claims }]) => ({
    version,
    pods: pods.length,
    placed: pods.filter(({ node }) => node !== undefined).length,
    claims: claims.length,
    allocated: claims.filter(({ allocated }) => allocated).length,
  }));
  const states = reports.map(([, { pods, claims }]) => new Map([
    ...pods.map(({ namespace, name, node, reasons }): [string, string] => [`Pod ${namespace}/${name}`, node ?? `Pending: ${reasons[0]?.message ?? ""}`]),
    ...claims.map(({ namespace, name, devices }): [string, string] => [
      `Claim ${namespace}/${name}`, devices.length === 0 ? "no device" : devices.map(({ pool, device }) => `${pool}/${device}`).join(", "),
    ]),
  ]));
  return { columns, rows: [...differing].map((name) => ({ name, states: states.map((state) => state.get(name) ?? "not there") })) };
}

/** What would be if some things were done, now. */
export function whatIf(session: Session, deeds: readonly Deed[]): Compared {
  const now = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  const inventory = session.inventory();
  const difference = session.submitted().whatIf(suppositionOf(deeds, session.stored(), inventory, now));
  return { difference, inventory: inventoryAfter(inventory, deeds), report: reportAfter(session.report(), difference) };
}
