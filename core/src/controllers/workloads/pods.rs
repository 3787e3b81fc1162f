//! Controllers that make Pods: ReplicaSet, DaemonSet, and the kinds that are not known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::api::condition::text;
use crate::api::meta::ObjectMeta;
use crate::api::node::{NAME_FIELD, NodeSelector, NodeSelectorOperator, NodeSelectorRequirement, NodeSelectorTerm};
use crate::api::object::Object;
use crate::api::pod::{Affinity, NodeAffinity, NodeToleration, Pod, PodSpec, PodTemplateSpec};
use crate::api::read::Json;
use crate::api::workload::{DaemonSetSpec, OtherSpec, ReplicaSetSpec, Workload};
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::decision::Action;
use crate::derive::{self, uid_of};
use crate::gather::Gather;
use crate::scheduler::node_fit::NodeState;

use super::deployment::part;
use super::makers::count;
use super::{Look, create, delete, is_active, is_available, key, pod_of, pods_of};

/// Annotation by which users say which Pods go first.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// A ReplicaSet replaces Pods at once, whether they fail or are about to go.
pub(super) fn replica_set(cluster: &Cluster, workload: &Workload, spec: &ReplicaSetSpec, most: u64) -> Vec<Action> {
    let active: Vec<&Pod> = pods_of(cluster, &key(workload)).filter(|pod| is_active(pod)).collect();
    let (there, wanted) = (active.len() as u64, count(spec.replicas));
    if there > wanted {
        return superfluous(cluster, active, there.saturating_sub(wanted)).into_iter().map(delete).collect();
    }
    let mut names = Names::default();
    let prefix = format!("{}-", workload.metadata.name);
    let missing = there..wanted.min(most);
    let pods = missing.map(|index| {
        let mut pod = pod_of(workload, &spec.template);
        names.give(cluster, workload, &mut pod, &prefix, index);
        create(workload, Object::Pod(Arc::new(pod)))
    });
    pods.collect()
}

/// The Pods of a ReplicaSet that go first: without a node, not running, not ready, of a low cost, with siblings on their node, new.
pub(crate) fn superfluous<'c>(cluster: &Cluster, mut pods: Vec<&'c Pod>, number: u64) -> Vec<&'c Pod> {
    if number == 0 {
        return Vec::new();
    }
    let mut on_node: BTreeMap<&str, u64> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| !pod.spec.node_name.is_empty()) {
        let siblings = on_node.entry(pod.spec.node_name.as_str()).or_default();
        *siblings = siblings.saturating_add(1);
    }
    pods.arrange_by_key(|pod| {
        let metadata = &pod.metadata;
        let phase = match pod.status.phase.as_str() {
            "Running" => 2,
            "Unknown" => 1,
            _ => 0,
        };
        let cost = metadata.annotations.get(DELETION_COST).and_then(|cost| cost.parse::<i64>().ok());
        let siblings = on_node.get(pod.spec.node_name.as_str()).copied().unwrap_or_default();
        let arrival = cluster.arrival("Pod", &metadata.namespace, &metadata.name);
        (
            !pod.spec.node_name.is_empty(),
            phase,
            is_available(pod),
            cost.unwrap_or_default(),
            std::cmp::Reverse(siblings),
            std::cmp::Reverse((metadata.creation_timestamp.clone(), arrival)),
        )
    });
    pods.truncate(usize::try_from(number).unwrap_or(usize::MAX));
    pods
}

