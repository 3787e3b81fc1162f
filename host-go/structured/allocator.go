package structured

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"apportion.dev/apportion"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/dynamic-resource-allocation/cel"
)

// unknownClass is the code of an error about a class that is not there.
const unknownClass = "alloc/unknown-class"

// errNoNode says that a node is missing.
var errNoNode = errors.New("apportion: a node is needed")

// Allocators makes allocators that share long-lived clusters, one for each set of features. It is safe for concurrent use, and so are they.
type Allocators struct {
	runtime func() (*apportion.Runtime, error)
	mutex   sync.Mutex
	facts   map[Features]*facts
}

// New makes allocators over a runtime, which has to outlive them.
func New(runtime *apportion.Runtime) *Allocators {
	return &Allocators{
		runtime: func() (*apportion.Runtime, error) { return runtime, nil },
		facts:   map[Features]*facts{},
	}
}

// shared are the allocators of the package's own function. The module is compiled when the first one is made.
var shared = &Allocators{
	runtime: sync.OnceValues(func() (*apportion.Runtime, error) {
		return apportion.NewRuntime(context.Background(), apportion.Options{})
	}),
	facts: map[Features]*facts{},
}

// NewAllocator is [Allocators.NewAllocator] over a runtime that the package keeps. Its first call compiles the module, which takes seconds;
// a program that has a runtime, or a directory for the compiled module, uses [New].
func NewAllocator(
	ctx context.Context, features Features, allocated AllocatedState, classes DeviceClassLister, slices []*resourcev1.ResourceSlice,
	cache *cel.Cache,
) (Allocator, error) {
	return shared.NewAllocator(ctx, features, allocated, classes, slices, cache)
}

// NewAllocator makes an allocator for slices and what is taken of their devices. Objects must not be changed afterwards: what an informer gives
// is replaced, not changed. The cluster takes in what has changed since the last allocator with the same features, and not everything again.
//
// Selectors are compiled and kept in the cluster, so that the cache is not used; it may be nil.
func (a *Allocators) NewAllocator(
	_ context.Context, features Features, allocated AllocatedState, classes DeviceClassLister, all []*resourcev1.ResourceSlice,
	_ *cel.Cache,
) (Allocator, error) {
	facts, err := a.of(features)
	if err != nil {
		return nil, err
	}
	return &allocator{facts: facts, allocated: allocated, classes: classes, slices: slices.Clone(all)}, nil
}

func (a *Allocators) of(features Features) (*facts, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if known, ok := a.facts[features]; ok {
		return known, nil
	}
	runtime, err := a.runtime()
	if err != nil {
		return nil, err
	}
	made, err := newFacts(runtime, features)
	if err != nil {
		return nil, err
	}
	a.facts[features] = made
	return made, nil
}

// allocator asks about one state of the facts.
type allocator struct {
	facts     *facts
	allocated AllocatedState
	classes   DeviceClassLister
	slices    []*resourcev1.ResourceSlice
	// inUse by pool, made of allocated when it is first needed.
	once  sync.Once
	inUse map[pool]*apportion.InUse
}

// Allocate finds devices for claims on one node. No place is no result and no error. Errors that concern this node only are
// [ErrFailedAllocationOnNode]; a search beyond the limit of steps is one of them, and [apportion.ErrGaveUp]. What is wrong with the input is a
// *[apportion.FailedError] below an error with the reference's words.
//
// A context is looked at before the search begins; what limits a search is its number of steps.
func (a *allocator) Allocate(
	ctx context.Context, node *corev1.Node, claims []*resourcev1.ResourceClaim,
) ([]resourcev1.AllocationResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("allocation was interrupted: %w", context.Cause(ctx))
	}
	if node == nil {
		return nil, errNoNode
	}
	a.once.Do(a.sortInUse)
	var answer *apportion.Answer
	aboutClasses, err := a.facts.with(a, node, claims, func(cluster *apportion.Cluster, pools []pool) (err error) {
		question := apportion.Question{Claims: named(claims), Nodes: []string{node.Name}, InUse: a.inUseOf(pools)}
		answer, err = cluster.Allocate(ctx, question)
		return err
	})
	var failed *apportion.FailedError
	switch {
	case errors.As(err, &failed):
		behind := []error{err}
		if failed.Code == unknownClass && aboutClasses != nil {
			behind = append(behind, aboutClasses)
		}
		return nil, &decisionError{failed.Reference, behind}
	case errors.Is(err, apportion.ErrGaveUp):
		return nil, &decisionError{err.Error(), []error{ErrFailedAllocationOnNode, err}}
	case err != nil:
		return nil, err
	case answer.Node != "":
		return answer.Allocations, nil
	}
	for _, refusal := range answer.Refusals {
		if failure := refusal.Failure; failure != nil {
			return nil, &decisionError{failure.Reference, []error{ErrFailedAllocationOnNode}}
		}
	}
	return nil, nil
}

// decisionError has the reference's words, and what is behind it.
type decisionError struct {
	text   string
	causes []error
}

func (e *decisionError) Error() string { return e.text }

func (e *decisionError) Unwrap() []error { return e.causes }

// named gives a name to claims that have none, such as those of templates: a question needs one. Their types say what they are.
func named(claims []*resourcev1.ResourceClaim) []*resourcev1.ResourceClaim {
	all := make([]*resourcev1.ResourceClaim, len(claims))
	for index, claim := range claims {
		own := *claim
		own.TypeMeta = metav1.TypeMeta{}
		if own.Name == "" {
			own.Name = fmt.Sprintf("%s%d", claim.GenerateName, index)
		}
		all[index] = &own
	}
	return all
}

func (a *allocator) sortInUse() {
	a.inUse = map[pool]*apportion.InUse{}
	of := func(id DeviceID) (*apportion.InUse, apportion.DeviceInUse) {
		key := pool{id.Driver.String(), id.Pool.String()}
		if a.inUse[key] == nil {
			a.inUse[key] = &apportion.InUse{}
		}
		return a.inUse[key], apportion.DeviceInUse{DeviceID: apportion.DeviceID{Driver: key.driver, Pool: key.name, Device: id.Device.String()}}
	}
	for id := range a.allocated.AllocatedDevices {
		inUse, device := of(id)
		inUse.Devices = append(inUse.Devices, device)
	}
	for id := range a.allocated.AllocatedSharedDeviceIDs {
		inUse, device := of(id.GetDeviceID())
		device.ShareID = id.ShareID.String()
		inUse.Shares = append(inUse.Shares, device)
	}
	for id, consumed := range a.allocated.AggregatedCapacity {
		inUse, device := of(id)
		device.Capacity = amounts(consumed)
		inUse.Consumed = append(inUse.Consumed, device)
	}
}

// inUseOf is what is taken of these pools.
func (a *allocator) inUseOf(pools []pool) apportion.InUse {
	all := apportion.InUse{}
	for _, key := range pools {
		if inUse := a.inUse[key]; inUse != nil {
			all.Devices = append(all.Devices, inUse.Devices...)
			all.Shares = append(all.Shares, inUse.Shares...)
			all.Consumed = append(all.Consumed, inUse.Consumed...)
		}
	}
	return all
}
