//! Workload controllers: from what users write to Pods, one workload at a time.
//!
//! A controller makes either further workloads (a Deployment its ReplicaSets, a JobSet its Jobs) or Pods. What it made before, in this
//! run or in the cluster that the objects were dumped from, is found again by owner reference and counts. Jobs have a controller of
//! their own, [`super::jobs`].
//!
//! Not modelled: pauses between replacements, proportional scaling of a Deployment while it rolls,
//! statuses of workloads, new templates of JobSets and LeaderWorkerSets.

mod deployment;
mod job_set;
mod makers;
mod pods;
mod shown;
mod stateful_set;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::api::condition::{condition, text};
use crate::api::meta::{ObjectMeta, OwnerReference};
use crate::api::object::Object;
use crate::api::pod::{Pod, PodTemplateSpec};
use crate::api::workload::{PodPart, Workload, WorkloadSpec};
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::decision::{Action, Decision, EventRecord, Trigger};
use crate::derive::{is_foreign, uid_of};
use crate::finding::ObjectRef;

pub(crate) use makers::suspended;
pub(crate) use pods::superfluous;
pub(crate) use shown::{notes, roots, waits};

/// Most Pods that one workload of the input gets.
pub(crate) const MAX_PODS: u64 = 1000;

/// Longest chain of owners, as in CronJob, Job, Pod.
const MAX_OWNERS: usize = 8;

/// Kind, namespace and name of a workload.
pub(crate) type WorkloadKey = (String, String, String);

/// What to do about one workload, and whether it goes on when its Pods become ready.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub(crate) decision: Decision,
    /// Whether it goes on when Pods serve: those of an earlier template are being replaced, or others wait to be made.
    pub(crate) is_rolling: bool,
}

impl Look {
    fn of(actions: Vec<Action>, is_rolling: bool) -> Self {
        Self { decision: Decision::of(actions), is_rolling }
    }
}

/// One look at one workload. Pods that are missing are made up to `most` of them.
pub(crate) fn reconcile(cluster: &Cluster, key: &WorkloadKey, most: u64) -> Look {
    let Some(workload) = cluster.workloads().get(key).filter(|workload| !workload.metadata.is_deleting()) else {
        return Look::default();
    };
    match &workload.spec {
        WorkloadSpec::Deployment(spec) => deployment::deployment(cluster, workload, spec, most),
        WorkloadSpec::CronJob(spec) => Look::of(makers::cron_job(cluster, workload, spec), false),
        WorkloadSpec::JobSet(spec) => job_set::job_set(cluster, workload, spec),
        WorkloadSpec::LeaderWorkerSet(spec) => Look::of(makers::leader_worker_set(cluster, workload, spec), false),
        WorkloadSpec::ReplicaSet(spec) => Look::of(pods::replica_set(cluster, workload, spec, most), false),
        WorkloadSpec::StatefulSet(spec) => stateful_set::stateful_set(cluster, workload, spec, most),
        WorkloadSpec::DaemonSet(spec) => pods::daemon_set(cluster, workload, spec, most),
        WorkloadSpec::Other(spec) => Look::of(pods::other(cluster, workload, spec, most), false),
        WorkloadSpec::Job(_) => Look::default(),
    }
}

