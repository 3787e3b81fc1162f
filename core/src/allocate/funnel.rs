//! Why a node was refused: how many devices survive each test of each request.

use super::failure::invalid_pools;
use super::plan::{Plan, Unit};
use super::pools::{NodeDevice, NodeView, Overlay, PoolState, PoolView, gather};
use super::precheck::check;
use super::select::{Verdict, Verdicts};
use super::taints::tolerated;
use super::{Budget, Failure, NodeRefusal, RequestFunnel, capacity};
use crate::api::node::Node;
use crate::cluster::Cluster;
use crate::cluster::selectors::Selectors;

/// Why the claims do not fit on a node that was refused, and what each request finds on it.
///
/// Every request is looked at alone, as if it came first. Selectors that fail count as refusing.
pub(super) fn refusal<'c>(
    cluster: &'c Cluster,
    overlay: &'c Overlay,
    plan: &Plan<'c>,
    node: &Node,
    selectors: &mut Selectors,
) -> NodeRefusal {
    let mut refusal = NodeRefusal { node: node.metadata.name.clone(), failure: None, requests: Vec::new() };
    let Ok(view) = gather(cluster, overlay, node, selectors) else {
        return refusal;
    };
    refusal.failure = failure(&view);
    let mut verdicts = Verdicts::new(plan, &view, node, cluster.profile(), selectors);
    let needs = check(plan, &view, cluster.profile(), &mut verdicts, &mut Budget::unlimited()).unwrap_or_default();
    for unit in &plan.units {
        let claim = plan.claims.get(unit.claim).map(|claim| claim.claim.metadata.name.clone());
        let mut funnel = RequestFunnel {
            claim: claim.unwrap_or_default(),
            request: unit.full_name.clone(),
            // Mode `All` needs at least one.
            needed: needs.get(unit.index).map_or(unit.count, |need| need.count.max(u64::from(need.all.is_some()))),
            devices: 0,
            matching: 0,
            tolerated: 0,
            free: 0,
        };
        for (position, device) in view.devices.iter().enumerate() {
            let survives = [
                verdicts.verdict(unit, position) == Verdict::Accepted,
                tolerated(unit, device),
                is_free(cluster, overlay, &view, unit, device),
            ];
            funnel.devices += 1;
            funnel.matching += u64::from(survives.iter().take(1).all(|test| *test));
            funnel.tolerated += u64::from(survives.iter().take(2).all(|test| *test));
            funnel.free += u64::from(survives.iter().all(|test| *test));
        }
        refusal.requests.push(funnel);
    }
    refusal
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
    cluster: &'c Cluster,
    overlay: &'c Overlay,
    view: &NodeView<'c>,
    unit: &Unit<'c>,
    device: &NodeDevice<'c>,
) -> bool {
    let features = &cluster.profile().features;
    let is_reachable = !device.is_out_of_reach && (unit.has_admin_access() || !device.is_taken());
    let capacities = &device.device.capacity;
    let has_capacity = !features.consumable_capacity
        || capacity::grantable(unit.capacity, capacities, capacity::Rounding::of(features))
            .is_some_and(|amounts| capacity::is_left(&amounts, capacities, device.usage.map(|usage| &usage.consumed)));
    is_reachable && has_capacity && super::counters::has_counters(cluster, overlay, view, device)
}
