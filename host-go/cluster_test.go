package apportion

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

var (
	shared *Runtime
	// cache keeps the compiled module for the tests that need a runtime of their own.
	cache string
)

func TestMain(m *testing.M) {
	var err error
	if cache, err = os.MkdirTemp("", "apportion"); err == nil {
		shared, err = NewRuntime(context.Background(), Options{CacheDir: cache})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = shared.Close()
	_ = os.RemoveAll(cache)
	os.Exit(code)
}

func class() *resourcev1.DeviceClass {
	return &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}
}

// node has a slice with so many devices.
func node(name string, devices int) []runtime.Object {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}}
	slice.Spec = resourcev1.ResourceSliceSpec{
		Driver:   "gpu.example.com",
		NodeName: &name,
		Pool:     resourcev1.ResourcePool{Name: name, ResourceSliceCount: 1},
	}
	for index := range devices {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", index)})
	}
	return []runtime.Object{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, slice}
}

func claim(class string, count int64) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim", Namespace: "default"}}
	exactly := &resourcev1.ExactDeviceRequest{
		DeviceClassName: class,
		AllocationMode:  resourcev1.DeviceAllocationModeExactCount,
		Count:           count,
	}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: exactly}}
	return claim
}

func ask(class string, count int64) Question {
	return Question{Claims: []*resourcev1.ResourceClaim{claim(class, count)}}
}

// cluster has node a with one device and node b with two.
func cluster(t testing.TB, settings Settings) *Cluster {
	t.Helper()
	return clusterOf(t, shared, settings)
}

func clusterOf(t testing.TB, runtime *Runtime, settings Settings) *Cluster {
	t.Helper()
	made, err := runtime.NewCluster(context.Background(), settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = made.Close() })
	objects := append(node("a", 1), node("b", 2)...)
	findings, err := made.Apply(append(objects, class())...)
	if err != nil {
		t.Fatal(err)
	}
	for _, findings := range findings {
		if len(findings) > 0 {
			t.Fatal(findings)
		}
	}
	return made
}

func fitsOn(t testing.TB, cluster *Cluster, count int64) string {
	t.Helper()
	answer, err := cluster.Allocate(context.Background(), ask("gpu", count))
	if err != nil {
		t.Fatal(err)
	}
	return answer.Node
}

func TestAClaimGetsDevicesOnTheFirstNodeWhereItFits(t *testing.T) {
	answer, err := cluster(t, Settings{}).Allocate(context.Background(), ask("gpu", 2))
	if err != nil {
		t.Fatal(err)
	}
	results := answer.Allocations[0].Devices.Results
	if answer.Node != "b" || len(results) != 2 || results[1].Device != "gpu-1" {
		t.Fatalf("%+v", answer)
	}
}

func TestNoPlaceIsAnAnswerWithReasons(t *testing.T) {
	answer, err := cluster(t, Settings{}).Allocate(context.Background(), ask("gpu", 3))
	if err != nil {
		t.Fatal(err)
	}
	if answer.Node != "" || len(answer.Refusals) != 2 || answer.Refusals[1].Requests[0].Free != 2 {
		t.Fatalf("%+v", answer)
	}
}

func TestFitsHasOneBitPerNode(t *testing.T) {
	for count, expected := range map[int64]string{1: "[true true]", 2: "[false true]", 3: "[false false]"} {
		found, err := cluster(t, Settings{}).Fits(context.Background(), ask("gpu", count))
		if err != nil || fmt.Sprint(found) != expected {
			t.Errorf("%d devices: %v %v", count, found, err)
		}
	}
}

