// Command kueue finds flavors for the PodSets of a workload before its Pods exist, as a queue does that admits whole workloads: each PodSet gets the
// first flavor on whose nodes all of its Pods find devices, beside what other PodSets and workloads have.
package main

import (
	"context"
	"fmt"
	"log"
	"maps"
	"slices"

	"apportion.dev/apportion"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
)

// Flavor is a kind of nodes: those with these labels.
type Flavor struct {
	Name   string
	Labels map[string]string
}

// PodSet is so many equal Pods, each with claims of its own.
type PodSet struct {
	Name   string
	Count  int
	Claims []resourcev1.ResourceClaimSpec
}

// Workload is admitted as a whole or not at all.
type Workload struct {
	Namespace, Name string
	PodSets         []PodSet
}

// Assignment of a PodSet: a flavor, and a node for each Pod. Without a flavor, Fits has the most Pods that fit on one, by flavor.
type Assignment struct {
	PodSet, Flavor string
	Nodes          []string
	Fits           map[string]int
}

// Queue admits workloads to a cluster.
type Queue struct {
	Cluster *apportion.Cluster
	Nodes   []*corev1.Node
	Flavors []Flavor
}

// Admit finds a flavor for each PodSet and takes the devices. Nothing is taken where one finds none: its assignment is the last.
func (q *Queue) Admit(ctx context.Context, workload Workload) (assignments []Assignment, isAdmitted bool, err error) {
	whole, err := q.Cluster.Fork(ctx)
	if err != nil {
		return nil, false, err
	}
	defer whole.Close()
	for _, set := range workload.PodSets {
		assignment, err := q.assign(ctx, whole, workload, set)
		if err != nil {
			return nil, false, err
		}
		assignments = append(assignments, assignment)
		if assignment.Flavor == "" {
			return assignments, false, nil
		}
	}
	return assignments, true, whole.Commit()
}

func (q *Queue) assign(ctx context.Context, whole *apportion.Cluster, workload Workload, set PodSet) (Assignment, error) {
	fits := map[string]int{}
	for _, flavor := range q.Flavors {
		try, err := whole.Fork(ctx)
		if err != nil {
			return Assignment{}, err
		}
		nodes, err := place(ctx, try, q.nodes(flavor), workload, set)
		if err == nil && len(nodes) == set.Count {
			return Assignment{PodSet: set.Name, Flavor: flavor.Name, Nodes: nodes}, try.Commit()
		}
		if closing := try.Close(); err == nil {
			err = closing
		}
		if err != nil {
			return Assignment{}, err
		}
		fits[flavor.Name] = len(nodes)
	}
	return Assignment{PodSet: set.Name, Fits: fits}, nil
}

// nodes of a flavor, by name.
func (q *Queue) nodes(flavor Flavor) []string {
	var names []string
	for _, node := range q.Nodes {
		hasAll := true
		for key, value := range flavor.Labels {
			hasAll = hasAll && node.Labels[key] == value
		}
		if hasAll {
			names = append(names, node.Name)
		}
	}
	slices.Sort(names)
	return names
}

// place puts Pods of a PodSet on nodes until one fits nowhere, and says where they are.
func place(ctx context.Context, try *apportion.Cluster, nodes []string, workload Workload, set PodSet) ([]string, error) {
	var placed []string
	// Without nodes a question would be about all that there are.
	for len(nodes) > 0 && len(placed) < set.Count {
		question := apportion.Question{Nodes: nodes}
		for index, spec := range set.Claims {
			claim := &resourcev1.ResourceClaim{Spec: spec}
			claim.Namespace, claim.Name = workload.Namespace, fmt.Sprintf("%s-%s-%d-%d", workload.Name, set.Name, len(placed), index)
			question.Claims = append(question.Claims, claim)
		}
		answer, err := try.Allocate(ctx, question)
		if err != nil || answer.Node == "" {
			return placed, err
		}
		for index, claim := range question.Claims {
			claim.Status.Allocation = &answer.Allocations[index]
			if err := apply(try, claim); err != nil {
				return placed, err
			}
		}
		placed = append(placed, answer.Node)
	}
	return placed, nil
}

// apply takes objects in, all of them.
func apply(cluster *apportion.Cluster, objects ...kruntime.Object) error {
	findings, err := cluster.Apply(objects...)
	if err != nil {
		return err
	}
	return apportion.Refused(findings)
}

func main() {
	ctx := context.Background()
	runtime, err := apportion.NewRuntime(ctx, apportion.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer runtime.Close()
	queue, err := example(ctx, runtime)
	if err != nil {
		log.Fatal(err)
	}
	for _, workload := range []Workload{
		training("first", 2, 4),
		training("second", 2, 4),
		training("third", 1, 1),
	} {
		assignments, isAdmitted, err := queue.Admit(ctx, workload)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: admitted %v\n", workload.Name, isAdmitted)
		for _, one := range assignments {
			if one.Flavor != "" {
				fmt.Printf("  %s on %s: %v\n", one.PodSet, one.Flavor, one.Nodes)
				continue
			}
			for _, flavor := range slices.Sorted(maps.Keys(one.Fits)) {
				fmt.Printf("  %s: %d Pods fit on %s\n", one.PodSet, one.Fits[flavor], flavor)
			}
		}
	}
}

// example has two reserved nodes with 8 GPUs each, and a spot node with 4.
func example(ctx context.Context, runtime *apportion.Runtime) (*Queue, error) {
	cluster, err := runtime.NewCluster(ctx, apportion.Settings{Version: "1.37"})
	if err != nil {
		return nil, err
	}
	queue := &Queue{Cluster: cluster, Flavors: []Flavor{
		{"reserved", map[string]string{"capacity": "reserved"}},
		{"spot", map[string]string{"capacity": "spot"}},
	}}
	if err := apply(cluster, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}); err != nil {
		return nil, err
	}
	for _, one := range []struct {
		name, capacity string
		devices        int
	}{{"reserved-a", "reserved", 8}, {"reserved-b", "reserved", 8}, {"spot-a", "spot", 4}} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: one.name, Labels: map[string]string{"capacity": one.capacity}}}
		queue.Nodes = append(queue.Nodes, node)
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: one.name}}
		slice.Spec = resourcev1.ResourceSliceSpec{
			Driver:   "gpu.example.com",
			NodeName: &node.Name,
			Pool:     resourcev1.ResourcePool{Name: one.name, ResourceSliceCount: 1},
		}
		for index := range one.devices {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", index)})
		}
		if err := apply(cluster, node, slice); err != nil {
			return nil, err
		}
	}
	return queue, nil
}

// training has a Pod with one GPU that leads, and workers with several.
func training(name string, workers int, devices int64) Workload {
	return Workload{Namespace: "ml", Name: name, PodSets: []PodSet{
		{"leader", 1, []resourcev1.ResourceClaimSpec{gpus(1)}},
		{"worker", workers, []resourcev1.ResourceClaimSpec{gpus(devices)}},
	}}
}

func gpus(count int64) resourcev1.ResourceClaimSpec {
	exactly := &resourcev1.ExactDeviceRequest{
		DeviceClassName: "gpu",
		AllocationMode:  resourcev1.DeviceAllocationModeExactCount,
		Count:           count,
	}
	return resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
		Requests: []resourcev1.DeviceRequest{{Name: "gpu", Exactly: exactly}},
	}}
}
