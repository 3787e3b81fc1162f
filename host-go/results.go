package apportion

import (
	"encoding/json"
)

// Report says what DRA did with the objects of a cluster.
type Report struct {
	// Nodes by name.
	Nodes []NodeReport `json:"nodes"`
	// Pods in the order in which they were scheduled: by priority, then in the order of the input.
	Pods []PodReport `json:"pods"`
	// Claims by namespace and name.
	Claims []ClaimReport `json:"claims"`
	// What is worth knowing about the run as a whole: inferred nodes, replicas left out, objects left aside.
	Findings []Finding `json:"findings"`
}

// NodeReport is one node.
type NodeReport struct {
	// Name.
	Name string `json:"name"`
	// Whether no Node object was given and the name was taken from the slices.
	Inferred bool `json:"inferred"`
	// Devices in pools of this node alone.
	LocalDevices int `json:"localDevices"`
	// Of these, devices that are allocated, as a whole or in part.
	AllocatedDevices int `json:"allocatedDevices"`
	// Pods on the node, as `namespace/name`.
	Pods []string `json:"pods"`
}

// PodReport is one Pod.
type PodReport struct {
	// Namespace.
	Namespace string `json:"namespace"`
	// Name.
	Name string `json:"name"`
	// The workload controller that made it, where there is one.
	Owner *Ref `json:"owner,omitempty"`
	// The node it landed on; absent while it is Pending.
	Node string `json:"node,omitempty"`
	// Why it is Pending, most important first. With a node: what keeps it from running there, mostly nothing.
	Reasons []Finding `json:"reasons"`
	// Its claims in the order of `spec.resourceClaims`; last the one for extended resources that devices serve, as `<extended-resources>`.
	Claims []PodClaimReport `json:"claims"`
}

// PodClaimReport is one entry of a Pod's `spec.resourceClaims`.
type PodClaimReport struct {
	// Name of the entry.
	Name string `json:"name"`
	// Name of the claim; absent where it could not be made or found.
	Claim string `json:"claim,omitempty"`
}

// ClaimReport is one claim.
type ClaimReport struct {
	// Namespace.
	Namespace string `json:"namespace"`
	// Name.
	Name string `json:"name"`
	// The template that it was generated from, where there is one.
	Template string `json:"template,omitempty"`
	// Whether it has devices.
	Allocated bool `json:"allocated"`
	// Its devices in the order of picking.
	Devices []AllocatedDevice `json:"devices"`
	// Pods that may use it, as `namespace/name`.
	ReservedFor []string `json:"reservedFor"`
}

// AllocatedDevice is one device of a claim.
type AllocatedDevice struct {
	// `request` or `request/subrequest`.
	Request string `json:"request"`
	DeviceID
	// Whether it was taken with admin access.
	AdminAccess bool `json:"adminAccess"`
	// Which share of a shared device this is.
	ShareID string `json:"shareId,omitempty"`
	// What the share uses up, by capacity name, as canonical quantities.
	ConsumedCapacity map[string]string `json:"consumedCapacity,omitempty"`
}

// ExplainRequest says what to explain, and how far.
type ExplainRequest struct {
	// A ResourceClaim, ResourceClaimTemplate, Pod or PodGroup; absent for all Pods and claims that are Pending.
	Subject *Ref `json:"subject,omitempty"`
	// Nodes whose devices are listed with all their reasons; the claims are asked for on these nodes only.
	Nodes []string `json:"nodes,omitempty"`
	// Devices of this name only are listed: `device`, `pool/device` or `driver/pool/device`; on the nodes above, else on every node that has
	// access.
	Device string `json:"device,omitempty"`
	// Whether to look for changes that help, and for the smallest contradiction.
	Suggestions *bool `json:"suggestions,omitempty"`
}

