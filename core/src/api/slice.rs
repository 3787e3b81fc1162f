//! ResourceSlices: pools, devices, counters, taints.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::meta::ObjectMeta;
use super::node::NodeSelector;
use super::quantity::Quantity;
use super::read::{Json, Path, Rest, api_enum, api_struct, report_unknown, take, wrong_type};
use crate::finding::Finding;
use crate::gather::Gather;

api_struct! {
    /// `resource.k8s.io/v1` ResourceSlice.
    closed ResourceSlice {
        /// Metadata; the name decides the order of slices in a pool.
        "metadata" metadata: ObjectMeta,
        /// What the driver publishes.
        "spec" spec: ResourceSliceSpec,
    }

    /// `ResourceSliceSpec`. Exactly one of the four node fields is set in a valid slice.
    closed ResourceSliceSpec {
        /// DNS name of the driver.
        "driver" driver: String,
        /// The pool that the slice is part of.
        "pool" pool: ResourcePool,
        /// The only node with access.
        "nodeName" node_name: Option<String>,
        /// The nodes with access.
        "nodeSelector" node_selector: Option<NodeSelector>,
        /// Whether every node has access.
        "allNodes" all_nodes: Option<bool>,
        /// Whether each device says who has access (KEP-4815).
        "perDeviceNodeSelection" per_device_node_selection: Option<bool>,
        /// Devices, in the driver's order of preference.
        "devices" devices: Vec<Device>,
        /// Counter sets that devices of the pool draw from (KEP-4815).
        "sharedCounters" shared_counters: Vec<CounterSet>,
        /// Parts of devices and counter sets that several of them have in common (KEP-5234).
        "mixins" mixins: Option<Box<ResourceSliceMixins>>,
        /// Attribute that tells partitions of one kind from those of another.
        "partitionTypeAttribute" partition_type_attribute: Option<String>,
        /// Steps on the node that the driver does not need.
        "skipNodeOperations" skip_node_operations: Vec<String>,
    }

    /// `ResourcePool`. A pool is identified by driver and name.
    closed ResourcePool {
        /// Name, unique for the driver.
        "name" name: String,
        /// Slices of an older generation than the newest are outdated.
        "generation" generation: i64,
        /// How many slices of this generation make the pool complete.
        "resourceSliceCount" resource_slice_count: i64,
    }

    /// `Device`.
    closed Device {
        /// Name, unique in the pool.
        "name" name: String,
        /// Device mixins of the slice, later ones before earlier ones, all of them behind what the device itself says (KEP-5234).
        "includes" includes: Vec<String>,
        /// Attributes by qualified name (`id` in the driver's own domain, or `domain/id`).
        "attributes" attributes: Arc<BTreeMap<String, Attribute>>,
        /// Capacities by qualified name.
        "capacity" capacity: Arc<BTreeMap<String, DeviceCapacity>>,
        /// What the device draws from counter sets of its pool (KEP-4815).
        "consumesCounters" consumes_counters: Vec<DeviceCounterConsumption>,
        /// The only node with access, if the slice leaves that to its devices.
        "nodeName" node_name: Option<String>,
        /// The nodes with access, likewise.
        "nodeSelector" node_selector: Option<NodeSelector>,
        /// Whether every node has access, likewise.
        "allNodes" all_nodes: Option<bool>,
        /// Taints that the driver sets (KEP-5055).
        "taints" taints: Vec<DeviceTaint>,
        /// Whether an allocation ties the claim to the chosen node (KEP-5007).
        "bindsToNode" binds_to_node: Option<bool>,
        /// Conditions that must become true before Pods are bound (KEP-5007).
        /// An empty list still counts as a list: it moves the pool behind the others.
        "bindingConditions" binding_conditions: Option<Vec<String>>,
        /// Conditions that make binding fail (KEP-5007).
        "bindingFailureConditions" binding_failure_conditions: Option<Vec<String>>,
        /// Whether several claims may share the device (KEP-5075).
        "allowMultipleAllocations" allow_multiple_allocations: Option<bool>,
        /// What the device takes of the node's ordinary resources (KEP-5517, the shape of 1.37).
        "nodeAllocatableResources" node_allocatable_resources: BTreeMap<String, NodeAllocatableResource>,
        /// The same in the shape of 1.36.
        "nodeAllocatableResourceMappings" node_allocatable_resource_mappings: BTreeMap<String, NodeAllocatableMapping>,
    }

    /// How much of one resource of its node a device takes, in the shape of 1.36.
    closed NodeAllocatableMapping {
        /// The capacity of which the consumed amount counts; absent where each device counts.
        "capacityKey" capacity_key: Option<String>,
        /// What one unit of that capacity, or one device, takes; 1 where absent.
        "allocationMultiplier" allocation_multiplier: Option<Quantity>,
    }

    /// The same in the shape of 1.37.
    closed NodeAllocatableResource {
        /// What the device stands for, once for all who use it.
        "mapping" mapping: Option<NodeAllocatableResourceMapping>,
        /// What using the device costs beside that.
        "overhead" overhead: Option<NodeAllocatableOverhead>,
    }

    /// What a device stands for: a capacity, or itself.
    closed NodeAllocatableResourceMapping {
        /// The capacity of which the consumed amount counts.
        "capacityKey" capacity_key: Option<String>,
        /// What one unit of that capacity takes.
        "capacityMultiplier" capacity_multiplier: Option<Quantity>,
        /// What the device takes.
        "deviceMultiplier" device_multiplier: Option<Quantity>,
    }

    /// What using a device costs.
    closed NodeAllocatableOverhead {
        /// For each Pod.
        "perPod" per_pod: Option<Quantity>,
        /// For each container that refers to the claim.
        "perContainer" per_container: Option<Quantity>,
    }
}

