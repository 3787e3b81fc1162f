package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// Engine is what decides: Apportion, or the reference.
type Engine interface {
	// AddNode takes in a node with its devices.
	AddNode(node *corev1.Node, slice *resourcev1.ResourceSlice) error
	// RemoveNode takes it out.
	RemoveNode(name string) error
	// Take takes in a claim that has devices.
	Take(claim *resourcev1.ResourceClaim) error
	// MayFit are those of the nodes where a claim may fit, in their order.
	MayFit(ctx context.Context, claim *resourcev1.ResourceClaim, nodes []string) ([]string, error)
	// Place gives devices to a claim on the first of the nodes where it fits, instead of those that it has, and says which; none is no error.
	// In a fork, those that it has may stay in use until the commit.
	Place(ctx context.Context, claim *resourcev1.ResourceClaim, nodes []string) (string, error)
	// Fork has the same facts, to try something out.
	Fork(ctx context.Context) (Engine, error)
	// Commit has the engine of which this is a fork become what the fork is.
	Commit() error
	// Close drops it.
	Close() error
}

// Group of nodes that can be made.
type Group struct {
	Name string
	// Make a node of the group.
	Make func(name string) (*corev1.Node, *resourcev1.ResourceSlice)
}

// chunk is how many nodes the first question about a claim names. Each further one names twice as many.
const chunk = 8

// Loop decides where the claims of Pods go, which nodes are made for them, and which nodes are not needed.
type Loop struct {
	engine Engine
	groups []Group
	nodes  []string
	gone   map[string]bool
	on     map[string][]*resourcev1.ResourceClaim
	// left are the nodes where a claim of this shape may still fit. Nothing is freed but on nodes that go, so a node that is left out stays out.
	left map[shape][]string
	made int
}

// NewLoop decides over no nodes.
func NewLoop(engine Engine, groups []Group) *Loop {
	return &Loop{
		engine: engine, groups: groups, gone: map[string]bool{}, on: map[string][]*resourcev1.ResourceClaim{}, left: map[shape][]string{},
	}
}

// AddNode takes in a node with the claims that have devices there.
func (l *Loop) AddNode(node *corev1.Node, slice *resourcev1.ResourceSlice, claims ...*resourcev1.ResourceClaim) error {
	if err := l.engine.AddNode(node, slice); err != nil {
		return err
	}
	for _, claim := range claims {
		if err := l.engine.Take(claim); err != nil {
			return err
		}
	}
	l.note(node.Name)
	l.on[node.Name] = claims
	return nil
}

func (l *Loop) note(node string) {
	l.nodes = append(l.nodes, node)
	for of, left := range l.left {
		// Lists may share their memory.
		l.left[of] = append(slices.Clip(left), node)
	}
}

// shape of claims: those of one shape fit on the same nodes.
type shape struct {
	class string
	count int64
}

func shapeOf(claim *resourcev1.ResourceClaim) shape {
	exactly := claim.Spec.Devices.Requests[0].Exactly
	return shape{exactly.DeviceClassName, exactly.Count}
}

// search places a claim on the first node where it fits.
func (l *Loop) search(ctx context.Context, engine Engine, claim *resourcev1.ResourceClaim) (string, error) {
	of := shapeOf(claim)
	left, isKnown := l.left[of]
	if !isKnown {
		var err error
		if left, err = engine.MayFit(ctx, claim, l.nodes); err != nil {
			return "", err
		}
	}
	isGone := func(name string) bool { return l.gone[name] }
	for count := chunk; len(left) > 0; count *= 2 {
		asked := left[:min(count, len(left))]
		nodes := slices.DeleteFunc(slices.Clone(asked), isGone)
		if len(nodes) > 0 {
			node, err := engine.Place(ctx, claim, nodes)
			if err != nil {
				return "", err
			}
			if node != "" {
				l.left[of] = left[slices.Index(left, node):]
				return node, nil
			}
		}
		left = left[len(asked):]
	}
	l.left[of] = nil
	return "", nil
}

// ScaleUp finds a place for the claim of a Pod that is Pending: on a node that there is, else on a new one of the first group that fits. It says
// where; nowhere is no error.
func (l *Loop) ScaleUp(ctx context.Context, claim *resourcev1.ResourceClaim) (string, error) {
	node, err := l.search(ctx, l.engine, claim)
	if err != nil {
		return "", err
	}
	for _, group := range l.groups {
		if node != "" {
			break
		}
		if node, err = l.make(ctx, group, claim); err != nil {
			return "", err
		}
	}
	if node != "" {
		l.on[node] = append(l.on[node], claim)
	}
	return node, nil
}

// make makes a node of a group if the claim fits there.
func (l *Loop) make(ctx context.Context, group Group, claim *resourcev1.ResourceClaim) (string, error) {
	fork, err := l.engine.Fork(ctx)
	if err != nil {
		return "", err
	}
	defer fork.Close()
	name := fmt.Sprintf("%s-made-%d", group.Name, l.made)
	if err := fork.AddNode(group.Make(name)); err != nil {
		return "", err
	}
	node, err := fork.Place(ctx, claim, []string{name})
	if err != nil || node == "" {
		return "", err
	}
	if err := fork.Commit(); err != nil {
		return "", err
	}
	l.made++
	l.note(name)
	return name, nil
}

// Consolidate removes a node if all of its claims find a place on others.
func (l *Loop) Consolidate(ctx context.Context, node string) (bool, error) {
	fork, err := l.engine.Fork(ctx)
	if err != nil {
		return false, err
	}
	defer fork.Close()
	left, moved := maps.Clone(l.left), map[string][]*resourcev1.ResourceClaim{}
	l.gone[node] = true
	isEmpty, err := func() (bool, error) {
		if err := fork.RemoveNode(node); err != nil {
			return false, err
		}
		for _, claim := range l.on[node] {
			target, err := l.search(ctx, fork, claim)
			if err != nil || target == "" {
				return false, err
			}
			moved[target] = append(moved[target], claim)
		}
		return true, fork.Commit()
	}()
	if err != nil || !isEmpty {
		l.left = left
		delete(l.gone, node)
		return false, err
	}
	delete(l.on, node)
	for target, claims := range moved {
		l.on[target] = slices.Concat(l.on[target], claims)
	}
	return true, nil
}
