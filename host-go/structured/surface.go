// Package structured has the surface of k8s.io/dynamic-resource-allocation/structured and answers from a long-lived cluster of
// [apportion.dev/apportion]. Types are those of that package: a program changes the import and nothing else.
package structured

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	upstream "k8s.io/dynamic-resource-allocation/structured"
)

// The types of the package that this one stands in for.
type (
	Allocator                  = upstream.Allocator
	AllocatedState             = upstream.AllocatedState
	ConsumedCapacity           = upstream.ConsumedCapacity
	ConsumedCapacityCollection = upstream.ConsumedCapacityCollection
	DeviceClassLister          = upstream.DeviceClassLister
	DeviceConsumedCapacity     = upstream.DeviceConsumedCapacity
	DeviceID                   = upstream.DeviceID
	Features                   = upstream.Features
	SharedDeviceID             = upstream.SharedDeviceID
)

// ErrFailedAllocationOnNode marks errors of Allocate that concern one node only.
var ErrFailedAllocationOnNode = upstream.ErrFailedAllocationOnNode

// MakeDeviceID names a device.
func MakeDeviceID(driver, pool, device string) DeviceID {
	return upstream.MakeDeviceID(driver, pool, device)
}

// MakeSharedDeviceID names a share of a device.
func MakeSharedDeviceID(deviceID DeviceID, shareID *types.UID) SharedDeviceID {
	return upstream.MakeSharedDeviceID(deviceID, shareID)
}

// NewConsumedCapacityCollection is empty.
func NewConsumedCapacityCollection() ConsumedCapacityCollection {
	return upstream.NewConsumedCapacityCollection()
}

// NewDeviceConsumedCapacity says what is consumed of a device.
func NewDeviceConsumedCapacity(deviceID DeviceID, consumed map[resourcev1.QualifiedName]resource.Quantity) DeviceConsumedCapacity {
	return upstream.NewDeviceConsumedCapacity(deviceID, consumed)
}

// NodeMatches says whether a node is one that a slice or a device names.
func NodeMatches(
	features Features, node *corev1.Node, nodeNameToMatch string, allNodesMatch bool, nodeSelector *corev1.NodeSelector,
) (bool, error) {
	return upstream.NodeMatches(features, node, nodeNameToMatch, allNodesMatch, nodeSelector)
}

// IsDeviceAllocated says whether a device is taken, as a whole or in part.
func IsDeviceAllocated(deviceID DeviceID, allocatedState *AllocatedState) bool {
	return upstream.IsDeviceAllocated(deviceID, allocatedState)
}

// EnableAllocators does nothing: there is one allocator, and it has every feature.
func EnableAllocators(...string) {}
