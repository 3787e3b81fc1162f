//go:build unix && (amd64 || arm64)

package engine

import (
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// memoryAllocator reserves addresses for all that a memory may become. It grows in place then: Go's own memory would be copied each time, and
// the copy stay until the garbage collector comes.
var memoryAllocator experimental.MemoryAllocator = experimental.MemoryAllocatorFunc(reserve)

func reserve(_, most uint64) experimental.LinearMemory {
	addresses, err := syscall.Mmap(-1, 0, int(most), syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		// A limit on addresses (`ulimit -v`) forbids it.
		return &heap{}
	}
	return &reserved{addresses: addresses}
}

// reserved addresses, of which those in use are backed by memory.
type reserved struct {
	addresses []byte
	used      uint64
}

// Reallocate has so many bytes be usable; nil where the system has none.
func (r *reserved) Reallocate(size uint64) []byte {
	if size > uint64(len(r.addresses)) {
		return nil
	}
	if size > r.used {
		if syscall.Mprotect(r.addresses[r.used:size], syscall.PROT_READ|syscall.PROT_WRITE) != nil {
			return nil
		}
		r.used = size
	}
	return r.addresses[:size:size]
}

// Free gives addresses and memory back.
func (r *reserved) Free() {
	_ = syscall.Munmap(r.addresses)
	r.addresses = nil
}

// heap is memory of Go's own.
type heap struct{ bytes []byte }

// Reallocate copies what there is.
func (h *heap) Reallocate(size uint64) []byte {
	if size > uint64(cap(h.bytes)) {
		h.bytes = append(make([]byte, 0, size), h.bytes...)
	}
	h.bytes = h.bytes[:size]
	return h.bytes
}

// Free leaves it to the garbage collector.
func (h *heap) Free() { h.bytes = nil }
