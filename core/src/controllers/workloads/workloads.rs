//! Controllers that make further workloads: Deployment, CronJob, JobSet, LeaderWorkerSet.

use serde_json::{Value, json};

use crate::api::meta::ObjectMeta;
use crate::api::read::{Json, Rest};
use crate::api::workload::{
    CronJobSpec, JobSetSpec, JobSpec, LeaderWorkerSetSpec, ReplicaSetSpec, StatefulSetOrdinals, StatefulSetSpec,
    Workload, WorkloadSpec,
};
use crate::derive;
use crate::finding::{Code, Finding};

use super::{Expansion, MAX_PODS, owner_reference, pods};

/// Label with the group of Jobs that a Pod of a JobSet belongs to.
pub(super) const JOBSET_GROUP: &str = "jobset.sigs.k8s.io/replicatedjob-name";
/// Label with the name of the LeaderWorkerSet.
pub(super) const LWS_NAME: &str = "leaderworkerset.sigs.k8s.io/name";
/// Label with the number of the group.
pub(super) const LWS_GROUP: &str = "leaderworkerset.sigs.k8s.io/group-index";
/// Label with the number of the Pod in its group; the leader is 0.
pub(super) const LWS_WORKER: &str = "leaderworkerset.sigs.k8s.io/worker-index";
/// Label by which Kueue is asked to admit a workload.
const KUEUE_QUEUE: &str = "kueue.x-k8s.io/queue-name";