func TestErrorsAreValues(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	var failed *FailedError
	if _, err := full.Allocate(ctx, ask("none", 1)); !errors.As(err, &failed) || failed.Code == "" || failed.Node == "" {
		t.Errorf("a class that is not there: %v", err)
	}
	if _, err := cluster(t, Settings{MaxSteps: 1}).Allocate(ctx, ask("gpu", 2)); !errors.Is(err, ErrGaveUp) {
		t.Errorf("a limit of one step: %v", err)
	}
	var unreadable *UnreadableError
	if _, err := shared.NewCluster(ctx, Settings{Version: "0.1"}); !errors.As(err, &unreadable) {
		t.Errorf("a version that is not known: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := full.Allocate(cancelled, ask("gpu", 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
	_ = full.Close()
	if _, err := full.Allocate(ctx, ask("gpu", 1)); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed cluster: %v", err)
	}
}

func TestABadObjectIsAFindingAndTheOthersAreTakenIn(t *testing.T) {
	full := cluster(t, Settings{})
	bad := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": map[string]any{"name": "b"}, "spec": "text",
	}}
	// It has the name of a good one, which stays.
	objects := append([]runtime.Object{bad, nil, (*corev1.Node)(nil), &corev1.Node{}, &unstructured.Unstructured{}}, node("c", 3)...)
	findings, err := full.Apply(objects...)
	if err != nil || len(findings) != len(objects) || len(findings[6]) != 0 {
		t.Fatalf("%v %v", findings, err)
	}
	for index, code := range []string{"read/wrong-type", "read/wrong-type", "read/wrong-type", "read/no-name", "read/no-kind"} {
		if len(findings[index]) != 1 || findings[index][0].Code != code || findings[index][0].Severity != "error" {
			t.Errorf("object %d: %+v", index, findings[index])
		}
	}
	if two, three := fitsOn(t, full, 2), fitsOn(t, full, 3); two != "b" || three != "c" {
		t.Fatalf("on %q and %q", two, three)
	}
}

func TestTypedObjectsOfEveryServedVersionAreTakenIn(t *testing.T) {
	full := cluster(t, Settings{})
	meta, name := metav1.ObjectMeta{Name: "c"}, "c"
	older := &resourcev1beta1.ResourceSlice{ObjectMeta: meta}
	older.Spec.Driver, older.Spec.NodeName = "gpu.example.com", name
	older.Spec.Pool = resourcev1beta1.ResourcePool{Name: name, ResourceSliceCount: 1}
	for index := range 3 {
		device := resourcev1beta1.Device{Name: fmt.Sprintf("gpu-%d", index), Basic: &resourcev1beta1.BasicDevice{}}
		older.Spec.Devices = append(older.Spec.Devices, device)
	}
	rule := &resourcev1alpha3.DeviceTaintRule{ObjectMeta: meta}
	rule.Spec.DeviceSelector = &resourcev1alpha3.DeviceTaintSelector{Pool: &name}
	rule.Spec.Taint = resourcev1alpha3.DeviceTaint{Key: "broken", Effect: resourcev1alpha3.DeviceTaintEffectNoSchedule}
	findings, err := full.Apply(
		&corev1.Node{ObjectMeta: meta}, older, &resourcev1beta2.DeviceClass{ObjectMeta: meta}, &appsv1.Deployment{ObjectMeta: meta}, &batchv1.Job{ObjectMeta: meta},
		&policyv1.PodDisruptionBudget{ObjectMeta: meta}, &schedulingv1.PriorityClass{ObjectMeta: meta},
		&corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod"}, ObjectMeta: meta},
	)
	if err != nil || slices.ContainsFunc(findings, hasError) {
		t.Fatal(findings, err)
	}
	if on := fitsOn(t, full, 3); on != "c" {
		t.Fatalf("on %q", on)
	}
	if _, err := full.Apply(rule); err != nil {
		t.Fatal(err)
	}
	if on := fitsOn(t, full, 3); on != "" {
		t.Fatalf("on %q in spite of the taint", on)
	}
	findings, err = full.Apply(&resourcev1.ResourceSliceList{Items: []resourcev1.ResourceSlice{{}}}, &metav1.Status{})
	if err != nil || findings[0][0].Hint != "give its items" || !hasError(findings[1]) {
		t.Fatal(findings, err)
	}
}

