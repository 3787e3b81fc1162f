//go:build !next

package main

import (
	"errors"

	"k8s.io/dynamic-resource-allocation/structured"
)

// features of a case, by the names of the conformance vectors.
type features struct {
	AdminAccess            bool `json:"adminAccess"`
	ConsumableCapacity     bool `json:"consumableCapacity"`
	DeviceBindingAndStatus bool `json:"deviceBindingAndStatus"`
	DeviceTaints           bool `json:"deviceTaints"`
	ListTypeAttributes     bool `json:"listTypeAttributes"`
	PartitionableDevices   bool `json:"partitionableDevices"`
	PrioritizedList        bool `json:"prioritizedList"`
}

func (f features) wanted() structured.Features {
	return structured.Features{
		AdminAccess:            f.AdminAccess,
		ConsumableCapacity:     f.ConsumableCapacity,
		DeviceBindingAndStatus: f.DeviceBindingAndStatus,
		DeviceTaints:           f.DeviceTaints,
		ListTypeAttributes:     f.ListTypeAttributes,
		PartitionableDevices:   f.PartitionableDevices,
		PrioritizedList:        f.PrioritizedList,
	}
}

// objects are those of the newest release.
func objects() error {
	return errors.New("objects are recorded of the newest release")
}
