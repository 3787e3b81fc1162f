package main

import (
	"context"
	"fmt"
	"testing"

	"apportion.dev/apportion"
	resourcev1 "k8s.io/api/resource/v1"
)

// started is an engine of ours that knows the models and no node.
func started(t *testing.T) Engine {
	t.Helper()
	ctx := context.Background()
	runtime, err := apportion.NewRuntime(ctx, apportion.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runtime.Close() })
	own, err := newOurs(ctx, runtime, models())
	if err != nil {
		t.Fatal(err)
	}
	return own
}

func TestBothEnginesDecideTheSame(t *testing.T) {
	ctx := context.Background()
	// More waits than there is room for.
	size := Size{Nodes: 40, Claims: 160, Pending: 60, Candidates: 4}
	own := started(t)
	var found [2][]Decision
	for index, engine := range []Engine{own, newTheirs(models())} {
		loop, err := load(engine, size)
		if err != nil {
			t.Fatal(err)
		}
		if found[index], err = run(ctx, loop, size); err != nil {
			t.Fatal(err)
		}
	}
	count := map[string]int{}
	for index := range found[0] {
		one, other := found[0][index], found[1][index]
		if one.Kind != other.Kind || one.Node != other.Node {
			t.Errorf("decision %d: %+v and %+v", index, one, other)
		}
		if one.Node != "" {
			count[one.Kind]++
		}
	}
	if count[placed] == 0 || count[made] < 2 || len(found[0]) != size.Pending+size.Candidates {
		t.Errorf("%v of %d", count, len(found[0]))
	}
}

func TestNodesThatAreHardlyUsedGo(t *testing.T) {
	ctx := context.Background()
	own := started(t)
	size := Size{Nodes: 40, Claims: 160, Candidates: 4}
	loop, err := load(own, size)
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := run(ctx, loop, size)
	if err != nil {
		t.Fatal(err)
	}
	// The last one has all that was on the others: 16 claims fill it.
	for index, decision := range decisions {
		if isLast := index == len(decisions)-1; (decision.Node == "") != isLast {
			t.Errorf("candidate %d: %+v", index, decision)
		}
	}
}

func TestANodeThatStaysChangesNothing(t *testing.T) {
	ctx := context.Background()
	own := started(t)
	loop := NewLoop(own, nil)
	// One device is free on each of the first two. The last node's first two claims fit there, and its third one nowhere.
	for _, one := range []struct {
		name   string
		counts []int64
	}{{"a", []int64{15}}, {"b", []int64{15}}, {"c", []int64{1, 1, 8}}} {
		node, slice := nodeOf(one.name, "a100")
		devices := slice.Spec.Devices
		var claims []*resourcev1.ResourceClaim
		for index, count := range one.counts {
			claims = append(claims, allocated(claimOf(fmt.Sprint(one.name, index), "a100", count), one.name, devices))
			devices = devices[count:]
		}
		if err := loop.AddNode(node, slice, claims...); err != nil {
			t.Fatal(err)
		}
	}
	if isGone, err := loop.Consolidate(ctx, "c"); err != nil || isGone {
		t.Fatal(isGone, err)
	}
	for index, expected := range []string{"a", "b", "c"} {
		node, err := loop.ScaleUp(ctx, claimOf(fmt.Sprint("pending-", index), "a100", 1))
		if err != nil || node != expected {
			t.Errorf("%q instead of %q, %v", node, expected, err)
		}
	}
}
