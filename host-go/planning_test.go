package apportion

import (
	"context"
	"errors"
	"math"
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
