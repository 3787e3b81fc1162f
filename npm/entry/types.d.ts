// The package as TypeScript sees it. Tests hold it against the JavaScript beside it and against what the module answers.

/**
 * An integer of up to 64 bits: a `number` where JavaScript can hold it exactly, a `bigint` beyond 2^53.
 */
export type Integer = number | bigint;

/** Any value that JSON can hold; integers beyond 2^53 are `bigint`. */
export type Json = null | boolean | Integer | string | Json[] | { [name: string]: Json };

/** Which object is meant. */
export interface ObjectRef {
  /** Kind, for instance `ResourceClaim`; empty when unknown. */
  kind: string;
  /** Namespace; empty for cluster-scoped kinds. */
  namespace: string;
  /** Name. */
  name: string;
}

/** How much a finding matters: not usable, usable but not as its author is likely to think, worth knowing. */
export type Severity = "error" | "warning" | "info";

/** The API server's own class of an error about a field. */
export type ErrorKind =
  | "required"
  | "invalid"
  | "notSupported"
  | "duplicate"
  | "tooMany"
  | "tooLong"
  | "forbidden"
  | "notFound"
  | "typeInvalid"
  | "internal";

/** A problem in the input. Findings are data: nothing throws because of what somebody wrote in a manifest. */
export interface Finding {
  /** Published code, for instance `read/unknown-field`; never renamed or reused. */
  code: string;
  severity: Severity;
  /** The API server's class of the error, where the finding is one that the API server gives. */
  kind?: ErrorKind;
  /** The object it is about, where there is one. */
  object?: ObjectRef;
  /** Field path in the API server's notation, for instance `spec.devices.requests[0].exactly.count`. */
  path?: string;
  /** What is wrong, in one line. */
  message: string;
  /** What to do about it. */
  hint?: string;
  /** The correction, where there is one that is certain. */
  fix?: Fix;
}

/**
 * The one certain correction of a finding, to be made at its path: another name of the field, another value, a move into the field of that
 * name beside it, or the field replaced by what is in it.
 */
export type Fix = { rename: string } | { set: unknown } | { nest: string } | "unnest";

/** A range of a JavaScript string: `text.slice(start, end)`. */
export interface Utf16Range {
  start: number;
  end: number;
}

/** Where a field stands in a text. */
export interface Place {
  /** Number of the document, from zero; absent where a text is no document. */
  document?: number;
  /** Line, from one. */
  line: number;
  /** Column in characters, from one. */
  column: number;
  /** What to underline: the value where it is short, else its key. */
  utf16Range: Utf16Range;
  /** False when the field itself is not there: then this is the place where it is missing. */
  isExact: boolean;
}

/** A finding together with its place. */
export interface PlacedFinding extends Finding {
  /** Where it is, when it belongs to the text. */
  place?: Place;
}

/** One document of a text. */
export interface ManifestDocument {
  /** The object that it says it is; parts that it does not name are empty. */
  object: ObjectRef;
  /** Its first line, from one. */
  line: number;
  utf16Range: Utf16Range;
  /** Whether `kubectl` refuses it; the engine then leaves it out. */
  isRefused: boolean;
}

/** Settings of an engine; all may be left out. */
export interface Settings {
  /** Whose rules hold; `all`, the default, is the newest version with every gate on. */
  version?: "1.34" | "1.35" | "1.36" | "1.37" | "all";
  /** Feature gates that differ from the version's defaults, by name. */
  featureGates?: Record<string, boolean>;
  /** The correct answer, or the version's own with its known defects. */
  mode?: "sound" | "reference";
  /** Search steps that one question may take: one step is one device tried for one request. */
  maxSteps?: Integer;
}

/** Identity of a device. A pool is known only together with its driver. */
export interface DeviceId {
  driver: string;
  pool: string;
  device: string;
}

