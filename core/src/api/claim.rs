//! ResourceClaims, their templates, and the requests in both.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::meta::ObjectMeta;
use super::node::NodeSelector;
use super::quantity::Quantity;
use super::read::{Json, Path, api_enum, api_struct, take};
use crate::finding::Finding;

api_struct! {
    /// `resource.k8s.io/v1` ResourceClaim.
    closed ResourceClaim {
        /// Metadata.
        "metadata" metadata: ObjectMeta,
        /// What is asked for; immutable.
        "spec" spec: Arc<ResourceClaimSpec>,
        /// What was given.
        "status" status: ResourceClaimStatus,
    }

    /// ResourceClaimTemplate, and the cluster-wide form of KEP-5978.
    closed ResourceClaimTemplate {
        /// Metadata.
        "metadata" metadata: ObjectMeta,
        /// What generated claims look like.
        "spec" spec: ResourceClaimTemplateSpec,
    }

    /// `ResourceClaimTemplateSpec`.
    closed ResourceClaimTemplateSpec {
        /// Labels and annotations for the claim.
        "metadata" metadata: ObjectMeta,
        /// The claim's spec, copied unchanged.
        "spec" spec: Arc<ResourceClaimSpec>,
    }

    /// `ResourceClaimSpec`.
    closed ResourceClaimSpec {
        /// What is asked for.
        "devices" devices: DeviceClaim,
    }

    /// `DeviceClaim`.
    closed DeviceClaim {
        /// Requests; all must be satisfied.
        "requests" requests: Vec<DeviceRequest>,
        /// What the chosen devices must have in common or must not.
        "constraints" constraints: Vec<DeviceConstraint>,
        /// Parameters for drivers.
        "config" config: Vec<DeviceClaimConfiguration>,
    }

    /// `DeviceRequest`: exactly one of its two forms is set in a valid request.
    closed DeviceRequest {
        /// Name, unique in the claim.
        "name" name: String,
        /// One kind of device.
        "exactly" exactly: Option<ExactDeviceRequest>,
        /// Alternatives, best first (KEP-4816).
        "firstAvailable" first_available: Vec<DeviceSubRequest>,
    }

    /// `ExactDeviceRequest`.
    closed ExactDeviceRequest {
        /// The class that devices must belong to.
        "deviceClassName" device_class_name: String,
        /// CEL expressions that devices must satisfy.
        "selectors" selectors: Vec<DeviceSelector>,
        /// How the number of devices is decided.
        "allocationMode" allocation_mode: AllocationMode,
        /// Number of devices, for `ExactCount`; 0 where left out, which means 1.
        "count" count: i64,
        /// Whether devices in use may be taken, for administration (KEP-5018).
        "adminAccess" admin_access: Option<bool>,
        /// Taints that are tolerated.
        "tolerations" tolerations: Vec<DeviceToleration>,
        /// How much of each device is needed (KEP-5075).
        "capacity" capacity: Option<CapacityRequirements>,
        /// Attributes computed from the device (KEP-6080).
        "derivedAttributes" derived_attributes: Vec<DeviceDerivedAttribute>,
    }

    /// `DeviceSubRequest`: one alternative of a request.
    closed DeviceSubRequest {
        /// Name, unique in the request.
        "name" name: String,
        /// The class that devices must belong to.
        "deviceClassName" device_class_name: String,
        /// CEL expressions that devices must satisfy.
        "selectors" selectors: Vec<DeviceSelector>,
        /// How the number of devices is decided.
        "allocationMode" allocation_mode: AllocationMode,
        /// Number of devices, for `ExactCount`; 0 where left out, which means 1.
        "count" count: i64,
        /// Taints that are tolerated.
        "tolerations" tolerations: Vec<DeviceToleration>,
        /// How much of each device is needed (KEP-5075).
        "capacity" capacity: Option<CapacityRequirements>,
        /// Attributes computed from the device (KEP-6080).
        "derivedAttributes" derived_attributes: Vec<DeviceDerivedAttribute>,
    }

    /// `DeviceDerivedAttribute`: a value computed from each device, for constraints (KEP-6080).
    closed DeviceDerivedAttribute {
        /// Fully qualified name by which constraints refer to it; hides a device's own attribute of that name.
        "name" name: String,
        /// A CEL expression over `device`; must give a single value or a list of values.
        "expression" expression: String,
    }
}

api_enum! {
    /// How many devices a request gets.
    AllocationMode {
        /// As many as `count` says.
        ExactCount = "ExactCount",
        /// All that match, of which there must be at least one.
        All = "All",
    } default ExactCount
}

