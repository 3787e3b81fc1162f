// Command reference answers allocation problems and selectors with the reference implementation.
//
// It reads one case per line (the schema of the conformance vectors) and writes one outcome per line, in the same
// order. With -bench it reads benchmark scenarios instead and writes how long one operation takes; with -units it asks
// questions of its own. Only tests use it;
// nothing in the product needs Go.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

type deviceRef struct {
	Driver   string                       `json:"driver"`
	Pool     string                       `json:"pool"`
	Device   string                       `json:"device"`
	ShareID  *types.UID                   `json:"shareID,omitempty"`
	Capacity map[string]resource.Quantity `json:"capacity,omitempty"`
}

func (d deviceRef) id() structured.DeviceID {
	return structured.MakeDeviceID(d.Driver, d.Pool, d.Device)
}

type problem struct {
	Features               features                     `json:"features"`
	Node                   *corev1.Node                 `json:"node"`
	Nodes                  []*corev1.Node               `json:"nodes"`
	Classes                []*resourceapi.DeviceClass   `json:"classes"`
	Claims                 []*resourceapi.ResourceClaim `json:"claims"`
	Slices                 []*resourceapi.ResourceSlice `json:"slices"`
	AllocatedDevices       []deviceRef                  `json:"allocatedDevices"`
	AllocatedSharedDevices []deviceRef                  `json:"allocatedSharedDevices"`
	ConsumedCapacity       []deviceRef                  `json:"consumedCapacity"`

	Expression  *string `json:"expression"`
	Environment string  `json:"environment"`
	Device      struct {
		Driver                   string                                                    `json:"driver"`
		AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations"`
		Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
		Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
	} `json:"device"`
}

type outcome struct {
	Status         string                         `json:"status"`
	Allocations    []resourceapi.AllocationResult `json:"allocations,omitempty"`
	Error          string                         `json:"error,omitempty"`
	NodeLocalError bool                           `json:"nodeLocalError,omitempty"`
	Node           string                         `json:"node,omitempty"`
	Errors         []string                       `json:"errors,omitempty"`
	MaxCost        *uint64                        `json:"maxCost,omitempty"`
	ActualCost     *uint64                        `json:"actualCost,omitempty"`
	Nanoseconds    int64                          `json:"nanoseconds,omitempty"`
}

type classes map[string]*resourceapi.DeviceClass

func (c classes) List() ([]*resourceapi.DeviceClass, error) {
	list := make([]*resourceapi.DeviceClass, 0, len(c))
	for _, class := range c {
		list = append(list, class)
	}
	return list, nil
}

func (c classes) Get(name string) (*resourceapi.DeviceClass, error) {
	if class, ok := c[name]; ok {
		return class, nil
	}
	return nil, fmt.Errorf("deviceclass.resource.k8s.io %q not found", name)
}

