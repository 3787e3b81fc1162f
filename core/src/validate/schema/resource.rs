//! `resource.k8s.io`.

use super::meta::{CONDITION, META, NODE_SELECTOR};
use super::{Field, Type, field, proposed, since, until};
use crate::profile::Version::{V1_34, V1_36, V1_37};
use Type::{Any, Flag, Int32, Int64, List, Map, Object, Opt, Quantity, Text, Time};

/// ResourceClaim, since `v1beta2`.
pub(in crate::validate) static CLAIM: &[Field] = &[
    field("apiVersion", Text),
    field("kind", Text),
    field("metadata", Object(META)),
    field("spec", Object(CLAIM_SPEC)),
    field("status", Object(CLAIM_STATUS)),
];

/// ResourceClaim up to `v1beta1`.
pub(in crate::validate) static FLAT_CLAIM: &[Field] = &[
    field("apiVersion", Text),
    field("kind", Text),
    field("metadata", Object(META)),
    field("spec", Object(FLAT_CLAIM_SPEC)),
    field("status", Object(CLAIM_STATUS)),
];

/// ResourceClaimTemplate, since `v1beta2`.
pub(in crate::validate) static TEMPLATE: &[Field] = &[
    field("apiVersion", Text),
    field("kind", Text),
    field("metadata", Object(META)),
    field("spec", Object(TEMPLATE_SPEC)),
];

/// ResourceClaimTemplate up to `v1beta1`.
pub(in crate::validate) static FLAT_TEMPLATE: &[Field] = &[
    field("apiVersion", Text),
    field("kind", Text),
    field("metadata", Object(META)),
    field("spec", Object(FLAT_TEMPLATE_SPEC)),
];

/// `ResourceClaimTemplateSpec`.
pub(in crate::validate) static TEMPLATE_SPEC: &[Field] =
    &[field("metadata", Object(META)), field("spec", Object(CLAIM_SPEC))];

static FLAT_TEMPLATE_SPEC: &[Field] = &[field("metadata", Object(META)), field("spec", Object(FLAT_CLAIM_SPEC))];

/// `ResourceClaimSpec`.
pub(in crate::validate) static CLAIM_SPEC: &[Field] = &[field("devices", Object(DEVICE_CLAIM))];

static FLAT_CLAIM_SPEC: &[Field] = &[field("devices", Object(FLAT_DEVICE_CLAIM)), until(V1_34, "controller", Text)];

static DEVICE_CLAIM: &[Field] = &[
    field("requests", List(&Object(REQUEST))),
    field("constraints", List(&Object(CONSTRAINT))),
    field("config", List(&Object(CLAIM_CONFIG))),
];

static FLAT_DEVICE_CLAIM: &[Field] = &[
    field("requests", List(&Object(FLAT_REQUEST))),
    field("constraints", List(&Object(CONSTRAINT))),
    field("config", List(&Object(CLAIM_CONFIG))),
];

static REQUEST: &[Field] = &[
    field("name", Text),
    field("exactly", Opt(&Object(EXACT_REQUEST))),
    field("firstAvailable", List(&Object(SUBREQUEST))),
];

static FLAT_REQUEST: &[Field] = &[
    field("name", Text),
    field("deviceClassName", Text),
    field("selectors", List(&Object(SELECTOR))),
    field("allocationMode", Text),
    field("count", Int64),
    field("adminAccess", Opt(&Flag)),
    field("firstAvailable", List(&Object(SUBREQUEST))),
    field("tolerations", List(&Object(TOLERATION))),
    field("capacity", Opt(&Object(CAPACITY_REQUIREMENTS))),
    since(V1_37, "derivedAttributes", List(&Object(DERIVED_ATTRIBUTE))),
];

