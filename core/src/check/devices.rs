//! Devices that are given twice, or that give more than they have.

use std::collections::{BTreeMap, BTreeSet};

use super::{Facts, finding, of_claim, spare};
use crate::api::claim::{DeviceRequestAllocationResult, ResourceClaim};
use crate::api::quantity::Quantity;
use crate::api::slice::{Device, ResourceSlice};
use crate::cluster::incomplete;
use crate::finding::{Code, Finding};

/// Driver, pool and device.
type DeviceKey<'c> = (&'c str, &'c str, &'c str);

/// One entry of an allocation, with its claim.
type Held<'c> = (&'c ResourceClaim, &'c DeviceRequestAllocationResult);

/// Where a claim's devices stand.
const RESULTS: &str = "status.allocation.devices.results";

const OVERDRAWN: &str =
    "see whether the driver made its pool smaller; delete Pods that use the devices until the rest fits";

pub(super) fn inspect(facts: &Facts, findings: &mut Vec<Finding>) {
    let held = held(facts);
    let published = published(facts);
    pools(facts, findings);
    twice(&held, findings);
    gone(facts, &held, &published, findings);
    capacity(&held, &published, findings);
    counters(facts, &held, findings);
}

/// Who has which device, other than for administration.
fn held(facts: &Facts) -> BTreeMap<DeviceKey<'_>, Vec<Held<'_>>> {
    let mut held: BTreeMap<DeviceKey<'_>, Vec<Held<'_>>> = BTreeMap::new();
    for (claim, result) in facts.cluster.held() {
        held.entry((&result.driver, &result.pool, &result.device)).or_default().push((claim, result));
    }
    held
}

/// Devices of the newest generation of each pool.
fn published(facts: &Facts) -> BTreeMap<DeviceKey<'_>, &Device> {
    let devices = facts.cluster.newest_devices();
    devices.map(|(slice, device)| ((&*slice.spec.driver, &*slice.spec.pool.name, &*device.name), device)).collect()
}

/// Pools of which slices are missing, or that publish a device twice: their devices are not given out.
fn pools(facts: &Facts, findings: &mut Vec<Finding>) {
    let mut pools: BTreeMap<(&str, &str), Vec<&ResourceSlice>> = BTreeMap::new();
    for slice in facts.cluster.newest_slices() {
        pools.entry((&slice.spec.driver, &slice.spec.pool.name)).or_default().push(slice);
    }
    for ((driver, pool), slices) in pools {
        let Some(first) = slices.first() else { continue };
        let mut tell = |code, path: &str, message: String, hint: &str| {
            let object = first.metadata.reference("ResourceSlice");
            findings.push(finding(code, object, path, message, hint));
        };
        let is_whole = i64::try_from(slices.len()).is_ok_and(|count| count == first.spec.pool.resource_slice_count);
        if let Some(index) = facts.cluster.inventory().pool_index(driver, pool).filter(|_| !is_whole) {
            let message = format!("{}, so its devices are not given out", incomplete(&facts.cluster, index));
            let hint = "the driver has to publish the other slices, or to correct `resourceSliceCount`";
            tell(Code::LinkPoolIncomplete, "spec.pool.resourceSliceCount", message, hint);
        }
        let mut names = BTreeSet::new();
        let mut devices = slices.iter().flat_map(|slice| &slice.spec.devices);
        if let Some(device) = devices.find(|device| !names.insert(&device.name)) {
            let message = format!(
                "device `{}` of pool `{pool}` is published twice, so none of the pool is given out",
                device.name
            );
            let hint = "the driver has to publish the pool again without the contradiction";
            tell(Code::LinkPoolDisagrees, "spec.devices", message, hint);
        }
    }
}

/// A claim as a message names it.
fn named(claim: &ResourceClaim) -> String {
    format!("{}/{}", claim.metadata.namespace, claim.metadata.name)
}

/// Devices that are given as a whole and once more, or the same share twice.
fn twice(held: &BTreeMap<DeviceKey<'_>, Vec<Held<'_>>>, findings: &mut Vec<Finding>) {
    for ((driver, pool, device), holders) in held {
        for (index, (claim, result)) in holders.iter().enumerate() {
            let earlier = holders.iter().take(index);
            let clashes = |other: &&Held<'_>| match (&other.1.share_id, &result.share_id) {
                (Some(left), Some(right)) => left == right,
                _ => true,
            };
            let Some((other, _)) = earlier.into_iter().find(clashes) else { continue };
            let message = format!("device `{driver}/{pool}/{device}` is held by claim `{}`, too", named(other));
            let hint = match spare(claim, other) {
                Some(spare) => format!("nobody uses claim `{}`: delete it", named(spare)),
                None => "find out from the driver on the node which Pod really has it, then delete the other Pod and, where it was not made for it, its claim".to_owned(),
            };
            findings.push(of_claim(claim, Code::CheckDeviceHeldTwice, RESULTS, message, hint));
        }
    }
}

