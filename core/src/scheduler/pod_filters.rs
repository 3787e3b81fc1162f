//! What one Pod asks of a node beside devices, and what speaks against the node: the scheduler asks this, and explanations do.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::declared;
use super::node_fit::{self, NodeState, Refusal, Resources};
use super::plan::Plan;
use super::shared_volumes::SharedVolumes;
use super::topology::{Topology, Wanted};
use super::volumes::Volumes;
use crate::allocate::extended::ExtendedResources;
use crate::api::pod::Pod;
use crate::cluster::Cluster;

/// What one Pod asks of a node beside devices.
#[derive(Clone, Debug)]
pub(crate) struct PodFilters<'p> {
    /// The Pod as it is.
    pub(super) own: &'p Pod,
    /// The Pod as the filters see it.
    pub(super) seen: Cow<'p, Pod>,
    pub(super) plan: Plan,
    pub(super) requests: Resources,
    /// Where its volumes can be used.
    pub(super) volumes: Volumes,
    /// What of them concerns placed Pods.
    pub(super) shared_volumes: SharedVolumes,
    /// What nodes have to declare.
    pub(super) features: Vec<&'static str>,
    /// What it asks of placed Pods, or they of it.
    pub(super) wanted: Option<Wanted>,
}

/// A Pod as the filters of its scheduler see it, and what they ask of the resources of a node.
pub(crate) fn seen<'p>(cluster: &Cluster, pod: &'p Pod) -> (Cow<'p, Pod>, Resources) {
    seen_with(&Plan::of(cluster, pod, cluster.profile().version), cluster, pod)
}

fn seen_with<'p>(plan: &Plan, cluster: &Cluster, pod: &'p Pod) -> (Cow<'p, Pod>, Resources) {
    let seen = plan.seen(cluster, pod).map_or(Cow::Borrowed(pod), Cow::Owned);
    let requests = plan.asked(node_fit::requests(&seen));
    (seen, requests)
}

impl<'p> PodFilters<'p> {
    /// The filters of a Pod. `topology` keeps the answers to what it asks of placed Pods.
    pub(crate) fn of(cluster: &Cluster, topology: &mut Topology, own: &'p Pod) -> Self {
        let version = cluster.profile().version;
        let plan = Plan::of(cluster, own, version);
        let (seen, requests) = seen_with(&plan, cluster, own);
        Self {
            requests,
            volumes: plan.volumes(Volumes::of(cluster, own)),
            shared_volumes: plan.shared_volumes(SharedVolumes::of(cluster, own)),
            features: if plan.asks_for_features() { declared::needed(&seen, version) } else { Vec::new() },
            wanted: topology.wanted((&seen, own)),
            own,
            seen,
            plan,
        }
    }

    /// What it asks of the resources of a node of which devices serve some.
    pub(crate) fn requests_beside(&self, extended: Option<&ExtendedResources>) -> Cow<'_, Resources> {
        let Some(extended) = extended else { return Cow::Borrowed(&self.requests) };
        let mut requests = self.requests.clone();
        requests.retain(|name, _| !extended.resources.contains(name));
        Cow::Owned(requests)
    }

    /// What speaks against a node, in kube-scheduler's order: all that its own fields and what is left there say, else what comes first.
    pub(super) fn refusals(
        &self,
        topology: &Topology,
        state: &NodeState,
        extended: Option<&ExtendedResources>,
    ) -> Vec<Refusal> {
        if let Some(refusal) = self.volumes.keeps_from_all() {
            return vec![refusal];
        }
        let refusals = state.refusals(&self.seen, &self.requests_beside(extended));
        match refusals.as_slice() {
            [] => match self.shared_volumes.refusal(topology, &state.node) {
                Some(refusal) => vec![refusal],
                None => match self.volumes.refusals(&state.node) {
                    refusals if refusals.is_empty() => self.apart(topology, state).into_iter().collect(),
                    refusals => refusals,
                },
            },
            [Refusal::Affinity] if self.is_refused_by_added(state) => vec![Refusal::AddedAffinity],
            _ => refusals,
        }
    }

    /// Whether a node does not take the Pod. Of its resources, devices serve some there.
    pub(crate) fn refuse(&self, topology: &Topology, state: &NodeState, extended: Option<&ExtendedResources>) -> bool {
        !self.refusals(topology, state, extended).is_empty() || declared::missing(&self.features, &state.node).is_some()
    }

    /// Whether something keeps the Pod off a node that neither the node's own fields nor what is left there decide.
    pub(crate) fn keep_off(&self, topology: &Topology, state: &NodeState) -> bool {
        self.is_refused_by_added(state)
            || !self.volumes.refusals(&state.node).is_empty()
            || self.apart(topology, state).is_some()
            || declared::missing(&self.features, &state.node).is_some()
    }

    /// What placed Pods have to do with it that a node does not suit the Pod.
    pub(super) fn apart(&self, topology: &Topology, state: &NodeState) -> Option<Refusal> {
        let of_volumes = self.shared_volumes.refusal(topology, &state.node);
        of_volumes.or_else(|| topology.refusal(self.wanted.as_ref()?, &state.node))
    }

    /// Whether placed Pods have to do with it.
    pub(super) fn has_neighbours(&self) -> bool {
        self.wanted.is_some() || !self.shared_volumes.is_nothing()
    }

    fn is_refused_by_added(&self, state: &NodeState) -> bool {
        let added = self.plan.added();
        added.is_some_and(|added| !node_fit::selected(&BTreeMap::new(), Some(added), &state.node))
    }
}