/// What the devices met last have, so that equal ones that follow hold it once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Twins {
    attributes: Recent<BTreeMap<String, Attribute>>,
    capacities: Recent<BTreeMap<String, DeviceCapacity>>,
}

impl Twins {
    /// Makes the devices of a slice hold what equal ones have.
    pub(crate) fn share(&mut self, spec: &mut ResourceSliceSpec) {
        for device in &mut spec.devices {
            self.attributes.share(&mut device.attributes);
            self.capacities.share(&mut device.capacity);
        }
    }
}

/// A few different values, the newest at the end.
#[derive(Clone, Debug)]
struct Recent<T>(Vec<Arc<T>>);

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: PartialEq> Recent<T> {
    const MOST: usize = 4;

    fn share(&mut self, value: &mut Arc<T>) {
        if let Some(known) = self.0.iter().rev().find(|known| *known == value) {
            value.clone_from(known);
            return;
        }
        if self.0.len() >= Self::MOST {
            self.0.remove(0);
        }
        self.0.push(Arc::clone(value));
    }
}

impl Device {
    /// Whether both have the same attributes and capacities, as far as that shows at a glance.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.attributes, &other.attributes) && Arc::ptr_eq(&self.capacity, &other.capacity)
    }

    /// The attribute of a fully qualified name. In the driver's own domain the device may leave the domain out.
    pub fn attribute(&self, driver: &str, name: &str) -> Option<&Attribute> {
        find(&self.attributes, name).or_else(|| {
            let (domain, id) = name.split_once('/')?;
            (domain == driver).then(|| find(&self.attributes, id)).flatten()
        })
    }

    /// The capacities that requests decide how much of the counters the device draws by (KEP-5941).
    pub fn capacity_keys(&self) -> impl Iterator<Item = &str> {
        let counters = self.consumes_counters.iter().flat_map(|consumption| consumption.counters.values());
        counters.filter_map(|counter| counter.value_from.as_ref()).map(|from| from.capacity_key.as_str())
    }
}

/// What stands under a name. The few names of one device are compared by their lengths first, which mostly decides without
/// looking at the letters.
pub(crate) fn find<'m, V>(values: &'m BTreeMap<String, V>, name: &str) -> Option<&'m V> {
    const FEW: usize = 24;
    if values.len() > FEW {
        return values.get(name);
    }
    values.iter().find(|(known, _)| known.as_str() == name).map(|(_, value)| value)
}

/// `DeviceAttribute`: one value of one type.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Attribute {
    /// The value that counts. Where a broken object sets several, lists win over scalars, and integers over
    /// booleans over texts over versions, as the allocator takes them.
    pub value: AttributeValue,
    /// Everything else that was written.
    pub rest: Rest,
}

