//! What is left of a pool's counters (KEP-4815).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::quantity::Quantity;
use crate::api::slice::{Counter, CounterSet, Device};

/// What of a device's counters somebody draws.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws<'a> {
    /// Whether that is what the device draws whoever uses it; later shares of it do not.
    pub(crate) is_first: bool,
    /// What is drawn because of a request, by capacity (KEP-5941).
    pub(crate) requested: Option<&'a BTreeMap<String, Quantity>>,
}

/// The counters of one pool, with what each has left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// Position by counter set and counter.
    positions: Arc<BTreeMap<String, BTreeMap<String, usize>>>,
    /// The counters as they are published.
    counters: Arc<Vec<Counter>>,
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
        let mut counters = Vec::new();
        for set in sets {
            let of_set = positions.entry(set.name.clone()).or_default();
            for (name, counter) in &set.counters {
                of_set.insert(name.clone(), ledger.left.len());
                ledger.overdrawn += usize::from(counter.value.signum() < 0);
                ledger.left.push(counter.value.clone());
                counters.push(counter.clone());
            }
        }
        ledger.counters = Arc::new(counters);
        ledger.positions = Arc::new(positions);
        ledger
    }

    /// A counter as it is published.
    pub(crate) fn counter(&self, set: &str, counter: &str) -> Option<&Counter> {
        self.counters.get(*self.positions.get(set)?.get(counter)?)
    }

    /// Draws what a device consumes, or puts it back. A counter that the ledger does not have is passed over.
    pub(crate) fn draw(&mut self, device: &Device, draws: &Draws<'_>, is_taken: bool) {
        for consumption in &device.consumes_counters {
            let Some(of_set) = self.positions.get(&consumption.counter_set) else {
                continue;
            };
            for (name, counter) in &consumption.counters {
                let Some(left) = of_set.get(name).and_then(|position| self.left.get_mut(*position)) else {
                    continue;
                };
                let amount = match &counter.value_from {
                    None => Some(&counter.value).filter(|_| draws.is_first),
                    Some(from) => draws.requested.and_then(|requested| requested.get(&from.capacity_key)),
                };
                let Some(amount) = amount else {
                    continue;
                };
                self.overdrawn -= usize::from(left.signum() < 0);
                *left = if is_taken { left.saturating_sub(amount) } else { left.saturating_add(amount) };
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
