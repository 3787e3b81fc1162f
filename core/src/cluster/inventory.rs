//! Slices by pool and by node, and what is taken of their devices.
//!
//! A device is known by driver, pool and name: as long as a slice publishes it or a claim holds it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::slots::{DeviceIdx, PoolIdx, SliceIdx, Slots};
use super::usage::{self, Usage};
use crate::api::claim::ResourceClaim;
use crate::api::slice::ResourceSlice;

/// The indexes over slices and devices in use. A changed slice costs what that slice costs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inventory {
    slices: Slots<SliceIdx, SliceEntry>,
    pools: Slots<PoolIdx, PoolEntry>,
    devices: Slots<DeviceIdx, DeviceEntry>,
    slices_by_name: BTreeMap<String, SliceIdx>,
    pools_by_driver: BTreeMap<String, BTreeMap<String, PoolIdx>>,
    /// Slices with a node name, by that and their own name.
    slices_by_node: BTreeMap<String, BTreeMap<String, SliceIdx>>,
    /// Slices without a node name.
    slices_without_node: BTreeMap<String, SliceIdx>,
    /// Slices with counter sets, with or without a node name.
    slices_with_counters: BTreeMap<String, SliceIdx>,
}

/// A published slice.
#[derive(Clone, Debug)]
pub(crate) struct SliceEntry {
    /// The object.
    pub(crate) slice: Arc<ResourceSlice>,
    /// Its pool.
    pub(crate) pool: PoolIdx,
    /// Its devices, in its order.
    pub(crate) devices: Vec<DeviceIdx>,
}

/// A pool: driver and name.
#[derive(Clone, Debug)]
pub(crate) struct PoolEntry {
    /// Driver.
    pub(crate) driver: String,
    /// Name, unique for the driver.
    pub(crate) name: String,
    /// Slices of all generations and nodes, by name.
    pub(crate) slices: BTreeMap<String, SliceIdx>,
    devices_by_name: BTreeMap<String, DeviceIdx>,
}

#[derive(Clone, Debug)]
struct DeviceEntry {
    usage: Usage,
    /// How often slices publish it; more than once while a pool is updated or where a driver errs.
    published: u32,
}

impl Inventory {
    /// Slices with this node name, by their own name.
    pub(crate) fn slices_of_node(&self, node: &str) -> impl Iterator<Item = &SliceEntry> {
        self.slices_by_node.get(node).into_iter().flat_map(|slices| self.entries(slices))
    }

    /// Slices without a node name, by their own name.
    pub(crate) fn slices_without_node(&self) -> impl Iterator<Item = &SliceEntry> {
        self.entries(&self.slices_without_node)
    }

    /// Slices with counter sets, by name.
    pub(crate) fn slices_with_counters(&self) -> impl Iterator<Item = &SliceEntry> {
        self.entries(&self.slices_with_counters)
    }

    /// Slices of all generations and nodes that a pool has, by name.
    pub(crate) fn slices_of_pool(&self, pool: PoolIdx) -> impl Iterator<Item = &SliceEntry> {
        self.pools.get(pool).into_iter().flat_map(|pool| self.entries(&pool.slices))
    }

    fn entries<'s>(&'s self, slices: &'s BTreeMap<String, SliceIdx>) -> impl Iterator<Item = &'s SliceEntry> {
        slices.values().filter_map(|index| self.slices.get(*index))
    }

    /// Names of all nodes that slices name.
    pub(crate) fn node_names(&self) -> impl Iterator<Item = &String> {
        self.slices_by_node.keys()
    }

    /// What is taken of a device.
    pub(crate) fn usage(&self, device: DeviceIdx) -> Option<&Usage> {
        self.devices.get(device).map(|entry| &entry.usage).filter(|usage| !usage.is_empty())
    }

    /// The device of a name, if a slice publishes it or a claim holds it.
    pub(crate) fn device(&self, driver: &str, pool: &str, device: &str) -> Option<DeviceIdx> {
        let pool = *self.pools_by_driver.get(driver)?.get(pool)?;
        self.pools.get(pool)?.devices_by_name.get(device).copied()
    }

