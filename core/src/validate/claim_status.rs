//! The status of a ResourceClaim.
//!
//! Source: `ValidateResourceClaimStatusUpdate`; KEP-4817 (`status.devices`); the granular permissions of 1.36.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::claim::{self, Requests, configuration, parameters};
use super::names;
use super::node::Node;
use super::report::{Report, shown};
use super::schema::{ALLOCATION, DEVICE_STATUS, Type, same};
use super::slice::skipped_operations;
use super::{binding, meta, node_selector, taints};
use crate::gather::Gather;
use crate::profile::Version;

/// Consumers that may share a claim.
const MOST_CONSUMERS: usize = 256;
const MOST_RESULTS: usize = 32;
const MOST_CONFIGURATIONS: usize = 64;
const MOST_CONDITIONS: usize = 8;
const MOST_ADDRESSES: usize = 16;
const LONGEST_INTERFACE: usize = 256;
const LONGEST_HARDWARE_ADDRESS: usize = 128;

/// A changed status.
pub(super) fn check(out: &mut Report<'_>, claim: &Node<'_, '_>, old: &Node<'_, '_>) {
    let (status, before) = (claim.field("status"), old.field("status"));
    let (spec, allocation, reserved) = (claim.field("spec"), status.field("allocation"), status.field("reservedFor"));
    let devices = spec.field("devices");
    let requests = Requests::of(&devices);

    out.set(&reserved, MOST_CONSUMERS, "uid", |out, consumer| {
        for name in ["resource", "name", "uid"] {
            if consumer.text_of(name).is_empty() {
                out.required(consumer.at.field(name), format!("a consumer needs `{name}`"));
            }
        }
    });
    let results = allocation.field("devices");
    let allocated: BTreeSet<DeviceKey<'_>> = results.field("results").list().iter().map(DeviceKey::of).gather();
    let reported = status.field("devices");
    for device in reported.items() {
        device_status(out, &device, &allocated);
    }
    out.unique(&reported, |device| DeviceKey::of(device.value).to_string());

    if reserved.len() > 0 {
        if !allocation.is_set() {
            out.forbidden(reserved.at, "a claim that is not allocated cannot be reserved");
        } else if !claim.field("metadata").text_of("deletionTimestamp").is_empty() {
            let consumers = |status: &Node<'_, '_>| -> BTreeSet<String> {
                status.field("reservedFor").list().iter().map(Value::to_string).gather()
            };
            if !consumers(&status).is_subset(&consumers(&before)) {
                out.forbidden(reserved.at, "a claim that is being deleted cannot be reserved for more consumers");
            }
        }
    }
    if allocation.is_set() {
        if before.has("allocation") {
            if !same(&ALLOCATION, allocation.value, before.peek("allocation")) {
                out.immutable(allocation.at);
            }
        } else {
            check_allocation(out, &allocation, &requests);
        }
    }
    admin_access(out, claim, &allocation, &before);
    permissions(out, &status, &before);
}

fn check_allocation(out: &mut Report<'_>, allocation: &Node<'_, '_>, requests: &Requests<'_>) {
    let devices = allocation.field("devices");
    out.list(&devices.field("results"), MOST_RESULTS, |out, result| {
        requests.check(out, &result.field("request"));
        names::driver(out, &result.field("driver"));
        names::pool(out, &result.field("pool"));
        out.text(&result.field("device"), names::label);
        binding::check(out, result);
        // Up to 1.36 the API server does not look at these.
        if out.profile.version >= Version::V1_37 {
            for toleration in result.field("tolerations").items() {
                taints::toleration(out, &toleration);
            }
            skipped_operations(out, &result.field("skipNodeOperations"));
        }
        share(out, &result.field("shareID"));
        claim::amounts(out, &result.field("consumedCapacity"));
    });
    out.list(&devices.field("config"), MOST_CONFIGURATIONS, |out, config| {
        let source = config.field("source");
        if source.text().is_empty() {
            out.required(source.at, "the source of the configuration is needed");
        }
        out.one_of(&source, &["FromClaim", "FromClass"]);
        requests.check_all(out, &config.field("requests"));
        configuration(out, config, false);
    });
    let selector = allocation.field("nodeSelector");
    if selector.is_set() {
        node_selector::check(out, &selector);
    }
}

fn share(out: &mut Report<'_>, share: &Node<'_, '_>) {
    if share.is_set() && !names::is_uuid(share.text()) {
        out.invalid(share.at, format!("`{}` is not a UUID in lower case", shown(share.text())));
    }
}

