package main

import (
	"context"
	"testing"

	"apportion.dev/apportion"
)

func TestBothEnginesDecideTheSame(t *testing.T) {
	ctx := context.Background()
	runtime, err := apportion.NewRuntime(ctx, apportion.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.Close()
	// More waits than there is room for.
	size := Size{Nodes: 40, Claims: 160, Pending: 60, Candidates: 4}
	own, err := newOurs(ctx, runtime, models())
	if err != nil {
		t.Fatal(err)
	}
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
	runtime, err := apportion.NewRuntime(ctx, apportion.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.Close()
	own, err := newOurs(ctx, runtime, models())
	if err != nil {
		t.Fatal(err)
	}
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
