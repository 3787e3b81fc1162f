//! `resource.k8s.io`.

use super::Type;
use super::meta::{CONDITION, META, NODE_SELECTOR, TOLERATION};
use Type::{Any, Flag, Int32, Int64, List, Map, Opt, Quantity, Text, Time};

/// ResourceClaim, since `v1beta2`.
pub(in crate::validate) static CLAIM: Type = kind! { spec: CLAIM_SPEC; status: CLAIM_STATUS };

/// ResourceClaim up to `v1beta1`.
pub(in crate::validate) static FLAT_CLAIM: Type = kind! { spec: FLAT_CLAIM_SPEC; status: CLAIM_STATUS };

/// ResourceClaimTemplate, since `v1beta2`.
pub(in crate::validate) static TEMPLATE: Type = kind! { spec: TEMPLATE_SPEC };

/// ResourceClaimTemplate up to `v1beta1`.
pub(in crate::validate) static FLAT_TEMPLATE: Type = kind! { spec: FLAT_TEMPLATE_SPEC };

/// `ResourceClaimTemplateSpec`.
pub(in crate::validate) const TEMPLATE_SPEC: Type = object! { metadata: META; spec: CLAIM_SPEC };

const FLAT_TEMPLATE_SPEC: Type = object! { metadata: META; spec: FLAT_CLAIM_SPEC };

/// `ResourceClaimSpec`.
pub(in crate::validate) const CLAIM_SPEC: Type = object! { devices: DEVICE_CLAIM };

const FLAT_CLAIM_SPEC: Type = object! { devices: FLAT_DEVICE_CLAIM; controller @gone: Text };

macro_rules! device_claim {
    ($request:ident) => {
        object! { requests: List(&$request); constraints: List(&CONSTRAINT); config: List(&CLAIM_CONFIG) }
    };
}

const DEVICE_CLAIM: Type = device_claim!(REQUEST);
const FLAT_DEVICE_CLAIM: Type = device_claim!(FLAT_REQUEST);

const REQUEST: Type = object! { name: Text; exactly: Opt(&EXACT_REQUEST); firstAvailable: List(&SUBREQUEST) };

/// What all forms of a request have, behind fields of their own.
macro_rules! request {
    ($($own:tt)*) => {
        object! {
            $($own)*
            deviceClassName: Text;
            selectors: List(&SELECTOR);
            allocationMode: Text;
            count: Int64;
            tolerations: List(&TOLERATION);
            capacity: Opt(&CAPACITY_REQUIREMENTS);
            derivedAttributes @since(V1_37): List(&DERIVED_ATTRIBUTE)
        }
    };
}

const FLAT_REQUEST: Type = request! { name: Text; adminAccess: Opt(&Flag); firstAvailable: List(&SUBREQUEST); };
const EXACT_REQUEST: Type = request! { adminAccess: Opt(&Flag); };
const SUBREQUEST: Type = request! { name: Text; };

const DERIVED_ATTRIBUTE: Type = object! { name, expression: Text };
const SELECTOR: Type = object! { cel: Opt(&CEL_SELECTOR) };
const CEL_SELECTOR: Type = object! { expression: Text };
const CAPACITY_REQUIREMENTS: Type = object! { requests: Map(&Quantity) };

const CONSTRAINT: Type = object! { requests: List(&Text); matchAttribute, distinctAttribute: Opt(&Text) };

const CLAIM_CONFIG: Type = object! { requests: List(&Text); opaque: Opt(&OPAQUE) };
const OPAQUE: Type = object! { driver: Text; parameters: Any };

const CLAIM_STATUS: Type = object! {
    allocation: Opt(&ALLOCATION);
    reservedFor: List(&CONSUMER);
    devices: List(&DEVICE_STATUS);
    deallocationRequested @gone: Flag;
};

const CONSUMER: Type = object! { apiGroup, resource, name, uid: Text };

/// `AllocationResult`.
pub(in crate::validate) const ALLOCATION: Type = object! {
    devices: DEVICE_ALLOCATION;
    nodeSelector: Opt(&NODE_SELECTOR);
    allocationTimestamp: Opt(&Time);
    controller @gone: Text;
};

const DEVICE_ALLOCATION: Type = object! { results: List(&RESULT); config: List(&ALLOCATION_CONFIG) };

const RESULT: Type = object! {
    request, driver, pool, device: Text;
    adminAccess: Opt(&Flag);
    tolerations: List(&TOLERATION);
    bindingConditions, bindingFailureConditions: List(&Text);
    shareID: Opt(&Text);
    consumedCapacity: Map(&Quantity);
    skipNodeOperations @since(V1_37): List(&Text);
};

