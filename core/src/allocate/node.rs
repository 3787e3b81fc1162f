//! One node: its pools, the checks, the search.

use super::Budget;
use super::failure::{Fatal, invalid_pools};
use super::pick::State;
use super::plan::Plan;
use super::pools::{NodeView, Overlay, PoolState, gather};
use super::precheck::{Stop, check};
use super::quirks::Quirks;
use super::search::Search;
use super::select::Verdicts;
use super::{Failure, result};
use crate::api::claim::AllocationResult;
use crate::api::node::Node;
use crate::cluster::Cluster;
use crate::cluster::selectors::Selectors;

/// What one node says.
pub(super) enum NodeAnswer {
    /// One allocation per claim.
    Fits(Vec<AllocationResult>),
    /// No fit; with a reason of its own where there is one.
    Refused(Option<Failure>),
}

/// Asks one node.
///
/// # Errors
///
/// What concerns the question as a whole: wrong input, or the step limit.
pub(super) fn ask<'c>(
    cluster: &'c Cluster,
    overlay: &'c Overlay,
    plan: &Plan<'c>,
    node: &Node,
    selectors: &mut Selectors,
    budget: &mut Budget,
) -> Result<NodeAnswer, Stop> {
    let profile = cluster.profile();
    let view = gather(cluster, overlay, node)?;
    let mut verdicts = Verdicts::new(plan, &view, node, &profile.features, selectors);
    let needs = check(plan, &view, &profile.features, &mut verdicts, budget)?;
    let state = State::new(cluster, overlay, plan, &view, Quirks::of(profile));
    match Search::new(plan, &needs, &mut verdicts, budget, state).run()? {
        Some(solution) => {
            let allocations: Result<_, Fatal> = result::build(plan, &view, &node.metadata.name, profile, &solution);
            Ok(NodeAnswer::Fits(allocations?))
        }
        None => Ok(NodeAnswer::Refused(refusal(&view))),
    }
}

/// The reference names invalid pools, of whatever driver, when nothing fits.
fn refusal(view: &NodeView<'_>) -> Option<Failure> {
    let describe = |pool: &super::pools::PoolView<'_>| match &pool.state {
        PoolState::Invalid(reason) => Some(format!("`{}` of `{}`: {reason}", pool.name, pool.driver)),
        PoolState::Usable | PoolState::Incomplete => None,
    };
    let invalid: Vec<String> = view.pools.iter().filter_map(describe).collect();
    (!invalid.is_empty()).then(|| invalid_pools(&invalid))
}
