//! Compatibility groups: which partitions of a device may be in use together (KEP-5963).
//!
//! Devices that draw from one counter set must all have a group in common, or all have none.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::pools::{NodeDevice, Overlay, PoolView, usage_of};
use crate::api::slice::DeviceCounterConsumption;
use crate::cluster::{Cluster, Usage};

/// What the devices that draw from a counter set have in common so far.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Common<'c> {
    /// None of them has a group.
    NoGroups,
    /// All of them have these.
    Groups(Vec<&'c str>),
}

/// By counter set that is drawn from.
type Sets<'c> = BTreeMap<&'c str, Common<'c>>;

/// The groups of a node's pools while devices are picked.
#[derive(Default)]
pub(super) struct Groups<'c> {
    /// By position of the pool, once it is needed.
    pools: BTreeMap<usize, Sets<'c>>,
}

/// Counter sets that a device joined, as they were before, in the order of joining.
#[derive(Default)]
pub(super) struct Before<'c>(Vec<(&'c str, Option<Common<'c>>)>);

impl<'c> Groups<'c> {
    /// Joins the counter sets that a device draws from. `None`, and nothing changes, where it is not compatible with one of them.
    pub(super) fn take(
        &mut self,
        cluster: &'c Cluster,
        overlay: &'c Overlay,
        pool: &PoolView<'c>,
        device: &NodeDevice<'c>,
    ) -> Option<Before<'c>> {
        let sets = self.pools.entry(device.pool).or_insert_with(|| in_use(cluster, overlay, pool));
        let mut before = Before::default();
        for consumption in &device.device.consumes_counters {
            let name = consumption.counter_set.as_str();
            let known = sets.get(name);
            if !known.is_none_or(|common| common.admits(consumption)) {
                undo(sets, before);
                return None;
            }
            before.0.push((name, known.cloned()));
            join(sets, consumption);
        }
        Some(before)
    }

    /// Undoes [`Groups::take`]. Devices are put back in the reverse order of taking.
    pub(super) fn put_back(&mut self, pool: usize, before: Before<'c>) {
        if let Some(sets) = self.pools.get_mut(&pool) {
            undo(sets, before);
        }
    }

    /// Appends all that some pools have in common, as text: equal texts mean equal states.
    pub(super) fn describe(&self, is_seen: &impl Fn(usize) -> bool, text: &mut String) {
        for (pool, sets) in self.pools.iter().filter(|(pool, _)| is_seen(**pool)) {
            // Writing to a string cannot fail.
            let _ = write!(text, "{pool}:{sets:?} ");
        }
    }
}

impl Common<'_> {
    fn admits(&self, consumption: &DeviceCounterConsumption) -> bool {
        let own = &consumption.compatibility_groups;
        match self {
            Common::NoGroups => own.is_empty(),
            Common::Groups(groups) => own.iter().any(|group| groups.contains(&group.as_str())),
        }
    }
}

fn undo<'c>(sets: &mut Sets<'c>, before: Before<'c>) {
    for (name, common) in before.0.into_iter().rev() {
        match common {
            Some(common) => drop(sets.insert(name, common)),
            None => drop(sets.remove(name)),
        }
    }
}

/// Devices that are in use may contradict each other, where a driver changed them since; then what was there first counts.
fn join<'c>(sets: &mut Sets<'c>, consumption: &'c DeviceCounterConsumption) {
    let own = &consumption.compatibility_groups;
    match sets.get_mut(consumption.counter_set.as_str()) {
        None => {
            let common = match own.as_slice() {
                [] => Common::NoGroups,
                groups => Common::Groups(groups.iter().map(String::as_str).collect()),
            };
            sets.insert(&consumption.counter_set, common);
        }
        Some(Common::Groups(groups)) if !own.is_empty() => {
            groups.retain(|group| own.iter().any(|other| other == group));
        }
        Some(Common::NoGroups | Common::Groups(_)) => {}
    }
}

/// What devices in use have in common, of this node and of others.
fn in_use<'c>(cluster: &'c Cluster, overlay: &'c Overlay, pool: &PoolView<'c>) -> Sets<'c> {
    let mut sets = Sets::new();
    for entry in &pool.counted {
        for (device, index) in entry.slice.spec.devices.iter().zip(entry.devices.iter()) {
            if usage_of(cluster, overlay, *index).is_some_and(Usage::is_allocated) {
                device.consumes_counters.iter().for_each(|consumption| join(&mut sets, consumption));
            }
        }
    }
    sets
}
