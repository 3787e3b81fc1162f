package apportion

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// declarations are made from the core's types, for TypeScript.
const declarations = "../npm/entry/decisions.d.ts"

func TestTheTypesHaveTheFieldsOfTheCoresOwn(t *testing.T) {
	text, err := os.ReadFile(declarations)
	if err != nil {
		t.Fatal(err)
	}
	// A Question of Go is a question in full or a prepared one.
	names := map[string]string{"Ref": "ObjectRef", "Refusal": "NodeRefusal", "DeviceID": "DeviceId", "Question": "Question PreparedQuestion"}
	field := regexp.MustCompile(`(?m)^  "?(\w+)"?\??: `)
	for _, value := range []any{
		Report{}, NodeReport{}, PodReport{}, PodClaimReport{}, ClaimReport{}, AllocatedDevice{}, ExplainRequest{}, Explanation{},
		RequestExplanation{}, ReasonCount{}, SelectorRef{}, AttributeStatistic{}, ValueCount{}, ReadValue{}, ClosestNode{}, NodeDetail{}, RequestDetail{},
		DeviceDetail{}, DeviceID{}, Reason{}, Shortage{}, Holder{}, ConflictPart{}, Suggestion{}, SuggestionStep{}, Change{}, RequestFunnel{}, Unable{},
		Finding{}, Ref{}, Refusal{}, Failure{}, InUse{}, DeviceInUse{}, Settings{}, Build{}, Question{},
		FitRequest{}, DeviceAsk{}, Supposition{}, TaintSpec{}, Bounds{}, Fit{}, FitRow{}, Largest{}, NamespaceDevices{}, Remainder{},
		NodesNeededRequest{}, NodesNeeded{}, ShapeNeeded{}, PodLeft{}, NewNode{}, ShapeNodes{}, Devices{},
	} {
		kind := reflect.TypeOf(value)
		name := kind.Name()
		if other, ok := names[name]; ok {
			name = other
		}
		var expected, fields []string
		for name := range strings.FieldsSeq(name) {
			_, declaration, found := strings.Cut(string(text), "\nexport type "+name+" = ")
			declaration, _, ends := strings.Cut(declaration, "};\n\n")
			if !found || !ends {
				t.Errorf("%s is not declared", name)
			}
			for _, match := range field.FindAllStringSubmatch(declaration, -1) {
				expected = append(expected, match[1])
			}
		}
		for _, field := range reflect.VisibleFields(kind) {
			if field.Anonymous {
				continue
			}
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if tag == "" {
				tag = strings.ToLower(field.Name[:1]) + field.Name[1:]
			}
			fields = append(fields, tag)
		}
		slices.Sort(expected)
		slices.Sort(fields)
		if expected = slices.Compact(expected); !slices.Equal(expected, fields) {
			t.Errorf("%s has %v, the core's has %v", name, fields, expected)
		}
	}
}
