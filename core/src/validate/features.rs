//! Fields of features that are off: the API server drops them before it validates.
//!
//! On update a field stays if the old object used the feature anywhere. Source: the registry strategies and
//! `pkg/api/{resourceclaimspec,pod}`.

use serde_json::Value;

use super::report::Report;
use super::{Operation, places};
use crate::api::read::Path;
use crate::api::source::SOURCE_KIND;
use crate::finding::{Code, Finding};
use crate::profile::{Features, Version};

/// The fields of one feature in one kind. In a path, `[]` goes into every element of a list, `{}` into every entry.
struct Feature {
    /// The gate, for messages.
    gate: &'static str,
    is_on: fn(&Features) -> bool,
    /// What is dropped.
    fields: &'static [&'static str],
    /// What, beside these fields, makes an old object a user of the feature.
    also_used_by: &'static [&'static str],
}

macro_rules! features {
    ($($gate:literal, $is_on:expr, [$($field:expr),* $(,)?] $(, $used:expr)?;)*) => {
        &[$(Feature { gate: $gate, is_on: $is_on, fields: &[$($field),*], also_used_by: features!(@used $($used)?) },)*]
    };
    (@used) => { &[] };
    (@used $used:expr) => { $used };
}

/// 1.34 keeps them.
const TOLERATIONS: &[&str] =
    &["spec.devices.requests[].exactly.tolerations", "spec.devices.requests[].firstAvailable[].tolerations"];

const CLAIM: &[Feature] = features! {
    "DRAPrioritizedList", |on| on.prioritized_list, ["spec.devices.requests[].firstAvailable"];
    "DRADeviceTaints", |on| on.device_taints,
        ["spec.devices.requests[].exactly.tolerations", "spec.devices.requests[].firstAvailable[].tolerations"];
    "DRAAdminAccess", |on| on.admin_access, ["spec.devices.requests[].exactly.adminAccess"];
    "DRAConsumableCapacity", |on| on.consumable_capacity, [
        "spec.devices.constraints[].distinctAttribute",
        "spec.devices.requests[].exactly.capacity",
        "spec.devices.requests[].firstAvailable[].capacity",
    ];
    "DRADerivedAttributes", |on| on.derived_attributes,
        ["spec.devices.requests[].exactly.derivedAttributes", "spec.devices.requests[].firstAvailable[].derivedAttributes"];
};

/// Only 1.34 drops it.
const TIMESTAMP: &str = "status.allocation.allocationTimestamp";

const CLAIM_STATUS: &[Feature] = features! {
    "DRAResourceClaimDeviceStatus", |on| on.resource_claim_device_status, ["status.devices"];
    "DRAAdminAccess", |on| on.admin_access, ["status.allocation.devices.results[].adminAccess"],
        &["spec.devices.requests[].exactly.adminAccess"];
    "DRADeviceBindingConditions", |on| on.device_binding_and_status, [
        "status.allocation.devices.results[].bindingConditions",
        "status.allocation.devices.results[].bindingFailureConditions",
        TIMESTAMP,
    ];
    "DRAConsumableCapacity", |on| on.consumable_capacity, [
        "status.allocation.devices.results[].shareID",
        "status.allocation.devices.results[].consumedCapacity",
        "status.devices[].shareID",
    ], &[
        "spec.devices.constraints[].distinctAttribute",
        "spec.devices.requests[].exactly.capacity",
        "spec.devices.requests[].firstAvailable[].capacity",
    ];
    "DRAOptionalNodeOperations", |on| on.optional_node_operations,
        ["status.allocation.devices.results[].skipNodeOperations"];
};

const CLASS: &[Feature] = features! {
    "DRAExtendedResource", |on| on.extended_resource, ["spec.extendedResourceName"];
};

const SLICE: &[Feature] = features! {
    "DRADeviceTaints", |on| on.device_taints, ["spec.devices[].taints"];
    "DRAPartitionableDevices", |on| on.partitionable_devices, [
        "spec.sharedCounters",
        "spec.perDeviceNodeSelection",
        "spec.devices[].consumesCounters",
        "spec.devices[].nodeName",
        "spec.devices[].nodeSelector",
        "spec.devices[].allNodes",
    ];
    "DRADeviceBindingConditions", |on| on.device_binding_and_status && on.resource_claim_device_status, [
        "spec.devices[].bindsToNode", "spec.devices[].bindingConditions", "spec.devices[].bindingFailureConditions",
    ];
    "DRAConsumableCapacity", |on| on.consumable_capacity,
        ["spec.devices[].allowMultipleAllocations", "spec.devices[].capacity{}.requestPolicy"];
    "DRAListTypeAttributes", |on| on.list_type_attributes, [
        "spec.devices[].attributes{}.bools",
        "spec.devices[].attributes{}.ints",
        "spec.devices[].attributes{}.strings",
        "spec.devices[].attributes{}.versions",
    ];
    "DRANodeAllocatableResources", |on| on.node_allocatable_resources,
        ["spec.devices[].nodeAllocatableResourceMappings", "spec.devices[].nodeAllocatableResources"];
    "DRAPartitionableDevicesType", |on| on.partitionable_devices_type, ["spec.partitionTypeAttribute"];
    "DRAOptionalNodeOperations", |on| on.optional_node_operations, ["spec.skipNodeOperations"];
    "DRADeviceCompatibilityGroups", |on| on.device_compatibility_groups,
        ["spec.devices[].consumesCounters[].compatibilityGroups"];
    "DRASharedConsumableCapacity", |on| on.shared_consumable_capacity, [
        "spec.sharedCounters[].counters{}.requestPolicy",
        "spec.devices[].consumesCounters[].counters{}.valueFrom",
    ];
    "DRAResourceSliceMixins", |on| on.resource_slice_mixins, [
        "spec.mixins",
        "spec.sharedCounters[].includes",
        "spec.devices[].includes",
        "spec.devices[].consumesCounters[].includes",
    ];
};

