//! Workloads of kinds that are not known: the Pod templates found in their specs, each with its number.

use serde_json::Value;

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

/// Kinds of which the Pods are not in their specs, with their groups, and why no Pods are made of them here.
const NOT_EXPANDED: [(&str, &str, &str); 11] = [
    ("TrainJob", "trainer.kubeflow.org", "its Pods are made from its training runtime"),
    ("Workflow", "argoproj.io", "how many Pods it makes shows only when it runs"),
    ("CronWorkflow", "argoproj.io", "how many Pods its Workflows make shows only when they run"),
    ("WorkflowTemplate", "argoproj.io", "Pods are made of Workflows that refer to it"),
    ("ClusterWorkflowTemplate", "argoproj.io", "Pods are made of Workflows that refer to it"),
    ("SparkApplication", "sparkoperator.k8s.io", THEIRS),
    ("ScheduledSparkApplication", "sparkoperator.k8s.io", THEIRS),
    ("SparkApplication", "spark.apache.org", THEIRS),
    ("InferenceService", "serving.kserve.io", THEIRS),
    ("VirtualMachine", "kubevirt.io", THEIRS),
    ("VirtualMachineInstance", "kubevirt.io", THEIRS),
];

/// Of Pods that are not written as Pods anywhere in the object.
const THEIRS: &str = "only its controller knows its Pods";

/// The group of Jobs whose Pods a scheduler of their own places unless they name another one.
const VOLCANO: &str = "batch.volcano.sh";

/// Endings of names of fields that hold parts of Pod templates which are written over others.
const OVERRIDES: [&str; 3] = ["Overrides", "Override", "Patches"];

/// Endings of field names that say nothing about the Pods.
const ENDINGS: [&str; 8] =
    ["ReplicaSpecs", "ReplicaSpec", "GroupSpecs", "GroupSpec", "Templates", "Template", "Specs", "Spec"];

/// Deepest nesting that is searched.
const MAX_DEPTH: usize = 13;

/// Longest name of a Pod.
const MAX_NAME: usize = 63;

/// The spec of such a workload.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OtherSpec {
    /// As written.
    pub raw: Value,
    /// The Pod templates in it.
    pub parts: Vec<PodPart>,
    /// Why no Pods are made of workloads of its kind, if none are.
    pub reason: Option<&'static str>,
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
    /// What the Pods look like. Where it names no scheduler, they have that of the workload.
    pub template: PodTemplateSpec,
}

impl OtherSpec {
    /// The Pod templates of a spec; `None` where there is none, or where they are for others to make Pods of.
    pub(super) fn read(kind: &str, group: &str, raw: Value, findings: &mut Vec<Finding>) -> Option<Self> {
        if is_blueprint(kind, group) || kind.ends_with("List") {
            return None;
        }
        let known = NOT_EXPANDED.iter().find(|(known, of, _)| *known == kind && *of == group);
        if let Some((.., reason)) = known {
            return Some(Self { raw, parts: Vec::new(), reason: Some(*reason) });
        }
        let mut parts: Vec<PodPart> = Vec::new();
        let scheduler = raw.get("schedulerName").and_then(Value::as_str);
        let scheduler = scheduler.unwrap_or(if group == VOLCANO { "volcano" } else { "" });
        for Found { place, template } in found_in(&raw).into_iter().filter(|found| !found.place.is_override) {
            let Ok(mut template) = PodTemplateSpec::read(template.clone(), &Path::ROOT.field(&place.path), findings)
            else {
                continue;
            };
            if template.spec.scheduler_name.is_empty() {
                scheduler.clone_into(&mut template.spec.scheduler_name);
            }
            let taken = parts.iter().filter(|part| part.name == place.name).count();
            let name = if taken == 0 { place.name } else { format!("{}-{taken}", place.name) };
            parts.push(PodPart { name, path: place.path, count: place.count, template });
        }
        (!parts.is_empty()).then_some(Self { raw, parts, reason: None })
    }

    /// Why no Pods are made of a workload, if none are.
    pub fn not_expanded(&self, workload: &Workload) -> Option<String> {
        if let Some(reason) = self.reason {
            return Some(reason.to_owned());
        }
        let is_on = |path: &str| self.raw.pointer(path).and_then(Value::as_bool) == Some(true);
        let is_suspended = is_on("/suspend") || is_on("/runPolicy/suspend");
        let waits_for_kueue = workload.metadata.labels.contains_key(super::workload::KUEUE_QUEUE);
        (is_suspended && !waits_for_kueue).then(|| "it is suspended".to_owned())
    }
}

/// Whether objects of a kind hold Pod templates for others to make Pods of.
pub(super) fn is_blueprint(kind: &str, group: &str) -> bool {
    BLUEPRINTS.iter().any(|(known, of)| *known == kind && *of == group)
}

impl PodPart {
    /// Name of one of its Pods.
    pub fn pod_name(&self, workload: &str, index: u64) -> String {
        let end = if self.name.is_empty() { format!("-{index}") } else { format!("-{}-{index}", self.name) };
        format!("{}{end}", crate::derive::cut(workload, MAX_NAME.saturating_sub(end.len())))
    }
}

/// JSON, owned or borrowed.
pub(crate) trait Tree: Sized {
    /// The entries of a map; `None` for other values.
    fn fields(&self) -> Option<impl Iterator<Item = (&str, &Self)>>;
    /// The elements of a list; `None` for other values.
    fn items(&self) -> Option<&[Self]>;
    /// A field of a map.
    fn field(&self, name: &str) -> Option<&Self>;
    /// A text.
    fn text(&self) -> Option<&str>;
    /// An integer.
    fn integer(&self) -> Option<i64>;
}

