package apportion

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestAQuestionThatCannotBeReadSaysWhere(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	older := metav1.TypeMeta{APIVersion: "resource.k8s.io/v1beta1", Kind: "ResourceClaim"}
	opaque := func(text string) resourcev1.DeviceClaimConfiguration {
		parameters := &resourcev1.OpaqueDeviceConfiguration{Driver: "gpu.example.com", Parameters: runtime.RawExtension{Raw: []byte(text)}}
		return resourcev1.DeviceClaimConfiguration{DeviceConfiguration: resourcev1.DeviceConfiguration{Opaque: parameters}}
	}
	for said, change := range map[string]func(*Question){
		"claims[1]: an object is nil (read/wrong-type)":                                                                       func(q *Question) { q.Claims = append(q.Claims, nil) },
		"ResourceClaim: claims[0]: a *v1.ResourceClaim says that it is a ResourceClaim of `resource.k8s.io/v1beta1`; use the": func(q *Question) { q.Claims[0].TypeMeta = older },
		"ResourceClaim default: claims[0]: a ResourceClaim has no name":                                                       func(q *Question) { q.Claims[0].Name = "" },
		"ResourceClaim default/claim: claims[0]: the object is not UTF-8": func(q *Question) {
			q.Claims[0].Spec.Devices.Config = []resourcev1.DeviceClaimConfiguration{opaque("{\"text\":\"\xff\"}")}
		},
		"ResourceClaim default/claim: claims[0]: the object cannot be written": func(q *Question) {
			q.Claims[0].Spec.Devices.Config = []resourcev1.DeviceClaimConfiguration{opaque("text")}
		},
	} {
		question := ask("gpu", 1)
		change(&question)
		var unreadable *UnreadableError
		_, allocate := full.Allocate(ctx, question)
		_, fits := full.Fits(ctx, question)
		_, prepares := full.Prepare(ctx, question)
		for _, err := range []error{allocate, fits, prepares} {
			if !errors.As(err, &unreadable) || !strings.HasPrefix(err.Error(), "apportion: "+said) {
				t.Errorf("%q instead of %q", err, said)
			}
		}
	}
	if shared.Rebuilds() != 0 {
		t.Error("the module trapped")
	}
}

func TestAnObjectThatCannotBeReadIsAFinding(t *testing.T) {
	object := func(version, kind any, metadata any) runtime.Object {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind, "metadata": metadata}}
	}
	nested := map[string]any{}
	for range 5000 {
		nested = map[string]any{"in": nested}
	}
	deep := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "deep"}, "spec": nested,
	}}
	older := &resourcev1.ResourceClaim{TypeMeta: metav1.TypeMeta{APIVersion: "resource.k8s.io/v1beta2", Kind: "ResourceClaim"}}
	onlyVersion := &resourcev1.ResourceClaim{TypeMeta: metav1.TypeMeta{APIVersion: "resource.k8s.io/v1beta2"}}
	onlyKind := &resourcev1.ResourceClaim{TypeMeta: metav1.TypeMeta{Kind: "Node"}}
	metadata := metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "ResourceSlice"}}
	managed := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	managed.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: &metav1.FieldsV1{Raw: []byte("{\"\xff\":{}}")}}}
	full := cluster(t, Settings{})
	for _, bad := range []struct {
		object runtime.Object
		said   string
	}{
		{nil, "an object is nil (read/wrong-type)"},
		{(*resourcev1.ResourceClaim)(nil), "an object is nil (read/wrong-type)"},
		{older, "ResourceClaim: a *v1.ResourceClaim says that it is a ResourceClaim of `resource.k8s.io/v1beta2`"},
		{onlyVersion, "a *v1.ResourceClaim says that it is a ResourceClaim of `resource.k8s.io/v1beta2`"},
		{onlyKind, "Node: a *v1.ResourceClaim says that it is a Node of `resource.k8s.io/v1`"},
		{&metadata, "ResourceSlice: the metadata of a ResourceSlice is given without the rest; give the whole object"},
		{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "\xff"}}, "Node \xff: the name or the namespace is not UTF-8"},
		{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "\xff"}}, "Pod \xff/a: the name or the namespace is not UTF-8"},
		{managed, "Node a: the object is not UTF-8"},
		{deep, "Node deep: not valid JSON: recursion limit exceeded"},
		{&resourcev1.ResourceClaimList{}, "ResourceClaimList: a list is given as one object; give its items"},
		{&corev1.List{}, "List: a list is given as one object"},
		{&unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}, "List: a list is given as one object"},
		{&metav1.Status{}, "Status: a *v1.Status has no metadata"},
		{&runtime.Unknown{}, "the kind of a *runtime.Unknown is not known; set `apiVersion` and `kind`"},
		{object(1, true, "text"), "the kind of a *unstructured.Unstructured is not known"},
		{object("v1", "Node", "text"), "Node: a Node has no name; set `metadata.name`"},
		{object("v1", "Node", map[string]any{"name": 7}), "Node: a Node has no name"},
		{object("v1", "Node", map[string]any{"name": "x", "labels": func() {}}), "Node x: the object cannot be written"},
	} {
		findings, err := full.Apply(bad.object, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "good"}})
		if err != nil || len(findings) != 2 || len(findings[1]) != 0 {
			t.Fatal(findings, err)
		}
		if err := Refused(findings); err == nil || !strings.HasPrefix(err.Error(), "apportion: "+bad.said) {
			t.Errorf("%q instead of %q", err, bad.said)
		}
	}
	thing := object("example.com/v1", "Thing", map[string]any{"name": "x"})
	if findings, err := full.Apply(thing); err != nil || !strings.HasPrefix(findings[0][0].String(), "Thing x: kind: ") || Refused(findings) != nil {
		t.Error(findings, err)
	}
	if err := Refused([][]Finding{nil, {{Severity: "warning"}}}); err != nil {
		t.Error(err)
	}
	if shared.Rebuilds() != 0 {
		t.Error("the module trapped")
	}
}

