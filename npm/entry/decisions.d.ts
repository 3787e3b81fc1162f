// Made from the types of the core and of this package; do not edit. `APPORTION_RECORD=1 cargo test -p apportion-npm typescript` makes it anew.

import type { Integer, Json } from "./types.d.ts";

/** Which object a finding is about. */
export type ObjectRef = {
  /** Kind, for instance `ResourceClaim`; empty when unknown. */
  kind: string,
  /** Namespace; empty for cluster-scoped kinds. */
  namespace: string,
  /** Name. */
  name: string,
};

/** How much a finding matters. */
export type Severity = "error" | "warning" | "info";

/**
 * The API server's own class of an error about a field.
 *
 * Source: apimachinery `pkg/util/validation/field/errors.go`.
 */
export type ErrorKind = "required" | "invalid" | "notSupported" | "duplicate" | "tooMany" | "tooLong" | "forbidden" | "notFound" | "typeInvalid" | "internal";

/** The one certain correction of a finding, to be made at its path. */
export type Fix = {
  "rename": string
} | {
  "set": unknown
} | {
  "nest": string
} | "unnest";

/** A problem in the input. */
export type Finding = {
  /** What kind of problem; published, never renamed or reused. */
  code: string,
  /** How much it matters. */
  severity: Severity,
  /** The API server's class of the error, where the finding is one that the API server of the stated version gives. */
  kind?: ErrorKind,
  /** The object it is about, where there is one. */
  object?: ObjectRef,
  /** Field path in the API server's notation, for instance `spec.devices.requests[0].exactly.count`; may be empty. */
  path?: string,
  /** What is wrong: one line, lower case, no full stop, the user's words in backticks. */
  message: string,
  /** What to do about it. */
  hint?: string,
  /** The correction, where there is one that is certain. */
  fix?: Fix,
};

/** A Kubernetes minor version, or the newest one with everything on. */
export type Version = "1.34" | "1.35" | "1.36" | "1.37" | "1.38" | "all";

/** Whether known defects of the stated version are reproduced. */
export type Mode = "sound" | "reference";

/** Which node a Pod gets, of those that fit. */
export type Ranking = "first" | "scores";

/** Settings of an engine; all may be left out. */
export type Settings = {
  /** Whose rules hold: `1.36` its newest patch, `1.36.2` that one, `1.38` a preview, `all`, the default, the newest release with every gate on. */
  version?: Version | `${
    Exclude<Version, "all">
  }.${
    number
  }`,
  /** Feature gates that differ from the version's defaults, by name. */
  featureGates?: {
    [key in string]: boolean
  },
  /** Components that are of another version or have other gates, by the names of their programs; for simulations. */
  components?: {
    [key in string]: Build
  },
  /** The correct answer, or the version's own with its known defects. */
  mode?: Mode,
  /** Which node a Pod gets, of those that fit: the one that kube-scheduler scores best (the default), or the first by name. */
  placement?: Ranking,
  /** Search steps that one question may take: one step is one device tried for one request. */
  maxSteps?: Integer,
};

/** "Allocate these claims together, on one of these nodes." */
export type Question = {
  /** Unallocated ResourceClaims of one Pod, in its order. They need not be in the cluster. */
  claims: Array<unknown>,
  /** Candidate nodes in the order of trying; empty or left out for all nodes by name. */
  nodes?: Array<string>,
  /** What is taken beyond what the claims in the cluster say. */
  inUse?: InUse,
};

/** A question that was prepared, about the same nodes or others. */
export type PreparedQuestion = {
  /** Its number. */
  prepared: number,
  /** Candidate nodes in the order of trying; those of the question where they are left out. */
  nodes?: Array<string>,
  /** What is taken beyond what the claims in the cluster say; what the question says where it is left out. */
  inUse?: InUse,
};

/** "Allocate these claims of the cluster." */
export type KnownQuestion = {
  /** Names of the claims, in the order of the question. A claim that has devices is to get others; those that it has are in use meanwhile. */
  claims: Array<ClaimNames>,
  /** Candidate nodes in the order of trying; empty or left out for all nodes by name. */
  nodes?: Array<string>,
  /** What is taken beyond what the claims in the cluster say. */
  inUse?: InUse,
  /** Whether the cluster's claims are to have the allocations of the answer from then on. */
  take?: boolean,
};

/** Names of claims in one namespace. */
export type ClaimNames = {
  /** Namespace; `default` where it is left out. */
  namespace?: string,
  /** Names, in the order of the question. */
  names: Array<string>,
};

/** What is taken beyond what the claims in the cluster say. */
export type InUse = {
  /** Devices taken as a whole. */
  devices?: Array<DeviceInUse>,
  /** Shares of shared devices. */
  shares?: Array<DeviceInUse>,
  /** Capacity taken of shared devices. */
  consumed?: Array<DeviceInUse>,
};

/** A device that is taken. */
export type DeviceInUse = {
  /** Driver. */
  driver: string,
  /** Pool of the driver. */
  pool: string,
  /** Device of the pool. */
  device: string,
  /** Of a share: which one it is. */
  shareID?: string,
  /** Of capacity: Kubernetes quantities by name. */
  capacity?: {
    [name: string]: string
  },
};

/** On which of a question's nodes the claims fit. */
export type Places = {
  "status": "known"
} & KnownPlaces | {
  "status": "error"
} & PlacesFailed | {
  "status": "gave-up"
} & PlacesGaveUp;

/** It is known on which nodes the claims fit. */
export type KnownPlaces = {
  /** For each candidate in the order of trying: `1` where the claims fit, `0` where they do not. */
  bits: string,
  /** Search steps taken, over all nodes. */
  steps: Integer,
};

/** The input is wrong. */
export type PlacesFailed = {
  /** The node on which it was noticed. */
  node: string,
  /** Search steps taken, over all nodes. */
  steps: Integer,
  /** Code of the finding. */
  code: string,
  /** Message of the finding. */
  error: string,
  /** The finding. */
  finding: Finding,
  /** Whether it concerns one node only, so that other nodes are tried. */
  nodeLocal: boolean,
  /** The reference implementation's words, for comparison. */
  reference: string,
};

/** The step limit was reached. */
export type PlacesGaveUp = {
  /** The node that was being searched. */
  node: string,
  /** As far as it is known, the nodes before that one. */
  bits: string,
  /** Search steps taken, over all nodes. */
  steps: Integer,
};

/** The answer to a question that could be read. */
export type Decision = Allocated | Unsatisfied | Failed | GaveUp;

/** The claims fit. */
export type Allocated = {
  /** For each claim, in the order of the question, what becomes its `status.allocation`. */
  allocations: Array<{
    [field: string]: Json
  }>,
  /** Worth knowing beside the decision. */
  findings: Array<Finding>,
  /** The node. */
  node: string,
  /** Tells it from other answers. */
  status: "allocated",
  /** Search steps taken. */
  steps: Integer,
};

