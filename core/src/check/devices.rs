//! Devices that are given twice, or that give more than they have.

use std::collections::BTreeMap;

use super::{Facts, finding, of_claim, pools, spare};
use crate::api::claim::{DeviceRequestAllocationResult, ResourceClaim};
use crate::api::quantity::Quantity;
use crate::api::slice::{Device, ResourceSlice, ResourceSliceSpec};
use crate::cluster::{Draws, Ledger, Usage};
use crate::finding::{Code, Finding};
use crate::gather::Gather;
use crate::near::nearest_name;

/// Driver, pool and device.
pub(super) type DeviceKey<'c> = (&'c str, &'c str, &'c str);

/// One entry of an allocation, with its claim.
pub(super) type Held<'c> = (&'c ResourceClaim, &'c DeviceRequestAllocationResult);

/// Where a claim's devices stand.
pub(super) const RESULTS: &str = "status.allocation.devices.results";

pub(super) const OVERDRAWN: &str =
    "see whether the driver made its pool smaller; delete Pods that use the devices until the rest fits";

pub(super) fn inspect(facts: &Facts, findings: &mut Vec<Finding>) {
    let held = held(facts);
    let usable = pools::inspect(facts, findings);
    let published = published(facts, &usable);
    unasked(facts, findings);
    twice(&held, findings);
    gone(facts, &held, &published, findings);
    capacity(&held, &published, findings);
    counters(facts, &held, findings);
}

/// Devices that were allocated for a request that the claim does not have.
fn unasked(facts: &Facts, findings: &mut Vec<Finding>) {
    for claim in facts.cluster.claims().values() {
        let requests = &claim.spec.devices.requests;
        let is_asked = |name: &str| match name.split_once('/') {
            Some((name, alternative)) => requests.iter().any(|request| {
                request.name == name && request.first_available.iter().any(|one| one.name == alternative)
            }),
            None => requests.iter().any(|request| request.name == name),
        };
        for (index, result) in claim.results().enumerate().filter(|(_, result)| !is_asked(&result.request)) {
            let message = format!(
                "device `{}` is allocated for request `{}`, which the claim does not have",
                result.device, result.request
            );
            let hint = match nearest_name(&result.request, requests.iter().map(|request| &request.name)) {
                Some(near) => format!("did you mean `{near}`? A Pod cannot use devices of another request"),
                None => "delete the Pods that use the claim, so that its devices are allocated again".to_owned(),
            };
            let path = format!("{RESULTS}[{index}].request");
            findings.push(of_claim(claim, Code::LinkUnknownRequest, &path, message, hint));
        }
    }
}

/// Who has which device, other than for administration.
fn held(facts: &Facts) -> BTreeMap<DeviceKey<'_>, Vec<Held<'_>>> {
    let mut held: BTreeMap<DeviceKey<'_>, Vec<Held<'_>>> = BTreeMap::new();
    for (claim, result) in facts.cluster.held() {
        held.entry(result.device()).or_default().push((claim, result));
    }
    held
}

/// Devices of the newest generation of each pool, and those that a node may use whose part of the pool is older.
fn published<'c>(facts: &'c Facts, usable: &[&'c ResourceSlice]) -> BTreeMap<DeviceKey<'c>, &'c Device> {
    let older = usable.iter().flat_map(|slice| slice.spec.devices.iter().map(|device| (*slice, device)));
    let devices = older.chain(facts.cluster.newest_devices());
    devices.map(|(slice, device)| ((&*slice.spec.driver, &*slice.spec.pool.name, &*device.name), device)).gather()
}

/// A claim as a message names it.
fn named(claim: &ResourceClaim) -> String {
    format!("{}/{}", claim.metadata.namespace, claim.metadata.name)
}

/// Devices that are given as a whole and once more, or the same share twice. The later holder is blamed.
pub(super) fn twice(held: &BTreeMap<DeviceKey<'_>, Vec<Held<'_>>>, findings: &mut Vec<Finding>) {
    for ((driver, pool, device), holders) in held {
        for (index, (claim, result)) in holders.iter().enumerate() {
            let mut earlier = holders.iter().take(index);
            let Some((other, _)) = earlier.find(|(_, other)| other.excludes(result)) else { continue };
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
        if facts.cluster.hides_devices(driver, None) {
            continue;
        }
        let pool_is_known = published.keys().any(|(known, name, _)| known == driver && name == pool);
        let why = if pool_is_known { "its pool has no such device" } else { "no slice has its pool" };
        for (claim, _) in holders {
            let message = format!("device `{driver}/{pool}/{device}` is not published any more: {why}");
            let hint = "see whether the driver runs on the node; if the device is gone for good, delete the Pods that use the claim, and the claim is deallocated";
            findings.push(of_claim(claim, Code::CheckDeviceGone, RESULTS, message, hint));
        }
    }
}

/// Shares that take more of a device than it has. The last holder is blamed.
pub(super) fn capacity(
    held: &BTreeMap<DeviceKey<'_>, Vec<Held<'_>>>,
    published: &BTreeMap<DeviceKey<'_>, &Device>,
    findings: &mut Vec<Finding>,
) {
    for (key, holders) in held {
        let Some(device) = published.get(key) else { continue };
        for (name, sum) in usage(holders).requested().iter() {
            let Some(offered) = device.capacity.get(name).filter(|offered| *sum > offered.value) else { continue };
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
    let mut pools: BTreeMap<(&str, &str), Vec<&ResourceSlice>> = BTreeMap::new();
    for slice in facts.cluster.newest_slices() {
        pools.entry((&slice.spec.driver, &slice.spec.pool.name)).or_default().push(slice);
    }
    for slices in pools.values() {
        for (set, message) in overdrawn(slices, held) {
            let has_set = |slice: &&&ResourceSlice| slice.spec.shared_counters.iter().any(|own| own.name == set);
            let Some(slice) = slices.iter().find(has_set) else { continue };
            let (object, path) = (slice.metadata.reference("ResourceSlice"), "spec.sharedCounters");
            findings.push(finding(Code::CheckCounterOverdrawn, object, path, message, OVERDRAWN));
        }
    }
}

/// Counters of one pool from which devices that are held draw more than there is: name of the set, and the sentence.
pub(super) fn overdrawn(
    slices: &[&ResourceSlice],
    held: &BTreeMap<DeviceKey<'_>, Vec<Held<'_>>>,
) -> Vec<(String, String)> {
    let mut ledger = Ledger::new(slices.iter().flat_map(|slice| &slice.spec.shared_counters));
    let Some(ResourceSliceSpec { driver, pool, .. }) = slices.first().map(|slice| &slice.spec) else {
        return Vec::new();
    };
    for device in slices.iter().flat_map(|slice| &slice.spec.devices) {
        if let Some(holders) = held.get(&(driver, &pool.name, &device.name)) {
            ledger.draw(device, &Draws { is_first: true, requested: Some(&usage(holders).requested()) }, true);
        }
    }
    let below = ledger.each().filter(|(.., left)| left.signum() < 0);
    let in_words = |(set, name, left): (&str, &str, &Quantity)| {
        let offered = &ledger.counter(set, name)?.value;
        let sum = offered.saturating_sub(left);
        let message = format!(
            "allocated devices draw {sum} from counter `{name}` of set `{set}` in pool `{driver}/{}`, which has {offered}",
            pool.name
        );
        Some((set.to_owned(), message))
    };
    below.filter_map(in_words).collect()
}

/// What all holders of a device together take of it.
fn usage(holders: &[Held<'_>]) -> Usage {
    let mut usage = Usage::default();
    holders.iter().for_each(|(_, result)| usage.take(result, true));
    usage
}
