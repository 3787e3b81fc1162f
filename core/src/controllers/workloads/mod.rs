//! Workload controllers: from what users write to Pods.
//!
//! A controller makes either further workloads (a Deployment its ReplicaSet, a JobSet its Jobs) or Pods. What it made
//! before, in this run or in the cluster that the objects were dumped from, is found again by owner reference and counts.

mod pods;
mod workloads;

use std::collections::{BTreeMap, BTreeSet};

use crate::api::meta::{ObjectMeta, OwnerReference};
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::api::workload::{Workload, WorkloadSpec};
use crate::cluster::Cluster;
use crate::finding::{Code, Finding, ObjectRef};

use crate::derive::uid_of;

/// Most Pods that one workload of the input is shown with.
pub(crate) const MAX_PODS: u64 = 16;

/// Longest chain of owners, as in CronJob, Job, Pod.
const MAX_OWNERS: usize = 8;

/// Kind, namespace and name of a workload.
type WorkloadKey = (String, String, String);

/// Lets every workload of the cluster make its Pods, in the order in which the workloads arrived.
pub(crate) fn expand(cluster: &mut Cluster, findings: &mut Vec<Finding>) {
    let children = children(cluster);
    let owned: BTreeSet<&WorkloadKey> = children.values().flatten().collect();
    let mut keys: Vec<(u64, WorkloadKey)> = cluster
        .workloads()
        .keys()
        .filter(|key| !owned.contains(key))
        .map(|key| (cluster.arrival(&key.0, &key.1, &key.2), key.clone()))
        .collect();
    keys.sort();
    let owned_pods = owned_pods(cluster);
    for (_, key) in keys {
        let Some(root) = cluster.workloads().get(&key).cloned() else { continue };
        let mut expansion = Expansion { cluster, children: &children, owned_pods: &owned_pods, shown: 0, wanted: 0 };
        let notes = expansion.play(&root, None);
        let (shown, wanted) = (expansion.shown, expansion.wanted);
        findings.extend(notes.into_iter().map(|note| note.about(reference(&root))));
        if shown < wanted {
            findings.push(capped(&root, shown, wanted));
        }
    }
}

/// The workload of the input that a Pod comes from.
pub(crate) fn root_of<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<&'c Workload> {
    let namespace = &pod.metadata.namespace;
    let mut owner = controller(&pod.metadata).cloned();
    let mut root = None;
    for _ in 0..MAX_OWNERS {
        let Some(OwnerReference { kind, name, .. }) = owner else { break };
        let key = (kind, namespace.clone(), name);
        if let Some(workload) = cluster.workloads().get(&key) {
            owner = controller(&workload.metadata).cloned();
            root = Some(workload);
        } else {
            // The workers of a LeaderWorkerSet belong to the leader, a Pod.
            let pod = (key.0 == "Pod").then(|| cluster.pods().get(&(key.1, key.2))).flatten();
            owner = pod.and_then(|pod| controller(&pod.metadata).cloned());
        }
    }
    root
}

/// Where in a workload's manifest a Pod's own fields stand, as a prefix of their paths.
pub(crate) fn template_path(root: &Workload, pod: &Pod) -> String {
    match &root.spec {
        WorkloadSpec::Deployment(_)
        | WorkloadSpec::ReplicaSet(_)
        | WorkloadSpec::StatefulSet(_)
        | WorkloadSpec::DaemonSet(_)
        | WorkloadSpec::Job(_) => "spec.template.".to_owned(),
        WorkloadSpec::CronJob(_) => "spec.jobTemplate.spec.template.".to_owned(),
        WorkloadSpec::JobSet(spec) => {
            let group = pod.metadata.labels.get(workloads::JOBSET_GROUP);
            let index = spec.replicated_jobs.iter().position(|job| Some(&job.name) == group).unwrap_or_default();
            format!("spec.replicatedJobs[{index}].template.spec.template.")
        }
        WorkloadSpec::LeaderWorkerSet(spec) => {
            let leads = pod.metadata.labels.get(workloads::LWS_WORKER).is_some_and(|index| index == "0");
            let own = leads && spec.leader_worker_template.leader_template.is_some();
            let which = if own { "leaderTemplate" } else { "workerTemplate" };
            format!("spec.leaderWorkerTemplate.{which}.")
        }
    }
}

/// Kind, namespace and name of a workload.
pub(crate) fn reference(workload: &Workload) -> ObjectRef {
    let (namespace, name) = (workload.metadata.namespace.clone(), workload.metadata.name.clone());
    ObjectRef { kind: workload.kind.clone(), namespace, name }
}

/// The owner that manages an object.
pub(crate) fn controller(metadata: &ObjectMeta) -> Option<&OwnerReference> {
    metadata.owner_references.iter().find(|owner| owner.controller == Some(true))
}