/** "Allocate these claims together, on one of these nodes." */
export interface Question {
  /** Unallocated ResourceClaims of one Pod, in its order. They need not be in the cluster. */
  claims: unknown[];
  /** Candidate nodes in the order of trying; empty or left out for all nodes by name. */
  nodes?: string[];
  /** Devices that are taken beyond what the claims in the cluster say. */
  inUse?: {
    /** Devices taken as a whole. */
    devices?: DeviceId[];
    /** Shares of shared devices. */
    shares?: (DeviceId & { shareID: string })[];
    /** Capacity taken of shared devices: Kubernetes quantities by name. */
    consumed?: (DeviceId & { capacity: Record<string, string> })[];
  };
}

/** How many devices of a node survive each test of one request. */
export interface RequestFunnel {
  /** Name of the claim. */
  claim: string;
  /** `request` or `request/subrequest`. */
  request: string;
  /** Devices needed. */
  needed: Integer;
  /** Devices that the node has access to, in usable pools. */
  devices: Integer;
  /** Of these, devices that the class and the request's selectors accept. */
  matching: Integer;
  /** Of these, devices without taints that the request does not tolerate. */
  tolerated: Integer;
  /** Of these, devices that are free and have enough capacity and counters left. */
  free: Integer;
}

/** A refusal with a text of its own. */
export interface Failure {
  /** Code of the finding. */
  code: string;
  /** Message of the finding. */
  error: string;
  /** The reference implementation's words, for comparison. */
  reference: string;
  /** Whether it concerns one node only, so that other nodes are tried. */
  nodeLocal: boolean;
  finding: Finding;
}

/** Why a node was refused. */
export interface NodeRefusal {
  node: string;
  /** What each request found on the node, in the order of the claims and requests. */
  requests: RequestFunnel[];
  /** Set where the reference gives a reason of its own; otherwise the claims just do not fit. */
  failure?: Failure;
}

interface AnswerBase {
  /** Worth knowing beside the decision. */
  findings: Finding[];
  /** Search steps taken. */
  steps: Integer;
}

/** The claims fit. */
export interface Allocated extends AnswerBase {
  status: "allocated";
  node: string;
  /** For each claim, in the order of the question, what becomes its `status.allocation`. */
  allocations: { [field: string]: Json }[];
}

/** The claims fit on none of the nodes. */
export interface Unsatisfied extends AnswerBase {
  status: "none";
  /** One entry per node tried, in the order of trying. */
  nodes: NodeRefusal[];
}

/** The input is wrong: kube-scheduler gives up the Pod, other nodes are not tried. */
export interface Failed extends AnswerBase, Failure {
  status: "error";
  /** The node on which it was noticed. */
  node: string;
}

/** The step limit was reached before an answer was found. */
export interface GaveUp extends AnswerBase {
  status: "gave-up";
  /** The node that was being searched. */
  node: string;
  /** Nodes that were refused before. */
  nodes: NodeRefusal[];
}

/** The question itself cannot be read. */
export interface Unreadable {
  status: "unreadable";
  findings: Finding[];
}

/** The answer to a {@link Question}. */
export type Answer = Allocated | Unsatisfied | Failed | GaveUp | Unreadable;

/** A device of an allocated claim. */
export interface AllocatedDevice extends DeviceId {
  /** `request` or `request/subrequest`. */
  request: string;
  /** Whether it was taken with admin access. */
  adminAccess: boolean;
  /** Which share of a shared device this is. */
  shareId?: string;
  /** What the share uses up: quantities by name. */
  consumedCapacity?: Record<string, string>;
}

/** One node of a {@link Report}. */
export interface NodeReport {
  name: string;
  /** Whether no Node object was given and the name was taken from the slices. */
  inferred: boolean;
  /** Devices in pools of this node alone. */
  localDevices: number;
  /** Of these, devices that are allocated, as a whole or in part. */
  allocatedDevices: number;
  /** Pods on the node, as `namespace/name`. */
  pods: string[];
}

/** One entry of a Pod's `spec.resourceClaims`. */
export interface PodClaimReport {
  /** Name of the entry. */
  name: string;
  /** Name of the claim; absent where it could not be made or found. */
  claim?: string;
}

