//! What is checked before any search, claim by claim, in the reference's order.

use smallvec::SmallVec;

use super::failure::{self, Fatal, MOST_DEVICES};
use super::plan::{ClaimPlan, Plan, RequestPlan, Unit};
use super::pools::{NodeDevice, NodeView};
use super::select::Verdicts;
use super::{Budget, capacity, constraints};
use crate::api::claim::AllocationMode;
use crate::cluster::PoolState;
use crate::profile::{Features, Profile, Version};

/// What a unit needs on a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Need {
    /// Number of devices.
    pub(super) count: u64,
    /// Mode `All`: the devices, all of which are needed.
    pub(super) all: Option<Vec<usize>>,
}

/// What each unit needs, by its position.
pub(super) type Needs = SmallVec<[Need; 2]>;

/// Why there is no search.
pub(super) enum Stop {
    /// The input is wrong.
    Failed(Fatal),
    /// The step limit.
    Limit,
}

impl From<Fatal> for Stop {
    fn from(failure: Fatal) -> Self {
        Self::Failed(failure)
    }
}

/// From this patch of a version on, the request that exceeds the limit of a claim is named.
fn first_patch_that_names_request(version: Version) -> u8 {
    match version {
        Version::V1_34 => 12,
        Version::V1_35 => 9,
        Version::V1_36 => 5,
        Version::V1_37 => 1,
        Version::V1_38 | Version::All => 0,
    }
}

/// Checks all claims and finds out what each unit needs.
///
/// # Errors
///
/// The first problem in the order of claims, requests and subrequests.
pub(super) fn check<'c>(
    plan: &Plan<'c>,
    view: &NodeView<'c>,
    profile: &Profile,
    verdicts: &mut Verdicts<'_, 'c>,
    budget: &mut Budget,
) -> Result<Needs, Stop> {
    let (features, version) = (&profile.features, profile.version);
    let rounding = capacity::Rounding::of(profile);
    let names_request = profile.patch >= first_patch_that_names_request(version);
    let mut checker = Checker { plan, view, features, version, rounding, verdicts, budget, needs: Needs::new() };
    for claim in &plan.claims {
        let mut least: u128 = 0;
        for (position, request) in plan.requests_of(claim).iter().enumerate() {
            let adds = checker.request(claim, request)?;
            let total = least.saturating_add(u128::from(adds));
            if names_request && total > u128::from(MOST_DEVICES) {
                let name = &request.request.name;
                return Err(failure::too_many_devices_from(claim.claim, position, name, adds, least).into());
            }
            least = total;
        }
        if least > u128::from(MOST_DEVICES) {
            return Err(failure::too_many_devices(claim.claim, least).into());
        }
        constraints::check(claim.claim)?;
    }
    Ok(checker.needs)
}

struct Checker<'s, 'v, 'c> {
    plan: &'s Plan<'c>,
    view: &'s NodeView<'c>,
    features: &'s Features,
    version: Version,
    rounding: capacity::Rounding,
    verdicts: &'s mut Verdicts<'v, 'c>,
    budget: &'s mut Budget,
    needs: Needs,
}

/// The defect `all-alternative`: of a list whose first two alternatives are for all devices, the second gets those of the first.
pub(super) fn mix_alternatives(plan: &Plan<'_>, needs: &mut Needs) {
    for start in plan.requests.iter().filter(|request| request.units.len() > 1).map(|request| request.units.start) {
        let first = needs.get(start).filter(|need| need.all.is_some()).map(|need| (need.count, need.all.clone()));
        let second = needs.get_mut(start.saturating_add(1)).filter(|need| need.all.is_some());
        if let (Some(need), Some((count, all))) = (second, first) {
            *need = Need { count, all };
        }
    }
}

impl<'c> Checker<'_, '_, 'c> {
    /// Checks one request; gives the fewest devices that satisfy it.
    fn request(&mut self, claim: &ClaimPlan<'c>, request: &RequestPlan<'c>) -> Result<u64, Stop> {
        let units = self.plan.units_of(request);
        if request.has_alternatives && !self.features.prioritized_list {
            let position = units.first().map_or(0, |unit| unit.request_in_claim);
            return Err(failure::alternatives_disabled(claim.claim, position, &request.request.name).into());
        }
        if !self.features.consumable_capacity
            && let Some(unit) = units.iter().find(|unit| unit.capacity.is_some())
        {
            return Err(failure::capacity_disabled(claim.claim, unit).into());
        }
        let mut least = u64::MAX;
        for unit in units {
            let need = self.unit(claim, unit)?;
            least = least.min(need.count);
            self.needs.push(need);
        }
        Ok(least)
    }