func TestWhatIsUnusualIsTakenIn(t *testing.T) {
	full := cluster(t, Settings{})
	meta := metav1.ObjectMeta{Name: "older", Namespace: "ml"}
	first, second := &resourcev1beta1.ResourceClaim{ObjectMeta: meta}, &resourcev1beta2.ResourceClaim{ObjectMeta: meta}
	first.Spec.Devices.Requests = []resourcev1beta1.DeviceRequest{{Name: "gpu", DeviceClassName: "gpu"}}
	second.Spec.Devices.Requests = []resourcev1beta2.DeviceRequest{{Name: "gpu", Exactly: &resourcev1beta2.ExactDeviceRequest{DeviceClassName: "gpu"}}}
	second.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{}}`)}}}
	long := strings.Repeat("n", 1<<20)
	findings, err := full.Apply(append(node(long, 3), first, second)...)
	if err != nil || fmt.Sprint(findings) != "[[] [] [] []]" {
		t.Fatal(findings, err)
	}
	question := ask("gpu", 3)
	question.Claims[0].Name, question.Claims[0].ManagedFields = long, second.ManagedFields
	if answer, err := full.Allocate(context.Background(), question); err != nil || answer.Node != long {
		t.Error(err)
	}
}

func TestTheConfigurationOfASchedulerNeedsNoName(t *testing.T) {
	full := cluster(t, Settings{})
	before := len(full.copies)
	for _, metadata := range []any{nil, map[string]any{"name": "x"}} {
		configuration := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "metadata": metadata,
		}}
		if findings, err := full.Apply(configuration); err != nil || Refused(findings) != nil || len(full.copies) != before+1 {
			t.Fatal(findings, err, len(full.copies))
		}
	}
	if found, err := full.Delete(Ref{Kind: "KubeSchedulerConfiguration"}); !found || err != nil || len(full.copies) != before {
		t.Error(found, err, len(full.copies))
	}
}

func TestEveryCallSaysThatItsContextHasEndedOrItsClusterIsClosed(t *testing.T) {
	full := cluster(t, Settings{})
	calls := func(ctx context.Context) map[string]error {
		_, allocate := full.AllocateAll(ctx, ask("gpu", 1))
		_, fits := full.Fits(ctx, ask("gpu", 1))
		_, explain := full.Explain(ctx, ExplainRequest{})
		_, run := full.Run(ctx)
		_, fit := full.Fit(ctx, FitRequest{Device: &DeviceAsk{Class: "gpu"}})
		_, needed := full.NodesNeeded(ctx, NodesNeededRequest{})
		_, fork := full.Fork(ctx)
		_, prepares := full.Prepare(ctx, ask("gpu", 1))
		return map[string]error{
			"AllocateAll": allocate, "Fits": fits, "Explain": explain, "Run": run, "Fit": fit, "NodesNeeded": needed, "Fork": fork, "Prepare": prepares,
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for name, err := range calls(ended) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewRuntime(ended, Options{CacheDir: cache}); !errors.Is(err, context.Canceled) {
		t.Errorf("NewRuntime: %v", err)
	}
	if err := errors.Join(full.Close(), full.Close()); err != nil {
		t.Error(err)
	}
	closed := calls(context.Background())
	_, closed["Apply"] = full.Apply(class())
	_, closed["Delete"] = full.Delete(Ref{Kind: "Node", Name: "a"})
	for name, err := range closed {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAZeroValueIsClosed(t *testing.T) {
	ctx := context.Background()
	runtime, zero, prepared := &Runtime{}, &Cluster{}, &Prepared{}
	_, newCluster := runtime.NewCluster(ctx, Settings{})
	_, allocate := zero.Allocate(ctx, ask("gpu", 1))
	_, fits := zero.Fits(ctx, ask("gpu", 1))
	_, explain := zero.Explain(ctx, ExplainRequest{})
	_, run := zero.Run(ctx)
	_, apply := zero.Apply(class())
	_, deletes := zero.Delete(Ref{Kind: "Node", Name: "a"})
	_, fork := zero.Fork(ctx)
	_, prepares := zero.Prepare(ctx, ask("gpu", 1))
	for index, err := range []error{newCluster, allocate, fits, explain, run, apply, deletes, fork, prepares} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("call %d: %v", index, err)
		}
	}
	if err := errors.Join(runtime.Close(), zero.Close(), prepared.Close()); err != nil || runtime.Rebuilds() != 0 {
		t.Error(err)
	}
	if err := errors.Join(zero.Commit(), zero.Revert()); !errors.Is(err, ErrNoFork) {
		t.Error(err)
	}
	full := cluster(t, Settings{})
	if _, err := full.Allocate(ctx, Question{Prepared: prepared}); !errors.Is(err, ErrNotPrepared) {
		t.Error(err)
	}
	for _, err := range []error{&LostError{}, &LostError{Objects: make([]LostObject, 1)}, &UnreadableError{}, &FailedError{}} {
		if !strings.HasPrefix(err.Error(), "apportion: ") {
			t.Error(err)
		}
	}
}

func TestWhatIsClosedIsNamed(t *testing.T) {
	ctx := context.Background()
	made, err := NewRuntime(ctx, Options{CacheDir: cache})
	if err != nil {
		t.Fatal(err)
	}
	full := clusterOf(t, made, Settings{})
	prepared, _ := full.Prepare(ctx, ask("gpu", 1))
	outer, _ := full.Fork(ctx)
	inner, _ := outer.Fork(ctx)
	last, _ := full.Fork(ctx)
	if err := errors.Join(prepared.Close(), outer.Commit()); err != nil {
		t.Fatal(err)
	}
	said := func(text string, err error) {
		t.Helper()
		if !errors.Is(err, ErrClosed) || err.Error() != "apportion: "+text {
			t.Errorf("%q instead of %q", err, text)
		}
	}
	_, err = full.Allocate(ctx, Question{Prepared: prepared})
	said("the prepared question is closed", err)
	said("the cluster of which this is a fork is closed", inner.Commit())
	said("the cluster is closed", outer.Commit())
	if err := full.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = last.Allocate(ctx, ask("gpu", 1))
	said("the cluster of which this is a fork is closed", err)
	_, err = full.Allocate(ctx, ask("gpu", 1))
	said("the cluster is closed", err)
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = full.Allocate(ctx, ask("gpu", 1))
	said("the runtime is closed", err)
}

func TestAnErrorSaysWhichOptionOrObjectItIsAbout(t *testing.T) {
	_, err := NewRuntime(context.Background(), Options{CacheDir: cache, MaxMemory: 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "with 1048576 as Options.MaxMemory: ") {
		t.Error(err)
	}
	full := cluster(t, Settings{})
	supposing := Supposition{With: append(Objects(node("c", 1)), nil)}
	_, err = full.Fit(context.Background(), FitRequest{Device: &DeviceAsk{Class: "gpu"}, Supposing: supposing})
	var unreadable *UnreadableError
	if !errors.As(err, &unreadable) || err.Error() != "apportion: objects[2]: an object is nil (read/wrong-type)" {
		t.Error(err)
	}
}

func TestACacheThatIsDamagedIsRemoved(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(cache)); err != nil {
		t.Fatal(err)
	}
	compiled, err := filepath.Glob(filepath.Join(folder, "apportion", "*", "*"))
	if err != nil || len(compiled) != 1 {
		t.Fatal(compiled, err)
	}
	if err := os.Truncate(compiled[0], 1<<20); err != nil {
		t.Fatal(err)
	}
	made, err := NewRuntime(context.Background(), Options{CacheDir: folder})
	if err != nil {
		t.Fatal(err)
	}
	clusterOf(t, made, Settings{})
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(compiled[0]); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
