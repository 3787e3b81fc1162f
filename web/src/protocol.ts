// What the page and its worker say to each other. Messages are foreign until they are read.

import type { Difference, Explanation, ExpressionAnswer, Finding, Fit, FitRequest, Json, Moment, ObjectRef, Place, PlacedFinding, PodScores, Report, Settings, Snapshot, Utf16Range } from "apportion";

import { difference } from "./files";
import { isRecord } from "./foreign";
import type { Order } from "./model/hardware";
import type { Inventory } from "./model/inventory";
import type { Deed } from "./model/suppose";

export const VERSIONS = ["all", "1.38", "1.37", "1.36", "1.35", "1.34"] as const;
export type Version = (typeof VERSIONS)[number];

/** The cluster that is asked about. */
export interface Question {
  /** All files as one text. */
  text: string;
  version: Version;
  /** Gates that differ from the version's defaults. */
  gates: Readonly<Record<string, boolean>>;
}

/** What can be asked, each with what it needs. */
export interface Asks {
  /** What DRA does with the cluster. */
  run: { question: Question };
  /** What the API server and a reviewer would say to the manifests. */
  check: { question: Question };
  /** Why things are Pending; for one subject with the devices of the nodes named. */
  why: { question: Question; subject?: ObjectRef; nodes?: string[] };
  /** Why one of them is, in one sentence. */
  headline: { question: Question; subject: ObjectRef };
  /** What the cluster comes to with other manifests in the place of their own. */
  attempt: { question: Question; manifests: Json[] };
  /** The text with a finding's correction. */
  correct: { question: Question; finding: PlacedFinding };
  /** What happens in time. */
  life: { question: Question; script: string; untilMillis: number };
  /** What an expression comes to. */
  cel: { question: Question; expression: string; device: string };
  /** Devices that a class selects. */
  members: { question: Question; deviceClass: string };
  /** Manifests of hardware, made from an inventory. */
  hardware: { question: Question; inventory: string; order: Order };
  /** How many more of a claim fit. */
  fit: { question: Question; request: FitRequest };
  /** How nodes compare for a Pod that gets one. */
  scores: { question: Question; pod: ObjectRef };
  /** What would be if some things were done. */
  whatIf: { question: Question; deeds: readonly Deed[] };
  /** What a cluster of other manifests does otherwise. */
  compare: { question: Question; other: string };
  /** What each Kubernetes does with the cluster. */
  versions: { question: Question };
  /** The cluster in one file. */
  snapshot: { question: Question };
}

export type AskKind = keyof Asks;

/** What comes back. */
export interface Answers {
  run: Result;
  check: PlacedFinding[];
  why: Explanation[];
  headline: Explanation[];
  attempt: Attempt;
  correct: { text?: string };
  life: Life;
  cel: CelAnswer;
  members: string[];
  /** Hardware as manifests. */
  hardware: { text: string };
  fit: Asked<Fit>;
  scores: Asked<PodScores[]>;
  whatIf: Asked<Compared>;
  compare: Compared;
  versions: VersionAnswer;
  snapshot: Snapshot;
}

/** The answer to an inquiry, or why it cannot be asked. */
export type Asked<Answer> = { answer: Answer; refused?: undefined } | { answer?: undefined; refused: readonly Finding[] };

/** The other side of a comparison. */
export interface Compared {
  difference: Difference;
  inventory: Inventory;
  report: Report;
}

/** What each Kubernetes makes of the cluster. */
export interface VersionAnswer {
  columns: { version: Version; pods: number; placed: number; claims: number; allocated: number }[];
  /** What is not the same everywhere, with its state in each of the columns. */
  rows: { name: string; states: string[] }[];
}

export interface Result {
  report: Report;
  /** Problems of the text and of the objects in it, in the order of the text, then what the run has to tell. */
  findings: PlacedFinding[];
  /** For each Pod of the report, where it comes from: itself or the workload that made it. */
  places: (Place | undefined)[];
  /** For each Pod of the report, its reasons with their places. */
  reasons: PlacedFinding[][];
  documents: DocumentEntry[];
}