const ALLOCATION_CONFIG: Type = object! { source: Text; requests: List(&Text); opaque: Opt(&OPAQUE) };

/// `AllocatedDeviceStatus`.
pub(in crate::validate) const DEVICE_STATUS: Type = object! {
    driver, pool, device: Text;
    shareID: Opt(&Text);
    conditions: List(&CONDITION);
    data: Any;
    networkData: Opt(&NETWORK_DATA);
};

const NETWORK_DATA: Type = object! { interfaceName: Text; ips: List(&Text); hardwareAddress: Text };

/// DeviceClass.
pub(in crate::validate) static CLASS: Type = kind! { spec: CLASS_SPEC };

const CLASS_SPEC: Type = object! {
    selectors: SELECTORS;
    config: CLASS_CONFIGS;
    extendedResourceName: Opt(&Text);
    suitableNodes @gone: Any;
};

/// The selectors of a class.
pub(in crate::validate) const SELECTORS: Type = List(&SELECTOR);
/// The configurations of a class.
pub(in crate::validate) const CLASS_CONFIGS: Type = List(&CLASS_CONFIG);
const CLASS_CONFIG: Type = object! { opaque: Opt(&OPAQUE) };

/// ResourceSlice, since `v1beta2`.
pub(in crate::validate) static SLICE: Type = kind! { spec: SLICE_SPEC };

/// ResourceSlice of `v1beta1`.
pub(in crate::validate) static BASIC_SLICE: Type = kind! { spec: BASIC_SLICE_SPEC };

/// ResourceSlice of `v1alpha3`.
pub(in crate::validate) static BARE_SLICE: Type = kind! { spec: BARE_SLICE_SPEC };

macro_rules! slice {
    ($node:expr, $all:expr, $device:ident; $($own:tt)*) => {
        object! {
            driver: Text;
            pool: POOL;
            nodeName: $node;
            nodeSelector: Opt(&NODE_SELECTOR);
            allNodes: $all;
            devices: List(&$device);
            $($own)*
        }
    };
}

const SLICE_SPEC: Type = slice! {
    Opt(&Text), Opt(&Flag), DEVICE;
    perDeviceNodeSelection: Opt(&Flag);
    sharedCounters: List(&COUNTER_SET);
    mixins @proposed: Opt(&MIXINS);
    partitionTypeAttribute @since(V1_37): Opt(&Text);
    skipNodeOperations @since(V1_37): List(&Text);
};

const BASIC_SLICE_SPEC: Type = slice! {
    Text, Flag, BASIC_DEVICE;
    perDeviceNodeSelection: Opt(&Flag);
    sharedCounters: List(&COUNTER_SET);
    partitionTypeAttribute @since(V1_37): Opt(&Text);
    skipNodeOperations @since(V1_37): List(&Text);
};

const BARE_SLICE_SPEC: Type = slice!(Text, Flag, BARE_DEVICE;);

const POOL: Type = object! { name: Text; generation, resourceSliceCount: Int64 };

macro_rules! device {
    ($($first:tt)*) => {
        object! {
            $($first)*
            includes @proposed: List(&Text);
            attributes: Map(&ATTRIBUTE);
            capacity: CAPACITIES;
            consumesCounters: List(&COUNTER_CONSUMPTION);
            nodeName: Opt(&Text);
            nodeSelector: Opt(&NODE_SELECTOR);
            allNodes: Opt(&Flag);
            taints: List(&TAINT);
            bindsToNode: Opt(&Flag);
            bindingConditions, bindingFailureConditions: List(&Text);
            allowMultipleAllocations: Opt(&Flag);
            nodeAllocatableResourceMappings @only(V1_36): Map(&NODE_MAPPING);
            nodeAllocatableResources @since(V1_37): Map(&NODE_RESOURCE)
        }
    };
}

/// `Device`.
pub(in crate::validate) const DEVICE: Type = device!(name: Text;);
const BASIC_DEVICE: Type = object! { name: Text; basic: Opt(&BASIC) };
const BASIC: Type = device!();
const BARE_DEVICE: Type = object! { name: Text; basic: Opt(&BARE) };
const BARE: Type = object! { attributes: Map(&ATTRIBUTE); capacity: Map(&Quantity) };

/// The capacities of a device.
pub(in crate::validate) const CAPACITIES: Type = Map(&CAPACITY);
/// The taints of a device.
pub(in crate::validate) const TAINTS: Type = List(&TAINT);

const ATTRIBUTE: Type = object! {
    int: Opt(&Int64);
    bool: Opt(&Flag);
    string, version: Opt(&Text);
    ints @since(V1_36): List(&Int64);
    bools @since(V1_36): List(&Flag);
    strings @since(V1_36), versions @since(V1_36): List(&Text);
};

