// Package apportion decides Kubernetes Dynamic Resource Allocation inside a Go program: the core of Apportion as a WebAssembly module that
// imports nothing, run by wazero, without cgo.
package apportion

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"sync/atomic"

	"apportion.dev/apportion/internal/engine"
	"github.com/tetratelabs/wazero"
)

// Options of a [Runtime]. The zero value is usable.
type Options struct {
	// CacheDir is where the compiled module is kept between runs of the program, in a folder `apportion`; empty for nowhere. With it a start takes a
	// fraction. Files that are damaged are removed, and made anew at the next start. Several programs may use it.
	CacheDir string
	// MaxMemory is how many bytes the module may use for one cluster with its forks, rounded down to pages of 64 KiB; 4 GiB when zero. Beyond
	// it the module traps. Each of several instances may use as much.
	MaxMemory uint64
	// Instances of the module that a cluster may have; one when zero. So many questions about a cluster and its forks are answered at a time.
	// Another one is a copy of the first, made when a question has to wait, with as much memory.
	Instances int
	// Interpret the module where wazero has no compiler for the platform. It is some 200 times slower.
	Interpret bool
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
	// instances that a cluster may have.
	instances int
	// using is held for reading in calls, and for writing when the runtime closes.
	using  sync.RWMutex
	closed bool
}

// NewRuntime compiles the module, which takes seconds; with [Options.CacheDir] a tenth of one from the second time on. One runtime is enough for a
// program. The error is [ErrNoCompiler] on platforms without a compiler, and the context's where that has ended before it begins.
func NewRuntime(ctx context.Context, options Options) (*Runtime, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	config, err := configuration(goruntime.GOOS, goruntime.GOARCH, options.Interpret)
	if err != nil {
		return nil, err
	}
	if options.MaxMemory > 0 {
		config = config.WithMemoryLimitPages(uint32(min(options.MaxMemory/pageSize, mostPages)))
	}
	runtime := &Runtime{instances: options.Instances}
	if options.CacheDir == "" {
		err = runtime.compile(ctx, config)
	} else {
		err = runtime.compileWithCache(ctx, config, filepath.Join(options.CacheDir, "apportion"))
	}
	if err != nil {
		limit := ""
		if options.MaxMemory > 0 {
			limit = fmt.Sprintf(" with %d as Options.MaxMemory", options.MaxMemory)
		}
		return nil, fmt.Errorf("apportion: the module cannot be compiled%s: %w", limit, err)
	}
	return runtime, nil
}

// compileWithCache compiles with a folder that is this package's alone, and without it where its files cannot be used: they are removed then.
func (r *Runtime) compileWithCache(ctx context.Context, config wazero.RuntimeConfig, folder string) (err error) {
	if r.cache, err = wazero.NewCompilationCacheWithDir(folder); err != nil {
		return fmt.Errorf("the cache directory cannot be used: %w", err)
	}
	if err = r.compile(ctx, config.WithCompilationCache(r.cache)); err == nil {
		return nil
	}
	_ = r.cache.Close(ctx)
	r.cache = nil
	if err = r.compile(ctx, config); err == nil {
		_ = os.RemoveAll(folder)
	}
	return err
}

func (r *Runtime) compile(ctx context.Context, config wazero.RuntimeConfig) (err error) {
	r.wazero = wazero.NewRuntimeWithConfig(ctx, config)
	if r.compiled, err = r.wazero.CompileModule(ctx, engine.Module); err != nil {
		_ = r.wazero.Close(ctx)
	}
	return err
}

// configuration of wazero for a platform.
func configuration(system, processor string, interprets bool) (wazero.RuntimeConfig, error) {
	var isCompiled bool
	switch system {
	case "linux", "darwin", "freebsd", "netbsd", "windows":
		isCompiled = processor == "amd64" || processor == "arm64"
	case "dragonfly", "solaris", "illumos":
		isCompiled = processor == "amd64"
	}
	switch {
	case isCompiled:
		return wazero.NewRuntimeConfig(), nil
	case interprets:
		return wazero.NewRuntimeConfigInterpreter(), nil
	default:
		return nil, fmt.Errorf("%w (%s/%s)", ErrNoCompiler, system, processor)
	}
}

func (r *Runtime) instantiate(ctx context.Context) (*engine.Instance, error) {
	return engine.New(ctx, r.wazero, r.compiled)
}

// Rebuilds is how often a cluster was filled again from its copies because the module had trapped.
func (r *Runtime) Rebuilds() uint64 { return r.rebuilds.Load() }

// Close frees everything, after the calls that have begun. Those that begin later have the error ErrClosed.
func (r *Runtime) Close() error {
	r.using.Lock()
	defer r.using.Unlock()
	if r.closed || r.wazero == nil {
		return nil
	}
	r.closed = true
	ctx := context.Background()
	err := r.wazero.Close(ctx)
	if r.cache != nil {
		if closing := r.cache.Close(ctx); err == nil {
			err = closing
		}
	}
	return err
}