/** The claims fit on none of the nodes. */
export type Unsatisfied = {
  /** Worth knowing beside the decision. */
  findings: Array<Finding>,
  /** One entry per node tried, in the order of trying. */
  nodes: Array<NodeRefusal>,
  /** Tells it from other answers. */
  status: "none",
  /** Search steps taken. */
  steps: Integer,
};

/** The input is wrong: kube-scheduler gives up the Pod, other nodes are not tried. */
export type Failed = {
  /** The node on which it was noticed. */
  node: string,
  /** Worth knowing beside the decision. */
  findings: Array<Finding>,
  /** Tells it from other answers. */
  status: "error",
  /** Search steps taken. */
  steps: Integer,
  /** Code of the finding. */
  code: string,
  /** Message of the finding. */
  error: string,
  /** The finding. */
  finding: Finding,
  /** Whether it concerns one node only, so that other nodes are tried. */
  nodeLocal: boolean,
  /** The reference implementation's words, for comparison. */
  reference: string,
};

/** The step limit was reached before an answer was found. */
export type GaveUp = {
  /** Worth knowing beside the decision. */
  findings: Array<Finding>,
  /** The node that was being searched. */
  node: string,
  /** Nodes that were refused before. */
  nodes: Array<NodeRefusal>,
  /** Tells it from other answers. */
  status: "gave-up",
  /** Search steps taken. */
  steps: Integer,
};

/** Why a node was refused. */
export type NodeRefusal = {
  /** Set where the reference gives a reason of its own; otherwise the claims just do not fit. */
  failure?: Failure,
  /** The node. */
  node: string,
  /** What each request found on the node, in the order of the claims and requests. */
  requests: Array<RequestFunnel>,
};

/** A refusal with a text of its own. */
export type Failure = {
  /** Code of the finding. */
  code: string,
  /** Message of the finding. */
  error: string,
  /** The finding. */
  finding: Finding,
  /** Whether it concerns one node only, so that other nodes are tried. */
  nodeLocal: boolean,
  /** The reference implementation's words, for comparison. */
  reference: string,
};

/** "Does this selector accept this device?" */
export type SelectorQuestion = {
  /** The CEL expression. */
  expression: string,
  /** Whether the expression is stored already, as for the scheduler, or new, as for the API server; `stored` if left out. */
  environment?: Stage,
  /** Whose rules hold; `1.36` if left out. */
  version?: Version,
  /** What the expression may use. */
  features?: SelectorFeatures,
  /** The device, as in a ResourceSlice, with its driver. */
  device: {
    driver: string; [field: string]: unknown
  },
};

/** Whether an expression is stored already, as for the scheduler, or new, as for the API server. */
export type Stage = "stored" | "new";

/** What an expression may use. */
export type SelectorFeatures = {
  /** Feature `DRAConsumableCapacity`: `device.allowMultipleAllocations`. */
  consumableCapacity?: boolean,
  /** Feature `DRAListTypeAttributes`: lists as attributes, `includes`. */
  listTypeAttributes?: boolean,
};

/** What became of an expression. */
export type Verdict = {
  "status": "match"
} & Costs | {
  "status": "noMatch"
} & Costs | {
  "status": "compileError",
  /** Why. */
  error: string,
  /** Line, from 1 on; 0 if it has no place. */
  line: number,
  /** Column in code points, from 1 on; 0 if it has no place. */
  column: number,
} | {
  "status": "runtimeError",
  /** Why. */
  error: string,
  /** What it cost; absent where it did not start. */
  actualCost?: Integer,
  /** The estimate of the most it can cost. */
  maxCost?: Integer,
};

/** What an evaluation costs, in Kubernetes' units. */
export type Costs = {
  /** What it cost; absent where it did not start. */
  actualCost?: Integer,
  /** The estimate of the most it can cost. */
  maxCost?: Integer,
};

/** One request to the API server. */
export type Submission = {
  /** The object as it is sent. */
  object: unknown,
  /** The object as it is stored; for updates. */
  oldObject?: unknown,
  /** What is done with it; `create` when left out. */
  operation?: Operation,
  /** Whether the object's namespace has the label that allows admin access; left out where that is not known. */
  adminNamespace?: boolean,
  /** Whether the user has the extra permissions that some changes of a claim's status need; true when left out. */
  authorized?: boolean,
};

/** What is done with an object. */
export type Operation = "create" | "update" | "statusUpdate";

/** A cluster in one file, without secrets. */
export type Snapshot = {
  /** The format. */
  format: "apportion/snapshot/v1",
  /** Settings of the engine that answered. */
  settings: Settings,
  /** The objects. */
  objects: Array<Json>,
};

/** Identity of a device. A pool is known only together with its driver. */
export type DeviceId = {
  /** Driver. */
  driver: string,
  /** Pool of the driver. */
  pool: string,
  /** Device of the pool. */
  device: string,
};

/** How many devices of a node survive each test of one request. */
export type RequestFunnel = {
  /** Name of the claim. */
  claim: string,
  /** `request` or `request/subrequest`. */
  request: string,
  /** Devices needed. */
  needed: Integer,
  /** Devices that the node has access to, in usable pools. */
  devices: Integer,
  /** Of these, devices that the class and the request's selectors accept. */
  matching: Integer,
  /** Of these, devices that could serve the request if nobody used them: features, constraints' attributes, capacity and counters suffice. */
  able: Integer,
  /** Of these, devices without taints that the request does not tolerate. */
  tolerated: Integer,
  /** Of these, devices that are not in use and have enough capacity and counters left. */
  free: Integer,
  /**
   * Devices that match and cannot serve the request, by reason; those that claims have as a whole are only not `free`. Devices in pools
   * that cannot be used are not among `devices`.
   */
  unable: Array<Unable>,
};

/** Devices that match and cannot serve a request. */
export type Unable = {
  /** The kind of reason. */
  why: Inability,
  /** The rest of it, to be read behind the kind: the pool, the gate, the amounts. */
  detail: string,
  /** Devices with this reason and none that comes before it. */
  devices: Integer,
};

/** Why a device that matches cannot serve a request. The reasons that are hardest to remove come first. */
export type Inability = "poolIncomplete" | "poolInvalid" | "featureOff" | "needsDriver" | "constraintMissing" | "capacityNever" | "counterNever" | "otherGroup" | "counterShort" | "capacityShort";

/** What DRA did with the objects of a cluster. */
export type Report = {
  /** Nodes by name. */
  nodes: Array<NodeReport>,
  /** Pods in the order in which they were scheduled: by priority, then in the order of the input. */
  pods: Array<PodReport>,
  /** Claims by namespace and name. */
  claims: Array<ClaimReport>,
  /** What is worth knowing about the run as a whole: inferred nodes, replicas left out, objects left aside. */
  findings: Array<Finding>,
};

