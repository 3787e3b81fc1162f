//! What the configuration of kube-scheduler says of one Pod: which plugins filter and score, with what weight and arguments.
//!
//! What filters is written into the Pod as the filters see it, so that they need to know nothing of configurations.
//!
//! Source: `pkg/scheduler/framework/runtime/framework.go`, `pkg/scheduler/apis/config/v1/default_plugins.go`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::node_fit::{PODS, Resources};
use super::requests::HOST_PORT;
use super::scoring::{Plugin, Rules, alike};
use super::shared_volumes::SharedVolumes;
use super::volumes::Volumes;
use crate::api::node::{NodeSelector, NodeSelectorTerm, UNSCHEDULABLE};
use crate::api::pod::{Affinity, NodeAffinity, NodeToleration, Pod, TopologySpreadConstraint};
use crate::api::scheduler_configuration::{
    InterPodAffinityArgs, NodeAffinityArgs, NodeResourcesFitArgs, PluginSet, PodTopologySpreadArgs, SchedulerProfile,
    arguments,
};
use crate::cluster::Cluster;
use crate::gather::Gather;
use crate::profile::Version;

/// Prefix of the resources that Kubernetes itself counts.
const NATIVE: &str = "kubernetes.io/";

/// What the scheduler does for one Pod.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// How nodes are compared.
    pub(super) rules: Arc<Rules>,
    /// Plugins that do not filter.
    unused: Vec<&'static str>,
    /// Affinity that all Pods have beside their own.
    added: Option<NodeAffinity>,
    /// Resources that nodes need not have, and groups of such.
    ignored: (Vec<String>, Vec<String>),
    /// Constraints of Pods that have none; the system's own where that is not said.
    spread: Option<Vec<TopologySpreadConstraint>>,
    /// How many of the nodes that fit are compared, in percent.
    pub(super) compared: Option<i64>,
    /// Whether Pods take the place of others.
    pub(super) preempts: bool,
    /// Whether devices that keep a Pod from all nodes are given up.
    pub(super) relieves: bool,
}

/// Plugins that can be kept from filtering.
const FILTERS: [&str; 12] = [
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeDeclaredFeatures",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
];

impl Plan {
    /// The plan for a Pod.
    pub(super) fn of(cluster: &Cluster, pod: &Pod, version: Version) -> Self {
        match cluster.scheduler_profile(pod) {
            Some((profile, compared)) => Self { compared, ..Self::of_profile(profile, version) },
            None => Self {
                rules: Arc::new(Rules::usual(version)),
                unused: Vec::new(),
                added: None,
                ignored: (Vec::new(), Vec::new()),
                spread: None,
                compared: None,
                preempts: true,
                relieves: true,
            },
        }
    }

    fn of_profile(profile: &SchedulerProfile, version: Version) -> Self {
        let none = PluginSet::default();
        let at = |point: &str| profile.plugins.get(point).unwrap_or(&none);
        let (all, score, filter) = (at("multiPoint"), at("score"), at("filter"));
        let runs = |plugin: &str, point: &PluginSet| {
            let is_off = |set: &PluginSet| set.disabled.iter().any(|entry| entry.name == plugin || entry.name == "*");
            let is_on = |set: &PluginSet| set.enabled.iter().any(|entry| entry.name == plugin);
            is_on(point) || (!is_off(point) && (is_on(all) || !is_off(all)))
        };
        let weight = |plugin: Plugin| {
            if !runs(plugin.name(), score) {
                return 0;
            }
            let mut sets = [score, all].into_iter().flat_map(|set| &set.enabled);
            match sets.find(|entry| entry.name == plugin.name()) {
                Some(entry) if plugin.weight(version) > 0 => entry.weight.max(1),
                _ => plugin.weight(version),
            }
        };
        let fit: NodeResourcesFitArgs = arguments(profile, "NodeResourcesFit");
        let affinity: InterPodAffinityArgs = arguments(profile, "InterPodAffinity");
        let spread: PodTopologySpreadArgs = arguments(profile, "PodTopologySpread");
        let added: NodeAffinityArgs = arguments(profile, "NodeAffinity");
        let balanced = arguments(profile, "NodeResourcesBalancedAllocation");
        let weights = Plugin::ALL.map(weight);
        let volumes = arguments(profile, "VolumeBinding");
        let rules = Rules::of(version, weights, fit.scoring_strategy, &balanced, &affinity, &volumes);
        let has_own_spread = spread.defaulting_type == "List";
        Self {
            rules: Arc::new(if has_own_spread { rules.with_own_spread() } else { rules }),
            unused: FILTERS.into_iter().filter(|plugin| !runs(plugin, filter)).collect(),
            added: added.added_affinity,
            ignored: (fit.ignored_resources, fit.ignored_resource_groups),
            spread: has_own_spread.then_some(spread.default_constraints),
            compared: None,
            preempts: runs("DefaultPreemption", at("postFilter")),
            relieves: runs("DynamicResources", at("postFilter")),
        }
    }

    /// Whether the filters see each Pod as it is.
    fn is_plain(&self) -> bool {
        let Self { unused, added, spread, .. } = self;
        unused.is_empty() && added.is_none() && spread.is_none()
    }

    fn is_unused(&self, plugin: &str) -> bool {
        self.unused.contains(&plugin)
    }

