//! One node: its pools, the checks, the search.

use std::sync::Arc;

use super::failure::Fatal;
use super::funnel;
use super::guide::{Prospect, prospect};
use super::inspect::Inspection;
use super::judge::Judge;
use super::pick::State;
use super::plan::Plan;
use super::pools::{Overlay, gather};
use super::precheck::{Stop, check, mix_alternatives};
use super::quirks::Quirks;
use super::result::{Common, build};
use super::search::{End, Search};
use super::select::Verdicts;
use super::{Budget, NodeRefusal};
use crate::api::claim::AllocationResult;
use crate::api::node::Node;
use crate::cluster::{Cluster, NodePools};

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

/// One question, ready to be put to one node after the other.
pub(super) struct Asking<'s, 'c> {
    pub(super) cluster: &'c Cluster,
    pub(super) overlay: &'c Overlay,
    pub(super) plan: &'s Plan<'c>,
    pub(super) judge: &'s mut Judge<'c>,
    pub(super) pools: &'s mut NodePools,
    pub(super) way: Way,
    /// Whether known defects of the reference may have changed what nodes said so far.
    pub(super) met_defect: bool,
}

/// What a node says.
pub(super) enum Reply {
    /// One allocation per claim.
    Fits(Vec<Arc<AllocationResult>>),
    /// The claims do not fit; the reasons, if they were asked for.
    Refuses(Option<Box<NodeRefusal>>),
}

impl<'c> Asking<'_, 'c> {
    /// Asks one node.
    ///
    /// # Errors
    ///
    /// What concerns the question as a whole: wrong input, or the step limit.
    pub(super) fn ask(&mut self, node: &Node, wants_reasons: bool, budget: &mut Budget) -> Result<Reply, Stop> {
        let (plan, way, profile) = (self.plan, self.way, self.cluster.profile());
        let view = gather(self.cluster, self.pools, self.overlay, node, self.judge.selectors())?;
        let mut verdicts = Verdicts::new(plan, &view, node, profile, self.judge);
        let mut needs = check(plan, &view, profile, &mut verdicts, budget)?;
        if way.quirks.all_alternative {
            mix_alternatives(plan, &mut needs);
        }
        let mut state = State::new(self.cluster, self.overlay, plan, &view, way.quirks);
        let met_defect = &mut self.met_defect;
        *met_defect |= view.mixes_counters();
        let patience = if state.has_defects() { u64::MAX } else { way.patience };
        let (state, verdicts) = (&mut state, &mut verdicts);
        let mut end =
            Search { plan, needs: &needs, verdicts, budget, state, guide: None, patience, met_defect }.run()?;
        if let End::Tired = end {
            state.start_over();
            end = match prospect(plan, &view, &needs, state, verdicts, budget)? {
                Prospect::Hopeless => End::Exhausted,
                Prospect::Open(guide) => {
                    let (guide, patience) = (Some(guide), u64::MAX);
                    Search { plan, needs: &needs, verdicts, budget, state, guide, patience, met_defect }.run()?
                }
            };
        }
        match end {
            End::Solved(solution) => {
                let allocations: Result<_, Fatal> =
                    build(plan, &view, &node.metadata.name, profile, way.quirks, &solution, &mut Common::default());
                Ok(Reply::Fits(allocations?))
            }
            End::Exhausted | End::Tired => Ok(Reply::Refuses(wants_reasons.then(|| {
                let mut refusal = funnel::empty(node);
                let inspection = Inspection { cluster: self.cluster, plan, overlay: self.overlay };
                funnel::fill(&mut refusal, &inspection, &view, verdicts, &needs);
                Box::new(refusal)
            }))),
        }
    }
}
