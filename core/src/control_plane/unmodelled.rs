//! What a cluster has that matters to where Pods land and that nobody here looks at: named once each, with the count and an example.

use std::sync::Arc;

use serde_json::Value;

use super::priority;
use crate::api::node::NodeTaint;
use crate::api::pod::{Pod, PodAffinity, TopologySpreadConstraint};
use crate::api::scheduler_configuration::{KIND, NAME, SchedulerConfiguration};
use crate::api::workload::WorkloadSpec;
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::controllers::workloads::reference;
use crate::derive::is_foreign;
use crate::finding::{Code, Finding, ObjectRef};
use crate::profile::{Mode, Ranking};
use crate::scheduler::NodeCache;
use crate::scheduler::node_fit::{is_inferred, is_tolerated, requests};
use crate::scheduler::preemption::never_preempts;
use crate::scheduler::volumes;
use crate::validate::MIRROR;

/// How many there are of one thing, the first of them, and what that means for it.
type Note = (u64, Option<ObjectRef>, String);

/// Things that are not looked at, by where they stand and what they are.
#[derive(Default)]
struct Notes(Vec<((String, String), Note)>);

impl Notes {
    /// Counts one more; the first one is the example.
    fn add(&mut self, path: &str, what: &str, object: impl FnOnce() -> ObjectRef, detail: impl FnOnce() -> String) {
        let place = self.0.iter().position(|((known, other), _)| known == path && other == what);
        let place = place.unwrap_or_else(|| {
            self.0.push(((path.to_owned(), what.to_owned()), Default::default()));
            self.0.len().saturating_sub(1)
        });
        let Some((_, entry)) = self.0.get_mut(place) else { return };
        entry.0 = entry.0.saturating_add(1);
        if entry.1.is_none() {
            entry.1 = Some(object());
            entry.2 = detail();
        }
    }
}

/// What is not looked at: preemption by PodGroups, volumes, preferences that are no requirements, RuntimeClasses,
/// classes of priority that are not given, evictions by taints of nodes.
///
/// `had_node` says which Pods were given with a node: where they land is nobody's question.
pub fn unmodelled(cluster: &Cluster, had_node: &dyn Fn(&Pod) -> bool) -> Vec<Finding> {
    let mut notes = Notes::default();
    let placed = cluster.pods().values().filter(|pod| !pod.spec.node_name.is_empty() && !pod.is_finished());
    let lowest = placed.map(|pod| pod.priority()).min();
    let has_groups = cluster.profile().features.generic_workload;
    rejected(cluster, had_node, &mut notes);
    for pod in cluster.pods().values().filter(|pod| !pod.is_finished()) {
        let object = || reference_of("Pod", &pod.metadata.namespace, &pod.metadata.name);
        about_pod(cluster, pod, had_node(pod), &object, &mut notes);
        let is_member = has_groups && pod.group_name().is_some() && pod.spec.node_name.is_empty();
        if is_member && !never_preempts(pod) && lowest.is_some_and(|lowest| lowest < pod.priority()) {
            let effect = || "Pods of lower priority keep their nodes".to_owned();
            notes.add("spec.priority", "preemption by members of PodGroups", object, effect);
        }
    }
    for workload in cluster.workloads().values() {
        if let WorkloadSpec::CronJob(spec) = &workload.spec
            && !spec.suspend.unwrap_or_default()
        {
            let effect = || "it runs once, at the start".to_owned();
            notes.add("spec.schedule", "schedules of CronJobs", || reference(workload), effect);
        }
    }
    for configuration in cluster.scheduler_configurations().values() {
        about_configuration(configuration, cluster.profile().mode, &mut notes);
    }
    notes.0.arrange_by(|(one, _), (other, _)| one.cmp(other));
    let mut findings: Vec<Finding> =
        notes.0.into_iter().map(|((path, what), note)| finding(&path, &what, note)).collect();
    findings.extend(not_expanded(cluster));
    findings
}

