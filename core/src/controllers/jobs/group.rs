//! The Workload and the PodGroup of a Job that is a gang: as many Pods at a time as must succeed, and numbered.

use serde_json::{Value, json};

use super::{Job, pods};
use crate::api::group::{GangPolicy, PodGroup, PodGroupSpec, SchedulingPolicy, SchedulingWorkload};
use crate::api::meta::{ObjectMeta, OwnerReference};
use crate::api::object::Object;
use crate::api::read::Rest;
use crate::cluster::Cluster;
use crate::decision::{Action, SCHEDULING_GROUP};
use crate::derive;
use crate::profile::{Profile, Version};

/// API version of what is made.
const API_VERSION: &str = "scheduling.k8s.io/v1alpha2";

/// Letters of the part of a name that tells objects apart.
const LETTERS: usize = 10;

/// Longest name.
const MAX_NAME: usize = 253;

/// Where a Job's PodGroup stands.
pub(super) enum Group {
    /// Its Pods can be made, as members of this PodGroup or of none.
    Ready(Option<String>),
    /// These must be made first.
    Wanted(Vec<Action>),
}

/// The PodGroup of a Job. A Job that was there before the feature gets none, nor does one about which somebody else's Workload speaks.
pub(super) fn ensure(cluster: &Cluster, profile: &Profile, job: &Job<'_>, has_no_pods: bool) -> Group {
    if !is_gang(profile, job) {
        return Group::Ready(None);
    }
    let metadata = &job.workload.metadata;
    let workloads: Vec<&SchedulingWorkload> = cluster
        .scheduling_workloads()
        .values()
        .filter(|workload| workload.metadata.namespace == metadata.namespace && is_about(workload, &metadata.name))
        .collect();
    let workload = match workloads.as_slice() {
        [] if has_no_pods && is_new(job) => return Group::Wanted(make_workload(job)),
        [one] if is_controlled(&one.metadata, metadata) => *one,
        _ => return Group::Ready(None),
    };
    let templates = workload.spec.get("podGroupTemplates").and_then(Value::as_array).map(Vec::as_slice);
    let Some([template]) = templates else { return Group::Ready(None) };
    let groups: Vec<&PodGroup> = cluster
        .pod_groups()
        .values()
        .filter(|group| group.metadata.namespace == metadata.namespace && is_of(group, &workload.metadata.name))
        .collect();
    match groups.as_slice() {
        [] => {
            let group = group(job, workload, template);
            Group::Wanted(vec![Action::Create { object: Box::new(Object::PodGroup(Box::new(group))), refused: None }])
        }
        [one] if is_controlled(&one.metadata, metadata) => Group::Ready(Some(one.metadata.name.clone())),
        _ => Group::Ready(None),
    }
}

fn is_gang(profile: &Profile, job: &Job<'_>) -> bool {
    let features = &profile.features;
    let has_feature = features.workload_with_job && features.generic_workload && profile.version != Version::V1_37;
    let has_shape = job.is_indexed() && job.parallelism() > 1 && job.completions() == Some(job.parallelism());
    has_feature && has_shape && job.spec.template.spec.scheduling_group.is_none()
}

/// Whether a Job has never started.
fn is_new(job: &Job<'_>) -> bool {
    let status = &job.workload.status;
    let counted = ["succeeded", "failed"].iter().any(|name| status.get(*name).and_then(Value::as_u64) > Some(0));
    let started = status.get("startTime").is_some_and(|time| !time.is_null());
    !counted && !started
}

fn is_controlled(metadata: &ObjectMeta, job: &ObjectMeta) -> bool {
    metadata.controller().is_some_and(|owner| owner.uid == job.uid)
}

/// Whether a Workload names a Job as its controller.
fn is_about(workload: &SchedulingWorkload, job: &str) -> bool {
    let says = |name: &str| workload.spec.pointer(&format!("/controllerRef/{name}")).and_then(Value::as_str);
    says("apiGroup") == Some("batch") && says("kind") == Some("Job") && says("name") == Some(job)
}

/// Whether a PodGroup names a Workload as the one that it was made from.
fn is_of(group: &PodGroup, workload: &str) -> bool {
    let reference = group.spec.rest.get("podGroupTemplateRef").and_then(|reference| reference.get("workload"));
    reference.and_then(|nested| nested.get("workloadName")).and_then(Value::as_str) == Some(workload)
}

fn make_workload(job: &Job<'_>) -> Vec<Action> {
    let metadata = &job.workload.metadata;
    let hash = derive::letters(LETTERS, &["workload", &metadata.uid]);
    let name = format!("{}-{hash}", derive::cut(&metadata.name, MAX_NAME.saturating_sub(LETTERS + 1)));
    let template = json!({
        "name": format!("{}-pgt-0", metadata.name),
        "schedulingPolicy": { "gang": { "minCount": job.parallelism() } },
    });
    let workload = SchedulingWorkload {
        api_version: API_VERSION.to_owned(),
        metadata: ObjectMeta {
            namespace: metadata.namespace.clone(),
            name: name.clone(),
            owner_references: vec![pods::owner_reference(job)],
            ..ObjectMeta::default()
        },
        spec: json!({
            "controllerRef": { "apiGroup": "batch", "kind": "Job", "name": metadata.name },
            "podGroupTemplates": [template],
        }),
        ..SchedulingWorkload::default()
    };
    let object = Box::new(Object::SchedulingWorkload(Box::new(workload)));
    let note = format!("Created Workload {name} for Job {}", metadata.name);
    vec![Action::Create { object, refused: None }, job.event(false, "WorkloadCreated", note)]
}

fn group(job: &Job<'_>, workload: &SchedulingWorkload, template: &Value) -> PodGroup {
    let of_template = template.get("name").and_then(Value::as_str).unwrap_or_default();
    let from = &workload.metadata.name;
    let hash = derive::letters(LETTERS, &["podgroup", from, of_template]);
    // Each part gets half of the room, and what the other leaves.
    let room = MAX_NAME.saturating_sub(LETTERS + 2);
    let half = room / 2;
    let first = derive::cut(from, (room.saturating_sub(of_template.len())).max(room.saturating_sub(half)));
    let second = derive::cut(of_template, room.saturating_sub(first.len()));
    let min_count = template.pointer("/schedulingPolicy/gang/minCount").and_then(Value::as_i64).unwrap_or_default();
    let gang = GangPolicy { min_count, ..GangPolicy::default() };
    let reference = json!({ "workload": { "workloadName": from, "podGroupTemplateName": of_template } });
    let owner = OwnerReference {
        api_version: format!("{SCHEDULING_GROUP}/v1alpha2"),
        kind: "Workload".to_owned(),
        name: from.clone(),
        uid: workload.metadata.uid.clone(),
        ..OwnerReference::default()
    };
    PodGroup {
        api_version: API_VERSION.to_owned(),
        metadata: ObjectMeta {
            namespace: workload.metadata.namespace.clone(),
            name: format!("{first}-{second}-{hash}"),
            owner_references: vec![pods::owner_reference(job), owner],
            ..ObjectMeta::default()
        },
        spec: PodGroupSpec {
            scheduling_policy: Some(SchedulingPolicy { gang: Some(gang), ..SchedulingPolicy::default() }),
            rest: Rest::new([("podGroupTemplateRef".to_owned(), reference)].into_iter().collect()),
            ..PodGroupSpec::default()
        },
        ..PodGroup::default()
    }
}