static EXACT_REQUEST: &[Field] = &[
    field("deviceClassName", Text),
    field("selectors", List(&Object(SELECTOR))),
    field("allocationMode", Text),
    field("count", Int64),
    field("adminAccess", Opt(&Flag)),
    field("tolerations", List(&Object(TOLERATION))),
    field("capacity", Opt(&Object(CAPACITY_REQUIREMENTS))),
    since(V1_37, "derivedAttributes", List(&Object(DERIVED_ATTRIBUTE))),
];

static SUBREQUEST: &[Field] = &[
    field("name", Text),
    field("deviceClassName", Text),
    field("selectors", List(&Object(SELECTOR))),
    field("allocationMode", Text),
    field("count", Int64),
    field("tolerations", List(&Object(TOLERATION))),
    field("capacity", Opt(&Object(CAPACITY_REQUIREMENTS))),
    since(V1_37, "derivedAttributes", List(&Object(DERIVED_ATTRIBUTE))),
];

static DERIVED_ATTRIBUTE: &[Field] = &[field("name", Text), field("expression", Text)];
static SELECTOR: &[Field] = &[field("cel", Opt(&Object(CEL_SELECTOR)))];
static CEL_SELECTOR: &[Field] = &[field("expression", Text)];
static CAPACITY_REQUIREMENTS: &[Field] = &[field("requests", Map(&Quantity))];

static TOLERATION: &[Field] = &[
    field("key", Text),
    field("operator", Text),
    field("value", Text),
    field("effect", Text),
    field("tolerationSeconds", Opt(&Int64)),
];

static CONSTRAINT: &[Field] =
    &[field("requests", List(&Text)), field("matchAttribute", Opt(&Text)), field("distinctAttribute", Opt(&Text))];

static CLAIM_CONFIG: &[Field] = &[field("requests", List(&Text)), field("opaque", Opt(&Object(OPAQUE)))];
static OPAQUE: &[Field] = &[field("driver", Text), field("parameters", Any)];

static CLAIM_STATUS: &[Field] = &[
    field("allocation", Opt(&Object(ALLOCATION))),
    field("reservedFor", List(&Object(CONSUMER))),
    field("devices", List(&Object(DEVICE_STATUS))),
    until(V1_34, "deallocationRequested", Flag),
];

static CONSUMER: &[Field] =
    &[field("apiGroup", Text), field("resource", Text), field("name", Text), field("uid", Text)];

/// `AllocationResult`.
pub(in crate::validate) static ALLOCATION: &[Field] = &[
    field("devices", Object(DEVICE_ALLOCATION)),
    field("nodeSelector", Opt(&Object(NODE_SELECTOR))),
    field("allocationTimestamp", Opt(&Time)),
    until(V1_34, "controller", Text),
];

static DEVICE_ALLOCATION: &[Field] =
    &[field("results", List(&Object(RESULT))), field("config", List(&Object(ALLOCATION_CONFIG)))];

static RESULT: &[Field] = &[
    field("request", Text),
    field("driver", Text),
    field("pool", Text),
    field("device", Text),
    field("adminAccess", Opt(&Flag)),
    field("tolerations", List(&Object(TOLERATION))),
    field("bindingConditions", List(&Text)),
    field("bindingFailureConditions", List(&Text)),
    field("shareID", Opt(&Text)),
    field("consumedCapacity", Map(&Quantity)),
    since(V1_37, "skipNodeOperations", List(&Text)),
];

static ALLOCATION_CONFIG: &[Field] =
    &[field("source", Text), field("requests", List(&Text)), field("opaque", Opt(&Object(OPAQUE)))];

/// `AllocatedDeviceStatus`.
pub(in crate::validate) static DEVICE_STATUS: &[Field] = &[
    field("driver", Text),
    field("pool", Text),
    field("device", Text),
    field("shareID", Opt(&Text)),
    field("conditions", List(&Object(CONDITION))),
    field("data", Any),
    field("networkData", Opt(&Object(NETWORK_DATA))),
];

