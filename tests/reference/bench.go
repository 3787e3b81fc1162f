package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// workload is a benchmark scenario with its nodes spelled out.
type workload struct {
	problem
	ID         string                       `json:"id"`
	Kind       string                       `json:"kind"`
	Nodes      []*corev1.Node               `json:"nodes"`
	ClaimCycle []*resourceapi.ResourceClaim `json:"claimCycle"`
}

type measured struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	// Claims is how many claims of a sequence were allocated.
	Claims int `json:"claims"`
	// Best and Median are nanoseconds per operation.
	Best   int64  `json:"best"`
	Median int64  `json:"median"`
	Runs   int    `json:"runs"`
	Error  string `json:"error,omitempty"`
}

// bench measures one workload per line: as many operations as fit into the budget, at least one.
func bench(budget, timeout time.Duration) error {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	decoder := json.NewDecoder(in)
	out := json.NewEncoder(os.Stdout)
	for decoder.More() {
		var w workload
		if err := decoder.Decode(&w); err != nil {
			return err
		}
		if err := out.Encode(measure(&w, budget, timeout)); err != nil {
			return err
		}
	}
	return nil
}

func measure(w *workload, budget, timeout time.Duration) measured {
	op := newOperation(w)
	result := measured{ID: w.ID}
	var times []int64
	for total := time.Duration(0); total < budget && len(times) < 10000; {
		state := op.state()
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		start := time.Now()
		claims, status, err := op.run(ctx, state)
		elapsed := time.Since(start)
		cancel()
		result.Claims, result.Status = claims, status
		if err != nil {
			result.Error = err.Error()
			if errors.Is(err, context.DeadlineExceeded) {
				result.Status = "timeout"
			}
		}
		times = append(times, elapsed.Nanoseconds())
		total += elapsed
	}
	slices.Sort(times)
	result.Best, result.Median, result.Runs = times[0], times[len(times)/2], len(times)
	return result
}

type operation struct {
	w       *workload
	classes classes
	cache   *cel.Cache
}

func newOperation(w *workload) *operation {
	op := &operation{w: w, classes: classes{}}
	for _, class := range w.Classes {
		op.classes[class.Name] = class
	}
	// Large enough for every expression: compiled expressions are kept between operations.
	op.cache = cel.NewCache(64, cel.Features{
		EnableConsumableCapacity: w.Features.ConsumableCapacity,
		EnableListTypeAttributes: w.Features.ListTypeAttributes,
	})
	return op
}

// state is a fresh copy of what is in use at the start.
func (op *operation) state() *structured.AllocatedState {
	state := &structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, device := range op.w.AllocatedDevices {
		state.AllocatedDevices.Insert(device.id())
	}
	for _, device := range op.w.AllocatedSharedDevices {
		state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(device.id(), device.ShareID))
	}
	for _, device := range op.w.ConsumedCapacity {
		amounts := map[resourceapi.QualifiedName]resource.Quantity{}
		for name, amount := range device.Capacity {
			amounts[resourceapi.QualifiedName(name)] = amount
		}
		state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(device.id(), amounts))
	}
	return state
}

func (op *operation) allocator(ctx context.Context, state *structured.AllocatedState) (structured.Allocator, error) {
	f := op.w.Features
	return structured.NewAllocator(ctx, structured.Features{
		AdminAccess:            f.AdminAccess,
		ConsumableCapacity:     f.ConsumableCapacity,
		DeviceBindingAndStatus: f.DeviceBindingAndStatus,
		DeviceTaints:           f.DeviceTaints,
		ListTypeAttributes:     f.ListTypeAttributes,
		PartitionableDevices:   f.PartitionableDevices,
		PrioritizedList:        f.PrioritizedList,
	}, *state, op.classes, op.w.Slices, op.cache)
}

func (op *operation) run(ctx context.Context, state *structured.AllocatedState) (int, string, error) {
	if len(op.w.Nodes) == 0 {
		return 0, "unreadable", fmt.Errorf("workload %s has no node", op.w.ID)
	}
	if op.w.Kind == "sequence" {
		return op.sequence(ctx, state)
	}
	allocator, err := op.allocator(ctx, state)
	if err != nil {
		return 0, "error", err
	}
	for _, node := range op.w.Nodes {
		results, err := allocator.Allocate(ctx, node, op.w.Claims)
		if err != nil {
			return 0, "error", err
		}
		if results != nil {
			return 0, "allocated", nil
		}
	}
	return 0, "none", nil
}

func (op *operation) sequence(ctx context.Context, state *structured.AllocatedState) (int, string, error) {
	for count := 0; ; count++ {
		claim := op.w.ClaimCycle[count%len(op.w.ClaimCycle)]
		allocator, err := op.allocator(ctx, state)
		if err != nil {
			return count, "error", err
		}
		results, err := allocator.Allocate(ctx, op.w.Nodes[0], []*resourceapi.ResourceClaim{claim})
		if err != nil {
			return count, "error", err
		}
		if results == nil {
			return count, "allocated", nil
		}
		for _, result := range results[0].Devices.Results {
			id := structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
			if result.ShareID == nil {
				state.AllocatedDevices.Insert(id)
				continue
			}
			state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, result.ShareID))
			state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, result.ConsumedCapacity))
		}
	}
}
