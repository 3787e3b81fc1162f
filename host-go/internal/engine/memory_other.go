//go:build !unix || (!amd64 && !arm64)

package engine

import "github.com/tetratelabs/wazero/experimental"

// memoryAllocator leaves the memory to wazero.
var memoryAllocator experimental.MemoryAllocator