/// Pods that no scheduler placed on their nodes, and that the kubelets there do not take. One after another, in the order of their names.
fn rejected(cluster: &Cluster, had_node: &dyn Fn(&Pod) -> bool, notes: &mut Notes) {
    let is_placed =
        |pod: &Pod| pod.status.conditions.iter().any(|one| one.get("type").is_some_and(|of| of == "PodScheduled"));
    let is_new = |pod: &&Arc<Pod>| {
        let metadata = &pod.metadata;
        let was_taken =
            is_foreign(&metadata.uid) || metadata.is_deleting() || metadata.annotations.contains_key(MIRROR);
        had_node(pod) && !was_taken && !pod.is_finished() && !is_placed(pod)
    };
    let new: Vec<&Arc<Pod>> = cluster.pods().values().filter(is_new).collect();
    if new.is_empty() {
        return;
    }
    let mut others = cluster.clone();
    for pod in &new {
        others.delete(&pod.metadata.reference("Pod"));
    }
    let mut book = NodeCache::new(&others);
    for pod in new {
        let node = book
            .node(&pod.spec.node_name)
            .filter(|_| cluster.nodes().get(&pod.spec.node_name).is_some_and(|node| !is_inferred(node)));
        let Some(reason) = node.and_then(|node| node.rejection(pod, &requests(pod))) else {
            book.place(pod);
            continue;
        };
        let what = format!("kubelets that reject Pods with reason `{reason}`");
        let detail = || format!("on node `{}` it becomes `Failed`; here it runs", pod.spec.node_name);
        notes.add("spec.nodeName", &what, || pod.metadata.reference("Pod"), detail);
    }
}

fn finding(path: &str, what: &str, (count, object, detail): Note) -> Finding {
    let detail = if detail.is_empty() { detail } else { format!(" ({detail})") };
    let example = object.as_ref().map(|object| format!("{} `{}`", object.kind, object.full_name())).unwrap_or_default();
    let which = if count == 1 { example } else { format!("{count} objects, {example} is one") };
    let finding = Finding::new(Code::RunNotModelled, path, format!("not looked at: {what}: {which}{detail}"));
    match object {
        Some(object) => finding.about(object),
        None => finding,
    }
}

/// Parts of kube-scheduler's configuration that nobody here looks at.
fn about_configuration(configuration: &SchedulerConfiguration, mode: Mode, notes: &mut Notes) {
    let object = || reference_of(KIND, "", NAME);
    if !configuration.extenders.is_empty() {
        notes.add("extenders", "programs that are asked beside the plugins", object, String::new);
    }
    let of_profiles = configuration.profiles.iter().map(|profile| profile.percentage_of_nodes_to_score);
    let mut parts = of_profiles.chain([configuration.percentage_of_nodes_to_score]).flatten();
    if mode == Mode::Sound && parts.any(|part| (1..100).contains(&part)) {
        let detail = || "all nodes are compared".to_owned();
        notes.add("percentageOfNodesToScore", "comparing only some of the nodes", object, detail);
    }
    for profile in &configuration.profiles {
        let sets = ["multiPoint", "filter"].into_iter().filter_map(|point| profile.plugins.get(point));
        let mut off = sets.flat_map(|set| &set.disabled);
        if off.any(|entry| entry.name == "DynamicResources") {
            let detail = || "claims still decide about nodes".to_owned();
            notes.add("profiles", "a scheduler without `DynamicResources`", object, detail);
        }
    }
}