    fn unit(&mut self, claim: &ClaimPlan<'c>, unit: &Unit<'c>) -> Result<Need, Stop> {
        if !unit.derived.is_empty() && !self.features.derived_attributes {
            return Err(failure::derived_disabled(claim.claim, unit).into());
        }
        if let Some(index) = unit.selectors.iter().position(|selector| selector.cel.is_none()) {
            return Err(failure::empty_selector(claim.claim, unit, index).into());
        }
        if unit.admin.is_some() && !self.features.admin_access {
            return Err(failure::admin_disabled(claim.claim, unit).into());
        }
        if unit.class_name.is_empty() {
            return Err(failure::no_class_name(claim.claim, unit).into());
        }
        if unit.class.is_none() {
            return Err(failure::unknown_class(claim.claim, unit).into());
        }
        match unit.mode {
            // The API server refuses less than one.
            AllocationMode::ExactCount if unit.count == 0 => Err(failure::no_count(claim.claim, unit).into()),
            AllocationMode::ExactCount => Ok(Need { count: unit.count, all: None }),
            AllocationMode::All => {
                let all = self.all_devices(claim, unit)?;
                Ok(Need { count: u64::try_from(all.len()).unwrap_or(u64::MAX), all: Some(all) })
            }
            AllocationMode::Unknown(_) => Err(failure::unknown_mode(claim.claim, unit).into()),
        }
    }

    /// Every device that a unit in mode `All` gets, or the refusal of a pool of which nobody knows all devices.
    fn all_devices(&mut self, claim: &ClaimPlan<'c>, unit: &Unit<'c>) -> Result<Vec<usize>, Stop> {
        let mut all = Vec::new();
        let mut devices = self.view.devices.iter().enumerate().peekable();
        for (pool_position, pool) in self.view.pools.iter().enumerate() {
            match &pool.state {
                PoolState::Usable => {}
                PoolState::Incomplete => {
                    return Err(failure::all_of_incomplete_pool(claim.claim, unit, pool.driver, pool.name).into());
                }
                PoolState::Invalid(reason) => {
                    return Err(failure::all_of_invalid_pool(claim.claim, unit, pool.driver, pool.name, reason).into());
                }
            }
            while let Some((position, device)) = devices.next_if(|(_, device)| device.pool == pool_position) {
                self.budget.step(self.verdicts)?;
                if !self.verdicts.accepts(claim.claim, unit, position)? {
                    continue;
                }
                if let Some(why) = self.capacity_problem(unit, device) {
                    return Err(failure::capacity(claim.claim, unit, &device.device.name, &why).into());
                }
                if self.has_capacity(unit, device) {
                    all.push(position);
                }
            }
        }
        Ok(all)
    }

    fn capacity_problem(&self, unit: &Unit<'c>, device: &NodeDevice<'c>) -> Option<String> {
        let is_on = self.features.consumable_capacity;
        let asked = capacity::spelt(unit.capacity, device, self.rounding);
        is_on.then(|| capacity::problem(asked.as_deref(), device.device, self.rounding)).flatten()
    }

    /// A device that lacks the capacity asked for is not meant, rather than missing. From 1.37 on that is said of devices that
    /// never have it; before, of those that do not have it now, too.
    fn has_capacity(&self, unit: &Unit<'c>, device: &NodeDevice<'c>) -> bool {
        if !self.features.consumable_capacity {
            return true;
        }
        let capacities = &device.device.capacity;
        let counts_usage = self.version <= Version::V1_36;
        let in_use = device.usage.filter(|_| counts_usage).map(|usage| &usage.consumed);
        let asked = capacity::spelt(unit.capacity, device, self.rounding);
        capacity::grantable_amounts(asked.as_deref(), device.device, self.rounding)
            .is_some_and(|amounts| capacity::are_left(&amounts, capacities, in_use, None))
    }
}
