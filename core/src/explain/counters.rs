//! Devices that are free one by one, and draw more of a shared counter together than it has.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::holders::{Held, in_words, of_counter};
use super::plain::noun;
use super::survey::Survey;
use super::words::plural;
use crate::allocate::DeviceId;
use crate::allocate::inspect::{DeviceSeen, NodeSeen, Observer, Obstacle, UnitSeen, inspect};
use crate::api::quantity::Quantity;
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::cluster::left::left_in;
use crate::gather::Gather;

/// A counter of all sets of a pool: driver, pool and name.
type Counter = (String, String, String);

/// What usable devices of one node draw, by unit and device.
struct Draws<'s> {
    units: &'s [UnitSeen],
    needs: Vec<u64>,
    by_unit: Vec<Vec<BTreeMap<Counter, Quantity>>>,
    /// A set and a device that draws from it, by counter.
    sets: BTreeMap<Counter, BTreeMap<String, DeviceId>>,
}

impl Observer for Draws<'_> {
    fn node(&mut self, node: &NodeSeen<'_>) -> bool {
        self.needs.clone_from(&node.needs);
        true
    }

    fn device(&mut self, unit: usize, device: &DeviceSeen<'_, '_>, obstacles: &[Obstacle<'_>]) {
        let competes = self.units.get(unit).is_some_and(|unit| unit.sub.is_none() && !unit.has_admin_access);
        let Some(of_unit) = self.by_unit.get_mut(unit).filter(|_| competes && obstacles.is_empty()) else { return };
        let mut draws: BTreeMap<Counter, Quantity> = BTreeMap::new();
        let (driver, pool) = (&device.slice.spec.driver, &device.slice.spec.pool.name);
        for consumption in &device.device.consumes_counters {
            // What depends on the request counts as nothing: less is never said to be too much.
            for (name, drawn) in consumption.counters.iter().filter(|(_, drawn)| drawn.value_from.is_none()) {
                let counter = (driver.clone(), pool.clone(), name.clone());
                let sum = draws.entry(counter.clone()).or_default();
                *sum = sum.saturating_add(&drawn.value);
                let sets = self.sets.entry(counter).or_default();
                let id = || DeviceId::of(device.slice, device.device);
                sets.entry(consumption.counter_set.clone()).or_insert_with(id);
            }
        }
        of_unit.push(draws);
    }
}

/// The sentence for the nearest node, where one counter is too small for any choice of devices there: `asks for 2 GPUs on one node;
/// those of `n` draw at least 100Gi of the shared counter `memory`, 80Gi is left`.
pub(super) fn overdrawn(cluster: &mut Cluster, case: &Case, survey: &Survey) -> Option<String> {
    let node = survey.closest()?.name;
    let (needs, by_unit, sets) = (Vec::new(), vec![Vec::new(); survey.units.len()], BTreeMap::new());
    let mut draws = Draws { units: &survey.units, needs, by_unit, sets };
    inspect(cluster, &case.question.on(vec![node.clone()]), &mut draws);
    let (counter, least, left) = draws.sets.keys().find_map(|counter| {
        let of_pool = left_in(cluster, &counter.0, &counter.1);
        let of_counter = of_pool.iter().filter(|left| left.is_counter && left.name == counter.2);
        let left = of_counter.fold(Quantity::default(), |sum, one| match one.left.signum() {
            sign if sign > 0 => sum.saturating_add(&one.left),
            _ => sum,
        });
        let least = draws.least(counter);
        (least > left).then_some((counter, least, left))
    })?;
    let held = case.held.get_or_init(|| Held::of(cluster));
    let sets = draws.sets.get(counter).into_iter().flatten();
    let mut holders: Vec<_> =
        sets.flat_map(|(set, id)| of_counter(cluster, held, id, &format!("{set}/{}", counter.2))).collect();
    holders.arrange();
    holders.dedup();
    let by = if holders.is_empty() { String::new() } else { format!("; the rest is in use by {}", in_words(&holders)) };
    let nouns: BTreeSet<&str> = survey.units.iter().map(|unit| noun(&unit.class)).gather();
    let noun = nouns.first().filter(|_| nouns.len() == 1).copied().unwrap_or("device");
    let needed = draws.needs.iter().fold(0u64, |sum, needed| sum.saturating_add(*needed));
    let what = plural(needed, noun);
    let name = &counter.2;
    Some(format!(
        "asks for {what} on one node; those of `{node}` draw at least {least} of the shared counter `{name}`, {left} is left{by}"
    ))
}

impl Draws<'_> {
    /// The least that the devices for all units can draw from a counter.
    fn least(&self, counter: &Counter) -> Quantity {
        let mut least = Quantity::default();
        for (needed, devices) in self.needs.iter().zip(&self.by_unit) {
            let mut drawn: Vec<Quantity> =
                devices.iter().map(|draws| draws.get(counter).cloned().unwrap_or_default()).collect();
            drawn.arrange_by(|one, other| one.cmp(other));
            let needed = usize::try_from(*needed).unwrap_or(usize::MAX);
            least = drawn.iter().take(needed).fold(least, |sum, one| sum.saturating_add(one));
        }
        least
    }
}
