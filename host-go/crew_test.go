package apportion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"apportion.dev/apportion/internal/engine"
	"k8s.io/apimachinery/pkg/runtime"
)

// crowd has up to three instances for each cluster.
func crowd(t *testing.T, options Options) *Runtime {
	t.Helper()
	options.CacheDir, options.Instances = cache, 3
	made, err := NewRuntime(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = made.Close() })
	return made
}

// grown has a cluster with as many instances as it may have.
func grown(t *testing.T, runtime *Runtime) *Cluster {
	t.Helper()
	full := clusterOf(t, runtime, Settings{})
	for len(full.home.crew.all) < runtime.instances {
		err := full.with(context.Background(), false, func(crew *crew, one *member, _ uint32) error {
			// As if another question waited.
			crew.waiting.Add(1)
			defer crew.waiting.Add(-1)
			crew.grow(one)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return full
}

// inAll asks every instance of a cluster at the same time, and has one answer of each.
func inAll(t *testing.T, cluster *Cluster, question Question) []string {
	t.Helper()
	var taken, group sync.WaitGroup
	taken.Add(cluster.home.runtime.instances)
	found := make([]string, cluster.home.runtime.instances)
	for index := range found {
		group.Go(func() {
			err := cluster.with(context.Background(), false, func(crew *crew, one *member, handle uint32) error {
				taken.Done()
				taken.Wait()
				text, err := question.encode(0)
				if question.Prepared != nil {
					text, err = question.again(cluster, crew)
				}
				if err != nil {
					return err
				}
				answer, err := one.Ask(6, handle, text)
				if err != nil {
					return err
				}
				decided := &Answer{}
				err = json.Unmarshal(answer, decided)
				found[index] = decided.Node
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	return found
}

func TestEveryInstanceMakesEveryChange(t *testing.T) {
	ctx := context.Background()
	full := grown(t, crowd(t, Options{}))
	if found := fmt.Sprint(inAll(t, full, ask("gpu", 2))); found != "[b b b]" {
		t.Fatal(found)
	}
	for round := range 3 {
		fork, err := full.Fork(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fork.Apply(node("c", 3+round)...); err != nil {
			t.Fatal(err)
		}
		inner, err := fork.Fork(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if found := fmt.Sprint(inAll(t, inner, ask("gpu", int64(3+round))), inAll(t, full, ask("gpu", int64(3+round)))); found != "[c c c] [  ]" {
			t.Fatal(found)
		}
		if err := inner.Close(); err != nil {
			t.Fatal(err)
		}
		if err := fork.Revert(); err != nil {
			t.Fatal(err)
		}
		if found := fmt.Sprint(inAll(t, fork, ask("gpu", int64(3+round)))); found != "[  ]" {
			t.Fatal(found)
		}
		if _, err := fork.Apply(node("c", 3+round)...); err != nil {
			t.Fatal(err)
		}
		if err := fork.Commit(); err != nil {
			t.Fatal(err)
		}
		if found := fmt.Sprint(inAll(t, full, ask("gpu", int64(3+round)))); found != "[c c c]" {
			t.Fatal(found)
		}
	}
	// What all have made goes with the next change: the commit of the last round is still there.
	if left := len(full.home.crew.log); left > 2 {
		t.Errorf("%d changes are kept", left)
	}
	for _, one := range full.home.crew.all {
		if len(one.handles) != 1 {
			t.Errorf("handles of clusters that are closed: %v", one.handles)
		}
	}
}

func TestAnInstanceThatIsFarBehindIsDroppedAndAnotherMade(t *testing.T) {
	full := grown(t, crowd(t, Options{}))
	for range mostChanges + 2 {
		if _, err := full.Delete(Ref{Kind: "Node", Name: "nobody"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := full.Apply(node("c", 3)...); err != nil {
		t.Fatal(err)
	}
	if kept := len(full.home.crew.log); kept > mostChanges {
		t.Fatalf("%d changes are kept", kept)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 5 {
				if on := fitsOn(t, full, 3); on != "c" {
					t.Errorf("on %q", on)
				}
			}
		})
	}
	group.Wait()
}

func TestATrapInOneOfSeveralInstancesIsOneRebuild(t *testing.T) {
	runtime := crowd(t, Options{MaxMemory: memory})
	full := grown(t, runtime)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 5 {
				answer, err := full.Allocate(context.Background(), ask("gpu", 2))
				if err != nil || answer.Node != "b" {
					t.Error(answer, err)
				}
			}
		})
	}
	if _, err := full.Apply(tooMuch()...); !errors.Is(err, ErrTrapped) {
		t.Error(err)
	}
	group.Wait()
	if runtime.Rebuilds() != 1 {
		t.Errorf("%d rebuilds", runtime.Rebuilds())
	}
}

func TestAnInstanceThatCannotFollowIsDropped(t *testing.T) {
	runtime := crowd(t, Options{MaxMemory: memory})
	full := grown(t, runtime)
	much := tooMuch()
	much = much[:len(much)/2]
	var argument []byte
	for _, object := range much {
		_, text, _ := encode(object)
		argument = append(append(argument, separator), text...)
	}
	var filled, group sync.WaitGroup
	filled.Add(2)
	isChanged := make(chan struct{})
	for range 2 {
		group.Go(func() {
			err := full.with(context.Background(), false, func(_ *crew, one *member, _ uint32) error {
				// It has no room for the change that another instance makes meanwhile.
				defer func() { <-isChanged }()
				defer filled.Done()
				other := change{op: engine.NewCluster, argument: []byte("{}"), made: 1 << 20}
				if _, err := one.repeat(other); err != nil {
					return err
				}
				_, err := one.Ask(engine.Apply, one.handles[other.made], argument)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	filled.Wait()
	if _, err := full.Apply(append(much, node("c", 3)...)...); err != nil {
		t.Fatal(err)
	}
	close(isChanged)
	group.Wait()
	for range 8 {
		group.Go(func() {
			if answer, err := full.Allocate(context.Background(), ask("gpu", 3)); err != nil || answer.Node != "c" {
				t.Error(answer, err)
			}
		})
	}
	group.Wait()
	if runtime.Rebuilds() != 0 {
		t.Errorf("%d rebuilds", runtime.Rebuilds())
	}
}

func TestAQuestionThatWaitsEndsWithItsContext(t *testing.T) {
	full := cluster(t, Settings{})
	ctx, cancel := context.WithCancel(context.Background())
	err := full.with(context.Background(), false, func(*crew, *member, uint32) error {
		waits := make(chan error)
		go func() {
			_, err := full.Allocate(ctx, ask("gpu", 1))
			waits <- err
		}()
		for full.home.crew.waiting.Load() == 0 {
			goruntime.Gosched()
		}
		cancel()
		if err := <-waits; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAChangeDoesNotWaitForTheQuestionsThatWait(t *testing.T) {
	ctx := context.Background()
	full := cluster(t, Settings{})
	var order []string
	var mutex sync.Mutex
	var group sync.WaitGroup
	note := func(what string) {
		mutex.Lock()
		defer mutex.Unlock()
		order = append(order, what)
	}
	waitsFor := func(count int32) {
		for full.home.crew.waiting.Load() < count {
			goruntime.Gosched()
		}
	}
	const questions = 8
	err := full.with(ctx, false, func(*crew, *member, uint32) error {
		for range questions {
			group.Go(func() {
				if err := full.with(ctx, false, func(*crew, *member, uint32) error {
					note("question")
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		waitsFor(questions)
		group.Go(func() {
			defer full.home.change()()
			if err := full.with(ctx, true, func(*crew, *member, uint32) error {
				note("change")
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
		waitsFor(questions + 1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	group.Wait()
	if len(order) != questions+1 || order[0] != "change" {
		t.Error(order)
	}
}

func TestACloseOfTheRuntimeIsSaid(t *testing.T) {
	made, err := NewRuntime(context.Background(), Options{CacheDir: cache})
	if err != nil {
		t.Fatal(err)
	}
	full := clusterOf(t, made, Settings{})
	fork, _ := full.Fork(context.Background())
	for range 2 {
		if err := made.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := full.Allocate(context.Background(), ask("gpu", 1)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := made.NewCluster(context.Background(), Settings{}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := errors.Join(fork.Close(), full.Close()); err != nil {
		t.Error(err)
	}
}

func TestARuntimeClosesWhileAClusterIsChangedAndAnotherCallTraps(t *testing.T) {
	made, err := NewRuntime(context.Background(), Options{CacheDir: cache})
	if err != nil {
		t.Fatal(err)
	}
	full := clusterOf(t, made, Settings{})
	var group sync.WaitGroup
	trap := errors.New("trap")
	err = full.with(context.Background(), false, func(*crew, *member, uint32) error {
		group.Go(func() { _ = made.Close() })
		for made.using.TryRLock() {
			made.using.RUnlock()
			goruntime.Gosched()
		}
		group.Go(func() {
			if _, err := full.Apply(node("c", 3)...); !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
		// So that the change waits for what the close waits for.
		time.Sleep(10 * time.Millisecond)
		return trap
	})
	if !errors.Is(err, ErrTrapped) || !errors.Is(err, trap) {
		t.Error(err)
	}
	group.Wait()
}

func TestAPlatformWithoutACompilerIsTold(t *testing.T) {
	for _, platform := range []struct {
		system, processor     string
		interprets, isRefused bool
	}{
		{"linux", "amd64", false, false},
		{"darwin", "arm64", false, false},
		{"linux", "riscv64", false, true},
		{"linux", "riscv64", true, false},
		{"js", "wasm", false, true},
	} {
		config, err := configuration(platform.system, platform.processor, platform.interprets)
		if platform.isRefused != errors.Is(err, ErrNoCompiler) || platform.isRefused != (config == nil) {
			t.Errorf("%+v: %v", platform, err)
		}
		if err != nil && !strings.Contains(err.Error(), platform.system+"/"+platform.processor) {
			t.Error(err)
		}
	}
}

// resident memory of this program in bytes; zero where the system does not say.
func resident() int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.Atoi(strings.Fields(string(text))[1])
	return pages * os.Getpagesize()
}

func TestClustersThatAreClosedLeaveNothing(t *testing.T) {
	if resident() == 0 {
		t.Skip("this system does not say how much memory is used")
	}
	if build, ok := debug.ReadBuildInfo(); ok && slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector has memory of its own for every address")
	}
	many := make([]runtime.Object, 0, 400)
	for index := range cap(many) / 2 {
		many = append(many, node(fmt.Sprint(index), 16)...)
	}
	var before int
	for round := range 30 {
		made, err := shared.NewCluster(context.Background(), Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := made.Apply(many...); err != nil {
			t.Fatal(err)
		}
		if err := made.Close(); err != nil {
			t.Fatal(err)
		}
		if round == 10 {
			before = resident()
		}
	}
	// Each had some five megabytes; the garbage collector may have some that it did not need to collect.
	if grown := resident() - before; grown > 60<<20 {
		t.Fatalf("%d more bytes are used", grown)
	}
}

func TestAnInstanceThatMakesNoMoreForksIsReplaced(t *testing.T) {
	ctx := context.Background()
	for name, ask := range map[string]func(*Cluster) error{
		"Fork": func(cluster *Cluster) error { _, err := cluster.Fork(ctx); return err },
		"Run":  func(cluster *Cluster) error { _, err := cluster.Run(ctx); return err },
	} {
		full := cluster(t, Settings{})
		// Handles cannot be used up in a test. A fork of nothing has no handle either.
		one := full.home.crew.resting[0]
		if _, err := one.Ask(engine.Close, one.handles[full.id], nil); err != nil {
			t.Fatal(err)
		}
		if err := ask(full); !errors.Is(err, ErrTrapped) || !strings.Contains(err.Error(), "no more forks") {
			t.Errorf("%s: %v", name, err)
		}
		if err := ask(full); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if node := fitsOn(t, full, 2); node != "b" {
			t.Errorf("%s: on %q", name, node)
		}
	}
}
