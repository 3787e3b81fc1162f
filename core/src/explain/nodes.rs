//! Nodes that refuse a Pod for reasons of its own or of theirs, and that would do once these are gone.
//!
//! What is to be changed for a node is found by changing it and looking again until the node takes the Pod. Nodes for which the
//! same has to be changed are asked for the devices together.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::alike::Alike;
use super::case::Case;
use super::change::{Change, node_toleration};
use super::pod_manifest::{change_spec, requirements, written};
use super::relax::{AllocatorTrials, Suggestion, all_in_words, effort, warning};
use super::survey::Survey;
use super::{claim_manifest, propose, words};
use crate::allocate::extended::{self, ExtendedResources};
use crate::allocate::{Allowance, Place, Question, find_place_within};
use crate::api::claim::ResourceClaim;
use crate::api::node::NodeTaint;
use crate::api::pod::Pod;
use crate::api::quantity::Quantity;
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::scheduler::filter::reaches;
use crate::scheduler::node_fit::{self, NodeState, Refusal, Resources};
use crate::scheduler::pod_filters::{PodFilters, seen};
use crate::scheduler::special;
use crate::scheduler::topology::Topology;

/// Most suggestions of this kind.
const MOST: usize = 4;

/// Most groups of nodes that are asked for devices.
const MOST_TRIED: usize = 32;

/// Nodes that are named in a suggestion.
const SHOWN: usize = 6;

/// Nodes that take the Pod after the same changes, by what devices serve there of its resources.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    changes: Vec<Change>,
    extended: Option<ExtendedResources>,
    nodes: Vec<String>,
}

/// The groups of nodes that refuse Pods.
pub(crate) type Refusing = Alike<Vec<Group>>;

/// What would have the Pod of a case placed on nodes that refuse it, the smallest change first.
pub(crate) fn suggestions(
    cluster: &mut Cluster,
    case: &Case,
    known: &mut Refusing,
    allowance: &mut Allowance,
) -> Vec<Suggestion> {
    let Some(pod) = case.pod.as_ref().and_then(|key| cluster.pods().get(key)).cloned() else { return Vec::new() };
    let mut groups = groups(cluster, case, &pod, known);
    groups.arrange_by_key(|group| rank(&group.changes));
    let mut found: Vec<Suggestion> = Vec::new();
    let mut tried = 0;
    for mut group in groups {
        if found.len() >= MOST || tried >= MOST_TRIED {
            break;
        }
        if found.iter().any(|known| includes(&group.changes, &known.changes)) {
            continue;
        }
        tried = tried.saturating_add(1);
        let special = group.extended.as_ref().map(|extended| special::claim(&pod, extended));
        let claims: Vec<ResourceClaim> = case.unallocated.iter().cloned().chain(special).collect();
        let nodes = fitting(cluster, &claims, &group.nodes, allowance);
        let Some(first) = nodes.first().cloned() else { continue };
        let mut place = match nodes.as_slice() {
            // Where there is one node, all is said for it.
            [_] if cluster.nodes().len() == 1 => String::new(),
            [only] => format!(", for node `{only}`"),
            _ => format!(", for one of the nodes {}", words::list(nodes.iter())),
        };
        for change in &mut group.changes {
            if let Change::Uncordon { node } = change {
                // One is enough.
                node.clone_from(&first);
                place.clear();
            }
        }
        found.push(Suggestion {
            text: format!("{}{place}", all_in_words(case, &group.changes)),
            node: Some(first),
            manifests: pod_manifests(cluster, &pod, &group.changes),
            deletes: Vec::new(),
            steps: Vec::new(),
            changes: group.changes,
        });
    }
    found
}

/// Changes that have nodes take the Pod, each with the one change to its claims without which they do not fit there. For a Pod that
/// nothing less helps.
pub(crate) fn with_claims(
    cluster: &mut Cluster,
    case: &Case,
    known: &mut Refusing,
    allowance: &mut Allowance,
) -> Vec<Suggestion> {
    let Some(pod) = case.pod.as_ref().and_then(|key| cluster.pods().get(key)).cloned() else { return Vec::new() };
    let mut groups = groups(cluster, case, &pod, known);
    // What serves the Pod's plain resources is no claim that anybody wrote.
    groups.retain(|group| !group.changes.is_empty() && group.extended.is_none());
    if case.unallocated.is_empty() {
        return Vec::new();
    }
    groups.arrange_by_key(|group| rank(&group.changes));
    let mut found = Vec::new();
    for Group { mut changes, mut nodes, .. } in groups.into_iter().take(MOST) {
        nodes.truncate(SHOWN);
        let question = Question { claims: case.unallocated.clone(), nodes: nodes.clone(), ..Question::default() };
        let survey = Survey::of(cluster, &question);
        let asked = Case { question, ..case.clone() };
        let mut trials = AllocatorTrials { cluster, case: &asked, survey: &survey, nodes, allowance };
        let ladders = propose::ladders(&mut trials);
        let helping = ladders.iter().filter_map(|ladder| ladder.iter().find_map(|change| trials.found(change.clone())));
        let Some((of_claims, node)) = helping.min_by_key(|(changes, _)| effort(changes)) else { continue };
        for change in &mut changes {
            if let Change::Uncordon { node: name } = change {
                name.clone_from(&node);
            }
        }
        let mut manifests = claim_manifest::manifests(cluster, &asked, &of_claims);
        manifests.extend(pod_manifests(cluster, &pod, &changes));
        changes.extend(of_claims);
        let text = format!("{}, for node `{node}`{}", all_in_words(&asked, &changes), warning(cluster, &changes));
        let (deletes, steps) = (Vec::new(), Vec::new());
        found.push(Suggestion { text, changes, node: Some(node), manifests, deletes, steps });
    }
    found
}