// Explanation says why something is Pending.
type Explanation struct {
	// What is explained.
	Subject Ref `json:"subject"`
	// What became of it.
	State string `json:"state"`
	// The node that it has, or on which it fits.
	Node string `json:"node,omitempty"`
	// The answer for somebody who does not know how devices are allocated: what is asked for, what is there, by how much it misses.
	// Empty where the headline says no more.
	Plain string `json:"plain,omitempty"`
	// The answer in one line.
	Headline string `json:"headline"`
	// What is not about devices, the first thing that blocks first; and what else keeps nodes away.
	Stage []Finding `json:"stage"`
	// Nodes that there are.
	Nodes int64 `json:"nodes"`
	// Nodes on which devices were looked for: the others are refused for reasons of `stage`, or were not asked for.
	SuitableNodes int64 `json:"suitableNodes"`
	// What each request finds in the cluster, in the order of the claims and requests.
	Requests []RequestExplanation `json:"requests"`
	// The node that comes nearest.
	Closest *ClosestNode `json:"closest,omitempty"`
	// Every device of the nodes asked for.
	Details []NodeDetail `json:"details,omitempty"`
	// What cannot hold together, where it is more than one thing.
	Conflict []ConflictPart `json:"conflict,omitempty"`
	// Changes that help, the smallest first.
	Suggestions []Suggestion `json:"suggestions,omitempty"`
}

// RequestNeed is one request, or one alternative, and how many devices it needs.
type RequestNeed struct {
	// Name of the claim.
	Claim string `json:"claim"`
	// `request` or `request/subrequest`.
	Request string `json:"request"`
	// Devices needed on one node.
	Needed int64 `json:"needed"`
}

// RequestExplanation says what one request, or one alternative, finds in the cluster.
type RequestExplanation struct {
	RequestNeed
	// Serves says for whom the scheduler makes the request, where no user wrote it.
	Serves *Served `json:"serves,omitempty"`
	// Class of the devices.
	Class string `json:"class"`
	// Whether all devices that match are asked for.
	IsAll bool `json:"isAll"`
	// Devices of the class, each counted once however many nodes have access.
	Devices int64 `json:"devices"`
	// Of these, devices that nothing keeps from the request on some node.
	Usable int64 `json:"usable"`
	// The most usable devices that one node has.
	Best int64 `json:"best"`
	// Devices that are not of the class.
	OtherDevices int64 `json:"otherDevices"`
	// The devices that are not usable, each under one reason; the reason that is hardest to remove first.
	Reasons []ReasonCount `json:"reasons"`
	// What the selectors that are false read.
	Reads []AttributeStatistic `json:"reads"`
}

// Served is a container and the extended resource that it asks for.
type Served struct {
	// Container is its name.
	Container string `json:"container"`
	// Resource is the name of the extended resource, "example.com/gpu".
	Resource string `json:"resource"`
}

// ReasonCount says how many devices have one reason.
type ReasonCount struct {
	// The kind of reason.
	Kind string `json:"kind"`
	// Devices that are counted here, because they have no reason that is harder to remove.
	Devices int64 `json:"devices"`
	// Of these, devices that have no other reason.
	Alone int64 `json:"alone"`
	// The reason, to be read behind the number of devices.
	Text string `json:"text"`
	// Which selector.
	Selector *SelectorRef `json:"selector,omitempty"`
}

// SelectorRef is one selector.
type SelectorRef struct {
	// Whether it is one of the class's, not of the request's.
	OfClass bool `json:"ofClass"`
	// Its position, from 0.
	Index int64 `json:"index"`
	// The expression.
	Expression string `json:"expression"`
}

// AttributeStatistic is what devices have for one attribute or capacity that a selector reads.
type AttributeStatistic struct {
	// The name as selectors write it: `device.attributes["gpu.example.com"].memory`.
	Name string `json:"name"`
	// Devices of the class that have it.
	Present int64 `json:"present"`
	// Devices of the class.
	Devices int64 `json:"devices"`
	// The most frequent values with their number of devices, at most eight.
	Values []ValueCount `json:"values"`
	// What was probably meant, where hardly any device has it.
	DidYouMean string `json:"didYouMean,omitempty"`
}

// ClosestNode is the node that comes nearest to fitting.
type ClosestNode struct {
	// Name.
	Name string `json:"name"`
	// Devices that it has for all requests, at most as many as are needed.
	Found int64 `json:"found"`
	// Devices that all requests need.
	Needed int64 `json:"needed"`
	// How many nodes are exactly like it for this question, itself included.
	Alike int64 `json:"alike"`
}