/// A reference to the managing owner.
fn owner_reference(api_version: &str, kind: &str, metadata: &ObjectMeta) -> OwnerReference {
    OwnerReference {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        name: metadata.name.clone(),
        uid: uid_of(kind, metadata),
        controller: Some(true),
        block_owner_deletion: Some(true),
        ..OwnerReference::default()
    }
}

/// Workloads by the workload of the cluster that manages them, in their order of arrival.
fn children(cluster: &Cluster) -> BTreeMap<WorkloadKey, Vec<WorkloadKey>> {
    let mut children: BTreeMap<WorkloadKey, Vec<WorkloadKey>> = BTreeMap::new();
    let mut keys: Vec<&WorkloadKey> = cluster.workloads().keys().collect();
    keys.sort_by_key(|key| cluster.arrival(&key.0, &key.1, &key.2));
    for key in keys {
        let Some(metadata) = cluster.workloads().get(key).map(|workload| &workload.metadata) else { continue };
        let Some(owner) = controller(metadata) else { continue };
        let parent = match owner.kind.as_str() {
            // The workers of a LeaderWorkerSet belong to the leader, a Pod.
            "Pod" => metadata.labels.get(workloads::LWS_NAME).map(|name| ("LeaderWorkerSet", name)),
            kind => Some((kind, &owner.name)),
        };
        let parent = parent.map(|(kind, name)| (kind.to_owned(), key.1.clone(), name.clone()));
        if let Some(parent) = parent.filter(|parent| cluster.workloads().contains_key(parent)) {
            children.entry(parent).or_default().push(key.clone());
        }
    }
    children
}

/// Names of Pods by the workload that manages them, in their order of arrival.
fn owned_pods(cluster: &Cluster) -> BTreeMap<WorkloadKey, Vec<String>> {
    let mut owned: BTreeMap<WorkloadKey, Vec<(u64, String)>> = BTreeMap::new();
    for ((namespace, name), pod) in cluster.pods() {
        if let Some(owner) = controller(&pod.metadata) {
            let key = (owner.kind.clone(), namespace.clone(), owner.name.clone());
            owned.entry(key).or_default().push((cluster.arrival("Pod", namespace, name), name.clone()));
        }
    }
    owned
        .into_iter()
        .map(|(key, mut pods)| {
            pods.sort();
            (key, pods.into_iter().map(|(_, name)| name).collect())
        })
        .collect()
}

fn capped(root: &Workload, shown: u64, wanted: u64) -> Finding {
    let message = format!("{shown} of {wanted} Pods are shown");
    Finding::new(Code::RunReplicasCapped, "", message)
        .with_hint(format!("a workload is shown with at most {MAX_PODS} Pods"))
        .about(reference(root))
}

/// One workload of the input while it makes its Pods.
struct Expansion<'c> {
    cluster: &'c mut Cluster,
    children: &'c BTreeMap<WorkloadKey, Vec<WorkloadKey>>,
    owned_pods: &'c BTreeMap<WorkloadKey, Vec<String>>,
    /// Pods that exist.
    shown: u64,
    /// Pods that there would be.
    wanted: u64,
}

impl Expansion<'_> {
    /// Makes what a workload makes. Bounded: controllers make workloads of other kinds, and those make Pods.
    fn play(&mut self, workload: &Workload, at_most: Option<u64>) -> Vec<Finding> {
        match &workload.spec {
            WorkloadSpec::Deployment(spec) => self.deployment(workload, spec),
            WorkloadSpec::CronJob(spec) => self.cron_job(workload, spec),
            WorkloadSpec::JobSet(spec) => self.job_set(workload, spec),
            WorkloadSpec::LeaderWorkerSet(spec) => self.leader_worker_set(workload, spec),
            WorkloadSpec::ReplicaSet(spec) => self.replica_set(workload, spec),
            WorkloadSpec::StatefulSet(spec) => self.stateful_set(workload, spec, at_most),
            WorkloadSpec::DaemonSet(spec) => self.daemon_set(workload, spec),
            WorkloadSpec::Job(spec) => self.job(workload, spec),
        }
    }

    /// Room for more Pods.
    fn room(&self) -> u64 {
        MAX_PODS.saturating_sub(self.shown)
    }

    /// Workloads that the workload manages already.
    fn existing_children(&self, workload: &Workload) -> Vec<Workload> {
        let key = key(workload);
        let keys = self.children.get(&key).map(Vec::as_slice).unwrap_or_default();
        keys.iter().filter_map(|key| self.cluster.workloads().get(key).cloned()).collect()
    }

    /// Takes a workload that a controller made into the cluster, unless one of that name is there.
    fn adopt(&mut self, child: Workload) -> Workload {
        let key = key(&child);
        if let Some(existing) = self.cluster.workloads().get(&key) {
            return existing.clone();
        }
        self.cluster.apply(Object::Workload(Box::new(child.clone())));
        child
    }
}

fn key(workload: &Workload) -> WorkloadKey {
    (workload.kind.clone(), workload.metadata.namespace.clone(), workload.metadata.name.clone())
}
