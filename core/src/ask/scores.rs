//! How nodes compare for Pods: the scores of kube-scheduler's default profile, with what each plugin says.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::allocate::Limits;
use crate::cluster::{Cluster, Key};
use crate::control_plane::{Simulation, scheduling_order};
use crate::explain::case::find;
use crate::finding::{Code, Finding, ObjectRef};
use crate::gather::Gather;
use crate::profile::{Profile, Ranking};
use crate::scheduler::{NodeScores, Plugin};

/// The question.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ScoresRequest {
    /// The Pods; where it is left out, all that get a node.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub pods: Vec<ObjectRef>,
    /// Whether only the chosen node is listed of each Pod.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub brief: bool,
}

/// How nodes compared for a Pod when it was placed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct PodScores {
    /// The Pod.
    pub pod: ObjectRef,
    /// The node with the best score, of equal ones the first by name; absent where none fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    /// Its score.
    pub score: i64,
    /// How many nodes have this score: kube-scheduler draws one of them.
    pub ties: u64,
    /// Whether the Pod had its node before. Nodes are compared as they are at the end then, as if only this Pod had none.
    pub had_node: bool,
    /// How much a score of each plugin counts.
    pub weights: BTreeMap<String, i64>,
    /// The nodes that fit, by name, or the chosen one alone.
    pub nodes: Vec<NodeScore>,
}

/// The scores of a node.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct NodeScore {
    /// Name of the node.
    pub node: String,
    /// The sum of all plugins' scores with their weights.
    pub score: i64,
    /// What each plugin gives it, from 0 to 100.
    pub plugins: BTreeMap<String, i64>,
}

/// Lets a cluster's control plane settle that places Pods by scores, whatever the cluster's profile says, and gives the scores of Pods:
/// those that are named, or all that got a node in the order of scheduling.
///
/// # Errors
///
/// A finding for a Pod that does not exist, and for what is no Pod.
pub fn scores(cluster: &Cluster, request: &ScoresRequest, limits: &Limits) -> Result<Vec<PodScores>, Vec<Finding>> {
    let mut scored = cluster.clone();
    scored.set_profile(Profile { placement: Ranking::Scores, ..cluster.profile().clone() });
    let mut simulation = Simulation::of(&scored, *limits);
    simulation.record_scores(request.brief);
    // A cluster that still changes after the longest time is shown as it is then.
    simulation.settle();
    let keys = match request.pods.is_empty() {
        true => scheduling_order(simulation.server().cluster()),
        false => request.pods.iter().map(|pod| named(simulation.server().cluster(), pod)).collect::<Result<_, _>>()?,
    };
    let mut found: Vec<PodScores> = keys.iter().map(|key| of_pod(&mut simulation, key)).collect();
    if request.pods.is_empty() {
        found.retain(|scores| scores.chosen.is_some() && !scores.had_node);
    }
    Ok(found)
}

fn named(cluster: &Cluster, pod: &ObjectRef) -> Result<Key, Vec<Finding>> {
    if pod.kind != "Pod" {
        let message = format!("nodes are compared for Pods, and `{}` is no Pod", pod.kind);
        return Err(vec![Finding::new(Code::ReadBadSettings, "pods", message).with_hint("name a Pod")]);
    }
    find(cluster, pod)
}

fn of_pod(simulation: &mut Simulation, key: &Key) -> PodScores {
    let pod = simulation.server().cluster().pods().get(key);
    let had_node = pod.is_some_and(|pod| simulation.had_node(pod));
    let scores = if had_node { simulation.compare_now(key) } else { simulation.scores_of(key).cloned() };
    let scores = scores.unwrap_or_default();
    let version = simulation.server().cluster().profile().version;
    let weights = Plugin::ALL.map(|plugin| (plugin.name().to_owned(), plugin.weight(version)));
    PodScores {
        pod: ObjectRef::new("Pod", &*key.0, &*key.1),
        chosen: scores.chosen.as_ref().map(|chosen| chosen.node.clone()),
        score: scores.chosen.as_ref().map_or(0, |chosen| chosen.total),
        ties: scores.ties as u64,
        had_node,
        weights: weights.into(),
        nodes: scores.nodes.iter().map(node_score).collect(),
    }
}

fn node_score(scores: &NodeScores) -> NodeScore {
    let named = Plugin::ALL.iter().zip(scores.plugins).map(|(plugin, score)| (plugin.name().to_owned(), score));
    NodeScore { node: scores.node.clone(), score: scores.total, plugins: named.gather() }
}