func TestAForkIsTriedOutAndCommittedOrDropped(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	for _, commits := range []bool{false, true} {
		fork, err := full.Fork(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fork.Apply(node("c", 3)...); err != nil {
			t.Fatal(err)
		}
		if on, own := fitsOn(t, fork, 3), fitsOn(t, full, 3); on != "c" || own != "" {
			t.Fatalf("fork %q, cluster %q", on, own)
		}
		end := fork.Close
		if commits {
			end = fork.Commit
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if err := fork.Commit(); !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
	}
	if on := fitsOn(t, full, 3); on != "c" {
		t.Fatalf("on %q", on)
	}
	if err := full.Commit(); !errors.Is(err, ErrNoFork) {
		t.Fatal(err)
	}
	late, _ := full.Fork(ctx)
	if found, err := full.Delete(Ref{Kind: "ResourceSlice", Name: "c"}); !found || err != nil {
		t.Fatal(found, err)
	}
	if err := late.Commit(); !errors.Is(err, ErrChanged) {
		t.Fatal(err)
	}
}

func TestAForkGoesBackToWhatItWas(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	fork, err := full.Fork(ctx)
	if err != nil {
		t.Fatal(err)
	}
	inner, _ := fork.Fork(ctx)
	if _, err := inner.Apply(node("c", 3)...); err != nil {
		t.Fatal(err)
	}
	if err := inner.Commit(); err != nil {
		t.Fatal(err)
	}
	late, _ := fork.Fork(ctx)
	if err := fork.Revert(); err != nil {
		t.Fatal(err)
	}
	if on := fitsOn(t, fork, 3); on != "" {
		t.Fatalf("on %q", on)
	}
	if err := late.Commit(); !errors.Is(err, ErrChanged) {
		t.Fatal(err)
	}
	if _, err := fork.Apply(node("d", 3)...); err != nil {
		t.Fatal(err)
	}
	if err := fork.Commit(); err != nil {
		t.Fatal(err)
	}
	if on := fitsOn(t, full, 3); on != "d" {
		t.Fatalf("on %q", on)
	}
	if err := full.Revert(); !errors.Is(err, ErrNoFork) {
		t.Fatal(err)
	}
	if err := fork.Revert(); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}

func TestWhatChangesNothingIsNoChange(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	bad := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": map[string]any{"name": "b"}, "spec": "text",
	}}
	for name, change := range map[string]func() error{
		"nothing":         func() error { _, err := full.Apply(); return err },
		"what is refused": func() error { _, err := full.Apply(bad); return err },
		"the same again":  func() error { _, err := full.Apply(node("a", 1)...); return err },
		"a fork of nothing new": func() error {
			fork, err := full.Fork(ctx)
			if err != nil {
				return err
			}
			if _, err := fork.Apply(node("b", 2)...); err != nil {
				return err
			}
			return fork.Commit()
		},
		"an object that is not there": func() error {
			found, err := full.Delete(Ref{Kind: "ResourceSlice", Name: "none"})
			if found {
				return errors.New("it was found")
			}
			return err
		},
	} {
		fork, err := full.Fork(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := fork.Commit(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEveryKindIsKeptUnderTheKeyThatDeletesIt(t *testing.T) {
	full := cluster(t, Settings{})
	object := func(version, kind, namespace string, spec map[string]any) runtime.Object {
		metadata := map[string]any{"name": "x", "namespace": namespace}
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}}
	}
	requests := map[string]any{"devices": map[string]any{"requests": []any{map[string]any{
		"name": "gpu", "exactly": map[string]any{"deviceClassName": "gpu"},
	}}}}
	template := map[string]any{"spec": requests}
	before := len(full.copies)
	findings, err := full.Apply(
		object("v1", "Node", "ml", nil),
		object("resource.k8s.io/v1", "ResourceClaim", "", requests),
		object("v1", "Pod", "default", nil),
		object("v1", "Service", "", nil),
		object("apps/v1", "Deployment", "", nil),
		object("apportion.dev/v1alpha1", "ClusterResourceClaimTemplate", "", template),
	)
	if err != nil || slices.ContainsFunc(findings, hasError) || len(full.copies) != before+6 {
		t.Fatal(findings, err, len(full.copies))
	}
	for _, ref := range []Ref{
		{Kind: "Node", Name: "x"},
		{Kind: "ResourceClaim", Namespace: "default", Name: "x"},
		{Kind: "Pod", Name: "x"},
		{Kind: "Service", Name: "x"},
		{Kind: "Deployment", Name: "x"},
		{Kind: "ClusterResourceClaimTemplate.apportion.dev", Name: "x"},
	} {
		if found, err := full.Delete(ref); !found || err != nil {
			t.Error(ref, found, err)
		}
	}
	if len(full.copies) != before {
		t.Error(full.copies)
	}
}

func TestAForkEndsWithItsClusterAndOutlivesTheForkItWasMadeOf(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	outer, _ := full.Fork(ctx)
	if _, err := outer.Apply(node("c", 3)...); err != nil {
		t.Fatal(err)
	}
	inner, err := outer.Fork(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := outer.Close(); err != nil {
		t.Fatal(err)
	}
	if on := fitsOn(t, inner, 3); on != "c" {
		t.Fatalf("on %q", on)
	}
	if err := inner.Commit(); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	if err := full.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := inner.Allocate(ctx, ask("gpu", 1)); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	if err := inner.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestManyMayAskAtOnce(t *testing.T) {
	full := cluster(t, Settings{})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				fork, err := full.Fork(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				if on := fitsOn(t, fork, 2); on != "b" {
					t.Errorf("on %q", on)
				}
				if err := fork.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// leavesNothing fails where many rounds need more memory in the module than some did.
func leavesNothing(t *testing.T, cluster *Cluster, round func() error) {
	t.Helper()
	size := func() uint32 { return cluster.home.crew.resting[0].Size() }
	var before uint32
	for count := range 2000 {
		if count == 100 {
			before = size()
		}
		if err := round(); err != nil {
			t.Fatal(err)
		}
	}
	if size() != before {
		t.Fatalf("%d bytes, later %d", before, size())
	}
}

func TestForksThatAreClosedLeaveNothing(t *testing.T) {
	full := cluster(t, Settings{})
	leavesNothing(t, full, func() error {
		fork, err := full.Fork(context.Background())
		if err != nil {
			return err
		}
		fitsOn(t, fork, 1)
		return fork.Close()
	})
}

func TestRunAndExplainAnswerAndChangeNothing(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	pending := claim("gpu", 3)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "default"}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "main"}}
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &pending.Name}}
	if _, err := full.Apply(pending, pod); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		report, err := full.Run(ctx)
		if err != nil || len(report.Pods) != 1 || report.Pods[0].Node != "" || len(report.Pods[0].Reasons) == 0 {
			t.Fatalf("%+v %v", report, err)
		}
		if len(report.Nodes) != 2 || report.Nodes[1].LocalDevices != 2 || report.Claims[0].Allocated {
			t.Fatalf("%+v", report)
		}
	}
	subject := Ref{Kind: "Pod", Namespace: "default", Name: "pod"}
	why, err := full.Explain(ctx, ExplainRequest{Subject: &subject, Nodes: []string{"b"}})
	if err != nil || len(why) != 1 || why[0].Subject != subject || why[0].State != "noDevices" || why[0].Headline == "" {
		t.Fatalf("%+v %v", why, err)
	}
	if request := why[0].Requests[0]; request.Needed != 3 || request.Best != 2 || len(why[0].Details) != 1 {
		t.Fatalf("%+v", why)
	}
	if all, err := full.Explain(ctx, ExplainRequest{}); err != nil || len(all) == 0 {
		t.Fatalf("%+v %v", all, err)
	}
	var unreadable *UnreadableError
	nobody := ExplainRequest{Subject: &Ref{Kind: "Pod", Namespace: "default", Name: "nobody"}}
	if _, err := full.Explain(ctx, nobody); !errors.As(err, &unreadable) || len(unreadable.Findings) == 0 {
		t.Fatal(err)
	}
}

