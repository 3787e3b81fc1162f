//! What each device is to each unit before anything is picked, and which devices are alike.

use std::collections::BTreeMap;

use super::constraints::Held;
use super::pick::State;
use super::plan::{Plan, RequestPlan};
use super::pools::NodeView;
use super::precheck::{Need, Stop};
use super::select::{Verdict, Verdicts};
use super::{Budget, Grid};

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
    /// What each device has for each constraint; `Unread` where no unit that can get it is covered.
    pub(super) held: Grid<Held>,
    /// By device: what it draws from which pool; zero for nothing.
    draws: Vec<u32>,
    /// By device: what its shares depend on; zero for a device that is not shared.
    shares: Vec<u32>,
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
        let constraints = plan.claims.iter().map(|claim| claim.claim.spec.devices.constraints.len()).sum();
        let mut outlooks = Self {
            grid: Grid::new(plan.units.len(), devices),
            held: Grid::new(constraints, devices),
            draws: Vec::with_capacity(devices),
            shares: Vec::with_capacity(devices),
            is_special: vec![false; devices],
            is_error_free: true,
            constraints_by_unit: plan.units.iter().map(|unit| state.constraints_of(unit).to_vec()).collect(),
        };
        for unit in &plan.units {
            let fixed = needs.get(unit.index).and_then(|need| need.all.as_ref());
            let is_covered = !state.constraints_of(unit).is_empty();
            for position in 0..devices {
                budget.step()?;
                let outlook = match fixed {
                    // Positions of fixed devices are in ascending order.
                    Some(fixed) if fixed.binary_search(&position).is_err() => Outlook::Never,
                    Some(_) if state.is_usable(unit, position) => Outlook::Usable,
                    Some(_) => Outlook::Missing,
                    None if state.is_in_use(unit, position) => Outlook::Never,
                    None => match verdicts.verdict(unit, position) {
                        Verdict::Failed => Outlook::Fails,
                        Verdict::Accepted if state.is_usable(unit, position) => Outlook::Usable,
                        Verdict::Accepted | Verdict::Refused | Verdict::Unknown => Outlook::Never,
                    },
                };
                outlooks.grid.set(unit.index, position, outlook);
                if outlook == Outlook::Fails || (fixed.is_some() && is_covered && outlook != Outlook::Never) {
                    outlooks.is_error_free = false;
                    if let Some(special) = outlooks.is_special.get_mut(position) {
                        *special |= fixed.is_some();
                    }
                }
                if outlook != Outlook::Never {
                    for constraint in state.constraints_of(unit).to_vec() {
                        outlooks.held.set(constraint, position, state.held(constraint, position));
                    }
                }
            }
        }
        outlooks.describe(view);
        Ok(outlooks)
    }

    /// Numbers what devices draw and what their shares depend on; equal descriptions get equal numbers.
    fn describe(&mut self, view: &NodeView<'_>) {
        let mut known: BTreeMap<String, u32> = BTreeMap::new();
        let mut number = |text: String| {
            let next = u32::try_from(known.len() + 1).unwrap_or(u32::MAX);
            *known.entry(text).or_insert(next)
        };
        for device in &view.devices {
            let consumes = &device.device.consumes_counters;
            self.draws.push(if consumes.is_empty() { 0 } else { number(format!("{} {consumes:?}", device.pool)) });
            self.shares.push(if device.is_shared {
                number(format!("{:?} {:?}", device.device.capacity, device.usage))
            } else {
                0
            });
        }
    }

    /// All that one request can see of a device; `None` when it never picks it.
    fn seen_by(&self, plan: &Plan<'_>, request: &RequestPlan<'_>, position: usize) -> Option<Vec<u32>> {
        let mut seen = Vec::new();
        let mut is_seen = false;
        for unit in plan.units_of(request) {
            let outlook = self.grid.get(unit.index, position);
            seen.push(outlook as u32);
            if outlook != Outlook::Never {
                is_seen = true;
                let covering = self.constraints_of(unit.index).iter();
                seen.extend(covering.map(|constraint| self.held.get(*constraint, position).number()));
            }
        }
        is_seen.then_some(seen)
    }

    /// What every request sees of a device that it can pick.
    fn nature(&self, position: usize) -> [u32; 3] {
        let of = |list: &Vec<u32>| list.get(position).copied().unwrap_or_default();
        let is_special = self.is_special.get(position).copied().unwrap_or_default();
        let own = if is_special { u32::try_from(position).unwrap_or(u32::MAX).saturating_add(1) } else { 0 };
        [of(&self.draws), of(&self.shares), own]
    }

    /// Which constraints cover a unit.
    pub(super) fn constraints_of(&self, unit: usize) -> &[usize] {
        self.constraints_by_unit.get(unit).map_or(&[], Vec::as_slice)
    }

    /// Whether the device draws from counters.
    pub(super) fn draws(&self, position: usize) -> bool {
        self.draws.get(position).is_some_and(|draws| *draws != 0)
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

/// The class as later requests see the device, what every request sees, what this request sees.
type Signature = (Option<u32>, [u32; 3], Option<Vec<u32>>);

impl Classes {
    /// Classes as all requests of the question see them.
    pub(super) fn of_all_requests(plan: &Plan<'_>, outlooks: &Outlooks) -> Self {
        Self::of_later_requests(plan, outlooks).into_iter().next().unwrap_or_default()
    }

    /// By request: classes as that one and all later ones see them.
    pub(super) fn of_later_requests(plan: &Plan<'_>, outlooks: &Outlooks) -> Vec<Self> {
        let mut later = Self { by_device: vec![None; outlooks.draws.len()], count: 0 };
        let mut all = Vec::with_capacity(plan.requests.len());
        for request in plan.requests.iter().rev() {
            // A class is what the request sees together with the class for those after it.
            let mut known: BTreeMap<Signature, u32> = BTreeMap::new();
            let mut by_device = Vec::with_capacity(later.by_device.len());
            for (position, after) in later.by_device.iter().enumerate() {
                let seen = outlooks.seen_by(plan, request, position);
                by_device.push((seen.is_some() || after.is_some()).then(|| {
                    let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
                    *known.entry((*after, outlooks.nature(position), seen)).or_insert(next)
                }));
            }
            later = Self { by_device, count: known.len() };
            all.push(later.clone());
        }
        all.reverse();
        all
    }

    /// The class of a device.
    pub(super) fn of(&self, position: usize) -> Option<u32> {
        self.by_device.get(position).copied().flatten()
    }
}