static NETWORK_DATA: &[Field] =
    &[field("interfaceName", Text), field("ips", List(&Text)), field("hardwareAddress", Text)];

/// DeviceClass.
pub(in crate::validate) static CLASS: &[Field] = &[
    field("apiVersion", Text),
    field("kind", Text),
    field("metadata", Object(META)),
    field("spec", Object(CLASS_SPEC)),
];

static CLASS_SPEC: &[Field] = &[
    field("selectors", SELECTORS),
    field("config", CLASS_CONFIGS),
    field("extendedResourceName", Opt(&Text)),
    until(V1_34, "suitableNodes", Any),
];

/// The selectors of a class.
pub(in crate::validate) const SELECTORS: Type = List(&Object(SELECTOR));
/// The configurations of a class.
pub(in crate::validate) const CLASS_CONFIGS: Type = List(&Object(CLASS_CONFIG));
static CLASS_CONFIG: &[Field] = &[field("opaque", Opt(&Object(OPAQUE)))];

/// ResourceSlice, since `v1beta2`.
pub(in crate::validate) static SLICE: &[Field] = &[
    field("apiVersion", Text),
    field("kind", Text),
    field("metadata", Object(META)),
    field("spec", Object(SLICE_SPEC)),
];

/// ResourceSlice of `v1beta1`.
pub(in crate::validate) static BASIC_SLICE: &[Field] = &[
    field("apiVersion", Text),
    field("kind", Text),
    field("metadata", Object(META)),
    field("spec", Object(BASIC_SLICE_SPEC)),
];

/// ResourceSlice of `v1alpha3`.
pub(in crate::validate) static BARE_SLICE: &[Field] = &[
    field("apiVersion", Text),
    field("kind", Text),
    field("metadata", Object(META)),
    field("spec", Object(BARE_SLICE_SPEC)),
];

static SLICE_SPEC: &[Field] = &[
    field("driver", Text),
    field("pool", Object(POOL)),
    field("nodeName", Opt(&Text)),
    field("nodeSelector", Opt(&Object(NODE_SELECTOR))),
    field("allNodes", Opt(&Flag)),
    field("perDeviceNodeSelection", Opt(&Flag)),
    field("devices", List(&Object(DEVICE))),
    field("sharedCounters", List(&Object(COUNTER_SET))),
    proposed("mixins", Opt(&Object(MIXINS))),
    since(V1_37, "partitionTypeAttribute", Opt(&Text)),
    since(V1_37, "skipNodeOperations", List(&Text)),
];

static BASIC_SLICE_SPEC: &[Field] = &[
    field("driver", Text),
    field("pool", Object(POOL)),
    field("nodeName", Text),
    field("nodeSelector", Opt(&Object(NODE_SELECTOR))),
    field("allNodes", Flag),
    field("perDeviceNodeSelection", Opt(&Flag)),
    field("devices", List(&Object(BASIC_DEVICE))),
    field("sharedCounters", List(&Object(COUNTER_SET))),
    since(V1_37, "partitionTypeAttribute", Opt(&Text)),
    since(V1_37, "skipNodeOperations", List(&Text)),
];

static BARE_SLICE_SPEC: &[Field] = &[
    field("driver", Text),
    field("pool", Object(POOL)),
    field("nodeName", Text),
    field("nodeSelector", Opt(&Object(NODE_SELECTOR))),
    field("allNodes", Flag),
    field("devices", List(&Object(BARE_DEVICE))),
];

static POOL: &[Field] = &[field("name", Text), field("generation", Int64), field("resourceSliceCount", Int64)];

