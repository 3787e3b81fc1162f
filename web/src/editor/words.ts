// What the editor says about fields.

export const HAS_FIELDS = "Fields:";
export const HERE = "Here:";
export const NO_VALUES = "no device here has it";

/** Fields of Dynamic Resource Allocation, in one sentence each. */
export const FIELDS: Readonly<Record<string, string>> = {
  adminAccess: "Reaches devices without using them up, for monitoring; the namespace needs the label `resource.kubernetes.io/admin-access`.",
  allNodes: "Every node reaches the devices.",
  allocation: "The devices that the scheduler gave to the claim.",
  allocationMode: "`ExactCount` devices as `count` says, or `All` that match.",
  allowMultipleAllocations: "Several claims can share the device, as far as its capacity goes.",
  attributes: "What the device is, for selectors and constraints.",
  bindingConditions: "Conditions that must be true before a Pod is bound to its node.",
  bindingFailureConditions: "Conditions that end the wait for a binding: the claim is allocated again.",
  bindsToNode: "The claim is bound to the node on which it was allocated.",
  capacity: "Amounts of the device, or amounts that a request needs of it.",
  cel: "A CEL expression over one device.",
  config: "Parameters for the driver; the scheduler does not read them.",
  constraints: "What devices of several requests must have in common.",
  consumesCounters: "What the device draws from counter sets of its pool while it is in use.",
  count: "How many devices the request needs; 1 where it is left out.",
  deviceClassName: "The DeviceClass that devices must belong to.",
  distinctAttribute: "The devices must differ in this attribute.",
  driver: "The name of the driver, a DNS subdomain.",
  effect: "What the taint does: `None` only informs, `NoSchedule` keeps new Pods away, `NoExecute` evicts running ones.",
  exactly: "One kind of device.",
  expression: "CEL: true for the devices that match.",
  extendedResourceName: "Pods that ask for this extended resource get devices of the class.",
  firstAvailable: "Alternatives in the order of preference: the first one that fits is taken.",
  generation: "Counts republications of the pool: slices of older generations are ignored.",
  matchAttribute: "The devices must agree in this attribute.",
  nodeName: "The node that this belongs to.",
  nodeSelector: "Nodes that reach the devices.",
  perDeviceNodeSelection: "Each device says by itself which nodes reach it.",
  pool: "Devices that belong together, mostly those of one node.",
  requests: "What is asked for, or the requests that this is about; none means all of them.",
  reservedFor: "Pods that may use the claim.",
  resourceClaimName: "A claim of this namespace that several Pods can share.",
  resourceClaimTemplateName: "A template from which the Pod gets a claim of its own.",
  resourceClaims: "Claims of the Pod; containers name them in `resources.claims`.",
  resourceSliceCount: "How many slices the pool has: it is used once all of them are there.",
  selectors: "All of them must be true for a device.",
  sharedCounters: "Counter sets that devices of the pool draw on.",
  taints: "Keep claims away that do not tolerate them.",
  tolerations: "Taints that are accepted.",
};