func TestAListOfQuestionsHasAResultForEach(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	taken := ask("gpu", 2)
	taken.InUse.Devices = []DeviceInUse{{DeviceID: DeviceID{Driver: "gpu.example.com", Pool: "b", Device: "gpu-0"}}}
	answers, err := full.AllocateAll(ctx, ask("gpu", 2), ask("none", 1), taken, ask("gpu", 2))
	if err != nil || len(answers) != 4 {
		t.Fatal(answers, err)
	}
	var failed *FailedError
	if !errors.As(answers[1].Err, &failed) || answers[1].Answer != nil {
		t.Fatalf("%+v", answers[1])
	}
	for index, node := range map[int]string{0: "b", 2: "", 3: "b"} {
		if result := answers[index]; result.Err != nil || result.Answer.Node != node {
			t.Errorf("question %d: %+v", index, result)
		}
	}
	fits, err := full.FitsAll(ctx, ask("gpu", 1), taken)
	if err != nil || fmt.Sprint(fits[0].Answer, fits[1].Answer) != "[true true] [false false]" {
		t.Fatal(fits, err)
	}
	if none, err := full.FitsAll(ctx); err != nil || len(none) != 0 {
		t.Fatal(none, err)
	}
	nameless := Question{Claims: []*resourcev1.ResourceClaim{{}}}
	var unreadable *UnreadableError
	answers, err = full.AllocateAll(ctx, nameless, ask("gpu", 1))
	if err != nil || !errors.As(answers[0].Err, &unreadable) || answers[1].Err != nil || answers[1].Answer.Node != "a" {
		t.Fatalf("%+v %v", answers, err)
	}
}
