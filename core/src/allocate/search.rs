//! The depth-first search for the first solution on one node.
//!
//! The order is the contract: claims, requests, alternatives and devices as given; devices of one request in
//! ascending positions; the first complete assignment wins. The stack is explicit, its depth at most the number of claims,
//! requests and devices asked for. What a [`Guide`] lets it skip, and why that keeps the answer, is said there.

use smallvec::{SmallVec, smallvec};

use super::failure::{Fatal, MOST_DEVICES};
use super::guide::Guide;
use super::pick::{Picked, State, TakeError};
use super::plan::{Plan, Unit};
use super::precheck::{Need, Stop};
use super::select::Verdicts;
use super::{Budget, failure};
use crate::api::claim::ResourceClaim;
use crate::bits::Bits;

/// A complete assignment.
pub(super) struct Solution<'c> {
    /// Devices in the order of picking, each with the position of its unit.
    pub(super) picks: Vec<(usize, Picked<'c>)>,
    /// Position of the chosen unit of each request, in the order of all requests.
    pub(super) chosen: SmallVec<[usize; 4]>,
}

/// How a search ended.
pub(super) enum End<'c> {
    /// The state has the picks in it.
    Solved(Solution<'c>),
    /// There is no solution.
    Exhausted,
    /// Too many picks were taken back; nothing is known.
    Tired,
}

/// Why a walk stands still.
enum Pause {
    /// With the position of the chosen unit of each request.
    Solved(SmallVec<[usize; 4]>),
    Exhausted,
    Tired,
}

/// The search on one node.
pub(super) struct Search<'s, 'w, 'v, 'c> {
    pub(super) plan: &'s Plan<'c>,
    pub(super) needs: &'s [Need],
    pub(super) verdicts: &'s mut Verdicts<'v, 'c>,
    pub(super) budget: &'s mut Budget,
    pub(super) state: &'s mut State<'w, 'c>,
    pub(super) guide: Option<Box<Guide>>,
    /// How many picks may be taken back before the search is [`End::Tired`].
    pub(super) patience: u64,
    /// Set when known defects of the reference may change how the search ends.
    pub(super) met_defect: &'s mut bool,
}

/// A search under way.
struct Walk<'s, 'w, 'v, 'c> {
    search: Search<'s, 'w, 'v, 'c>,
    frames: Vec<Frame>,
    /// Devices taken by the frames, in their order, each with the position of its unit.
    picks: Vec<(usize, Picked<'c>)>,
    /// Devices picked for each claim.
    results: SmallVec<[u64; 4]>,
    /// While going back from a request that failed: earlier requests that it could see.
    blame: Bits,
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
        /// The state in which the request was entered, where dead ends are remembered.
        key: Option<Vec<u32>>,
        /// Requests that failures below could see.
        blame: Bits,
    },
    /// A device is being tried.
    Device(DeviceFrame),
}

struct DeviceFrame {
    unit: usize,
    /// How many devices the unit has already.
    had: u64,
    /// Position from which the next candidate is looked for; of fixed devices: the index of the next one.
    next: usize,
    /// Whether a device is taken; then it is the latest of the picks once later frames are gone.
    has_picked: bool,
    /// Devices that failed here.
    failed: Vec<usize>,
}

/// Where the search goes next.
enum Step {
    /// On to a request; past the last one means done.
    Request { claim: usize, request: usize },
    /// On to the next device of a unit.
    Device { unit: usize, had: u64, start: usize },
    /// To another candidate of the innermost decision.
    Retry,
    /// Back: the unit being tried has no further candidate.
    Back,
    /// Back: a request failed, whatever is picked for it. `blame` says who could change that.
    BackFromRequest,
    /// Back: the claim would get more devices than it can have, whichever they are.
    BackTooMany,
}

