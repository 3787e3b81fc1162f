package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
)

// units writes what the reference's building blocks say to questions that are the same at each run, one per line.
func units(kind string) error {
	if kind == "objects" {
		return objects()
	}
	ask, found := map[string]func(emit func(map[string]any) error) error{
		"quantity": quantities, "capacity": capacities, "tolerations": tolerations, "nodeselector": nodeSelectors,
	}[kind]
	if !found {
		return fmt.Errorf("there are no units %q", kind)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	return ask(func(line map[string]any) error { return out.Encode(line) })
}

// quantities: what a text parses to (`parse`), and order, sum and difference of two (`pair`).
func quantities(emit func(map[string]any) error) error {
	numbers := []string{"0", "1", "+1", "-1", "007", "1.", ".5", "0.5", "-1.25", "3.14159", "0.000000001", "0.0000000001",
		"-0.0000000019", "999999999", "1000", "1024", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"12345678901234567890.123456789123", "", ".", "-", "+-1", "1..2", "1_000", " 1", "1 "}
	suffixes := []string{"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-2", "e+6",
		"e20", "K", "ki", "mi", "b", "e", "eE", "KiB", "1Ki"}
	for _, number := range numbers {
		for _, suffix := range suffixes {
			line := parsed(number + suffix)
			if line["error"] == nil && !isReadAgain(resource.MustParse(number+suffix)) {
				continue
			}
			if err := emit(line); err != nil {
				return err
			}
		}
	}
	of := []string{"0", "1", "-1", "1500m", "1.5", "100n", "-3u", "1Ki", "1k", "80Gi", "81559Mi", "85520809984", "1e3", "2.5e-3", "7E", "-7Ei",
		"9223372036854775807", "0.1", "1023", "12P"}
	for _, a := range of {
		for _, b := range of {
			x, y := resource.MustParse(a), resource.MustParse(b)
			sum, difference := x.DeepCopy(), x.DeepCopy()
			sum.Add(y)
			difference.Sub(y)
			if !isReadAgain(sum) || !isReadAgain(difference) {
				continue
			}
			line := map[string]any{"op": "pair", "a": a, "b": b, "cmp": x.Cmp(y), "sum": sum.String(), "difference": difference.String()}
			if err := emit(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// isReadAgain says whether what is printed of a quantity is that quantity. Above the largest suffix, and below the least number of 64
// bits, the reference prints what it reads as another one.
func isReadAgain(quantity resource.Quantity) bool {
	again := resource.MustParse(quantity.String())
	return again.Cmp(quantity) == 0
}

func parsed(input string) map[string]any {
	line := map[string]any{"op": "parse", "input": input}
	quantity, err := resource.ParseQuantity(input)
	if err != nil {
		line["error"] = err.Error()
		return line
	}
	line["canonical"], line["format"], line["sign"] = quantity.String(), string(quantity.Format), quantity.Sign()
	line["value"], line["milliValue"] = fmt.Sprint(quantity.Value()), fmt.Sprint(quantity.MilliValue())
	if exact, ok := quantity.AsInt64(); ok {
		line["isInt64"], line["int64"] = true, fmt.Sprint(exact)
	}
	return line
}

// capacities: whether a shared device has room for a request, and what the request then takes.
func capacities(emit func(map[string]any) error) error {
	dice := rand.New(rand.NewSource(1))
	amounts := []string{"0", "1", "250m", "2", "3", "5", "1Ki", "6", "1500m", "8", "10", "16"}
	amount := func() resource.Quantity { return resource.MustParse(amounts[dice.Intn(len(amounts))]) }
	for number := range 600 {
		names := []resourceapi.QualifiedName{"memory", "cores", "d.example.com/slots"}[:1+dice.Intn(3)]
		capacity := map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{}
		others := map[string]resource.Quantity{}
		requests := map[resourceapi.QualifiedName]resource.Quantity{}
		for _, name := range names {
			value := resource.MustParse([]string{"4", "10", "16", "2Ki", "2500m"}[dice.Intn(5)])
			capacity[name] = resourceapi.DeviceCapacity{Value: value, RequestPolicy: policy(dice, amount)}
			if dice.Intn(3) > 0 {
				requests[name] = amount()
			}
			if dice.Intn(3) == 0 {
				others[string(name)] = amount()
			}
		}
		if dice.Intn(20) == 0 {
			requests["absent"] = amount()
		}
		line := map[string]any{"capacity": capacity, "consumedByOthers": others}
		exactly := resourceapi.ExactDeviceRequest{DeviceClassName: "any", AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: 1}
		if number%5 > 0 {
			exactly.Capacity = &resourceapi.CapacityRequirements{Requests: requests}
			line["request"] = exactly.Capacity
		}
		node, isShared := "node", true
		p := problem{
			Node:    &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}},
			Classes: []*resourceapi.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "any"}}},
			Slices: []*resourceapi.ResourceSlice{{ObjectMeta: metav1.ObjectMeta{Name: "slice"}, Spec: resourceapi.ResourceSliceSpec{
				Driver: "d.example.com", Pool: resourceapi.ResourcePool{Name: "pool", Generation: 1, ResourceSliceCount: 1}, NodeName: &node,
				Devices: []resourceapi.Device{{Name: "device", AllowMultipleAllocations: &isShared, Capacity: capacity}},
			}}},
			Claims: []*resourceapi.ResourceClaim{{ObjectMeta: metav1.ObjectMeta{Name: "claim", Namespace: "n", UID: "u"},
				Spec: resourceapi.ResourceClaimSpec{Devices: resourceapi.DeviceClaim{Requests: []resourceapi.DeviceRequest{{Name: "r", Exactly: &exactly}}}}}},
			ConsumedCapacity: []deviceRef{{Driver: "d.example.com", Pool: "pool", Device: "device", Capacity: others}},
		}
		p.Features.ConsumableCapacity = true
		answer := allocate(&p)
		switch answer.Status {
		case "allocated":
			line["fits"], line["consumed"] = true, answer.Allocations[0].Devices.Results[0].ConsumedCapacity
		case "none":
			line["fits"] = false
		default:
			return fmt.Errorf("capacity %d: %s %s", number, answer.Status, answer.Error)
		}
		if err := emit(line); err != nil {
			return err
		}
	}
	return nil
}