/// A DaemonSet has a Pod on every node that suits.
pub(super) fn daemon_set(cluster: &Cluster, workload: &Workload, spec: &DaemonSetSpec, most: u64) -> Look {
    let mut by_node: BTreeMap<String, Vec<&Pod>> = BTreeMap::new();
    for pod in pods_of(cluster, &key(workload)) {
        let node = match pod.spec.node_name.as_str() {
            "" => pinned(&pod.spec).cloned().unwrap_or_default(),
            node => node.to_owned(),
        };
        by_node.entry(node).or_default().push(pod);
    }
    let nodes = nodes_for(cluster, spec);
    let there = by_node.values().flatten().filter(|pod| is_active(pod)).count() as u64;
    let mut room = most.saturating_sub(there);
    let mut actions = Vec::new();
    let mut names = Names::default();
    let prefix = format!("{}-", workload.metadata.name);
    let mut template = spec.template.clone();
    template.spec.tolerations.extend(daemon_tolerations());
    let (mut outdated, mut missing) = (Vec::new(), 0u64);
    for (index, node) in nodes.iter().enumerate() {
        let mut pods = by_node.remove(node).unwrap_or_default();
        pods.arrange_by_key(|pod| (pod.metadata.is_deleting(), pod.metadata.creation_timestamp.clone()));
        let ended = pods.iter().filter(|pod| pod.is_finished() && !pod.metadata.is_deleting());
        actions.extend(ended.map(|pod| delete(pod)));
        pods.retain(|pod| !pod.is_finished());
        match pods.split_first() {
            Some((first, others)) => {
                actions.extend(others.iter().filter(|pod| is_active(pod)).map(|pod| delete(pod)));
                missing = missing.saturating_add(u64::from(!is_available(first)));
                if is_active(first) && !is_of_template(&spec.template, first) {
                    outdated.push(*first);
                }
            }
            None if room > 0 => {
                room = room.saturating_sub(1);
                missing = missing.saturating_add(1);
                let mut pod = pod_of(workload, &template);
                names.give(cluster, workload, &mut pod, &prefix, index as u64);
                pin(&mut pod.spec, node.clone());
                actions.push(create(workload, Object::Pod(Arc::new(pod))));
            }
            None => {}
        }
    }
    // Nodes that are known and do not suit any more, and those that went before their Pods were placed. Which nodes a dump lacks is not known.
    let left =
        by_node.iter().flat_map(|(node, pods)| pods.iter().map(move |pod| (cluster.nodes().contains_key(node), pod)));
    let goes = |pod: &Pod| pod.spec.node_name.is_empty() && !derive::is_foreign(&pod.metadata.uid);
    let left = left.filter(|(is_known, pod)| *is_known || goes(pod)).map(|(_, pod)| pod);
    actions.extend(left.filter(|pod| !pod.metadata.is_deleting()).map(|pod| delete(pod)));
    let strategy = spec.rest.get("updateStrategy");
    if strategy.is_some_and(|strategy| text(strategy, "type") == "OnDelete") {
        outdated.clear();
    }
    let most_missing = strategy.and_then(|strategy| strategy.pointer("/rollingUpdate/maxUnavailable"));
    let most_missing = most_missing.map_or(1, |most| part(Some(most), nodes.len() as u64, true)).max(1);
    // Those that do not serve cost nothing.
    let (idle, serving): (Vec<&Pod>, Vec<&Pod>) = outdated.iter().partition(|pod| !is_available(pod));
    let more = usize::try_from(most_missing.saturating_sub(missing)).unwrap_or(usize::MAX);
    actions.extend(idle.into_iter().chain(serving.into_iter().take(more)).map(delete));
    Look::of(actions, !outdated.is_empty())
}

/// Names of the nodes that a DaemonSet has Pods on.
pub(super) fn nodes_for(cluster: &Cluster, spec: &DaemonSetSpec) -> Vec<String> {
    let mut probe = Pod { spec: spec.template.spec.clone(), ..Pod::default() };
    probe.spec.tolerations.extend(daemon_tolerations());
    let nodes = cluster.nodes().values();
    let suits = |node: &&Arc<_>| NodeState::new(Arc::clone(node)).takes_daemon(&probe);
    nodes.filter(suits).map(|node| node.metadata.name.clone()).collect()
}

/// A workload of a kind that is not known has the Pods of its templates. Where its own controller made some, the others are left to it.
pub(super) fn other(cluster: &Cluster, workload: &Workload, spec: &OtherSpec, most: u64) -> Vec<Action> {
    let owner = &workload.metadata.name;
    let own: BTreeSet<&str> = pods_of(cluster, &key(workload)).map(|pod| pod.metadata.name.as_str()).gather();
    let wanted = spec.parts.iter().flat_map(|part| (0..part.count.min(most)).map(move |index| (part, index)));
    let wanted: Vec<_> = wanted.take(usize::try_from(most).unwrap_or(usize::MAX)).collect();
    let names: BTreeSet<String> = wanted.iter().map(|(part, index)| part.pod_name(owner, *index)).gather();
    let is_of_part = |name: &str| {
        spec.parts.iter().any(|part| {
            let first = part.pod_name(owner, 0);
            name.strip_prefix(first.trim_end_matches('0')).is_some_and(|number| number.parse::<u64>().is_ok())
        })
    };
    let is_foreign = own.iter().any(|name| !is_of_part(name));
    let has_children = !super::children(cluster, workload).is_empty();
    if spec.not_expanded(workload).is_some() || has_children || is_foreign {
        return Vec::new();
    }
    let gone = pods_of(cluster, &key(workload)).filter(|pod| is_active(pod) && !names.contains(&pod.metadata.name));
    let mut actions: Vec<Action> = if own.len() > wanted.len() { gone.map(delete).collect() } else { Vec::new() };
    for (part, index) in wanted {
        let name = part.pod_name(owner, index);
        if cluster.pods().contains_key(&(workload.metadata.namespace.clone(), name.clone())) {
            continue;
        }
        let mut pod = pod_of(workload, &part.template);
        pod.metadata.name = name;
        actions.push(create(workload, Object::Pod(Arc::new(pod))));
    }
    actions
}

