package main

import (
	"context"
	"fmt"
	"testing"

	"apportion.dev/apportion"
)

func TestAWorkloadIsAdmittedWholeOrNotAtAll(t *testing.T) {
	ctx := context.Background()
	runtime, err := apportion.NewRuntime(ctx, apportion.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.Close()
	queue, err := example(ctx, runtime)
	if err != nil {
		t.Fatal(err)
	}
	for _, expected := range []struct {
		workload    Workload
		isAdmitted  bool
		assignments string
	}{
		{training("first", 2, 4), true, "[{leader reserved [reserved-a] map[]} {worker reserved [reserved-a reserved-b] map[]}]"},
		// 3 and 4 GPUs are left on reserved nodes: one worker has its place there, and one on spot, but not both on one flavor.
		{training("second", 2, 4), false, "[{leader reserved [reserved-a] map[]} {worker  [] map[reserved:1 spot:1]}]"},
		// Nothing of it was taken.
		{training("third", 1, 4), true, "[{leader reserved [reserved-a] map[]} {worker reserved [reserved-b] map[]}]"},
		{training("fourth", 1, 4), true, "[{leader reserved [reserved-a] map[]} {worker spot [spot-a] map[]}]"},
		{training("fifth", 1, 4), false, "[{leader reserved [reserved-a] map[]} {worker  [] map[reserved:0 spot:0]}]"},
	} {
		assignments, isAdmitted, err := queue.Admit(ctx, expected.workload)
		if err != nil || isAdmitted != expected.isAdmitted || fmt.Sprint(assignments) != expected.assignments {
			t.Errorf("%s: %v %v %v", expected.workload.Name, isAdmitted, assignments, err)
		}
	}
	none := Flavor{"none", map[string]string{"capacity": "none"}}
	queue.Flavors = []Flavor{none}
	if assignments, isAdmitted, err := queue.Admit(ctx, training("sixth", 1, 1)); err != nil || isAdmitted || assignments[0].Fits["none"] != 0 {
		t.Error("a flavor without nodes:", assignments, err)
	}
}
