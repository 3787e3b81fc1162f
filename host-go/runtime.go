// Package apportion decides Kubernetes Dynamic Resource Allocation inside a Go program: the core of Apportion as a WebAssembly module that
// imports nothing, run by wazero, without cgo.
package apportion

import (
	"context"
	_ "embed"
	"fmt"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
)

//go:embed apportion.wasm
var module []byte

// abi is the version of the module's interface that this package speaks.
const abi = 1

// Options of a [Runtime]. The zero value is usable.
type Options struct {
	// CacheDir is where the compiled module is kept between runs of the program; empty for nowhere. With it a start takes a fraction.
	CacheDir string
	// MaxMemory is how many bytes the module may use for one cluster with its forks, rounded down to pages of 64 KiB; 4 GiB when zero. Beyond
	// it the module traps.
	MaxMemory uint64
}

// pageSize of WebAssembly, in bytes, and how many pages there can be.
const (
	pageSize  = 65536
	mostPages = 65536
)

// Runtime is the module, compiled once, from which clusters are made. It is safe for concurrent use.
type Runtime struct {
	wazero   wazero.Runtime
	cache    wazero.CompilationCache
	compiled wazero.CompiledModule
	rebuilds atomic.Uint64
}

// NewRuntime compiles the module.
func NewRuntime(ctx context.Context, options Options) (*Runtime, error) {
	config := wazero.NewRuntimeConfig()
	if options.MaxMemory > 0 {
		config = config.WithMemoryLimitPages(uint32(min(options.MaxMemory/pageSize, mostPages)))
	}
	var cache wazero.CompilationCache
	if options.CacheDir != "" {
		var err error
		if cache, err = wazero.NewCompilationCacheWithDir(options.CacheDir); err != nil {
			return nil, fmt.Errorf("apportion: the cache directory cannot be used: %w", err)
		}
		config = config.WithCompilationCache(cache)
	}
	runtime := &Runtime{wazero: wazero.NewRuntimeWithConfig(ctx, config), cache: cache}
	compiled, err := runtime.wazero.CompileModule(ctx, module)
	if err != nil {
		_ = runtime.Close()
		return nil, fmt.Errorf("apportion: the module cannot be compiled: %w", err)
	}
	runtime.compiled = compiled
	return runtime, nil
}

// Rebuilds is how often a cluster was filled again from its copies because the module had trapped.
func (r *Runtime) Rebuilds() uint64 { return r.rebuilds.Load() }

// Close frees everything. Clusters of the runtime must not be used any more.
func (r *Runtime) Close() error {
	ctx := context.Background()
	err := r.wazero.Close(ctx)
	if r.cache != nil {
		if closing := r.cache.Close(ctx); err == nil {
			err = closing
		}
	}
	return err
}