/// Workloads that a change concerns. `rolls` says of which ones Pods are being replaced.
pub(crate) fn affected(
    cluster: &Cluster,
    trigger: &Trigger,
    rolls: impl Fn(&WorkloadKey) -> bool,
) -> BTreeSet<WorkloadKey> {
    let mut keys = BTreeSet::new();
    match (trigger.before.as_deref(), trigger.after.as_deref()) {
        (Some(Object::Workload(before)), Some(Object::Workload(after)))
            if before.spec == after.spec && before.metadata.is_deleting() == after.metadata.is_deleting() =>
        {
            // Jobs may wait for what this one's status says.
            keys.extend(owner_key(&after.metadata).filter(|key| rolls(key)));
        }
        (before @ (Some(Object::Workload(_)) | None), after @ (Some(Object::Workload(_)) | None)) => {
            let workloads = [before, after].into_iter().flatten();
            for object in workloads {
                keys.extend(owner_key(object.metadata()));
                let metadata = object.metadata();
                keys.insert((object.kind().to_owned(), metadata.namespace.clone(), metadata.name.clone()));
            }
        }
        (before, Some(Object::Node(after))) => {
            let is_alike = matches!(before, Some(Object::Node(before))
                if before.metadata.labels == after.metadata.labels && before.spec == after.spec);
            let daemons = cluster.workloads().keys().filter(|key| key.0 == "DaemonSet" && !is_alike);
            keys.extend(daemons.cloned());
        }
        (Some(Object::Node(_)), None) => {
            keys.extend(cluster.workloads().keys().filter(|key| key.0 == "DaemonSet").cloned());
        }
        (None, Some(Object::Pod(leader))) => {
            // The workers of a LeaderWorkerSet come after their leader.
            let name = leader.metadata.labels.get(makers::LWS_NAME).filter(|_| makers::leads(&leader.metadata));
            let key = |name: &String| ("LeaderWorkerSet".to_owned(), leader.metadata.namespace.clone(), name.clone());
            keys.extend(name.map(key));
        }
        (Some(Object::Pod(before)), after) => {
            let after = match after {
                Some(Object::Pod(after)) => Some(after),
                _ => None,
            };
            let was_lost = is_active(before) && !after.is_some_and(|after| is_active(after));
            let Some(owner) = owner_key(&before.metadata) else { return keys };
            let above = cluster.workloads().get(&owner).and_then(|owner| owner_key(&owner.metadata));
            if after.is_none() || is_available(before) != after.is_some_and(|after| is_available(after)) {
                keys.extend([Some(owner.clone()), above].into_iter().flatten().filter(|key| rolls(key)));
            }
            if was_lost || after.is_none() {
                keys.insert(owner);
            }
        }
        _ => {}
    }
    keys
}

/// Whether a Pod is one of those that its workload wants.
pub(crate) fn is_active(pod: &Pod) -> bool {
    !pod.is_finished() && !pod.metadata.is_deleting()
}

/// Whether a Pod serves: it is ready, or it runs and nobody says whether it is ready.
pub(crate) fn is_available(pod: &Pod) -> bool {
    let ready = condition(&pod.status.conditions, "Ready");
    is_active(pod) && ready.map_or(pod.status.phase == "Running", |ready| text(ready, "status") == "True")
}

/// The workload of the managing owner, whether or not it is there.
pub(crate) fn owner_key(metadata: &ObjectMeta) -> Option<WorkloadKey> {
    let owner = metadata.controller()?;
    Some((owner.kind.clone(), metadata.namespace.clone(), owner.name.clone()))
}

/// Pods that a workload manages, by name.
pub(crate) fn pods_of<'c>(cluster: &'c Cluster, key: &WorkloadKey) -> impl Iterator<Item = &'c Pod> + use<'c> {
    let (names, namespace) = (cluster.links().pods_of_controller(key), key.1.clone());
    names.filter_map(move |name| cluster.pods().get(&(namespace.clone(), name.clone())).map(Arc::as_ref))
}

/// Workloads that a workload manages, in the order of their arrival.
fn children<'c>(cluster: &'c Cluster, workload: &Workload) -> Vec<&'c Workload> {
    let keys = cluster.links().workloads_of_controller(&key(workload));
    let mut children: Vec<&Workload> = keys.filter_map(|key| cluster.workloads().get(key)).collect();
    if let WorkloadSpec::LeaderWorkerSet(_) = workload.spec {
        // The workers belong to the leader, a Pod.
        let leaders: Vec<&Pod> = children.iter().flat_map(|leaders| pods_of(cluster, &key(leaders))).collect();
        for leader in leaders {
            let key = ("Pod".to_owned(), leader.metadata.namespace.clone(), leader.metadata.name.clone());
            let sets = cluster.links().workloads_of_controller(&key);
            children.extend(sets.filter_map(|key| cluster.workloads().get(key)));
        }
    }
    children.arrange_by_key(|child| cluster.arrival(&child.kind, &child.metadata.namespace, &child.metadata.name));
    children
}

/// Whether a workload of a dump made others of a kind that are not given: nothing is made in their place.
fn is_unknown_below(cluster: &Cluster, workload: &Workload, kind: &str) -> bool {
    cluster.is_not_given(kind) && is_foreign(&workload.metadata.uid)
}