impl Expansion<'_> {
    pub(super) fn deployment(&mut self, workload: &Workload, spec: &ReplicaSetSpec) -> Vec<Finding> {
        let mut children = self.existing_children(workload);
        if children.is_empty() {
            children.push(replica_set(workload, spec));
        }
        self.play_all(children)
    }

    pub(super) fn cron_job(&mut self, workload: &Workload, spec: &CronJobSpec) -> Vec<Finding> {
        if let (true, Some(finding)) = suspended(workload, spec.suspend, "spec.suspend") {
            return vec![finding];
        }
        let mut children = self.existing_children(workload);
        if children.is_empty() {
            let template = &spec.job_template;
            let name = derive::generated_name(&format!("{}-", workload.metadata.name), &["CronJob", &uid(workload)]);
            let metadata = ObjectMeta {
                labels: template.metadata.labels.clone(),
                annotations: template.metadata.annotations.clone(),
                ..ObjectMeta::default()
            };
            children.push(child(
                workload,
                "batch/v1",
                "Job",
                name,
                metadata,
                WorkloadSpec::Job(Box::new(template.spec.clone())),
            ));
        }
        self.play_all(children)
    }

    pub(super) fn job_set(&mut self, workload: &Workload, spec: &JobSetSpec) -> Vec<Finding> {
        let (waits, note) = suspended(workload, spec.suspend, "spec.suspend");
        let mut findings: Vec<Finding> = note.into_iter().collect();
        if waits {
            return findings;
        }
        let existing = self.existing_children(workload);
        let mut global = 0u64;
        for group in &spec.replicated_jobs {
            let replicas = count(group.replicas);
            let per_job = pods::parallel(&group.template.spec);
            for index in 0..replicas {
                let name = format!("{}-{}-{index}", workload.metadata.name, group.name);
                let found = existing.iter().find(|job| job.metadata.name == name).cloned();
                if found.is_none() && (self.room() == 0 || index >= MAX_PODS) {
                    let left = replicas.saturating_sub(index);
                    self.wanted = self.wanted.saturating_add(left.saturating_mul(per_job));
                    break;
                }
                let job = found.unwrap_or_else(|| {
                    let labels = [
                        ("jobset.sigs.k8s.io/jobset-name", workload.metadata.name.clone()),
                        (JOBSET_GROUP, group.name.clone()),
                        ("jobset.sigs.k8s.io/replicatedjob-replicas", replicas.to_string()),
                        ("jobset.sigs.k8s.io/job-index", index.to_string()),
                        ("jobset.sigs.k8s.io/job-global-index", global.saturating_add(index).to_string()),
                        ("jobset.sigs.k8s.io/restart-attempt", "0".to_owned()),
                    ];
                    let mut metadata = ObjectMeta {
                        labels: group.template.metadata.labels.clone(),
                        annotations: group.template.metadata.annotations.clone(),
                        ..ObjectMeta::default()
                    };
                    let mut spec = group.template.spec.clone();
                    if spec.completion_mode.is_empty() {
                        spec.completion_mode = "Indexed".to_owned();
                    }
                    for (key, value) in labels {
                        metadata.labels.insert(key.to_owned(), value.clone());
                        spec.template.metadata.labels.insert(key.to_owned(), value);
                    }
                    // The JobSet resumes its Jobs itself.
                    spec.suspend = None;
                    child(workload, "batch/v1", "Job", name, metadata, WorkloadSpec::Job(Box::new(spec)))
                });
                let job = self.adopt(job);
                findings.extend(self.play(&job, None));
            }
            global = global.saturating_add(replicas);
        }
        findings
    }

    pub(super) fn leader_worker_set(&mut self, workload: &Workload, spec: &LeaderWorkerSetSpec) -> Vec<Finding> {
        let template = &spec.leader_worker_template;
        let (groups, size) = (count(spec.replicas), count(template.size));
        if size == 0 {
            return Vec::new();
        }
        let existing = self.existing_children(workload);
        // Whole groups are shown, but at least one.
        let shown = groups.min((MAX_PODS / size).max(1));
        let leader_name = &workload.metadata.name;
        let find = |name: &str| existing.iter().find(|set| set.metadata.name == name).cloned();
        let leaders = find(leader_name).unwrap_or_else(|| {
            let mut pods = template.leader_template.clone().unwrap_or_else(|| template.worker_template.clone());
            pods.metadata.labels.insert(LWS_NAME.to_owned(), leader_name.clone());
            pods.metadata.labels.insert(LWS_WORKER.to_owned(), "0".to_owned());
            pods.metadata.annotations.insert("leaderworkerset.sigs.k8s.io/size".to_owned(), size.to_string());
            let spec = StatefulSetSpec { replicas: signed(groups), template: pods, ..StatefulSetSpec::default() };
            stateful_set(workload, leader_name.clone(), spec)
        });
        let leaders = self.adopt(leaders);
        let mut findings = self.play(&leaders, Some(shown));
        for group in 0..if size > 1 { shown } else { 0 } {
            let name = format!("{leader_name}-{group}");
            let workers = find(&name).unwrap_or_else(|| {
                let mut pods = template.worker_template.clone();
                pods.metadata.labels.insert(LWS_NAME.to_owned(), leader_name.clone());
                pods.metadata.labels.insert(LWS_GROUP.to_owned(), group.to_string());
                let annotations = &mut pods.metadata.annotations;
                annotations.insert("leaderworkerset.sigs.k8s.io/size".to_owned(), size.to_string());
                annotations.insert("leaderworkerset.sigs.k8s.io/leader-name".to_owned(), name.clone());
                let spec = StatefulSetSpec {
                    replicas: signed(size.saturating_sub(1)),
                    ordinals: Some(StatefulSetOrdinals { start: 1, ..StatefulSetOrdinals::default() }),
                    template: pods,
                    ..StatefulSetSpec::default()
                };
                let mut set = stateful_set(workload, name.clone(), spec);
                let leader = ObjectMeta {
                    namespace: workload.metadata.namespace.clone(),
                    name: name.clone(),
                    ..ObjectMeta::default()
                };
                set.metadata.owner_references = vec![owner_reference("v1", "Pod", &leader)];
                set
            });
            let workers = self.adopt(workers);
            findings.extend(self.play(&workers, None));
        }
        let left = groups.saturating_sub(shown);
        self.wanted = self.wanted.saturating_add(left.saturating_mul(size.saturating_sub(1)));
        findings
    }

    fn play_all(&mut self, children: Vec<Workload>) -> Vec<Finding> {
        let mut findings = Vec::new();
        for child in children {
            let child = self.adopt(child);
            findings.extend(self.play(&child, None));
        }
        findings
    }
}

