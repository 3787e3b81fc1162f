//! Controllers that make Pods: ReplicaSet, StatefulSet, DaemonSet, Job.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::meta::ObjectMeta;
use crate::api::node::{NAME_FIELD, NodeSelector, NodeSelectorOperator, NodeSelectorRequirement, NodeSelectorTerm};
use crate::api::object::Object;
use crate::api::pod::{Affinity, NodeAffinity, NodeToleration, Pod, PodSpec, PodTemplateSpec};
use crate::api::workload::{DaemonSetSpec, JobSpec, ReplicaSetSpec, StatefulSetSpec, Workload};
use crate::derive::{self, uid_of};
use crate::finding::{Code, Finding};
use crate::scheduler::node_fit::NodeState;

use super::workloads::{LWS_GROUP, LWS_NAME, LWS_WORKER, count, is_indexed, suspended};
use super::{Expansion, MAX_PODS, key, owner_reference};

/// Label and annotation with the number of a Pod of an Indexed Job.
const COMPLETION_INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// A Pod that should be there.
struct Slot {
    /// Full name, or prefix of a generated one.
    name: String,
    is_prefix: bool,
    /// What tells it from its siblings, see [`Identity`].
    identity: String,
}

/// What tells a Pod of a workload from its siblings.
#[derive(Clone, Copy)]
enum Identity {
    /// Nothing.
    None,
    /// Its name.
    Name,
    /// Its number in an Indexed Job.
    Index,
    /// The node that it is meant for.
    Node,
}

impl Identity {
    fn of(self, pod: &Pod) -> String {
        match self {
            Self::None => String::new(),
            Self::Name => pod.metadata.name.clone(),
            Self::Index => pod.metadata.annotations.get(COMPLETION_INDEX).cloned().unwrap_or_default(),
            Self::Node if pod.spec.node_name.is_empty() => pinned(&pod.spec).cloned().unwrap_or_default(),
            Self::Node => pod.spec.node_name.clone(),
        }
    }
}