    /// Whether nodes have to declare what a Pod needs.
    pub(super) fn asks_for_features(&self) -> bool {
        !self.is_unused("NodeDeclaredFeatures")
    }

    /// What nodes are asked of a Pod's volumes.
    pub(super) fn volumes(&self, volumes: Volumes) -> Volumes {
        volumes.seen(!self.is_unused("VolumeBinding"), !self.is_unused("VolumeZone"))
    }

    /// What of a Pod's volumes concerns Pods that have places.
    pub(super) fn shared_volumes(&self, volumes: SharedVolumes) -> SharedVolumes {
        volumes.seen(!self.is_unused("VolumeRestrictions"), !self.is_unused("NodeVolumeLimits"))
    }

    /// The affinity that all Pods have, where it says which nodes are allowed.
    pub(super) fn added(&self) -> Option<&NodeSelector> {
        let added = self.added.as_ref().filter(|_| !self.is_unused("NodeAffinity"));
        added.and_then(|added| added.required.as_ref())
    }

    /// The Pod as the filters see it; `None` where that is as it is.
    pub(super) fn seen(&self, cluster: &Cluster, pod: &Pod) -> Option<Pod> {
        if self.is_plain() {
            return None;
        }
        let mut seen = pod.clone();
        let spec = &mut seen.spec;
        let exists = |key: &str| NodeToleration {
            key: key.to_owned(),
            operator: "Exists".to_owned(),
            ..NodeToleration::default()
        };
        if self.is_unused("TaintToleration") {
            let taints = cluster.nodes().values().flat_map(|node| &node.spec.taints);
            let keys: BTreeSet<&str> =
                taints.map(|taint| taint.key.as_str()).filter(|key| *key != UNSCHEDULABLE).gather();
            spec.tolerations.extend(keys.into_iter().map(exists));
        }
        if self.is_unused("NodeUnschedulable") {
            spec.tolerations.push(exists(UNSCHEDULABLE));
        }
        if self.is_unused("NodeAffinity") {
            spec.node_selector.clear();
            if let Some(affinity) = spec.affinity.as_mut().and_then(|affinity| affinity.node_affinity.as_mut()) {
                affinity.required = None;
            }
        }
        if let Some(added) = &self.added {
            let own = &mut spec.affinity.get_or_insert_with(Affinity::default).node_affinity;
            let own = own.get_or_insert_with(NodeAffinity::default);
            if let Some(more) = self.added() {
                own.required = Some(own.required.take().map_or_else(|| more.clone(), |own| both(&own, more)));
            }
            own.preferred.extend(added.preferred.iter().cloned());
        }
        if let Some(defaults) = self.spread.as_ref().filter(|_| spec.topology_spread_constraints.is_empty())
            && let Some(like) = alike(cluster, pod)
        {
            spec.topology_spread_constraints.extend(
                defaults
                    .iter()
                    .cloned()
                    .map(|constraint| TopologySpreadConstraint { label_selector: Some(like.clone()), ..constraint }),
            );
        }
        if self.is_unused("PodTopologySpread") {
            spec.topology_spread_constraints.retain(TopologySpreadConstraint::is_soft);
        }
        if let Some(affinity) = spec.affinity.as_mut().filter(|_| self.unused.contains(&"InterPodAffinity")) {
            for rules in [&mut affinity.pod_affinity, &mut affinity.pod_anti_affinity].into_iter().flatten() {
                rules.required.clear();
            }
        }
        Some(seen)
    }

    /// Whether nodes must have all that a Pod asks for.
    pub(super) fn asks_for_all(&self) -> bool {
        let (names, groups) = &self.ignored;
        names.is_empty() && groups.is_empty() && !self.is_unused("NodeResourcesFit") && !self.is_unused("NodePorts")
    }

    /// What nodes must have of what a Pod asks for.
    pub(super) fn asked(&self, mut requests: Resources) -> Resources {
        let (names, groups) = &self.ignored;
        let is_ignored = |name: &str| {
            let group = name.split_once('/').map(|(group, _)| group);
            let is_extended = group.is_some() && !name.starts_with(NATIVE);
            is_extended && (names.iter().any(|own| own == name) || groups.iter().any(|own| Some(own.as_str()) == group))
        };
        let has_no_fit = self.is_unused("NodeResourcesFit");
        let has_no_ports = self.is_unused("NodePorts");
        requests.retain(|name, _| match name.starts_with(HOST_PORT) {
            true => !has_no_ports,
            false => !has_no_fit && (name == PODS || !is_ignored(name)),
        });
        requests
    }
}

/// Nodes that both select.
fn both(one: &NodeSelector, other: &NodeSelector) -> NodeSelector {
    let joined = |one: &NodeSelectorTerm, other: &NodeSelectorTerm| {
        let mut term = one.clone();
        term.match_expressions.extend(other.match_expressions.iter().cloned());
        term.match_fields.extend(other.match_fields.iter().cloned());
        term
    };
    let is_empty = |term: &&NodeSelectorTerm| term.match_expressions.is_empty() && term.match_fields.is_empty();
    // A term that says nothing selects no node.
    let others = || other.terms.iter().filter(|term| !is_empty(term));
    let own = one.terms.iter().filter(|term| !is_empty(term));
    NodeSelector { terms: own.flat_map(|term| others().map(|other| joined(term, other))).collect(), ..one.clone() }
}