/** One Pod of a {@link Report}. */
export interface PodReport {
  namespace: string;
  name: string;
  /** The workload controller that made it, where there is one. */
  owner?: ObjectRef;
  /** The node it landed on; absent while it is Pending. */
  node?: string;
  /** Why it is Pending, most important first; empty when it has a node. */
  reasons: Finding[];
  /** Its claims in the order of `spec.resourceClaims`. */
  claims: PodClaimReport[];
}

/** One claim of a {@link Report}. */
export interface ClaimReport {
  namespace: string;
  name: string;
  /** The template that it was generated from, where there is one. */
  template?: string;
  /** Whether it has devices. */
  allocated: boolean;
  /** Its devices in the order of picking. */
  devices: AllocatedDevice[];
  /** Pods that may use it, as `namespace/name`. */
  reservedFor: string[];
}

/** What DRA did with the objects of a cluster. */
export interface Report {
  /** Nodes by name. */
  nodes: NodeReport[];
  /** Pods in the order in which they were scheduled. */
  pods: PodReport[];
  /** Claims by namespace and name. */
  claims: ClaimReport[];
  /** What is worth knowing about the run as a whole. */
  findings: Finding[];
}

/** What to explain, and how far. */
export interface ExplainRequest {
  /** A ResourceClaim, ResourceClaimTemplate, Pod or PodGroup; absent for all Pods and claims that are Pending. */
  subject?: ObjectRef;
  /** Nodes whose devices are listed with all their reasons; the claims are asked for on these nodes only. */
  nodes?: string[];
  /** Devices of this name only: `device`, `pool/device` or `driver/pool/device`. */
  device?: string;
  /** Whether to look for changes that help, and for the smallest contradiction. */
  suggestions?: boolean;
}

/** Why something is Pending. */
export interface Explanation {
  subject: ObjectRef;
  /** `placed` and `fits` mean that nothing is missing. */
  state: "placed" | "fits" | "blocked" | "noDevices" | "gaveUp";
  /** The node that it has, or on which it fits. */
  node?: string;
  /** The answer in one line. */
  headline: string;
  /** What is not about devices, the first thing that blocks first. */
  stage: Finding[];
  /** Nodes that there are. */
  nodes: Integer;
  /** Nodes on which devices were looked for. */
  suitableNodes: Integer;
  /** What each request finds in the cluster. */
  requests: RequestExplanation[];
  /** The node that comes nearest. */
  closest?: { name: string; found: Integer; needed: Integer; alike: Integer };
  /** Every device of the nodes asked for. */
  details?: NodeDetail[];
  /** What cannot hold together, where it is more than one thing. */
  conflict?: { kind: "request" | "selector" | "constraint" | "taints" | "allocations"; text: string }[];
  /** Changes that help, the smallest first. */
  suggestions?: Suggestion[];
}

/** Kinds of reasons against a device, the hardest to remove first. */
export type ReasonKind =
  | "notOfClass"
  | "poolOutdated"
  | "poolIncomplete"
  | "poolInvalid"
  | "noNode"
  | "otherNode"
  | "selectorFails"
  | "selectorFalse"
  | "featureOff"
  | "needsDriver"
  | "constraintMissing"
  | "capacityNever"
  | "counterNever"
  | "constraintConflict"
  | "tainted"
  | "otherGroup"
  | "counterShort"
  | "capacityShort"
  | "inUse";

/** One selector. */
export interface SelectorRef {
  /** Whether it is one of the class's, not of the request's. */
  ofClass: boolean;
  index: Integer;
  expression: string;
}

/** What one request, or one alternative, finds in the cluster. */
export interface RequestExplanation {
  claim: string;
  /** `request` or `request/subrequest`. */
  request: string;
  class: string;
  /** Devices needed on one node. */
  needed: Integer;
  isAll: boolean;
  /** Devices of the class, each counted once. */
  devices: Integer;
  /** Of these, devices that nothing keeps from the request on some node. */
  usable: Integer;
  /** The most usable devices that one node has. */
  best: Integer;
  otherDevices: Integer;
  /** The devices that are not usable, each under one reason. */
  reasons: { kind: ReasonKind; devices: Integer; alone: Integer; text: string; selector?: SelectorRef }[];
  /** What the selectors that are false read. */
  reads: { name: string; present: Integer; devices: Integer; values: [string, Integer][]; didYouMean?: string }[];
}

