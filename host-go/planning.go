package apportion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"apportion.dev/apportion/internal/engine"
	"k8s.io/apimachinery/pkg/runtime"
)

// Fit says how many more of a claim fit. An *[UnreadableError] says what is wrong with the request.
func (c *Cluster) Fit(ctx context.Context, request FitRequest) (*Fit, error) {
	if err := refusing(request.Device.check(), request.Supposing.check(), oneOf("per", request.Per, "node", "pool", "class")); err != nil {
		return nil, err
	}
	return inquire[*Fit](ctx, c, struct {
		Kind string `json:"kind"`
		FitRequest
	}{"fit", request})
}

// NodesNeeded says how many nodes that do not exist yet make Pods fit: nodes like those that there are, or as templates describe them. An
// *[UnreadableError] says what is wrong with the request.
func (c *Cluster) NodesNeeded(ctx context.Context, request NodesNeededRequest) (*NodesNeeded, error) {
	copies, upTo := notNegative("copies", request.Copies), notNegative("upTo", request.UpTo)
	if err := refusing(request.Device.check(), request.Supposing.check(), copies, upTo); err != nil {
		return nil, err
	}
	return inquire[*NodesNeeded](ctx, c, struct {
		Kind string `json:"kind"`
		NodesNeededRequest
	}{"nodesNeeded", request})
}

// refusing is the error of a request that has findings.
func refusing(findings ...[]Finding) error {
	if all := slices.Concat(findings...); len(all) > 0 {
		return &UnreadableError{Findings: all}
	}
	return nil
}

func notNegative(path string, number int64) []Finding {
	if number >= 0 {
		return nil
	}
	return []Finding{{Code: badSettings, Severity: "error", Path: path, Message: fmt.Sprintf("%d is less than 0", number)}}
}

func oneOf(path, text string, known ...string) []Finding {
	if text == "" || slices.Contains(known, text) {
		return nil
	}
	hint := "one of " + strings.Join(known, ", ")
	return []Finding{{Code: badSettings, Severity: "error", Path: path, Message: fmt.Sprintf("there is no `%s`", text), Hint: hint}}
}

// inquire asks what changes nothing.
func inquire[A any](ctx context.Context, c *Cluster, inquiry any) (answer A, err error) {
	if err := ctx.Err(); err != nil {
		return answer, err
	}
	argument, err := json.Marshal(inquiry)
	var unreadable *UnreadableError
	if errors.As(err, &unreadable) {
		return answer, unreadable
	}
	if err != nil {
		return answer, fmt.Errorf("apportion: %w", err)
	}
	text, err := c.ask(ctx, engine.Inquire, argument)
	if err != nil {
		return answer, err
	}
	found, err := read[struct {
		Answer   A         `json:"answer"`
		Findings []Finding `json:"findings"`
	}](text)
	if err == nil && found.Findings != nil {
		err = &UnreadableError{Findings: found.Findings}
	}
	return found.Answer, err
}

// Objects of a question, as [Cluster.Apply] takes them. One that cannot be written is an *[UnreadableError].
type Objects []runtime.Object

// MarshalJSON writes each object with its apiVersion and kind.
func (o Objects) MarshalJSON() ([]byte, error) {
	texts := make([]json.RawMessage, len(o))
	for index, object := range o {
		_, text, finding := encode(object)
		if finding != nil {
			finding.Path = fmt.Sprintf("objects[%d]", index)
			return nil, &UnreadableError{Findings: []Finding{*finding}}
		}
		texts[index] = text
	}
	return json.Marshal(texts)
}

// FitRequest says what is to be counted.
type FitRequest struct {
	// A ResourceClaimTemplate or an unallocated ResourceClaim; where it is left out, the only template. It counts for nothing where Device is there.
	Subject *Ref `json:"subject,omitempty"`
	// A claim in a few words, instead of one that is written.
	Device *DeviceAsk `json:"device,omitempty"`
	// What is changed first.
	Supposing Supposition `json:"supposing"`
	// What is counted: "node", the default, "pool" or "class".
	Per string `json:"per,omitempty"`
}

// DeviceAsk is a claim with one request.
type DeviceAsk struct {
	// The DeviceClass.
	Class string `json:"class"`
	// How many devices; 1 where it is left out.
	Count int64 `json:"count,omitempty"`
	// CEL selectors, all of which must hold.
	Selectors []string `json:"selectors,omitempty"`
}

