//! The depth-first search for the first solution on one node.
//!
//! The order is the contract: claims, requests, alternatives and devices as given; devices of one request in
//! ascending positions; the first complete assignment wins. The stack is explicit, its depth at most the number of claims,
//! requests and devices asked for.

use super::failure::{Fatal, MOST_DEVICES};
use super::pick::{Picked, State};
use super::plan::{Plan, Unit};
use super::precheck::{Need, Stop};
use super::select::Verdicts;
use super::{Budget, failure};

/// A complete assignment.
pub(super) struct Solution {
    /// Devices in the order of picking, each with the position of its unit.
    pub(super) picks: Vec<(usize, Picked)>,
    /// Position of the chosen unit of each request, in the order of all requests.
    pub(super) chosen: Vec<usize>,
}

/// The search on one node.
pub(super) struct Search<'s, 'v, 'c> {
    plan: &'s Plan<'c>,
    needs: &'s [Need],
    verdicts: &'s mut Verdicts<'v, 'c>,
    budget: &'s mut Budget,
    state: State<'s, 'c>,
    frames: Vec<Frame>,
    /// Devices picked for each claim.
    results: Vec<u64>,
}

/// A decision that can still be changed.
enum Frame {
    /// A claim is complete; the next one is being tried.
    ClaimDone,
    /// One of a request's units is being tried.
    Request {
        /// Position of the request.
        request: usize,
        /// Position of the unit.
        unit: usize,
        /// Whether every alternative so far asked for more devices than a claim can have.
        all_exceed: bool,
    },
    /// A device is being tried.
    Device {
        unit: usize,
        /// How many devices the unit has already.
        had: u64,
        /// The next candidate: a position, or an index into the fixed devices of mode `All`.
        next: usize,
        picked: Option<Picked>,
    },
}

/// Where the search goes next.
enum Step {
    /// On to a request; past the last one means done.
    Request { claim: usize, request: usize },
    /// On to the next device of a unit.
    Device { unit: usize, had: u64, start: usize },
    /// To another candidate of the innermost decision.
    Retry,
    /// Back: nothing works here.
    Back,
    /// Back: the claim would get more devices than it can have, whichever they are.
    BackTooMany,
}

impl<'s, 'v, 'c> Search<'s, 'v, 'c> {
    pub(super) fn new(
        plan: &'s Plan<'c>,
        needs: &'s [Need],
        verdicts: &'s mut Verdicts<'v, 'c>,
        budget: &'s mut Budget,
        state: State<'s, 'c>,
    ) -> Self {
        let results = vec![0; plan.claims.len()];
        Self { plan, needs, verdicts, budget, state, frames: Vec::new(), results }
    }

    /// The first solution, or none.
    ///
    /// # Errors
    ///
    /// What stops the search before either is known.
    pub(super) fn run(mut self) -> Result<Option<Solution>, Stop> {
        let mut step = Step::Request { claim: 0, request: 0 };
        loop {
            step = match step {
                Step::Request { claim, request } => match self.enter(claim, request) {
                    Some(step) => step,
                    None => return Ok(Some(self.solution())),
                },
                Step::Device { unit, had, start } => self.enter_device(unit, had, start),
                Step::Retry => self.try_devices()?,
                Step::Back | Step::BackTooMany if self.frames.is_empty() => return Ok(None),
                Step::Back => self.back(false),
                Step::BackTooMany => self.back(true),
            };
        }
    }

    /// Goes on to a request; `None` when there is nothing left to do.
    fn enter(&mut self, mut claim: usize, request: usize) -> Option<Step> {
        while self.plan.claims.get(claim)?.requests.end <= request {
            self.frames.push(Frame::ClaimDone);
            claim += 1;
        }
        let unit = self.plan.requests.get(request)?.units.start;
        self.frames.push(Frame::Request { request, unit, all_exceed: true });
        Some(Step::Device { unit, had: 0, start: 0 })
    }

    fn enter_device(&mut self, position: usize, had: u64, start: usize) -> Step {
        let (Some(unit), Some(need)) = (self.plan.units.get(position), self.needs.get(position)) else {
            return Step::Back;
        };
        if need.all.as_ref().is_some_and(Vec::is_empty) {
            return Step::Back;
        }
        if had >= need.count {
            return Step::Request { claim: unit.claim, request: unit.request + 1 };
        }
        let has = self.results.get(unit.claim).copied().unwrap_or(0);
        if has.saturating_add(need.count - had) > MOST_DEVICES {
            return Step::BackTooMany;
        }
        let next = if need.all.is_some() { usize::try_from(had).unwrap_or(usize::MAX) } else { start };
        self.frames.push(Frame::Device { unit: position, had, next, picked: None });
        Step::Retry
    }

