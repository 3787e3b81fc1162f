// Command autoscaling is the loop of a cluster autoscaler: Pods that wait are placed, or nodes are made for them; nodes that are hardly used are
// emptied and removed. Each step is tried out in a fork and committed. The same loop runs over the allocator of Kubernetes beside it.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"apportion.dev/apportion"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const driver = "gpu.example.com"

// devicesPerNode of every node.
const devicesPerNode = 16

// Size of an example: a fifth of the Pods that wait ask for a model that no node has yet.
type Size struct{ Nodes, Claims, Pending, Candidates int }

func main() {
	size := Size{}
	flag.IntVar(&size.Nodes, "nodes", 5000, "nodes that there are")
	flag.IntVar(&size.Claims, "claims", 20000, "claims that have devices")
	flag.IntVar(&size.Pending, "pending", 1000, "Pods that wait")
	flag.IntVar(&size.Candidates, "candidates", 200, "nodes to try to remove")
	reference := flag.Int("reference", 10, "how many of the Pods and nodes the reference decides about as well; it takes seconds for some")
	cache := flag.String("cache", "", "where the compiled module is kept")
	flag.Parse()
	ctx := context.Background()
	runtime, err := apportion.NewRuntime(ctx, apportion.Options{CacheDir: *cache})
	if err != nil {
		log.Fatal(err)
	}
	defer runtime.Close()
	engine, err := newOurs(ctx, runtime, models())
	if err != nil {
		log.Fatal(err)
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "engine\tdecision\tnumber\tyes\tmean\tmedian\t99%%\tworst\n")
	if err := show(ctx, out, "apportion", engine, size); err != nil {
		log.Fatal(err)
	}
	if *reference > 0 {
		size.Pending, size.Candidates = min(size.Pending, *reference), min(size.Candidates, *reference)
		if err := show(ctx, out, "reference", newTheirs(models()), size); err != nil {
			log.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

func show(ctx context.Context, out *tabwriter.Writer, name string, engine Engine, size Size) error {
	began := time.Now()
	loop, err := load(engine, size)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %d nodes read in %v\n", name, size.Nodes, time.Since(began).Round(time.Millisecond))
	decisions, err := run(ctx, loop, size)
	if err != nil {
		return err
	}
	for _, kind := range []string{placed, made, removed} {
		var times []time.Duration
		var sum time.Duration
		yes := 0
		for _, one := range decisions {
			if one.Kind == kind {
				times, sum = append(times, one.Took), sum+one.Took
				if one.Node != "" {
					yes++
				}
			}
		}
		if len(times) == 0 {
			continue
		}
		slices.Sort(times)
		round := func(time time.Duration) time.Duration { return time.Round(1000) }
		fmt.Fprintf(out, "%s\t%s\t%d\t%d\t%v\t%v\t%v\t%v\n", name, kind, len(times), yes, round(sum/time.Duration(len(times))),
			round(times[len(times)/2]), round(times[len(times)*99/100]), round(times[len(times)-1]))
	}
	return nil
}

// Kinds of decisions.
const (
	placed  = "a Pod on a node that there is"
	made    = "a Pod that needs a new node"
	removed = "whether a node can go"
)

// Decision about a Pod or a node: the node that it got, or the one that goes; empty for none.
type Decision struct {
	Kind, Node string
	Took       time.Duration
}

// run decides about everything that waits, and then which nodes can go.
func run(ctx context.Context, loop *Loop, size Size) ([]Decision, error) {
	var decisions []Decision
	for index := range size.Pending {
		claim := pending(index)
		before, began := loop.made, time.Now()
		node, err := loop.ScaleUp(ctx, claim)
		if err != nil {
			return nil, err
		}
		decision := Decision{placed, node, time.Since(began)}
		if node == "" || loop.made > before {
			decision.Kind = made
		}
		decisions = append(decisions, decision)
	}
	for index := range min(size.Candidates, size.Nodes/sparse) {
		name := nodeName(index*sparse + sparse - 1)
		began := time.Now()
		isGone, err := loop.Consolidate(ctx, name)
		if err != nil {
			return nil, err
		}
		decision := Decision{removed, "", time.Since(began)}
		if isGone {
			decision.Node = name
		}
		decisions = append(decisions, decision)
	}
	return decisions, nil
}

// models are the classes: what there is, and what there is not yet.
func models() []*resourcev1.DeviceClass {
	var all []*resourcev1.DeviceClass
	for _, model := range []string{"a100", "h100"} {
		class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: model}}
		expression := fmt.Sprintf(`device.driver == %q && device.attributes[%q].model == %q`, driver, driver, model)
		class.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}}
		all = append(all, class)
	}
	return all
}

func groupOf(model string) Group {
	return Group{Name: model, Make: func(name string) (*corev1.Node, *resourcev1.ResourceSlice) { return nodeOf(name, model) }}
}

func nodeName(index int) string { return fmt.Sprintf("node-%05d", index) }

func nodeOf(name, model string) (*corev1.Node, *resourcev1.ResourceSlice) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}}
	slice.Spec = resourcev1.ResourceSliceSpec{
		Driver: driver, NodeName: &node.Name, Pool: resourcev1.ResourcePool{Name: name, ResourceSliceCount: 1},
	}
	for index := range devicesPerNode {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
			Name:       fmt.Sprintf("gpu-%02d", index),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: &model}},
		})
	}
	return node, slice
}

func claimOf(name, model string, count int64) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
	exactly := &resourcev1.ExactDeviceRequest{
		DeviceClassName: model, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count,
	}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: exactly}}
	return claim
}

// allocated is a claim with the first of some devices of a node, which is named as its pool is.
func allocated(claim *resourcev1.ResourceClaim, node string, devices []resourcev1.Device) *resourcev1.ResourceClaim {
	claim.Status.Allocation = &resourcev1.AllocationResult{}
	results := &claim.Status.Allocation.Devices.Results
	for _, device := range devices[:claim.Spec.Devices.Requests[0].Exactly.Count] {
		*results = append(*results, resourcev1.DeviceRequestAllocationResult{
			Request: "gpu", Driver: driver, Pool: node, Device: device.Name,
		})
	}
	return claim
}

// pending is the claim of a Pod that waits.
func pending(index int) *resourcev1.ResourceClaim {
	model, count := "a100", int64(1)<<(index%4)
	if index%5 == 4 {
		model = "h100"
	}
	return claimOf(fmt.Sprintf("pending-%d", index), model, count)
}

// sparse is how often a node is hardly used: each of its claims has one device. All devices of the others are taken.
const sparse = 10

// load makes the nodes, and the claims that have devices there.
func load(engine Engine, size Size) (*Loop, error) {
	loop := NewLoop(engine, []Group{groupOf("a100"), groupOf("h100")})
	perNode := max(1, size.Claims/size.Nodes)
	for index := range size.Nodes {
		name := nodeName(index)
		node, slice := nodeOf(name, "a100")
		each := devicesPerNode / perNode
		if index%sparse == sparse-1 {
			each = 1
		}
		var claims []*resourcev1.ResourceClaim
		for at := range perNode {
			claim := claimOf(fmt.Sprintf("%s-%d", name, at), "a100", int64(each))
			claims = append(claims, allocated(claim, name, slice.Spec.Devices[at*each:]))
		}
		if err := loop.AddNode(node, slice, claims...); err != nil {
			return nil, err
		}
	}
	return loop, nil
}
