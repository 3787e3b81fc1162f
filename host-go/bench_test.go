package apportion

import (
	"context"
	"fmt"
	"testing"
)

func BenchmarkOnFiveThousandNodes(b *testing.B) {
	ctx := context.Background()
	full := cluster(b, Settings{})
	for index := range 5000 {
		if _, err := full.Apply(node(fmt.Sprintf("node-%04d", index), 16)...); err != nil {
			b.Fatal(err)
		}
	}
	// From here on the module knows the pools of all nodes, as it does in a program that has been running for a while.
	if _, err := full.Fits(ctx, ask("gpu", 1)); err != nil {
		b.Fatal(err)
	}
	answer, err := full.Allocate(ctx, ask("gpu", 1))
	if err != nil {
		b.Fatal(err)
	}
	taken := claim("gpu", 1)
	taken.Status.Allocation = &answer.Allocations[0]
	inFork := func(b *testing.B, work func(fork *Cluster)) {
		for b.Loop() {
			fork, err := full.Fork(ctx)
			if err != nil {
				b.Fatal(err)
			}
			work(fork)
			if err := fork.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("Allocate", func(b *testing.B) {
		for b.Loop() {
			fitsOn(b, full, 1)
		}
	})
	prepared := prepare(b, full, 1)
	b.Run("Allocate,Prepared", func(b *testing.B) {
		for b.Loop() {
			if _, err := full.Allocate(ctx, Question{Prepared: prepared}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Fork,Close", func(b *testing.B) { inFork(b, func(*Cluster) {}) })
	b.Run("Fork,Allocate,Close", func(b *testing.B) { inFork(b, func(fork *Cluster) { fitsOn(b, fork, 1) }) })
	b.Run("Fork,Allocate,Apply,Close", func(b *testing.B) {
		inFork(b, func(fork *Cluster) {
			fitsOn(b, fork, 1)
			if _, err := fork.Apply(taken); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("Fits", func(b *testing.B) {
		for b.Loop() {
			if _, err := full.Fits(ctx, ask("gpu", 1)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
