package apportion

import (
	"context"
	"errors"
	"testing"
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
