//! What is left of a pool's counters (KEP-4815).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::quantity::Quantity;
use crate::api::slice::{CounterSet, Device};

/// The counters of one pool, with what each has left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// Position by counter set and counter.
    positions: Arc<BTreeMap<String, BTreeMap<String, usize>>>,
    /// What each counter has left, in its own unit, exact. Negative when a driver published a smaller set while its devices
    /// were in use.
    left: Vec<Quantity>,
    /// How many counters are drawn below zero. While there is one, no device that draws from the pool can be taken.
    overdrawn: usize,
}

impl Ledger {
    /// Counters of which nothing is drawn yet.
    pub(crate) fn new<'c>(sets: impl IntoIterator<Item = &'c CounterSet>) -> Self {
        let mut positions: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        let mut ledger = Self::default();
        for set in sets {
            let of_set = positions.entry(set.name.clone()).or_default();
            for (name, counter) in &set.counters {
                of_set.insert(name.clone(), ledger.left.len());
                ledger.overdrawn += usize::from(counter.value.signum() < 0);
                ledger.left.push(counter.value.clone());
            }
        }
        ledger.positions = Arc::new(positions);
        ledger
    }

    /// Draws what a device consumes, or puts it back. A counter that the ledger does not have is passed over.
    pub(crate) fn draw(&mut self, device: &Device, is_taken: bool) {
        for consumption in &device.consumes_counters {
            let Some(of_set) = self.positions.get(&consumption.counter_set) else {
                continue;
            };
            for (name, amount) in &consumption.counters {
                let Some(left) = of_set.get(name).and_then(|position| self.left.get_mut(*position)) else {
                    continue;
                };
                self.overdrawn -= usize::from(left.signum() < 0);
                *left = if is_taken { left.saturating_sub(&amount.value) } else { left.saturating_add(&amount.value) };
                self.overdrawn += usize::from(left.signum() < 0);
            }
        }
    }

    /// Whether some counter is drawn below zero.
    pub(crate) fn is_overdrawn(&self) -> bool {
        self.overdrawn > 0
    }

    /// What all counters of one name have left, together. Nothing if there are none.
    pub(crate) fn left(&self, counter: &str) -> Quantity {
        let positions = self.positions.values().filter_map(|of_set| of_set.get(counter));
        let left = positions.filter_map(|position| self.left.get(*position));
        left.fold(Quantity::default(), |sum, left| sum.saturating_add(left))
    }

    /// Every counter with its set and what it has left, by name.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&str, &str, &Quantity)> {
        self.positions.iter().flat_map(move |(set, counters)| {
            counters.iter().filter_map(move |(counter, position)| {
                self.left.get(*position).map(|left| (set.as_str(), counter.as_str(), left))
            })
        })
    }

    /// What each counter has left.
    pub(crate) fn all_left(&self) -> &[Quantity] {
        &self.left
    }
}