impl Expansion<'_> {
    pub(super) fn replica_set(&mut self, workload: &Workload, spec: &ReplicaSetSpec) -> Vec<Finding> {
        let prefix = format!("{}-", workload.metadata.name);
        let slot = |_| Slot { name: prefix.clone(), is_prefix: true, identity: String::new() };
        self.fill(workload, &spec.template, count(spec.replicas), Identity::None, slot, |_, _| {});
        Vec::new()
    }

    pub(super) fn stateful_set(
        &mut self,
        workload: &Workload,
        spec: &StatefulSetSpec,
        at_most: Option<u64>,
    ) -> Vec<Finding> {
        let start = spec.ordinals.as_ref().map_or(0, |ordinals| count(Some(ordinals.start)));
        let name = |ordinal: u64| format!("{}-{}", workload.metadata.name, start.saturating_add(ordinal));
        let slot = |ordinal| Slot { name: name(ordinal), is_prefix: false, identity: name(ordinal) };
        let finish = |pod: &mut Pod, ordinal: u64| {
            let number = start.saturating_add(ordinal).to_string();
            let name = pod.metadata.name.clone();
            let labels = &mut pod.metadata.labels;
            if labels.contains_key(LWS_NAME) {
                // Leaders are numbered by group, workers within their group from 1.
                let label = if start == 0 { LWS_GROUP } else { LWS_WORKER };
                labels.insert(label.to_owned(), number.clone());
            }
            labels.insert("statefulset.kubernetes.io/pod-name".to_owned(), name);
            labels.insert("apps.kubernetes.io/pod-index".to_owned(), number);
        };
        let number = count(spec.replicas);
        let shown = number.min(at_most.unwrap_or(u64::MAX));
        self.wanted = self.wanted.saturating_add(number.saturating_sub(shown));
        self.fill(workload, &spec.template, shown, Identity::Name, slot, finish);
        Vec::new()
    }

    pub(super) fn daemon_set(&mut self, workload: &Workload, spec: &DaemonSetSpec) -> Vec<Finding> {
        let mut template = spec.template.clone();
        template.spec.tolerations.extend(daemon_tolerations());
        let probe = Pod { spec: template.spec.clone(), ..Pod::default() };
        let nodes = self.cluster.nodes().values();
        let names: Vec<String> = nodes
            .filter(|node| NodeState::new(Arc::clone(node)).takes_daemon(&probe))
            .map(|node| node.metadata.name.clone())
            .collect();
        let prefix = format!("{}-", workload.metadata.name);
        let node = |index: u64| usize::try_from(index).ok().and_then(|i| names.get(i)).cloned().unwrap_or_default();
        let slot = |index| Slot { name: prefix.clone(), is_prefix: true, identity: node(index) };
        let finish = |pod: &mut Pod, index: u64| pin(&mut pod.spec, node(index));
        self.fill(workload, &template, names.len() as u64, Identity::Node, slot, finish);
        Vec::new()
    }

    pub(super) fn job(&mut self, workload: &Workload, spec: &JobSpec) -> Vec<Finding> {
        let (waits, note) = suspended(workload, spec.suspend, "spec.suspend");
        let mut findings: Vec<Finding> = note.into_iter().collect();
        if waits {
            return findings;
        }
        let at_a_time = parallel(spec);
        if let Some(all) = spec.completions.map(|all| count(Some(all))).filter(|all| *all > at_a_time) {
            let message = format!("{at_a_time} of {all} Pods run at a time; the first are shown");
            findings.push(Finding::new(Code::RunReplicasCapped, "spec.completions", message));
        }
        let name = &workload.metadata.name;
        let indexed = is_indexed(spec);
        let slot = |index: u64| {
            let (name, identity) = if indexed {
                let number = format!("-{index}-");
                (format!("{}{number}", derive::cut(name, 58usize.saturating_sub(number.len()))), index.to_string())
            } else {
                (format!("{name}-"), String::new())
            };
            Slot { name, is_prefix: true, identity }
        };
        let uid = uid_of(&workload.kind, &workload.metadata);
        let finish = |pod: &mut Pod, index: u64| {
            let metadata = &mut pod.metadata;
            for (key, value) in [
                ("controller-uid", &uid),
                ("batch.kubernetes.io/controller-uid", &uid),
                ("job-name", name),
                ("batch.kubernetes.io/job-name", name),
            ] {
                metadata.labels.insert(key.to_owned(), value.clone());
            }
            if indexed {
                metadata.labels.insert(COMPLETION_INDEX.to_owned(), index.to_string());
                metadata.annotations.insert(COMPLETION_INDEX.to_owned(), index.to_string());
            }
        };
        let identity = if indexed { Identity::Index } else { Identity::None };
        self.fill(workload, &spec.template, at_a_time, identity, slot, finish);
        findings
    }

    /// Makes the Pods that are missing of a workload's first `number`, within the room for Pods.
    fn fill(
        &mut self,
        workload: &Workload,
        template: &PodTemplateSpec,
        number: u64,
        identity: Identity,
        slot: impl Fn(u64) -> Slot,
        finish: impl Fn(&mut Pod, u64),
    ) {
        self.wanted = self.wanted.saturating_add(number);
        let (mut existing, count) = self.existing_pods(workload, identity);
        for index in 0..number.min(MAX_PODS.saturating_add(count)) {
            let slot = slot(index);
            if let Some(left) = existing.get_mut(&slot.identity).filter(|left| **left > 0) {
                *left = left.saturating_sub(1);
                self.shown = self.shown.saturating_add(1);
            } else if self.room() > 0 {
                let mut pod = made(workload, template);
                self.give_name(workload, &mut pod, &slot, index);
                finish(&mut pod, index);
                pod.metadata.uid = derive::uid("Pod", &pod.metadata.namespace, &pod.metadata.name);
                self.cluster.apply(Object::Pod(Box::new(pod)));
                self.shown = self.shown.saturating_add(1);
            }
        }
    }

    /// How many Pods of each identity the workload manages already, and of all; without those that failed, which are
    /// replaced.
    fn existing_pods(&self, workload: &Workload, identity: Identity) -> (BTreeMap<String, u64>, u64) {
        let (kind, namespace, name) = key(workload);
        let names = self.owned_pods.get(&(kind, namespace.clone(), name)).map(Vec::as_slice).unwrap_or_default();
        let pods = names.iter().filter_map(|name| self.cluster.pods().get(&(namespace.clone(), name.clone())));
        let mut existing: BTreeMap<String, u64> = BTreeMap::new();
        for pod in pods.filter(|pod| pod.status.phase != "Failed") {
            let number = existing.entry(identity.of(pod)).or_default();
            *number = number.saturating_add(1);
        }
        let count = existing.values().fold(0u64, |sum, number| sum.saturating_add(*number));
        (existing, count)
    }

    fn give_name(&self, workload: &Workload, pod: &mut Pod, slot: &Slot, index: u64) {
        if !slot.is_prefix {
            pod.metadata.name = slot.name.clone();
            return;
        }
        pod.metadata.generate_name = slot.name.clone();
        let owner = uid_of(&workload.kind, &workload.metadata);
        // A name that is taken makes the controller try again, with other letters.
        for attempt in 0..=MAX_PODS {
            let name = derive::generated_name(&slot.name, &[&owner, &index.to_string(), &attempt.to_string()]);
            let is_taken = self.cluster.pods().contains_key(&(pod.metadata.namespace.clone(), name.clone()));
            pod.metadata.name = name;
            if !is_taken {
                break;
            }
        }
    }
}

/// How many Pods of a Job run at a time.
pub(super) fn parallel(spec: &JobSpec) -> u64 {
    let parallelism = count(spec.parallelism);
    match spec.completions {
        Some(completions) => parallelism.min(count(Some(completions))),
        None => parallelism,
    }
}

/// A Pod as its controller makes it, without a name.
fn made(workload: &Workload, template: &PodTemplateSpec) -> Pod {
    let metadata = ObjectMeta {
        namespace: workload.metadata.namespace.clone(),
        labels: template.metadata.labels.clone(),
        annotations: template.metadata.annotations.clone(),
        finalizers: template.metadata.finalizers.clone(),
        owner_references: vec![owner_reference(&workload.api_version, &workload.kind, &workload.metadata)],
        ..ObjectMeta::default()
    };
    Pod { metadata, spec: template.spec.clone(), ..Pod::default() }
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
