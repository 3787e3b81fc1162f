//! Nodes compared as the default profile of kube-scheduler compares them: each plugin scores the nodes that fit, from 0 to 100, and the sum
//! with the plugins' weights decides. Of the best nodes kube-scheduler draws one; here it is the first by name.
//!
//! What depends on a node and the Pod alone is kept for each class of Pods, and counted anew for nodes that changed. Where nothing else
//! differs between nodes, they are tried from the best one down; otherwise all that fit are compared, because some plugins measure
//! nodes by the best of them.
//!
//! Source: `pkg/scheduler/apis/config/v1/default_plugins.go`, `pkg/scheduler/framework/plugins`.

pub(crate) mod images;
mod resources;
mod rules;

use std::sync::Arc;

pub(super) use images::Images;
pub(super) use resources::{Load, amounts};
pub(super) use rules::Rules;

use super::node_cache::NodeCache;
use super::node_fit::{NodeState, Resources, is_tolerated, selects};
use super::pod_filters::PodFilters;
use super::topology::{Leanings, Selector};
use super::volumes::Volumes;
use crate::api::node::{Node, NodeSelector, NodeTaint};
use crate::api::pod::{NodeToleration, Pod, PreferredSchedulingTerm};
use crate::api::read::{Json, Path};
use crate::api::source::LabelSelector;
use crate::api::workload::WorkloadSpec;
use crate::cluster::Cluster;
use crate::profile::Version;

/// The best score of a plugin.
const MOST: i64 = 100;

/// Most classes whose scores are kept; the one that was not asked about for longest goes first.
const MOST_CLASSES: usize = 512;

/// A plugin that scores nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Plugin {
    /// Taints that are only to be avoided.
    TaintToleration,
    /// Preferred nodes.
    NodeAffinity,
    /// What is left of processors and memory.
    NodeResourcesFit,
    /// Free volumes that claims fill.
    VolumeBinding,
    /// Spread that may be broken.
    PodTopologySpread,
    /// Preferred neighbours.
    InterPodAffinity,
    /// Early alternatives of prioritised lists.
    DynamicResources,
    /// Processors and memory taken in equal parts.
    NodeResourcesBalancedAllocation,
    /// Images that are there.
    ImageLocality,
}

impl Plugin {
    /// All of them, in kube-scheduler's order.
    pub const ALL: [Self; 9] = [
        Self::TaintToleration,
        Self::NodeAffinity,
        Self::NodeResourcesFit,
        Self::VolumeBinding,
        Self::PodTopologySpread,
        Self::InterPodAffinity,
        Self::DynamicResources,
        Self::NodeResourcesBalancedAllocation,
        Self::ImageLocality,
    ];

    /// kube-scheduler's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::TaintToleration => "TaintToleration",
            Self::NodeAffinity => "NodeAffinity",
            Self::NodeResourcesFit => "NodeResourcesFit",
            Self::VolumeBinding => "VolumeBinding",
            Self::PodTopologySpread => "PodTopologySpread",
            Self::InterPodAffinity => "InterPodAffinity",
            Self::DynamicResources => "DynamicResources",
            Self::NodeResourcesBalancedAllocation => "NodeResourcesBalancedAllocation",
            Self::ImageLocality => "ImageLocality",
        }
    }

    /// How much its scores count. `DynamicResources` scores from 1.35 on, `VolumeBinding` from 1.37 on.
    pub fn weight(self, version: Version) -> i64 {
        match self {
            Self::TaintToleration => 3,
            Self::NodeAffinity | Self::PodTopologySpread | Self::InterPodAffinity => 2,
            Self::DynamicResources if version < Version::V1_35 => 0,
            Self::DynamicResources => 2,
            Self::VolumeBinding if version < Version::V1_37 => 0,
            Self::VolumeBinding
            | Self::NodeResourcesFit
            | Self::NodeResourcesBalancedAllocation
            | Self::ImageLocality => 1,
        }
    }
}

/// The scores of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeScores {
    /// Name of the node.
    pub node: String,
    /// Of each plugin, from 0 to 100, in the order of [`Plugin::ALL`].
    pub plugins: [i64; Plugin::ALL.len()],
    /// Their sum with the weights.
    pub total: i64,
}

/// How the nodes compared that fitted a Pod.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scores {
    /// The first by name of the best nodes.
    pub chosen: Option<NodeScores>,
    /// How many nodes are best.
    pub ties: usize,
    /// All of them by name, or the chosen one alone.
    pub nodes: Vec<NodeScores>,
}