fn device_status(out: &mut Report<'_>, device: &Node<'_, '_>, allocated: &BTreeSet<DeviceKey<'_>>) {
    names::driver(out, &device.field("driver"));
    names::pool(out, &device.field("pool"));
    let name = device.field("device");
    out.text(&name, names::label);
    share(out, &device.field("shareID"));
    if !allocated.contains(&DeviceKey::of(device.value)) {
        out.invalid(device.at, "the device is not allocated to the claim");
    }
    let conditions = device.field("conditions");
    out.most(&conditions, MOST_CONDITIONS);
    meta::conditions(out, &conditions);
    let data = device.field("data");
    if data.is_set() {
        parameters(out, &data, false);
    }
    let network = device.field("networkData");
    out.longest(&network.field("interfaceName"), LONGEST_INTERFACE);
    out.longest(&network.field("hardwareAddress"), LONGEST_HARDWARE_ADDRESS);
    out.set(&network.field("ips"), MOST_ADDRESSES, "", |out, address| {
        if !names::is_interface_address(address.text()) {
            let text = shown(address.text());
            let message = format!("`{text}` is not an address with a prefix length, such as `192.168.1.2/24`");
            out.invalid(address.at, message);
        }
    });
}

/// Results with admin access need a labelled namespace, unless the claim had such results before.
fn admin_access(out: &mut Report<'_>, claim: &Node<'_, '_>, allocation: &Node<'_, '_>, before: &Node<'_, '_>) {
    let first = |allocation: &Value| {
        let is_admin = |result: &Value| result.get("adminAccess") == Some(&Value::Bool(true));
        allocation.pointer("/devices/results").and_then(Value::as_array)?.iter().position(is_admin)
    };
    if out.circumstances.admin_namespace == Some(false)
        && first(before.peek("allocation")).is_none()
        && let Some(index) = first(allocation.value)
    {
        let at = format!("status.allocation.devices.results[{index}].adminAccess");
        claim::no_admin_access(out, claim, at);
    }
}

/// What needs more than the permission to change the status.
fn permissions(out: &mut Report<'_>, status: &Node<'_, '_>, before: &Node<'_, '_>) {
    if out.circumstances.authorized || !out.features().granular_status_authorization {
        return;
    }
    let allocation = Type::Opt(&ALLOCATION);
    if !same(&allocation, status.peek("allocation"), before.peek("allocation"))
        || status.field("reservedFor").list() != before.field("reservedFor").list()
    {
        let message = "changing allocation or reservations needs the permission `resourceclaims/binding`";
        out.forbidden(status.at.field("allocation"), message);
    }
    if !status.has("allocation") {
        return;
    }
    let by_key = |devices: &'_ Value| -> BTreeMap<String, Value> {
        let devices = devices.as_array().into_iter().flatten();
        devices.map(|device| (DeviceKey::of(device).to_string(), device.clone())).gather()
    };
    let (now, then) = (by_key(status.peek("devices")), by_key(before.peek("devices")));
    let is_same =
        |key| matches!((now.get(key), then.get(key)), (Some(now), Some(then)) if same(&DEVICE_STATUS, now, then));
    let changed = now.iter().chain(&then).filter(|(key, _)| !is_same(*key)).map(|(_, device)| device);
    let drivers = changed.map(|device| device.get("driver").and_then(Value::as_str).unwrap_or_default());
    for driver in drivers.gather::<BTreeSet<&str>>() {
        let message =
            format!("changing the status of devices of `{driver}` needs the permission `resourceclaims/driver`");
        out.forbidden(status.at.field("devices"), message);
    }
}

/// Identity of an allocated device.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct DeviceKey<'v>([&'v str; 3], Option<&'v str>);

impl<'v> DeviceKey<'v> {
    fn of(value: &'v Value) -> Self {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        Self(["driver", "pool", "device"].map(|name| text(name).unwrap_or_default()), text("shareID"))
    }
}

impl std::fmt::Display for DeviceKey<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self([driver, pool, device], share) = self;
        write!(f, "{driver}/{pool}/{device}")?;
        share.map_or(Ok(()), |share| write!(f, "/{share}"))
    }
}

/// What the API server does before it validates: reports about devices that this change deallocates are removed.
pub(super) fn forget_deallocated(object: &mut Value, old: &Value) {
    let keys = |object: &Value| -> BTreeSet<String> {
        let results = object.pointer("/status/allocation/devices/results").and_then(Value::as_array);
        results.into_iter().flatten().map(|result| DeviceKey::of(result).to_string()).gather()
    };
    let gone: BTreeSet<String> = keys(old).difference(&keys(object)).cloned().gather();
    if gone.is_empty() {
        return;
    }
    let Some(status) = object.get_mut("status").and_then(Value::as_object_mut) else { return };
    if let Some(Value::Array(devices)) = status.get_mut("devices") {
        devices.retain(|device| !gone.contains(&DeviceKey::of(device).to_string()));
        if devices.is_empty() {
            status.remove("devices");
        }
    }
}