/** One node. */
export type NodeReport = {
  /** Name. */
  name: string,
  /** Whether no Node object was given and the name was taken from the slices. */
  inferred: boolean,
  /** Devices in pools of this node alone. */
  localDevices: number,
  /** Of these, devices that are allocated, as a whole or in part. */
  allocatedDevices: number,
  /** Pods on the node, as `namespace/name`. */
  pods: Array<string>,
};

/** One Pod. */
export type PodReport = {
  /** Namespace. */
  namespace: string,
  /** Name. */
  name: string,
  /** The workload controller that made it, where there is one. */
  owner?: ObjectRef,
  /** The node it landed on; absent while it is Pending. */
  node?: string,
  /** Why it is Pending, most important first. With a node: what keeps it from running there, mostly nothing. */
  reasons: Array<Finding>,
  /**
   * Its claims in the order of `spec.resourceClaims`; last the one for extended resources that devices serve, as
   * `<extended-resources>`.
   */
  claims: Array<PodClaimReport>,
};

/** One entry of a Pod's `spec.resourceClaims`. */
export type PodClaimReport = {
  /** Name of the entry. */
  name: string,
  /** Name of the claim; absent where it could not be made or found. */
  claim?: string,
};

/** One claim. */
export type ClaimReport = {
  /** Namespace. */
  namespace: string,
  /** Name. */
  name: string,
  /** The template that it was generated from, where there is one. */
  template?: string,
  /** Whether it has devices. */
  allocated: boolean,
  /** Its devices in the order of picking. */
  devices: Array<AllocatedDevice>,
  /** Pods that may use it, as `namespace/name`. */
  reservedFor: Array<string>,
};

/** One device of a claim. */
export type AllocatedDevice = {
  /** `request` or `request/subrequest`. */
  request: string,
  /** Driver of the device. */
  driver: string,
  /** Pool of the device. */
  pool: string,
  /** Name of the device. */
  device: string,
  /** Whether it was taken with admin access. */
  adminAccess: boolean,
  /** Which share of a shared device this is. */
  shareId?: string,
  /** What the share uses up, by capacity name, as canonical quantities. */
  consumedCapacity?: {
    [key in string]: string
  },
};

/** What to explain, and how far. */
export type ExplainRequest = {
  /** A ResourceClaim, ResourceClaimTemplate, Pod or PodGroup; absent for all Pods and claims that are Pending. */
  subject?: ObjectRef,
  /** Nodes whose devices are listed with all their reasons; the claims are asked for on these nodes only. */
  nodes?: Array<string>,
  /**
   * Devices of this name only are listed: `device`, `pool/device` or `driver/pool/device`; on the nodes above, else on every
   * node that has access.
   */
  device?: string,
  /** Whether to look for changes that help, and for the smallest contradiction. */
  suggestions?: boolean,
};

/** Why something is Pending. */
export type Explanation = {
  /** What is explained. */
  subject: ObjectRef,
  /** What became of it. */
  state: ExplanationState,
  /** The node that it has, or on which it fits. */
  node?: string,
  /**
   * The answer for somebody who does not know how devices are allocated: what is asked for, what is there, by how much it misses.
   * Absent where the headline says no more.
   */
  plain?: string,
  /** The answer in one line. */
  headline: string,
  /** What is not about single devices, the first thing that blocks first; and what else keeps nodes away. */
  stage: Array<Finding>,
  /** Nodes that there are. */
  nodes: Integer,
  /** Nodes on which devices were looked for: the others are refused for reasons of `stage`, or were not asked for. */
  suitableNodes: Integer,
  /** What each request finds in the cluster, in the order of the claims and requests. */
  requests: Array<RequestExplanation>,
  /** The node that comes nearest. */
  closest?: ClosestNode,
  /** Every device of the nodes asked for. */
  details?: Array<NodeDetail>,
  /** What cannot hold together, where it is more than one thing. */
  conflict?: Array<ConflictPart>,
  /** Changes that help, the smallest first. */
  suggestions?: Array<Suggestion>,
};

/** What became of the subject. */
export type ExplanationState = "placed" | "fits" | "blocked" | "noDevices" | "gaveUp";

/** What one request, or one alternative, finds in the cluster. */
export type RequestExplanation = {
  /** Name of the claim. */
  claim: string,
  /** `request` or `request/subrequest`. */
  request: string,
  /** For whom the scheduler makes the request, where no user wrote it. */
  serves?: Served,
  /** Class of the devices. */
  class: string,
  /** Devices needed on one node. */
  needed: Integer,
  /** Whether all devices that match are asked for. */
  isAll: boolean,
  /** Devices of the class, each counted once however many nodes have access. */
  devices: Integer,
  /** Of these, devices that nothing keeps from the request on some node. */
  usable: Integer,
  /** The most usable devices that one node has. */
  best: Integer,
  /** Devices that are not of the class. */
  otherDevices: Integer,
  /** The devices that are not usable, each under one reason; the reason that is hardest to remove first. */
  reasons: Array<ReasonCount>,
  /** What the selectors that are false read. */
  reads: Array<AttributeStatistic>,
};

/** A container and the extended resource that it asks for. */
export type Served = {
  /** Name of the container. */
  container: string,
  /** Name of the extended resource, `example.com/gpu`. */
  resource: string,
};

/** How many devices have one reason. */
export type ReasonCount = {
  /** The kind of reason. */
  kind: ReasonKind,
  /** Devices that are counted here, because they have no reason that is harder to remove. */
  devices: Integer,
  /** Of these, devices that have no other reason. */
  alone: Integer,
  /** The reason, to be read behind the number of devices. */
  text: string,
  /** Which selector. */
  selector?: SelectorRef,
};

/** Kinds of reasons, the hardest to remove first. */
export type ReasonKind = "notOfClass" | "poolOutdated" | "poolIncomplete" | "poolInvalid" | "noNode" | "otherNode" | "selectorFails" | "selectorFalse" | "featureOff" | "needsDriver" | "constraintMissing" | "capacityNever" | "counterNever" | "constraintConflict" | "tainted" | "otherGroup" | "counterShort" | "capacityShort" | "inUse";

/** One selector. */
export type SelectorRef = {
  /** Whether it is one of the class's, not of the request's. */
  ofClass: boolean,
  /** Its position, from 0. */
  index: Integer,
  /** The expression. */
  expression: string,
};

/** What devices have for one attribute or capacity that a selector reads. */
export type AttributeStatistic = {
  /** The name as selectors write it: `device.attributes["gpu.example.com"].memory`. */
  name: string,
  /** Devices of the class that have it. */
  present: Integer,
  /** Devices of the class. */
  devices: Integer,
  /** The most frequent values with their number of devices, at most eight. */
  values: Array<ValueCount>,
  /** What was probably meant, where hardly any device has it. */
  didYouMean?: string,
};

/** A value, and how many devices have it. */
export type ValueCount = {
  /** The value as selectors write it. */
  value: string,
  /** Devices that have it. */
  devices: Integer,
};

/** What a selector reads, and what a device has for it. */
export type ReadValue = {
  /** The name as selectors write it: `device.attributes["gpu.example.com"].memory`. */
  name: string,
  /** The value as selectors write it; absent where the device has none. */
  value?: string,
};

