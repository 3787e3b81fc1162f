// The documents that the program prints for other programs: what stands around the types of the core. `Integer` and `number` are integers,
// `Decimal` has a fraction.

/** What `apportion run -o json` prints: what DRA does with manifests. With `--until`, `--script`, `--events` or `--step` also what happens in time. */
export type RunDocument = {
  format: "apportion/v1",
  kind: "Run",
  /** The Kubernetes that answered. */
  kubernetes: Kubernetes,
  /** What was read. */
  input: Input,
  /** How things stand at the end. */
  report: Report,
  /** With `--scores`: the chosen node of each Pod that got one. */
  scores?: Array<PodScores>,
  /** The virtual time that passed. */
  simulation?: SimulatedTime,
  /** What happened, in order. */
  timeline?: Array<Moment>,
  /** Kubernetes Events, each with its number. */
  events?: Array<CountedEvent>,
  /** With `--step`: how things stand after each step of the script. */
  steps?: Array<StepReport>,
  /** Steps of the script that were refused. */
  refusedSteps?: Array<RefusedStep>,
  /** Steps of the script that come after the end. */
  stepsAfterEnd?: Array<LaterStep>,
};

/** What `apportion explain -o json` prints: why things are Pending. */
export type ExplainDocument = {
  format: "apportion/v1",
  kind: "Explanations",
  /** The Kubernetes that answered. */
  kubernetes: Kubernetes,
  /** What was read. */
  input: Input,
  /** One for each subject. */
  explanations: Array<Explanation>,
  /** With `--scores`: how nodes compared for the Pod. */
  scores?: Array<PodScores>,
};

/** What `apportion explain CODE -o json` prints: what codes mean. */
export type CodesDocument = {
  format: "apportion/v1",
  kind: "Codes",
  /** The codes. */
  codes: Array<CodeMeaning>,
};

/** What `apportion allocate -o json` prints: the devices for claims, or why there are none. */
export type AllocateDocument = {
  format: "apportion/v1",
  kind: "Allocation",
  /** The Kubernetes that answered. */
  kubernetes: Kubernetes,
  /** What was read. */
  input: Input,
  /** The decision. */
  answer: Decision,
};

/** What `apportion validate -o json` prints: what the API server answers to manifests. */
export type ValidateDocument = {
  format: "apportion/v1",
  kind: "Validation",
  /** The Kubernetes that answered. */
  kubernetes: Kubernetes,
  /** Files that were read. */
  files: Array<string>,
  /** What was found, by place. */
  findings: Array<Note>,
  /** What was found and is to be ignored. */
  ignored?: Array<IgnoredNote>,
  /** Objects that were read. */
  objects: Integer,
  /** Documents that could not be read. */
  refused: Integer,
};

/** What `apportion check -o json` prints: what is wrong in a dump. */
export type CheckDocument = {
  format: "apportion/v1",
  kind: "Check",
  /** The Kubernetes that answered. */
  kubernetes: Kubernetes,
  /** Files that were read. */
  files: Array<string>,
  /** What was found. */
  findings: Array<Note>,
  /** Objects that were read. */
  objects: Integer,
};

/** One line of `apportion check --watch -o json`. */
export type CheckWatchLine = {
  /** The revision of the cluster at which it was found. */
  revision: string,
  /** What was found. */
  finding: Note,
};

/** What `apportion what-if -o json` and `apportion diff -o json` print: what came out otherwise. */
export type WhatIfDocument = {
  format: "apportion/v1",
  kind: "Difference",
  /** The Kubernetes that answered. */
  kubernetes: Kubernetes,
  /** What was read. */
  input: Input,
  /** What is different. */
  difference: Difference,
};

/** What `apportion fit -o json` prints: how many more of a claim fit. */
export type FitDocument = {
  format: "apportion/v1",
  kind: "Fit",
  /** The Kubernetes that answered. */
  kubernetes: Kubernetes,
  /** What was read. */
  input: Input,
  /** How many fit, and what is left. */
  fit: Fit,
};

/** What `apportion fit -o json` prints where it is asked about nodes that do not exist yet. */
export type NodesNeededDocument = {
  format: "apportion/v1",
  kind: "NodesNeeded",
  /** The Kubernetes that answered. */
  kubernetes: Kubernetes,
  /** What was read. */
  input: Input,
  /** How many nodes make Pods fit. */
  nodesNeeded: NodesNeeded,
};

/** What `apportion usage -o json` prints: what is used, free and stranded. */
export type UsageDocument = {
  format: "apportion/v1",
  kind: "Usage",
  /** The Kubernetes that answered. */
  kubernetes: Kubernetes,
  /** What was read. */
  input: Input,
  /** How much of what. */
  usage: Usage,
};

