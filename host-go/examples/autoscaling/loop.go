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
	// Take takes in a claim, with the devices that it has.
	Take(claim *resourcev1.ResourceClaim) error
	// MayFit are those of the nodes where a claim may fit, in their order.
	MayFit(ctx context.Context, claim *resourcev1.ResourceClaim, nodes []string) ([]string, error)
	// Place gives devices to claims that were taken in, one after another, each on the first of the nodes where it fits and instead of those
	// that it has. It says on which, and ends with the first claim that fits nowhere, which is no error.
	Place(ctx context.Context, claims []*resourcev1.ResourceClaim, nodes []string) ([]string, error)
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
	// small has the groups by name whose new nodes have no room for a claim of this shape.
	small map[shape]map[string]bool
	made  int
}

// NewLoop decides over no nodes.
func NewLoop(engine Engine, groups []Group) *Loop {
	return &Loop{
		engine: engine, groups: groups, gone: map[string]bool{}, on: map[string][]*resourcev1.ResourceClaim{}, left: map[shape][]string{},
		small: map[shape]map[string]bool{},
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

// search places claims of one shape, each on the first node where it fits. It ends with the first that fits nowhere.
func (l *Loop) search(ctx context.Context, engine Engine, claims []*resourcev1.ResourceClaim) (found []string, err error) {
	of := shapeOf(claims[0])
	left, isKnown := l.left[of]
	if !isKnown {
		if left, err = engine.MayFit(ctx, claims[0], l.nodes); err != nil {
			return nil, err
		}
	}
	isGone := func(name string) bool { return l.gone[name] }
	for count := chunk; len(left) > 0; count *= 2 {
		asked := left[:min(count, len(left))]
		if nodes := slices.DeleteFunc(slices.Clone(asked), isGone); len(nodes) > 0 {
			placed, err := engine.Place(ctx, claims[len(found):], nodes)
			if err != nil {
				return nil, err
			}
			found = append(found, placed...)
		}
		if len(found) == len(claims) {
			left = left[slices.Index(left, found[len(found)-1]):]
			break
		}
		left = left[len(asked):]
	}
	l.left[of] = left
	return found, nil
}

// ScaleUp finds a place for the claim of a Pod that is Pending: on a node that there is, else on a new one of the first group that fits. It says
// where; nowhere is no error.
func (l *Loop) ScaleUp(ctx context.Context, claim *resourcev1.ResourceClaim) (string, error) {
	if err := l.engine.Take(claim); err != nil {
		return "", err
	}
	found, err := l.search(ctx, l.engine, []*resourcev1.ResourceClaim{claim})
	if err != nil {
		return "", err
	}
	node := ""
	if len(found) > 0 {
		node = found[0]
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
	of := shapeOf(claim)
	if l.small[of][group.Name] {
		return "", nil
	}
	fork, err := l.engine.Fork(ctx)
	if err != nil {
		return "", err
	}
	defer fork.Close()
	name := fmt.Sprintf("%s-made-%d", group.Name, l.made)
	if err := fork.AddNode(group.Make(name)); err != nil {
		return "", err
	}
	found, err := fork.Place(ctx, []*resourcev1.ResourceClaim{claim}, []string{name})
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		if l.small[of] == nil {
			l.small[of] = map[string]bool{}
		}
		l.small[of][group.Name] = true
		return "", nil
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
		for claims := l.on[node]; len(claims) > 0; {
			count := slices.IndexFunc(claims, func(claim *resourcev1.ResourceClaim) bool { return shapeOf(claim) != shapeOf(claims[0]) })
			if count < 0 {
				count = len(claims)
			}
			targets, err := l.search(ctx, fork, claims[:count])
			if err != nil || len(targets) < count {
				return false, err
			}
			for index, target := range targets {
				moved[target] = append(moved[target], claims[index])
			}
			claims = claims[count:]
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
