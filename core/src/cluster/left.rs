//! What counters and shared capacities have left.

use super::{Cluster, Draws, Ledger, SliceEntry};
use crate::api::quantity::Quantity;

/// A counter of a counter set, or a capacity of a device that several claims can share.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    /// Counter set or device.
    pub(crate) of: String,
    /// Counter or capacity.
    pub(crate) name: String,
    /// Whether it is a counter.
    pub(crate) is_counter: bool,
    /// Whether it is a capacity of which claims have shares.
    pub(crate) is_shared: bool,
    /// How much is left; below zero where more is drawn than there is.
    pub(crate) left: Quantity,
    /// How much there is.
    pub(crate) total: Quantity,
}

/// The capacities of a pool's shared devices, then its counters, of its newest generation.
pub(crate) fn left_in(cluster: &Cluster, driver: &str, pool: &str) -> Vec<Left> {
    let inventory = cluster.inventory();
    let Some(index) = inventory.pool_index(driver, pool) else { return Vec::new() };
    let generation = inventory.slices_of_pool(index).map(|entry| entry.slice.spec.pool.generation).max();
    let is_newest = |entry: &&SliceEntry| Some(entry.slice.spec.pool.generation) == generation;
    let slices = || inventory.slices_of_pool(index).filter(is_newest);
    let mut ledger = Ledger::new(slices().flat_map(|entry| &entry.slice.spec.shared_counters));
    let mut all = Vec::new();
    for (device, position) in slices().flat_map(|entry| entry.slice.spec.devices.iter().zip(entry.devices.iter())) {
        let usage = inventory.usage(*position);
        if let Some(usage) = usage {
            ledger.draw(device, &Draws { is_first: true, requested: Some(&usage.requested()) }, true);
        }
        let is_shared = usage.is_some_and(|usage| usage.shares > 0);
        let is_shareable = is_shared || device.allow_multiple_allocations == Some(true);
        for (name, capacity) in device.capacity.iter().filter(|_| is_shareable) {
            let total = capacity.value.clone();
            let consumed = usage.and_then(|usage| usage.consumed.get(name).cloned()).unwrap_or_default();
            let left = total.saturating_sub(&consumed);
            all.push(Left { of: device.name.clone(), name: name.clone(), is_counter: false, is_shared, left, total });
        }
    }
    for (set, name, left) in ledger.each() {
        if let Some(counter) = ledger.counter(set, name) {
            let (of, name, left, total) = (set.to_owned(), name.to_owned(), left.clone(), counter.value.clone());
            all.push(Left { of, name, is_counter: true, is_shared: false, left, total });
        }
    }
    all
}