impl<'s, 'c> Search<'s, '_, '_, 'c> {
    /// Searches.
    ///
    /// # Errors
    ///
    /// What stops the search before it ends.
    pub(super) fn run(self) -> Result<End<'c>, Stop> {
        let results = smallvec![0; self.plan.claims.len()];
        let mut walk = Walk { search: self, frames: Vec::new(), picks: Vec::new(), results, blame: Bits::default() };
        let end = match walk.search.only_device() {
            Some(unit) => walk.run_for_one(unit),
            None => walk.run(),
        };
        // What a guide skips, a search with defects may not skip.
        let is_plain = walk.search.guide.is_none() && !matches!(end, Ok(Pause::Tired));
        *walk.search.met_defect |= !is_plain || walk.search.state.met_defect();
        match end? {
            Pause::Solved(chosen) => Ok(End::Solved(Solution { picks: walk.picks, chosen })),
            Pause::Exhausted => Ok(End::Exhausted),
            Pause::Tired => Ok(End::Tired),
        }
    }

    /// The unit of a plain search for one device, where no decision is ever taken back.
    fn only_device(&self) -> Option<&'s Unit<'c>> {
        let Plan { claims, requests, units, .. } = self.plan;
        match (claims.as_slice(), requests.as_slice(), units.as_slice(), self.needs) {
            ([_], [_], [unit], [Need { count: 1, all: None }]) if self.guide.is_none() => Some(unit),
            _ => None,
        }
    }
}