macro_rules! device {
    ($($first:expr,)* ; $capacity:expr) => {
        &[
            $($first,)*
            proposed("includes", List(&Text)),
            field("attributes", Map(&Object(ATTRIBUTE))),
            field("capacity", $capacity),
            field("consumesCounters", List(&Object(COUNTER_CONSUMPTION))),
            field("nodeName", Opt(&Text)),
            field("nodeSelector", Opt(&Object(NODE_SELECTOR))),
            field("allNodes", Opt(&Flag)),
            field("taints", List(&Object(TAINT))),
            field("bindsToNode", Opt(&Flag)),
            field("bindingConditions", List(&Text)),
            field("bindingFailureConditions", List(&Text)),
            field("allowMultipleAllocations", Opt(&Flag)),
            since(V1_36, "nodeAllocatableResourceMappings", Map(&Object(NODE_MAPPING))),
            since(V1_37, "nodeAllocatableResources", Map(&Object(NODE_RESOURCE))),
        ]
    };
}

/// `Device`.
pub(in crate::validate) static DEVICE: &[Field] = device!(field("name", Text), ; CAPACITIES);
static BASIC_DEVICE: &[Field] = &[field("name", Text), field("basic", Opt(&Object(BASIC)))];
static BASIC: &[Field] = device!(; CAPACITIES);
static BARE_DEVICE: &[Field] = &[field("name", Text), field("basic", Opt(&Object(BARE)))];
static BARE: &[Field] = &[field("attributes", Map(&Object(ATTRIBUTE))), field("capacity", Map(&Quantity))];

/// The capacities of a device.
pub(in crate::validate) const CAPACITIES: Type = Map(&Object(CAPACITY));
/// The taints of a device.
pub(in crate::validate) const TAINTS: Type = List(&Object(TAINT));

static ATTRIBUTE: &[Field] = &[
    field("int", Opt(&Int64)),
    field("bool", Opt(&Flag)),
    field("string", Opt(&Text)),
    field("version", Opt(&Text)),
    since(V1_36, "ints", List(&Int64)),
    since(V1_36, "bools", List(&Flag)),
    since(V1_36, "strings", List(&Text)),
    since(V1_36, "versions", List(&Text)),
];

static CAPACITY: &[Field] = &[field("value", Quantity), field("requestPolicy", Opt(&Object(REQUEST_POLICY)))];

static REQUEST_POLICY: &[Field] = &[
    field("default", Opt(&Quantity)),
    field("validValues", List(&Quantity)),
    field("validRange", Opt(&Object(REQUEST_RANGE))),
];

static REQUEST_RANGE: &[Field] =
    &[field("min", Opt(&Quantity)), field("max", Opt(&Quantity)), field("step", Opt(&Quantity))];

static COUNTER_SET: &[Field] =
    &[field("name", Text), proposed("includes", List(&Text)), field("counters", Map(&Object(COUNTER)))];
static COUNTER: &[Field] = &[field("value", Quantity), proposed("requestPolicy", Opt(&Object(REQUEST_POLICY)))];
static DRAWN_COUNTER: &[Field] = &[field("value", Quantity), proposed("valueFrom", Opt(&Object(VALUE_FROM)))];
static VALUE_FROM: &[Field] = &[field("capacityKey", Text)];

static MIXINS: &[Field] = &[
    field("device", List(&Object(DEVICE_MIXIN))),
    field("counterSet", List(&Object(COUNTER_MIXIN))),
    field("deviceCounterConsumption", List(&Object(DRAWN_MIXIN))),
];
static DEVICE_MIXIN: &[Field] =
    &[field("name", Text), field("attributes", Map(&Object(ATTRIBUTE))), field("capacity", CAPACITIES)];
static COUNTER_MIXIN: &[Field] = &[field("name", Text), field("counters", Map(&Object(COUNTER)))];
static DRAWN_MIXIN: &[Field] = &[field("name", Text), field("counters", Map(&Object(DRAWN_COUNTER)))];

static COUNTER_CONSUMPTION: &[Field] = &[
    field("counterSet", Text),
    proposed("includes", List(&Text)),
    field("counters", Map(&Object(DRAWN_COUNTER))),
    proposed("compatibilityGroups", List(&Text)),
];