/// Devices that claims have and no slice offers any more.
fn gone(
    facts: &Facts,
    held: &BTreeMap<DeviceKey<'_>, Vec<Held<'_>>>,
    published: &BTreeMap<DeviceKey<'_>, &Device>,
    findings: &mut Vec<Finding>,
) {
    if facts.cluster.slices().is_empty() {
        return;
    }
    for (key, holders) in held.iter().filter(|(key, _)| !published.contains_key(*key)) {
        let (driver, pool, device) = key;
        let pool_is_known = published.keys().any(|(known, name, _)| known == driver && name == pool);
        let why = if pool_is_known { "its pool has no such device" } else { "no slice has its pool" };
        for (claim, _) in holders {
            let message = format!("device `{driver}/{pool}/{device}` is not published any more: {why}");
            let hint = "see whether the driver runs on the node; if the device is gone for good, delete the Pods that use the claim, and the claim is deallocated";
            findings.push(of_claim(claim, Code::CheckDeviceGone, RESULTS, message, hint));
        }
    }
}

/// Shares that take more of a device than it has.
fn capacity(
    held: &BTreeMap<DeviceKey<'_>, Vec<Held<'_>>>,
    published: &BTreeMap<DeviceKey<'_>, &Device>,
    findings: &mut Vec<Finding>,
) {
    for (key, holders) in held {
        let Some(device) = published.get(key) else { continue };
        let mut taken: BTreeMap<&str, Quantity> = BTreeMap::new();
        for (name, amount) in holders.iter().flat_map(|(_, result)| &result.consumed_capacity) {
            let sum = taken.entry(name).or_default();
            *sum = sum.saturating_add(amount);
        }
        for (name, sum) in taken {
            let Some(offered) = device.capacity.get(name).filter(|offered| sum > offered.value) else { continue };
            let (driver, pool, device) = key;
            let message = format!(
                "{} claims take {sum} of `{name}` of device `{driver}/{pool}/{device}`, which has {}",
                holders.len(),
                offered.value
            );
            let Some((claim, _)) = holders.last() else { continue };
            findings.push(of_claim(claim, Code::CheckCapacityOverdrawn, RESULTS, message, OVERDRAWN));
        }
    }
}

/// Counters from which devices that are held draw more than there is.
fn counters(facts: &Facts, held: &BTreeMap<DeviceKey<'_>, Vec<Held<'_>>>, findings: &mut Vec<Finding>) {
    let slices: Vec<&ResourceSlice> = facts.cluster.newest_slices().collect();
    let pools: BTreeSet<(&str, &str)> =
        slices.iter().map(|slice| (slice.spec.driver.as_str(), slice.spec.pool.name.as_str())).collect();
    for (driver, pool) in pools {
        let own = || slices.iter().filter(|slice| slice.spec.driver == driver && slice.spec.pool.name == pool);
        let mut drawn: BTreeMap<(&str, &str), Quantity> = BTreeMap::new();
        for device in own().flat_map(|slice| &slice.spec.devices) {
            let Some(held) = held.get(&(driver, pool, device.name.as_str())) else { continue };
            for consumption in &device.consumes_counters {
                for (name, counter) in &consumption.counters {
                    let sum = drawn.entry((&consumption.counter_set, name)).or_default();
                    match &counter.value_from {
                        None => *sum = sum.saturating_add(&counter.value),
                        Some(from) => {
                            let amounts =
                                held.iter().filter_map(|(_, result)| result.consumed_capacity.get(&from.capacity_key));
                            amounts.for_each(|amount| *sum = sum.saturating_add(amount));
                        }
                    }
                }
            }
        }
        for slice in own() {
            for set in &slice.spec.shared_counters {
                for (name, counter) in &set.counters {
                    let Some(sum) = drawn.get(&(set.name.as_str(), name.as_str())) else { continue };
                    if *sum > counter.value {
                        let message = format!(
                            "allocated devices draw {sum} from counter `{name}` of set `{}` in pool `{driver}/{pool}`, which has {}",
                            set.name, counter.value
                        );
                        let (object, path) = (slice.metadata.reference("ResourceSlice"), "spec.sharedCounters");
                        findings.push(finding(Code::CheckCounterOverdrawn, object, path, message, OVERDRAWN));
                    }
                }
            }
        }
    }
}