/** One object of the text. */
export interface DocumentEntry {
  object: ObjectRef;
  line: number;
  utf16Range: Utf16Range;
}

export interface Attempt {
  /** The changed text; absent where it cannot be changed in its place. */
  text?: string;
  /** Documents of the changed text. */
  documents: Utf16Range[];
  report: Report;
}

/** How things stand at one time. */
export interface Stage {
  atMillis: number;
  report: Report;
  /** Pools and nodes, where they are others than at the stage before. */
  hardware?: Hardware;
}

export type Hardware = Pick<Inventory, "pools" | "nodes">;

/** A life in virtual time. */
export interface Life {
  /** Nothing, when the script cannot be read. */
  moments: Moment[];
  /** How things stood after each instant at which something happened, and at the start. */
  stages: Stage[];
  /** Steps of the script, and what the API server said to those that it refused. */
  steps: { atMillis: number; says: string; refused?: string }[];
  endMillis: number;
  isRestless: boolean;
  /** What is wrong with the script. */
  findings: Finding[];
}

export type CelAnswer = { status: "evaluated"; answers: ExpressionAnswer[] } | { status: "refused"; message: string };

/** What of the text is another one than at the message before: `[start, end)` became `insert`. The first one changes an empty text. */
export interface TextEdit {
  start: number;
  end: number;
  insert: string;
}

/** An ask with what has changed in the place of the text. */
export type Sent<Ask extends { question: Question }> = Omit<Ask, "question"> & { question: Omit<Question, "text"> & { edit: TextEdit } };

export type ToWorker = { [Kind in AskKind]: { id: number; kind: Kind; ask: Sent<Asks[Kind]> } }[AskKind];

/** An ask as it was before it was sent. */
export type Received = { [Kind in AskKind]: { id: number; kind: Kind; ask: Asks[Kind] } }[AskKind];

/** What is sent of an ask to a worker that knows a text. */
export function sent<Ask extends { question: Question }>(ask: Ask, known: string): Sent<Ask> {
  const { text, ...rest } = ask.question;
  const { start, beforeEnd, afterEnd } = text === known ? { start: 0, beforeEnd: 0, afterEnd: 0 } : difference(known, text);
  return { ...ask, question: { ...rest, edit: { start, end: beforeEnd, insert: text.slice(start, afterEnd) } } };
}

/** The ask behind a message, for a worker that knows a text. */
export function received({ id, kind, ask }: ToWorker, known: string): Received {
  const { edit, ...rest } = ask.question;
  const text = edit.start === edit.end && edit.insert === "" ? known : known.slice(0, edit.start) + edit.insert + known.slice(edit.end);
  return { id, kind, ask: { ...ask, question: { ...rest, text } } } as Received;
}

/** A result, without its report where the page has that already. */
export type Told = Omit<Result, "report"> & { report?: Report };

/** What is sent of a result to a page that has a report. */
export function told(result: Result, known: Report | undefined): Told {
  const { report, ...rest } = result;
  return report === known ? rest : result;
}

/** The result behind a message, for a page that has a report; what is none stays what it is. */
export function heard(answer: unknown, known: Report | undefined): unknown {
  return isRecord(answer) && answer.report === undefined ? { ...answer, report: known } : answer;
}

export type FromWorker =
  /** How much of the module is there, from 0 to 1. */
  | { kind: "loading"; share: number }
  /** The module is there: from now on only an answer takes time. */
  | { kind: "ready" }
  | { kind: "done"; id: number; answer: unknown }
  /** What the manifests hold, before anything is decided; nothing is said where that is as it was. */
  | { kind: "read"; id: number; inventory: Inventory }
  | { kind: "failed"; id: number; message: string };

export function settingsOf({ version, gates }: Question): Settings {
  return { version, featureGates: { ...gates } };
}

export function isVersion(value: unknown): value is Version {
  return VERSIONS.some((version) => version === value);
}

