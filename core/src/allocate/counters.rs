//! Shared counters of partitionable devices (KEP-4815).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::pools::{NodeDevice, NodeView, Overlay, PoolView, usage_of};
use super::quirks::Quirks;
use crate::api::quantity::Quantity;
use crate::api::slice::Device;
use crate::cluster::Cluster;

/// The counters of a node's pools while devices are picked.
pub(super) struct Counters<'c> {
    tables: Vec<Table<'c>>,
    /// The table of each pool, once it is needed.
    by_pool: Vec<Option<usize>>,
    by_pool_name: BTreeMap<&'c str, usize>,
    quirks: Quirks,
}

/// The counters of one pool.
struct Table<'c> {
    /// Position by counter set and counter.
    positions: BTreeMap<(&'c str, &'c str), usize>,
    counters: Vec<Counter>,
    /// How many counters are drawn below zero. While there is one, no device that draws from the pool can be taken.
    overdrawn: usize,
}

struct Counter {
    /// What is left. Negative when a driver published a smaller set while its devices were in use.
    left: Quantity,
}

impl<'c> Counters<'c> {
    pub(super) fn new(view: &NodeView<'c>, quirks: Quirks) -> Self {
        Self { tables: Vec::new(), by_pool: vec![None; view.pools.len()], by_pool_name: BTreeMap::new(), quirks }
    }

    /// Takes what a device draws if all counters of its pool can bear it.
    ///
    /// The test is on every counter of the pool, not only on those that the device draws from.
    pub(super) fn take(
        &mut self,
        cluster: &'c Cluster,
        overlay: &'c Overlay,
        pool: &PoolView<'c>,
        pool_position: usize,
        device: &Device,
    ) -> bool {
        let table = self.table(cluster, overlay, pool, pool_position);
        let Some(table) = self.tables.get_mut(table) else {
            return false;
        };
        table.draw(device, true);
        if table.overdrawn > 0 {
            table.draw(device, false);
            return false;
        }
        true
    }

    /// Gives back what a device took.
    pub(super) fn give_back(&mut self, pool_position: usize, device: &Device) {
        let table = self.by_pool.get(pool_position).copied().flatten();
        if let Some(table) = table.and_then(|table| self.tables.get_mut(table)) {
            table.draw(device, false);
        }
    }

    /// What all counters of one name in a pool have left, together. Nothing if the pool has none.
    pub(super) fn left(
        &mut self,
        cluster: &'c Cluster,
        overlay: &'c Overlay,
        pool: &PoolView<'c>,
        pool_position: usize,
        counter: &str,
    ) -> Quantity {
        let table = self.table(cluster, overlay, pool, pool_position);
        let Some(table) = self.tables.get(table) else {
            return Quantity::default();
        };
        let of_name = table.positions.iter().filter(|((_, name), _)| *name == counter);
        let left = of_name.filter_map(|(_, position)| table.counters.get(*position)).map(|counter| &counter.left);
        left.fold(Quantity::default(), |sum, left| sum.saturating_add(left))
    }

    /// All that some pools have left, as text: equal texts mean equal states.
    pub(super) fn describe(&self, is_seen: &impl Fn(usize) -> bool) -> String {
        let mut text = String::new();
        for (pool, table) in self.by_pool.iter().enumerate().filter(|(pool, _)| is_seen(*pool)) {
            for counter in table.and_then(|table| self.tables.get(table)).iter().flat_map(|table| &table.counters) {
                // Writing to a string cannot fail.
                let _ = write!(text, "{pool}:{:?} ", counter.left);
            }
        }
        text
    }

    fn table(
        &mut self,
        cluster: &'c Cluster,
        overlay: &'c Overlay,
        pool: &PoolView<'c>,
        pool_position: usize,
    ) -> usize {
        if let Some(known) = self.by_pool.get(pool_position).copied().flatten() {
            return known;
        }
        let of_same_name = self.by_pool_name.get(pool.name).copied().filter(|_| self.quirks.counters_by_pool_id);
        let table = of_same_name.unwrap_or_else(|| {
            self.tables.push(Table::new(cluster, overlay, pool));
            self.tables.len() - 1
        });
        self.by_pool_name.insert(pool.name, table);
        if let Some(slot) = self.by_pool.get_mut(pool_position) {
            *slot = Some(table);
        }
        table
    }
}

/// Whether a device could draw what it consumes if nothing had been picked yet.
pub(super) fn has_counters<'c>(
    cluster: &'c Cluster,
    overlay: &'c Overlay,
    view: &NodeView<'c>,
    device: &NodeDevice<'c>,
) -> bool {
    if device.device.consumes_counters.is_empty() {
        return true;
    }
    let holds_some = device.is_shared && device.usage.is_some_and(|usage| usage.shares > 0);
    let features = &cluster.profile().features;
    features.partitionable_devices
        && (holds_some
            || view.pools.get(device.pool).is_some_and(|pool| {
                Counters::new(view, Quirks::default()).take(cluster, overlay, pool, device.pool, device.device)
            }))
}

impl<'c> Table<'c> {
    fn new(cluster: &'c Cluster, overlay: &'c Overlay, pool: &PoolView<'c>) -> Self {
        let mut table = Self { positions: BTreeMap::new(), counters: Vec::new(), overdrawn: 0 };
        for set in &pool.counter_sets {
            for (name, counter) in &set.counters {
                table.positions.insert((&set.name, name), table.counters.len());
                table.overdrawn += usize::from(counter.value.signum() < 0);
                table.counters.push(Counter { left: counter.value.clone() });
            }
        }
        for entry in &pool.counted {
            for (device, index) in entry.slice.spec.devices.iter().zip(&entry.devices) {
                if usage_of(cluster, overlay, *index).is_some_and(crate::cluster::Usage::is_allocated) {
                    table.draw(device, true);
                }
            }
        }
        table
    }

    /// Draws what a device consumes, or puts it back. A counter that the table does not have is passed over.
    fn draw(&mut self, device: &Device, is_taken: bool) {
        for consumption in &device.consumes_counters {
            for (name, amount) in &consumption.counters {
                let position = self.positions.get(&(consumption.counter_set.as_str(), name.as_str()));
                let Some(counter) = position.and_then(|position| self.counters.get_mut(*position)) else {
                    continue;
                };
                self.overdrawn -= usize::from(counter.left.signum() < 0);
                counter.left = if is_taken {
                    counter.left.saturating_sub(&amount.value)
                } else {
                    counter.left.saturating_add(&amount.value)
                };
                self.overdrawn += usize::from(counter.left.signum() < 0);
            }
        }
    }
}
