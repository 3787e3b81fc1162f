// The package as TypeScript sees it. Tests hold it against the JavaScript beside it and against what the module answers.

import type {
  Command, Conclusion, ControllerSettings, ControllerTask, Decision, Difference, Eviction, ExplainRequest, Explanation, ExpressionAnswer, Finding, Fit, FitRequest, ManifestDocument, Moment,
  NodesNeeded, NodesNeededRequest, PodScores, ScoresRequest,
  KnownQuestion, ObjectRef, Place, PlacedFinding, Places, PreparedQuestion, Question, Reconciliation, RecordedEvent, Refused, Report, ScriptStep, SelectorQuestion, Settings, Snapshot,
  SourceStanding, Submission, Supposition, TaintSpec, Unreadable, Usage, Verdict,
} from "./decisions.d.ts";

// What is asked and answered is declared from the types that read and write it; here is what JavaScript adds.
export type * from "./decisions.d.ts";

/**
 * An integer of up to 64 bits: a `number` where JavaScript can hold it exactly, a `bigint` beyond 2^53.
 */
export type Integer = number | bigint;

/** Any value that JSON can hold; integers beyond 2^53 are `bigint`. */
export type Json = null | boolean | Integer | string | Json[] | { [name: string]: Json };

/** The answer to a {@link Question}. */
export type Answer = Decision | Unreadable;

/** On which nodes the claims of a {@link Question} fit. */
export type PlacesAnswer = Places | Unreadable;

/** The answer to a {@link SelectorQuestion}. */
export type Evaluation = Verdict | Unreadable;

/** A field of an object, or the object where there is no path. */
export interface Field {
  object: ObjectRef;
  /** Field path in the API server's notation. */
  path?: string | undefined;
}

/** One question about one cluster. */
export interface Asked {
  settings?: Settings;
  /** Objects of the cluster, as values. What is wrong with them is not told: ask an {@link Engine} for that. */
  objects?: unknown[];
  question: Question;
}

/** What a call changed in a cluster. */
export interface Change {
  /** Objects that were given or deleted; none where any may be another: after a run, a commit or a revert. */
  objects?: ObjectRef[];
}

/** Where the module comes from, when not from beside the package: its address, its bytes, or itself. */
export type ModuleSource = string | URL | ArrayBuffer | Uint8Array | WebAssembly.Module;

/** Loads the module. Needed once before anything else in browsers and workers; in Node.js it has already happened. */
export function init(source?: ModuleSource): Promise<void>;

/** As {@link init}, at once. */
export function initSync(source: ArrayBuffer | Uint8Array | WebAssembly.Module): void;

/** The version of the package. */
export function version(): string;

/** Thrown when a call cannot be understood, or names what is not there: that is the program's mistake, not its user's. */
export class RequestError extends Error {
  constructor(findings: readonly Finding[]);
  /** What is wrong with the call. */
  readonly findings: readonly Finding[];
}

/** The same for settings that do not exist. */
export class SettingsError extends RequestError {}

/** Thrown by {@link Engine.commit} when the engine has changed since it was forked. */
export class ChangedError extends Error {
  constructor();
}

/**
 * Thrown by a call that makes the module stop: a defect of ours, or a lack of memory. The next call makes the module anew, and what
 * lived in it: {@link Engine}, {@link Manifests} and {@link Controller} with the objects that they were given, without
 * what `run()` made of them and what was remembered beside them. A {@link Simulation} has ended.
 */
export class StoppedError extends Error {
  constructor(message: string, cause?: unknown);
}

/**
 * The facts of one cluster, and the questions about them. Facts go in, questions are answered; the same calls give the
 * same answers everywhere.
 *
 * Holds memory of the module until `free()` is called or the garbage collector comes by. Where the platform has
 * `Symbol.dispose`, `using` works too.
 */
