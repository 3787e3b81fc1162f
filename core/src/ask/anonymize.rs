//! Other names for a snapshot's nodes, namespaces and objects.
//!
//! Names that decide an order (of nodes, pools, slices, claims, Pods) keep it: they are numbered in the order of the old ones. Drivers,
//! classes, devices, attributes and expressions say what hardware is there and stay.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::api::condition::text;
use crate::api::source::{NAMESPACES, TEMPLATE_NAME};
use crate::gather::Gather;
use crate::scheduler::full_name;

/// What has a name; new names begin with the word for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Namespace,
    /// Nodes and pools, which are mostly named after nodes.
    Place,
    Slice,
    TaintRule,
    Template,
    ClusterTemplate,
    Claim,
    Group,
    Pod,
    Container,
    /// Volumes as a Pod calls them.
    Mount,
    /// PersistentVolumes.
    Volume,
    /// PersistentVolumeClaims.
    VolumeClaim,
    Image,
    /// Whatever makes Pods or groups.
    Workload,
    /// Keys of labels.
    Label,
    /// Values of labels.
    Value,
}

impl Kind {
    fn of_object(kind: &str) -> Option<Self> {
        Some(match kind {
            "CSIDriver" | "DeviceClass" | "KubeSchedulerConfiguration" | "PriorityClass" | "StorageClass" => {
                return None;
            }
            "Namespace" => Self::Namespace,
            "CSINode" | "Node" => Self::Place,
            "ResourceSlice" => Self::Slice,
            "DeviceTaintRule" => Self::TaintRule,
            "ResourceClaimTemplate" => Self::Template,
            "ClusterResourceClaimTemplate" => Self::ClusterTemplate,
            "ResourceClaim" => Self::Claim,
            "PodGroup" => Self::Group,
            "PersistentVolume" => Self::Volume,
            "PersistentVolumeClaim" => Self::VolumeClaim,
            "Pod" => Self::Pod,
            _ => Self::Workload,
        })
    }
}

/// Labels that decisions look at, whatever object has them: those of volumes say where they are.
const LABEL_PREFIXES: [&str; 4] =
    ["resource.kubernetes.io/", "resource.k8s.io/", "topology.kubernetes.io/", "failure-domain.beta.kubernetes.io/"];

/// Annotations with names, separated by commas.
const ANNOTATIONS: [(&str, Kind); 4] = [
    ("volume.kubernetes.io/selected-node", Kind::Place),
    ("leaderworkerset.sigs.k8s.io/leader-name", Kind::Pod),
    (NAMESPACES, Kind::Namespace),
    (TEMPLATE_NAME, Kind::Template),
];

/// The label of a namespace that has its name.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

const HOSTNAME: &str = "kubernetes.io/hostname";

/// Renames everything in a snapshot's objects.
pub(crate) fn anonymize(objects: &mut [Value]) {
    let mut names: BTreeMap<Kind, BTreeSet<String>> = BTreeMap::new();
    let mut collect = |kind: Kind, name: &mut String| {
        names.entry(kind).or_default().insert(name.clone());
    };
    objects.iter_mut().for_each(|object| visit_object(object, &mut collect));
    let numbered = |(kind, names): (Kind, BTreeSet<String>)| {
        let (width, word) = (names.len().to_string().len(), json!(kind));
        // Nodes name images with a tag.
        let tag = if kind == Kind::Image { ":latest" } else { "" };
        let new_name = |number: usize| format!("{}-{number:0width$}{tag}", word.as_str().unwrap_or_default());
        (kind, names.into_iter().zip((0..).map(new_name)).gather())
    };
    let mut new_names: NewNames = names.into_iter().map(numbered).gather();
    let of_pods: BTreeMap<String, String> =
        objects.iter().flat_map(|object| claims_of_pod(object, &new_names)).collect::<Vec<_>>().into_iter().gather();
    new_names.entry(Kind::VolumeClaim).or_default().extend(of_pods);
    let mut rename = |kind: Kind, name: &mut String| {
        if let Some(new) = new_names.get(&kind).and_then(|names| names.get(name)) {
            name.clone_from(new);
        }
    };
    objects.iter_mut().for_each(|object| visit_object(object, &mut rename));
}

type NewNames = BTreeMap<Kind, BTreeMap<String, String>>;