func (d *DeviceAsk) check() []Finding {
	if d == nil {
		return nil
	}
	return notNegative("device.count", d.Count)
}

// Supposition says what is changed before a question is answered.
type Supposition struct {
	// Objects that are deleted. What they own goes with them, with a Node its slices and Pods, with a Namespace everything in it; finalizers
	// keep what is in use. Pods end at once. One that With has, too, is replaced.
	Without []Ref `json:"without,omitempty"`
	// Objects that come, or replace those of the same name.
	With Objects `json:"with,omitempty"`
	// Taints that devices get.
	Taints []TaintSpec `json:"taints,omitempty"`
	// Nodes that take no new Pods.
	Cordon []string `json:"cordon,omitempty"`
	// The time, as RFC 3339; decides when Pods with a tolerated taint have to go.
	Now string `json:"now,omitempty"`
	// Nothing for these questions: whether Pods that have a place keep it.
	Placing string `json:"placing,omitempty"`
}

func (s *Supposition) check() []Finding {
	return oneOf("supposing.placing", s.Placing, "asGiven", "keep", "anew")
}

// TaintSpec is a taint for devices.
type TaintSpec struct {
	// Devices as `driver`, `driver/pool` or `driver/pool/device`; a part may be `*`.
	Devices string `json:"devices"`
	// The taint, as `key=value:effect` or `key:effect`.
	Taint string `json:"taint"`
}

// Bounds on a number; equal where it is known exactly.
type Bounds struct {
	// So many surely fit.
	AtLeast int64 `json:"atLeast"`
	// More surely do not; [math.MaxInt64] where no such number is known: more fit in one place than are counted, or the search for another one took
	// more than [Settings.MaxSteps].
	AtMost int64 `json:"atMost"`
}

// UnmarshalJSON reads bounds as the module writes them: the largest number of 64 bits for one that is not known.
func (b *Bounds) UnmarshalJSON(text []byte) error {
	var found struct {
		AtLeast uint64 `json:"atLeast"`
		AtMost  uint64 `json:"atMost"`
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return err
	}
	b.AtLeast, b.AtMost = int64(min(found.AtLeast, math.MaxInt64)), int64(min(found.AtMost, math.MaxInt64))
	return nil
}

// Fit says how many more of a claim fit.
type Fit struct {
	// In the whole cluster.
	Total Bounds `json:"total"`
	// By place, those where nothing fits included.
	Rows []FitRow `json:"rows"`
	// What is missing for one more, once so many are placed.
	RunsOut string `json:"runsOut"`
	// The most devices of each class that one claim could still get on one node as the cluster is.
	Largest []Largest `json:"largest"`
	// Devices that match the claim and are free, but left over once no more fit.
	Stranded int64 `json:"stranded"`
	// What counters and shared capacities have left in the pools that were filled: nothing, or what is too little for another claim.
	Remainders []Remainder `json:"remainders"`
	// Devices in use by namespace.
	Namespaces []NamespaceDevices `json:"namespaces"`
	// Taints of nodes where some fit, for Pods that tolerate them.
	NodeTaints []NodesOfTaint `json:"nodeTaints,omitempty"`
}

// NodesOfTaint is a taint of nodes and the nodes that have it.
type NodesOfTaint struct {
	// The taint, as `key=value:effect`.
	Taint string `json:"taint"`
	// The nodes.
	Nodes []string `json:"nodes"`
}

// FitRow says how many fit in one place.
type FitRow struct {
	// Node, `driver/pool` or class.
	Name string `json:"name"`
	// How many fit there, if all go there.
	Fits Bounds `json:"fits"`
}

// Largest is the largest claim of a class.
type Largest struct {
	// The class.
	Class string `json:"class"`
	// Devices of it that one claim can get on one node; a claim can have 32. Equal bounds are proven.
	Devices Bounds `json:"devices"`
}

// NamespaceDevices says what a namespace has.
type NamespaceDevices struct {
	// The namespace.
	Namespace string `json:"namespace"`
	// Devices in use there.
	Devices int64 `json:"devices"`
}

// Remainder is what is left of a counter, or of a capacity of a shared device.
type Remainder struct {
	// Driver.
	Driver string `json:"driver"`
	// Pool.
	Pool string `json:"pool"`
	// Counter set or device.
	Of string `json:"of"`
	// Counter or capacity.
	Name string `json:"name"`
	// How much is left.
	Left string `json:"left"`
	// How much there is.
	Total string `json:"total"`
}