    /// Tries candidates of the innermost decision, which is about a device, until one can be taken.
    fn try_devices(&mut self) -> Result<Step, Stop> {
        let Some(Frame::Device { unit: unit_position, had, next, .. }) = self.frames.last() else {
            return Ok(Step::Back);
        };
        let (unit_position, had, mut next) = (*unit_position, *had, *next);
        let (Some(unit), Some(need)) = (self.plan.units.get(unit_position), self.needs.get(unit_position)) else {
            return Ok(Step::Back);
        };
        let mut taken = None;
        if let Some(all) = &need.all {
            // Which device comes next is fixed, so there is one try. A constraint that refuses it is an error.
            if let Some(position) = all.get(next) {
                self.budget.step()?;
                taken =
                    self.state.take(unit, *position, true).map_err(|refusal| self.refused(unit, *position, refusal))?;
            }
        } else {
            while taken.is_none() && next < self.state.len() {
                self.budget.step()?;
                taken = self.try_device(unit, next)?;
                next += 1;
            }
        }
        let Some(picked) = taken else {
            self.frames.pop();
            return Ok(Step::Back);
        };
        if let Some(results) = self.results.get_mut(unit.claim) {
            *results += 1;
        }
        self.frames.pop();
        self.frames.push(Frame::Device { unit: unit_position, had, next, picked: Some(picked) });
        Ok(Step::Device { unit: unit_position, had: had + 1, start: next })
    }

    /// The tests in the reference's order: what is cheap and cannot fail comes before the selectors.
    fn try_device(&mut self, unit: &Unit<'c>, position: usize) -> Result<Option<Picked>, Fatal> {
        if self.state.is_in_use(unit, position) {
            return Ok(None);
        }
        let Some(claim) = self.plan.claims.get(unit.claim) else {
            return Ok(None);
        };
        if !self.verdicts.accepts(claim.claim, unit, position)? || !self.state.has_capacity(unit, position) {
            return Ok(None);
        }
        Ok(self.state.take(unit, position, false).unwrap_or(None))
    }

    fn refused(&self, unit: &Unit<'c>, position: usize, _: super::pick::ConstraintRefused) -> Stop {
        match self.plan.claims.get(unit.claim) {
            Some(claim) => Stop::Failed(failure::all_breaks_constraint(claim.claim, unit, &self.state.label(position))),
            None => Stop::Limit,
        }
    }

    /// Leaves the innermost decision's current candidate.
    fn back(&mut self, too_many: bool) -> Step {
        match self.frames.pop() {
            None => Step::Back,
            // Another choice for an earlier claim may leave a smaller alternative to the later one.
            Some(Frame::ClaimDone) => Step::Back,
            Some(Frame::Request { request, unit, all_exceed }) => {
                let all_exceed = all_exceed && too_many;
                let is_last = self.plan.requests.get(request).is_none_or(|request| unit + 1 >= request.units.end);
                let has_alternatives = self.plan.requests.get(request).is_some_and(|request| request.has_alternatives);
                if is_last {
                    return if all_exceed { Step::BackTooMany } else { Step::Back };
                }
                debug_assert!(has_alternatives, "a request without alternatives has one unit");
                self.frames.push(Frame::Request { request, unit: unit + 1, all_exceed });
                Step::Device { unit: unit + 1, had: 0, start: 0 }
            }
            Some(Frame::Device { unit, had, next, picked }) => {
                if let Some(picked) = picked {
                    self.state.put_back(picked);
                    let claim = self.plan.units.get(unit).map_or(usize::MAX, |unit| unit.claim);
                    if let Some(results) = self.results.get_mut(claim) {
                        *results = results.saturating_sub(1);
                    }
                }
                let is_fixed = self.needs.get(unit).is_some_and(|need| need.all.is_some());
                if too_many {
                    // Other devices are as many.
                    return Step::BackTooMany;
                }
                if is_fixed {
                    return Step::Back;
                }
                self.frames.push(Frame::Device { unit, had, next, picked: None });
                Step::Retry
            }
        }
    }

    fn solution(self) -> Solution {
        let mut solution = Solution { picks: Vec::new(), chosen: Vec::new() };
        for frame in self.frames {
            match frame {
                Frame::ClaimDone => {}
                Frame::Request { unit, .. } => solution.chosen.push(unit),
                Frame::Device { unit, picked, .. } => solution.picks.extend(picked.map(|picked| (unit, picked))),
            }
        }
        solution
    }
}
