//! Why a node was refused: how many devices survive each test of each request.

use super::counters::{Counters, has_counters};
use super::failure::invalid_pools;
use super::node::Asking;
use super::plan::{Plan, Unit};
use super::pools::{NodeDevice, NodeView, PoolView, gather};
use super::precheck::{Need, check};
use super::quirks::Quirks;
use super::select::{Verdict, Verdicts};
use super::taints::tolerated;
use super::{Budget, Failure, NodeRefusal, RequestFunnel, capacity};
use crate::api::node::Node;
use crate::cluster::PoolState;
use crate::profile::Profile;

/// A refusal without reasons.
pub(super) fn empty(node: &Node) -> NodeRefusal {
    NodeRefusal { node: node.metadata.name.clone(), failure: None, requests: Vec::new() }
}

/// Why the claims do not fit on a node that was refused, and what each request finds on it.
///
/// Every request is looked at alone, as if it came first. Selectors that fail count as refusing.
pub(super) fn refusal(asking: &mut Asking<'_, '_>, node: &Node) -> NodeRefusal {
    let (plan, profile) = (asking.plan, asking.cluster.profile());
    let mut refusal = empty(node);
    let Ok(view) = gather(asking.cluster, asking.pools, asking.overlay, node, asking.judge.selectors()) else {
        return refusal;
    };
    let mut verdicts = Verdicts::new(plan, &view, node, profile, asking.judge);
    let needs = check(plan, &view, profile, &mut verdicts, &mut Budget::unlimited()).unwrap_or_default();
    fill(&mut refusal, profile, plan, &view, &mut verdicts, &needs);
    refusal
}

/// Fills in the reasons.
pub(super) fn fill<'c>(
    refusal: &mut NodeRefusal,
    profile: &Profile,
    plan: &Plan<'c>,
    view: &NodeView<'c>,
    verdicts: &mut Verdicts<'_, 'c>,
    needs: &[Need],
) {
    refusal.failure = failure(view);
    let mut counters = Counters::new(view, Quirks::default());
    for unit in &plan.units {
        let claim = plan.claims.get(unit.claim).map(|claim| claim.claim.metadata.name.clone());
        let mut funnel = RequestFunnel {
            claim: claim.unwrap_or_default(),
            request: unit.full_name.to_string(),
            // Mode `All` needs at least one.
            needed: needs.get(unit.index).map_or(unit.count, |need| need.count.max(u64::from(need.all.is_some()))),
            devices: u64::try_from(view.devices.len()).unwrap_or(u64::MAX),
            matching: 0,
            tolerated: 0,
            free: 0,
        };
        for (position, device) in view.devices.iter().enumerate() {
            if verdicts.verdict(unit, position) != Verdict::Accepted {
                continue;
            }
            funnel.matching += 1;
            if tolerated(unit, device) {
                funnel.tolerated += 1;
                funnel.free += u64::from(is_free(profile, view, &mut counters, unit, device));
            }
        }
        refusal.requests.push(funnel);
    }
}

/// The reference names invalid pools, of whatever driver, when nothing fits.
fn failure(view: &NodeView<'_>) -> Option<Failure> {
    let describe = |pool: &PoolView<'_>| match &pool.state {
        PoolState::Invalid(reason) => Some(format!("`{}` of `{}`: {reason}", pool.name, pool.driver)),
        PoolState::Usable | PoolState::Incomplete => None,
    };
    let invalid: Vec<String> = view.pools.iter().filter_map(describe).collect();
    (!invalid.is_empty()).then(|| invalid_pools(&invalid))
}

/// Whether nothing that claims in the cluster hold keeps the device from the unit.
fn is_free<'c>(
    profile: &Profile,
    view: &NodeView<'c>,
    counters: &mut Counters<'c>,
    unit: &Unit<'c>,
    device: &NodeDevice<'c>,
) -> bool {
    let features = &profile.features;
    let is_reachable = !device.is_out_of_reach && (unit.has_admin_access() || !device.is_taken());
    let capacities = &device.device.capacity;
    let has_capacity = || {
        let rounding = capacity::Rounding::of(profile);
        let amounts = capacity::grantable_amounts(unit.capacity, device.device, rounding);
        let taken = device.usage.map(|usage| &usage.consumed);
        amounts.is_some_and(|amounts| capacity::are_left(&amounts, capacities, taken, None))
    };
    is_reachable
        && (!features.consumable_capacity || has_capacity())
        && has_counters(profile, view, counters, unit, device)
}