/// Whether a workload waits to be resumed, and what to say about it.
///
/// Kueue resumes the workloads of its queues; they are shown as after their admission.
pub(super) fn suspended(workload: &Workload, suspend: Option<bool>, path: &str) -> (bool, Option<Finding>) {
    if suspend != Some(true) {
        return (false, None);
    }
    if workload.metadata.labels.contains_key(KUEUE_QUEUE) {
        let message = "suspended until Kueue admits it; shown as admitted";
        return (false, Some(Finding::new(Code::RunSuspended, path, message)));
    }
    let finding = Finding::new(Code::RunSuspended, path, "suspended, makes no Pods")
        .with_hint("set `suspend: false` to see its Pods");
    (true, Some(finding))
}

fn replica_set(deployment: &Workload, spec: &ReplicaSetSpec) -> Workload {
    let template = spec.template.write().unwrap_or_default().to_string();
    let hash = derive::letters(10, &["pod-template-hash", &template]);
    let mut spec = spec.clone();
    let mut selector = spec.rest.get("selector").cloned().unwrap_or_else(|| json!({}));
    if let Some(labels) = selector.get_mut("matchLabels").and_then(Value::as_object_mut) {
        labels.insert("pod-template-hash".to_owned(), Value::String(hash.clone()));
    }
    spec.rest = Rest::new([("selector".to_owned(), selector)].into_iter().collect());
    spec.template.metadata.labels.insert("pod-template-hash".to_owned(), hash.clone());
    let metadata = ObjectMeta { labels: spec.template.metadata.labels.clone(), ..ObjectMeta::default() };
    let name = format!("{}-{hash}", deployment.metadata.name);
    child(deployment, "apps/v1", "ReplicaSet", name, metadata, WorkloadSpec::ReplicaSet(Box::new(spec)))
}

fn stateful_set(owner: &Workload, name: String, spec: StatefulSetSpec) -> Workload {
    let labels = [(LWS_NAME.to_owned(), owner.metadata.name.clone())].into_iter().collect();
    let metadata = ObjectMeta { labels, ..ObjectMeta::default() };
    child(owner, "apps/v1", "StatefulSet", name, metadata, WorkloadSpec::StatefulSet(Box::new(spec)))
}

/// A workload that another one manages.
fn child(
    owner: &Workload,
    api_version: &str,
    kind: &str,
    name: String,
    mut metadata: ObjectMeta,
    spec: WorkloadSpec,
) -> Workload {
    metadata.namespace = owner.metadata.namespace.clone();
    metadata.name = name;
    metadata.uid = derive::uid(kind, &metadata.namespace, &metadata.name);
    metadata.owner_references = vec![owner_reference(&owner.api_version, &owner.kind, &owner.metadata)];
    Workload { api_version: api_version.to_owned(), kind: kind.to_owned(), metadata, spec, status: Value::Null }
}

/// A number of things; 1 where left out, none where negative.
pub(super) fn count(number: Option<i64>) -> u64 {
    u64::try_from(number.unwrap_or(1)).unwrap_or_default()
}

fn signed(number: u64) -> Option<i64> {
    Some(i64::try_from(number).unwrap_or(i64::MAX))
}

fn uid(workload: &Workload) -> String {
    derive::uid_of(&workload.kind, &workload.metadata)
}

/// Whether the Pods of a Job are numbered.
pub(super) fn is_indexed(spec: &JobSpec) -> bool {
    spec.completion_mode == "Indexed"
}