api_struct! {
    /// `DeviceSelector`.
    closed DeviceSelector {
        /// A CEL expression over `device`.
        "cel" cel: Option<CelDeviceSelector>,
    }

    /// `CELDeviceSelector`.
    closed CelDeviceSelector {
        /// The expression; must give a boolean.
        "expression" expression: String,
    }

    /// `CapacityRequirements`.
    closed CapacityRequirements {
        /// Amounts by qualified capacity name.
        "requests" requests: BTreeMap<String, Quantity>,
    }

    /// `DeviceToleration`.
    closed DeviceToleration {
        /// Key; empty for every key.
        "key" key: String,
        /// How the value is compared; absent for `Equal`.
        "operator" operator: Option<TolerationOperator>,
        /// Value, for `Equal`.
        "value" value: String,
        /// Effect; empty for every effect.
        "effect" effect: String,
        /// How long a `NoExecute` taint is tolerated, in seconds; absent for ever.
        "tolerationSeconds" toleration_seconds: Option<i64>,
    }
}

api_enum! {
    /// Operator of a toleration.
    TolerationOperator {
        /// Key and value must be equal.
        Equal = "Equal",
        /// The key must be present.
        Exists = "Exists",
    } default Equal
}

api_struct! {
    /// `DeviceConstraint`: exactly one of the two attributes is set in a valid constraint.
    closed DeviceConstraint {
        /// Requests (or `request/subrequest`) that it covers; empty for all.
        "requests" requests: Vec<String>,
        /// Attribute of which all devices must have the same value.
        "matchAttribute" match_attribute: Option<String>,
        /// Attribute of which all devices must have different values (KEP-5075).
        "distinctAttribute" distinct_attribute: Option<String>,
    }

    /// `DeviceClaimConfiguration`.
    closed DeviceClaimConfiguration {
        /// Requests (or `request/subrequest`) that it is meant for; empty for all.
        "requests" requests: Vec<String>,
        /// Parameters for one driver.
        "opaque" opaque: Option<OpaqueDeviceConfiguration>,
    }

    /// `OpaqueDeviceConfiguration`.
    closed OpaqueDeviceConfiguration {
        /// The driver that reads the parameters.
        "driver" driver: String,
        /// An object that only the driver understands.
        "parameters" parameters: Value,
    }

    /// `ResourceClaimStatus`.
    closed ResourceClaimStatus {
        /// The devices given; absent while pending.
        "allocation" allocation: Option<Arc<AllocationResult>>,
        /// Who may use the claim.
        "reservedFor" reserved_for: Vec<ResourceClaimConsumerReference>,
        /// What drivers report about the devices.
        "devices" devices: Vec<Value>,
    }

    /// `ResourceClaimConsumerReference`.
    closed ResourceClaimConsumerReference {
        /// API group; empty for the core group.
        "apiGroup" api_group: String,
        /// Resource in plural, for instance `pods`.
        "resource" resource: String,
        /// Name of the consumer.
        "name" name: String,
        /// UID of the consumer.
        "uid" uid: String,
    }

    /// `AllocationResult`.
    closed AllocationResult {
        /// The devices and their configuration.
        "devices" devices: DeviceAllocationResult,
        /// Nodes where the devices can be used; absent for all.
        "nodeSelector" node_selector: Option<Arc<NodeSelector>>,
        /// RFC 3339 time of the allocation, where a device has binding conditions.
        "allocationTimestamp" allocation_timestamp: String,
    }

    /// `DeviceAllocationResult`.
    closed DeviceAllocationResult {
        /// Devices in the order of picking.
        "results" results: Vec<DeviceRequestAllocationResult>,
        /// Configuration: of classes first, then of the claim.
        "config" config: Vec<DeviceAllocationConfiguration>,
    }
}

/// `DeviceRequestAllocationResult`.
///
/// All but the share is behind a pointer, as claims that ask for the same get the same of a shared device.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DeviceRequestAllocationResult {
    /// `shareID`: which share of a shared device this is; a UUID.
    pub share_id: Option<String>,
    /// The other fields.
    pub granted: Arc<GrantedDevice>,
}

impl Deref for DeviceRequestAllocationResult {
    type Target = GrantedDevice;

    fn deref(&self) -> &GrantedDevice {
        &self.granted
    }
}

impl Json for DeviceRequestAllocationResult {
    fn read(mut value: Value, at: &Path<'_>, findings: &mut Vec<Finding>) -> Result<Self, Value> {
        let (mut share_id, mut misfits) = (None, Map::new());
        if let Value::Object(map) = &mut value {
            take(map, "shareID", &mut share_id, &mut misfits, at, findings);
        }
        let mut granted = GrantedDevice::read(value, at, findings)?;
        granted.rest.extend(misfits);
        Ok(Self { share_id, granted: Arc::new(granted) })
    }