/** One node with its devices. */
export interface NodeDetail {
  name: string;
  /** Pools that cannot be used, and why. */
  pools: string[];
  requests: { claim: string; request: string; needed: Integer; usable: Integer; devices: DeviceDetail[] }[];
}

/** One device with all reasons against it; none for a candidate. */
export interface DeviceDetail {
  device: { driver: string; pool: string; device: string };
  reasons: Reason[];
}

/** One reason against a device. */
export interface Reason {
  kind: ReasonKind;
  text: string;
  selector?: SelectorRef;
  /** What the selector read, and what the device has for it. */
  values?: [string, string | null][];
  shortage?: { name: string; needs: string; left?: string };
  /** `key=value:effect`. */
  taint?: string;
  constraint?: Integer;
  other?: { driver: string; pool: string; device: string };
  holders?: { claim: string; consumers: string[]; priority?: Integer }[];
}

/** What is supposed, in this order. */
export interface Supposition {
  /** Objects that go. With a Node go its slices and Pods, with a Pod its claims and reservations. */
  without?: ObjectRef[];
  /** Objects that come, or replace those of the same name. */
  with?: Json[];
  taints?: TaintSpec[];
  /** Nodes that take no new Pods. */
  cordon?: string[];
  /** RFC 3339. */
  now?: string;
}

/** A taint for devices. */
export interface TaintSpec {
  /** `driver`, `driver/pool` or `driver/pool/device`; a part may be `*`. */
  devices: string;
  /** `key=value:effect` or `key:effect`. */
  taint: string;
}

/** What came out otherwise. */
export interface Difference {
  nodesAdded: string[];
  nodesRemoved: string[];
  devicesAdded: { driver: string; pool: string; device: string }[];
  devicesRemoved: { driver: string; pool: string; device: string }[];
  pods: { pod: string; before: PlaceOfPod; after: PlaceOfPod; why?: string }[];
  /** Devices as `driver/pool/device`; null where there is no such claim. */
  claims: { claim: string; before: string[] | null; after: string[] | null }[];
  evictions?: Eviction[];
}

/** Where a Pod is. */
export type PlaceOfPod = "absent" | "pending" | { node: string };

/** One Pod that has to go. */
export interface Eviction {
  pod: string;
  node: string;
  /** 0 for at once. */
  inSeconds: Integer;
  claims: string[];
}

/** How many more of a claim fit? */
export interface FitRequest {
  /** A ResourceClaimTemplate or an unallocated ResourceClaim. */
  subject: ObjectRef;
  per?: "node" | "pool" | "class";
}

/** So many surely fit, more surely do not; equal where it is known exactly. */
export interface Bounds {
  atLeast: Integer;
  atMost: Integer;
}

/** How many more of a claim fit. */
export interface Fit {
  total: Bounds;
  rows: { name: string; fits: Bounds }[];
  /** What is missing for one more, once so many are placed. */
  runsOut: string;
  /** The most devices of each class that one claim could still get on one node. */
  largest: [string, Integer][];
  /** Devices that match and are free, but left over once no more fit. */
  stranded: Integer;
  /** What counters and shared capacities have left in the pools that were filled. */
  remainders: {
    driver: string;
    pool: string;
    /** Counter set or device. */
    of: string;
    /** Counter or capacity. */
    name: string;
    left: string;
    total: string;
  }[];
  /** Devices in use by namespace. */
  namespaces: [string, Integer][];
}

/** What an expression comes to on one device. */
export interface ExpressionAnswer {
  device: { driver: string; pool: string; device: string };
  /** The whole, then its parts in the order of the text. */
  parts: {
    depth: Integer;
    text: string;
    resultType: string;
    value: string;
    isError: boolean;
    /** Whether it is what makes the whole false. */
    isCause: boolean;
  }[];
  reads: [string, string | null][];
  cost?: Integer;
  maxCost: Integer;
}

