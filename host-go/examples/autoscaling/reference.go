package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// theirs asks the allocator of Kubernetes as kube-scheduler does: a new allocator for each claim, over all slices, asked about one node after
// another. What is taken is kept, and not derived from the claims anew each time.
type theirs struct {
	parent  *theirs
	classes classes
	cache   *cel.Cache
	nodes   map[string]*corev1.Node
	slices  []*resourcev1.ResourceSlice
	taken   sets.Set[structured.DeviceID]
	devices map[string][]structured.DeviceID
}

// classes by name.
type classes map[string]*resourcev1.DeviceClass

func (c classes) List() ([]*resourcev1.DeviceClass, error) {
	return slices.Collect(maps.Values(c)), nil
}

func (c classes) Get(name string) (*resourcev1.DeviceClass, error) {
	if class := c[name]; class != nil {
		return class, nil
	}
	return nil, fmt.Errorf("there is no class %s", name)
}

func newTheirs(all []*resourcev1.DeviceClass) Engine {
	made := &theirs{
		classes: classes{}, cache: cel.NewCache(64, cel.Features{}), nodes: map[string]*corev1.Node{},
		taken: sets.New[structured.DeviceID](), devices: map[string][]structured.DeviceID{},
	}
	for _, class := range all {
		made.classes[class.Name] = class
	}
	return made
}

func (t *theirs) AddNode(node *corev1.Node, slice *resourcev1.ResourceSlice) error {
	t.nodes[node.Name], t.slices = node, append(t.slices, slice)
	return nil
}

func (t *theirs) RemoveNode(name string) error {
	delete(t.nodes, name)
	t.slices = slices.DeleteFunc(t.slices, func(slice *resourcev1.ResourceSlice) bool { return slice.Name == name })
	return nil
}

func (t *theirs) Take(claim *resourcev1.ResourceClaim) error {
	if claim.Status.Allocation != nil {
		t.take(claim, claim.Status.Allocation)
	}
	return nil
}

func (t *theirs) take(claim *resourcev1.ResourceClaim, allocation *resourcev1.AllocationResult) {
	var devices []structured.DeviceID
	for _, result := range allocation.Devices.Results {
		devices = append(devices, structured.MakeDeviceID(result.Driver, result.Pool, result.Device))
	}
	t.taken.Delete(t.devices[claim.Name]...)
	t.taken.Insert(devices...)
	t.devices[claim.Name] = devices
}

// MayFit leaves nothing out: there is no cheaper question than Place.
func (t *theirs) MayFit(_ context.Context, _ *resourcev1.ResourceClaim, nodes []string) ([]string, error) {
	return nodes, nil
}

func (t *theirs) Place(ctx context.Context, claims []*resourcev1.ResourceClaim, nodes []string) (found []string, err error) {
	for _, claim := range claims {
		node, err := t.place(ctx, claim, nodes)
		if err != nil || node == "" {
			return found, err
		}
		found = append(found, node)
	}
	return found, nil
}

func (t *theirs) place(ctx context.Context, claim *resourcev1.ResourceClaim, nodes []string) (string, error) {
	state := structured.AllocatedState{
		AllocatedDevices:         t.taken,
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	allocator, err := structured.NewAllocator(ctx, structured.Features{}, state, t.classes, t.slices, t.cache)
	if err != nil {
		return "", err
	}
	for _, name := range nodes {
		results, err := allocator.Allocate(ctx, t.nodes[name], []*resourcev1.ResourceClaim{claim})
		if err != nil {
			return "", err
		}
		if len(results) > 0 {
			t.take(claim, &results[0])
			return name, nil
		}
	}
	return "", nil
}

func (t *theirs) Fork(context.Context) (Engine, error) {
	return &theirs{
		parent: t, classes: t.classes, cache: t.cache, nodes: maps.Clone(t.nodes), slices: slices.Clone(t.slices),
		taken: t.taken.Clone(), devices: maps.Clone(t.devices),
	}, nil
}

func (t *theirs) Commit() error {
	parent := t.parent
	parent.nodes, parent.slices, parent.taken, parent.devices = t.nodes, t.slices, t.taken, t.devices
	return nil
}

func (t *theirs) Close() error { return nil }
