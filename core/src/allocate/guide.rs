//! What a search that has lost its way is told: where not to look.
//!
//! A plain search is given some patience. If it has to take back many picks, the node is looked at as a whole, and the search starts
//! again with this guide. Everything skipped holds no solution and no error that the plain search would have met, so the first event,
//! and with it the answer, stays the same:
//!
//! - **candidates**: devices that a unit can never pick are left out; those whose selectors fail are not.
//! - **equal devices**: after a device failed at a decision, so do the later ones with the same signature and state. Exchanging the two in
//!   a solution would give a solution with the device that failed.
//! - **dead ends**: a request is entered in a state that, as far as it and later requests can see, equals one that failed before.
//! - **bounds** ([`Bounds`]) and **jumps**: only where no try can be an error. When a request fails whatever is picked for it, decisions that
//!   neither it nor the requests tried after it can see are not revised: they would lead to the same failure.

use std::collections::{BTreeMap, BTreeSet};

use super::Budget;
use super::bounds::Bounds;
use super::failure::MOST_DEVICES;
use super::outlook::{Classes, Outlook, Outlooks};
use super::pick::State;
use super::plan::{Plan, RequestPlan};
use super::pools::NodeView;
use super::precheck::{Need, Stop};
use super::select::Verdicts;
use crate::bits::Bits;

/// How many dead ends are remembered on one node.
const MOST_DEAD_ENDS: usize = 100_000;

/// Where a search on a node need not look.
pub(super) struct Guide {
    outlooks: Outlooks,
    /// By unit: devices worth trying.
    candidates: Vec<Bits>,
    is_dead: Vec<bool>,
    /// By request: classes of devices as seen by it and later requests.
    classes: Vec<Classes>,
    /// By request: pools from whose counters it or a later request may draw.
    pools: Vec<Bits>,
    /// By request: earlier requests whose picks it can see.
    conflicts: Vec<Bits>,
    /// By claim: whether its requests can ask for more devices than a claim can have.
    is_crowded: Vec<bool>,
    may_jump: bool,
    dead_ends: BTreeMap<Vec<u32>, Bits>,
    /// Numbers for texts in descriptions of states.
    numbers: BTreeMap<String, u32>,
}

/// What looking at the node as a whole gives.
pub(super) enum Prospect {
    /// No assignment exists, and no search would meet an error.
    Hopeless,
    /// It takes a search.
    Open(Box<Guide>),
}

/// Looks at a node as a whole, before anything is picked.
///
/// # Errors
///
/// The step limit.
pub(super) fn prospect<'c>(
    plan: &Plan<'c>,
    view: &NodeView<'c>,
    needs: &[Need],
    state: &mut State<'_, 'c>,
    verdicts: &mut Verdicts<'_, 'c>,
    budget: &mut Budget,
) -> Result<Prospect, Stop> {
    let mut outlooks = Outlooks::new(plan, view, needs, state, verdicts, budget)?;
    let may_jump = outlooks.is_error_free;
    let mut is_dead = vec![false; plan.units.len()];
    let classes;
    if may_jump {
        let mut bounds = Bounds::new(plan, view, needs, &mut outlooks);
        if bounds.is_hopeless(state) {
            return Ok(Prospect::Hopeless);
        }
        (is_dead, classes) = (bounds.is_dead, bounds.classes);
    } else {
        classes = Classes::of_later_requests(plan, &outlooks);
    }
    let devices = view.devices.len();
    let candidates = |unit: usize| {
        let is_candidate = |at: &usize| matches!(outlooks.grid.get(unit, *at), Outlook::Usable | Outlook::Fails);
        (0..devices).filter(is_candidate).collect()
    };
    let is_crowded = |claim: &super::plan::ClaimPlan<'c>| {
        let most = |request: &RequestPlan<'c>| {
            let counts = request.units.clone().filter_map(|unit| needs.get(unit)).map(|need| need.count);
            u128::from(counts.max().unwrap_or(0))
        };
        plan.requests_of(claim).iter().map(most).sum::<u128>() > u128::from(MOST_DEVICES)
    };
    let mut guide = Guide {
        candidates: (0..plan.units.len()).map(candidates).collect(),
        is_dead,
        classes,
        pools: Vec::new(),
        conflicts: Vec::new(),
        is_crowded: plan.claims.iter().map(is_crowded).collect(),
        may_jump,
        dead_ends: BTreeMap::new(),
        numbers: BTreeMap::new(),
        outlooks,
    };
    guide.find_conflicts(plan, view);
    Ok(Prospect::Open(Box::new(guide)))
}

