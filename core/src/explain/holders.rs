//! Who has a device, or what is short of it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Holder, NodeDetail, Reason, ReasonKind};
use crate::allocate::DeviceId;
use crate::api::claim::ResourceClaim;
use crate::api::slice::Device;
use crate::cluster::{Cluster, Key};

/// The claims that have each of some devices, administration left aside.
pub(crate) fn of_devices(cluster: &Cluster, wanted: &BTreeSet<DeviceId>) -> BTreeMap<DeviceId, Vec<Holder>> {
    let mut found: BTreeMap<DeviceId, Vec<Holder>> = BTreeMap::new();
    if wanted.is_empty() {
        return found;
    }
    let mut pools: BTreeMap<(&str, &str), BTreeMap<&str, &DeviceId>> = BTreeMap::new();
    for id in wanted {
        pools.entry((&id.pool, &id.driver)).or_default().insert(&id.device, id);
    }
    for (key, claim) in cluster.claims() {
        for result in claim.status.allocation.iter().flat_map(|allocation| &allocation.devices.results) {
            // Of a large cluster few pools are wanted.
            let Some(devices) = pools.get(&(&*result.pool, &*result.driver)) else { continue };
            let id = devices.get(&*result.device);
            let Some(id) = id.filter(|_| result.admin_access != Some(true)) else { continue };
            let holders = found.entry((*id).clone()).or_default();
            let holder = holder(cluster, key, claim);
            if !holders.contains(&holder) {
                holders.push(holder);
            }
        }
    }
    found
}

/// A claim with who uses it.
pub(crate) fn holder(cluster: &Cluster, key: &Key, claim: &ResourceClaim) -> Holder {
    let mut consumers: BTreeSet<String> = BTreeSet::new();
    let mut priority = None;
    for consumer in &claim.status.reserved_for {
        consumers.insert(match consumer.resource.as_str() {
            "pods" => format!("{}/{}", key.0, consumer.name),
            other => format!("{other} {}/{}", key.0, consumer.name),
        });
        let pod = cluster.pods().get(&(key.0.clone(), consumer.name.clone()));
        priority = priority.max(pod.and_then(|pod| pod.spec.priority));
    }
    Holder { claim: format!("{}/{}", key.0, key.1), consumers: consumers.into_iter().collect(), priority }
}

/// Holders in words: `claim ml/a (Pod ml/x)`.
pub(crate) fn in_words(holders: &[Holder]) -> String {
    const SHOWN: usize = 3;
    let one = |holder: &Holder| match holder.consumers.as_slice() {
        [] => format!("claim `{}`, which no Pod uses", holder.claim),
        [only] => format!("claim `{}` of `{only}`", holder.claim),
        [first, rest @ ..] => format!("claim `{}` of `{first}` and {} more", holder.claim, rest.len()),
    };
    let mut parts: Vec<String> = holders.iter().take(SHOWN).map(one).collect();
    if holders.len() > SHOWN {
        parts.push(format!("{} more claims", holders.len().saturating_sub(SHOWN)));
    }
    parts.join(", ")
}

/// Adds who has what is in use.
pub(crate) fn name(cluster: &Cluster, details: &mut [NodeDetail]) {
    let mut wanted: BTreeSet<DeviceId> = BTreeSet::new();
    let devices = |details: &[NodeDetail]| -> Vec<(DeviceId, Reason)> {
        let requests = details.iter().flat_map(|node| &node.requests);
        let all = requests.flat_map(|request| &request.devices);
        all.flat_map(|device| device.reasons.iter().map(|reason| (device.device.clone(), reason.clone()))).collect()
    };
    let mut drawn: BTreeMap<(String, String, String), Vec<DeviceId>> = BTreeMap::new();
    for (id, reason) in devices(details) {
        match reason.kind {
            ReasonKind::InUse | ReasonKind::CapacityShort => drop(wanted.insert(id)),
            ReasonKind::CounterShort | ReasonKind::OtherGroup => {
                let name = reason.shortage.map(|shortage| shortage.name).unwrap_or_default();
                let key = (id.driver.clone(), id.pool.clone(), name.clone());
                let drawing = drawn.entry(key).or_insert_with(|| drawing(cluster, &id, &name));
                wanted.extend(drawing.iter().cloned());
            }
            _ => {}
        }
    }
    let known = of_devices(cluster, &wanted);
    let of = |id: &DeviceId| known.get(id).cloned().unwrap_or_default();
    for request in details.iter_mut().flat_map(|node| &mut node.requests) {
        for device in &mut request.devices {
            let id = device.device.clone();
            for reason in &mut device.reasons {
                let holders: Vec<Holder> = match reason.kind {
                    ReasonKind::InUse | ReasonKind::CapacityShort => of(&id),
                    ReasonKind::CounterShort | ReasonKind::OtherGroup => {
                        let name = reason.shortage.as_ref().map(|shortage| shortage.name.clone()).unwrap_or_default();
                        let key = (id.driver.clone(), id.pool.clone(), name);
                        let drawing = drawn.get(&key).map(Vec::as_slice).unwrap_or_default();
                        let all: BTreeSet<Holder> = drawing.iter().flat_map(of).collect();
                        all.into_iter().collect()
                    }
                    _ => continue,
                };
                if !holders.is_empty() {
                    let word = if reason.kind == ReasonKind::InUse { " by" } else { "; in use by" };
                    reason.text = format!("{}{word} {}", reason.text, in_words(&holders));
                }
                reason.holders = holders;
            }
        }
    }
}

/// Devices of a pool that draw from a counter (`set/counter`) or a set.
fn drawing(cluster: &Cluster, id: &DeviceId, name: &str) -> Vec<DeviceId> {
    let (set, counter) = name.split_once('/').map_or((name, None), |(set, counter)| (set, Some(counter)));
    let of_pool =
        cluster.slices().values().filter(|slice| slice.spec.driver == id.driver && slice.spec.pool.name == id.pool);
    let draws = |device: &&Device| {
        device.consumes_counters.iter().any(|consumption| {
            consumption.counter_set == set && counter.is_none_or(|counter| consumption.counters.contains_key(counter))
        })
    };
    of_pool
        .flat_map(|slice| slice.spec.devices.iter().filter(draws))
        .map(|device| DeviceId { device: device.name.clone(), ..id.clone() })
        .collect()
}
