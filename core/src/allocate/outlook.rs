//! What each device is to each unit before anything is picked, and which devices are alike.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::constraints::Held;
use super::pick::State;
use super::plan::{Plan, Unit};
use super::pools::NodeView;
use super::precheck::{Need, Stop};
use super::select::{Verdict, Verdicts};
use super::{Budget, Grid};
use crate::bits::Bits;

/// What a device is to a unit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Outlook {
    /// Never picked, whatever else is.
    #[default]
    Never,
    /// One of the fixed devices of mode `All`, and in the way: it can never be picked.
    Missing,
    /// Trying it is an error.
    Fails,
    /// Can be picked if what is picked before leaves it.
    Usable,
}

/// The outlook of every device for every unit, with all that the rest of a search can see of a device.
pub(super) struct Outlooks {
    pub(super) grid: Grid<Outlook>,
    /// What each device has for each constraint, as units with one way of looking see it; `Unread` where none of these can get it.
    held: Grid<Held>,
    /// By unit: the row in that for each constraint that covers it.
    rows_by_unit: Vec<Vec<usize>>,
    /// By device: what every request sees that can pick it: what it draws from which pool, and what its shares depend on. Zero for a
    /// device that does not draw and is not shared.
    natures: Vec<u32>,
    /// Devices that draw from counters.
    draws: Bits,
    /// Devices whose order among fixed devices matters, because one of them may break a constraint.
    is_special: Vec<bool>,
    /// Whether no try can be an error.
    pub(super) is_error_free: bool,
    constraints_by_unit: Vec<Vec<usize>>,
}

impl Outlooks {
    /// Looks at every device for every unit. Selectors are evaluated, their errors only noted.
    ///
    /// # Errors
    ///
    /// The step limit: each pair is one step.
    pub(super) fn new<'c>(
        plan: &Plan<'c>,
        view: &NodeView<'c>,
        needs: &[Need],
        state: &mut State<'_, 'c>,
        verdicts: &mut Verdicts<'_, 'c>,
        budget: &mut Budget,
    ) -> Result<Self, Stop> {
        let devices = view.devices.len();
        // Units see the same of a device unless they compute it in different ways.
        let mut rows: Vec<(usize, Option<&str>)> = Vec::new();
        let mut rows_of = |unit: &Unit<'c>| -> Vec<usize> {
            let looks = state.constraints_of(unit).iter().map(|at| (*at, state.expression(*at, unit)));
            let row = |look| {
                rows.iter().position(|known| *known == look).unwrap_or_else(|| {
                    rows.push(look);
                    rows.len() - 1
                })
            };
            looks.map(row).collect()
        };
        let rows_by_unit = plan.units.iter().map(&mut rows_of).collect();
        let mut outlooks = Self {
            grid: Grid::new(plan.units.len(), devices),
            held: Grid::new(rows.len(), devices),
            rows_by_unit,
            natures: Vec::with_capacity(devices),
            draws: Bits::default(),
            is_special: vec![false; devices],
            is_error_free: true,
            constraints_by_unit: plan.units.iter().map(|unit| state.constraints_of(unit).to_vec()).collect(),
        };
        for unit in &plan.units {
            let fixed = needs.get(unit.index).and_then(|need| need.all.as_ref());
            let is_covered = !outlooks.constraints_of(unit.index).is_empty();
            for position in 0..devices {
                budget.step(verdicts)?;
                let outlook = match fixed {
                    // Positions of fixed devices are in ascending order.
                    Some(fixed) if fixed.binary_search(&position).is_err() => Outlook::Never,
                    Some(_) if state.is_usable(unit, position) => Outlook::Usable,
                    Some(_) => Outlook::Missing,
                    None if state.is_in_use(unit, position) => Outlook::Never,
                    None => match verdicts.verdict(unit, position) {
                        Verdict::Failed => Outlook::Fails,
                        Verdict::Accepted if state.capacity_problem(unit, position).is_some() => Outlook::Fails,
                        Verdict::Accepted if state.is_usable(unit, position) => Outlook::Usable,
                        Verdict::Accepted | Verdict::Refused | Verdict::Unknown => Outlook::Never,
                    },
                };
                let outlook = outlooks.look(unit, position, outlook, state, verdicts);
                outlooks.grid.set(unit.index, position, outlook);
                if outlook == Outlook::Fails || (fixed.is_some() && is_covered && outlook != Outlook::Never) {
                    outlooks.is_error_free = false;
                    if let Some(special) = outlooks.is_special.get_mut(position) {
                        *special |= fixed.is_some();
                    }
                }
            }
        }
        outlooks.describe(view);
        Ok(outlooks)
    }

    /// Notes what constraints see of a device that a unit may pick. Trying it is an error where that cannot be computed, unless
    /// something else refuses it first.
    fn look<'c>(
        &mut self,
        unit: &Unit<'c>,
        position: usize,
        outlook: Outlook,
        state: &mut State<'_, 'c>,
        verdicts: &mut Verdicts<'_, 'c>,
    ) -> Outlook {
        if outlook == Outlook::Never {
            return outlook;
        }
        if state.wants(unit, position) {
            let derived = verdicts.derive(unit, position);
            state.learn(unit, position, derived);
        }
        let mut seen = outlook;
        let pairs = self.constraints_by_unit.get(unit.index).zip(self.rows_by_unit.get(unit.index));
        for (constraint, row) in pairs.into_iter().flat_map(|(constraints, rows)| constraints.iter().zip(rows)) {
            match state.held(unit, *constraint, position) {
                Some(held) => self.held.set(*row, position, held),
                None => seen = Outlook::Fails,
            }
        }
        seen
    }

    /// Numbers what devices are by themselves; equal devices get equal numbers.
    fn describe(&mut self, view: &NodeView<'_>) {
        let mut known: BTreeMap<String, u32> = BTreeMap::new();
        for (position, device) in view.devices.iter().enumerate() {
            let consumes = &device.device.consumes_counters;
            let is_special = self.is_special.get(position).copied().unwrap_or_default();
            if !consumes.is_empty() {
                self.draws.insert(position);
            }
            if consumes.is_empty() && !device.is_shared && !is_special {
                self.natures.push(0);
                continue;
            }
            let mut text = String::new();
            // Writing to a string cannot fail.
            if !consumes.is_empty() {
                let _ = write!(text, "{} {consumes:?}", device.pool);
            }
            if device.is_shared || device.device.capacity_keys().next().is_some() {
                let _ = write!(text, "|{:?} {:?}", device.device.capacity, device.usage);
            }
            if is_special {
                let _ = write!(text, "|{position}");
            }
            let next = u32::try_from(known.len() + 1).unwrap_or(u32::MAX);
            self.natures.push(*known.entry(text).or_insert(next));
        }
    }

    /// Which constraints cover a unit.
    pub(super) fn constraints_of(&self, unit: usize) -> &[usize] {
        self.constraints_by_unit.get(unit).map_or(&[], Vec::as_slice)
    }

    /// Where in the table of values what a unit sees for each of those stands.
    pub(super) fn rows_of(&self, unit: usize) -> &[usize] {
        self.rows_by_unit.get(unit).map_or(&[], Vec::as_slice)
    }

    /// Where in the table of values what a unit sees for a constraint stands.
    pub(super) fn row(&self, unit: usize, constraint: usize) -> Option<usize> {
        let mut pairs = self.constraints_of(unit).iter().zip(self.rows_of(unit));
        pairs.find(|(own, _)| **own == constraint).map(|(_, row)| *row)
    }

    /// What stands at a row for a device.
    pub(super) fn held(&self, row: usize, position: usize) -> Held {
        self.held.get(row, position)
    }

    /// Whether the device draws from counters.
    pub(super) fn draws(&self, position: usize) -> bool {
        self.draws.contains(position)
    }
}

