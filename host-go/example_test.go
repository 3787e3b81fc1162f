package apportion_test

import (
	"context"
	"fmt"
	"log"

	"apportion.dev/apportion"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// nodeWith has a Node and the slice with its GPUs.
func nodeWith(name string, devices int) []runtime.Object {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}}
	slice.Spec.Driver, slice.Spec.NodeName = "gpu.example.com", &name
	slice.Spec.Pool = resourcev1.ResourcePool{Name: name, ResourceSliceCount: 1}
	for index := range devices {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", index)})
	}
	return []runtime.Object{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, slice}
}

// claimFor asks for so many GPUs.
func claimFor(count int64) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "training", Namespace: "ml"}}
	exactly := &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: exactly}}
	return claim
}

// exampleCluster has a node with two GPUs.
func exampleCluster(ctx context.Context) (*apportion.Runtime, *apportion.Cluster) {
	runtime, err := apportion.NewRuntime(ctx, apportion.Options{})
	if err != nil {
		log.Fatal(err)
	}
	cluster, err := runtime.NewCluster(ctx, apportion.Settings{Version: "1.37"})
	if err != nil {
		log.Fatal(err)
	}
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}
	if _, err := cluster.Apply(append(nodeWith("node-a", 2), class)...); err != nil {
		log.Fatal(err)
	}
	return runtime, cluster
}

// A new node is tried out in a fork, and kept because the claim fits there.
func ExampleCluster_Fork() {
	ctx := context.Background()
	runtime, cluster := exampleCluster(ctx)
	defer runtime.Close()
	claim := claimFor(4)
	question := apportion.Question{Claims: []*resourcev1.ResourceClaim{claim}}

	fork, err := cluster.Fork(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer fork.Close()
	if _, err := fork.Apply(nodeWith("node-b", 8)...); err != nil {
		log.Fatal(err)
	}
	answer, err := fork.Allocate(ctx, question)
	if err != nil {
		log.Fatal(err)
	}
	claim.Status.Allocation = &answer.Allocations[0]
	if _, err := fork.Apply(claim); err != nil {
		log.Fatal(err)
	}
	if err := fork.Commit(); err != nil {
		log.Fatal(err)
	}
	fits, err := cluster.Fits(ctx, question)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("on", answer.Node, "and another on", fits)
	// Output: on node-b and another on [false true]
}

// A claim is read once, and asked about before and after a node comes.
func ExampleCluster_Prepare() {
	ctx := context.Background()
	runtime, cluster := exampleCluster(ctx)
	defer runtime.Close()
	question := apportion.Question{Claims: []*resourcev1.ResourceClaim{claimFor(4)}}
	prepared, err := cluster.Prepare(ctx, question)
	if err != nil {
		log.Fatal(err)
	}
	defer prepared.Close()
	for _, devices := range []int{2, 8} {
		if _, err := cluster.Apply(nodeWith("node-b", devices)...); err != nil {
			log.Fatal(err)
		}
		fits, err := cluster.Fits(ctx, apportion.Question{Prepared: prepared, Nodes: []string{"node-b"}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(devices, "GPUs:", fits[0])
	}
	// Output:
	// 2 GPUs: false
	// 8 GPUs: true
}

// Pods with a claim for two GPUs each are asked about before there are nodes for them.
func ExampleCluster_NodesNeeded() {
	ctx := context.Background()
	runtime, cluster := exampleCluster(ctx)
	defer runtime.Close()
	found, err := cluster.NodesNeeded(ctx, apportion.NodesNeededRequest{
		Device:    &apportion.DeviceAsk{Class: "gpu", Count: 2},
		Copies:    10,
		Templates: nodeWith("template", 8),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Placed, "has a place;", found.Shapes[0].AtLeast, "nodes are needed for the others")
	// Output: 1 has a place; 3 nodes are needed for the others
}

// Claims are counted for which there is room.
func ExampleCluster_Fit() {
	ctx := context.Background()
	runtime, cluster := exampleCluster(ctx)
	defer runtime.Close()
	for _, count := range []int64{1, 3} {
		found, err := cluster.Fit(ctx, apportion.FitRequest{Device: &apportion.DeviceAsk{Class: "gpu", Count: count}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(count, "GPUs:", found.Total.AtLeast, "claims fit")
	}
	// Output:
	// 1 GPUs: 2 claims fit
	// 3 GPUs: 0 claims fit
}