/** The node that comes nearest to fitting. */
export type ClosestNode = {
  /** Name. */
  name: string,
  /** Devices that it has for all requests, at most as many as are needed. */
  found: Integer,
  /** Devices that all requests need. */
  needed: Integer,
  /** How many nodes are exactly like it for this question, itself included. */
  alike: Integer,
};

/** One node with its devices. */
export type NodeDetail = {
  /** Name. */
  name: string,
  /** Pools that cannot be used, and why. */
  pools: Array<string>,
  /** What each request finds there. */
  requests: Array<RequestDetail>,
};

/** The devices of a node for one request. */
export type RequestDetail = {
  /** Name of the claim. */
  claim: string,
  /** `request` or `request/subrequest`. */
  request: string,
  /** Devices needed. */
  needed: Integer,
  /** Devices without reasons. */
  usable: Integer,
  /** Devices in the order of trying. */
  devices: Array<DeviceDetail>,
};

/** One device. */
export type DeviceDetail = {
  /** The device. */
  device: DeviceId,
  /** All reasons against it; once all are gone it is a candidate. Empty for a candidate. */
  reasons: Array<Reason>,
};

/** One reason against a device. */
export type Reason = {
  /** The kind of reason. */
  kind: ReasonKind,
  /** In words. */
  text: string,
  /** Which selector. */
  selector?: SelectorRef,
  /** What the selector read, and what the device has for it. */
  values?: Array<ReadValue>,
  /** The capacity or `set/counter` that is short. */
  shortage?: Shortage,
  /** The taint, as `key=value:effect`. */
  taint?: string,
  /** Position of the constraint in the claim. */
  constraint?: Integer,
  /** A device with which it cannot be together. */
  other?: DeviceId,
  /** Claims that have the device, or what is short of it. */
  holders?: Array<Holder>,
};

/** Something of which too little is there. */
export type Shortage = {
  /** Capacity, or `set/counter`. */
  name: string,
  /** What is needed, as a quantity. */
  needs: string,
  /** What is left; absent where the device has no such capacity. */
  left?: string,
};

/** A claim that has something, and the Pods that use it. */
export type Holder = {
  /** The claim, as `namespace/name`. */
  claim: string,
  /** Its Pods, as `namespace/name`, or other consumers. */
  consumers: Array<string>,
  /** The highest priority of its Pods. */
  priority?: Integer,
};

/** One part of a contradiction: without it the rest could hold. */
export type ConflictPart = {
  /** What kind of part: `request`, `selector`, `constraint`, `taints` or `allocations`. */
  kind: "request" | "selector" | "constraint" | "taints" | "allocations",
  /** In words. */
  text: string,
};

/** A change, or several that help only together. */
export type Suggestion = {
  /** What to do, in one line. */
  text: string,
  /** The changes; without any one of them the others do not help. */
  changes: Array<Change>,
  /** A node on which the claims then fit. */
  node?: string,
  /** The changed objects, as they are to be written: claims, claim templates, classes. Empty where nothing is written. */
  manifests?: Array<Json>,
  /** Objects of a real cluster to delete before the manifests are applied, as they cannot be changed. */
  deletes?: Array<ObjectRef>,
  /** The same as a procedure: what to do, in this order. */
  steps?: Array<SuggestionStep>,
};

/** One step of a suggestion. */
export type SuggestionStep = {
  /** What is done, in one line. */
  text: string,
  /** The command for it, which reads the manifest from its standard input where there is one; absent where no command does it. */
  command?: string,
  /** What is written. */
  manifest?: Json,
};

/** One change. Claims are named without their namespace; requests as `request` or `request/subrequest`. */
export type Change = {
  "kind": "changeSelector",
  /** Claim. */
  claim: string,
  /** Request. */
  request: string,
  /** Position of the selector, from 0. */
  index: Integer,
  /** The expression so far. */
  from: string,
  /** The new expression. */
  to: string,
} | {
  "kind": "remakeClaim",
  /** Claim. */
  claim: string,
  /** Name of the template. */
  template: string,
} | {
  "kind": "useNodes",
  /** Their names. */
  nodes: Array<string>,
} | {
  "kind": "tolerateNode",
  /** The taint, as `key=value:effect`. */
  taint: string,
} | {
  "kind": "dropNodeSelector",
  /** Key of the label. */
  label: string,
  /** Its value. */
  value: string,
} | {
  "kind": "dropNodeAffinity",
} | {
  "kind": "prefer",
  /** Where the rule stands. */
  rule: PlacementRule,
  /** The label of nodes whose value names the domain. */
  key: string,
} | {
  "kind": "ownClaim",
  /** Name of the Pod's entry. */
  entry: string,
  /** The claim that it shares. */
  claim: string,
  /** The ResourceClaimTemplate from which its own one is made. */
  template: string,
} | {
  "kind": "lowerResource",
  /** Name of the resource. */
  resource: string,
  /** The quantity so far. */
  from: string,
  /** The new quantity. */
  to: string,
} | {
  "kind": "tolerate",
  /** Claim. */
  claim: string,
  /** Request. */
  request: string,
  /** The taint, as `key=value:effect`. */
  taint: string,
} | {
  "kind": "lowerCapacity",
  /** Claim. */
  claim: string,
  /** Request. */
  request: string,
  /** Name of the capacity. */
  name: string,
  /** The quantity so far. */
  from: string,
  /** The new quantity. */
  to: string,
} | {
  "kind": "otherCapacity",
  /** Claim. */
  claim: string,
  /** Request. */
  request: string,
  /** The quantity. */
  amount: string,
  /** Name of the capacity so far. */
  from: string,
  /** Name of the new one. */
  to: string,
} | {
  "kind": "lowerCount",
  /** Claim. */
  claim: string,
  /** Request. */
  request: string,
  /** The count so far. */
  from: Integer,
  /** The new count. */
  to: Integer,
} | {
  "kind": "dropConstraint",
  /** Claim. */
  claim: string,
  /** Position of the constraint, from 0. */
  index: Integer,
  /** What it says. */
  text: string,
} | {
  "kind": "dropSelector",
  /** Claim. */
  claim: string,
  /** Request. */
  request: string,
  /** Position of the selector, from 0. */
  index: Integer,
  /** The expression. */
  expression: string,
} | {
  "kind": "addAlternative",
  /** Claim. */
  claim: string,
  /** Request. */
  request: string,
  /** The other class. */
  class: string,
} | {
  "kind": "uncordon",
  /** The node. */
  node: string,
} | {
  "kind": "freeClaim",
  /** The claim, as `namespace/name`. */
  claim: string,
  /** Who uses it. */
  consumers: Array<string>,
  /** The highest priority of its Pods. */
  priority?: Integer | null,
} | {
  "kind": "raisePriority",
  /** The priority so far. */
  from: Integer,
  /** The new priority. */
  to: Integer,
  /** The PriorityClass that has it, where classes are given. */
  class?: string | null,
  /** Pods that are evicted for it, as `namespace/name`, the most important first. */
  victims: Array<string>,
} | {
  "kind": "changeClass",
  /** Name of the class. */
  class: string,
  /** Position of the selector, from 0. */
  index: Integer,
  /** The expression so far. */
  from: string,
  /** The new expression. */
  to: string,
} | {
  "kind": "enableGate",
  /** Its name. */
  gate: string,
} | {
  "kind": "addDevices",
  /** How many. */
  count: Integer,
  /** Their class. */
  class: string,
  /** A device that they are like. */
  like: DeviceId,
  /** The node. */
  node: string,
};

