// Package engine runs the module: instances of it, and calls of its operations.
package engine

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Module is the core as WebAssembly.
//
//go:embed apportion.wasm
var Module []byte

// abi is the version of the module's interface that this package speaks.
const abi = 1

// pageSize of WebAssembly, in bytes.
const pageSize = 65536

// ErrTooLarge says that the module's memory has no room for the argument. Nothing has changed.
var ErrTooLarge = errors.New("apportion: the argument is too large for the module's memory: give less in one call, or raise Options.MaxMemory")

// Operation is a number of wit/module/src/operations.rs.
type Operation uint64

// The operations that a host needs.
const (
	NewCluster    Operation = 0
	Close         Operation = 1
	Apply         Operation = 2
	Delete        Operation = 4
	Allocate      Operation = 6
	Fits          Operation = 7
	Inquire       Operation = 8
	Run           Operation = 9
	Fork          Operation = 10
	Evaluate      Operation = 11
	Validate      Operation = 12
	NewSimulation Operation = 13
	Simulate      Operation = 14
	Commit        Operation = 17
	Revert        Operation = 18
	Prepare       Operation = 19
	Forget        Operation = 20
	AllocateKnown Operation = 21
	AllocateEach  Operation = 22
)

// Instance is the module with a memory of its own. One call at a time.
type Instance struct {
	module            api.Module
	alloc, call, free api.Function
}

// New makes an instance of the compiled module.
func New(ctx context.Context, runtime wazero.Runtime, compiled wazero.CompiledModule) (*Instance, error) {
	ctx = experimental.WithMemoryAllocator(ctx, memoryAllocator)
	module, err := runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, fmt.Errorf("apportion: the module cannot be instantiated: %w", err)
	}
	made := &Instance{
		module: module,
		alloc:  module.ExportedFunction("alloc"),
		call:   module.ExportedFunction("call"),
		free:   module.ExportedFunction("free"),
	}
	if version, err := module.ExportedFunction("version").Call(ctx); err != nil || version[0] != abi {
		_ = made.Close()
		return nil, fmt.Errorf("apportion: the module speaks another version of its interface than %d", abi)
	}
	return made, nil
}

// CopyFrom has an instance become what another one is, which is not in a call meanwhile. Between calls the memory is all that a module has: its
// stack is empty.
func (i *Instance) CopyFrom(other *Instance) error {
	own, its := i.module.Memory(), other.module.Memory()
	if missing := int64(its.Size()) - int64(own.Size()); missing > 0 {
		if _, ok := own.Grow(uint32(missing / pageSize)); !ok {
			return fmt.Errorf("apportion: there is no memory for a copy of %d bytes", its.Size())
		}
	}
	seen, ok := its.Read(0, its.Size())
	if !ok || !own.Write(0, seen) {
		return fmt.Errorf("apportion: the memory cannot be copied")
	}
	return nil
}

// Size of the memory in bytes.
func (i *Instance) Size() uint32 { return i.module.Memory().Size() }

// Close frees the instance. It is not in a call.
func (i *Instance) Close() error { return i.module.Close(context.Background()) }

// Ask makes one call. An error other than ErrTooLarge means that the instance is of no use any more.
func (i *Instance) Ask(op Operation, handle uint32, argument []byte) ([]byte, error) {
	// Questions are limited by the engine's own steps. A context that ends inside a call would cost every step of it.
	ctx := context.Background()
	length := uint64(len(argument))
	if length > math.MaxInt32 {
		return nil, ErrTooLarge
	}
	found, err := i.alloc.Call(ctx, length)
	if err != nil {
		return nil, err
	}
	address := found[0]
	if address == 0 {
		return nil, ErrTooLarge
	}
	if !i.module.Memory().Write(uint32(address), argument) {
		return nil, fmt.Errorf("an argument of %d bytes has no room", length)
	}
	if found, err = i.call.Call(ctx, uint64(op), uint64(handle), address, length); err != nil {
		return nil, err
	}
	address = found[0] >> 32
	seen, ok := i.module.Memory().Read(uint32(address), uint32(found[0]))
	if !ok {
		return nil, fmt.Errorf("the answer is outside of the memory")
	}
	answer := append([]byte(nil), seen...)
	_, err = i.free.Call(ctx, address)
	return answer, err
}