/** What `apportion taint --preview -o json` prints: which Pods would be evicted. */
export type TaintDocument = {
  format: "apportion/v1",
  kind: "Evictions",
  /** The Kubernetes that answered. */
  kubernetes: Kubernetes,
  /** What was read. */
  input: Input,
  /** The Pods, by time. */
  evictions: Array<Eviction>,
};

/** What `apportion cel -o json` prints: what an expression comes to on devices. */
export type CelDocument = {
  format: "apportion/v1",
  kind: "Expression",
  /** The Kubernetes that answered. */
  kubernetes: Kubernetes,
  /** What was read. */
  input: Input,
  /** One for each device. */
  devices: Array<ExpressionAnswer>,
};

/** What `apportion plan -o json` prints: what the controller would write. */
export type PlanDocument = {
  format: "apportion/v1",
  kind: "Plan",
  /** The Kubernetes that answered. */
  kubernetes: Kubernetes,
  /** What was read. */
  input: Input,
  /** What would be written. */
  plan: Plan,
};

/** What `apportion crct status -o json` prints: how the copies of templates stand. */
export type CrctStatusDocument = {
  format: "apportion/v1",
  kind: "TemplateStatus",
  /** The Kubernetes that answered. */
  kubernetes: Kubernetes,
  /** What was read. */
  input: Input,
  /** One for each source of copies. */
  sources: Array<SourceStanding>,
};

/** What `apportion replay-trace -o json` prints: how a trace of Pods went. */
export type ReplayTraceDocument = {
  format: "apportion/v1",
  kind: "TraceReplay",
  /** The Kubernetes that answered. */
  kubernetes: Kubernetes,
  /** The trace in numbers. */
  summary: TraceSummary,
  /** How things stood in the course of time. */
  samples: Array<TraceSample>,
  /** The Pods of the trace. */
  pods: Array<TracePod>,
  /** Rows of the trace that were left out, and why. */
  problems: Array<string>,
};

/** One line of what `apportion batch` prints. */
export type BatchLine = {
  format: "apportion/batch/v1",
  /** Position of the line in the batch, from 0. */
  index: Integer,
  /** The line's `id`; null where it has none. */
  id: unknown,
  /** `failed` where the line, or one of its questions, has no answer. */
  status: "answered" | "failed",
  /** What became of the objects; absent where the line could not be read. */
  input?: BatchInput,
  /** One for each question; absent where the line could not be read. */
  answers?: Array<BatchAnswer>,
  /** Why the line could not be read. */
  findings?: Array<Finding>,
};

/** The Kubernetes that answered. */
export type Kubernetes = {
  /** A version, or `all` for the newest with all feature gates on. */
  version: string,
  /** Gates that differ from the version's defaults. */
  featureGates: { [name: string]: boolean },
  /** `reference` with the version's known defects, else `sound`; absent where it makes no difference. */
  mode?: Mode,
  /** Which of the nodes that fit Pods get. */
  placement?: Ranking,
};

/** What was read. */
export type Input = {
  /** Files by name. */
  files: Array<string>,
  /** Objects by kind. */
  objects: { [kind: string]: Integer },
  /** Objects without a part in allocation. */
  leftAside: Integer,
  /** Documents with an error; the answer is given without them. */
  refused: Integer,
  /** What was found in them. */
  findings: Array<Note>,
};

/** A finding with its place in a file. */
export type Note = {
  /** The code; `apportion explain CODE` says what it means. */
  code: string,
  /** How much it matters. */
  severity: Severity,
  /** What is wrong, in one line. */
  message: string,
  /** What to do about it. */
  hint?: string,
  /** The API server's class of the error. */
  kind?: ErrorKind,
  /** The object. */
  object?: ObjectRef,
  /** The field, as the API server writes paths. */
  path?: string,
  /** The file. */
  file?: string,
  /** The line, from 1. */
  line?: Integer,
  /** The column in characters, from 1. */
  column?: Integer,
};

/** A finding that is to be ignored. */
export type IgnoredNote = {
  /** Why, as it was given. */
  reason: string,
} & Note;

/** What a code means. */
export type CodeMeaning = {
  /** The code. */
  code: string,
  /** The severity that it has unless the place says otherwise. */
  severity: Severity,
  /** What it means, and what to do. */
  paragraph: string,
  /** What it is about; codes of one group with the same words belong together. */
  about: string,
  /** What to do. */
  wayOut: string,
  /** Where Kubernetes has the rule: a KEP, an address, or a file of its sources. */
  rule: string,
  /** When it is reported, where no example shows it. */
  occurs?: string,
  /** What shows it. */
  example?: CodeExample,
};

/** A command with a finding, and the change that takes it away. */
export type CodeExample = {
  /** The command, without the name of the program, in a folder with the files. */
  command: string,
  /** The files. */
  files: Array<CodeExampleFile>,
  /** The difference between the files and the corrected ones, as a unified diff; empty where the command changes. */
  change: string,
  /** The command that takes the finding away, where it is another. */
  commandAfter?: string,
};

