package apportion

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"apportion.dev/apportion/internal/engine"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
)

var (
	// ErrGaveUp says that a question took more steps than [Settings.MaxSteps].
	ErrGaveUp = errors.New("apportion: the search took more steps than the limit: raise Settings.MaxSteps, or ask for less")
	// ErrClosed says that the cluster was closed or committed, or the one that it is a fork of, or the runtime, or a prepared question. The text of
	// the error says which. A zero [Runtime], [Cluster] or [Prepared] is closed.
	ErrClosed = errors.New("apportion: the cluster is closed")
	// ErrTooLarge says that the module's memory has no room for the argument. Nothing has changed.
	ErrTooLarge = engine.ErrTooLarge
	// ErrNoCompiler says that wazero has no compiler for the platform; [Options.Interpret] has it interpret the module.
	ErrNoCompiler = errors.New("apportion: wazero has no compiler for this platform; interpreted, the module is some 200 times slower: set Options.Interpret to have that")
	// ErrForkLost says that the module trapped and that a fork was lost with it. Its cluster was filled again.
	ErrForkLost = errors.New("apportion: the fork was lost when the module trapped: fork the cluster again")
	// ErrTrapped says that the module trapped in this call, or has made 2^32 forks. The cluster was filled again from its copies and can be asked
	// on.
	ErrTrapped = errors.New("apportion: the module trapped, for example because it needed more than Options.MaxMemory")
	// ErrNotPrepared says that a question was prepared in another cluster, or after the fork was made.
	ErrNotPrepared = errors.New("apportion: the question was prepared in another cluster, or after the fork was made: prepare it in this one")
	// ErrNoFork says that only a fork can be committed.
	ErrNoFork = errors.New("apportion: the cluster is no fork")
	// ErrChanged says that the cluster of a fork has changed since the fork was made, so that a commit would lose the change.
	ErrChanged = errors.New("apportion: the cluster has changed since it was forked: fork it again")
)

// closedError is [ErrClosed] where something else than the cluster that was asked is closed.
type closedError string

const (
	errRuntimeClosed  closedError = "apportion: the runtime is closed"
	errParentClosed   closedError = "apportion: the cluster of which this is a fork is closed"
	errPreparedClosed closedError = "apportion: the prepared question is closed"
)

func (e closedError) Error() string { return string(e) }

// Is says that it is ErrClosed.
func (e closedError) Is(target error) bool { return target == ErrClosed }

// Settings of a cluster; all may be left out.
type Settings struct {
	// Version of Kubernetes whose rules hold, "1.36" or "1.36.2"; the newest with every gate on when empty.
	Version string `json:"version,omitempty"`
	// FeatureGates that differ from the version's defaults.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// Components that are of another version or have other gates, by the names of their programs, "kubelet" for example. They count in
	// simulations alone: a cluster does not read them.
	Components map[string]Build `json:"components,omitempty"`
	// Mode is "sound", the default, or "reference", which reproduces the version's known defects.
	Mode string `json:"mode,omitempty"`
	// Placement is "scores", the default, for the node that fits and that kube-scheduler scores best, or "first" for the first by name.
	Placement string `json:"placement,omitempty"`
	// MaxSteps of one question: one step is one device tried for one request. Zero for the default.
	MaxSteps uint64 `json:"maxSteps,omitempty"`
}

// Build of a component.
type Build struct {
	// Version as in [Settings]; the cluster's when empty.
	Version string `json:"version,omitempty"`
	// FeatureGates that differ from the version's defaults.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
}

// Ref names an object.
type Ref struct {
	// Kind without its group, such as `ResourceClaim`.
	Kind string `json:"kind"`
	// Namespace; empty for kinds without one, and for `default`.
	Namespace string `json:"namespace"`
	// Name of the object.
	Name string `json:"name"`
}

// String writes `ResourceClaim ml/training`.
func (r Ref) String() string {
	return strings.Join(slices.DeleteFunc([]string{r.Kind, path.Join(r.Namespace, r.Name)}, isEmpty), " ")
}

func isEmpty(text string) bool { return text == "" }