export class Engine {
  /** An engine over an empty cluster. @throws {@link SettingsError} */
  constructor(settings?: Settings);
  /**
   * Takes objects in, given as values or as JSON texts; those with the same key are replaced. An object with an error
   * among its findings is left out. Returns the findings of each object.
   */
  apply(objects: Iterable<unknown>): Finding[][];
  /**
   * Has the API server of the stated Kubernetes admit objects: as `apply`, but what it refuses is left out, fields that it drops are gone,
   * and defaults are set.
   */
  submit(objects: Iterable<unknown>): Finding[][];
  /** Submits all documents of a text and returns all that is to be told about them, in the order of the text. */
  applyYaml(text: string | Manifests): PlacedFinding[];
  /** Removes an object. False when there is none. */
  delete(object: ObjectRef): boolean;
  /** An object as it is now, in the newest version of its API; undefined when there is none. */
  get(object: ObjectRef): Json | undefined;
  /** As {@link get}, as a JSON text. */
  getText(object: ObjectRef): string | undefined;
  /** Allocates claims together on one of the nodes asked for. The cluster is not changed. */
  allocate(question: Question | PreparedQuestion): Answer;
  /** Answers several questions in one call, each as {@link allocate}: none takes devices from another. */
  allocateAll(questions: Iterable<Question | PreparedQuestion>): Answer[];
  /** As {@link allocate} or {@link allocateAll}, JSON text in and JSON text out: the very bytes that every other shell answers. */
  allocateText(question: string): string;
  /** On which nodes the claims fit, one bit per node, without devices and reasons. Much cheaper than many refusals with reasons. */
  fits(question: Question | PreparedQuestion): PlacesAnswer;
  /** Answers several questions in one call, each as {@link fits}. */
  fitsAll(questions: Iterable<Question | PreparedQuestion>): PlacesAnswer[];
  /** As {@link fits} or {@link fitsAll}, JSON text in and JSON text out. */
  fitsText(question: string): string;
  /**
   * Allocates claims of one Pod that are in the cluster, by their names. With `take`, they have the allocations of the answer from then on.
   *
   * @throws {RequestError} when the question cannot be read, or a name is that of no claim.
   */
  allocateKnown(question: KnownQuestion): Answer;
  /**
   * The same for claims that are not one Pod's: each by itself, one after another, the later ones without the devices that earlier ones took
   * where answers are taken. An answer per claim, until one finds no place; after that none is asked.
   *
   * @throws {RequestError} as {@link allocateKnown}; then none is asked at all.
   */
  allocateEach(question: KnownQuestion): Answer[];
  /**
   * Reads a question once that is asked often. What comes back stands for it, here and in forks made later, as it is or with other
   * `nodes` and `inUse`: `engine.fits({ ...prepared, nodes })`.
   *
   * @throws {RequestError} when it cannot be read.
   */
  prepare(question: Question): PreparedQuestion;
  /** Drops a question that was prepared. False when there is none. */
  forget(question: PreparedQuestion): boolean;
  /**
   * Says why something is Pending, and what would help; of everything that is Pending where no subject is named. The cluster
   * is not changed. Throws a {@link RequestError} when there is no such subject.
   */
  explain(request?: ExplainRequest): Explanation[];
  /** Says what would be if some things were changed. The cluster is not changed. */
  whatIf(supposition: Supposition): Difference;
  /** Says what a cluster of other objects does otherwise. */
  compare(objects: Iterable<Json>): Difference;
  /** Says how many devices, counters and capacities are used, free and stranded. */
  usage(): Usage;
  /** Says how many more of a claim fit. */
  fit(request: FitRequest): Fit;
  /** Says how many nodes that do not exist yet make Pods fit. */
  nodesNeeded(request: NodesNeededRequest): NodesNeeded;
  /** Says how nodes compare for Pods when kube-scheduler's scores decide: for those named, or for all that get a node. */
  scores(request?: ScoresRequest): PodScores[];
  /** Says who would be evicted if devices got some taints, at a time in RFC 3339. */
  evictions(taints: TaintSpec[], now: string): Eviction[];
  /** Evaluates an expression on the devices of a name, on all without one. */
  expression(expression: string, device?: string): ExpressionAnswer[];
  /** The cluster in one file, without secrets. */
  snapshot(options?: {
    /** Whether nodes, pools, namespaces and namespaced objects get other names. */
    anonymize?: boolean;
  }): Snapshot;
  /** Plays the cluster's controllers and scheduler until nothing changes. The cluster then holds what they made. */
  run(): Report;
  /** As {@link run}, as a JSON text. */
  runText(): string;
  /**
   * An engine with the same facts, to try something out. It costs the same for any cluster, and shares with this one what neither of
   * them changes. {@link commit} keeps it, {@link revert} starts over, {@link free} drops it.
   */
  fork(): Engine;
  /**
   * Has the engine of which this is a fork become what the fork is. The fork is freed by it. The same object applied again and the
   * deletion of nothing are no change; a run is one. Prepared questions stay those of each.
   *
   * @throws {ChangedError} when the engine has changed since the fork was made.
   */
  commit(): void;
  /** Goes back to what this fork was when it was made. Prepared questions stay. */
  revert(): void;
  /**
   * Has a function called after each call that changed the cluster, until the function that comes back is called. The same object
   * applied again is no change.
   */
  onChange(listener: (change: Change) => void): () => void;
  /** Gives the memory back. The engine cannot be used afterwards. */
  free(): void;
}