/** A rule of a Pod about where other Pods are. */
export type PlacementRule = "spread" | "podAffinity" | "podAntiAffinity";

/** What is changed, in this order. */
export type Supposition = {
  /**
   * Objects that are deleted. What they own goes with them, with a Node its slices and Pods, with a Namespace everything in it; finalizers
   * keep what is in use. Pods end at once. One that `with` has, too, is replaced.
   */
  without?: Array<ObjectRef>,
  /** Objects that come, or replace those of the same name. */
  with?: Array<Json>,
  /** Taints that devices get. */
  taints?: Array<TaintSpec>,
  /** Nodes that take no new Pods. */
  cordon?: Array<string>,
  /** The time, as RFC 3339; decides when Pods with a tolerated taint have to go. */
  now?: string,
  /** Whether Pods that have a place keep it; for `whatIf` alone. */
  placing?: Placing,
};

/** A taint for devices. */
export type TaintSpec = {
  /** Devices as `driver`, `driver/pool` or `driver/pool/device`; a part may be `*`. */
  devices: string,
  /** The taint, as `key=value:effect` or `key:effect`. */
  taint: string,
};

/** What a change means for Pods that have a place. */
export type Placing = "asGiven" | "keep" | "anew";

/** What came out otherwise. */
export type Difference = {
  /** Nodes that are there only after the change. */
  nodesAdded: Array<string>,
  /** Nodes that are there only before. */
  nodesRemoved: Array<string>,
  /** Devices that are published only after the change, in the newest generation of their pools. */
  devicesAdded: Array<DeviceId>,
  /** Devices that are published only before. */
  devicesRemoved: Array<DeviceId>,
  /** Of the devices that are gone those that claims have before, by claim. */
  devicesLost: Array<DeviceLost>,
  /** Pods by namespace and name that are there only on one side, or have another node. */
  pods: Array<PodDifference>,
  /** Claims by namespace and name that are there only on one side, or have other devices. */
  claims: Array<ClaimDifference>,
  /** Pods that a `NoExecute` taint drives out, by time. */
  evictions?: Array<Eviction>,
  /** What is compared: that Pods keep their places, or that all are placed anew; absent for two clusters. */
  placing?: Placing | null,
  /**
   * Objects that are not compared, because nothing is known of them in one of two clusters; without a name a whole kind. The totals
   * count only what is known.
   */
  unknown?: Array<ObjectRef>,
  /** How much there is before. */
  before: Totals,
  /** How much there is after. */
  after: Totals,
  /** Why objects of the change were refused and left out. */
  findings?: Array<Finding>,
};

/** How much there is. */
export type Totals = {
  /** Devices in the newest generation of their pools. */
  devices: Integer,
  /** Of these, devices that claims have, as a whole or in part. */
  used: Integer,
  /** Pods. */
  pods: Integer,
  /** Of these, Pods without a node that are not finished. */
  pending: Integer,
};

/** A device that is gone after the change, and who has it before. */
export type DeviceLost = {
  /** The device. */
  device: DeviceId,
  /** The claim, as `namespace/name`. */
  claim: string,
  /** The Pods for which the claim is reserved, as `namespace/name`; PodGroups as `podgroups namespace/name`. */
  users: Array<string>,
};

/** One Pod. */
export type PodDifference = {
  /** `namespace/name`. */
  pod: string,
  /** Before. */
  before: PlaceOfPod,
  /** After. */
  after: PlaceOfPod,
  /** Why it is Pending after the change, where it was not before; what kept it before; or what is not known of one that goes. */
  why?: string,
};

/** Where a Pod is. */
export type PlaceOfPod = "absent" | "pending" | {
  "node": string
};

/** One claim. */
export type ClaimDifference = {
  /** `namespace/name`. */
  claim: string,
  /** Its devices before, as `driver/pool/device`; absent where there is no such claim. */
  before: Array<string> | null,
  /** After. */
  after: Array<string> | null,
};

/** One Pod that has to go. */
export type Eviction = {
  /** `namespace/name`. */
  pod: string,
  /** The node on which it runs. */
  node: string,
  /** Seconds from now; 0 for at once. */
  inSeconds: Integer,
  /** The claims whose devices are tainted, as `namespace/name`. */
  claims: Array<string>,
  /** Whether nothing is known of the claims, so that the Pod may have to go and may stay. */
  unknown?: boolean,
};

/** The question. */
export type FitRequest = {
  /**
   * A ResourceClaimTemplate or an unallocated ResourceClaim; where no name is there, the only template. It counts for nothing where
   * `device` is there.
   */
  subject?: ObjectRef,
  /** A claim in a few words, instead of one that is written. */
  device?: DeviceAsk | null,
  /** What is changed first. */
  supposing?: Supposition,
  /** What is counted. */
  per?: FitPer,
};

/** What is counted. */
export type FitPer = "node" | "pool" | "class";

/** Bounds on a number; equal where it is known exactly. */
export type Bounds = {
  /** So many surely fit. */
  atLeast: Integer,
  /** More surely do not. */
  atMost: Integer,
};

/** A claim with one request. */
export type DeviceAsk = {
  /** The DeviceClass. */
  class: string,
  /** How many devices; 1 where it is left out. */
  count?: Integer,
  /** CEL selectors, all of which must hold. */
  selectors?: Array<string>,
};

/** The answer. */
export type Fit = {
  /** In the whole cluster. */
  total: Bounds,
  /** By place, those where nothing fits included. */
  rows: Array<FitRow>,
  /** What is missing for one more, once so many are placed. */
  runsOut: string,
  /** The most devices of each class that one claim could still get on one node as the cluster is. */
  largest: Array<Largest>,
  /** Devices that match the claim and are free, but left over once no more fit. */
  stranded: Integer,
  /** What counters and shared capacities have left in the pools that were filled: nothing, or what is too little for another claim. */
  remainders: Array<Remainder>,
  /** Devices in use by namespace. */
  namespaces: Array<NamespaceDevices>,
  /** Taints of nodes where some fit, for Pods that tolerate them. */
  nodeTaints?: Array<NodesOfTaint>,
};

/** A taint of nodes and the nodes that have it. */
export type NodesOfTaint = {
  /** The taint, as `key=value:effect`. */
  taint: string,
  /** The nodes. */
  nodes: Array<string>,
};