/// The value of an [`Attribute`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum AttributeValue {
    /// A 64-bit integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// A text.
    String(String),
    /// A semantic version, unparsed.
    Version(String),
    /// A list of integers (KEP-5491).
    Ints(Vec<i64>),
    /// A list of booleans (KEP-5491).
    Bools(Vec<bool>),
    /// A list of texts (KEP-5491).
    Strings(Vec<String>),
    /// A list of semantic versions, unparsed (KEP-5491).
    Versions(Vec<String>),
    /// No value of a known type.
    #[default]
    Unsupported,
}

impl AttributeValue {
    /// The type of the value in selectors; nothing is said of lists.
    pub(crate) fn cel_type(&self) -> Option<&'static str> {
        match self {
            Self::Int(_) => Some("int"),
            Self::Bool(_) => Some("bool"),
            Self::String(_) => Some("string"),
            Self::Version(_) => Some("kubernetes.Semver"),
            Self::Ints(_) | Self::Bools(_) | Self::Strings(_) | Self::Versions(_) | Self::Unsupported => None,
        }
    }
}

/// The values of attributes by their fields, in the order in which they count.
macro_rules! attribute_values {
    ($($name:literal $variant:ident: $ty:ty,)*) => {
        impl Json for Attribute {
            fn read(value: Value, at: &Path<'_>, findings: &mut Vec<Finding>) -> Result<Self, Value> {
                let mut map = match value {
                    Value::Object(map) => map,
                    Value::Null => return Ok(Self::default()),
                    other => return wrong_type(other, "an object such as `{string: ...}`", at, findings),
                };
                let mut misfits = Map::new();
                let mut found = AttributeValue::Unsupported;
                $(if let AttributeValue::Unsupported = found {
                    let mut slot: Option<$ty> = None;
                    take(&mut map, $name, &mut slot, &mut misfits, at, findings);
                    found = slot.map_or(found, AttributeValue::$variant);
                })*
                // A second value is not unknown, only surplus: validation speaks of it.
                let unknown = map.iter().filter(|(name, _)| ![$($name),*].contains(&name.as_str()));
                report_unknown(&unknown.map(|(name, value)| (name.clone(), value.clone())).gather(), at, findings);
                map.extend(misfits);
                Ok(Self { value: found, rest: Rest::new(map) })
            }

            fn write(&self) -> Option<Value> {
                let mut map = self.rest.to_map();
                match &self.value {
                    $(AttributeValue::$variant(value) => drop(map.insert($name.to_owned(), json!(value))),)*
                    AttributeValue::Unsupported => {}
                }
                Some(Value::Object(map))
            }
        }
    };
}

attribute_values! {
    "ints" Ints: Vec<i64>,
    "bools" Bools: Vec<bool>,
    "strings" Strings: Vec<String>,
    "versions" Versions: Vec<String>,
    "int" Int: i64,
    "bool" Bool: bool,
    "string" String: String,
    "version" Version: String,
}

