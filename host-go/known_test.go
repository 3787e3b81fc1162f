package apportion

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// named are claims of the namespace `default`.
func named(names ...string) (claims []types.NamespacedName) {
	for _, name := range names {
		claims = append(claims, types.NamespacedName{Name: name})
	}
	return claims
}

// known takes in claims for so many devices each, named by their position.
func known(t testing.TB, cluster *Cluster, counts ...int64) {
	t.Helper()
	for index, count := range counts {
		one := claim("gpu", count)
		one.Name = fmt.Sprint(index)
		if findings, err := cluster.Apply(one); err != nil || Refused(findings) != nil {
			t.Fatal(findings, err)
		}
	}
}

// nodes of the answers: none where there is no place.
func nodes(t testing.TB, results []Result[*Answer], err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, result := range results {
		if result.Err != nil {
			t.Fatal(result.Err)
		}
		all = append(all, fmt.Sprintf("%q", result.Answer.Node))
	}
	return strings.Join(all, " ")
}

func TestClaimsOfTheClusterAreAllocatedOneAfterAnother(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	known(t, full, 1, 2, 1, 1)
	question := KnownQuestion{Claims: named("0", "1", "2", "3")}
	// Nothing is taken unless that is asked for.
	for range 2 {
		if results, err := full.AllocateEach(ctx, question); nodes(t, results, err) != `"a" "b" "a" "a"` {
			t.Fatal(results)
		}
	}
	question.Take = true
	fork, err := full.Fork(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if results, err := fork.AllocateEach(ctx, question); nodes(t, results, err) != `"a" "b" ""` {
		t.Fatal(results)
	}
	if full, fork := fitsOn(t, full, 1), fitsOn(t, fork, 1); full != "a" || fork != "" {
		t.Fatalf("on %q, in the fork on %q", full, fork)
	}
	// A claim that has devices gets others.
	more := KnownQuestion{Claims: named("0"), Nodes: []string{"c"}, Take: true}
	if _, err := fork.Apply(node("c", 1)...); err != nil {
		t.Fatal(err)
	}
	answer, err := fork.AllocateKnown(ctx, more)
	if err != nil || answer.Node != "c" || fitsOn(t, fork, 1) != "a" {
		t.Fatal(answer, err)
	}
	if err := fork.Commit(); err != nil {
		t.Fatal(err)
	}
	if one, two := fitsOn(t, full, 1), fitsOn(t, full, 2); one != "a" || two != "" {
		t.Fatalf("on %q and %q", one, two)
	}
	// Together they have one node, or none.
	together := KnownQuestion{Claims: named("1", "2")}
	if answer, err = full.AllocateKnown(ctx, together); err != nil || answer.Node != "" || len(answer.Refusals) != 3 {
		t.Fatal(answer, err)
	}
}

func TestAQuestionAboutAClaimThatIsNotThereTakesNothing(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	known(t, full, 1)
	for _, take := range []bool{false, true} {
		question := KnownQuestion{Claims: named("0", "nobody"), Take: take}
		_, each := full.AllocateEach(ctx, question)
		_, together := full.AllocateKnown(ctx, question)
		for _, err := range []error{each, together} {
			var unreadable *UnreadableError
			if !errors.As(err, &unreadable) || !strings.Contains(err.Error(), "there is no claim `nobody` in namespace `default`") {
				t.Fatal(err)
			}
		}
	}
	if fitsOn(t, full, 1) != "a" {
		t.Fatal("a device was taken")
	}
}

func TestWhatClaimsTookIsThereAfterATrap(t *testing.T) {
	ctx := context.Background()
	full := clusterOf(t, small(t), Settings{})
	known(t, full, 1, 1)
	fork, _ := full.Fork(ctx)
	for _, one := range []*Cluster{full, fork} {
		if _, err := one.AllocateEach(ctx, KnownQuestion{Claims: named("0", "1"), Nodes: []string{"b"}, Take: true}); err != nil {
			t.Fatal(err)
		}
	}
	if err := fork.Commit(); !errors.Is(err, ErrChanged) {
		t.Fatal(err)
	}
	trap := func() {
		t.Helper()
		if _, err := full.Apply(tooMuch()...); !errors.Is(err, ErrTrapped) {
			t.Fatal(err)
		}
	}
	trap()
	question := Question{Claims: ask("gpu", 1).Claims, Nodes: []string{"b"}}
	if answer, err := full.Allocate(ctx, question); err != nil || answer.Node != "" {
		t.Fatal(answer, err)
	}
	// The claim as it was given is another one than it is now.
	known(t, full, 1)
	trap()
	if answer, err := full.Allocate(ctx, question); err != nil || answer.Node != "b" {
		t.Fatal(answer, err)
	}
}

func TestEveryInstanceKnowsWhatClaimsTook(t *testing.T) {
	ctx := context.Background()
	runtime, err := NewRuntime(ctx, Options{CacheDir: cache, Instances: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = runtime.Close() })
	full := clusterOf(t, runtime, Settings{})
	var counts []int64
	for range 64 {
		counts = append(counts, 1)
	}
	known(t, full, counts...)
	if _, err := full.Apply(node("c", len(counts))...); err != nil {
		t.Fatal(err)
	}
	for index := range counts {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { _, _ = full.Fits(ctx, ask("gpu", 1)) })
		}
		results, err := full.AllocateEach(ctx, KnownQuestion{Claims: named(fmt.Sprint(index)), Nodes: []string{"c"}, Take: true})
		if device := results[0].Answer.Allocations[0].Devices.Results[0].Device; err != nil || device != fmt.Sprintf("gpu-%d", index) {
			t.Fatal(index, device, err)
		}
		all.Wait()
	}
}