impl Tree for Value {
    fn fields(&self) -> Option<impl Iterator<Item = (&str, &Self)>> {
        self.as_object().map(|map| map.iter().map(|(name, value)| (name.as_str(), value)))
    }

    fn items(&self) -> Option<&[Self]> {
        self.as_array().map(Vec::as_slice)
    }

    fn field(&self, name: &str) -> Option<&Self> {
        self.get(name)
    }

    fn text(&self) -> Option<&str> {
        self.as_str()
    }

    fn integer(&self) -> Option<i64> {
        self.as_i64()
    }
}

impl Tree for serde_json_borrow::Value<'_> {
    fn fields(&self) -> Option<impl Iterator<Item = (&str, &Self)>> {
        self.as_object().map(|map| map.iter())
    }

    fn items(&self) -> Option<&[Self]> {
        self.as_array()
    }

    fn field(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    fn text(&self) -> Option<&str> {
        self.as_str()
    }

    fn integer(&self) -> Option<i64> {
        self.as_i64()
    }
}

/// A Pod template in the spec of a kind that is not known.
pub(crate) struct Found<'t, T> {
    pub(crate) place: Place,
    pub(crate) template: &'t T,
}

/// Where a Pod template stands.
pub(crate) struct Place {
    /// From `spec`, in the API server's notation.
    pub(crate) path: String,
    /// The same as a JSON pointer from the object.
    pub(crate) pointer: String,
    /// What tells its Pods from those of other templates.
    name: String,
    /// For how many Pods it is; 1 where no field says it.
    pub(crate) count: u64,
    /// Whether it is written over parts of another template.
    pub(crate) is_override: bool,
}

/// A step on the way down.
enum Step<'t> {
    Field {
        name: &'t str,
        /// How many Pods the map with the field is for.
        count: u64,
    },
    Item {
        index: usize,
        name: Option<&'t str>,
    },
}

impl Place {
    fn of(steps: &[Step<'_>]) -> Self {
        let mut place =
            Self { path: String::new(), pointer: String::new(), name: String::new(), count: 1, is_override: false };
        for (depth, step) in steps.iter().enumerate() {
            match step {
                Step::Field { name, count } => {
                    place.path = if depth == 0 { (*name).to_owned() } else { format!("{}.{name}", place.path) };
                    place.pointer = format!("{}/{}", place.pointer, name.replace('~', "~0").replace('/', "~1"));
                    place.count = place.count.saturating_mul(*count);
                    place.is_override |= OVERRIDES.iter().any(|ending| name.ends_with(ending));
                    let own = tidy(ENDINGS.into_iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name));
                    let is_plain = own.is_empty() || matches!(own.as_str(), "template" | "spec" | "pod");
                    if !is_plain {
                        place.name = own;
                    }
                }
                Step::Item { index, name } => {
                    place.path = format!("{}[{index}]", place.path);
                    place.pointer = format!("{}/{index}", place.pointer);
                    place.name = name.map_or_else(|| format!("{}-{index}", place.name), tidy);
                }
            }
        }
        place
    }
}

/// The Pod templates in the spec of an object whose kind is not known. Bounded in depth.
pub(crate) fn found_in<T: Tree>(spec: &T) -> Vec<Found<'_, T>> {
    let mut found = Vec::new();
    if spec.fields().is_some() {
        search_below(spec, &mut vec![Step::Field { name: "spec", count: 1 }], &mut found);
    }
    found
}

fn search<'t, T: Tree>(value: &'t T, steps: &mut Vec<Step<'t>>, found: &mut Vec<Found<'t, T>>) {
    if steps.len() > MAX_DEPTH {
        return;
    }
    match is_template(value) {
        true => found.push(Found { place: Place::of(steps), template: value }),
        false => search_below(value, steps, found),
    }
}

fn search_below<'t, T: Tree>(value: &'t T, steps: &mut Vec<Step<'t>>, found: &mut Vec<Found<'t, T>>) {
    if let Some(fields) = value.fields() {
        let number = |field: &str| {
            value.field(field).and_then(Tree::integer).map(|number| u64::try_from(number).unwrap_or_default())
        };
        let count = COUNTS.into_iter().find_map(number).unwrap_or(1).saturating_mul(number(HOSTS).unwrap_or(1));
        for (name, inner) in fields {
            steps.push(Step::Field { name, count });
            search(inner, steps, found);
            steps.pop();
        }
    }
    for (index, item) in value.items().unwrap_or_default().iter().enumerate() {
        let name = ["groupName", "name"].into_iter().find_map(|field| item.field(field).and_then(Tree::text));
        steps.push(Step::Item { index, name });
        search(item, steps, found);
        steps.pop();
    }
}

/// Whether a value is a Pod template: it has a spec with containers.
fn is_template<T: Tree>(value: &T) -> bool {
    let containers = value.field("spec").and_then(|spec| spec.field("containers")).and_then(Tree::items);
    containers.is_some_and(|list| !list.is_empty() && list.iter().all(|container| container.fields().is_some()))
}

/// A text as part of a name.
fn tidy(text: &str) -> String {
    let text = text.to_ascii_lowercase().replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    text.trim_matches('-').to_owned()
}
