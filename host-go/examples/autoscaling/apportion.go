package main

import (
	"context"

	"apportion.dev/apportion"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// ours asks a cluster of Apportion.
type ours struct{ cluster *apportion.Cluster }

func newOurs(ctx context.Context, runtime *apportion.Runtime, classes []*resourcev1.DeviceClass) (Engine, error) {
	cluster, err := runtime.NewCluster(ctx, apportion.Settings{Version: "1.37"})
	if err != nil {
		return nil, err
	}
	made := &ours{cluster}
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
	fits, err := o.cluster.Fits(ctx, apportion.Question{Claims: []*resourcev1.ResourceClaim{claim}, Nodes: nodes})
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

func (o *ours) Place(ctx context.Context, claims []*resourcev1.ResourceClaim, nodes []string) ([]string, error) {
	question := apportion.KnownQuestion{Nodes: nodes, Take: true}
	for _, claim := range claims {
		question.Claims = append(question.Claims, types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name})
	}
	results, err := o.cluster.AllocateEach(ctx, question)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, result := range results {
		if result.Err != nil {
			return nil, result.Err
		}
		if result.Answer.Node == "" {
			break
		}
		found = append(found, result.Answer.Node)
	}
	return found, nil
}

func (o *ours) Fork(ctx context.Context) (Engine, error) {
	fork, err := o.cluster.Fork(ctx)
	return &ours{fork}, err
}

func (o *ours) Commit() error { return o.cluster.Commit() }

func (o *ours) Close() error { return o.cluster.Close() }