api_struct! {
    /// `DeviceCapacity`.
    closed DeviceCapacity {
        /// How much there is.
        "value" value: Quantity,
        /// How requests are rounded and bounded (KEP-5075).
        "requestPolicy" request_policy: Option<Box<CapacityRequestPolicy>>,
    }

    /// `CapacityRequestPolicy`.
    closed CapacityRequestPolicy {
        /// What a request that names no amount consumes.
        "default" default: Option<Quantity>,
        /// The amounts allowed, ascending.
        "validValues" valid_values: Vec<Quantity>,
        /// The range of amounts allowed.
        "validRange" valid_range: Option<CapacityRequestPolicyRange>,
    }

    /// `CapacityRequestPolicyRange`.
    closed CapacityRequestPolicyRange {
        /// Smallest amount; smaller requests are rounded up to it.
        "min" min: Option<Quantity>,
        /// Largest amount.
        "max" max: Option<Quantity>,
        /// Amounts are `min` plus a multiple of this.
        "step" step: Option<Quantity>,
    }

    /// `CounterSet`.
    closed CounterSet {
        /// Name, unique in the pool.
        "name" name: String,
        /// Counter set mixins of the slice, as a device includes its mixins (KEP-5234).
        "includes" includes: Vec<String>,
        /// Counters by name.
        "counters" counters: BTreeMap<String, Counter>,
    }

    /// `Counter`.
    closed Counter {
        /// How much there is, or how much a device takes.
        "value" value: Quantity,
        /// In a counter set: how an amount that comes from a request is rounded and bounded (KEP-5941).
        "requestPolicy" request_policy: Option<Box<CapacityRequestPolicy>>,
        /// In what a device draws: where the amount comes from, in place of `value` (KEP-5941).
        "valueFrom" value_from: Option<Box<CounterValueFrom>>,
    }

    /// Where an amount that a device draws comes from (KEP-5941).
    closed CounterValueFrom {
        /// The capacity that the request asks for, by qualified name.
        "capacityKey" capacity_key: String,
    }

    /// `ResourceSliceMixins` (KEP-5234).
    closed ResourceSliceMixins {
        /// What devices can include.
        "device" device: Vec<DeviceMixin>,
        /// What counter sets can include.
        "counterSet" counter_set: Vec<CounterMixin>,
        /// What the draws of devices can include.
        "deviceCounterConsumption" device_counter_consumption: Vec<CounterMixin>,
    }

    /// `DeviceMixin`: attributes and capacities that several devices have in common.
    closed DeviceMixin {
        /// Name, unique among the device mixins of the slice.
        "name" name: String,
        /// Attributes by qualified name.
        "attributes" attributes: Arc<BTreeMap<String, Attribute>>,
        /// Capacities by qualified name.
        "capacity" capacity: Arc<BTreeMap<String, DeviceCapacity>>,
    }

    /// `CounterSetMixin` and `DeviceCounterConsumptionMixin`: counters that several sets or draws have in common.
    closed CounterMixin {
        /// Name, unique among the mixins of its kind in the slice.
        "name" name: String,
        /// Counters by name.
        "counters" counters: BTreeMap<String, Counter>,
    }

    /// `DeviceCounterConsumption`.
    closed DeviceCounterConsumption {
        /// Name of the counter set in the same pool.
        "counterSet" counter_set: String,
        /// Counter consumption mixins of the slice, as a device includes its mixins (KEP-5234).
        "includes" includes: Vec<String>,
        /// What the device takes, by counter.
        "counters" counters: BTreeMap<String, Counter>,
        /// Devices of one counter set must share a group (KEP-5963).
        "compatibilityGroups" compatibility_groups: Vec<String>,
    }

    /// `DeviceTaint`.
    closed DeviceTaint {
        /// Key.
        "key" key: String,
        /// Value.
        "value" value: String,
        /// What it does to Pods that do not tolerate it.
        "effect" effect: TaintEffect,
        /// RFC 3339 time of the taint.
        "timeAdded" time_added: String,
    }
}

api_enum! {
    /// Effect of a device taint.
    TaintEffect {
        /// Nothing; for dry runs.
        None = "None",
        /// No new allocation.
        NoSchedule = "NoSchedule",
        /// No new allocation, and Pods that use the device are evicted.
        NoExecute = "NoExecute",
    } default None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::read::Path;

    #[test]
    fn equal_attributes_are_held_once_and_written_by_each() {
        let device = |name: &str, numa: i64, memory: &str| {
            let capacity = json!({ "memory": { "value": memory } });
            json!({ "name": name, "attributes": { "numa": { "int": numa } }, "capacity": capacity })
        };
        let devices = [device("a", 0, "1Gi"), device("b", 0, "2Gi"), device("c", 1, "1Gi"), device("d", 0, "1Gi")];
        let text = json!({ "driver": "d.example.com", "devices": devices });
        let mut spec = ResourceSliceSpec::read(text, &Path::ROOT, &mut Vec::new()).unwrap();
        let before = spec.write();
        Twins::default().share(&mut spec);
        assert_eq!(spec.write(), before);
        let [a, b, c, d] = spec.devices.as_slice() else { panic!("{:?}", spec.devices) };
        assert!(Arc::ptr_eq(&a.attributes, &b.attributes) && Arc::ptr_eq(&a.capacity, &c.capacity));
        assert_eq!([b, c, d].map(|other| a.is_like(other)), [false, false, true]);
    }
}