// Finding is something worth knowing about an object or a question.
type Finding struct {
	// Code of the kind of problem; published, never renamed.
	Code string `json:"code"`
	// Severity is "error", "warning" or "info".
	Severity string `json:"severity"`
	// Kind is the API server's class of the error, where it is one that the API server gives.
	Kind string `json:"kind,omitempty"`
	// Object it is about, where there is one.
	Object *Ref `json:"object,omitempty"`
	// Path of the field, as the API server writes it.
	Path string `json:"path,omitempty"`
	// Message says on one line what is wrong.
	Message string `json:"message"`
	// Hint says what to do about it, where that is known.
	Hint string `json:"hint,omitempty"`
	// Fix is the correction, where there is one that is certain: "unnest", or an object with "rename", "set" or "nest".
	Fix json.RawMessage `json:"fix,omitempty"`
}

// String writes the finding on one line: object, path, message, hint and code.
func (f Finding) String() string {
	object := ""
	if f.Object != nil {
		object = f.Object.String()
	}
	text := strings.Join(slices.DeleteFunc([]string{object, f.Path, f.Message}, isEmpty), ": ")
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	return text + " (" + f.Code + ")"
}

// Question is "allocate these claims together, on one of these nodes".
type Question struct {
	// Claims of one Pod, unallocated, in its order. They need not be in the cluster. Devices that a claim of the same name has there are in use.
	Claims []*resourcev1.ResourceClaim
	// Prepared stands for a question that [Cluster.Prepare] has read, instead of Claims. Its nodes and what is in use hold where Nodes and InUse are
	// empty.
	Prepared *Prepared
	// Nodes to try, in this order; all nodes by name when empty.
	Nodes []string
	// InUse is what is taken beyond what the claims in the cluster say.
	InUse InUse
}

// KnownQuestion is "allocate these claims of the cluster".
type KnownQuestion struct {
	// Claims in the order of the question; no namespace means `default`. One that has devices is to get others; those that it has are in use
	// meanwhile.
	Claims []types.NamespacedName
	// Nodes to try, in this order; all nodes by name when empty.
	Nodes []string
	// InUse is what is taken beyond what the claims in the cluster say.
	InUse InUse
	// Take has the cluster's claims have the allocations of the answer from then on.
	Take bool
}

// encode writes the question, with the names of one namespace that follow one another together.
func (q *KnownQuestion) encode() ([]byte, error) {
	type names struct {
		Namespace string   `json:"namespace,omitempty"`
		Names     []string `json:"names"`
	}
	var claims []names
	for _, claim := range q.Claims {
		if last := len(claims) - 1; last >= 0 && claims[last].Namespace == claim.Namespace {
			claims[last].Names = append(claims[last].Names, claim.Name)
			continue
		}
		claims = append(claims, names{claim.Namespace, []string{claim.Name}})
	}
	return json.Marshal(struct {
		Claims []names  `json:"claims,omitempty"`
		Nodes  []string `json:"nodes,omitempty"`
		InUse  InUse    `json:"inUse,omitzero"`
		Take   bool     `json:"take,omitempty"`
	}{claims, q.Nodes, q.InUse, q.Take})
}

// InUse is what is taken beyond what the claims in the cluster say.
type InUse struct {
	// Devices taken as a whole.
	Devices []DeviceInUse `json:"devices,omitempty"`
	// Shares of shared devices.
	Shares []DeviceInUse `json:"shares,omitempty"`
	// Consumed is capacity taken of shared devices.
	Consumed []DeviceInUse `json:"consumed,omitempty"`
}

// DeviceInUse is a device that is taken.
type DeviceInUse struct {
	DeviceID
	// ShareID of a share.
	ShareID string `json:"shareID,omitempty"`
	// Capacity taken, by name.
	Capacity map[resourcev1.QualifiedName]resource.Quantity `json:"capacity,omitempty"`
}

// Result of one question among several: an answer, or the error that it has alone.
type Result[A any] struct {
	// Answer to the question; the zero value where Err is set.
	Answer A
	// Err is what [Cluster.Allocate] or [Cluster.Fits] returns for the question alone.
	Err error
}