static TAINT: &[Field] =
    &[field("key", Text), field("value", Text), field("effect", Text), field("timeAdded", Opt(&Time))];

static NODE_MAPPING: &[Field] = &[field("capacityKey", Opt(&Text)), field("allocationMultiplier", Opt(&Quantity))];

static NODE_RESOURCE: &[Field] =
    &[field("mapping", Opt(&Object(NODE_RESOURCE_MAPPING))), field("overhead", Opt(&Object(NODE_OVERHEAD)))];

static NODE_RESOURCE_MAPPING: &[Field] = &[
    field("capacityKey", Opt(&Text)),
    field("capacityMultiplier", Opt(&Quantity)),
    field("deviceMultiplier", Opt(&Quantity)),
];

static NODE_OVERHEAD: &[Field] = &[field("perPod", Opt(&Quantity)), field("perContainer", Opt(&Quantity))];

/// DeviceTaintRule.
pub(in crate::validate) static TAINT_RULE: &[Field] = &[
    field("apiVersion", Text),
    field("kind", Text),
    field("metadata", Object(META)),
    field("spec", Object(TAINT_RULE_SPEC)),
    field("status", Object(TAINT_RULE_STATUS)),
];

static TAINT_RULE_SPEC: &[Field] =
    &[field("deviceSelector", Opt(&Object(TAINT_SELECTOR))), field("taint", Object(TAINT))];

static TAINT_SELECTOR: &[Field] = &[
    field("driver", Opt(&Text)),
    field("pool", Opt(&Text)),
    field("device", Opt(&Text)),
    until(V1_34, "deviceClassName", Opt(&Text)),
    until(V1_34, "selectors", SELECTORS),
];

static TAINT_RULE_STATUS: &[Field] = &[field("conditions", List(&Object(CONDITION)))];

/// ResourcePoolStatusRequest.
pub(in crate::validate) static POOL_STATUS: &[Field] = &[
    field("apiVersion", Text),
    field("kind", Text),
    field("metadata", Object(META)),
    field("spec", Object(POOL_STATUS_SPEC)),
    field("status", POOL_STATUS_STATUS),
];

/// `ResourcePoolStatusRequestSpec`.
pub(in crate::validate) static POOL_STATUS_SPEC: &[Field] = &[
    field("driver", Text),
    field("poolName", Opt(&Text)),
    field("limit", Opt(&Int32)),
    since(V1_37, "defaultPartitionTypeAttribute", Opt(&Text)),
];

/// `ResourcePoolStatusRequestStatus`.
pub(in crate::validate) const POOL_STATUS_STATUS: Type = Opt(&Object(POOL_STATUS_FIELDS));

static POOL_STATUS_FIELDS: &[Field] = &[
    field("poolCount", Opt(&Int32)),
    field("pools", List(&Object(POOL_STATUS_POOL))),
    field("conditions", List(&Object(CONDITION))),
];

static POOL_STATUS_POOL: &[Field] = &[
    field("driver", Text),
    field("poolName", Text),
    field("nodeName", Opt(&Text)),
    field("resourceSliceCount", Opt(&Int32)),
    field("generation", Int64),
    field("totalDevices", Opt(&Int32)),
    field("allocatedDevices", Opt(&Int32)),
    field("availableDevices", Opt(&Int32)),
    field("unavailableDevices", Opt(&Int32)),
    field("validationError", Opt(&Text)),
    since(V1_37, "partitionSummary", List(&Object(PARTITION_SUMMARY))),
    since(V1_37, "shareableSummary", Opt(&Object(SHAREABLE_SUMMARY))),
];

static PARTITION_SUMMARY: &[Field] =
    &[field("attribute", Text), field("type", Text), field("total", Int32), field("allocatable", Int32)];

static SHAREABLE_SUMMARY: &[Field] =
    &[field("fullyAvailableDevices", Int32), field("partiallyAvailableDevices", Int32), field("capacity", List(&Any))];