/** How many fit in one place. */
export type FitRow = {
  /** Node, `driver/pool` or class. */
  name: string,
  /** How many fit there, if all go there. */
  fits: Bounds,
};

/** The largest claim of a class. */
export type Largest = {
  /** The class. */
  class: string,
  /** Devices of it that one claim can get on one node; a claim can have 32. Equal bounds are proven. */
  devices: Bounds,
};

/** What a namespace has. */
export type NamespaceDevices = {
  /** The namespace. */
  namespace: string,
  /** Devices in use there. */
  devices: Integer,
};

/** What is left of a counter, or of a capacity of a shared device. */
export type Remainder = {
  /** Driver. */
  driver: string,
  /** Pool. */
  pool: string,
  /** Counter set or device. */
  of: string,
  /** Counter or capacity. */
  name: string,
  /** How much is left. */
  left: string,
  /** How much there is. */
  total: string,
};

/** The question. */
export type NodesNeededRequest = {
  /**
   * Of what copies are made: a Pod, a PodGroup with its Pods, a workload, or a ResourceClaimTemplate or ResourceClaim of which each Pod has
   * one. Where it is left out, the Pods that are Pending are asked about, unless `device` is there.
   */
  subject?: ObjectRef,
  /** Instead: Pods with a claim of a few words each. */
  device?: DeviceAsk | null,
  /** How many copies; 1 where it is left out, at most 10,000. */
  copies?: Integer,
  /** Nodes of the cluster like which new ones would be. */
  like?: Array<string>,
  /** Nodes and ResourceSlices that new nodes would have: each Node, with the slices that name it, is a shape. */
  templates?: Array<Json>,
  /** Attributes of the new devices, as `domain/name`, whose values only a running driver knows. */
  open?: Array<string>,
  /** Most new nodes of a shape; 20 where it is left out, at most 1,000. */
  upTo?: Integer,
  /** What is changed first. */
  supposing?: Supposition,
};

/** The answer. */
export type NodesNeeded = {
  /** Pods that are asked about. */
  pods: Integer,
  /** Of them, those that have a place on the nodes that there are. */
  placed: Integer,
  /** Those that have none there, the first 20. */
  left: Array<PodLeft>,
  /** What nodes of each shape alone do for the others: first those like a node, then the templates, as asked. */
  shapes: Array<ShapeNeeded>,
  /**
   * Nodes of several shapes that together are enough for all, none of which can be left out; empty where one shape is enough, or no
   * number is.
   */
  together: Array<ShapeNodes>,
};

/** What nodes of one shape do. */
export type ShapeNeeded = {
  /** The node that new ones are like. */
  shape: string,
  /** Fewer are not enough, whatever the open attributes are. This is proven. */
  atLeast: Integer,
  /** So many are enough, whatever the open attributes are; absent where no number up to the limit is known to be. */
  atMost?: Integer,
  /** So many are enough if open attributes get the values that suit best; absent where no number is, or nothing is open. */
  atBest?: Integer,
  /** Pods that get a place, on that many nodes; on as many as there may be where that many is not known. */
  placed: Integer,
  /** Pods that get none, the first 20: where `atMost` is known, on any number of such nodes. */
  left: Array<PodLeft>,
  /** How many those are. */
  leftCount: Integer,
  /** The new nodes with what they get, where `atMost` is known. */
  nodes: Array<NewNode>,
  /** Devices of these nodes together. */
  devices: Devices,
};

/** A Pod without a place. */
export type PodLeft = {
  /** `namespace/name`. */
  pod: string,
  /** Why it has none: the first line of its explanation. */
  why: string,
};

/** A new node. */
export type NewNode = {
  /** Its name. */
  name: string,
  /** The Pods that are asked about and get a place there, as `namespace/name`. */
  pods: Array<string>,
  /** Its devices afterwards. */
  devices: Devices,
};

/** A number of nodes of a shape. */
export type ShapeNodes = {
  /** The node that they are like. */
  shape: string,
  /** How many. */
  nodes: Integer,
};

/** The question. */
export type ScoresRequest = {
  /** The Pods; where it is left out, all that get a node. */
  pods?: Array<ObjectRef>,
  /** Whether only the chosen node is listed of each Pod. */
  brief?: boolean,
};

/** How nodes compared for a Pod when it was placed. */
export type PodScores = {
  /** The Pod. */
  pod: ObjectRef,
  /** The node with the best score, of equal ones the first by name; absent where none fits. */
  chosen?: string,
  /** Its score. */
  score: Integer,
  /** How many nodes have this score: kube-scheduler draws one of them. */
  ties: Integer,
  /** Whether the Pod had its node before. Nodes are compared as they are at the end then, as if only this Pod had none. */
  hadNode: boolean,
  /** How much a score of each plugin counts. */
  weights: {
    [key in string]: Integer
  },
  /** The nodes that fit, by name, or the chosen one alone. */
  nodes: Array<NodeScore>,
};

/** The scores of a node. */
export type NodeScore = {
  /** Name of the node. */
  node: string,
  /** The sum of all plugins' scores with their weights. */
  score: Integer,
  /** What each plugin gives it, from 0 to 100. */
  plugins: {
    [key in string]: Integer
  },
};

/** The answer. */
export type Usage = {
  /** Whether no claim had devices, so that everything that fits was placed first. */
  isPlayed: boolean,
  /** All devices. */
  devices: Devices,
  /** By class, model, node and namespace, in this order, then by name. */
  rows: Array<UsageRow>,
  /** Why devices are stranded, most first. */
  stranded: Array<StrandedBy>,
  /** Counters; like capacities and pools none where it is not known who has devices. */
  counters: Array<AmountUsage>,
  /** Capacities of devices that can be shared. */
  capacities: Array<AmountUsage>,
  /** Pools as the status of a ResourcePoolStatusRequest has them: every partition counts, and admin access does not. */
  pools: Array<Json>,
  /** Devices that claims have and no slice of the newest generation publishes; no number counts them. */
  unpublished?: Array<DeviceId>,
  /** Taints of nodes that Pods have to tolerate to get the devices there. */
  nodeTaints?: Array<NodesOfTaint>,
};

/** By what devices are told apart. */
export type UsageOf = "class" | "model" | "node" | "namespace";

/** Devices of one class, model, node or namespace. */
export type UsageRow = {
  /** By what they are told apart. */
  of: UsageOf,
  /** Its name. */
  name: string,
  /** The devices. */
  devices: Devices,
};

/** Devices in numbers: `total` is `used`, `free`, `stranded` and `unknown` together. */
export type Devices = {
  /** All of them. */
  total: Integer,
  /** Held by a claim, as a whole or in part; not only with admin access. */
  used: Integer,
  /** In nobody's use, and there is a claim that could get them. */
  free: Integer,
  /** In nobody's use, and no claim of a class or template of the input could get them. */
  stranded: Integer,
  /** Of all these, those that claims with admin access have beside. */
  admin: Integer,
  /** Not known to be used, where claims that may have devices are not given or were refused. */
  unknown?: Integer,
};

