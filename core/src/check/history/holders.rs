//! Who has which device, in the order in which it was taken.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::allocate::DeviceId;
use crate::api::claim::ResourceClaim;
use crate::check::devices::{DeviceKey, Held};
use crate::cluster::entries::key_of;
use crate::cluster::{Cluster, Key};
use crate::gather::Gather;

/// Claims by device.
#[derive(Clone, Debug, Default)]
pub(super) struct Holders(BTreeMap<DeviceId, Vec<Key>>);

impl Holders {
    /// A claim has its devices from now on.
    pub(super) fn take(&mut self, claim: &ResourceClaim) {
        let key = key_of(&claim.metadata);
        for result in claim.held() {
            let holders = self.0.entry(id(result.device())).or_default();
            if !holders.contains(&key) {
                holders.push(key.clone());
            }
        }
    }

    /// A claim has none of its devices any more.
    pub(super) fn release(&mut self, claim: &ResourceClaim) {
        let key = key_of(&claim.metadata);
        for result in claim.held() {
            let device = id(result.device());
            if let Some(holders) = self.0.get_mut(&device) {
                holders.retain(|holder| *holder != key);
                if holders.is_empty() {
                    self.0.remove(&device);
                }
            }
        }
    }

    /// The holders of a device, the latest last.
    pub(super) fn of<'c>(&self, cluster: &'c Cluster, device: DeviceKey<'_>) -> Vec<Held<'c>> {
        self.0.get(&id(device)).map(|holders| held(cluster, holders, device)).unwrap_or_default()
    }

    /// The holders of each device of a pool.
    pub(super) fn of_pool<'c>(
        &'c self,
        cluster: &'c Cluster,
        driver: &str,
        pool: &str,
    ) -> BTreeMap<DeviceKey<'c>, Vec<Held<'c>>> {
        let first = id((driver, pool, ""));
        let from = self.0.range((Bound::Included(&first), Bound::Unbounded));
        let own = from.take_while(|(device, _)| device.driver == driver && device.pool == pool);
        let key = |device: &'c DeviceId| (device.driver.as_str(), device.pool.as_str(), device.device.as_str());
        own.map(|(device, holders)| (key(device), held(cluster, holders, key(device)))).gather()
    }
}

fn held<'c>(cluster: &'c Cluster, holders: &[Key], device: DeviceKey<'_>) -> Vec<Held<'c>> {
    let claims = holders.iter().filter_map(|key| cluster.claims().get(key)).map(AsRef::as_ref);
    let results = claims.flat_map(|claim: &ResourceClaim| claim.held().map(move |result| (claim, result)));
    results.filter(|(_, result)| result.device() == device).collect()
}

fn id((driver, pool, device): DeviceKey<'_>) -> DeviceId {
    DeviceId { driver: driver.to_owned(), pool: pool.to_owned(), device: device.to_owned() }
}