const POD: &[Feature] = features! {
    "DynamicResourceAllocation", |on| on.dynamic_resource_allocation, [
        "spec.resourceClaims",
        "spec.containers[].resources.claims",
        "spec.initContainers[].resources.claims",
    ];
    "GenericWorkload", |on| on.generic_workload, ["spec.schedulingGroup", "spec.workloadRef"];
};

const POD_STATUS: &[Feature] = features! {
    "DynamicResourceAllocation", |on| on.dynamic_resource_allocation, ["status.resourceClaimStatuses"],
        &["spec.resourceClaims"];
    "DRAExtendedResource", |on| on.extended_resource, ["status.extendedResourceClaimStatus"];
    "DRANodeAllocatableResources", |on| on.node_allocatable_resources, ["status.nodeAllocatableResourceClaimStatuses"];
};

/// Of a PodGroup or of a template of one.
const GROUP: &[Feature] = features! {
    "DRAWorkloadResourceClaims", |on| on.workload_resource_claims, ["resourceClaims"];
    "TopologyAwareWorkloadScheduling", |on| on.topology_aware_scheduling, ["schedulingConstraints"];
    "WorkloadAwarePreemption", |on| on.workload_aware_preemption, ["disruptionMode", "priorityClassName", "priority"];
    "PodGroupPreemptionPolicy", |on| on.pod_group_preemption_policy, ["preemptionPolicy"];
};

const GROUP_STATUS: &[Feature] = features! {
    "DRAWorkloadResourceClaims", |on| on.workload_resource_claims, ["status.resourceClaimStatuses"],
        &["spec.resourceClaims"];
};

const WORKLOAD: &[Feature] = features! {
    "CompositePodGroup", |on| on.composite_pod_group, ["spec.compositePodGroupTemplates"];
};

/// The features of a kind that an operation looks at, and what their paths begin with.
fn of(kind: &str, operation: Operation) -> &'static [(&'static str, &'static [Feature])] {
    match (kind, operation) {
        ("ResourceClaim", Operation::StatusUpdate) => &[("", CLAIM_STATUS)],
        ("PodGroup", Operation::StatusUpdate) => &[("", GROUP_STATUS)],
        ("Pod", Operation::StatusUpdate) => &[("", POD_STATUS)],
        (_, Operation::StatusUpdate) => &[],
        ("ResourceClaim", _) => &[("", CLAIM)],
        ("ResourceClaimTemplate" | "ClusterResourceClaimTemplate", _) => &[("spec.", CLAIM)],
        (SOURCE_KIND, _) => &[("spec.template.", CLAIM)],
        ("DeviceClass", _) => &[("", CLASS)],
        ("ResourceSlice", _) => &[("", SLICE)],
        ("Pod", _) => &[("", POD)],
        ("PodGroup", _) => &[("spec.", GROUP)],
        ("Workload", _) => &[("spec.podGroupTemplates[].", GROUP), ("", WORKLOAD)],
        _ => &[],
    }
}

/// Drops the fields of features that are off and says so, once per kind of field.
pub(super) fn drop_disabled(
    out: &mut Report<'_>,
    kind: &str,
    object: &mut Value,
    old: Option<&Value>,
    operation: Operation,
) {
    for (prefix, features) in of(kind, operation) {
        drop_fields(out, features, prefix, (object, &Path::ROOT), old, prefix);
    }
}

/// The same for a Pod template, which stands at `path` in the object that was stored.
pub(super) fn drop_from_template(
    out: &mut Report<'_>,
    (template, at): (&mut Value, &Path<'_>),
    old: Option<&Value>,
    path: &str,
) {
    drop_fields(out, POD, "", (template, at), old, &format!("{path}."));
}

fn drop_fields(
    out: &mut Report<'_>,
    features: &[Feature],
    prefix: &str,
    (object, at): (&mut Value, &Path<'_>),
    old: Option<&Value>,
    old_prefix: &str,
) {
    for feature in features {
        if (feature.is_on)(out.features()) {
            continue;
        }
        let uses = |fields: &[&str]| {
            let is_used =
                |old| fields.iter().any(|field| places::any(old, &format!("{old_prefix}{field}"), |at| !is_empty(at)));
            old.is_some_and(is_used)
        };
        if uses(feature.fields) || uses(feature.also_used_by) {
            continue;
        }
        let is_dropped = |field: &&&str| match out.profile.version {
            Version::V1_34 => !TOLERATIONS.contains(field),
            _ => **field != TIMESTAMP,
        };
        for field in feature.fields.iter().filter(is_dropped) {
            let path = format!("{prefix}{field}");
            let (parent, name) = path.rsplit_once('.').unwrap_or(("", &path));
            let (mut first, mut others) = (None, 0_usize);
            places::each(object, parent, at, &mut |parent, at| {
                if parent.as_object_mut().and_then(|map| map.remove(name)).is_some_and(|value| !is_empty(&value)) {
                    others = others.saturating_add(usize::from(first.is_some()));
                    first.get_or_insert_with(|| at.field(name).to_string());
                }
            });
            let Some(first) = first else { continue };
            let more = if others > 0 { format!(" here and in {others} other places") } else { String::new() };
            let message = format!(
                "`{name}` is dropped{more}: the feature gate `{}` is off in {}",
                feature.gate,
                out.profile.version.place()
            );
            out.note(Finding::new(Code::ValidateDroppedField, first, message));
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}
