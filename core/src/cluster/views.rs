//! The facts as several controllers and questions look at them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::pools::add_newest;
use super::{Cluster, Key};
use crate::api::claim::{DeviceRequestAllocationResult, ResourceClaim};
use crate::api::pod::Pod;
use crate::api::slice::{Device, ResourceSlice};

/// The newest generation of each pool.
#[derive(Default)]
pub(crate) struct Newest<'c>(BTreeMap<(&'c str, &'c str), i64>);

impl Newest<'_> {
    /// The newest generation of a slice's pool.
    pub(crate) fn generation(&self, slice: &ResourceSlice) -> i64 {
        let pool = &slice.spec.pool;
        self.0.get(&(slice.spec.driver.as_str(), pool.name.as_str())).copied().unwrap_or(pool.generation)
    }

    /// Whether a slice is of its pool's newest generation.
    pub(crate) fn has(&self, slice: &ResourceSlice) -> bool {
        self.generation(slice) == slice.spec.pool.generation
    }
}

impl Cluster {
    /// The newest generation of each pool.
    pub(crate) fn newest(&self) -> Newest<'_> {
        let mut newest: BTreeMap<(&str, &str), i64> = BTreeMap::new();
        for slice in self.slices().values() {
            let pool = &slice.spec.pool;
            let known = newest.entry((&slice.spec.driver, &pool.name)).or_insert(pool.generation);
            *known = (*known).max(pool.generation);
        }
        Newest(newest)
    }

    /// Slices of the newest generation of each pool, by name.
    pub(crate) fn newest_slices(&self) -> impl Iterator<Item = &ResourceSlice> {
        let newest = self.newest();
        self.slices().values().map(AsRef::as_ref).filter(move |slice| newest.has(slice))
    }

    /// Slices of the newest generation of one pool, by name.
    pub(crate) fn newest_of_pool(&self, driver: &str, pool: &str) -> Vec<&ResourceSlice> {
        let index = self.inventory().pool_index(driver, pool);
        let mut entries = Vec::new();
        for entry in index.into_iter().flat_map(|index| self.inventory().slices_of_pool(index)) {
            add_newest(&mut entries, entry);
        }
        entries.into_iter().map(|entry| &*entry.slice).collect()
    }

    /// Devices of the newest generation of each pool.
    pub(crate) fn newest_devices(&self) -> impl Iterator<Item = (&ResourceSlice, &Device)> {
        self.newest_slices().flat_map(|slice| slice.spec.devices.iter().map(move |device| (slice, device)))
    }

    /// Devices that claims have, other than for administration.
    pub(crate) fn held(&self) -> impl Iterator<Item = (&Arc<ResourceClaim>, &DeviceRequestAllocationResult)> {
        self.claims().values().flat_map(|claim| claim.held().map(move |result| (claim, result)))
    }

    /// Pods that say they are part of a PodGroup, by name.
    pub(crate) fn pods_of_group<'c>(&'c self, group: &Key) -> impl Iterator<Item = &'c Arc<Pod>> + use<'c> {
        let namespace = group.0.clone();
        self.links.pods_of_group(group).filter_map(move |name| self.pods().get(&(namespace.clone(), name.clone())))
    }

    /// Pods that refer to a claim, in the spec or through their status, by name.
    pub(crate) fn pods_of_claim<'c>(&'c self, claim: &Key) -> impl Iterator<Item = &'c Arc<Pod>> + use<'c> {
        let namespace = claim.0.clone();
        self.links.pods_of_claim(claim).filter_map(move |name| self.pods().get(&(namespace.clone(), name.clone())))
    }
}