/** An amount: `total` is `used`, `free` and `stranded` together. */
export type AmountUsage = {
  /** Driver. */
  driver: string,
  /** Pool. */
  pool: string,
  /** Counter set or device. */
  source: string,
  /** Counter or capacity. */
  name: string,
  /** All of it, as the driver publishes it. */
  total: string,
  /** Taken by claims. */
  used: string,
  /** What devices within reach of a claim can still draw. */
  free: string,
  /** The rest. */
  stranded: string,
};

/** Why devices are stranded. */
export type StrandedBy = {
  /** The reason nearest to being removed. */
  reason: ReasonKind,
  /** How many. */
  devices: Integer,
};

/** What the expression comes to on one device. */
export type ExpressionAnswer = {
  /** The device. */
  device: DeviceId,
  /** The expression as a whole, then its parts in the order of the text. */
  parts: Array<ExpressionPart>,
  /** What it reads, and what the device has for it. */
  reads: Array<ReadValue>,
  /** What the evaluation cost, of at most 1,000,000 units; absent where it did not start. */
  cost?: Integer,
  /** The reference's estimate of the most it can cost on any device. */
  maxCost: Integer,
};

/** One part of an expression. */
export type ExpressionPart = {
  /** How deep it stands: 0 for the whole. */
  depth: Integer,
  /** Its text. */
  text: string,
  /** Its type. */
  resultType: string,
  /** Its value, or the error in which it ends. */
  value: string,
  /** Whether it ends in an error. */
  isError: boolean,
  /** Whether it is what makes the whole false: false itself, or an error. */
  isCause: boolean,
};

/** One thing that is done from outside. */
export type Command = {
  "create": unknown
} | {
  "update": unknown
} | {
  "apply": unknown
} | {
  "updateStatus": unknown
} | {
  "patch": {
    /** The object. */
    object: ObjectRef,
    /** The fields. */
    fields: unknown,
    /** Whether the status subresource is meant. */
    status?: boolean,
  }
} | {
  "delete": {
    /** The object. */
    object: ObjectRef,
    /** Seconds that a Pod gets to end; its own where they are left out. */
    graceSeconds?: Integer | null,
  }
} | {
  "finish": {
    /** The Pod. */
    pod: ObjectRef,
    /** Whether it succeeds. */
    succeeded: boolean,
  }
} | {
  "taint": {
    /** The device. */
    device: DevicePath,
    /** The taint: `key`, `effect`, `value`. */
    taint: {
      key: string; effect: string; value?: string
    },
  }
} | {
  "untaint": {
    /** The device. */
    device: DevicePath,
    /** The key. */
    key: string,
  }
} | {
  "removeNode": string
} | {
  "drain": string
} | {
  "restart": {
    /** The component; all of them where it is left out. */
    component?: Component | null,
    /** The node, where one kubelet alone is meant. */
    node?: string | null,
    /** The version; the one that the component began as where it is left out. */
    version?: string | null,
    /** The gates. */
    featureGates?: {
      [key in string]: boolean
    },
  }
} | {
  "toggle": {
    /** The component; all of them where it is left out. */
    component?: Component | null,
    /** The gate. */
    gate: string,
    /** Whether it is on from now on. */
    enabled: boolean,
  }
} | {
  "stop": Component
} | {
  "loseWriteAfter": Integer
} | {
  "disturbWriteAfter": Integer
} | {
  "lag": boolean
};

/** Identity of a device. */
export type DevicePath = {
  /** Driver; any where it is empty. */
  driver?: string,
  /** Pool of the driver. */
  pool: string,
  /** Device of the pool. */
  device: string,
};

/** A program of the cluster. */
export type Component = "kube-apiserver" | "kube-controller-manager" | "kube-scheduler" | "kubelet";

/** What a component is to be: a version, and gates that differ from its defaults. */
export type Build = {
  /** `1.34` to `1.37`, also with a patch, `1.38`, which is a preview, or `all`; as the component began where it is left out. */
  version?: string,
  /** Gates by name. */
  featureGates?: {
    [key in string]: boolean
  },
};

/** How a stretch of time ended. */
export type Settled = "quiet" | "restless";

/** What happened. */
export type Happening = "requested" | "created" | "deleting" | "deleted" | "placed" | "pending" | "phase" | "recorded" | "allocated" | "deallocated" | "reserved" | "released" | "protected" | "unprotected" | "condition" | "taints" | "changed" | "event";

/** One thing that happened. */
export type Moment = {
  /** Milliseconds since the start. */
  atMillis: number,
  /** What. */
  happened: Happening,
  /** To which object. */
  object: ObjectRef,
  /** More about it, for people; may be empty. A node's name for `placed`. */
  detail: string,
};

/** A Kubernetes Event. */
export type EventRecord = {
  /** The object that it is about. */
  regarding: ObjectRef,
  /** UID of that object. */
  uid: string,
  /** Whether it warns. */
  isWarning: boolean,
  /** A word for programs. */
  reason: string,
  /** A sentence for people. */
  note: string,
  /** Who says it. */
  controller: string,
  /** What was being done; may be empty. */
  action: string,
};

/** A Kubernetes Event, and how often it was recorded. */
export type RecordedEvent = {
  /** The Event. */
  event: EventRecord,
  /** How often. */
  count: number,
};

/** A request that the server does not carry out. */
export type Refused = {
  /** HTTP status. */
  status: number,
  /** The reason for programs: `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`, `Forbidden`. */
  reason: string,
  /** The sentence for people. */
  message: string,
};

/** What a controller is for. */
export type ControllerPart = "template-sync" | "explainer" | "claims" | "podgroup-protection" | "taint-eviction" | "scheduler";

/** What a controller is told when it starts. */
export type ControllerSettings = {
  /** What it is for. */
  part: ControllerPart,
  /** Its own namespace, where master templates are; `apportion-system` where it is left out. */
  home?: string | null,
  /** Whether cluster-wide claim templates may ask for admin access. */
  allowAdminAccess?: boolean,
  /** Whether the explainer writes conditions where a Pod or PodGroup asks for them. */
  conditions?: boolean,
};

/** How soon something is to be looked at, where not all can be at once. */
export type Lane = "urgent" | "repair" | "rollout" | "report";

/** Something to look at. */
export type ControllerTask = {
  /** What the decision is to be about; without name where it is about the whole cluster. */
  object: ObjectRef,
  /** How soon. */
  lane: Lane,
  /** Milliseconds to wait first, so that several changes are looked at together. */
  afterMillis: number,
};

