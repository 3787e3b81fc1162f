//! The filters as one Pod meets them, for who looks at nodes one by one: explanations ask which nodes would take a Pod if only there were devices.

use std::collections::BTreeMap;

use super::NodeCache;
use super::declared;
use super::node_fit::{self, NodeState, Resources, requests};
use super::plan::Plan;
use super::topology::{Topology, Wanted};
use super::volumes::Volumes;
use crate::allocate::extended::ExtendedResources;
use crate::api::pod::Pod;
use crate::cluster::Cluster;

/// What one Pod asks of a node beside devices.
#[derive(Clone, Debug)]
pub(crate) struct PodFilters {
    /// The Pod as the filters see it.
    pod: Pod,
    requests: Resources,
    plan: Plan,
    volumes: Volumes,
    features: Vec<&'static str>,
    /// Where the placed Pods are that have to do with it.
    neighbours: Option<(Topology, Wanted)>,
}

impl PodFilters {
    pub(crate) fn of(cluster: &Cluster, book: &NodeCache, own: &Pod) -> Self {
        let version = cluster.profile().version;
        let plan = Plan::of(cluster, own, version);
        let pod = plan.seen(cluster, own).unwrap_or_else(|| own.clone());
        let neighbours = book.topology.concerns((&pod, own)).then(|| {
            let mut topology = book.topology.clone();
            topology.wanted((&pod, own)).map(|wanted| (topology, wanted))
        });
        let features = if plan.asks_for_features() { declared::needed(&pod, version) } else { Vec::new() };
        let volumes = plan.volumes(Volumes::of(cluster, own));
        Self { requests: plan.asked(requests(&pod)), pod, plan, volumes, features, neighbours: neighbours.flatten() }
    }

    /// Whether a node refuses the Pod. Of its resources, devices serve some there.
    pub(crate) fn refuse(&self, state: &NodeState, extended: Option<&ExtendedResources>) -> bool {
        let mut requests = self.requests.clone();
        requests.retain(|name, _| extended.is_none_or(|extended| !extended.resources.contains(name)));
        !state.refusals(&self.pod, &requests).is_empty() || self.keep_off(state)
    }

    /// Whether something keeps the Pod off a node that neither the node's own fields nor what is left there decide.
    pub(crate) fn keep_off(&self, state: &NodeState) -> bool {
        let node = &state.node;
        let added = self.plan.added();
        added.is_some_and(|added| !node_fit::selected(&BTreeMap::new(), Some(added), node))
            || self.volumes.refusal(node).is_some()
            || self.neighbours.as_ref().is_some_and(|(topology, wanted)| topology.refusal(wanted, node).is_some())
            || declared::missing(&self.features, node).is_some()
    }
}