    fn write(&self) -> Option<Value> {
        let mut value = self.granted.write()?;
        if let (Some(map), Some(share_id)) = (value.as_object_mut(), self.share_id.write_field()) {
            map.insert("shareID".to_owned(), share_id);
        }
        Some(value)
    }
}

api_struct! {
    /// A [`DeviceRequestAllocationResult`] without its share.
    closed GrantedDevice {
        /// `request` or `request/subrequest`.
        "request" request: String,
        /// Driver of the device.
        "driver" driver: String,
        /// Pool of the device.
        "pool" pool: String,
        /// Name of the device.
        "device" device: String,
        /// Whether the device was taken with admin access.
        "adminAccess" admin_access: Option<bool>,
        /// Tolerations of the request.
        "tolerations" tolerations: Vec<DeviceToleration>,
        /// Conditions to wait for.
        "bindingConditions" binding_conditions: Vec<String>,
        /// Conditions that mean failure.
        "bindingFailureConditions" binding_failure_conditions: Vec<String>,
        /// How much of the device is used up, by capacity name.
        "consumedCapacity" consumed_capacity: BTreeMap<String, Quantity>,
        /// Steps on the node that the driver does not need.
        "skipNodeOperations" skip_node_operations: Vec<String>,
    }

    /// `DeviceAllocationConfiguration`.
    closed DeviceAllocationConfiguration {
        /// Where it comes from.
        "source" source: AllocationConfigSource,
        /// Requests (or `request/subrequest`) that it is meant for; empty for all.
        "requests" requests: Vec<String>,
        /// Parameters for one driver.
        "opaque" opaque: Option<OpaqueDeviceConfiguration>,
    }
}

api_enum! {
    /// Where a configuration comes from.
    AllocationConfigSource {
        /// The device class.
        FromClass = "FromClass",
        /// The claim.
        FromClaim = "FromClaim",
    } default FromClass
}

impl ResourceClaim {
    /// What is asked for, to be changed.
    pub(crate) fn devices_mut(&mut self) -> &mut DeviceClaim {
        &mut Arc::make_mut(&mut self.spec).devices
    }

    /// Its devices; none while it is not allocated.
    pub(crate) fn results(&self) -> impl Iterator<Item = &DeviceRequestAllocationResult> {
        self.status.allocation.iter().flat_map(|allocation| &allocation.devices.results)
    }

    /// Those of its devices that it takes away from others. Admin access takes nothing.
    pub(crate) fn held(&self) -> impl Iterator<Item = &DeviceRequestAllocationResult> {
        self.results().filter(|result| result.admin_access != Some(true))
    }
}

impl DeviceRequestAllocationResult {
    /// Whether two results cannot both hold: they are of one device, and not different shares of it.
    pub(crate) fn excludes(&self, other: &Self) -> bool {
        let is_shared = self.share_id.is_some() && other.share_id.is_some() && self.share_id != other.share_id;
        !is_shared && self.device() == other.device()
    }
}

impl GrantedDevice {
    /// Driver, pool and name of the device.
    pub(crate) fn device(&self) -> (&str, &str, &str) {
        (&self.driver, &self.pool, &self.device)
    }
}

impl ResourceClaimTemplateSpec {
    /// The same as the API server stores it: what is left out has its default.
    #[must_use]
    pub fn with_defaults(&self) -> Self {
        let mut full = self.clone();
        set_defaults(&mut full.spec);
        full
    }
}

/// Whether some request asks for admin access.
pub(crate) fn asks_for_admin_access(requests: &[DeviceRequest]) -> bool {
    requests.iter().filter_map(|request| request.exactly.as_ref()).any(|exact| exact.admin_access == Some(true))
}

/// What the API server fills in of what a claim asks for; a spec that is complete stays shared with others.
pub(crate) fn set_defaults(spec: &mut Arc<ResourceClaimSpec>) {
    fn asked(mode: &AllocationMode, count: &mut i64, tolerations: &mut [DeviceToleration]) {
        if *mode == AllocationMode::ExactCount && *count == 0 {
            *count = 1;
        }
        for toleration in tolerations {
            toleration.operator.get_or_insert(TolerationOperator::Equal);
        }
    }
    let mut full = ResourceClaimSpec::clone(spec);
    for request in &mut full.devices.requests {
        if let Some(exact) = &mut request.exactly {
            asked(&exact.allocation_mode, &mut exact.count, &mut exact.tolerations);
        }
        for alternative in &mut request.first_available {
            asked(&alternative.allocation_mode, &mut alternative.count, &mut alternative.tolerations);
        }
    }
    if full != **spec {
        *spec = Arc::new(full);
    }
}
