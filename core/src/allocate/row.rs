//! Equal claims one after another on one node.
//!
//! What is found out about the node for the first claim holds for the next ones, except for what claims take; that is kept as a
//! search keeps its picks. A claim that a plain search does not place is left to a question of its own, and so is everything
//! that known defects of the reference could change.

use std::sync::Arc;

use super::failure::Fatal;
use super::judge::Judge;
use super::node::PATIENCE;
use super::pick::State;
use super::plan::{Plan, Unit};
use super::pools::{NodeView, Overlay, gather};
use super::precheck::{Needs, Stop, check};
use super::quirks::Quirks;
use super::result::{Common, build};
use super::search::{End, Search, Solution};
use super::select::Verdicts;
use super::{Answer, Asked, Budget, KnownQuestion, Limits, Outcome, differences, nodes, overlay};
use crate::api::claim::{AllocationMode, ResourceClaim};
use crate::api::node::Node;
use crate::arrange::Arrange;
use crate::cluster::{Cluster, Memory, NodePools};

/// Cuts claims into rows: how many follow one another that ask for the same and have no devices yet. Where one is there twice, each is a
/// row of its own.
pub(super) fn lengths(claims: &[&ResourceClaim]) -> Vec<usize> {
    let mut seen: Vec<*const ResourceClaim> = claims.iter().copied().map(std::ptr::from_ref).collect();
    seen.arrange();
    seen.dedup();
    if seen.len() < claims.len() {
        return vec![1; claims.len()];
    }
    let is_free = |claim: &ResourceClaim| claim.status.allocation.is_none();
    let is_alike = |a: &ResourceClaim, b: &ResourceClaim| Arc::ptr_eq(&a.spec, &b.spec) || a.spec == b.spec;
    claims.chunk_by(|a, b| is_free(a) && is_free(b) && is_alike(a, b)).map(<[_]>::len).collect()
}

/// The answers to questions about each claim of a row, as far as they can be found together: maybe none, and all of them allocations.
pub(super) fn answers<'c>(
    cluster: &'c Cluster,
    memory: &mut Memory,
    claims: &[&'c ResourceClaim],
    question: &'c KnownQuestion,
    limits: &Limits,
) -> Vec<Answer> {
    let Some((first, _)) = claims.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Vec::new();
    };
    let asked = Asked { claims: vec![*first], nodes: &question.nodes, in_use: &question.in_use, barred: &[] };
    let mut plan = Plan::new(&asked.claims, cluster);
    let name = nodes::candidates(cluster, &asked).next().filter(|_| nodes::is_only_one(cluster, &asked));
    let Some(name) = name.filter(|_| plan.units.iter().all(is_plain) && differences::is_up_to_search(cluster, &asked))
    else {
        return Vec::new();
    };
    let overlay = &overlay(cluster, asked.in_use, asked.barred);
    let mut judge = Judge::new(&plan, cluster.profile(), std::mem::take(&mut memory.selectors));
    let row = Row { cluster, overlay, node: &nodes::named(cluster, name), limits };
    let mut answers = Vec::with_capacity(claims.len());
    // Whatever stops it is told by the question of its own.
    let _ = row.place(&mut plan, claims, &mut memory.pools, &mut judge, &mut answers);
    memory.selectors = judge.into_selectors();
    answers
}

/// Whether what the unit may pick only depends on what is free.
fn is_plain(unit: &Unit<'_>) -> bool {
    *unit.mode == AllocationMode::ExactCount && !unit.has_admin_access()
}

struct Row<'r, 'c> {
    cluster: &'c Cluster,
    overlay: &'c Overlay,
    node: &'r Node,
    limits: &'r Limits,
}

impl<'c> Row<'_, 'c> {
    fn place(
        &self,
        plan: &mut Plan<'c>,
        claims: &[&'c ResourceClaim],
        pools: &mut NodePools,
        judge: &mut Judge<'c>,
        answers: &mut Vec<Answer>,
    ) -> Result<(), Stop> {
        let (cluster, profile) = (self.cluster, self.cluster.profile());
        let view = gather(cluster, pools, self.overlay, self.node, judge.selectors())?;
        if view.mixes_counters() || has_unmeasured_shares(&view) {
            return Ok(());
        }
        let mut verdicts = Verdicts::new(plan, &view, self.node, profile, judge);
        let needs = check(plan, &view, profile, &mut verdicts, &mut Budget::unlimited())?;
        let mut state = State::new(cluster, self.overlay, plan, &view, Quirks::default());
        let mut common = Common::default();
        for claim in claims {
            if let Some(place) = plan.claims.first_mut() {
                place.claim = claim;
            }
            verdicts.start_over();
            let mut budget = Budget { steps: 0, limit: self.limits.max_steps };
            let Some(solution) = search(plan, &needs, &mut verdicts, &mut state, &mut budget)? else {
                break;
            };
            let (node, quirks) = (self.node.metadata.name.clone(), Quirks::default());
            let allocations: Result<_, Fatal> = build(plan, &view, &node, profile, quirks, &solution, &mut common);
            state.settle(solution.picks.iter().map(|(_, picked)| picked));
            let outcome = Outcome::Allocated { node, allocations: allocations? };
            answers.push(Answer { outcome, findings: Vec::new(), steps: budget.steps });
        }
        Ok(())
    }
}

/// What a plain search finds, unless it met a defect of the reference.
fn search<'c>(
    plan: &Plan<'c>,
    needs: &Needs,
    verdicts: &mut Verdicts<'_, 'c>,
    state: &mut State<'_, 'c>,
    budget: &mut Budget,
) -> Result<Option<Solution<'c>>, Stop> {
    let mut met_defect = false;
    let (guide, patience) = (None, PATIENCE);
    let end = Search { plan, needs, verdicts, budget, state, guide, patience, met_defect: &mut met_defect }.run()?;
    Ok(match end {
        End::Solved(solution) if !met_defect => Some(solution),
        End::Solved(_) | End::Exhausted | End::Tired => None,
    })
}

/// Whether some shared device draws from counters and has no capacities of its own: the defects of the reference look at whether a claim of
/// the cluster has a share of it.
fn has_unmeasured_shares(view: &NodeView<'_>) -> bool {
    view.devices.iter().any(|device| {
        device.is_shared && device.device.capacity.is_empty() && !device.device.consumes_counters.is_empty()
    })
}
