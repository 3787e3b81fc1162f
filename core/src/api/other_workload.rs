//! Workloads of kinds that are not known: the Pod templates found in their specs, each with its number.

use serde_json::{Map, Value};

use super::pod::PodTemplateSpec;
use super::read::{Json, Path};
use super::workload::Workload;
use crate::finding::Finding;

/// Fields that say how many Pods a template is for, the first that is there.
const COUNTS: [&str; 8] =
    ["replicas", "numWorkers", "workerReplicas", "workers", "parallelism", "instances", "count", "minReplicas"];

/// A field beside it that multiplies the number: hosts of one replica.
const HOSTS: &str = "numOfHosts";

/// Kinds that hold Pod templates for others to make Pods of, with their groups.
const BLUEPRINTS: [(&str, &str); 3] = [
    ("Workload", "kueue.x-k8s.io"),
    ("TrainingRuntime", "trainer.kubeflow.org"),
    ("ClusterTrainingRuntime", "trainer.kubeflow.org"),
];

/// Endings of field names that say nothing about the Pods.
const ENDINGS: [&str; 8] =
    ["ReplicaSpecs", "ReplicaSpec", "GroupSpecs", "GroupSpec", "Templates", "Template", "Specs", "Spec"];

/// Deepest nesting that is searched.
const MAX_DEPTH: usize = 12;

/// Longest name of a Pod.
const MAX_NAME: usize = 63;

/// The spec of such a workload.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OtherSpec {
    /// As written.
    pub raw: Value,
    /// The Pod templates in it.
    pub parts: Vec<PodPart>,
}

/// One Pod template.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PodPart {
    /// What tells its Pods from those of other templates; empty for the only one.
    pub name: String,
    /// Where it stands, from `spec`.
    pub path: String,
    /// For how many Pods it is.
    pub count: u64,
    /// What the Pods look like.
    pub template: PodTemplateSpec,
}

impl OtherSpec {
    /// The Pod templates of a spec; `None` where there is none, or where they are for others to make Pods of.
    pub(super) fn read(kind: &str, group: &str, raw: Value, findings: &mut Vec<Finding>) -> Option<Self> {
        let is_blueprint = BLUEPRINTS.iter().any(|(known, of)| *known == kind && *of == group);
        if is_blueprint || kind.ends_with("List") {
            return None;
        }
        let mut found = Vec::new();
        if let Some(map) = raw.as_object() {
            search_fields(map, &Place { path: "spec".to_owned(), name: String::new(), count: 1, depth: 0 }, &mut found);
        }
        let mut parts: Vec<PodPart> = Vec::new();
        for (place, template) in found {
            let Ok(template) = PodTemplateSpec::read(template, &Path::ROOT.field(&place.path), findings) else {
                continue;
            };
            let taken = parts.iter().filter(|part| part.name == place.name).count();
            let name = if taken == 0 { place.name } else { format!("{}-{taken}", place.name) };
            parts.push(PodPart { name, path: place.path, count: place.count, template });
        }
        (!parts.is_empty()).then_some(Self { raw, parts })
    }

    /// Why no Pods are made of a workload, if none are.
    pub fn not_expanded(&self, workload: &Workload) -> Option<String> {
        let is_on = |path: &str| self.raw.pointer(path).and_then(Value::as_bool) == Some(true);
        let is_suspended = is_on("/suspend") || is_on("/runPolicy/suspend");
        let waits_for_kueue = workload.metadata.labels.contains_key(super::workload::KUEUE_QUEUE);
        (is_suspended && !waits_for_kueue).then(|| "it is suspended".to_owned())
    }
}

impl PodPart {
    /// Name of one of its Pods.
    pub fn pod_name(&self, workload: &str, index: u64) -> String {
        let end = if self.name.is_empty() { format!("-{index}") } else { format!("-{}-{index}", self.name) };
        format!("{}{end}", crate::derive::cut(workload, MAX_NAME.saturating_sub(end.len())))
    }
}

/// Where the search is.
struct Place {
    path: String,
    name: String,
    count: u64,
    depth: usize,
}

fn search(value: &Value, place: Place, found: &mut Vec<(Place, Value)>) {
    if place.depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Object(map) if is_template(map) => {
            found.push((place, value.clone()));
        }
        Value::Object(map) => search_fields(map, &place, found),
        Value::Array(list) => {
            for (index, item) in list.iter().enumerate() {
                let own = ["groupName", "name"].into_iter().find_map(|field| item.get(field).and_then(Value::as_str));
                let name = own.map_or_else(|| format!("{}-{index}", place.name), tidy);
                let path = format!("{}[{index}]", place.path);
                let next = Place { path, name, count: place.count, depth: place.depth.saturating_add(1) };
                search(item, next, found);
            }
        }
        _ => {}
    }
}

fn search_fields(map: &Map<String, Value>, place: &Place, found: &mut Vec<(Place, Value)>) {
    let number = |field: &str| map.get(field).and_then(Value::as_i64).map(|n| u64::try_from(n).unwrap_or_default());
    let count = COUNTS.into_iter().find_map(number).unwrap_or(1).saturating_mul(number(HOSTS).unwrap_or(1));
    for (field, value) in map {
        let own = tidy(ENDINGS.into_iter().find_map(|ending| field.strip_suffix(ending)).unwrap_or(field));
        let is_plain = own.is_empty() || matches!(own.as_str(), "template" | "spec" | "pod");
        search(
            value,
            Place {
                path: format!("{}.{field}", place.path),
                name: if is_plain { place.name.clone() } else { own },
                count: place.count.saturating_mul(count),
                depth: place.depth.saturating_add(1),
            },
            found,
        );
    }
}

/// Whether an object is a Pod template: it has a spec with containers.
fn is_template(map: &Map<String, Value>) -> bool {
    let containers = map.get("spec").and_then(|spec| spec.get("containers")).and_then(Value::as_array);
    containers.is_some_and(|list| !list.is_empty() && list.iter().all(Value::is_object))
}

/// A text as part of a name.
fn tidy(text: &str) -> String {
    let text = text.to_ascii_lowercase().replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    text.trim_matches('-').to_owned()
}
