package apportion

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
)

func TestFitCountsWhatFits(t *testing.T) {
	full := cluster(t, Settings{})
	request := FitRequest{Device: &DeviceAsk{Class: "gpu", Count: 2}}
	for _, expected := range []struct {
		supposing Supposition
		total     int64
	}{
		{Supposition{}, 1},
		{Supposition{With: node("c", 5)}, 3},
		{Supposition{Without: []Ref{{Kind: "Node", Name: "b"}}}, 0},
		{Supposition{Cordon: []string{"b"}}, 0},
	} {
		request.Supposing = expected.supposing
		found, err := full.Fit(context.Background(), request)
		if err != nil || found.Total != (Bounds{expected.total, expected.total}) {
			t.Errorf("%+v: %+v %v", expected, found, err)
		}
	}
}

func TestABoundThatIsNotKnownIsTheLargestNumber(t *testing.T) {
	shared, isShared := node("s", 1), true
	shared[1].(*resourcev1.ResourceSlice).Spec.Devices[0].AllowMultipleAllocations = &isShared
	full := cluster(t, Settings{})
	// More fit on it than are counted.
	request := FitRequest{Device: &DeviceAsk{Class: "gpu"}, Supposing: Supposition{With: shared}}
	found, err := full.Fit(context.Background(), request)
	if err != nil || found.Total.AtLeast < 100 || found.Total.AtMost != math.MaxInt64 {
		t.Errorf("%+v %v", found, err)
	}
	found, err = cluster(t, Settings{MaxSteps: 1}).Fit(context.Background(), FitRequest{Device: &DeviceAsk{Class: "gpu"}})
	if err != nil || found.Total != (Bounds{3, math.MaxInt64}) {
		t.Errorf("%+v %v", found, err)
	}
}

func TestNodesNeededCountsNewNodes(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	request := NodesNeededRequest{
		Device: &DeviceAsk{Class: "gpu", Count: 2}, Copies: 5, Like: []string{"b"}, Templates: node("template", 4),
	}
	found, err := full.NodesNeeded(ctx, request)
	if err != nil || found.Pods != 5 || found.Placed != 1 || len(found.Shapes) != 2 {
		t.Fatalf("%+v %v", found, err)
	}
	for index, nodes := range []int64{4, 2} {
		if shape := found.Shapes[index]; shape.AtLeast != nodes || shape.AtMost == nil || *shape.AtMost != nodes {
			t.Errorf("%+v", shape)
		}
	}
	var unreadable *UnreadableError
	request.Templates = Objects{nil}
	if _, err := full.NodesNeeded(ctx, request); !errors.As(err, &unreadable) || unreadable.Findings[0].Code != "read/wrong-type" {
		t.Error(err)
	}
	request.Templates, request.Like = nil, []string{"nobody"}
	if _, err := full.NodesNeeded(ctx, request); !errors.As(err, &unreadable) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := full.Fit(ended, FitRequest{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestARequestSaysWhichFieldIsWrong(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	device, fewer := &DeviceAsk{Class: "gpu"}, &DeviceAsk{Class: "gpu", Count: math.MinInt64}
	fit := func(request FitRequest) error { _, err := full.Fit(ctx, request); return err }
	needed := func(request NodesNeededRequest) error { _, err := full.NodesNeeded(ctx, request); return err }
	like := []string{"b"}
	for text, err := range map[string]error{
		"device.count: -9223372036854775808 is less than 0":                  fit(FitRequest{Device: fewer}),
		"per: there is no `rack`; one of node, pool, class":                  fit(FitRequest{Device: device, Per: "rack"}),
		"supposing.placing: there is no `x`; one of asGiven, keep, anew":     fit(FitRequest{Device: device, Supposing: Supposition{Placing: "x"}}),
		"device.count: -9223372036854775808 is less":                         needed(NodesNeededRequest{Device: fewer, Like: like}),
		"copies: -1 is less than 0":                                          needed(NodesNeededRequest{Device: device, Like: like, Copies: -1}),
		"upTo: -1 is less than 0":                                            needed(NodesNeededRequest{Device: device, Like: like, UpTo: -1}),
		"copies: 9223372036854775807 is more than can be asked for; at most": needed(NodesNeededRequest{Device: device, Like: like, Copies: math.MaxInt64}),
	} {
		var unreadable *UnreadableError
		if !errors.As(err, &unreadable) || !strings.HasPrefix(err.Error(), "apportion: "+text) {
			t.Errorf("%v instead of %s", err, text)
		}
	}
	for _, err := range []error{
		fit(FitRequest{Device: device, Per: "class", Supposing: Supposition{Placing: "anew"}}), needed(NodesNeededRequest{Device: device, Like: like}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}