/** A file of an example. */
export type CodeExampleFile = {
  /** Its name. */
  name: string,
  /** Its text, with the finding. */
  text: string,
  /** Its text after the change. */
  corrected: string,
};

/** The virtual time that passed. */
export type SimulatedTime = {
  /** Its start, as Kubernetes writes times. */
  start: string,
  /** Its length in milliseconds. */
  endMillis: Integer,
  /** How it ended. */
  settled: Settled,
};

/** An Event and how often it was sent. */
export type CountedEvent = {
  /** The Event. */
  event: EventRecord,
  /** How often. */
  count: Integer,
};

/** How things stand after a step. */
export type StepReport = {
  /** Milliseconds since the start. */
  atMillis: Integer,
  /** The step. */
  step: string,
  /** How things stand. */
  report: Report,
};

/** A step that was refused. */
export type RefusedStep = {
  /** Milliseconds since the start. */
  atMillis: Integer,
  /** The step. */
  step: string,
  /** Its place in the script, as `file:line`. */
  place: string,
  /** Why. */
  message: string,
};

/** A step that was not played. */
export type LaterStep = {
  /** Milliseconds since the start. */
  atMillis: Integer,
  /** The step. */
  step: string,
  /** Its place in the script, as `file:line`. */
  place: string,
};

/** What the controller would write. */
export type Plan = {
  /** Templates that would be written. */
  changes: Array<PlannedChange>,
  /** Bytes of all of them. */
  bytes: Integer,
  /** Statuses of sources, by name. */
  statuses: { [source: string]: unknown },
  /** System namespaces that a selector matches and that get no copy, by source. */
  skipped: { [source: string]: Array<string> },
  /** Events that would be sent. */
  events: Array<EventRecord>,
};

/** One template that would be written. */
export type PlannedChange = {
  /** What is done. */
  change: "create" | "replace" | "mark" | "delete",
  /** The template's namespace. */
  namespace: string,
  /** The template's name. */
  name: string,
  /** Bytes that are written. */
  bytes: Integer,
};

/** A trace in numbers. */
export type TraceSummary = {
  /** Nodes. */
  nodes: Integer,
  /** Thousandths of GPUs that the nodes have. */
  gpuMilli: Integer,
  /** Pods. */
  pods: Integer,
  /** Pods that got a place. */
  placed: Integer,
  /** Milliseconds from the start to the end. */
  endMillis: Integer,
  /** Pods that waited at the same time, at most. */
  mostWaiting: Integer,
  /** How long the Pods waited that got a place, in milliseconds. */
  waitMillis: TraceWaiting,
  /** GPU capacity in use, on average over the whole time. */
  gpuUsedPercent: Decimal,
  /** Free GPU capacity that the GPU Pods of the trace cannot use. */
  fragmentationPercent: TraceFragmentation,
};

/** How long Pods waited, in milliseconds. */
export type TraceWaiting = {
  /** On average. */
  mean: Integer,
  /** Half of the Pods waited no longer. */
  median: Integer,
  /** 95 of 100 Pods waited no longer. */
  p95: Integer,
  /** 99 of 100 Pods waited no longer. */
  p99: Integer,
  /** The longest time. */
  longest: Integer,
};

/** Fragmentation in percent. */
export type TraceFragmentation = {
  /** On average over the whole time. */
  mean: Decimal,
  /** At its worst. */
  worst: Decimal,
};

/** How things stood at one time. */
export type TraceSample = {
  /** Milliseconds since the start. */
  atMillis: Integer,
  /** Pods that run. */
  running: Integer,
  /** Pods that wait. */
  waiting: Integer,
  /** Thousandths of GPUs in use. */
  gpuMilliUsed: Integer,
  /** Free GPU capacity that the GPU Pods of the trace cannot use. */
  fragmentationPercent: Decimal,
};

/** One Pod of a trace. */
export type TracePod = {
  /** Its name. */
  name: string,
  /** Milliseconds from the start to its arrival. */
  arrivalMillis: Integer,
  /** Milliseconds that it waited, where it got a place. */
  waitMillis?: Integer,
  /** Its node, where it got a place. */
  node?: string,
  /** Why it got none. */
  reason?: string,
};

/** What became of the objects of a line. */
export type BatchInput = {
  /** Objects that were taken in. */
  objects: Integer,
  /** Objects without a part in allocation. */
  leftAside: Integer,
  /** Objects with an error; the answers are given without them. */
  refused: Integer,
  /** What was found in them: errors and warnings, as Finding. Before them comes what the line itself has as `findings`. */
  findings: Array<unknown>,
};

/** What one question came to. */
export type BatchAnswer = {
  /** The question. */
  ask: unknown,
  /** Its answer, as `--output json` of the command has it; absent where there is none. */
  answer?: unknown,
  /** Whether the answer is yes, where it is yes or no. */
  satisfied?: boolean,
  /** Why there is no answer. */
  findings?: Array<Finding>,
};