impl<'c> Walk<'_, '_, '_, 'c> {
    fn run(&mut self) -> Result<Pause, Stop> {
        let mut step = Step::Request { claim: 0, request: 0 };
        loop {
            step = match step {
                Step::Request { claim, request } => match self.enter(claim, request) {
                    Some(step) => step,
                    None => return Ok(Pause::Solved(self.chosen())),
                },
                Step::Device { unit, had, start } => self.enter_device(unit, had, start),
                Step::Retry => self.try_devices()?,
                back => match self.frames.pop() {
                    None => return Ok(Pause::Exhausted),
                    Some(_) if self.search.patience == 0 => return Ok(Pause::Tired),
                    Some(frame) => self.back(frame, &back),
                },
            };
        }
    }

    /// The same as [`Walk::run`] for one device: its candidates one after another.
    fn run_for_one(&mut self, unit: &Unit<'c>) -> Result<Pause, Stop> {
        let Some(picked) = self.try_candidates(unit, &mut 0, &[])? else {
            return Ok(if self.search.patience == 0 { Pause::Tired } else { Pause::Exhausted });
        };
        self.picks.push((unit.index, picked));
        Ok(Pause::Solved(smallvec![unit.index]))
    }

    /// Goes on to a request; `None` when there is nothing left to do.
    fn enter(&mut self, mut claim: usize, request: usize) -> Option<Step> {
        while self.search.plan.claims.get(claim)?.requests.end <= request {
            self.frames.push(Frame::ClaimDone);
            claim += 1;
        }
        let first = self.search.plan.requests.get(request)?.units.start;
        let mut key = None;
        if let Some(guide) = &mut self.search.guide {
            let picked = self.picks.iter().map(|(_, picked)| picked.position);
            let results = self.results.get(claim).copied().unwrap_or_default();
            let state = guide.describe(self.search.plan, self.search.state, request, claim, picked, results);
            if let Some(blame) = guide.dead_end(&state) {
                self.blame = blame.clone();
                return Some(Step::BackFromRequest);
            }
            key = Some(state);
        }
        self.frames.push(Frame::Request { request, unit: first, all_exceed: true, key, blame: Bits::default() });
        Some(Step::Device { unit: first, had: 0, start: 0 })
    }

    fn enter_device(&mut self, position: usize, had: u64, start: usize) -> Step {
        let (Some(unit), Some(need)) = (self.search.plan.units.get(position), self.search.needs.get(position)) else {
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
        if self.search.guide.as_ref().is_some_and(|guide| guide.is_dead(position)) {
            return Step::Back;
        }
        let next = if need.all.is_some() { usize::try_from(had).unwrap_or(usize::MAX) } else { start };
        self.frames.push(Frame::Device(DeviceFrame {
            unit: position,
            had,
            next,
            has_picked: false,
            failed: Vec::new(),
        }));
        Step::Retry
    }

    /// Tries candidates of the innermost decision, which is about a device, until one can be taken.
    fn try_devices(&mut self) -> Result<Step, Stop> {
        let Some(Frame::Device(frame)) = self.frames.last_mut() else {
            return Ok(Step::Back);
        };
        let DeviceFrame { unit: position, had, mut next, .. } = *frame;
        let failed = std::mem::take(&mut frame.failed);
        let search = &self.search;
        let (Some(unit), Some(need)) = (search.plan.units.get(position), search.needs.get(position)) else {
            return Ok(Step::Back);
        };
        let picked = match &need.all {
            // Which device comes next is fixed, so there is one try. A constraint that refuses it is an error.
            Some(all) => self.try_fixed(unit, all.get(next).copied())?,
            None => self.try_candidates(unit, &mut next, &failed)?,
        };
        let Some(picked) = picked else {
            self.frames.pop();
            return Ok(Step::Back);
        };
        self.picks.push((position, picked));
        if let Some(results) = self.results.get_mut(unit.claim) {
            *results += 1;
        }
        if let Some(Frame::Device(frame)) = self.frames.last_mut() {
            (frame.next, frame.failed, frame.has_picked) = (next, failed, true);
        }
        if need.all.is_some() && unit.is_later() && self.search.state.forgets_alternative() {
            let first = self.search.plan.requests.get(unit.request).map_or(position, |request| request.units.start);
            return Ok(Step::Device { unit: first, had: had + 1, start: 0 });
        }
        Ok(Step::Device { unit: position, had: had + 1, start: next })
    }

    fn try_fixed(&mut self, unit: &Unit<'c>, position: Option<usize>) -> Result<Option<Picked<'c>>, Stop> {
        let (Some(position), Some(claim)) = (position, self.search.plan.claims.get(unit.claim)) else {
            return Ok(None);
        };
        self.search.budget.step(self.search.verdicts)?;
        self.derive(unit, position);
        let taken = self.search.state.take(unit, position, true);
        Ok(taken.map_err(|error| take_failed(self.search.state, claim.claim, unit, position, &error))?)
    }

    /// Computes the attributes that constraints may look at when the unit picks the device.
    fn derive(&mut self, unit: &Unit<'c>, position: usize) {
        if self.search.state.wants(unit, position) {
            let derived = self.search.verdicts.derive(unit, position);
            self.search.state.learn(unit, position, derived);
        }
    }

    fn try_candidates(
        &mut self,
        unit: &Unit<'c>,
        next: &mut usize,
        failed: &[usize],
    ) -> Result<Option<Picked<'c>>, Stop> {
        while let Some(position) = self.candidate(unit, *next) {
            *next = position + 1;
            if self.is_like_one_that_failed(unit, position, failed) {
                continue;
            }
            self.search.budget.step(self.search.verdicts)?;
            let picked = self.try_device(unit, position)?;
            self.search.budget.count(self.search.verdicts);
            if picked.is_some() {
                return Ok(picked);
            }
        }
        Ok(None)
    }

    /// The next device worth trying. A device that the selectors are known to refuse is none: it was refused before anything of it
    /// was taken, and would be again.
    fn candidate(&self, unit: &Unit<'c>, from: usize) -> Option<usize> {
        match &self.search.guide {
            Some(guide) => guide.candidate(unit.index, from),
            None => self.search.verdicts.next_open(unit, self.search.state.candidates(unit), from),
        }
    }

    fn is_like_one_that_failed(&self, unit: &Unit<'c>, position: usize, failed: &[usize]) -> bool {
        let Some(guide) = self.search.guide.as_ref().filter(|_| !failed.is_empty()) else {
            return false;
        };
        let class = guide.class(position);
        failed
            .iter()
            .any(|other| guide.class(*other) == class && self.search.state.is_same_state(*other, position, unit.claim))
    }

    /// The tests in the reference's order: what is cheap and cannot fail comes before the selectors.
    fn try_device(&mut self, unit: &Unit<'c>, position: usize) -> Result<Option<Picked<'c>>, Fatal> {
        let search = &mut self.search;
        let Some(claim) = search.plan.claims.get(unit.claim) else {
            return Ok(None);
        };
        if search.state.is_in_use(unit, position) || !search.verdicts.accepts(claim.claim, unit, position)? {
            return Ok(None);
        }
        if !search.state.has_capacity(unit, position) {
            return match search.state.capacity_problem(unit, position) {
                Some(why) => Err(failure::capacity(claim.claim, unit, &search.state.label(position), &why)),
                None => Ok(None),
            };
        }
        self.derive(unit, position);
        let taken = self.search.state.take(unit, position, false);
        taken.map_err(|error| take_failed(self.search.state, claim.claim, unit, position, &error))
    }

    /// Leaves the current choice of a decision.
    fn back(&mut self, frame: Frame, step: &Step) -> Step {
        let too_many = matches!(step, Step::BackTooMany);
        match frame {
            Frame::ClaimDone if too_many => {
                // Which devices earlier claims got makes no difference, but the reference tries on.
                self.blame = Bits::default();
                Step::BackFromRequest
            }
            Frame::ClaimDone => Step::BackFromRequest,
            Frame::Request { request, unit, all_exceed, key, mut blame } => {
                if matches!(step, Step::BackFromRequest) {
                    // No device was picked for this request, so another choice can only be another unit.
                    blame.extend(&self.blame);
                }
                let all_exceed = all_exceed && too_many;
                let is_last = self.search.plan.requests.get(request).is_none_or(|plan| unit + 1 >= plan.units.end);
                if !is_last {
                    self.frames.push(Frame::Request { request, unit: unit + 1, all_exceed, key, blame });
                    return Step::Device { unit: unit + 1, had: 0, start: 0 };
                }
                if all_exceed {
                    return Step::BackTooMany;
                }
                if let Some(guide) = &mut self.search.guide {
                    blame.extend(&guide.conflicts(request));
                    guide.remember(key.unwrap_or_default(), blame.clone());
                }
                self.blame = blame;
                Step::BackFromRequest
            }
            Frame::Device(mut frame) => {
                let request = self.search.plan.units.get(frame.unit).map_or(usize::MAX, |unit| unit.request);
                self.put_back(&mut frame);
                // Other devices are as many.
                if too_many {
                    return Step::BackTooMany;
                }
                if matches!(step, Step::BackFromRequest) {
                    let may_jump = self.search.guide.as_ref().is_some_and(|guide| guide.may_jump());
                    if may_jump && !self.blame.contains(request) {
                        self.leave_request();
                        return Step::BackFromRequest;
                    }
                    self.pass_blame();
                }
                if self.search.needs.get(frame.unit).is_some_and(|need| need.all.is_some()) {
                    return Step::Back;
                }
                self.frames.push(Frame::Device(frame));
                Step::Retry
            }
        }
    }

    fn put_back(&mut self, frame: &mut DeviceFrame) {
        if !std::mem::take(&mut frame.has_picked) {
            return;
        }
        let Some((_, picked)) = self.picks.pop() else {
            return;
        };
        frame.failed.push(picked.position);
        self.search.state.put_back(picked);
        self.search.patience = self.search.patience.saturating_sub(1);
        let claim = self.search.plan.units.get(frame.unit).map_or(usize::MAX, |unit| unit.claim);
        if let Some(results) = self.results.get_mut(claim) {
            *results = results.saturating_sub(1);
        }
    }

    /// Takes back all picks of the innermost request, whose choices did not matter.
    fn leave_request(&mut self) {
        while let Some(frame) = self.frames.pop() {
            match frame {
                Frame::Device(mut frame) => self.put_back(&mut frame),
                Frame::Request { .. } => return,
                Frame::ClaimDone => {}
            }
        }
    }

    /// Keeps in mind, at the innermost request, whom a failure below it could see.
    fn pass_blame(&mut self) {
        let inner = self.frames.iter_mut().rev().find_map(|frame| match frame {
            Frame::Request { blame, .. } => Some(blame),
            Frame::ClaimDone | Frame::Device(_) => None,
        });
        if let Some(blame) = inner {
            blame.extend(&self.blame);
        }
    }

    fn chosen(&self) -> SmallVec<[usize; 4]> {
        let unit = |frame: &Frame| match frame {
            Frame::Request { unit, .. } => Some(*unit),
            Frame::ClaimDone | Frame::Device(_) => None,
        };
        self.frames.iter().filter_map(unit).collect()
    }
}

fn take_failed(
    state: &State<'_, '_>,
    claim: &ResourceClaim,
    unit: &Unit<'_>,
    position: usize,
    error: &TakeError,
) -> Fatal {
    let device = state.label(position);
    match error {
        TakeError::Constraint => failure::all_breaks_constraint(claim, unit, &device),
        TakeError::Derived(attribute, problem) => failure::derived_attribute(claim, unit, &device, attribute, problem),
    }
}