// Answer to a [Question].
type Answer struct {
	// Node on which the claims fit; empty when they fit on none.
	Node string `json:"node"`
	// Allocations, one per claim in the order of the question.
	Allocations []resourcev1.AllocationResult `json:"allocations"`
	// Refusals, one per node tried, when the claims fit on none.
	Refusals []Refusal `json:"nodes"`
	// Findings beside the decision.
	Findings []Finding `json:"findings"`
	// Steps of the search.
	Steps uint64 `json:"steps"`
}

// Refusal says why a node was refused.
type Refusal struct {
	// Node that was refused.
	Node string `json:"node"`
	// Requests has how many devices survived each test, per request.
	Requests []RequestFunnel `json:"requests"`
	// Failure has the reason where it is not that the claims do not fit.
	Failure *Failure `json:"failure,omitempty"`
}

// Failure is a reason with words of its own.
type Failure struct {
	// Code of the finding.
	Code string `json:"code"`
	// Message of the finding.
	Message string `json:"error"`
	// Finding behind it.
	Finding Finding `json:"finding"`
	// NodeLocal says that it concerns one node only, so that other nodes are tried.
	NodeLocal bool `json:"nodeLocal"`
	// Reference has kube-scheduler's words.
	Reference string `json:"reference"`
}

// FailedError says that the input is wrong: a claim, a class or a slice. kube-scheduler gives up the Pod.
type FailedError struct {
	// Node on which it was noticed.
	Node string `json:"node"`
	Failure
}

func (e *FailedError) Error() string {
	if e.Node == "" {
		return fmt.Sprintf("apportion: %s (%s)", e.Message, e.Code)
	}
	return fmt.Sprintf("apportion: node %s: %s (%s)", e.Node, e.Message, e.Code)
}

// UnreadableError says that settings, a question or an object cannot be read. At least one of the findings is an error.
type UnreadableError struct {
	// Findings about it, in the order of its fields.
	Findings []Finding
}

func (e *UnreadableError) Error() string {
	if at := slices.IndexFunc(e.Findings, Finding.isError); at >= 0 {
		return "apportion: " + e.Findings[at].String()
	}
	return "apportion: the question cannot be read"
}

// Refused is the error for the first object that [Cluster.Apply] left out, an *[UnreadableError]; nil where it took all of them in.
func Refused(findings [][]Finding) error {
	if at := slices.IndexFunc(findings, hasError); at >= 0 {
		return &UnreadableError{Findings: findings[at]}
	}
	return nil
}

func hasError(findings []Finding) bool { return slices.ContainsFunc(findings, Finding.isError) }

func (f Finding) isError() bool { return f.Severity == "error" }

// encode writes the question, with the number of the prepared one that it stands for.
func (q *Question) encode(prepared uint32) ([]byte, error) {
	claims := make([]json.RawMessage, len(q.Claims))
	for index, claim := range q.Claims {
		_, text, finding := encode(claim)
		if finding != nil {
			finding.Path = strings.TrimSuffix(fmt.Sprintf("claims[%d].%s", index, finding.Path), ".")
			return nil, &UnreadableError{Findings: []Finding{*finding}}
		}
		claims[index] = text
	}
	return json.Marshal(struct {
		Claims   []json.RawMessage `json:"claims,omitempty"`
		Prepared uint32            `json:"prepared,omitempty"`
		Nodes    []string          `json:"nodes,omitempty"`
		InUse    InUse             `json:"inUse,omitzero"`
	}{claims, prepared, q.Nodes, q.InUse})
}

// again writes a prepared question for a crew's instances.
func (q *Question) again(c *Cluster, crew *crew) ([]byte, error) {
	if len(q.Claims) > 0 {
		return nil, misused("a question has claims and a prepared question", "leave one of them out")
	}
	number, err := q.Prepared.in(c, crew)
	if err != nil {
		return nil, err
	}
	return q.encode(number)
}

// badSettings is the code of settings, questions and requests that cannot be read.
const badSettings = "read/bad-settings"

// misused is the error of a question that contradicts itself.
func misused(message, hint string) error {
	return &UnreadableError{Findings: []Finding{{Code: badSettings, Severity: "error", Message: message, Hint: hint}}}
}