/// Devices that can stand for each other: exchanging two of one class turns any search by the requests in question into an equal one.
#[derive(Clone, Default)]
pub(super) struct Classes {
    /// By device: its class; `None` when no request in question can pick it.
    by_device: Vec<Option<u32>>,
    /// Number of classes.
    pub(super) count: usize,
}

impl Classes {
    /// By request: classes as that one and all later ones see them.
    pub(super) fn of_later_requests(plan: &Plan<'_>, outlooks: &Outlooks) -> Vec<Self> {
        let mut later = Self { by_device: vec![None; outlooks.natures.len()], count: 0 };
        let mut all = Vec::with_capacity(plan.requests.len());
        for request in plan.requests.iter().rev() {
            later.split(plan.units_of(request), outlooks);
            all.push(later.clone());
        }
        all.reverse();
        all
    }

    /// Tells apart what one more request can tell apart. Devices that it never picks stay in their classes, the others get new ones.
    fn split(&mut self, units: &[Unit<'_>], outlooks: &Outlooks) {
        // Each step goes from what was seen so far to what is seen with one more thing; the numbers of these are local.
        let mut steps: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut numbers: Vec<Option<u32>> = Vec::new();
        let first_new = u32::try_from(self.count).unwrap_or(u32::MAX);
        for (position, class) in self.by_device.iter_mut().enumerate() {
            if units.iter().all(|unit| outlooks.grid.get(unit.index, position) == Outlook::Never) {
                continue;
            }
            let mut go = |from: u32, seen: u32| {
                let next = first_new.saturating_add(2).saturating_add(u32::try_from(steps.len()).unwrap_or(u32::MAX));
                *steps.entry((from, seen)).or_insert(next)
            };
            let nature = outlooks.natures.get(position).copied().unwrap_or_default();
            // What later requests see has the nature in it already.
            let mut seen = class.map_or_else(|| go(0, nature), |class| class.saturating_add(1));
            for unit in units {
                let outlook = outlooks.grid.get(unit.index, position);
                seen = go(seen, outlook as u32);
                if outlook != Outlook::Never {
                    for row in outlooks.rows_of(unit.index) {
                        seen = go(seen, outlooks.held(*row, position).number());
                    }
                }
            }
            let local = seen.saturating_sub(first_new) as usize;
            if numbers.len() <= local {
                numbers.resize(local + 1, None);
            }
            if let Some(slot) = numbers.get_mut(local) {
                *class = Some(*slot.get_or_insert_with(|| {
                    self.count += 1;
                    u32::try_from(self.count - 1).unwrap_or(u32::MAX)
                }));
            }
        }
    }

    /// The class of a device.
    pub(super) fn of(&self, position: usize) -> Option<u32> {
        self.by_device.get(position).copied().flatten()
    }
}