func main() {
	isBench := flag.Bool("bench", false, "measure benchmark scenarios")
	budget := flag.Duration("budget", time.Second, "time for the operations of one scenario")
	timeout := flag.Duration("timeout", 10*time.Second, "limit of one operation")
	unit := flag.String("units", "", "answer the questions about `quantity`, capacity, tolerations or nodeselector")
	flag.Parse()
	structured.EnableAllocators("experimental")
	if *unit != "" {
		if err := units(*unit); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if *isBench {
		if err := bench(*budget, *timeout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<28)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var p problem
		answer := outcome{}
		if err := json.Unmarshal(in.Bytes(), &p); err != nil {
			answer = outcome{Status: "unreadable", Error: err.Error()}
		} else if p.Expression != nil {
			answer = evaluate(&p)
		} else if p.Nodes != nil {
			answer = allocateOnFirst(&p)
		} else {
			answer = allocate(&p)
		}
		if err := out.Encode(answer); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// allocateOnFirst asks about each node in order, up to the first one that fits or an error that is not about the node.
func allocateOnFirst(p *problem) outcome {
	var errs []string
	for _, node := range p.Nodes {
		p.Node = node
		answer := allocate(p)
		answer.Node = node.Name
		if answer.Status != "none" && !answer.NodeLocalError {
			return answer
		}
		errs = append(errs, answer.Error)
	}
	return outcome{Status: "none", Errors: errs}
}

func allocate(p *problem) (answer outcome) {
	defer func() {
		if why := recover(); why != nil {
			answer = outcome{Status: "panic", Error: fmt.Sprint(why)}
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	byName := classes{}
	for _, class := range p.Classes {
		byName[class.Name] = class
	}
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, device := range p.AllocatedDevices {
		state.AllocatedDevices.Insert(device.id())
	}
	for _, device := range p.AllocatedSharedDevices {
		state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(device.id(), device.ShareID))
	}
	for _, device := range p.ConsumedCapacity {
		amounts := map[resourceapi.QualifiedName]resource.Quantity{}
		for name, amount := range device.Capacity {
			amounts[resourceapi.QualifiedName(name)] = amount
		}
		state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(device.id(), amounts))
	}
	wanted := p.Features.wanted()
	cache := cel.NewCache(64, cel.Features{
		EnableConsumableCapacity: p.Features.ConsumableCapacity,
		EnableListTypeAttributes: p.Features.ListTypeAttributes,
	})
	start := time.Now()
	allocator, err := structured.NewAllocator(ctx, wanted, state, byName, p.Slices, cache)
	if err != nil {
		return outcome{Status: "error", Error: err.Error()}
	}
	results, err := allocator.Allocate(ctx, p.Node, p.Claims)
	nanoseconds := time.Since(start).Nanoseconds()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return outcome{Status: "timeout", Nanoseconds: nanoseconds}
	case err != nil:
		local := errors.Is(err, structured.ErrFailedAllocationOnNode)
		return outcome{Status: "error", Error: err.Error(), NodeLocalError: local, Nanoseconds: nanoseconds}
	case results == nil && len(p.Claims) > 0:
		return outcome{Status: "none", Nanoseconds: nanoseconds}
	}
	// Share ids are random; one fixed text in their place keeps recordings equal.
	placeholder := types.UID("00000000-0000-0000-0000-000000000000")
	for i := range results {
		for j := range results[i].Devices.Results {
			if results[i].Devices.Results[j].ShareID != nil {
				results[i].Devices.Results[j].ShareID = &placeholder
			}
		}
	}
	if results == nil {
		results = []resourceapi.AllocationResult{}
	}
	return outcome{Status: "allocated", Allocations: results, Nanoseconds: nanoseconds}
}

type compiler interface {
	CompileCELExpression(expression string, options cel.Options) cel.CompilationResult
}

// Making a compiler takes a quarter of a second, and the package remembers only the latest.
var compilers = map[cel.Features]compiler{}

func compilerFor(features cel.Features) compiler {
	if compilers[features] == nil {
		compilers[features] = cel.GetCompiler(features)
	}
	return compilers[features]
}

func evaluate(p *problem) (answer outcome) {
	defer func() {
		if why := recover(); why != nil {
			answer = outcome{Status: "panic", Error: fmt.Sprint(why)}
		}
	}()
	options := cel.Options{}
	if p.Environment == "new" {
		newExpressions := environment.NewExpressions
		options.EnvType = &newExpressions
	}
	compiled := compilerFor(cel.Features{
		EnableConsumableCapacity: p.Features.ConsumableCapacity,
		EnableListTypeAttributes: p.Features.ListTypeAttributes,
	}).CompileCELExpression(*p.Expression, options)
	if compiled.Error != nil {
		return outcome{Status: "compileError", Error: compiled.Error.Error()}
	}
	answer = outcome{MaxCost: &compiled.MaxCost}
	match, details, err := compiled.DeviceMatches(context.Background(), cel.Device{
		Driver:                   p.Device.Driver,
		AllowMultipleAllocations: p.Device.AllowMultipleAllocations,
		Attributes:               p.Device.Attributes,
		Capacity:                 p.Device.Capacity,
	})
	if details != nil {
		answer.ActualCost = details.ActualCost()
	}
	switch {
	case err != nil:
		answer.Status, answer.Error = "runtimeError", err.Error()
	case match:
		answer.Status = "match"
	default:
		answer.Status = "noMatch"
	}
	return answer
}