/// PersistentVolumeClaims that are made for a Pod, which are named after it and a volume, and their new names.
fn claims_of_pod<'v>(object: &'v Value, names: &'v NewNames) -> impl Iterator<Item = (String, String)> + 'v {
    let pod = object.pointer("/metadata/name").and_then(Value::as_str).filter(|_| text(object, "kind") == "Pod");
    let volumes = object.pointer("/spec/volumes").and_then(Value::as_array).into_iter().flatten();
    volumes.filter(|volume| volume.get("ephemeral").is_some()).filter_map(move |volume| {
        let (pod, volume) = (pod?, text(volume, "name"));
        let (new_pod, new_volume) = (names.get(&Kind::Pod)?.get(pod)?, names.get(&Kind::Mount)?.get(volume)?);
        Some((format!("{pod}-{volume}"), format!("{new_pod}-{new_volume}")))
    })
}

type Visitor<'v> = dyn FnMut(Kind, &mut String) + 'v;

fn visit_object(object: &mut Value, visit: &mut Visitor<'_>) {
    let kind = text(object, "kind").to_owned();
    let is_node = kind == "Node";
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        visit_metadata(metadata, Kind::of_object(&kind), is_node, visit);
    }
    for (name, part) in object.as_object_mut().into_iter().flatten().filter(|(name, _)| *name != "metadata") {
        visit_field(name, part, visit);
        visit_value(part, 0, visit);
    }
}

fn visit_metadata(metadata: &mut Map<String, Value>, kind: Option<Kind>, is_node: bool, visit: &mut Visitor<'_>) {
    if let Some(kind) = kind {
        visit_text(metadata.get_mut("name"), kind, visit);
    }
    visit_text(metadata.get_mut("namespace"), Kind::Namespace, visit);
    metadata.remove("generateName");
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        for (name, kind) in ANNOTATIONS {
            visit_words(annotations.get_mut(name), kind, visit);
        }
    }
    for owner in items(metadata.get_mut("ownerReferences")) {
        if let Some(kind) = Kind::of_object(text(owner, "kind")) {
            visit_text(owner.get_mut("name"), kind, visit);
        }
    }
    match metadata.get_mut("labels").and_then(Value::as_object_mut) {
        Some(labels) if is_node => visit_text(labels.get_mut(HOSTNAME), Kind::Place, visit),
        Some(labels) => visit_labels(labels, visit),
        None => {}
    }
}

/// Labels of what is no node, or what a selector says of them.
fn visit_labels(labels: &mut Map<String, Value>, visit: &mut Visitor<'_>) {
    let visited = std::mem::take(labels).into_iter().map(|(mut key, mut value)| {
        if let Some(kind) = kind_of_values(&key) {
            visit_text(Some(&mut value), kind, visit);
        }
        visit_key(&mut key, visit);
        (key, value)
    });
    *labels = visited.gather();
}

/// What the values of a label are called; none where decisions look at them.
fn kind_of_values(key: &str) -> Option<Kind> {
    match key {
        NAMESPACE_NAME => Some(Kind::Namespace),
        _ if LABEL_PREFIXES.iter().any(|prefix| key.starts_with(prefix)) => None,
        _ => Some(Kind::Value),
    }
}

fn visit_key(key: &mut String, visit: &mut Visitor<'_>) {
    if kind_of_values(key) == Some(Kind::Value) {
        visit(Kind::Label, key);
    }
}

/// A selector of labels: `matchLabels` and `matchExpressions`, or labels as they are.
fn visit_selector(selector: &mut Map<String, Value>, visit: &mut Visitor<'_>) {
    let is_plain = !selector.contains_key("matchLabels") && !selector.contains_key("matchExpressions");
    if is_plain {
        return visit_labels(selector, visit);
    }
    if let Some(labels) = selector.get_mut("matchLabels").and_then(Value::as_object_mut) {
        visit_labels(labels, visit);
    }
    for requirement in items(selector.get_mut("matchExpressions")) {
        if let Some(kind) = kind_of_values(text(requirement, "key")) {
            items(requirement.get_mut("values")).for_each(|value| visit_text(Some(value), kind, visit));
        }
        if let Some(Value::String(key)) = requirement.get_mut("key") {
            visit_key(key, visit);
        }
    }
}