// NodeDetail is one node with its devices.
type NodeDetail struct {
	// Name.
	Name string `json:"name"`
	// Pools that cannot be used, and why.
	Pools []string `json:"pools"`
	// What each request finds there.
	Requests []RequestDetail `json:"requests"`
}

// RequestDetail is the devices of a node for one request.
type RequestDetail struct {
	RequestNeed
	// Devices without reasons.
	Usable int64 `json:"usable"`
	// Devices in the order of trying.
	Devices []DeviceDetail `json:"devices"`
}

// DeviceDetail is one device.
type DeviceDetail struct {
	// The device.
	Device DeviceID `json:"device"`
	// All reasons against it; once all are gone it is a candidate. Empty for a candidate.
	Reasons []Reason `json:"reasons"`
}

// DeviceID is the identity of a device. A pool is known only together with its driver.
type DeviceID struct {
	// Driver.
	Driver string `json:"driver"`
	// Pool of the driver.
	Pool string `json:"pool"`
	// Device of the pool.
	Device string `json:"device"`
}

// Reason is one reason against a device.
type Reason struct {
	// The kind of reason.
	Kind string `json:"kind"`
	// In words.
	Text string `json:"text"`
	// Which selector.
	Selector *SelectorRef `json:"selector,omitempty"`
	// What the selector read, and what the device has for it; absent where it has nothing.
	Values []ReadValue `json:"values,omitempty"`
	// The capacity or `set/counter` that is short.
	Shortage *Shortage `json:"shortage,omitempty"`
	// The taint, as `key=value:effect`.
	Taint string `json:"taint,omitempty"`
	// Position of the constraint in the claim.
	Constraint *int64 `json:"constraint,omitempty"`
	// A device with which it cannot be together.
	Other *DeviceID `json:"other,omitempty"`
	// Claims that have the device, or what is short of it.
	Holders []Holder `json:"holders,omitempty"`
}

// Shortage is something of which too little is there.
type Shortage struct {
	// Capacity, or `set/counter`.
	Name string `json:"name"`
	// What is needed, as a quantity.
	Needs string `json:"needs"`
	// What is left; absent where the device has no such capacity.
	Left string `json:"left,omitempty"`
}

// Holder is a claim that has something, and the Pods that use it.
type Holder struct {
	// The claim, as `namespace/name`.
	Claim string `json:"claim"`
	// Its Pods, as `namespace/name`, or other consumers.
	Consumers []string `json:"consumers"`
	// The highest priority of its Pods.
	Priority *int64 `json:"priority,omitempty"`
}

// ConflictPart is one part of a contradiction; without it the rest could hold.
type ConflictPart struct {
	// What kind of part: `request`, `selector`, `constraint`, `taints` or `allocations`.
	Kind string `json:"kind"`
	// In words.
	Text string `json:"text"`
}

// Suggestion is a change, or several that help only together.
type Suggestion struct {
	// What to do, in one line.
	Text string `json:"text"`
	// The changes; without any one of them the others do not help.
	Changes []Change `json:"changes"`
	// A node on which the claims then fit.
	Node string `json:"node,omitempty"`
	// The changed objects, as they are to be written: claims, claim templates, classes. Empty where nothing is written.
	Manifests []json.RawMessage `json:"manifests,omitempty"`
	// Objects of a real cluster to delete before the manifests are applied, as they cannot be changed.
	Deletes []Ref `json:"deletes,omitempty"`
	// The same as a procedure: what to do, in this order.
	Steps []SuggestionStep `json:"steps,omitempty"`
}

// SuggestionStep is one step of a suggestion.
type SuggestionStep struct {
	// What is done, in one line.
	Text string `json:"text"`
	// The command for it, which reads the manifest from its standard input where there is one; absent where no command does it.
	Command string `json:"command,omitempty"`
	// What is written.
	Manifest json.RawMessage `json:"manifest,omitempty"`
}