/** Answers one question about one cluster. */
export function allocate(asked: Asked): Answer;

/** As {@link allocate}, JSON text in and JSON text out. */
export function allocateText(asked: string): string;

/** Evaluates one CEL selector for one device. */
export function evaluate(question: SelectorQuestion): Evaluation;

/** As {@link evaluate}, JSON text in and JSON text out. */
export function evaluateText(question: string): string;

/**
 * A text of YAML or JSON documents, read as `kubectl` reads it, with the place of every field. What cannot be read is
 * a problem; the other documents are there all the same.
 *
 * Holds memory of the module until `free()` is called or the garbage collector comes by.
 */
export class Manifests {
  constructor(text: string);
  /** The documents, lists taken apart, in the order of the text. */
  readonly documents: readonly ManifestDocument[];
  /** What the reader has to tell, in the order of the text. */
  readonly problems: readonly PlacedFinding[];
  /** A document as the JSON that `kubectl` makes of it; undefined when there is no such document. */
  json(document: number): Json | undefined;
  /** As {@link json}, as a text. */
  jsonText(document: number): string | undefined;
  /** Where a field stands, or the nearest field above it; undefined when the object is not in the text. */
  locate(object: ObjectRef, path?: string): Place | undefined;
  /** As {@link locate} for many fields: the text is gone through once. */
  locateAll(fields: readonly Field[]): (Place | undefined)[];
  /**
   * The text with these objects in the place of the documents that they are; new ones follow at its end. Comments stay where the
   * layout allows it. Undefined when the text cannot be changed like that.
   */
  rewrite(objects: Iterable<Json>): string | undefined;
  /** The text with the correction of a finding made; undefined when it has none, or none that the text allows. */
  correct(finding: PlacedFinding): string | undefined;
  /** Gives the memory back. The object cannot be used afterwards. */
  free(): void;
}

/** Reads a text of YAML or JSON documents. */
export function readYaml(text: string): Manifests;

/**
 * What the API server answers: findings with a `kind` are its errors, the others are ours.
 *
 * @throws {RequestError} when a setting or the operation is not known.
 */
export function validate(submission: Submission, settings?: Settings): Finding[];

/**
 * What only shows when objects are seen together: references to what is not there, contradictions, who gains what.
 * Findings come per object, in order.
 *
 * @throws {RequestError} when a setting is not known.
 */
export function validateSet(objects: Iterable<unknown>, settings?: Settings): Finding[][];

/** As {@link validate} (`{settings, submission}`) and {@link validateSet} (`{settings, objects}`), JSON text in and out. */
export function validateText(asked: string): string;

/**
 * The same object in another version of its API group, for instance `v1`.
 *
 * @throws {RequestError} when there is no way to that version.
 */
export function convert(object: unknown, version: string): Json;

/** How a simulation begins. */
export interface SimulationOptions {
  settings?: Settings;
  /** When it starts, in milliseconds since 1970. */
  nowMillis?: number;
  /** Without a time: it starts when these objects may, so that nothing in them lies in the future. */
  objects?: Iterable<unknown>;
}

/**
 * A simulated cluster in virtual time: controllers and a scheduler around an API server's rules for writing. The same calls give
 * the same history.
 *
 * Holds memory of the module until `free()` is called or the garbage collector comes by.
 */