/** What a controller wants to happen, and when to ask it again. Across a border `O`, an object, is JSON. */
export type Reconciliation = {
  /**
   * Writes, in order. When one fails, those after it must not happen; only bindings that follow one another do not build on
   * each other. A later write to the same object carries the version that the earlier one gave.
   */
  writes: Array<Write>,
  /** When to ask again although no fact has changed, in milliseconds since 1970. */
  wakeUpMillis?: number,
  /** Whether something is missing or was refused, so that asking again with growing pauses makes sense. */
  retry: boolean,
  /** What to tell users, however often it was told before: whoever records it counts repetitions. */
  events: Array<EventRecord>,
  /**
   * Objects that the writes take to be gone. A host whose facts may lag behind looks again before the first write, and
   * writes nothing if one is there.
   */
  gone: Array<Identified>,
  /** Why, for metrics. */
  cause: Cause,
};

/**
 * One write to the API server.
 *
 * Updates and patches, and deletions that depend on what the object says, carry the `resourceVersion` of the facts that they were decided on, in their object or beside it:
 * when somebody else was faster they must fail. A later write of the same decision to the same object builds on the
 * earlier one and carries the version that this gave.
 */
export type Write = {
  "create": {
    /** The object. Its name is given: it is derived from what the object belongs to. */
    object: Json,
    /**
     * What to record when the server refuses the object, with the server's words at the end of the note. The writes
     * after it do not build on the object and happen all the same.
     */
    refused?: EventRecord,
  }
} | {
  "update": Json
} | {
  "updateStatus": Json
} | {
  "patch": {
    /** The object. */
    object: ObjectRef,
    /** Its UID, so that a later object of that name is spared; any where it is empty. */
    uid: string,
    /** The version that it must still have; any where it is empty. */
    resourceVersion: string,
    /** Whether the status subresource is meant. */
    status: boolean,
    /** How the fields are merged. */
    merging: Merging,
    /** The fields. */
    fields: Json,
  }
} | {
  "delete": {
    /** The object. */
    object: ObjectRef,
    /** Its UID, so that a later object of that name is spared. */
    uid: string,
    /** Its `resourceVersion`, where it is to be spared as well if somebody changed it meanwhile; else empty. */
    resourceVersion: string,
  }
} | {
  "bind": {
    /** The Pod. */
    pod: ObjectRef,
    /** Its UID. */
    uid: string,
    /** Name of the node. */
    node: string,
  }
} | {
  "record": EventRecord
};

/** How the fields of a [`Patch`] are merged into the object. */
export type Merging = "merge" | "strategic" | {
  "apply": string
};

/** An object with the UID that it must have. */
export type Identified = {
  /** The object. */
  object: ObjectRef,
  /** Its UID. */
  uid: string,
};

/** Why a decision was made. */
export type Cause = "usual" | "drift" | "held" | {
  "replacement": {
    /** When it was decided to take it away, in milliseconds since 1970. */
    since: number,
  }
};

/** What became of a decision. */
export type Conclusion = "done" | "failed" | "unanswered" | {
  "refused": {
    /** HTTP status. */
    status: number,
    /** The server's words. */
    message: string,
  }
};

/** How a source stands. */
export type SourceStanding = {
  /** Kind, as references name it. */
  kind: string,
  /** Namespace, of a master template. */
  namespace: string,
  /** Name. */
  name: string,
  /** Name of the copies. */
  target: string,
  /** Its place among the sources of copies with that name, from 0: of those that select a namespace the first one is in charge of it. */
  rank: number,
  /** Name of the template in the controller's namespace that it names as its own; empty where it names none. */
  master: string,
  /** Whether at least one namespace is selected and all of them have the current copy. */
  isReady: boolean,
  /** Whether nothing is written for now. */
  isPaused: boolean,
  /** Whether the status was written for the latest change of the source; always for one without a status. */
  isObserved: boolean,
  /** What the current copies are known by; empty where there is nothing to copy. */
  templateHash: string,
  /** Namespaces in numbers. */
  counts: CopyCounts,
  /** Device classes that it names and that are not there. */
  missingClasses: Array<string>,
  /** System namespaces that a selector matches and that get no copy, because only their names select them. */
  skipped: Array<string>,
  /** Selected namespaces, and others that have a copy, by name. */
  places: Array<CopyStanding>,
};

/** How the copies of a source stand, in numbers. */
export type CopyCounts = {
  /** Namespaces that are selected. */
  matched: number,
  /** Those that have the current copy. */
  current: number,
  /** Those whose copy is being made, or is to stay as it was. */
  updating: number,
  /** Those that have another template of that name. */
  conflicting: number,
  /** Those in which no copy can be made. */
  refused: number,
};

/** How the copy of a source in one namespace stands. */
export type CopyStanding = {
  /** The namespace. */
  namespace: string,
  /** `Current`, `Updating`, `Conflicting`, `Refused`, or `Leftover` where the namespace is not selected any more. */
  state: string,
  /** A word for programs; empty where all is well. */
  reason: string,
  /** The same for people. */
  message: string,
};

/** A range of a JavaScript string: `text.slice(start, end)`. */
export type Utf16Range = {
  /** Where it begins. */
  start: number,
  /** Where it is over. */
  end: number,
};

/** Where a field stands in a text. */
export type Place = {
  /** Number of the document, from zero; absent where a text is no document. */
  document?: number,
  /** Line, from one. */
  line: number,
  /** Column in characters, from one. */
  column: number,
  /** What to underline: the value where it is short, else its key. */
  utf16Range: Utf16Range,
  /** False when the field itself is not there: then this is the place where it is missing. */
  isExact: boolean,
};

/** A finding together with its place. */
export type PlacedFinding = {
  /** Where it is, when it belongs to the text. */
  place?: Place,
  /** What kind of problem; published, never renamed or reused. */
  code: string,
  /** How much it matters. */
  severity: Severity,
  /** The API server's class of the error, where the finding is one that the API server of the stated version gives. */
  kind?: ErrorKind,
  /** The object it is about, where there is one. */
  object?: ObjectRef,
  /** Field path in the API server's notation, for instance `spec.devices.requests[0].exactly.count`; may be empty. */
  path?: string,
  /** What is wrong: one line, lower case, no full stop, the user's words in backticks. */
  message: string,
  /** What to do about it. */
  hint?: string,
  /** The correction, where there is one that is certain. */
  fix?: Fix,
};

/** One document of a text. */
export type ManifestDocument = {
  /** The object that it says it is; parts that it does not name are empty. */
  object: ObjectRef,
  /** Its first line, from one. */
  line: number,
  /** Where it stands. */
  utf16Range: Utf16Range,
  /** Whether `kubectl` refuses it; the engine then leaves it out. */
  isRefused: boolean,
};

/** A step of a script. */
export type ScriptStep = {
  /** Milliseconds after the start. */
  atMillis: number,
  /** What is done. */
  command: Command,
  /** What it is done to; a namespace that is empty is the one that has such an object. */
  object: ObjectRef,
  /** The step in a few words. */
  says: string,
};

/** The question itself cannot be read. */
export type Unreadable = {
  /** Tells it from an answer. */
  status: "unreadable",
  /** Why. */
  findings: Array<Finding>,
};