/// Makes an object for a workload, and tells if that is refused.
pub(crate) fn create(workload: &Workload, object: Object) -> Action {
    let (metadata, controller) = (&workload.metadata, format!("{}-controller", workload.kind.to_lowercase()));
    let note = "Error creating: ".to_owned();
    let event = EventRecord::warning(&controller, reference(workload), metadata, "FailedCreate", note);
    Action::Create { object: Box::new(object), refused: Some(event) }
}

/// Asks for a Pod to go.
pub(crate) fn delete(pod: &Pod) -> Action {
    Action::delete(pod.metadata.reference("Pod"), &pod.metadata)
}

/// The workload of the input that a Pod comes from.
pub(crate) fn root_of<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<&'c Workload> {
    root_above(cluster, &pod.metadata)
}

/// The workload of the input that an object comes from.
pub(crate) fn root_above<'c>(cluster: &'c Cluster, metadata: &ObjectMeta) -> Option<&'c Workload> {
    let namespace = &metadata.namespace;
    let mut owner = metadata.controller();
    let mut root = None;
    for _ in 0..MAX_OWNERS {
        let Some(OwnerReference { kind, name, .. }) = owner else { break };
        let key = (kind.clone(), namespace.clone(), name.clone());
        if let Some(workload) = cluster.workloads().get(&key) {
            owner = workload.metadata.controller();
            root = Some(workload);
        } else {
            // The workers of a LeaderWorkerSet belong to the leader, a Pod.
            let pod = (key.0 == "Pod").then(|| cluster.pods().get(&(key.1, key.2))).flatten();
            owner = pod.and_then(|pod| pod.metadata.controller());
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
            let group = pod.metadata.labels.get(job_set::GROUP);
            let index = spec.replicated_jobs.iter().position(|job| Some(&job.name) == group).unwrap_or_default();
            format!("spec.replicatedJobs[{index}].template.spec.template.")
        }
        WorkloadSpec::LeaderWorkerSet(spec) => {
            let own = makers::leads(&pod.metadata) && spec.leader_worker_template.leader_template.is_some();
            let which = if own { "leaderTemplate" } else { "workerTemplate" };
            format!("spec.leaderWorkerTemplate.{which}.")
        }
        WorkloadSpec::Other(spec) => {
            let is_of = |part: &&PodPart| {
                let last = part.pod_name(&root.metadata.name, 0);
                pod.metadata.name.starts_with(last.trim_end_matches('0'))
            };
            let part = spec.parts.iter().find(is_of).or(spec.parts.first());
            part.map_or_else(|| "spec.template.".to_owned(), |part| format!("{}.", part.path))
        }
    }
}

/// Kind, namespace and name of a workload.
pub(crate) fn reference(workload: &Workload) -> ObjectRef {
    workload.metadata.reference(&workload.kind)
}

/// A reference to the managing owner.
fn owner_reference(api_version: &str, kind: &str, metadata: &ObjectMeta) -> OwnerReference {
    OwnerReference {
        uid: uid_of(kind, metadata),
        block_owner_deletion: Some(true),
        ..metadata.as_controller(api_version, kind)
    }
}

/// A reference to a workload as the managing owner.
pub(crate) fn owner_of(workload: &Workload) -> OwnerReference {
    owner_reference(&workload.api_version, &workload.kind, &workload.metadata)
}

/// A Pod as its controller makes it, without a name.
pub(crate) fn pod_of(workload: &Workload, template: &PodTemplateSpec) -> Pod {
    let metadata = ObjectMeta {
        namespace: workload.metadata.namespace.clone(),
        labels: template.metadata.labels.clone(),
        annotations: template.metadata.annotations.clone(),
        finalizers: template.metadata.finalizers.clone(),
        owner_references: vec![owner_of(workload)],
        ..ObjectMeta::default()
    };
    Pod { metadata, spec: template.spec.clone(), ..Pod::default() }
}

/// Kind, namespace and name of a workload.
pub(crate) fn key(workload: &Workload) -> WorkloadKey {
    (workload.kind.clone(), workload.metadata.namespace.clone(), workload.metadata.name.clone())
}
