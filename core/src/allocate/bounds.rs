//! Necessary conditions: what shows, without search, that no assignment exists.
//!
//! Each one drops a requirement (which device goes where, all constraints but one, which counter set a device draws from) and asks
//! whether even the rest can be met. So a "no" is a proof, and skipping the search keeps the answer. They apply only where no
//! try can be an error: otherwise the search might meet the error before it runs out of devices.

use std::collections::{BTreeMap, BTreeSet};

use super::constraints::Held;
use super::flow::{Demand, Supply, can_meet};
use super::outlook::{Classes, Outlook, Outlooks};
use super::pick::State;
use super::plan::{Plan, RequestPlan, Unit};
use super::pools::NodeView;
use super::precheck::Need;
use crate::api::quantity::Quantity;
use crate::bits::Bits;
use crate::gather::Gather;

/// By row of the table of values, and by value: devices.
type Holders = Vec<(usize, Vec<Bits>)>;

fn of_row(holders: &Holders, row: usize, value: usize) -> Option<&Bits> {
    holders.iter().find(|(other, _)| *other == row).and_then(|(_, of_row)| of_row.get(value))
}

/// What is known about a node before the search.
pub(super) struct Bounds<'s, 'c> {
    pub(super) plan: &'s Plan<'c>,
    pub(super) view: &'s NodeView<'c>,
    pub(super) needs: &'s [Need],
    /// Narrowed down while devices and units turn out to be impossible.
    pub(super) outlooks: &'s mut Outlooks,
    /// Units that cannot be satisfied.
    pub(super) is_dead: Vec<bool>,
    /// Classes of devices by request, as in [`Classes::of_later_requests`]; there unless some request is hopeless by itself.
    pub(super) classes: Vec<Classes>,
    /// By unit: devices that it can pick.
    usable: Vec<Bits>,
    /// Devices that several claims may share.
    shared: Bits,
    /// Whether something turned out to be impossible since this was last cleared.
    has_changed: bool,
}

impl<'s, 'c> Bounds<'s, 'c> {
    pub(super) fn new(
        plan: &'s Plan<'c>,
        view: &'s NodeView<'c>,
        needs: &'s [Need],
        outlooks: &'s mut Outlooks,
    ) -> Self {
        let devices = view.devices.len();
        let usable =
            |unit: usize| (0..devices).filter(|at| outlooks.grid.get(unit, *at) == Outlook::Usable).collect::<Bits>();
        let usable = (0..plan.units.len()).map(usable).collect();
        let shared = view.devices.iter().enumerate().filter(|(_, device)| device.is_shared).map(|(at, _)| at).collect();
        Self {
            plan,
            view,
            needs,
            outlooks,
            is_dead: vec![false; plan.units.len()],
            classes: Vec::new(),
            usable,
            shared,
            has_changed: false,
        }
    }

    /// Whether some request can never be satisfied. Marks units and devices that cannot be part of a solution.
    pub(super) fn is_hopeless(&mut self, state: &mut State<'_, 'c>) -> bool {
        // Each round can only remove; a second one catches what one removal does to the others. A single constraint has said all
        // that it has to say unless a unit became impossible.
        for _ in 0..2 {
            self.has_changed = false;
            self.count();
            if self.plan.requests.iter().any(|request| self.live(request).next().is_none()) {
                return true;
            }
            if self.narrow_values(state) {
                return true;
            }
            if !self.has_changed || (state.constraints() <= 1 && !self.loses_units()) {
                break;
            }
        }
        self.count();
        self.plan.requests.iter().any(|request| self.live(request).next().is_none())
            || self.lacks_devices()
            || self.lacks_counters(state)
    }

    /// Whether a unit turns out to be impossible now.
    fn loses_units(&mut self) -> bool {
        self.has_changed = false;
        self.count();
        self.has_changed
    }

    /// The units of a request that are still possible.
    fn live(&self, request: &RequestPlan<'c>) -> impl Iterator<Item = &Unit<'c>> {
        let units = self.plan.units_of(request).iter();
        units.filter(|unit| !self.is_dead.get(unit.index).copied().unwrap_or_default())
    }

    fn usable(&self, unit: usize) -> impl Iterator<Item = usize> {
        self.usable.get(unit).into_iter().flat_map(Bits::iter)
    }

    fn need(&self, unit: usize) -> u64 {
        self.needs.get(unit).map_or(0, |need| need.count)
    }

    /// A unit needs at least as many usable devices as it asks for; mode `All` at least one, and none in the way.
    fn count(&mut self) {
        for unit in &self.plan.units {
            let is_fixed = self.needs.get(unit.index).is_some_and(|need| need.all.is_some());
            let count = self.usable.get(unit.index).map_or(0, Bits::count);
            let is_dead = count < self.need(unit.index) || (is_fixed && count == 0);
            if let Some(dead) = self.is_dead.get_mut(unit.index) {
                self.has_changed |= is_dead && !*dead;
                *dead |= is_dead;
            }
        }
    }

    /// Requests of which every possible unit is under a constraint, so that the constraint must hold for them.
    fn bound_requests(&self, constraint: usize) -> Vec<usize> {
        let is_bound = |request: &RequestPlan<'c>| {
            self.live(request).all(|unit| self.outlooks.constraints_of(unit.index).contains(&constraint))
        };
        let requests = self.plan.requests.iter().enumerate();
        requests.filter(|(_, request)| is_bound(request)).map(|(index, _)| index).collect()
    }

