//! Shared counters of partitionable devices (KEP-4815).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use smallvec::{SmallVec, smallvec};

use super::capacity::{self, Rounding};
use super::plan::Unit;
use super::pools::{NodeDevice, NodeView, PoolView};
use super::quirks::Quirks;
use crate::api::quantity::Quantity;
use crate::api::slice::Device;
use crate::cluster::{Draws, Ledger};
use crate::profile::Profile;

/// The counters of a node's pools while devices are picked.
pub(super) struct Counters<'c> {
    ledgers: Vec<Ledger>,
    /// The ledger of each pool, once it is needed.
    by_pool: SmallVec<[Option<usize>; 1]>,
    by_pool_name: BTreeMap<&'c str, usize>,
    quirks: Quirks,
}

impl<'c> Counters<'c> {
    pub(super) fn new(view: &NodeView<'c>, quirks: Quirks) -> Self {
        Self { ledgers: Vec::new(), by_pool: smallvec![None; view.pools.len()], by_pool_name: BTreeMap::new(), quirks }
    }

    /// Takes what a device draws if all counters of its pool can bear it.
    ///
    /// The test is on every counter of the pool, not only on those that the device draws from.
    pub(super) fn take(
        &mut self,
        pool: &PoolView<'c>,
        pool_position: usize,
        device: &Device,
        draws: &Draws<'_>,
    ) -> bool {
        let ledger = self.ledger(pool, pool_position);
        let Some(ledger) = self.ledgers.get_mut(ledger) else {
            return false;
        };
        ledger.draw(device, draws, true);
        if ledger.is_overdrawn() {
            ledger.draw(device, draws, false);
            return false;
        }
        true
    }

    /// Gives back what a device took.
    pub(super) fn give_back(&mut self, pool_position: usize, device: &Device, draws: &Draws<'_>) {
        let ledger = self.by_pool.get(pool_position).copied().flatten();
        if let Some(ledger) = ledger.and_then(|ledger| self.ledgers.get_mut(ledger)) {
            ledger.draw(device, draws, false);
        }
    }

    /// What a unit draws from a pool's counters because of its request, by capacity. `None` where a counter's policy refuses the amount.
    pub(super) fn requested(
        &mut self,
        pool: &PoolView<'c>,
        pool_position: usize,
        unit: &Unit<'c>,
        device: &Device,
        rounding: Rounding,
    ) -> Option<BTreeMap<String, Quantity>> {
        let ledger = self.ledger(pool, pool_position);
        capacity::requested(unit.capacity, device, rounding, |set, counter| {
            self.ledgers.get(ledger).and_then(|ledger| ledger.counter(set, counter))
        })
    }

    /// What all counters of one name in a pool have left, together. Nothing if the pool has none.
    pub(super) fn left(&mut self, pool: &PoolView<'c>, pool_position: usize, counter: &str) -> Quantity {
        let ledger = self.ledger(pool, pool_position);
        self.ledgers.get(ledger).map(|ledger| ledger.left(counter)).unwrap_or_default()
    }

    /// All that some pools have left, as text: equal texts mean equal states.
    pub(super) fn describe(&self, is_seen: &impl Fn(usize) -> bool) -> String {
        let mut text = String::new();
        for (pool, ledger) in self.by_pool.iter().enumerate().filter(|(pool, _)| is_seen(*pool)) {
            for left in ledger.and_then(|ledger| self.ledgers.get(ledger)).iter().flat_map(|ledger| ledger.all_left()) {
                // Writing to a string cannot fail.
                let _ = write!(text, "{pool}:{left:?} ");
            }
        }
        text
    }

    fn ledger(&mut self, pool: &PoolView<'c>, pool_position: usize) -> usize {
        if let Some(known) = self.by_pool.get(pool_position).copied().flatten() {
            return known;
        }
        let of_same_name = self.by_pool_name.get(pool.name).copied().filter(|_| self.quirks.counters_by_pool_id);
        let ledger = of_same_name.unwrap_or_else(|| {
            self.ledgers.push(pool.ledger.as_deref().cloned().unwrap_or_default());
            self.ledgers.len() - 1
        });
        self.by_pool_name.insert(pool.name, ledger);
        if let Some(slot) = self.by_pool.get_mut(pool_position) {
            *slot = Some(ledger);
        }
        ledger
    }
}

/// Whether a unit's device could draw what it consumes if nothing had been picked yet. `counters` are those of nothing picked.
pub(super) fn has_counters<'c>(
    profile: &Profile,
    view: &NodeView<'c>,
    counters: &mut Counters<'c>,
    unit: &Unit<'c>,
    device: &NodeDevice<'c>,
) -> bool {
    let features = &profile.features;
    if device.device.consumes_counters.is_empty() {
        return true;
    }
    if !features.partitionable_devices {
        return false;
    }
    let is_first = !(device.is_shared && device.usage.is_some_and(|usage| usage.shares > 0));
    let by_request = device.device.capacity_keys().next().is_some();
    if !is_first && !by_request {
        return true;
    }
    let Some(pool) = view.pools.get(device.pool) else {
        return false;
    };
    let requested = if by_request {
        let Some(requested) = counters.requested(pool, device.pool, unit, device.device, Rounding::of(profile)) else {
            return false;
        };
        Some(requested)
    } else {
        None
    };
    let draws = Draws { is_first, requested: requested.as_ref() };
    let has_counters = counters.take(pool, device.pool, device.device, &draws);
    if has_counters {
        counters.give_back(device.pool, device.device, &draws);
    }
    has_counters
}
