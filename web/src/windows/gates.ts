// Feature gates that change a decision. A test asks the package for each of them.

export const GATES = [
  "DRAAdminAccess",
  "DRAConsumableCapacity",
  "DRADerivedAttributes",
  "DRADeviceBindingConditions",
  "DRADeviceCompatibilityGroups",
  "DRADeviceTaintRules",
  "DRADeviceTaints",
  "DRAExtendedResource",
  "DRAFractionalCapacityRange",
  "DRAListTypeAttributes",
  "DRANodeAllocatableResources",
  "DRAOptionalNodeOperations",
  "DRAPartitionableDevices",
  "DRAPartitionableDevicesType",
  "DRAPrioritizedList",
  "DRAResourceClaimDeviceStatus",
  "DRAResourceSliceMixins",
  "DRASharedConsumableCapacity",
  "DRAWorkloadResourceClaims",
] as const;