impl Scores {
    fn of(nodes: Vec<NodeScores>) -> Self {
        let best = nodes.iter().map(|scores| scores.total).max();
        let mut best = nodes.iter().filter(|scores| Some(scores.total) == best);
        let chosen = best.next().cloned();
        Self { ties: best.count().saturating_add(usize::from(chosen.is_some())), chosen, nodes }
    }

    /// The same, or of the nodes the chosen one alone.
    pub(crate) fn kept(self, is_brief: bool) -> Self {
        let nodes = if is_brief { self.chosen.iter().cloned().collect() } else { self.nodes };
        Self { nodes, ..self }
    }
}

/// What a Pod asks, as far as it matters for the scores that a node has whatever the other nodes are.
#[derive(Clone, PartialEq, Debug)]
struct Wants {
    load: Load,
    images: images::Wanted,
    /// What is compared beside processors and memory.
    others: Resources,
    rules: Arc<Rules>,
}

/// Scores of `NodeResourcesFit`, `NodeResourcesBalancedAllocation` and `ImageLocality`.
type Own = [i64; 3];

/// The scores of one class of Pods, by position of nodes.
#[derive(Clone, Debug)]
struct Class {
    wants: Wants,
    scores: Vec<Own>,
    /// The latest change of a node that was taken in.
    heard: u64,
    used: u64,
}

/// The scores of classes of Pods.
#[derive(Clone, Debug, Default)]
pub(super) struct Utilities {
    classes: Vec<Class>,
    uses: u64,
}

impl Utilities {
    /// Forgets everything: nodes came, went or got images.
    pub(super) fn clear(&mut self) {
        self.classes.clear();
    }

    /// The number of a Pod's class, whose scores are up to date.
    fn refresh(&mut self, wants: Wants, nodes: &[NodeState], images: &Images) -> usize {
        self.uses = self.uses.saturating_add(1);
        let number = self.classes.iter().position(|class| class.wants == wants).unwrap_or_else(|| {
            let oldest = self.classes.iter().enumerate().min_by_key(|(_, class)| class.used).map(|(number, _)| number);
            let class = Class { wants, scores: vec![[0; 3]; nodes.len()], heard: 0, used: 0 };
            match oldest.filter(|_| self.classes.len() >= MOST_CLASSES) {
                Some(number) => {
                    if let Some(old) = self.classes.get_mut(number) {
                        *old = class;
                    }
                    number
                }
                None => {
                    self.classes.push(class);
                    self.classes.len().saturating_sub(1)
                }
            }
        });
        let Some(class) = self.classes.get_mut(number) else { return number };
        class.used = self.uses;
        let heard = class.heard;
        for (state, scores) in nodes.iter().zip(&mut class.scores).filter(|(state, _)| state.changed() > heard) {
            *scores = own(&class.wants, state, images, nodes.len());
            class.heard = class.heard.max(state.changed());
        }
        number
    }

    fn of(&self, number: usize, position: usize) -> Own {
        self.classes.get(number).and_then(|class| class.scores.get(position)).copied().unwrap_or_default()
    }
}

fn own(wants: &Wants, state: &NodeState, images: &Images, nodes: usize) -> Own {
    let Wants { load, others, rules, .. } = wants;
    [
        resources::fit(rules, state, *load, others),
        resources::balanced(rules, state, *load, others),
        images.score(&wants.images, state.name(), nodes),
    ]
}

/// How nodes are compared for one Pod.
pub(super) struct Comparison<'p> {
    /// The Pod as it is.
    pod: &'p Pod,
    rules: Arc<Rules>,
    leanings: Leanings,
    preferred: Vec<(NodeSelector, i64)>,
    /// Where its volumes can be used.
    volumes: &'p Volumes,
    /// The class of the Pod.
    class: usize,
    /// Whether nodes differ only in what they have themselves.
    pub(super) is_plain: bool,
}