    /// Adds a slice, or replaces the one of the same name.
    pub(crate) fn add_slice(&mut self, slice: Arc<ResourceSlice>) {
        self.remove_slice(&slice.metadata.name);
        let name = slice.metadata.name.clone();
        let spec = &slice.spec;
        let pool = self.intern_pool(&spec.driver, &spec.pool.name);
        let devices = spec.devices.iter().map(|device| self.publish(pool, &device.name)).collect();
        let node = spec.node_name.clone().filter(|node| !node.is_empty());
        let has_counters = !spec.shared_counters.is_empty();
        let index = self.slices.insert(SliceEntry { slice, pool, devices });
        if let Some(entry) = self.pools.get_mut(pool) {
            entry.slices.insert(name.clone(), index);
        }
        match node {
            Some(node) => self.slices_by_node.entry(node).or_default().insert(name.clone(), index),
            None => self.slices_without_node.insert(name.clone(), index),
        };
        if has_counters {
            self.slices_with_counters.insert(name.clone(), index);
        }
        self.slices_by_name.insert(name, index);
    }

    /// Takes a slice out, if there is one of that name.
    pub(crate) fn remove_slice(&mut self, name: &str) {
        let Some(entry) = self.slices_by_name.remove(name).and_then(|index| self.slices.remove(index)) else {
            return;
        };
        self.slices_without_node.remove(name);
        self.slices_with_counters.remove(name);
        if let Some(node) = &entry.slice.spec.node_name
            && let Some(slices) = self.slices_by_node.get_mut(node)
        {
            slices.remove(name);
            if slices.is_empty() {
                self.slices_by_node.remove(node);
            }
        }
        if let Some(pool) = self.pools.get_mut(entry.pool) {
            pool.slices.remove(name);
        }
        for (device, index) in entry.slice.spec.devices.iter().zip(&entry.devices) {
            if let Some(known) = self.devices.get_mut(*index) {
                known.published = known.published.saturating_sub(1);
            }
            self.forget_device(entry.pool, &device.name, *index);
        }
        self.forget_pool(entry.pool);
    }

    /// Takes a claim's devices, or gives back those of an equal claim.
    pub(crate) fn count_claim(&mut self, claim: &ResourceClaim, has_shares: bool, is_added: bool) {
        for result in usage::results(claim) {
            let pool = self.intern_pool(&result.driver, &result.pool);
            let index = self.intern_device(pool, &result.device);
            if let Some(entry) = self.devices.get_mut(index) {
                if is_added {
                    entry.usage.take(result, has_shares);
                } else {
                    entry.usage.release(result, has_shares);
                }
            }
            if !is_added {
                self.forget_device(pool, &result.device, index);
                self.forget_pool(pool);
            }
        }
    }

    fn intern_pool(&mut self, driver: &str, name: &str) -> PoolIdx {
        if let Some(index) = self.pools_by_driver.get(driver).and_then(|pools| pools.get(name)) {
            return *index;
        }
        let index = self.pools.insert(PoolEntry {
            driver: driver.to_owned(),
            name: name.to_owned(),
            slices: BTreeMap::new(),
            devices_by_name: BTreeMap::new(),
        });
        self.pools_by_driver.entry(driver.to_owned()).or_default().insert(name.to_owned(), index);
        index
    }

    fn intern_device(&mut self, pool: PoolIdx, name: &str) -> DeviceIdx {
        let known = self.pools.get(pool).and_then(|pool| pool.devices_by_name.get(name));
        if let Some(index) = known {
            return *index;
        }
        let index = self.devices.insert(DeviceEntry { usage: Usage::default(), published: 0 });
        if let Some(pool) = self.pools.get_mut(pool) {
            pool.devices_by_name.insert(name.to_owned(), index);
        }
        index
    }

    fn publish(&mut self, pool: PoolIdx, name: &str) -> DeviceIdx {
        let index = self.intern_device(pool, name);
        if let Some(entry) = self.devices.get_mut(index) {
            entry.published = entry.published.saturating_add(1);
        }
        index
    }

    /// Drops a device that nobody speaks of any more.
    fn forget_device(&mut self, pool: PoolIdx, name: &str, index: DeviceIdx) {
        let is_gone = self.devices.get(index).is_some_and(|entry| entry.published == 0 && entry.usage.is_empty());
        if is_gone {
            self.devices.remove(index);
            if let Some(pool) = self.pools.get_mut(pool) {
                pool.devices_by_name.remove(name);
            }
        }
    }

    fn forget_pool(&mut self, index: PoolIdx) {
        let is_gone =
            self.pools.get(index).is_some_and(|pool| pool.slices.is_empty() && pool.devices_by_name.is_empty());
        if is_gone
            && let Some(pool) = self.pools.remove(index)
            && let Some(pools) = self.pools_by_driver.get_mut(&pool.driver)
        {
            pools.remove(&pool.name);
            if pools.is_empty() {
                self.pools_by_driver.remove(&pool.driver);
            }
        }
    }
}
