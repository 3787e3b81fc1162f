//! Controllers that make further workloads: CronJob, LeaderWorkerSet.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{MAX_PODS, children, create, is_active, is_unknown_below, owner_of, owner_reference};
use crate::api::meta::ObjectMeta;
use crate::api::object::Object;
use crate::api::pod::PodTemplateSpec;
use crate::api::workload::{
    CronJobSpec, JobSpec, KUEUE_QUEUE, LeaderWorkerSetSpec, StatefulSetOrdinals, StatefulSetSpec, Workload,
    WorkloadSpec,
};
use crate::cluster::Cluster;
use crate::decision::Action;
use crate::derive;
use crate::finding::{Code, Finding};
use crate::gather::Gather;

/// Label with the name of the LeaderWorkerSet.
pub(super) const LWS_NAME: &str = "leaderworkerset.sigs.k8s.io/name";
/// Label with the number of the group.
pub(super) const LWS_GROUP: &str = "leaderworkerset.sigs.k8s.io/group-index";
/// Label with the number of the Pod in its group; the leader is 0.
pub(super) const LWS_WORKER: &str = "leaderworkerset.sigs.k8s.io/worker-index";
/// Annotation with the number of Pods of a group.
pub(super) const LWS_SIZE: &str = "leaderworkerset.sigs.k8s.io/size";

/// Whether a Pod of a LeaderWorkerSet leads its group.
pub(super) fn leads(metadata: &ObjectMeta) -> bool {
    metadata.labels.get(LWS_WORKER).is_some_and(|number| number == "0")
}

fn made(owner: &Workload, child: Workload) -> Action {
    create(owner, Object::Workload(Arc::new(child)))
}

/// A CronJob is shown with one run.
pub(super) fn cron_job(cluster: &Cluster, workload: &Workload, spec: &CronJobSpec) -> Vec<Action> {
    let is_made = is_unknown_below(cluster, workload, "Job") || !children(cluster, workload).is_empty();
    if suspended(workload, spec.suspend).0 || is_made {
        return Vec::new();
    }
    let template = &spec.job_template;
    let name = derive::generated_name(&format!("{}-", workload.metadata.name), &["CronJob", &uid(workload)]);
    vec![job(workload, name, &template.metadata, template.spec.clone(), [])]
}

/// A Job of a template, with more labels.
pub(super) fn job(
    owner: &Workload,
    name: String,
    template: &ObjectMeta,
    spec: JobSpec,
    more: impl IntoIterator<Item = (String, String)>,
) -> Action {
    let labels = template.labels.clone().into_iter().chain(more).gather();
    let metadata = ObjectMeta { labels, annotations: template.annotations.clone(), ..ObjectMeta::default() };
    made(owner, child(owner, "batch/v1", "Job", name, metadata, WorkloadSpec::Job(Box::new(spec))))
}