impl NodeCache {
    /// How nodes are compared for a Pod that asks for so much.
    pub(super) fn comparison<'p>(
        &mut self,
        cluster: &Cluster,
        filters: &'p PodFilters<'p>,
        requests: &Resources,
    ) -> Comparison<'p> {
        let PodFilters { own: pod, seen, volumes, .. } = filters;
        let rules = &filters.plan.rules;
        self.reckon(cluster);
        let like = if rules.spreads_by_default { alike(cluster, pod) } else { None };
        let leanings = self.topology.leanings((seen, pod), &Selector::of(like.as_ref()), rules.ignores_terms);
        let mut others = requests.clone();
        others.retain(|name, _| rules.compares(name));
        let images = images::Wanted::of(pod, rules.version);
        let wants = Wants { load: Load::of_new(pod, requests), images, others, rules: Arc::clone(rules) };
        let class = self.utilities.refresh(wants, &self.nodes, &self.images);
        let preferred = preferred(seen);
        let has_volumes = volumes.has_open() && rules.weight(Plugin::VolumeBinding) > 0;
        let compares = has_volumes || self.has_soft_taints() || leanings.has_spread() || leanings.has_affinity();
        let is_plain = preferred.is_empty() && !compares;
        Comparison { pod, rules: Arc::clone(rules), leanings, preferred, volumes, class, is_plain }
    }

    /// The score of a node where nothing else differs between nodes.
    pub(super) fn plain_score(&self, comparison: &Comparison<'_>, position: usize) -> i64 {
        let plugins = [Plugin::NodeResourcesFit, Plugin::NodeResourcesBalancedAllocation, Plugin::ImageLocality];
        let scores = self.utilities.of(comparison.class, position).into_iter().zip(plugins);
        scores.fold(0, |sum, (score, plugin)| sum.saturating_add(score.saturating_mul(comparison.rules.weight(plugin))))
    }

    /// The scores of nodes that fit, by position, each with that of its devices.
    pub(super) fn scores(&self, comparison: &Comparison<'_>, fitting: &[(usize, i64)]) -> Scores {
        let states: Vec<(usize, &NodeState, i64)> =
            fitting.iter().filter_map(|(position, devices)| Some((*position, self.at(*position)?, *devices))).collect();
        let nodes: Vec<&Node> = states.iter().map(|(_, state, _)| &*state.node).collect();
        let of_all = |score: &dyn Fn(&Node) -> i64| nodes.iter().map(|node| score(node)).collect::<Vec<i64>>();
        let Comparison { pod, rules, leanings, preferred, volumes, .. } = comparison;
        let taints = reversed(of_all(&|node| untolerated(&node.spec.taints, &pod.spec.tolerations)));
        let affinity = to_highest(of_all(&|node| {
            let terms = preferred.iter().filter(|(term, _)| selects(term, node));
            terms.fold(0, |sum, (_, weight)| sum.saturating_add(*weight))
        }));
        let spread = if leanings.has_spread() {
            uncrowded(self.topology.crowds(leanings, &nodes))
        } else {
            vec![0; nodes.len()]
        };
        let attraction = stretched(of_all(&|node| self.topology.attraction(leanings, node, rules.required)));
        let devices = to_highest(states.iter().map(|(.., devices)| *devices).collect());
        let rows = states.iter().zip(taints).zip(affinity).zip(spread).zip(attraction).zip(devices);
        let nodes = rows.map(|((((((position, state, _), taints), affinity), spread), attraction), devices)| {
            let [fit, balanced, images] = self.utilities.of(comparison.class, *position);
            let filled = rules.filled(&volumes.sums(&state.node));
            let mut plugins = [taints, affinity, fit, filled, spread, attraction, devices, balanced, images];
            for (score, weight) in plugins.iter_mut().zip(rules.weights) {
                *score = if weight == 0 { 0 } else { *score };
            }
            let weighted = rules.weights.iter().zip(plugins);
            let total = weighted.fold(0i64, |sum, (weight, score)| sum.saturating_add(weight.saturating_mul(score)));
            NodeScores { node: state.name().to_owned(), plugins, total }
        });
        Scores::of(nodes.collect())
    }
}

/// Which Pods are like one, as its owner says and the Services that it belongs to; `None` where nobody says that.
pub(super) fn alike(cluster: &Cluster, pod: &Pod) -> Option<LabelSelector> {
    let labels = &pod.metadata.labels;
    let mut like = LabelSelector::default();
    for service in cluster.services(&pod.metadata.namespace) {
        let selector = service.rest.get("spec").and_then(|spec| spec.get("selector")).cloned();
        let selector = selector.and_then(|selector| Json::read(selector, &Path::ROOT, &mut Vec::new()).ok());
        let own = LabelSelector { match_labels: selector.unwrap_or_default(), ..LabelSelector::default() };
        if !own.match_labels.is_empty() && own.matches(labels) {
            like.match_labels.extend(own.match_labels);
        }
    }
    let owner = pod.metadata.controller().filter(|owner| owner.api_version == "apps/v1");
    let workload = owner.and_then(|owner| {
        cluster.workloads().get(&(owner.kind.clone(), pod.metadata.namespace.clone(), owner.name.clone()))
    });
    let selector = match workload.map(|workload| &workload.spec) {
        Some(WorkloadSpec::ReplicaSet(spec)) => spec.rest.get("selector"),
        Some(WorkloadSpec::StatefulSet(spec)) => spec.rest.get("selector"),
        _ => None,
    };
    let selector = selector.cloned().and_then(|value| LabelSelector::read(value, &Path::ROOT, &mut Vec::new()).ok());
    if let Some(own) = selector {
        like.match_labels.extend(own.match_labels);
        like.match_expressions.extend(own.match_expressions);
    }
    (like != LabelSelector::default()).then_some(like)
}

