//! Who has a device, or what is short of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{DeviceDetail, Holder, NodeDetail, Reason, ReasonKind};
use crate::allocate::DeviceId;
use crate::api::claim::ResourceClaim;
use crate::api::slice::Device;
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::cluster::entries::key_of;
use crate::gather::Gather;

/// The claims that have devices, administration left aside, by the driver and the pool of these.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held(BTreeMap<(String, String), Vec<Arc<ResourceClaim>>>);

impl Held {
    pub(crate) fn of(cluster: &Cluster) -> Self {
        let mut held = Self::default();
        for (claim, result) in cluster.held() {
            let of_pool = held.0.entry((result.driver.clone(), result.pool.clone())).or_default();
            if of_pool.last().is_none_or(|last| !Arc::ptr_eq(last, claim)) {
                of_pool.push(Arc::clone(claim));
            }
        }
        held
    }

    /// The claims that have each of some devices.
    fn of_devices(&self, cluster: &Cluster, wanted: &BTreeSet<DeviceId>) -> BTreeMap<DeviceId, Vec<Holder>> {
        let mut found: BTreeMap<DeviceId, Vec<Holder>> = BTreeMap::new();
        let pools: BTreeSet<(String, String)> = wanted.iter().map(|id| (id.driver.clone(), id.pool.clone())).gather();
        for pool in &pools {
            for claim in self.0.get(pool).into_iter().flatten() {
                for result in claim.held().filter(|result| result.driver == pool.0 && result.pool == pool.1) {
                    let Some(id) = wanted.get(&DeviceId::of_result(result)) else { continue };
                    let holders = found.entry(id.clone()).or_default();
                    let holder = holder(cluster, claim);
                    if !holders.contains(&holder) {
                        holders.push(holder);
                    }
                }
            }
        }
        found
    }
}

/// The claims whose devices draw from a counter (`set/counter`) of the pool of a device.
pub(crate) fn of_counter(cluster: &Cluster, held: &Held, id: &DeviceId, name: &str) -> Vec<Holder> {
    let wanted: BTreeSet<DeviceId> = drawing(cluster, id, name).into_iter().gather();
    let mut holders: Vec<Holder> = held.of_devices(cluster, &wanted).into_values().flatten().collect();
    holders.arrange();
    holders.dedup();
    holders
}

/// A claim with who uses it.
pub(crate) fn holder(cluster: &Cluster, claim: &ResourceClaim) -> Holder {
    let key = key_of(&claim.metadata);
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
    match holders.len().saturating_sub(SHOWN) {
        0 => {}
        1 => parts.push("1 more claim".to_owned()),
        more => parts.push(format!("{more} more claims")),
    }
    parts.join(", ")
}

/// Devices of a counter or set, by its driver, pool and name.
type Drawn = BTreeMap<(String, String, String), Vec<DeviceId>>;

/// The devices whose holders are a reason: the device itself, or those that draw from the same counter. `None` for other reasons.
fn held_for(cluster: &Cluster, drawn: &mut Drawn, id: &DeviceId, reason: &Reason) -> Option<Vec<DeviceId>> {
    match reason.kind {
        ReasonKind::InUse | ReasonKind::CapacityShort => Some(vec![id.clone()]),
        ReasonKind::CounterShort | ReasonKind::OtherGroup => {
            let name = reason.shortage.as_ref().map(|shortage| shortage.name.clone()).unwrap_or_default();
            let key = (id.driver.clone(), id.pool.clone(), name.clone());
            Some(drawn.entry(key).or_insert_with(|| drawing(cluster, id, &name)).clone())
        }
        _ => None,
    }
}

/// Adds who has what is in use.
pub(crate) fn name(cluster: &Cluster, held: &Held, details: &mut [NodeDetail]) {
    let mut drawn = Drawn::new();
    let mut wanted: BTreeSet<DeviceId> = BTreeSet::new();
    for device in details.iter().flat_map(|node| &node.requests).flat_map(|request| &request.devices) {
        let held = device.reasons.iter().filter_map(|reason| held_for(cluster, &mut drawn, &device.device, reason));
        wanted.extend(held.flatten());
    }
    let known = held.of_devices(cluster, &wanted);
    let requests = details.iter_mut().flat_map(|node| &mut node.requests);
    for DeviceDetail { device, reasons } in requests.flat_map(|request| &mut request.devices) {
        for reason in reasons {
            let Some(held) = held_for(cluster, &mut drawn, device, reason) else { continue };
            let mut holders: Vec<Holder> = held.iter().filter_map(|id| known.get(id)).flatten().cloned().collect();
            if matches!(reason.kind, ReasonKind::CounterShort | ReasonKind::OtherGroup) {
                holders.arrange();
                holders.dedup();
            }
            if !holders.is_empty() {
                let word = if reason.kind == ReasonKind::InUse { " by" } else { "; in use by" };
                reason.text = format!("{}{word} {}", reason.text, in_words(&holders));
            }
            reason.holders = holders;
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
