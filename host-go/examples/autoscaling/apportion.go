package main

import (
	"context"
	"maps"

	"apportion.dev/apportion"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ours asks a cluster of Apportion.
type ours struct {
	cluster *apportion.Cluster
	isFork  bool
	// prepared questions by the shape of their claim: claims of one shape get the same answer, and are read once.
	prepared map[shape]*apportion.Prepared
	// placed claims of a fork, and their devices. The cluster gets them in one call when the fork is committed, and never if it is dropped.
	placed []runtime.Object
	inUse  apportion.InUse
}

func newOurs(ctx context.Context, runtime *apportion.Runtime, classes []*resourcev1.DeviceClass) (Engine, error) {
	cluster, err := runtime.NewCluster(ctx, apportion.Settings{Version: "1.37"})
	if err != nil {
		return nil, err
	}
	made := &ours{cluster: cluster, prepared: map[shape]*apportion.Prepared{}}
	for _, class := range classes {
		if err := made.apply(class); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func (o *ours) apply(objects ...runtime.Object) error {
	findings, err := o.cluster.Apply(objects...)
	if err != nil {
		return err
	}
	return apportion.Refused(findings)
}

func (o *ours) AddNode(node *corev1.Node, slice *resourcev1.ResourceSlice) error {
	return o.apply(node, slice)
}

func (o *ours) RemoveNode(name string) error {
	for _, kind := range []string{"Node", "ResourceSlice"} {
		if _, err := o.cluster.Delete(apportion.Ref{Kind: kind, Name: name}); err != nil {
			return err
		}
	}
	return nil
}

func (o *ours) Take(claim *resourcev1.ResourceClaim) error { return o.apply(claim) }

func (o *ours) MayFit(ctx context.Context, claim *resourcev1.ResourceClaim, nodes []string) ([]string, error) {
	question, err := o.question(ctx, claim)
	if err != nil {
		return nil, err
	}
	question.Nodes = nodes
	fits, err := o.cluster.Fits(ctx, question)
	if err != nil {
		return nil, err
	}
	var those []string
	for index, node := range nodes {
		if fits[index] {
			those = append(those, node)
		}
	}
	return those, nil
}

func (o *ours) Place(ctx context.Context, claim *resourcev1.ResourceClaim, nodes []string) (string, error) {
	question, err := o.question(ctx, claim)
	if err != nil {
		return "", err
	}
	question.Nodes, question.InUse = nodes, o.inUse
	answer, err := o.cluster.Allocate(ctx, question)
	if err != nil || answer.Node == "" {
		return "", err
	}
	placed := *claim
	placed.Status.Allocation = &answer.Allocations[0]
	o.placed = append(o.placed, &placed)
	if !o.isFork {
		return answer.Node, o.settle()
	}
	for _, result := range placed.Status.Allocation.Devices.Results {
		device := apportion.DeviceID{Driver: result.Driver, Pool: result.Pool, Device: result.Device}
		o.inUse.Devices = append(o.inUse.Devices, apportion.DeviceInUse{DeviceID: device})
	}
	return answer.Node, nil
}

// settle applies the claims that were placed.
func (o *ours) settle() error {
	if len(o.placed) == 0 {
		return nil
	}
	placed := o.placed
	o.placed, o.inUse = nil, apportion.InUse{}
	return o.apply(placed...)
}

// question about a claim. A fork knows those that were prepared before it was made.
func (o *ours) question(ctx context.Context, claim *resourcev1.ResourceClaim) (apportion.Question, error) {
	question, of := apportion.Question{Claims: []*resourcev1.ResourceClaim{claim}}, shapeOf(claim)
	if o.prepared[of] == nil {
		if o.isFork {
			return question, nil
		}
		prepared, err := o.cluster.Prepare(ctx, question)
		if err != nil {
			return question, err
		}
		o.prepared[of] = prepared
	}
	return apportion.Question{Prepared: o.prepared[of]}, nil
}

func (o *ours) Fork(ctx context.Context) (Engine, error) {
	if err := o.settle(); err != nil {
		return nil, err
	}
	fork, err := o.cluster.Fork(ctx)
	return &ours{cluster: fork, isFork: true, prepared: maps.Clone(o.prepared)}, err
}

func (o *ours) Commit() error {
	if err := o.settle(); err != nil {
		return err
	}
	return o.cluster.Commit()
}

func (o *ours) Close() error { return o.cluster.Close() }
