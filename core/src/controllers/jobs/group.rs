//! The Workload and the PodGroup of a Job. 1.36 makes them for a Job that is a gang: as many Pods at a time as must succeed, and
//! numbered. 1.37 makes them for every Job that nobody else manages, with the policy that the Job states. 1.38 makes them for every Job that
//! states one as well.
//!
//! Not modelled: PodGroups that the Job's own manager has made for it, and a gang that grows with `parallelism`.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Job;
use crate::api::group::{PodGroup, PodGroupSpec, SchedulingWorkload};
use crate::api::meta::{ObjectMeta, OwnerReference};
use crate::api::object::Object;
use crate::api::read::{Json, Path};
use crate::cluster::Cluster;
use crate::cluster::entries::SCHEDULING_GROUP;
use crate::controllers::workloads;
use crate::decision::Action;
use crate::derive;
use crate::profile::{Profile, Version};

/// What a template of a Workload and a PodGroup have in common in 1.37.
const COMMON: [&str; 5] =
    ["schedulingPolicy", "schedulingConstraints", "disruptionMode", "resourceClaims", "priorityClassName"];

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
    let Some(shape) = shape(profile, job) else { return Group::Ready(None) };
    let metadata = &job.workload.metadata;
    let workloads: Vec<&SchedulingWorkload> = cluster
        .scheduling_workloads()
        .values()
        .filter(|workload| workload.metadata.namespace == metadata.namespace && is_about(workload, &metadata.name))
        .filter(|workload| shape == Shape::Alpha || is_controlled(&workload.metadata, job))
        .collect();
    let is_new = has_no_pods && is_new(job);
    let workload = match workloads.as_slice() {
        [] if is_new => return Group::Wanted(make_workload(job, shape)),
        [one] if is_controlled(&one.metadata, job) => *one,
        _ => return Group::Ready(None),
    };
    let templates = workload.spec.get("podGroupTemplates").and_then(Value::as_array).map(Vec::as_slice);
    let Some([template]) = templates else { return Group::Ready(None) };
    let groups: Vec<&PodGroup> = cluster
        .pod_groups()
        .values()
        .filter(|group| group.metadata.namespace == metadata.namespace && is_of(group, &workload.metadata.name))
        .filter(|group| shape == Shape::Alpha || is_controlled(&group.metadata, job))
        .collect();
    match groups.as_slice() {
        [] if is_new || shape == Shape::Alpha => {
            let group = group(job, workload, template, shape);
            let note = format!("Created PodGroup {} for Job {}", group.metadata.name, metadata.name);
            let object = Box::new(Object::PodGroup(Arc::new(group)));
            let mut actions = vec![Action::Create { object, refused: None }];
            if shape == Shape::Beta {
                actions.push(job.event(false, "PodGroupCreated", note));
            }
            Group::Wanted(actions)
        }
        [one] if is_controlled(&one.metadata, job) => Group::Ready(Some(one.metadata.name.clone())),
        _ => Group::Ready(None),
    }
}

/// How the objects are spelt, and for which Jobs they are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// As in 1.36.
    Alpha,
    /// As in 1.37.
    Beta,
}

impl Shape {
    fn api_version(self) -> String {
        format!("{SCHEDULING_GROUP}/{}", if self == Self::Alpha { "v1alpha2" } else { "v1beta1" })
    }
}

fn shape(profile: &Profile, job: &Job<'_>) -> Option<Shape> {
    let features = &profile.features;
    let is_on = features.workload_with_job && features.generic_workload;
    if !is_on || job.spec.template.spec.scheduling_group.is_some() {
        return None;
    }
    let is_gang = job.is_indexed() && job.parallelism() > 1 && job.completions() == Some(job.parallelism());
    let is_root = job.workload.metadata.controller().is_none();
    let states_policy = job.spec.rest.get("scheduling").is_some_and(|scheduling| !scheduling.is_null());
    match profile.version {
        Version::V1_37 => is_root.then_some(Shape::Beta),
        Version::V1_38 => (is_root || states_policy).then_some(Shape::Beta),
        Version::All if states_policy && is_root => Some(Shape::Beta),
        Version::V1_36 | Version::All => is_gang.then_some(Shape::Alpha),
        Version::V1_34 | Version::V1_35 => None,
    }
}

/// Whether a Job has never started.
fn is_new(job: &Job<'_>) -> bool {
    let status = &job.workload.status;
    let counted = ["succeeded", "failed"].iter().any(|name| status.get(*name).and_then(Value::as_u64) > Some(0));
    let started = status.get("startTime").is_some_and(|time| !time.is_null());
    !counted && !started
}

fn is_controlled(metadata: &ObjectMeta, job: &Job<'_>) -> bool {
    metadata.controller().is_some_and(|owner| owner.uid == job.uid())
}

