//! Who has a device.

use std::collections::{BTreeMap, BTreeSet};

use super::Holder;
use crate::allocate::DeviceId;
use crate::api::claim::ResourceClaim;
use crate::cluster::{Cluster, Key};

/// The claims that have each of some devices, administration left aside.
pub(super) fn of_devices(cluster: &Cluster, wanted: &BTreeSet<DeviceId>) -> BTreeMap<DeviceId, Vec<Holder>> {
    let mut found: BTreeMap<DeviceId, Vec<Holder>> = BTreeMap::new();
    if wanted.is_empty() {
        return found;
    }
    let names: BTreeMap<(&str, &str, &str), &DeviceId> =
        wanted.iter().map(|id| ((&*id.driver, &*id.pool, &*id.device), id)).collect();
    for (key, claim) in cluster.claims() {
        for result in claim.status.allocation.iter().flat_map(|allocation| &allocation.devices.results) {
            let id = names.get(&(&*result.driver, &*result.pool, &*result.device));
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
pub(super) fn holder(cluster: &Cluster, key: &Key, claim: &ResourceClaim) -> Holder {
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
pub(super) fn in_words(holders: &[Holder]) -> String {
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