fn about_pod(cluster: &Cluster, pod: &Pod, had_node: bool, object: &dyn Fn() -> ObjectRef, notes: &mut Notes) {
    let spec = &pod.spec;
    let affinity = spec.affinity.as_ref();
    let is_scored = cluster.profile().placement == Ranking::Scores;
    let preferred = |rules: &Option<PodAffinity>| rules.as_ref().is_some_and(|rules| !rules.preferred.is_empty());
    for (name, is_there) in [
        ("podAffinity", affinity.is_some_and(|affinity| preferred(&affinity.pod_affinity))),
        ("podAntiAffinity", affinity.is_some_and(|affinity| preferred(&affinity.pod_anti_affinity))),
    ] {
        if is_there && !is_scored {
            notes.add(&format!("spec.affinity.{name}"), &format!("preferred `{name}`"), object, String::new);
        }
    }
    if !is_scored && spec.topology_spread_constraints.iter().any(TopologySpreadConstraint::is_soft) {
        let what = "`topologySpreadConstraints` with `ScheduleAnyway`";
        notes.add("spec.topologySpreadConstraints", what, object, String::new);
    }
    let class = spec.rest.get("priorityClassName").and_then(Value::as_str).unwrap_or_default();
    if !class.is_empty() && spec.priority.is_none() && !priority::is_known(cluster, class) {
        let detail = || format!("`{class}`, taken as priority 0; `kubectl get priorityclasses -o yaml` brings them");
        notes.add("spec.priorityClassName", "PriorityClasses that are not given", object, detail);
    }
    let class = spec.rest.get("runtimeClassName").and_then(Value::as_str).unwrap_or_default();
    // A Pod that comes from a cluster was admitted there.
    if !class.is_empty() && spec.overhead.is_empty() && !had_node && !is_foreign(&pod.metadata.uid) {
        let detail = || format!("`{class}`; write its `overhead` and `scheduling` into the Pod");
        notes.add("spec.runtimeClassName", "RuntimeClasses", object, detail);
    }
    let node = cluster.nodes().get(&spec.node_name);
    let drives_out = |taint: &&NodeTaint| {
        let lasting = || spec.tolerations.iter().filter(|one| one.rest.get("tolerationSeconds").is_none());
        taint.effect == "NoExecute" && !is_tolerated(taint, &lasting().cloned().collect::<Vec<_>>())
    };
    if let Some(taint) = node.and_then(|node| node.spec.taints.iter().find(drives_out)) {
        let detail = || format!("node `{}` has `{}`; the Pod stays here", spec.node_name, taint.key);
        notes.add("spec.tolerations", "evictions by `NoExecute` taints of nodes", object, detail);
    }
    if !had_node && let Some(problem) = volumes(cluster, pod) {
        notes.add("spec.volumes", "volumes that may decide about the node", object, || problem);
    }
}

/// What of a Pod's volumes kube-scheduler would look at and is not known.
fn volumes(cluster: &Cluster, pod: &Pod) -> Option<String> {
    let mut names = volumes::entries(pod).filter_map(|entry| volumes::claim_name(pod, entry));
    names.find_map(|name| match volumes::claim(cluster, pod, &name) {
        None => Some(format!("PersistentVolumeClaim `{name}` is not given")),
        Some(claim) if volumes::volume_name(claim).is_empty() => {
            volumes::assumed(cluster, claim).map(|assumed| format!("PersistentVolumeClaim `{name}` {assumed}"))
        }
        Some(claim) if volumes::bound(cluster, claim).is_none() && !volumes::lacks_volume(cluster, claim) => {
            let volume = volumes::volume_name(claim);
            Some(format!("PersistentVolume `{volume}` of PersistentVolumeClaim `{name}` is not given"))
        }
        Some(_) => None,
    })
}

/// Workloads whose Pods are not made, by kind.
fn not_expanded(cluster: &Cluster) -> Vec<Finding> {
    let mut kinds: Vec<((String, String), Vec<ObjectRef>)> = Vec::new();
    for workload in cluster.workloads().values() {
        if let WorkloadSpec::Other(spec) = &workload.spec
            && let Some(reason) = spec.not_expanded(workload)
        {
            let key = (workload.kind.clone(), reason);
            match kinds.iter_mut().find(|(known, _)| *known == key) {
                Some((_, objects)) => objects.push(reference(workload)),
                None => kinds.push((key, vec![reference(workload)])),
            }
        }
    }
    let finding = |((kind, reason), objects): ((String, String), Vec<ObjectRef>)| {
        let example = objects.first().cloned().unwrap_or_default();
        let message = match objects.len() {
            1 => format!("{kind} `{}` is not expanded: {reason}", example.full_name()),
            count => format!("{count} {kind}s are not expanded, `{}` is one: {reason}", example.full_name()),
        };
        Finding::new(Code::RunNotExpanded, "", message).about(example)
    };
    kinds.arrange_by(|(one, _), (other, _)| one.cmp(other));
    kinds.into_iter().map(finding).collect()
}

fn reference_of(kind: &str, namespace: &str, name: &str) -> ObjectRef {
    ObjectRef { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() }
}