// NodesNeededRequest says which Pods are asked about, and what new nodes would be like.
type NodesNeededRequest struct {
	// Of what copies are made: a Pod, a PodGroup with its Pods, a workload, or a ResourceClaimTemplate or ResourceClaim of which each Pod has
	// one. Where it is left out, the Pods that are Pending are asked about, unless Device is there.
	Subject *Ref `json:"subject,omitempty"`
	// Instead: Pods with a claim of a few words each.
	Device *DeviceAsk `json:"device,omitempty"`
	// How many copies; 1 where it is left out, at most 10,000.
	Copies int64 `json:"copies,omitempty"`
	// Nodes of the cluster like which new ones would be.
	Like []string `json:"like,omitempty"`
	// Nodes and ResourceSlices that new nodes would have: each Node, with the slices that name it, is a shape.
	Templates Objects `json:"templates,omitempty"`
	// Attributes of the new devices, as `domain/name`, whose values only a running driver knows.
	Open []string `json:"open,omitempty"`
	// Most new nodes of a shape; 20 where it is left out, at most 1,000.
	UpTo int64 `json:"upTo,omitempty"`
	// What is changed first.
	Supposing Supposition `json:"supposing"`
}

// NodesNeeded says how many new nodes make Pods fit.
type NodesNeeded struct {
	// Pods that are asked about.
	Pods int64 `json:"pods"`
	// Of them, those that have a place on the nodes that there are.
	Placed int64 `json:"placed"`
	// Those that have none there, the first 20.
	Left []PodLeft `json:"left"`
	// What nodes of each shape alone do for the others: first those like a node, then the templates, as asked.
	Shapes []ShapeNeeded `json:"shapes"`
	// Nodes of several shapes that together are enough for all, none of which can be left out; empty where one shape is enough, or no number is.
	Together []ShapeNodes `json:"together"`
}

// ShapeNeeded says what nodes of one shape do.
type ShapeNeeded struct {
	// The node that new ones are like.
	Shape string `json:"shape"`
	// Fewer are not enough, whatever the open attributes are. This is proven.
	AtLeast int64 `json:"atLeast"`
	// So many are enough for all Pods but those of Left, whatever the open attributes are; absent where no number up to the limit is known to be.
	AtMost *int64 `json:"atMost,omitempty"`
	// So many are enough if open attributes get the values that suit best; absent where no number is, or nothing is open.
	AtBest *int64 `json:"atBest,omitempty"`
	// Pods that get a place, on that many nodes; on as many as there may be where that many is not known.
	Placed int64 `json:"placed"`
	// Pods that get none, the first 20: where AtMost is known, on any number of such nodes.
	Left []PodLeft `json:"left"`
	// How many those are.
	LeftCount int64 `json:"leftCount"`
	// The new nodes with what they get, where AtMost is known.
	Nodes []NewNode `json:"nodes"`
	// Devices of these nodes together.
	Devices Devices `json:"devices"`
}

// PodLeft is a Pod without a place.
type PodLeft struct {
	// `namespace/name`.
	Pod string `json:"pod"`
	// Why it has none: the first line of its explanation.
	Why string `json:"why"`
}

// NewNode is a new node.
type NewNode struct {
	// Its name.
	Name string `json:"name"`
	// The Pods that are asked about and get a place there, as `namespace/name`.
	Pods []string `json:"pods"`
	// Its devices afterwards.
	Devices Devices `json:"devices"`
}

// ShapeNodes is a number of nodes of a shape.
type ShapeNodes struct {
	// The node that they are like.
	Shape string `json:"shape"`
	// How many.
	Nodes int64 `json:"nodes"`
}

// Devices says how many there are, and in what state.
type Devices struct {
	// All of them.
	Total int64 `json:"total"`
	// Held by a claim, as a whole or in part; not only with admin access.
	Used int64 `json:"used"`
	// In nobody's use, and there is a claim that could get them.
	Free int64 `json:"free"`
	// In nobody's use, and no claim of a class or template of the input could get them.
	Stranded int64 `json:"stranded"`
	// Of all these, those that claims with admin access have beside.
	Admin int64 `json:"admin"`
	// Not known to be used, where claims that may have devices are not given or were refused.
	Unknown int64 `json:"unknown,omitempty"`
}