/// A LeaderWorkerSet has its leaders in one StatefulSet, and the workers of each in another. Whole groups are shown, but at least one.
pub(super) fn leader_worker_set(cluster: &Cluster, workload: &Workload, spec: &LeaderWorkerSetSpec) -> Vec<Action> {
    let template = &spec.leader_worker_template;
    let (groups, size) = (count(spec.replicas), count(template.size));
    if size == 0 {
        return Vec::new();
    }
    let existing = children(cluster, workload);
    let mut actions = Vec::new();
    let leader_name = &workload.metadata.name;
    let leaders = existing.iter().find(|child| child.metadata.name == *leader_name);
    match leaders.map(|leaders| (leaders, &leaders.spec)) {
        Some((leaders, WorkloadSpec::StatefulSet(own))) if count(own.replicas) != groups => {
            let mut leaders = Workload::clone(leaders);
            let own = StatefulSetSpec { replicas: signed(groups), ..(**own).clone() };
            leaders.spec = WorkloadSpec::StatefulSet(Box::new(own));
            actions.push(Action::Update(Box::new(Object::Workload(Arc::new(leaders)))));
        }
        Some(_) => {}
        None => {
            let pods = template.leader_template.as_ref().unwrap_or(&template.worker_template);
            let pods = member(pods, leader_name, (LWS_WORKER, 0), size);
            let spec = StatefulSetSpec { replicas: signed(groups), template: pods, ..StatefulSetSpec::default() };
            actions.push(made(workload, stateful_set(workload, leader_name.clone(), spec)));
        }
    }
    for group in 0..if size > 1 { groups.min(groups_shown(size)) } else { 0 } {
        let name = format!("{leader_name}-{group}");
        let namespace = workload.metadata.namespace.clone();
        if cluster.workloads().contains_key(&("StatefulSet".to_owned(), namespace.clone(), name.clone())) {
            continue;
        }
        let mut pods = member(&template.worker_template, leader_name, (LWS_GROUP, group), size);
        pods.metadata.annotations.insert("leaderworkerset.sigs.k8s.io/leader-name".to_owned(), name.clone());
        let spec = StatefulSetSpec {
            replicas: signed(size.saturating_sub(1)),
            ordinals: Some(StatefulSetOrdinals { start: 1, ..StatefulSetOrdinals::default() }),
            template: pods,
            ..StatefulSetSpec::default()
        };
        // They belong to the leader, a Pod: it comes first.
        let Some(leader) = cluster.pods().get(&(namespace, name.clone())).filter(|leader| is_active(leader)) else {
            continue;
        };
        let mut set = stateful_set(workload, name, spec);
        set.metadata.owner_references = vec![owner_reference("v1", "Pod", &leader.metadata)];
        actions.push(made(workload, set));
    }
    actions
}

/// The template of Pods of a LeaderWorkerSet, with one of their numbers.
fn member(of: &PodTemplateSpec, name: &str, (label, number): (&str, u64), size: u64) -> PodTemplateSpec {
    let mut pods = of.clone();
    pods.metadata.labels.insert(LWS_NAME.to_owned(), name.to_owned());
    pods.metadata.labels.insert(label.to_owned(), number.to_string());
    pods.metadata.annotations.insert(LWS_SIZE.to_owned(), size.to_string());
    pods
}

/// How many groups of a LeaderWorkerSet are shown.
pub(super) fn groups_shown(size: u64) -> u64 {
    MAX_PODS.checked_div(size).unwrap_or(1).max(1)
}

/// Whether a workload waits to be resumed, and what to say about it.
///
/// Kueue resumes the workloads of its queues; they are shown as after their admission.
pub(crate) fn suspended(workload: &Workload, suspend: Option<bool>) -> (bool, Option<Finding>) {
    let path = "spec.suspend";
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

/// A StatefulSet that selects its Pods by the labels that they have of the controller.
fn stateful_set(owner: &Workload, name: String, mut spec: StatefulSetSpec) -> Workload {
    let labels = spec.template.metadata.labels.iter();
    let own = labels.filter(|(name, _)| [LWS_NAME, LWS_GROUP, LWS_WORKER].contains(&name.as_str()));
    let own: BTreeMap<&String, &String> = own.gather();
    spec.rest.set("selector", json!({ "matchLabels": own }));
    spec.rest.set("podManagementPolicy", json!("Parallel"));
    let labels = [(LWS_NAME.to_owned(), owner.metadata.name.clone())].into_iter().gather();
    let metadata = ObjectMeta { labels, ..ObjectMeta::default() };
    child(owner, "apps/v1", "StatefulSet", name, metadata, WorkloadSpec::StatefulSet(Box::new(spec)))
}

/// A workload that another one manages.
pub(super) fn child(
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
    metadata.owner_references = vec![owner_of(owner)];
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

/// How many Pods of a Job run at a time.
pub(super) fn parallel(spec: &JobSpec) -> u64 {
    let parallelism = count(spec.parallelism);
    match spec.completions {
        Some(completions) => parallelism.min(count(Some(completions))),
        None => parallelism,
    }
}
