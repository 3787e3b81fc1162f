//! One node: its pools, the checks, the search.

use super::Budget;
use super::failure::Fatal;
use super::guide::{Prospect, prospect};
use super::pick::State;
use super::plan::Plan;
use super::pools::{Overlay, gather};
use super::precheck::{Stop, check};
use super::quirks::Quirks;
use super::result;
use super::search::{End, Search};
use super::select::Verdicts;
use crate::api::claim::AllocationResult;
use crate::api::node::Node;
use crate::cluster::Cluster;
use crate::cluster::selectors::Selectors;

/// How many picks a plain search takes back before the node is looked at as a whole. Most questions need none; looking at a
/// node as a whole evaluates every selector on every device.
pub(super) const PATIENCE: u64 = 8;

/// How nodes are asked.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// Defects to reproduce.
    pub(super) quirks: Quirks,
    /// Picks that a plain search may take back.
    pub(super) patience: u64,
}

/// Asks one node: one allocation per claim, or nothing when the claims do not fit.
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
    way: Way,
    budget: &mut Budget,
) -> Result<Option<Vec<AllocationResult>>, Stop> {
    let profile = cluster.profile();
    let view = gather(cluster, overlay, node, selectors)?;
    let mut verdicts = Verdicts::new(plan, &view, node, profile, selectors);
    let needs = check(plan, &view, profile, &mut verdicts, budget)?;
    let new_state = || State::new(cluster, overlay, plan, &view, way.quirks);
    let state = new_state();
    let may_skip = !state.has_defects() && !state.has_derived(plan);
    let patience = if may_skip { way.patience } else { u64::MAX };
    let mut end =
        Search { plan, needs: &needs, verdicts: &mut verdicts, budget, state, guide: None, patience }.run()?;
    if matches!(end, End::Tired) {
        let mut state = new_state();
        end = match prospect(plan, &view, &needs, &mut state, &mut verdicts, budget)? {
            Prospect::Hopeless => End::Exhausted,
            Prospect::Open(guide) => {
                let (guide, patience) = (Some(guide), u64::MAX);
                Search { plan, needs: &needs, verdicts: &mut verdicts, budget, state, guide, patience }.run()?
            }
        };
    }
    match end {
        End::Solved(solution) => {
            let allocations: Result<_, Fatal> =
                result::build(plan, &view, &node.metadata.name, profile, way.quirks, &solution);
            Ok(Some(allocations?))
        }
        End::Exhausted | End::Tired => Ok(None),
    }
}
