// What the page and its worker say to each other. Messages are foreign until they are read.

import type { Place, PlacedFinding, Report, Settings } from "apportion";

export const VERSIONS = ["all", "1.37", "1.36", "1.35", "1.34"] as const;
export type Version = (typeof VERSIONS)[number];

/** What is asked. */
export interface Question {
  text: string;
  version: Version;
}

/** What comes back. */
export interface Result {
  report: Report;
  /** Problems of the text and of the objects in it, in the order of the text, then what the run has to tell. */
  findings: PlacedFinding[];
  /** For each Pod of the report, where it comes from: itself or the workload that made it. */
  places: (Place | undefined)[];
  /** For each Pod of the report, its reasons with their places. */
  reasons: PlacedFinding[][];
}

export type ToWorker = { kind: "ask"; id: number; question: Question };

export type FromWorker =
  | { kind: "done"; id: number; result: Result }
  | { kind: "failed"; id: number; message: string };

export function settingsOf(question: Question): Settings {
  return { version: question.version };
}

export function isVersion(value: unknown): value is Version {
  return VERSIONS.some((version) => version === value);
}

/** Reads a message of the page; undefined when it is none. */
export function readToWorker(data: unknown): ToWorker | undefined {
  if (!isRecord(data) || data.kind !== "ask" || typeof data.id !== "number" || !isRecord(data.question)) return undefined;
  const { text, version } = data.question;
  if (typeof text !== "string" || !isVersion(version)) return undefined;
  return { kind: "ask", id: data.id, question: { text, version } };
}

/** Reads a message of the worker; undefined when it is none. The lists are looked at, what is in them is trusted. */
export function readFromWorker(data: unknown): FromWorker | undefined {
  if (!isRecord(data) || typeof data.id !== "number") return undefined;
  if (data.kind === "failed" && typeof data.message === "string") {
    return { kind: "failed", id: data.id, message: data.message };
  }
  if (data.kind !== "done" || !isRecord(data.result)) return undefined;
  const { report, findings, places, reasons } = data.result;
  if (!isRecord(report) || ![findings, places, reasons, report.nodes, report.pods, report.claims].every(Array.isArray)) {
    return undefined;
  }
  return { kind: "done", id: data.id, result: data.result as unknown as Result };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
