// Command first puts two nodes with GPUs into a cluster, asks where a claim fits, and why another one does not.
package main

import (
	"context"
	"fmt"
	"log"

	"apportion.dev/apportion"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func main() {
	ctx := context.Background()
	runtime, err := apportion.NewRuntime(ctx, apportion.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer runtime.Close()
	cluster, err := runtime.NewCluster(ctx, apportion.Settings{Version: "1.37"})
	if err != nil {
		log.Fatal(err)
	}
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}
	findings, err := cluster.Apply(class, slice("node-a", 1), slice("node-b", 2))
	if err == nil {
		err = apportion.Refused(findings)
	}
	if err != nil {
		log.Fatal(err)
	}

	for _, count := range []int64{2, 3} {
		answer, err := cluster.Allocate(ctx, apportion.Question{Claims: []*resourcev1.ResourceClaim{claim(count)}})
		if err != nil {
			log.Fatal(err)
		}
		if answer.Node != "" {
			for _, result := range answer.Allocations[0].Devices.Results {
				fmt.Printf("%d GPUs: %s on %s\n", count, result.Device, answer.Node)
			}
			continue
		}
		for _, refusal := range answer.Refusals {
			fmt.Printf("%d GPUs: %s has %d free\n", count, refusal.Node, refusal.Requests[0].Free)
		}
	}
}

// slice publishes the GPUs of a node.
func slice(node string, devices int) *resourcev1.ResourceSlice {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}}
	slice.Spec = resourcev1.ResourceSliceSpec{
		Driver:   "gpu.example.com",
		NodeName: &node,
		Pool:     resourcev1.ResourcePool{Name: node, ResourceSliceCount: 1},
	}
	for index := range devices {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", index)})
	}
	return slice
}

// claim asks for so many GPUs.
func claim(count int64) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "training", Namespace: "ml"}}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{
		Name: "gpu",
		Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: "gpu",
			AllocationMode:  resourcev1.DeviceAllocationModeExactCount,
			Count:           count,
		},
	}}
	return claim
}