// policy of a capacity as the API server would admit it: a default, and values or a range around it, or none.
func policy(dice *rand.Rand, amount func() resource.Quantity) *resourceapi.CapacityRequestPolicy {
	one, two, four, three := resource.MustParse("1"), resource.MustParse("2"), resource.MustParse("4"), resource.MustParse("3")
	switch dice.Intn(5) {
	case 0:
		return &resourceapi.CapacityRequestPolicy{Default: &two, ValidValues: []resource.Quantity{one, two, four}}
	case 1:
		return &resourceapi.CapacityRequestPolicy{Default: &one, ValidRange: &resourceapi.CapacityRequestPolicyRange{Min: &one}}
	case 2:
		return &resourceapi.CapacityRequestPolicy{Default: &two, ValidRange: &resourceapi.CapacityRequestPolicyRange{Min: &one, Max: &four, Step: &one}}
	case 3:
		return &resourceapi.CapacityRequestPolicy{Default: &four, ValidRange: &resourceapi.CapacityRequestPolicyRange{Min: &one, Step: &three}}
	default:
		return nil
	}
}

// tolerations: each toleration against each taint.
func tolerations(emit func(map[string]any) error) error {
	effects := []resourceapi.DeviceTaintEffect{"", "None", "NoSchedule", "NoExecute"}
	var all []resourceapi.DeviceToleration
	for _, key := range []string{"", "a", "b"} {
		for _, operator := range []resourceapi.DeviceTolerationOperator{"", "Equal", "Exists", "Other"} {
			for _, value := range []string{"", "x", "y"} {
				for _, effect := range effects {
					all = append(all, resourceapi.DeviceToleration{Key: key, Operator: operator, Value: value, Effect: effect})
				}
			}
		}
	}
	for _, key := range []string{"a", "b"} {
		for _, value := range []string{"", "x"} {
			for _, effect := range effects[1:] {
				taint := resourceapi.DeviceTaint{Key: key, Value: value, Effect: effect}
				for _, toleration := range all {
					line := map[string]any{"taint": taint, "toleration": toleration, "tolerated": resourceclaim.ToleratesTaint(toleration, taint)}
					if err := emit(line); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// nodeSelectors: random selectors, malformed ones among them, against nodes.
func nodeSelectors(emit func(map[string]any) error) error {
	dice := rand.New(rand.NewSource(2))
	pick := func(of ...string) string { return of[dice.Intn(len(of))] }
	rarely := func() bool { return dice.Intn(25) == 0 }
	requirement := func(isField bool) corev1.NodeSelectorRequirement {
		one := corev1.NodeSelectorRequirement{Key: pick("zone", "gpus", "absent", "a/b")}
		one.Operator = corev1.NodeSelectorOperator(pick("In", "In", "In", "NotIn", "Exists", "Exists", "DoesNotExist", "Gt", "Lt"))
		if isField {
			one.Key, one.Operator = "metadata.name", corev1.NodeSelectorOperator(pick("In", "NotIn"))
		}
		switch {
		case rarely():
			one.Operator = corev1.NodeSelectorOperator(pick("Near", "Exists", ""))
		case rarely():
			one.Key = pick("", "Not A Label!", "spec.unschedulable")
		}
		switch one.Operator {
		case "In", "NotIn":
			one.Values = []string{pick("a", "b", "4", "-1")}
			if isField {
				one.Values = []string{pick("node-1", "node-2")}
			} else if dice.Intn(2) == 0 {
				one.Values = append(one.Values, pick("a", "8", "many", ""))
			}
		case "Gt", "Lt":
			one.Values = []string{pick("2", "4", "-2", "007", "many")}
		}
		if rarely() {
			one.Values = append(one.Values, pick("a", "bad value"))
		}
		return one
	}
	for range 600 {
		node := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: pick("node-1", "node-2"), Labels: map[string]string{}}}
		for _, key := range []string{"zone", "gpus", "a/b"} {
			if dice.Intn(3) > 0 {
				node.Labels[key] = pick("a", "b", "4", "8", "-1", "many", "")
			}
		}
		selector := &corev1.NodeSelector{}
		for range 1 + dice.Intn(3) - dice.Intn(2) {
			term := corev1.NodeSelectorTerm{}
			for range dice.Intn(3) {
				term.MatchExpressions = append(term.MatchExpressions, requirement(false))
			}
			if dice.Intn(4) == 0 {
				term.MatchFields = append(term.MatchFields, requirement(true))
			}
			selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
		}
		line := map[string]any{"nodeSelector": selector, "node": map[string]any{"apiVersion": "v1", "kind": "Node",
			"metadata": map[string]any{"name": node.Name, "labels": node.Labels}}, "matches": false}
		matcher, err := nodeaffinity.NewNodeSelector(selector)
		if err == nil {
			line["matches"] = matcher.Match(node)
		} else {
			line["error"] = err.Error()
		}
		if err := emit(line); err != nil {
			return err
		}
	}
	return nil
}
