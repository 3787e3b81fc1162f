package apportion

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// operation is a number of wit/module/src/operations.rs.
type operation uint64

const (
	opNewCluster operation = 0
	opClose      operation = 1
	opApply      operation = 2
	opDelete     operation = 4
	opAllocate   operation = 6
	opFits       operation = 7
	opInquire    operation = 8
	opRun        operation = 9
	opFork       operation = 10
)

// instance is the module with a memory of its own. One call at a time.
type instance struct {
	module            api.Module
	alloc, call, free api.Function
}

func (r *Runtime) instantiate(ctx context.Context) (*instance, error) {
	module, err := r.wazero.InstantiateModule(ctx, r.compiled, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, fmt.Errorf("apportion: the module cannot be instantiated: %w", err)
	}
	made := &instance{
		module: module,
		alloc:  module.ExportedFunction("alloc"),
		call:   module.ExportedFunction("call"),
		free:   module.ExportedFunction("free"),
	}
	if version, err := module.ExportedFunction("version").Call(ctx); err != nil || version[0] != abi {
		_ = made.close()
		return nil, fmt.Errorf("apportion: the module speaks another version of its interface than %d", abi)
	}
	return made, nil
}

func (i *instance) close() error { return i.module.Close(context.Background()) }

// ask makes one call. An error other than ErrTooLarge means that the instance is of no use any more.
func (i *instance) ask(op operation, handle uint32, argument []byte) ([]byte, error) {
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

// unreadable is the answer to what the module cannot read.
type unreadable struct {
	Status   string    `json:"status"`
	Findings []Finding `json:"findings"`
}

// created reads the answer to a call that makes something.
func created(answer []byte) (uint32, error) {
	var read struct {
		Handle uint32 `json:"handle"`
		unreadable
	}
	if err := json.Unmarshal(answer, &read); err != nil {
		return 0, fmt.Errorf("apportion: the answer cannot be read: %w", err)
	}
	if read.Status == "unreadable" {
		return 0, &UnreadableError{Findings: read.Findings}
	}
	return read.Handle, nil
}