/** A cluster in one file, without secrets. */
export interface Snapshot {
  format: "apportion/snapshot/v1";
  settings: Settings;
  objects: Json[];
}

/** A change, or several that help only together. */
export interface Suggestion {
  text: string;
  changes: { kind: string; [name: string]: Json }[];
  /** A node on which the claims then fit. */
  node?: string;
  /** The changed objects, as they are to be written. */
  manifests?: Json[];
}

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

/** "Does this selector accept this device?" */
export interface SelectorQuestion {
  /** The CEL expression. */
  expression: string;
  /** The device, as in a ResourceSlice. */
  device: {
    driver: string;
    attributes?: Record<string, unknown>;
    capacity?: Record<string, unknown>;
    allowMultipleAllocations?: boolean;
  };
  /** Whether the expression is stored already, as for the scheduler, or new, as for the API server; `stored` if left out. */
  environment?: "stored" | "new";
  /** Whose rules hold; `1.36` if left out. */
  version?: NonNullable<Settings["version"]>;
  /** What the expression may use. */
  features?: { consumableCapacity?: boolean; listTypeAttributes?: boolean };
}

/** The answer to a {@link SelectorQuestion}. Costs are in Kubernetes' units. */
export type Evaluation =
  | { status: "match" | "noMatch"; actualCost: Integer; maxCost: Integer }
  | { status: "compileError"; error: string; line: number; column: number }
  | { status: "runtimeError"; error: string; actualCost?: Integer; maxCost: Integer }
  | Unreadable;

/** Where the module comes from, when not from beside the package: its address, its bytes, or itself. */
export type ModuleSource = string | URL | ArrayBuffer | Uint8Array | WebAssembly.Module;

/** Loads the module. Needed once before anything else in browsers and workers; in Node.js it has already happened. */
export function init(source?: ModuleSource): Promise<void>;

/** As {@link init}, at once. */
export function initSync(source: ArrayBuffer | Uint8Array | WebAssembly.Module): void;

/** The version of the package. */
export function version(): string;

