//! Pods that ask a cluster the same while it stays as it is: what all nodes have against one of them, they have against the others.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::attempt::{Failure, Scheduler};
use super::classes::NodeAsks;
use super::filter::Asked;
use super::preemption::never_preempts;
use super::refusal::{Cause, Nodes};
use super::topology::Asks;
use crate::api::claim::{ResourceClaim, ResourceClaimSpec};
use crate::api::pod::ResourceRequirements;

/// Nodes in all answers that are kept, and answers, at most; the oldest goes first.
const MOST_NODES: usize = 50_000;
const MOST: usize = 256;

/// Answers to Pods without a place, kept as long as nothing changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownRefusals(VecDeque<(PodAsks, String, Arc<Nodes>)>);

/// Everything that the answer to such a Pod depends on.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct PodAsks {
    namespace: String,
    nodes: NodeAsks,
    /// What each container asks for: devices may take something of the node for it.
    containers: Vec<ResourceRequirements>,
    /// What they call the claims.
    entries: Vec<String>,
    claims: Vec<Arc<ResourceClaimSpec>>,
    /// Where placed Pods matter: what it asks of them, and the labels by which they ask for it.
    around: Option<(Asks, BTreeMap<String, String>)>,
    scheduler: String,
    priority: i64,
    never_preempts: bool,
}

impl Scheduler<'_> {
    /// What makes a Pod equal to others, where answers are kept; `None` where more than that matters.
    pub(super) fn asks_alike(&self, asked: &Asked<'_>) -> Option<PodAsks> {
        self.refusals.as_ref()?;
        let (filters, pod) = (&asked.filters, asked.pod());
        let has_other_claims = asked.claims.len() != asked.needs.len();
        let is_odd = asked.asks || has_other_claims || !filters.shared_volumes.is_nothing();
        let is_nominated = !pod.status.nominated_node_name.is_empty();
        let containers = pod.spec.init_containers.iter().chain(&pod.spec.containers);
        let is_narrowed = !self.without.is_empty() || self.only.is_some() || !self.barred.is_empty();
        (!is_odd && !is_nominated && !is_narrowed).then(|| PodAsks {
            namespace: pod.metadata.namespace.clone(),
            nodes: asked.of_nodes(),
            containers: containers.map(|container| container.resources.clone()).collect(),
            entries: pod.spec.resource_claims.iter().map(|entry| entry.name.clone()).collect(),
            claims: asked.claims.iter().map(|claim| Arc::clone(&claim.spec)).collect(),
            around: filters.wanted.as_ref().map(|wanted| (wanted.asks.clone(), pod.metadata.labels.clone())),
            scheduler: pod.scheduler().to_owned(),
            priority: pod.priority(),
            never_preempts: never_preempts(pod),
        })
    }

    /// The answer to a Pod that asks the same as one before. What would be changed for it is left out.
    pub(super) fn known_refusal(&self, asks: &PodAsks, claims: &[ResourceClaim]) -> Option<Failure> {
        let (_, message, nodes) = self.refusals.as_ref()?.0.iter().find(|(known, ..)| known == asks)?;
        let cause = Cause::Nodes { nodes: Arc::clone(nodes), claims: names(claims) };
        Some(Failure { cause, preemption: nodes.preemption.clone(), ..Failure::unfit(message.clone()) })
    }

    /// Keeps the answer to a Pod for those that ask the same.
    pub(super) fn keep_refusal(&mut self, asks: PodAsks, failure: &Failure) {
        if let (Some(KnownRefusals(known)), Cause::Nodes { nodes, .. }) = (&mut self.refusals, &failure.cause) {
            let most = MOST_NODES.checked_div(nodes.count).unwrap_or(MOST).min(MOST);
            known.truncate(most.saturating_sub(1));
            known.push_front((asks, failure.message.clone(), Arc::clone(nodes)));
        }
    }
}

/// The names of claims, in their order.
pub(super) fn names(claims: &[ResourceClaim]) -> Vec<String> {
    claims.iter().map(|claim| claim.metadata.name.clone()).collect()
}
