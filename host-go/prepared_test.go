package apportion

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
)

// prepare reads a question for so many devices.
func prepare(t testing.TB, cluster *Cluster, count int64) *Prepared {
	t.Helper()
	made, err := cluster.Prepare(context.Background(), ask("gpu", count))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// again asks a prepared question: the node, or the error.
func again(cluster *Cluster, prepared *Prepared) string {
	answer, err := cluster.Allocate(context.Background(), Question{Prepared: prepared})
	if err != nil {
		return err.Error()
	}
	return answer.Node
}

func TestAPreparedQuestionIsAnsweredAsTheQuestionItself(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	one, err := full.Prepare(ctx, Question{Claims: []*resourcev1.ResourceClaim{claim("gpu", 1)}, Nodes: []string{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	two := prepare(t, full, 2)
	taken := InUse{Devices: []DeviceInUse{{DeviceID: DeviceID{Driver: "gpu.example.com", Pool: "b", Device: "gpu-1"}}}}
	questions := []Question{
		{Prepared: one}, {Prepared: two}, ask("gpu", 1), {Prepared: one, Nodes: []string{"a", "b"}}, {Prepared: two, InUse: taken}, {Prepared: two},
	}
	answers, err := full.AllocateAll(ctx, questions...)
	if err != nil {
		t.Fatal(err)
	}
	for index, node := range []string{"b", "b", "a", "a", "", "b"} {
		if result := answers[index]; result.Err != nil || result.Answer.Node != node {
			t.Errorf("question %d: %+v", index, result)
		}
	}
	fits, err := full.FitsAll(ctx, questions...)
	if err != nil || fmt.Sprint(fits) != "[{[true] <nil>} {[false true] <nil>} {[true true] <nil>} {[true true] <nil>} {[false false] <nil>} {[false true] <nil>}]" {
		t.Fatal(fits, err)
	}
}

func TestAPreparedQuestionIsKnownInForksThatAreMadeLater(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	early, _ := full.Fork(ctx)
	three := prepare(t, full, 3)
	late, _ := full.Fork(ctx)
	if _, err := late.Apply(node("c", 3)...); err != nil {
		t.Fatal(err)
	}
	own := prepare(t, late, 2)
	inner, _ := late.Fork(ctx)
	for _, expected := range []struct {
		cluster  *Cluster
		prepared *Prepared
		answer   string
	}{
		{full, three, ""}, {late, three, "c"}, {inner, three, "c"}, {late, own, "b"}, {inner, own, "b"},
		{early, three, ErrNotPrepared.Error()}, {full, own, ErrNotPrepared.Error()}, {cluster(t, Settings{}), three, ErrNotPrepared.Error()},
		{full, &Prepared{}, ErrNotPrepared.Error()},
	} {
		if answer := again(expected.cluster, expected.prepared); answer != expected.answer {
			t.Errorf("%q instead of %q", answer, expected.answer)
		}
	}
	if err := late.Commit(); err != nil {
		t.Fatal(err)
	}
	if answer := again(full, three); answer != "c" {
		t.Error(answer)
	}
	// One wrong question is one error, and the others are answered.
	answers, err := full.AllocateAll(ctx, Question{Prepared: own}, Question{Prepared: three}, ask("gpu", 2))
	if err != nil || !errors.Is(answers[0].Err, ErrNotPrepared) || answers[1].Answer.Node != "c" || answers[2].Answer.Node != "b" {
		t.Error(answers, err)
	}
	for range 2 {
		if err := errors.Join(three.Close(), own.Close()); err != nil {
			t.Error(err)
		}
	}
	if answer := again(full, three); answer != errPreparedClosed.Error() {
		t.Error(answer)
	}
}

func TestAQuestionThatCannotBePreparedIsRefused(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	two := prepare(t, full, 2)
	broken := ask("gpu", 1)
	broken.Claims[0].APIVersion, broken.Claims[0].Kind = "resource.k8s.io/v1", "Pod"
	var unreadable *UnreadableError
	for name, question := range map[string]Question{
		"no claim": {Claims: []*resourcev1.ResourceClaim{nil}}, "another kind": broken, "prepared twice": {Prepared: two},
	} {
		if _, err := full.Prepare(ctx, question); !errors.As(err, &unreadable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	both := ask("gpu", 1)
	both.Prepared = two
	if _, err := full.Allocate(ctx, both); !errors.As(err, &unreadable) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := full.Prepare(ended, ask("gpu", 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// What was refused has taken no number.
	if answer := again(full, two); answer != "b" {
		t.Error(answer)
	}
	_ = full.Close()
	if _, err := full.Prepare(ctx, ask("gpu", 1)); !errors.Is(err, ErrClosed) || again(full, two) != ErrClosed.Error() {
		t.Error(err)
	}
	if err := two.Close(); err != nil {
		t.Error(err)
	}
}

func TestEveryInstanceKnowsAPreparedQuestion(t *testing.T) {
	full := grown(t, crowd(t, Options{}))
	for range 3 {
		gone, two := prepare(t, full, 1), prepare(t, full, 2)
		if err := gone.Close(); err != nil {
			t.Fatal(err)
		}
		if found := fmt.Sprint(inAll(t, full, Question{Prepared: two})); found != "[b b b]" {
			t.Fatal(found)
		}
	}
}

func TestPreparedQuestionsOutliveATrap(t *testing.T) {
	runtime := crowd(t, Options{MaxMemory: memory})
	full := grown(t, runtime)
	var all []*Prepared
	for count := range int64(4) {
		all = append(all, prepare(t, full, count+1))
	}
	if err := all[0].Close(); err != nil {
		t.Fatal(err)
	}
	fork, _ := full.Fork(context.Background())
	lost := prepare(t, fork, 2)
	var group sync.WaitGroup
	askAll := func() {
		for count, node := range map[int64]string{2: "b", 3: "", 4: ""} {
			if answer := again(full, all[count-1]); answer != node {
				t.Errorf("%d devices on %q", count, answer)
			}
		}
	}
	for range 2 {
		group.Go(func() {
			for range 50 {
				askAll()
			}
		})
	}
	for range 3 {
		if _, err := full.Apply(tooMuch()...); !errors.Is(err, ErrTrapped) {
			t.Error(err)
		}
		askAll()
		late := prepare(t, full, 1)
		if answer := again(full, late); answer != "a" {
			t.Error(answer)
		}
		if err := late.Close(); err != nil {
			t.Error(err)
		}
	}
	group.Wait()
	if answer := again(fork, lost); answer != ErrForkLost.Error() {
		t.Error(answer)
	}
	if err := lost.Close(); err != nil {
		t.Error(err)
	}
	if runtime.Rebuilds() != 3 {
		t.Errorf("%d rebuilds", runtime.Rebuilds())
	}
}

func TestPreparedQuestionsThatAreClosedLeaveNothing(t *testing.T) {
	full := cluster(t, Settings{})
	leavesNothing(t, full, func() error { return prepare(t, full, 1).Close() })
	if len(full.prepared) != 0 {
		t.Fatalf("%d questions", len(full.prepared))
	}
}