// Change is one change. Claims are named without their namespace; requests as `request` or `request/subrequest`.
type Change struct {
	// Kind says which of the other fields are set: `changeSelector`, `useNodes` and so on.
	Kind string `json:"kind"`
	// Claim.
	Claim string `json:"claim,omitempty"`
	// Name of the template that a claim is made from.
	Template string `json:"template,omitempty"`
	// Name of the Pod's entry that gets a claim of its own.
	Entry string `json:"entry,omitempty"`
	// Request.
	Request string `json:"request,omitempty"`
	// Position of the selector or constraint, from 0.
	Index *int64 `json:"index,omitempty"`
	// What it is so far, a text; of `lowerCount` and `raisePriority` a number.
	From any `json:"from,omitempty"`
	// What it is to be, a text; of `lowerCount` and `raisePriority` a number.
	To any `json:"to,omitempty"`
	// The quantity that is asked for of another capacity.
	Amount string `json:"amount,omitempty"`
	// Names of the nodes of `useNodes`.
	Nodes []string `json:"nodes,omitempty"`
	// The taint, as `key=value:effect`.
	Taint string `json:"taint,omitempty"`
	// Key of the label of `dropNodeSelector`.
	Label string `json:"label,omitempty"`
	// Value of that label.
	Value string `json:"value,omitempty"`
	// The rule of `prefer`: `spread`, `podAffinity` or `podAntiAffinity`.
	Rule string `json:"rule,omitempty"`
	// The label of nodes that names the domains of that rule.
	Key string `json:"key,omitempty"`
	// Name of the resource.
	Resource string `json:"resource,omitempty"`
	// Name of the capacity.
	Name string `json:"name,omitempty"`
	// What the constraint says.
	Text string `json:"text,omitempty"`
	// The expression of the selector to drop.
	Expression string `json:"expression,omitempty"`
	// The class.
	Class string `json:"class,omitempty"`
	// The node.
	Node string `json:"node,omitempty"`
	// Who uses the claim.
	Consumers []string `json:"consumers,omitempty"`
	// The highest priority of its Pods.
	Priority *int64 `json:"priority,omitempty"`
	// The Pods that are evicted for a higher priority, as `namespace/name`, the most important first.
	Victims []string `json:"victims,omitempty"`
	// Name of the feature gate.
	Gate string `json:"gate,omitempty"`
	// How many devices to add.
	Count int64 `json:"count,omitempty"`
	// A device that the added ones are like.
	Like *DeviceID `json:"like,omitempty"`
}

// RequestFunnel says how many devices of a node survive each test of one request.
type RequestFunnel struct {
	RequestNeed
	// Devices that the node has access to, in usable pools.
	Devices int64 `json:"devices"`
	// Of these, devices that the class and the request's selectors accept.
	Matching int64 `json:"matching"`
	// Of these, devices that could serve the request if nobody used them: features, constraints' attributes, capacity and counters suffice.
	Able int64 `json:"able"`
	// Of these, devices without taints that the request does not tolerate.
	Tolerated int64 `json:"tolerated"`
	// Of these, devices that are not in use and have enough capacity and counters left.
	Free int64 `json:"free"`
	// Devices that match and cannot serve the request, by reason; those that claims have as a whole are only not `free`. Devices in pools that cannot
	// be used are not among `devices`.
	Unable []Unable `json:"unable"`
}

// Unable counts devices that match and cannot serve a request.
type Unable struct {
	// The kind of reason.
	Why string `json:"why"`
	// The rest of it, to be read behind the kind: the pool, the gate, the amounts.
	Detail string `json:"detail"`
	// Devices with this reason and none that comes before it.
	Devices int64 `json:"devices"`
}

// ValueCount is a value, and how many devices have it.
type ValueCount struct {
	// The value as selectors write it.
	Value string `json:"value"`
	// Devices that have it.
	Devices int64 `json:"devices"`
}

// ReadValue is what a selector reads, and what a device has for it.
type ReadValue struct {
	// The name as selectors write it: `device.attributes["gpu.example.com"].memory`.
	Name string `json:"name"`
	// The value as selectors write it; absent where the device has none.
	Value *string `json:"value,omitempty"`
}