/// The manifests for changes of a Pod, among others.
fn pod_manifests(cluster: &Cluster, pod: &Pod, changes: &[Change]) -> Vec<Value> {
    let is_of_pod = |change: &&Change| !matches!(change, Change::Uncordon { .. });
    let of_pod: Vec<Change> = changes.iter().filter(is_of_pod).cloned().collect();
    if of_pod.is_empty() { Vec::new() } else { written(cluster, pod, &of_pod) }
}

/// Fewer changes first, then smaller ones, then those that leave more of a resource.
fn rank(changes: &[Change]) -> (usize, u32, Reverse<Vec<Quantity>>) {
    let amount = |change: &Change| match change {
        Change::LowerResource { to, .. } => Quantity::parse(to).ok(),
        _ => None,
    };
    (changes.len(), effort(changes), Reverse(changes.iter().filter_map(amount).collect()))
}

/// Whether some changes contain all of others, or go further.
fn includes(changes: &[Change], others: &[Change]) -> bool {
    let is_there = |other: &Change| {
        changes.iter().any(|change| match (change, other) {
            (Change::LowerResource { resource: one, .. }, Change::LowerResource { resource: two, .. }) => one == two,
            (Change::Uncordon { .. }, Change::Uncordon { .. }) => true,
            _ => change == other,
        })
    };
    others.iter().all(is_there)
}

/// The nodes that refuse the Pod and can be had by changes, in groups.
fn groups(cluster: &Cluster, case: &Case, pod: &Arc<Pod>, known: &mut Refusing) -> Vec<Group> {
    // Where its claims have devices is a Pod's own.
    match case.allocated.is_empty() {
        true => known.of(pod, || grouped(cluster, case, pod)).to_vec(),
        false => grouped(cluster, case, pod),
    }
}

fn grouped(cluster: &Cluster, case: &Case, pod: &Pod) -> Vec<Group> {
    let (topology, filters) = filters_of(cluster, case, pod);
    let seen = seen(cluster, pod).0.into_owned();
    let requirements = requirements(&pod.spec);
    let without = |left_out: &dyn Fn(&Change) -> bool| {
        let mut pod = pod.clone();
        let changes: Vec<Change> = requirements.iter().filter(|change| left_out(change)).cloned().collect();
        change_spec(&mut pod.spec, &changes).map(|()| pod)
    };
    // The Pod with none of its requirements of other Pods, and with each one alone.
    let Some(free) = without(&|_| true) else { return Vec::new() };
    let each: Option<Vec<Pod>> = requirements.iter().map(|one| without(&|other| other != one)).collect();
    let Some(each) = each else { return Vec::new() };
    let free = filters_of(cluster, case, &free);
    let each: Vec<(Topology, PodFilters<'_>)> = each.iter().map(|pod| filters_of(cluster, case, pod)).collect();
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for state in case.book.nodes() {
        if free.1.keep_off(&free.0, state) || !case.allocated.iter().all(|claim| reaches(claim, state)) {
            continue;
        }
        let extended = extended::on_node(cluster, pod, &state.node);
        if !filters.refuse(&topology, state, extended.as_ref()) {
            continue;
        }
        let name = state.name().to_owned();
        let requests = filters.requests_beside(extended.as_ref()).into_owned();
        let Some(mut changes) = changes(seen.clone(), requests, state.clone()) else { continue };
        let broken = requirements.iter().zip(&each).filter(|(_, (topology, alone))| alone.keep_off(topology, state));
        changes.extend(broken.map(|(change, _)| change.clone()));
        let key = format!("{changes:?} {extended:?}");
        groups.entry(key).or_insert_with(|| Group { changes, extended, nodes: Vec::new() }).nodes.push(name);
    }
    groups.into_values().collect()
}

/// The filters of a Pod, with where the answers to what it asks of placed Pods are.
fn filters_of<'p>(cluster: &Cluster, case: &Case, pod: &'p Pod) -> (Topology, PodFilters<'p>) {
    let mut topology = case.book.topology();
    let filters = PodFilters::of(cluster, &mut topology, pod);
    (topology, filters)
}