/// Names that one look gives away.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    /// A name that is derived from the workload and the Pod's number. One that is taken makes the controller try again, with other
    /// letters.
    fn give(&mut self, cluster: &Cluster, workload: &Workload, pod: &mut Pod, prefix: &str, index: u64) {
        pod.metadata.generate_name = prefix.to_owned();
        let owner = uid_of(&workload.kind, &workload.metadata);
        let namespace = &pod.metadata.namespace;
        pod.metadata.name = derive::free_name(prefix, &[&owner, &index.to_string()], |name| {
            cluster.pods().contains_key(&(namespace.clone(), name.to_owned())) || !self.0.insert(name.to_owned())
        });
    }
}

/// Whether a Pod is of a template: it has all that the template says. What the API server and admission add does not matter.
pub(super) fn is_of_template(template: &PodTemplateSpec, pod: &Pod) -> bool {
    let metadata = &template.metadata;
    is_made_of(&metadata.labels, &metadata.annotations, &template.spec, &pod.metadata, &pod.spec)
}

/// Whether something has all labels and annotations, and a spec with all that another one says.
pub(super) fn is_made_of(
    labels: &BTreeMap<String, String>,
    annotations: &BTreeMap<String, String>,
    spec: &PodSpec,
    metadata: &ObjectMeta,
    own: &PodSpec,
) -> bool {
    let has = |all: &BTreeMap<String, String>, own: &BTreeMap<String, String>| {
        all.iter().all(|(name, value)| own.get(name) == Some(value))
    };
    let (spec, own) = (spec.write().unwrap_or_default(), own.write().unwrap_or_default());
    has(labels, &metadata.labels) && has(annotations, &metadata.annotations) && is_part_of(&spec, &own)
}

/// Whether one value says nothing that the other does not say as well. Bounded: as deep as JSON texts nest.
fn is_part_of(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(name, value)| value.is_null() || whole.get(name).is_some_and(|own| is_part_of(value, own))),
        (Value::Array(part), Value::Array(whole)) => {
            part.iter().all(|item| whole.iter().any(|own| is_part_of(item, own)))
        }
        (part, whole) => part == whole,
    }
}

/// What every Pod of a DaemonSet tolerates, network trouble aside.
fn daemon_tolerations() -> impl Iterator<Item = NodeToleration> {
    let taints = [
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    ];
    taints.into_iter().map(|(key, effect)| NodeToleration {
        key: format!("node.kubernetes.io/{key}"),
        operator: "Exists".to_owned(),
        effect: effect.to_owned(),
        ..NodeToleration::default()
    })
}

/// Makes a Pod of a DaemonSet go to its node, by affinity: the scheduler still decides.
fn pin(spec: &mut PodSpec, node: String) {
    let requirement = NodeSelectorRequirement {
        key: NAME_FIELD.to_owned(),
        operator: NodeSelectorOperator::In,
        values: vec![node],
        ..NodeSelectorRequirement::default()
    };
    let affinity = spec.affinity.get_or_insert_with(Affinity::default);
    let required = affinity
        .node_affinity
        .get_or_insert_with(NodeAffinity::default)
        .required
        .get_or_insert_with(NodeSelector::default);
    if required.terms.is_empty() {
        required.terms.push(NodeSelectorTerm::default());
    }
    for term in &mut required.terms {
        term.match_fields = vec![requirement.clone()];
    }
}

fn pinned(spec: &PodSpec) -> Option<&String> {
    let selector = spec.affinity.as_ref()?.node_affinity.as_ref()?.required.as_ref()?;
    let field = selector.terms.first()?.match_fields.first()?;
    field.values.first()
}