    /// Looks at each constraint alone. True when one of them cannot be met.
    fn narrow_values(&mut self, state: &mut State<'_, 'c>) -> bool {
        (0..state.constraints()).any(|constraint| {
            let bound = self.bound_requests(constraint);
            if state.is_match(constraint) {
                self.narrow_match(state, constraint, &bound)
            } else {
                self.lacks_values(state, constraint, &bound)
            }
        })
    }

    /// `matchAttribute`: all devices hold one common value, so each request needs enough devices of that value. Devices
    /// without such a value are set aside.
    fn narrow_match(&mut self, state: &mut State<'_, 'c>, constraint: usize, bound: &[usize]) -> bool {
        let takes_some = |request: &&usize| {
            let request = self.plan.requests.get(**request);
            request.is_some_and(|request| self.live(request).all(|unit| self.need(unit.index) > 0))
        };
        let bound: Vec<usize> = bound.iter().filter(takes_some).copied().collect();
        if bound.is_empty() {
            return false;
        }
        let holders = self.holders(state, constraint);
        let mut allowed: Vec<(usize, Bits)> = holders.iter().map(|(row, _)| (*row, Bits::default())).collect();
        let mut has_value = false;
        for value in 0..state.values() {
            if self.suffices(constraint, &bound, &holders, value) {
                has_value = true;
                for (row, allowed) in &mut allowed {
                    of_row(&holders, *row, value).into_iter().for_each(|devices| allowed.extend(devices));
                }
            }
        }
        if self.has_strange(constraint, &bound) {
            return false;
        }
        if !has_value {
            return true;
        }
        let units: Vec<usize> = bound
            .iter()
            .filter_map(|request| self.plan.requests.get(*request))
            .flat_map(|request| request.units.clone())
            .filter(|unit| self.needs.get(*unit).is_some_and(|need| need.all.is_none()))
            .filter(|unit| self.outlooks.constraints_of(*unit).contains(&constraint))
            .collect();
        for unit in units {
            let row = self.outlooks.row(unit, constraint);
            let allowed = allowed.iter().find(|(other, _)| Some(*other) == row);
            let is_refused = |position: &usize| !allowed.is_some_and(|(_, allowed)| allowed.contains(*position));
            let refused: Vec<usize> = self.usable(unit).filter(is_refused).collect();
            self.has_changed |= !refused.is_empty();
            for position in refused {
                self.outlooks.grid.set(unit, position, Outlook::Never);
                if let Some(usable) = self.usable.get_mut(unit) {
                    usable.remove(position);
                }
            }
        }
        false
    }

    /// By row of the table of values, and by value: the devices that hold it.
    fn holders(&self, state: &State<'_, 'c>, constraint: usize) -> Holders {
        let mut holders = Holders::new();
        for row in self.plan.units.iter().filter_map(|unit| self.outlooks.row(unit.index, constraint)) {
            if holders.iter().any(|(known, _)| *known == row) {
                continue;
            }
            let mut of_row = vec![Bits::default(); state.values()];
            for position in 0..self.view.devices.len() {
                for item in state.items(self.outlooks.held(row, position)) {
                    if let Some(devices) = of_row.get_mut(*item as usize) {
                        devices.insert(position);
                    }
                }
            }
            holders.push((row, of_row));
        }
        holders
    }

    /// A value of no known type is a value of its own for the first device; such devices are left to the search.
    fn has_strange(&self, constraint: usize, bound: &[usize]) -> bool {
        let mut units =
            bound.iter().filter_map(|request| self.plan.requests.get(*request)).flat_map(|r| r.units.clone());
        units.any(|unit| {
            let row = self.outlooks.row(unit, constraint);
            let is_strange = |row, at| self.outlooks.held(row, at) == Held::Strange;
            row.is_some_and(|row| self.usable(unit).any(|at| is_strange(row, at)))
        })
    }

    /// Whether every request finds enough devices among those that hold a value, and all together too.
    fn suffices(&self, constraint: usize, bound: &[usize], holders: &Holders, value: usize) -> bool {
        let mut least = 0;
        let mut together = Bits::default();
        for request in bound.iter().filter_map(|request| self.plan.requests.get(*request)) {
            let mut fewest = u64::MAX;
            for unit in self.live(request) {
                let row = self.outlooks.row(unit.index, constraint);
                let holders = row.and_then(|row| of_row(holders, row, value));
                let (Some(usable), Some(holders)) = (self.usable.get(unit.index), holders) else {
                    continue;
                };
                let is_fixed = self.needs.get(unit.index).is_some_and(|need| need.all.is_some());
                // Mode `All` under a constraint is never error-free, so it does not get here; exact otherwise.
                if usable.count_common(holders) >= self.need(unit.index) && !is_fixed {
                    fewest = fewest.min(self.need(unit.index));
                    together.extend_common(usable, holders);
                }
            }
            if fewest == u64::MAX {
                return false;
            }
            if !self.shares_devices(request) {
                least += fewest;
            }
        }
        together.count() >= least
    }