/// What has to be changed before a node takes a Pod. `None` where no change that is known here has it taken.
fn changes(mut pod: Pod, mut requests: Resources, mut state: NodeState) -> Option<Vec<Change>> {
    const MOST_CHANGES: usize = 8;
    let mut changes = Vec::new();
    loop {
        let refusals = state.refusals(&pod, &requests);
        let Some(first) = refusals.first() else { return Some(changes) };
        if changes.len() >= MOST_CHANGES {
            return None;
        }
        match first {
            Refusal::Unschedulable => {
                Arc::make_mut(&mut state.node).spec.uncordon();
                changes.push(Change::Uncordon { node: String::new() });
            }
            Refusal::Taint { key, value } => {
                let mut taints = state.node.spec.taints.iter().filter(|taint| taint.is_hard());
                let is_it = |taint: &&NodeTaint| taint.key == *key && taint.value == *value;
                let is_new = |taint: &&NodeTaint| !node_fit::is_tolerated(taint, &pod.spec.tolerations);
                // A Pod is not sent to a node that is not well.
                let taint = taints.find(|taint| is_it(taint) && is_new(taint)).filter(|taint| !taint.is_condition())?;
                let taint = words::taint_of(&taint.key, &taint.value, &taint.effect);
                pod.spec.tolerations.push(node_toleration(&taint));
                changes.push(Change::TolerateNode { taint });
            }
            Refusal::NotNamed | Refusal::Affinity => changes.extend(select(&mut pod, &state)?),
            Refusal::Insufficient { .. } => {
                for refusal in &refusals {
                    let Refusal::Insufficient { resource, .. } = refusal else { return None };
                    let left = state.left(resource).filter(|left| left.signum() > 0)?;
                    let asked = requests.get_mut(resource)?;
                    let (from, to) = (asked.to_string(), left.to_string());
                    *asked = left;
                    changes.push(Change::LowerResource { resource: resource.clone(), from, to });
                }
            }
            Refusal::AddedAffinity
            | Refusal::HostPort { .. }
            | Refusal::NoDomain { .. }
            | Refusal::Spread { .. }
            | Refusal::PodAffinity
            | Refusal::PodAntiAffinity { .. }
            | Refusal::KeptAway { .. }
            | Refusal::Feature { .. }
            | Refusal::UnboundClaim { .. }
            | Refusal::ClaimInUse { .. }
            | Refusal::NoDriver { .. }
            | Refusal::TooManyVolumes { .. }
            | Refusal::VolumeNode
            | Refusal::NoVolume
            | Refusal::NoSpace
            | Refusal::VolumeMissing
            | Refusal::VolumeZone
            | Refusal::Devices(_) => return None,
        }
    }
}

/// Takes out of a Pod what keeps it from selecting a node.
fn select(pod: &mut Pod, state: &NodeState) -> Option<Vec<Change>> {
    let labels = &state.node.metadata.labels;
    let mut changes = Vec::new();
    pod.spec.node_selector.retain(|label, value| {
        let is_matched = match labels.get(label) {
            Some(has) => *has == *value,
            None => node_fit::is_inferred(&state.node),
        };
        if !is_matched {
            changes.push(Change::DropNodeSelector { label: label.clone(), value: value.clone() });
        }
        is_matched
    });
    if changes.is_empty() {
        // Then it is the affinity. That of a Pod of a DaemonSet is the node that the Pod is for.
        let is_for_node = pod.metadata.controller().is_some_and(|owner| owner.kind == "DaemonSet");
        if is_for_node {
            return None;
        }
        pod.spec.affinity.as_mut()?.node_affinity.as_mut()?.required.take()?;
        changes.push(Change::DropNodeAffinity {});
    }
    Some(changes)
}

/// The first nodes of some on which claims fit, each by itself. Without claims that is all.
fn fitting(
    cluster: &mut Cluster,
    claims: &[ResourceClaim],
    nodes: &[String],
    allowance: &mut Allowance,
) -> Vec<String> {
    let mut rest: Vec<String> = nodes.to_vec();
    if claims.is_empty() {
        rest.truncate(SHOWN);
        return rest;
    }
    let mut found = Vec::new();
    while !rest.is_empty() && found.len() < SHOWN {
        let question = Question { claims: claims.to_vec(), nodes: rest.clone(), ..Question::default() };
        let Place::On(node, _) = find_place_within(cluster, &question, allowance) else { break };
        let until = rest.iter().position(|name| *name == node).map_or(rest.len(), |at| at.saturating_add(1));
        rest.drain(..until);
        found.push(node);
    }
    found
}