export class Simulation {
  /** @throws {SettingsError} when a setting is not known. */
  constructor(options?: SimulationOptions);
  /** Takes objects in as they are; no rule of the API server is applied. Findings come per object, in order. */
  apply(objects: Iterable<unknown>): Finding[][];
  /** Has the API server admit objects; what it refuses is left out. Findings come per object, in order. */
  submit(objects: Iterable<unknown>): Finding[][];
  /**
   * Completes what was taken in: nodes are inferred where none is given, workload controllers make their Pods. From now on the
   * timeline is kept and Pods with a node run.
   */
  begin(): Finding[];
  /**
   * Does one thing from outside; what it leads to happens when time is let pass. Undefined unless the API server refuses it.
   *
   * @throws {RequestError} when the command cannot be understood.
   */
  perform(command: Command): Refused | undefined;
  /** Notes what is done from outside, for the timeline. */
  tell(object: ObjectRef, detail: string): void;
  /** Lets time pass; `restless` when components write without end. */
  runUntil(untilMillis: number): "quiet" | "restless";
  /** Lets one component do one thing that is due now. False when there is none. */
  step(): boolean;
  /** The time, in milliseconds since 1970. */
  readonly nowMillis: number;
  /** What happened since {@link begin}, from a position on. */
  timeline(start?: number): Moment[];
  /** Nodes, Pods and claims as they stand, and why Pods have no node. */
  report(): Report;
  /** An object as stored. */
  get(object: ObjectRef): Json | undefined;
  /** All objects of a kind, by namespace and name. */
  objects(kind: string): Json[];
  /** Events recorded so far. */
  events(): RecordedEvent[];
  /** Any call by name, JSON text in and JSON text out. */
  callText(name: string, argument: string): string;
  /** A simulation with the same past, to try something out. */
  fork(): Simulation;
  /** Gives the memory back. The object cannot be used afterwards. */
  free(): void;
}

/** What a controller is for, and by which rules. */
export interface ControllerOptions extends ControllerSettings {
  settings?: Settings;
}

/**
 * A controller of a real cluster: its program watches the API server, hands every event in, asks what is due, asks for a
 * decision about each such thing, carries it out, and says what became of it. Nothing is written here. A controller that is made
 * anew and given all objects goes on where the old one was.
 *
 * Holds memory of the module until `free()` is called or the garbage collector comes by.
 */
export class Controller {
  /** A controller that knows of no object. @throws {@link SettingsError} */
  constructor(options: ControllerOptions);
  /** Takes objects in as they are now. Findings come per object, in order; one that cannot be read is left out. */
  apply(objects: Iterable<unknown>): Finding[][];
  /** Takes out an object that is gone. False when there is none. */
  delete(object: ObjectRef): boolean;
  /** What is to be looked at because of what happened since this was asked last. */
  due(): ControllerTask[];
  /** What is to happen about one thing, at a time in milliseconds since 1970. */
  reconcile(object: ObjectRef, nowMillis: number): Reconciliation;
  /** Says what became of the latest decision about one thing. */
  conclude(object: ObjectRef, conclusion: Conclusion): void;
  /** How all sources of copies stand; none for parts other than `template-sync`. */
  standings(): SourceStanding[];
  /** Any call by name, JSON text in and JSON text out. */
  callText(name: string, argument: string): string;
  /** A controller that knows the same, to try something out. */
  fork(): Controller;
  /** Gives the memory back. The controller cannot be used afterwards. */
  free(): void;
}

/**
 * Reads a script, a list of steps such as `{ at: "30s", delete: "pod/x" }`.
 *
 * @throws {RequestError} when a step cannot be understood.
 */
export function readScript(script: unknown): ScriptStep[];

/** How a dump is looked at. */
export interface InspectOptions {
  settings?: Settings;
  /** The time of the dump; left out for the latest that its objects speak of. */
  nowMillis?: number;
}

/**
 * What is wrong with objects as they are in a cluster, each with the next step that is safe, as the hint.
 *
 * @throws {RequestError} when a setting is not known.
 */
export function inspect(objects: Iterable<unknown>, options?: InspectOptions): Finding[];

/** An event of a watch of the API server. `LISTED` has a list of one kind as its object: all that there are now. */
export interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "LISTED";
  object: unknown;
}

/**
 * What happens in a cluster, held to laws: each device, share and counter is held once, no Pod loses devices that it uses, no
 * template goes that template-sync did not make.
 *
 * Holds memory of the module until `free()` is called or the garbage collector comes by.
 */
export class History {
  /** Nothing has happened yet. @throws {@link SettingsError} when a setting is not known. */
  constructor(settings?: Settings);
  /** Takes in events in the order of their revisions. Findings come per event, in order: which laws it breaks. */
  note(events: Iterable<WatchEvent>): Finding[][];
  /** Gives the memory back. The history cannot be used afterwards. */
  free(): void;
}