    /// Whether units of a request may pick a device that another request has: with admin access, or a shared one.
    fn shares_devices(&self, request: &RequestPlan<'c>) -> bool {
        self.live(request).any(|unit| {
            unit.has_admin_access() || self.usable.get(unit.index).is_some_and(|usable| usable.meets(&self.shared))
        })
    }

    /// `distinctAttribute`: every device brings at least one value of its own, so there must be as many values as devices.
    fn lacks_values(&self, state: &State<'_, 'c>, constraint: usize, bound: &[usize]) -> bool {
        let mut values: BTreeSet<u32> = BTreeSet::new();
        let mut least: u64 = 0;
        for request in bound.iter().filter_map(|request| self.plan.requests.get(*request)) {
            least += self.live(request).map(|unit| self.need(unit.index)).min().unwrap_or(0);
            for unit in self.live(request) {
                let Some(row) = self.outlooks.row(unit.index, constraint) else {
                    continue;
                };
                for position in self.usable(unit.index) {
                    values.extend(state.items(self.outlooks.held(row, position)));
                }
            }
        }
        // The first device may have a value of no known type.
        !self.has_strange(constraint, bound) && u64::try_from(values.len()).unwrap_or(u64::MAX) < least
    }

    /// Whether the requests cannot all get their number of devices at once, constraints left aside.
    fn lacks_devices(&mut self) -> bool {
        self.classes = Classes::of_later_requests(self.plan, self.outlooks);
        let Some(classes) = self.classes.first() else {
            return false;
        };
        let mut supplies = vec![Supply { count: 0, is_shared: false }; classes.count];
        for (position, device) in self.view.devices.iter().enumerate() {
            if let Some(supply) = classes.of(position).and_then(|class| supplies.get_mut(class as usize)) {
                supply.count += 1;
                supply.is_shared |= device.is_shared;
            }
        }
        let mut demands = Vec::new();
        for request in &self.plan.requests {
            if self.live(request).any(Unit::has_admin_access) {
                continue;
            }
            let count = self.live(request).map(|unit| self.need(unit.index)).min().unwrap_or(0);
            let usable = self.live(request).flat_map(|unit| self.usable(unit.index));
            let reachable: Bits =
                usable.filter_map(|position| classes.of(position)).map(|class| class as usize).collect();
            demands.push(Demand { count, classes: reachable.iter().collect() });
        }
        !can_meet(&demands, &supplies)
    }

    /// Whether even the least that the requests draw from counters of one name in one pool is more than all its sets have left.
    fn lacks_counters(&self, state: &mut State<'_, 'c>) -> bool {
        let mut drawn: BTreeMap<(usize, &'c str), Quantity> = BTreeMap::new();
        for request in &self.plan.requests {
            let mut least: Option<BTreeMap<(usize, &'c str), Quantity>> = None;
            for unit in self.live(request) {
                for position in self.usable(unit.index) {
                    let draws = self.draws(position, self.need(unit.index));
                    least = Some(match least {
                        None => draws,
                        Some(least) => smaller(least, &draws),
                    });
                    if least.as_ref().is_some_and(BTreeMap::is_empty) {
                        break;
                    }
                }
            }
            for (counter, amount) in least.unwrap_or_default() {
                let sum = drawn.entry(counter).or_default();
                *sum = sum.saturating_add(&amount);
            }
        }
        drawn.iter().any(|((pool, counter), amount)| state.counters_left(*pool, counter) < *amount)
    }

    /// What `count` devices like this one draw, by pool and counter, all sets together. Shares draw only once.
    fn draws(&self, position: usize, count: u64) -> BTreeMap<(usize, &'c str), Quantity> {
        let mut draws: BTreeMap<(usize, &'c str), Quantity> = BTreeMap::new();
        let Some(device) = self.view.devices.get(position).filter(|device| !device.is_shared && count > 0) else {
            return draws;
        };
        for consumption in &device.device.consumes_counters {
            for (name, counter) in &consumption.counters {
                let sum = draws.entry((device.pool, name)).or_default();
                for _ in 0..count.min(super::failure::MOST_DEVICES) {
                    *sum = sum.saturating_add(&counter.value);
                }
            }
        }
        draws
    }
}

/// The smaller amount of each counter; a counter that one of them does not draw from is left out.
fn smaller<K: Ord + Copy>(a: BTreeMap<K, Quantity>, b: &BTreeMap<K, Quantity>) -> BTreeMap<K, Quantity> {
    a.into_iter().filter_map(|(key, amount)| Some((key, amount.min(b.get(&key)?.clone())))).gather()
}