/** Thrown when the settings of an engine cannot be used: that is the program's mistake, not its user's. */
export class SettingsError extends Error {
  constructor(findings: readonly Finding[]);
  /** What is wrong with them. */
  readonly findings: readonly Finding[];
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
  /** Takes all documents of a text in and returns all that is to be told about them, in the order of the text. */
  applyYaml(text: string | Manifests): PlacedFinding[];
  /** Removes an object. False when there is none. */
  delete(object: ObjectRef): boolean;
  /** An object as it is now, in the newest version of its API; undefined when there is none. */
  get(object: ObjectRef): Json | undefined;
  /** As {@link get}, as a JSON text. */
  getText(object: ObjectRef): string | undefined;
  /** Allocates claims together on one of the nodes asked for. The cluster is not changed. */
  allocate(question: Question): Answer;
  /** As {@link allocate}, JSON text in and JSON text out: the very bytes that every other shell answers. */
  allocateText(question: string): string;
  /**
   * Says why something is Pending, and what would help; of everything that is Pending where no subject is named. The cluster
   * is not changed. Throws a {@link SettingsError} when there is no such subject.
   */
  explain(request?: ExplainRequest): Explanation[];
  /** Says what would be if some things were changed. The cluster is not changed. */
  whatIf(supposition: Supposition): Difference;
  /** Says what a cluster of other objects does otherwise. */
  compare(objects: Iterable<Json>): Difference;
  /** Says how many more of a claim fit. */
  fit(request: FitRequest): Fit;
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
  /** An engine with the same facts, to try something out. */
  fork(): Engine;
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

/** One request to the API server. */
export interface Submission {
  /** The object as it is sent. */
  object: unknown;
  /** The object as it is stored; for updates. */
  oldObject?: unknown;
  /** What is done with it; `create` when left out. */
  operation?: "create" | "update" | "statusUpdate";
  /** Whether the object's namespace has the label that allows admin access; left out where that is not known. */
  adminNamespace?: boolean;
  /** Whether the user has the extra permissions that some changes of a claim's status need; true when left out. */
  authorized?: boolean;
}

/**
 * What the API server answers: findings with a `kind` are its errors, the others are ours.
 *
 * @throws {SettingsError} when a setting or the operation is not known.
 */
export function validate(submission: Submission, settings?: Settings): Finding[];

/**
 * What only shows when objects are seen together: references to what is not there, contradictions, who gains what.
 * Findings come per object, in order.
 *
 * @throws {SettingsError} when a setting is not known.
 */
export function validateSet(objects: Iterable<unknown>, settings?: Settings): Finding[][];

/** As {@link validate} (`{settings, submission}`) and {@link validateSet} (`{settings, objects}`), JSON text in and out. */
export function validateText(asked: string): string;

/**
 * The same object in another version of its API group, for instance `v1`.
 *
 * @throws {SettingsError} when there is no way to that version.
 */
export function convert(object: unknown, version: string): Json;

/** A program of the control plane. */
export type Component = "kube-apiserver" | "kube-controller-manager" | "kube-scheduler";

/** Identity of a device in a script; without a driver it is whichever has the pool and the device. */
export interface DevicePath {
  driver?: string;
  pool: string;
  device: string;
}

/** One thing that is done to a simulated cluster from outside. */
export type Command =
  | { create: unknown }
  | { update: unknown }
  | { updateStatus: unknown }
  | { patch: { object: ObjectRef; fields: unknown; status?: boolean } }
  | { delete: { object: ObjectRef; graceSeconds?: number | null } }
  | { finish: { pod: ObjectRef; succeeded: boolean } }
  | { taint: { device: DevicePath; taint: { key: string; effect: string; value?: string } } }
  | { untaint: { device: DevicePath; key: string } }
  | { removeNode: string }
  | { restart: { component?: Component | null; featureGates?: Record<string, boolean> } }
  | { toggle: { gate: string; enabled: boolean } }
  | { stop: Component }
  | { loseWriteAfter: number }
  | { disturbWriteAfter: number }
  | { lag: boolean };

/** A request that the API server does not carry out. */
export interface Refused {
  /** HTTP status. */
  status: number;
  reason: string;
  message: string;
}

/** What happened in a simulated cluster. */
export type Happening =
  | "requested"
  | "created"
  | "deleting"
  | "deleted"
  | "placed"
  | "pending"
  | "phase"
  | "recorded"
  | "allocated"
  | "deallocated"
  | "reserved"
  | "released"
  | "protected"
  | "unprotected"
  | "condition"
  | "taints"
  | "changed"
  | "event";

/** One thing that happened. */
export interface Moment {
  /** Milliseconds since the start. */
  atMillis: number;
  happened: Happening;
  object: ObjectRef;
  /** More about it, for people; may be empty. A node's name for `placed`. */
  detail: string;
}

/** A Kubernetes Event, and how often it was recorded. */
export interface RecordedEvent {
  event: {
    regarding: ObjectRef;
    uid: string;
    isWarning: boolean;
    reason: string;
    note: string;
    controller: string;
    action: string;
  };
  count: number;
}

/** A step of a script. */
export interface ScriptStep {
  /** Milliseconds after the start. */
  atMillis: number;
  command: Command;
  /** What it is done to; a namespace that is empty is the one that has such an object. */
  object: ObjectRef;
  /** The step in a few words. */
  says: string;
}

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
  /**
   * Completes what was taken in: nodes are inferred where none is given, workload controllers make their Pods. From now on the
   * timeline is kept and Pods with a node run.
   */
  begin(): Finding[];
  /**
   * Does one thing from outside; what it leads to happens when time is let pass. Undefined unless the API server refuses it.
   *
   * @throws {SettingsError} when the command cannot be understood.
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

/**
 * Reads a script, a list of steps such as `{ at: "30s", delete: "pod/x" }`.
 *
 * @throws {SettingsError} when a step cannot be understood.
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
 * @throws {SettingsError} when a setting is not known.
 */
export function inspect(objects: Iterable<unknown>, options?: InspectOptions): Finding[];