/// Whether a Workload names a Job as its controller.
fn is_about(workload: &SchedulingWorkload, job: &str) -> bool {
    let says = |name: &str| workload.spec.pointer(&format!("/controllerRef/{name}")).and_then(Value::as_str);
    says("apiGroup") == Some("batch") && says("kind") == Some("Job") && says("name") == Some(job)
}

/// Whether a PodGroup names a Workload as the one that it was made from.
fn is_of(group: &PodGroup, workload: &str) -> bool {
    let alpha = || group.spec.rest.get("podGroupTemplateRef").and_then(|reference| reference.get("workload"));
    let reference = group.spec.rest.get("workloadRef").or_else(alpha);
    reference.and_then(|nested| nested.get("workloadName")).and_then(Value::as_str) == Some(workload)
}

/// What a PodGroup of the Job is made from.
fn template(job: &Job<'_>, shape: Shape) -> Value {
    let least = job.parallelism().max(1);
    let mut template = Map::new();
    template.insert("name".to_owned(), json!(format!("{}-pgt-0", job.workload.metadata.name)));
    if shape == Shape::Alpha {
        template.insert("schedulingPolicy".to_owned(), json!({ "gang": { "minCount": least } }));
        return Value::Object(template);
    }
    let stated = job.spec.rest.get("scheduling");
    for field in COMMON {
        let own = stated.and_then(|stated| stated.get(field)).filter(|own| !own.is_null());
        template.extend(own.map(|own| (field.to_owned(), own.clone())));
    }
    let policy = template.entry("schedulingPolicy").or_insert_with(|| json!({ "basic": {} }));
    if let Some(gang) = policy.get_mut("gang").and_then(Value::as_object_mut) {
        gang.entry("minCount").or_insert_with(|| json!(least));
    }
    let class = job.spec.template.spec.rest.get("priorityClassName");
    template.extend(class.map(|class| ("priorityClassName".to_owned(), class.clone())));
    Value::Object(template)
}

/// The metadata of an object that a Job makes, with a further owner.
fn made(job: &Job<'_>, name: String, further: Option<OwnerReference>) -> ObjectMeta {
    let owner_references = [workloads::owner_of(job.workload)].into_iter().chain(further).collect();
    let namespace = job.workload.metadata.namespace.clone();
    ObjectMeta { namespace, name, owner_references, ..ObjectMeta::default() }
}

fn make_workload(job: &Job<'_>, shape: Shape) -> Vec<Action> {
    let metadata = &job.workload.metadata;
    let hash = derive::letters(LETTERS, &["workload", &job.uid()]);
    let name = format!("{}-{hash}", derive::cut(&metadata.name, MAX_NAME.saturating_sub(LETTERS + 1)));
    let workload = SchedulingWorkload {
        api_version: shape.api_version(),
        metadata: made(job, name.clone(), None),
        spec: json!({
            "controllerRef": { "apiGroup": "batch", "kind": "Job", "name": metadata.name },
            "podGroupTemplates": [template(job, shape)],
        }),
        ..SchedulingWorkload::default()
    };
    let object = Box::new(Object::SchedulingWorkload(Arc::new(workload)));
    let note = format!("Created Workload {name} for Job {}", metadata.name);
    vec![Action::Create { object, refused: None }, job.event(false, "WorkloadCreated", note)]
}

fn group(job: &Job<'_>, workload: &SchedulingWorkload, template: &Value, shape: Shape) -> PodGroup {
    let of_template = template.get("name").and_then(Value::as_str).unwrap_or_default();
    let from = &workload.metadata.name;
    let hash = derive::letters(LETTERS, &["podgroup", from, of_template]);
    // Each part gets half of the room, and what the other leaves.
    let room = MAX_NAME.saturating_sub(LETTERS + 2);
    let half = room / 2;
    let first = derive::cut(from, (room.saturating_sub(of_template.len())).max(room.saturating_sub(half)));
    let second = derive::cut(of_template, room.saturating_sub(first.len()));
    let mut spec = Map::new();
    for field in COMMON {
        spec.extend(template.get(field).map(|own| (field.to_owned(), own.clone())));
    }
    match shape {
        Shape::Alpha => {
            let names = json!({ "workloadName": from, "podGroupTemplateName": of_template });
            spec.insert("podGroupTemplateRef".to_owned(), json!({ "workload": names }));
        }
        Shape::Beta => {
            let names = json!({ "workloadName": from, "templateName": of_template });
            spec.insert("workloadRef".to_owned(), names);
        }
    }
    let spec = PodGroupSpec::read(Value::Object(spec), &Path::ROOT, &mut Vec::new()).unwrap_or_default();
    let owner = workload.metadata.as_controller(&shape.api_version(), "Workload");
    let owner = OwnerReference { controller: None, ..owner };
    PodGroup {
        api_version: shape.api_version(),
        metadata: made(job, format!("{first}-{second}-{hash}"), Some(owner)),
        spec,
        ..PodGroup::default()
    }
}