impl Guide {
    /// Which earlier requests' picks each request can see: through a device that both can pick, counters of one pool, a constraint or
    /// the number of devices of one claim.
    fn find_conflicts(&mut self, plan: &Plan<'_>, view: &NodeView<'_>) {
        let mut seen: Vec<(Bits, Bits, BTreeSet<usize>, usize)> = Vec::new();
        for request in &plan.requests {
            let (mut classes, mut pools) = (Bits::default(), Bits::default());
            let mut constraints = BTreeSet::new();
            let mut claim = 0;
            for unit in plan.units_of(request) {
                claim = unit.claim;
                constraints.extend(self.outlooks.constraints_of(unit.index).iter().copied());
                let seen =
                    (0..view.devices.len()).filter(|at| self.outlooks.grid.get(unit.index, *at) != Outlook::Never);
                for (position, device) in seen.filter_map(|at| Some((at, view.devices.get(at)?))) {
                    if let Some(class) = self.class(position) {
                        classes.insert(class as usize);
                    }
                    if self.outlooks.draws(position) {
                        pools.insert(device.pool);
                    }
                }
            }
            let is_crowded = self.is_crowded.get(claim).copied().unwrap_or_default();
            let mut earlier = Bits::default();
            for (index, (others, other_pools, other_constraints, other_claim)) in seen.iter().enumerate() {
                if classes.meets(others)
                    || pools.meets(other_pools)
                    || !constraints.is_disjoint(other_constraints)
                    || (claim == *other_claim && is_crowded)
                {
                    earlier.insert(index);
                }
            }
            self.conflicts.push(earlier);
            seen.push((classes, pools, constraints, claim));
        }
        let mut later = Bits::default();
        for (_, pools, _, _) in seen.iter().rev() {
            later.extend(pools);
            self.pools.push(later.clone());
        }
        self.pools.reverse();
    }

    /// The first of a unit's candidates from a position on.
    pub(super) fn candidate(&self, unit: usize, from: usize) -> Option<usize> {
        self.candidates.get(unit)?.next(from)
    }

    /// Whether a unit is known to be impossible.
    pub(super) fn is_dead(&self, unit: usize) -> bool {
        self.is_dead.get(unit).copied().unwrap_or_default()
    }

    /// The class of a device as all requests see it.
    pub(super) fn class(&self, position: usize) -> Option<u32> {
        self.classes.first().and_then(|classes| classes.of(position))
    }

    /// Whether decisions may be left as they are when a failure does not depend on them.
    pub(super) fn may_jump(&self) -> bool {
        self.may_jump
    }

    /// Earlier requests whose picks a request can see.
    pub(super) fn conflicts(&self, request: usize) -> Bits {
        self.conflicts.get(request).cloned().unwrap_or_default()
    }

    /// Describes the state in which a request is entered by all that it and later requests can see of it.
    pub(super) fn describe(
        &mut self,
        plan: &Plan<'_>,
        state: &State<'_, '_>,
        request: usize,
        claim: usize,
        picked: impl Iterator<Item = usize>,
        results: u64,
    ) -> Vec<u32> {
        let mut key = vec![u32::try_from(request).unwrap_or(u32::MAX)];
        let classes = self.classes.get(request);
        let mut touched = Vec::new();
        for position in picked.collect::<BTreeSet<usize>>() {
            if let Some(class) = classes.and_then(|classes| classes.of(position)) {
                let share = state.share_text(position).map(|text| number(&mut self.numbers, text));
                touched.push((class, state.holder(position, claim), share.unwrap_or(0)));
            }
        }
        touched.sort_unstable();
        for (class, holder, share) in touched {
            key.extend([class, holder, share]);
        }
        key.push(u32::MAX);
        let pools = self.pools.get(request);
        key.push(number(
            &mut self.numbers,
            state.counters_text(|pool| pools.is_some_and(|pools| pools.contains(pool))),
        ));
        for unit in plan.units.iter().filter(|unit| unit.claim == claim && unit.request >= request) {
            for constraint in self.outlooks.constraints_of(unit.index) {
                key.push(u32::try_from(*constraint).unwrap_or(u32::MAX));
                state.describe_constraint(*constraint, &mut key);
            }
        }
        if self.is_crowded.get(claim).copied().unwrap_or_default() {
            key.push(u32::try_from(results).unwrap_or(u32::MAX));
        }
        key
    }

    /// The requests to blame if a state is known to be a dead end.
    pub(super) fn dead_end(&self, key: &[u32]) -> Option<&Bits> {
        self.dead_ends.get(key)
    }

    /// Remembers a dead end.
    pub(super) fn remember(&mut self, key: Vec<u32>, blame: Bits) {
        if self.dead_ends.len() < MOST_DEAD_ENDS {
            self.dead_ends.insert(key, blame);
        }
    }
}

fn number(numbers: &mut BTreeMap<String, u32>, text: String) -> u32 {
    let next = u32::try_from(numbers.len() + 1).unwrap_or(u32::MAX);
    *numbers.entry(text).or_insert(next)
}
