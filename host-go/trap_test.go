package apportion

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const memory = 32 << 20

// small has a module with little memory, which traps when it needs more.
func small(t *testing.T) *Runtime {
	t.Helper()
	made, err := NewRuntime(context.Background(), Options{CacheDir: cache, MaxMemory: memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = made.Close() })
	return made
}

// tooMuch is more than fits into the memory, though its text does.
func tooMuch() []runtime.Object {
	objects := make([]runtime.Object, 400)
	for index := range objects {
		annotations := map[string]string{"text": strings.Repeat("x", memory*2/3/len(objects))}
		objects[index] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(index), Annotations: annotations}}
	}
	return objects
}

func TestATrapCostsTheCallAndTheClusterIsFilledAgain(t *testing.T) {
	ctx := context.Background()
	runtime := small(t)
	full := clusterOf(t, runtime, Settings{})
	committed, _ := full.Fork(ctx)
	if _, err := committed.Apply(node("c", 3)...); err != nil {
		t.Fatal(err)
	}
	// A namespace means nothing for a slice.
	if found, err := committed.Delete(Ref{Kind: "ResourceSlice", Namespace: "ml", Name: "b"}); !found || err != nil {
		t.Fatal(found, err)
	}
	if err := committed.Commit(); err != nil {
		t.Fatal(err)
	}
	fork, _ := full.Fork(ctx)
	for round := range uint64(2) {
		if _, err := full.Apply(tooMuch()...); !errors.Is(err, ErrTrapped) || !strings.Contains(fmt.Sprint(err), "unreachable") {
			t.Fatal(err)
		}
		if one, two, three := fitsOn(t, full, 1), fitsOn(t, full, 2), fitsOn(t, full, 3); one != "a" || two != "c" || three != "c" {
			t.Fatalf("on %q, %q and %q", one, two, three)
		}
		if runtime.Rebuilds() != round+1 {
			t.Fatalf("%d rebuilds", runtime.Rebuilds())
		}
		if answer, err := full.Fits(ctx, Question{Nodes: []string{"0"}}); err != nil || len(answer) != 1 {
			t.Fatal(answer, err)
		}
	}
	if _, err := fork.Fits(ctx, ask("gpu", 1)); !errors.Is(err, ErrForkLost) {
		t.Fatal(err)
	}
	if err := fork.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestATrapInAForkLeavesTheClusterAsItWas(t *testing.T) {
	full := clusterOf(t, small(t), Settings{})
	fork, _ := full.Fork(context.Background())
	if _, err := fork.Apply(node("c", 3)...); err != nil {
		t.Fatal(err)
	}
	if _, err := fork.Apply(tooMuch()...); !errors.Is(err, ErrTrapped) {
		t.Fatal(err)
	}
	if on := fitsOn(t, full, 3); on != "" {
		t.Fatalf("on %q", on)
	}
	if err := fork.Commit(); !errors.Is(err, ErrForkLost) {
		t.Fatal(err)
	}
}

func TestAnObjectThatIsLeftAsideTakesNoPlaceAmongTheCopies(t *testing.T) {
	full := clusterOf(t, small(t), Settings{})
	object := func(version, kind string) runtime.Object {
		metadata := map[string]any{"name": "x", "namespace": "ml"}
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind, "metadata": metadata}}
	}
	before := len(full.copies)
	findings, err := full.Apply(
		object("batch/v1", "Job"), object("scheduling.k8s.io/v1alpha3", "Workload"),
		object("batch.example.com/v1", "Job"), object("kueue.x-k8s.io/v1beta1", "Workload"), object("v1", "ConfigMap"),
	)
	if err != nil || Refused(findings) != nil || len(full.copies) != before+2 {
		t.Fatal(findings, err, len(full.copies))
	}
	if _, err := full.Apply(tooMuch()...); !errors.Is(err, ErrTrapped) {
		t.Fatal(err)
	}
	for _, kind := range []string{"Job", "Workload"} {
		if found, err := full.Delete(Ref{Kind: kind, Namespace: "ml", Name: "x"}); !found || err != nil {
			t.Error(kind, found, err)
		}
	}
}

func TestWhatIsNotTakenInAgainIsSaid(t *testing.T) {
	full := clusterOf(t, small(t), Settings{})
	slice := Ref{Kind: "ResourceSlice", Name: "b"}
	full.copies[slice] = copied{text: []byte("{"), when: full.copies[slice].when}
	_, err := full.Apply(tooMuch()...)
	var lost *LostError
	if !errors.As(err, &lost) || len(lost.Objects) != 1 || lost.Objects[0].Ref != slice || lost.Objects[0].Findings[0].Code != "read/bad-json" {
		t.Fatal(err)
	}
	if one, two := fitsOn(t, full, 1), fitsOn(t, full, 2); one != "a" || two != "" {
		t.Fatalf("on %q and %q", one, two)
	}
}

func TestAnArgumentBeyondTheMemoryIsRefusedAndChangesNothing(t *testing.T) {
	runtime := small(t)
	full := clusterOf(t, runtime, Settings{})
	fork, _ := full.Fork(context.Background())
	annotations := map[string]string{"text": strings.Repeat("x", memory)}
	_, err := full.Apply(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: annotations}})
	if !errors.Is(err, ErrTooLarge) || runtime.Rebuilds() != 0 {
		t.Fatal(err, runtime.Rebuilds())
	}
	if on := fitsOn(t, fork, 2); on != "b" {
		t.Fatalf("on %q", on)
	}
	if err := fork.Commit(); err != nil {
		t.Fatal(err)
	}
}
