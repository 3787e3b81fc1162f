//go:build next

package main

import "k8s.io/dynamic-resource-allocation/structured"

// features of a case, by the names of the conformance vectors and, for those newer than the vectors, in their style.
type features struct {
	AdminAccess             bool `json:"adminAccess"`
	CompatibilityGroups     bool `json:"compatibilityGroups"`
	ConsumableCapacity      bool `json:"consumableCapacity"`
	DerivedAttributes       bool `json:"derivedAttributes"`
	DeviceBindingAndStatus  bool `json:"deviceBindingAndStatus"`
	DeviceTaints            bool `json:"deviceTaints"`
	FractionalCapacityRange bool `json:"fractionalCapacityRange"`
	ListTypeAttributes      bool `json:"listTypeAttributes"`
	OptionalNodeOperations  bool `json:"optionalNodeOperations"`
	PartitionableDevices    bool `json:"partitionableDevices"`
	PrioritizedList         bool `json:"prioritizedList"`
}

func (f features) wanted() structured.Features {
	return structured.Features{
		AdminAccess:             f.AdminAccess,
		CompatibilityGroups:     f.CompatibilityGroups,
		ConsumableCapacity:      f.ConsumableCapacity,
		DerivedAttributes:       f.DerivedAttributes,
		DeviceBindingAndStatus:  f.DeviceBindingAndStatus,
		DeviceTaints:            f.DeviceTaints,
		FractionalCapacityRange: f.FractionalCapacityRange,
		ListTypeAttributes:      f.ListTypeAttributes,
		OptionalNodeOperations:  f.OptionalNodeOperations,
		PartitionableDevices:    f.PartitionableDevices,
		PrioritizedList:         f.PrioritizedList,
	}
}