/// Preferred nodes, each with its weight.
fn preferred(pod: &Pod) -> Vec<(NodeSelector, i64)> {
    let affinity = pod.spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
    let terms = affinity.into_iter().flat_map(|affinity| &affinity.preferred);
    let says = |term: &&PreferredSchedulingTerm| {
        let preference = &term.preference;
        term.weight != 0 && !(preference.match_expressions.is_empty() && preference.match_fields.is_empty())
    };
    let of_term = |term: &PreferredSchedulingTerm| {
        (NodeSelector { terms: vec![term.preference.clone()], ..NodeSelector::default() }, term.weight)
    };
    terms.filter(says).map(of_term).collect()
}

/// How many taints that are only to be avoided a Pod does not tolerate.
fn untolerated(taints: &[NodeTaint], tolerations: &[NodeToleration]) -> i64 {
    let soft = taints.iter().filter(|taint| taint.is_soft());
    i64::try_from(soft.filter(|taint| !is_tolerated(taint, tolerations)).count()).unwrap_or(i64::MAX)
}

/// Parts of the highest, from 0 to 100.
fn to_highest(scores: Vec<i64>) -> Vec<i64> {
    let highest = scores.iter().copied().max().unwrap_or_default().max(0);
    if highest == 0 {
        return scores;
    }
    let part = |score: i64| MOST.saturating_mul(score).checked_div(highest).unwrap_or_default();
    scores.into_iter().map(part).collect()
}

/// The same where fewer is better.
fn reversed(scores: Vec<i64>) -> Vec<i64> {
    to_highest(scores).into_iter().map(|score| MOST.saturating_sub(score)).collect()
}

/// From 0 for the lowest to 100 for the highest. Divides before it multiplies, as upstream does.
fn stretched(scores: Vec<i64>) -> Vec<i64> {
    let lowest = scores.iter().copied().min().unwrap_or_default();
    let width = scores.iter().copied().max().unwrap_or_default().saturating_sub(lowest);
    let part = |score: i64| match width {
        ..=0 => 0,
        _ => (MOST as f64 * (score.saturating_sub(lowest) as f64 / width as f64)) as i64,
    };
    scores.into_iter().map(part).collect()
}

/// The less crowded the better; nothing for nodes that are not compared.
fn uncrowded(crowds: Vec<Option<i64>>) -> Vec<i64> {
    let compared = || crowds.iter().flatten().copied();
    let highest = compared().max().unwrap_or_default().max(0);
    let lowest = compared().min().unwrap_or_default();
    let score = |crowd: Option<i64>| {
        let Some(crowd) = crowd else { return 0 };
        let left = highest.saturating_add(lowest).saturating_sub(crowd);
        MOST.saturating_mul(left).checked_div(highest).unwrap_or(MOST)
    };
    crowds.iter().copied().map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_normalised_as_each_plugin_does_it() {
        assert_eq!(to_highest(vec![10, 20, 0]), [50, 100, 0]);
        assert_eq!(to_highest(vec![0, 0]), [0, 0]);
        assert_eq!(reversed(vec![0, 1, 3]), [100, 67, 0]);
        assert_eq!(reversed(vec![0, 0]), [100, 100]);
        // 29/50 is a little less than 0.58.
        assert_eq!(stretched(vec![0, 29, 50]), [0, 57, 100]);
        assert_eq!(stretched(vec![-3, 0, 4]), [0, 42, 100]);
        assert_eq!(stretched(vec![7, 7]), [0, 0]);
        assert_eq!(uncrowded(vec![Some(2), Some(3), None]), [100, 66, 0]);
        assert_eq!(uncrowded(vec![Some(0), Some(0), None]), [100, 100, 0]);
    }

    #[test]
    fn weights_are_those_of_the_default_profile() {
        let weights = |version| Plugin::ALL.map(|plugin| plugin.weight(version));
        assert_eq!(weights(Version::V1_34), [3, 2, 1, 0, 2, 2, 0, 1, 1]);
        assert_eq!(weights(Version::V1_35), [3, 2, 1, 0, 2, 2, 2, 1, 1]);
        assert_eq!(weights(Version::V1_37), [3, 2, 1, 1, 2, 2, 2, 1, 1]);
        assert_eq!(weights(Version::All), weights(Version::V1_37));
    }
}