const CAPACITY: Type = object! { value: Quantity; requestPolicy: Opt(&REQUEST_POLICY) };

const REQUEST_POLICY: Type = object! {
    default: Opt(&Quantity);
    validValues: List(&Quantity);
    validRange: Opt(&REQUEST_RANGE);
};

const REQUEST_RANGE: Type = object! { min, max, step: Opt(&Quantity) };

const COUNTER_SET: Type = object! { name: Text; includes @proposed: List(&Text); counters: Map(&COUNTER) };
const COUNTER: Type = object! { value: Quantity; requestPolicy @proposed: Opt(&REQUEST_POLICY) };
const DRAWN_COUNTER: Type = object! { value: Quantity; valueFrom @proposed: Opt(&VALUE_FROM) };
const VALUE_FROM: Type = object! { capacityKey: Text };

const MIXINS: Type = object! {
    device: List(&DEVICE_MIXIN);
    counterSet: List(&COUNTER_MIXIN);
    deviceCounterConsumption: List(&DRAWN_MIXIN);
};
const DEVICE_MIXIN: Type = object! { name: Text; attributes: Map(&ATTRIBUTE); capacity: CAPACITIES };
const COUNTER_MIXIN: Type = object! { name: Text; counters: Map(&COUNTER) };
const DRAWN_MIXIN: Type = object! { name: Text; counters: Map(&DRAWN_COUNTER) };

const COUNTER_CONSUMPTION: Type = object! {
    counterSet: Text;
    includes @proposed: List(&Text);
    counters: Map(&DRAWN_COUNTER);
    compatibilityGroups @since(V1_37): List(&Text);
};

const TAINT: Type = object! { key, value, effect: Text; timeAdded: Opt(&Time) };

const NODE_MAPPING: Type = object! { capacityKey: Opt(&Text); allocationMultiplier: Opt(&Quantity) };

const NODE_RESOURCE: Type = object! { mapping: Opt(&NODE_RESOURCE_MAPPING); overhead: Opt(&NODE_OVERHEAD) };

const NODE_RESOURCE_MAPPING: Type = object! {
    capacityKey: Opt(&Text);
    capacityMultiplier, deviceMultiplier: Opt(&Quantity);
};

const NODE_OVERHEAD: Type = object! { perPod, perContainer: Opt(&Quantity) };

/// DeviceTaintRule.
pub(in crate::validate) static TAINT_RULE: Type =
    kind! { spec: TAINT_RULE_SPEC; status @since(V1_35): TAINT_RULE_STATUS };

const TAINT_RULE_SPEC: Type = object! { deviceSelector: Opt(&TAINT_SELECTOR); taint: TAINT };

const TAINT_SELECTOR: Type = object! {
    driver, pool, device, deviceClassName @until(V1_34): Opt(&Text);
    selectors @until(V1_34): SELECTORS;
};

const TAINT_RULE_STATUS: Type = object! { conditions: List(&CONDITION) };

/// ResourcePoolStatusRequest.
pub(in crate::validate) static POOL_STATUS: Type = kind! { spec: POOL_STATUS_SPEC; status: POOL_STATUS_STATUS };

/// `ResourcePoolStatusRequestSpec`.
pub(in crate::validate) const POOL_STATUS_SPEC: Type = object! {
    driver: Text;
    poolName: Opt(&Text);
    limit: Opt(&Int32);
    defaultPartitionTypeAttribute @since(V1_37): Opt(&Text);
};

/// `ResourcePoolStatusRequestStatus`.
pub(in crate::validate) const POOL_STATUS_STATUS: Type = Opt(&POOL_STATUS_FIELDS);

const POOL_STATUS_FIELDS: Type = object! {
    poolCount: Opt(&Int32);
    pools: List(&POOL_STATUS_POOL);
    conditions: List(&CONDITION);
};

const POOL_STATUS_POOL: Type = object! {
    driver, poolName: Text;
    nodeName: Opt(&Text);
    resourceSliceCount: Opt(&Int32);
    generation: Int64;
    totalDevices, allocatedDevices, availableDevices, unavailableDevices: Opt(&Int32);
    validationError: Opt(&Text);
    partitionSummary @since(V1_37): List(&PARTITION_SUMMARY);
    shareableSummary @since(V1_37): Opt(&SHAREABLE_SUMMARY);
};

const PARTITION_SUMMARY: Type = object! { attribute, type: Text; total, allocatable: Int32 };

const SHAREABLE_SUMMARY: Type = object! {
    fullyAvailableDevices, partiallyAvailableDevices: Int32;
    capacity: List(&Any);
};