/// Bounded: API objects nest a few levels, and what is deeper stays as it is.
fn visit_value(value: &mut Value, depth: u32, visit: &mut Visitor<'_>) {
    const DEEPEST: u32 = 24;
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| visit_value(item, depth.saturating_add(1), visit)),
        Value::Object(fields) => {
            visit_requirement(fields, visit);
            for (name, field) in fields.iter_mut() {
                visit_field(name, field, visit);
                visit_value(field, depth.saturating_add(1), visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Fields that hold a name, with what has it.
const NAMES: [(&str, Kind); 14] = [
    ("nodeName", Kind::Place),
    ("nominatedNodeName", Kind::Place),
    ("resourceClaimName", Kind::Claim),
    ("resourceClaimTemplateName", Kind::Template),
    ("templateName", Kind::Template),
    ("clusterResourceClaimTemplateName", Kind::ClusterTemplate),
    ("podGroupName", Kind::Group),
    ("workloadName", Kind::Workload),
    ("containerName", Kind::Container),
    ("claimName", Kind::VolumeClaim),
    ("volumeName", Kind::Volume),
    ("persistentVolumeName", Kind::Volume),
    ("volumeHandle", Kind::Volume),
    ("nodeID", Kind::Place),
];

/// A field that holds a name, or a list of what has names.
fn visit_field(name: &str, field: &mut Value, visit: &mut Visitor<'_>) {
    match name {
        "pool" if field.is_string() => visit_text(Some(field), Kind::Place, visit),
        "pool" => visit_text(field.get_mut("name"), Kind::Place, visit),
        "workloadRef" => visit_text(field.get_mut("name"), Kind::Workload, visit),
        "labelSelector" | "namespaceSelector" | "nodeTopology" | "selector" => {
            if let Some(selector) = field.as_object_mut() {
                visit_selector(selector, visit);
            }
        }
        "matchLabelKeys" | "mismatchLabelKeys" => {
            for key in items(Some(field)) {
                if let Value::String(key) = key {
                    visit_key(key, visit);
                }
            }
        }
        "namespaces" => items(Some(field)).for_each(|name| visit_text(Some(name), Kind::Namespace, visit)),
        "nodeSelector" => visit_text(field.get_mut(HOSTNAME), Kind::Place, visit),
        "targets" => {
            for target in items(Some(field)) {
                for list in ["names", "excludeNames"] {
                    items(target.get_mut(list))
                        .filter(|name| *name != "*")
                        .for_each(|name| visit_text(Some(name), Kind::Namespace, visit));
                }
            }
        }
        "claimRef" => {
            visit_text(field.get_mut("namespace"), Kind::Namespace, visit);
            visit_text(field.get_mut("name"), Kind::VolumeClaim, visit);
        }
        "containers" | "initContainers" | "containerStatuses" | "initContainerStatuses" => {
            for container in items(Some(field)) {
                visit_text(container.get_mut("name"), Kind::Container, visit);
                visit_image(container.get_mut("image"), visit);
                match container {
                    Value::Object(fields) => drop(fields.remove("imageID")),
                    name => visit_text(Some(name), Kind::Container, visit),
                }
            }
        }
        "images" => {
            let names = items(Some(field)).flat_map(|image| items(image.get_mut("names")));
            names.for_each(|name| visit_text(Some(name), Kind::Image, visit));
        }
        "volumes" | "volumeMounts" => {
            for volume in items(Some(field)) {
                visit_text(volume.get_mut("name"), Kind::Mount, visit);
                visit_image(volume.pointer_mut("/image/reference"), visit);
            }
        }
        "reservedFor" => {
            for consumer in items(Some(field)) {
                let kind = if text(consumer, "resource") == "pods" { Kind::Pod } else { Kind::Group };
                visit_text(consumer.get_mut("name"), kind, visit);
            }
        }
        "metadata" => {
            // Of a template.
            if let Some(metadata) = field.as_object_mut() {
                visit_metadata(metadata, None, false, visit);
            }
        }
        name => {
            let kind = NAMES.iter().find(|(known, _)| *known == name);
            kind.into_iter().for_each(|(_, kind)| visit_text(Some(field), *kind, visit));
        }
    }
}

/// A requirement of a node selector that names nodes.
fn visit_requirement(fields: &mut Map<String, Value>, visit: &mut Visitor<'_>) {
    let key = fields.get("key").and_then(Value::as_str).unwrap_or_default();
    if key == "metadata.name" || key == HOSTNAME {
        items(fields.get_mut("values")).for_each(|value| visit_text(Some(value), Kind::Place, visit));
    }
}

fn visit_text(value: Option<&mut Value>, kind: Kind, visit: &mut Visitor<'_>) {
    if let Some(Value::String(text)) = value
        && !text.is_empty()
    {
        visit(kind, text);
    }
}

/// Several names, separated by commas.
fn visit_words(value: Option<&mut Value>, kind: Kind, visit: &mut Visitor<'_>) {
    let Some(Value::String(text)) = value else { return };
    let mut words: Vec<String> = text.split(',').map(str::to_owned).collect();
    words.iter_mut().filter(|word| !word.is_empty()).for_each(|word| visit(kind, word));
    *text = words.join(",");
}

/// An image, under the name by which nodes know it.
fn visit_image(image: Option<&mut Value>, visit: &mut Visitor<'_>) {
    if let Some(Value::String(name)) = image
        && !name.is_empty()
    {
        *name = full_name(name);
        visit(Kind::Image, name);
    }
}

fn items(list: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    list.and_then(Value::as_array_mut).into_iter().flatten()
}