/** What a member of an ask must look like. */
const SHAPES: Record<AskKind, Record<string, (value: unknown) => boolean>> = {
  run: {},
  check: {},
  why: { subject: (value) => value === undefined || isRecord(value), nodes: (value) => value === undefined || Array.isArray(value) },
  headline: { subject: isRecord },
  attempt: { manifests: Array.isArray },
  correct: { finding: isRecord },
  life: { script: isText, untilMillis: Number.isSafeInteger },
  cel: { expression: isText, device: isText },
  members: { deviceClass: isText },
  hardware: { inventory: isText, order: isRecord },
  fit: { request: isRecord },
  scores: { pod: isRecord },
  whatIf: { deeds: Array.isArray },
  compare: { other: isText },
  versions: {},
  snapshot: {},
};

/** Reads a message of the page; undefined when it is none. What is in its lists is the package's to judge. */
export function readToWorker(data: unknown): ToWorker | undefined {
  if (!isRecord(data) || typeof data.id !== "number" || typeof data.kind !== "string" || !isRecord(data.ask)) return undefined;
  if (!Object.hasOwn(SHAPES, data.kind) || !isQuestion(data.ask.question)) return undefined;
  const { ask } = data;
  const shape = SHAPES[data.kind as AskKind];
  if (!Object.entries(shape).every(([name, fits]) => fits(ask[name]))) return undefined;
  return data as unknown as ToWorker;
}

/** Reads a message of the worker; undefined when it is none. What an answer holds is read by whoever asked. */
export function readFromWorker(data: unknown): FromWorker | undefined {
  if (!isRecord(data)) return undefined;
  if (data.kind === "ready") return { kind: "ready" };
  if (data.kind === "loading") return typeof data.share === "number" ? { kind: "loading", share: data.share } : undefined;
  if (typeof data.id !== "number") return undefined;
  const { id } = data;
  switch (data.kind) {
    case "failed":
      return typeof data.message === "string" ? { kind: "failed", id, message: data.message } : undefined;
    case "read":
      return isRecord(data.inventory) ? { kind: "read", id, inventory: data.inventory as unknown as Inventory } : undefined;
    case "done":
      return { kind: "done", id, answer: data.answer };
    default:
      return undefined;
  }
}

/** Reads the answer to an ask; undefined when it is none. The lists are looked at, what is in them is trusted. */
export function readAnswer<Kind extends AskKind>(kind: Kind, answer: unknown): Answers[Kind] | undefined {
  return LOOKS[kind](answer) ? (answer as Answers[Kind]) : undefined;
}

const LOOKS: Record<AskKind, (answer: unknown) => boolean> = {
  run: (answer) =>
    isRecord(answer) && isReport(answer.report) && areLists(answer, ["findings", "places", "reasons", "documents"]),
  check: Array.isArray,
  why: Array.isArray,
  headline: Array.isArray,
  attempt: (answer) => isRecord(answer) && isReport(answer.report) && Array.isArray(answer.documents),
  correct: isRecord,
  life: (answer) => isRecord(answer) && areLists(answer, ["moments", "stages", "steps", "findings"]),
  cel: (answer) => isRecord(answer) && (answer.status === "refused" || Array.isArray(answer.answers)),
  members: Array.isArray,
  hardware: (answer) => isRecord(answer) && isText(answer.text),
  fit: isRecord,
  scores: isRecord,
  whatIf: isRecord,
  compare: (answer) => isRecord(answer) && isRecord(answer.difference) && isReport(answer.report),
  versions: (answer) => isRecord(answer) && areLists(answer, ["columns", "rows"]),
  snapshot: isRecord,
};

function isReport(value: unknown): boolean {
  return isRecord(value) && areLists(value, ["nodes", "pods", "claims", "findings"]);
}

function areLists(value: Record<string, unknown>, names: readonly string[]): boolean {
  return names.every((name) => Array.isArray(value[name]));
}

function isQuestion(value: unknown): boolean {
  return (
    isRecord(value) && isEdit(value.edit) && isVersion(value.version) && isRecord(value.gates) &&
    Object.values(value.gates).every((gate) => typeof gate === "boolean")
  );
}

function isEdit(value: unknown): value is TextEdit {
  return isRecord(value) && Number.isSafeInteger(value.start) && Number.isSafeInteger(value.end) && isText(value.insert);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
