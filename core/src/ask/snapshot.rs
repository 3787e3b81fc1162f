//! A cluster in one file: the objects that decisions look at, without secrets, and the settings that answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::anonymize::anonymize;
use crate::allocate::Limits;
use crate::api::condition::text;
use crate::api::object::Object;
use crate::api::pod::Namespace;
use crate::api::source::{
    EXCLUDED_NAMESPACES, NAMESPACE_SELECTOR, NAMESPACES, Selection, TEMPLATE_NAME, Target, TemplateSource,
    annotations_select, is_annotated,
};
use crate::cluster::Cluster;
use crate::controllers::template_sync::{CONTENT_HASH, DELETION_POLICY};
use crate::gather::Gather;
use crate::profile::{Features, Mode, Ranking};
use crate::validate::OF_EVERY_VOLUME;
use crate::validate::as_served;

/// The format of the file.
pub const FORMAT: &str = "apportion/snapshot/v1";

/// Fields of a Pod's spec that are looked at.
const POD_FIELDS: [&str; 23] = [
    "affinity",
    "containers",
    "hostNetwork",
    "hostUsers",
    "initContainers",
    "nodeName",
    "nodeSelector",
    "overhead",
    "preemptionPolicy",
    "priority",
    "priorityClassName",
    "resourceClaims",
    "resources",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "schedulingGates",
    "schedulingGroup",
    "terminationGracePeriodSeconds",
    "tolerations",
    "topologySpreadConstraints",
    "volumes",
    "workloadRef",
];

/// Fields of a container that are looked at; its environment may hold secrets.
const CONTAINER_FIELDS: [&str; 7] =
    ["image", "name", "ports", "resources", "restartPolicy", "restartPolicyRules", "volumeMounts"];

/// What a volume of a Pod may be to be looked at.
const VOLUME_SOURCES: [&str; 3] = ["ephemeral", "image", "persistentVolumeClaim"];

/// The field for which a volume's mount is looked at.
const MOUNT_OPTIONS: &str = "bindMountOptions";

/// Fields of kinds whose other fields may hold secrets of drivers, by their path.
const KEPT_FIELDS: [(&str, &str, &[&str]); 6] = [
    (
        "PersistentVolume",
        "/spec",
        &[
            "accessModes",
            "capacity",
            "claimRef",
            "nodeAffinity",
            "storageClassName",
            "volumeAttributesClassName",
            "volumeMode",
        ],
    ),
    (
        "PersistentVolumeClaim",
        "/spec",
        &[
            "accessModes",
            "resources",
            "selector",
            "storageClassName",
            "volumeAttributesClassName",
            "volumeMode",
            "volumeName",
        ],
    ),
    (
        "StorageClass",
        "",
        &["allowedTopologies", "apiVersion", "kind", "metadata", "provisioner", "reclaimPolicy", "volumeBindingMode"],
    ),
    ("CSIDriver", "/spec", &["preventPodSchedulingIfMissing", "storageCapacity"]),
    ("VolumeAttachment", "", &["apiVersion", "kind", "metadata", "spec"]),
    ("VolumeAttachment", "/spec/source", &["persistentVolumeName"]),
];

/// Kinds whose refused objects are kept: other objects refer to them, and they hold no environments of containers.
const REFERRED_TO: [&str; 8] = [
    "ClusterResourceClaimTemplate",
    "DeviceClass",
    "DeviceTaintRule",
    "PodGroup",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceSlice",
    "Workload",
];

/// Annotations that are looked at.
const ANNOTATIONS: [&str; 18] = [
    "apportion/inferred",
    CONTENT_HASH,
    DELETION_POLICY,
    EXCLUDED_NAMESPACES,
    NAMESPACES,
    NAMESPACE_SELECTOR,
    TEMPLATE_NAME,
    "batch.kubernetes.io/job-completion-index",
    "controller.kubernetes.io/pod-deletion-cost",
    "kubernetes.io/config.mirror",
    "leaderworkerset.sigs.k8s.io/leader-name",
    "leaderworkerset.sigs.k8s.io/size",
    "pv.kubernetes.io/bind-completed",
    "resource.kubernetes.io/extended-resource-claim",
    "resource.kubernetes.io/pod-claim-name",
    "resource.kubernetes.io/podgroup-claim-name",
    "volume.beta.kubernetes.io/storage-class",
    "volume.kubernetes.io/selected-node",
];

/// A cluster in one file, without secrets.
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) struct Snapshot {
    /// The format.
    #[cfg_attr(feature = "types", ts(type = "\"apportion/snapshot/v1\""))]
    format: &'static str,
    /// Settings of the engine that answered.
    #[cfg_attr(feature = "types", ts(type = "Settings"))]
    settings: Value,
    /// The objects.
    #[cfg_attr(feature = "types", ts(type = "Array<Json>"))]
    objects: Vec<Value>,
}

/// The snapshot: `{"format", "settings", "objects"}`. Objects are in the order of their arrival where that counts, else by kind and
/// name. Refused objects that others can refer to come last. Opaque parameters of drivers, environments, managed fields, and volumes that
/// decide about no node are left out. Names of Pods that a run makes for a Deployment depend on its whole Pod template: they differ from those of the original
/// cluster where something of the template is left out.
///
/// With `is_anonymous` nodes, pools, namespaces and all namespaced objects get other names, in the order of the old ones, and labels that no
/// decision looks at are left out.
pub fn snapshot(cluster: &Cluster, limits: &Limits, is_anonymous: bool) -> Value {
    let profile = cluster.profile();
    let defaults = Features::of(profile.version);
    let gates: BTreeMap<&str, bool> = Features::gates()
        .filter_map(|gate| profile.features.get(gate).map(|on| (gate, on)))
        .filter(|(gate, on)| defaults.get(gate) != Some(*on))
        .gather();
    let mode = if profile.mode == Mode::Reference { "reference" } else { "sound" };
    let objects = cluster.objects().into_iter().map(|object| match object {
        Object::TemplateSource(source) if is_anonymous => with_names(Arc::unwrap_or_clone(source), cluster).write(),
        object if is_anonymous && is_annotated(&object.metadata().annotations) => {
            as_served(with_annotated_names(object, cluster).write(), profile.version)
        }
        object => as_served(object.write(), profile.version),
    });
    let refused = cluster.all_refused().filter(|object| REFERRED_TO.contains(&text(object, "kind"))).cloned();
    let mut objects: Vec<Value> = objects.chain(refused).map(cleaned).collect();
    if is_anonymous {
        anonymize(&mut objects);
    }
    let release = profile.release();
    let version = if release == profile.version.into() {
        profile.version.to_string()
    } else {
        format!("{}.{}", profile.version, profile.patch)
    };
    let placement = match profile.placement {
        Ranking::First => "first",
        Ranking::Scores => "scores",
    };
    let settings = json!({ "version": version, "featureGates": gates, "mode": mode, "placement": placement, "maxSteps": limits.max_steps });
    Snapshot { format: FORMAT, settings, objects }.into_json()
}

impl Snapshot {
    /// The JSON form. Writing it field by field would copy all objects.
    fn into_json(self) -> Value {
        let Self { format, settings, objects } = self;
        let fields = [("format", json!(format)), ("settings", settings), ("objects", Value::Array(objects))];
        Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).gather())
    }
}

/// A source whose targets are the names of the namespaces that it selects: labels are left out.
fn with_names(mut source: TemplateSource, cluster: &Cluster) -> Object {
    if source.spec.targets.iter().any(|target| target.namespace_selector.is_some()) {
        let selects = |namespace: &&Namespace| {
            source.spec.selects(&namespace.metadata.name, &namespace.metadata.labels) == Selection::Selected
        };
        let names = cluster.namespaces().values().filter(selects).map(|namespace| namespace.metadata.name.clone());
        source.spec.targets = vec![Target { names: names.collect(), ..Target::default() }];
    }
    Object::TemplateSource(Arc::new(source))
}

/// The same for a source that says it by annotations.
fn with_annotated_names(mut source: Object, cluster: &Cluster) -> Object {
    let annotations = &mut source.metadata_mut().annotations;
    let selects = |namespace: &&Namespace| {
        let metadata = &namespace.metadata;
        annotations_select(annotations, &metadata.name, &metadata.labels) == Selection::Selected
    };
    let selected = cluster.namespaces().values().filter(selects).map(|namespace| namespace.metadata.name.as_str());
    let names = selected.collect::<Vec<_>>().join(",");
    annotations.retain(|name, _| name != NAMESPACE_SELECTOR && name != EXCLUDED_NAMESPACES);
    annotations.insert(NAMESPACES.to_owned(), names);
    source
}

/// An object without what nobody looks at, and without what may be secret.
fn cleaned(mut object: Value) -> Value {
    // What drivers report of a claim's devices: addresses, and data of their own.
    for device in object.pointer_mut("/status/devices").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(device) = device.as_object_mut() {
            device.remove("data");
            device.remove("networkData");
        }
    }
    let kind = text(&object, "kind").to_owned();
    let (name, driver) = (object.pointer("/metadata/name").cloned(), object.pointer("/spec/csi/driver").cloned());
    for (_, path, kept) in KEPT_FIELDS.iter().filter(|(known, ..)| *known == kind) {
        if let Some(fields) = object.pointer_mut(path).and_then(Value::as_object_mut) {
            let is_volume = kind == "PersistentVolume";
            fields.retain(|name, value| {
                if kept.contains(&name.as_str()) {
                    return true;
                }
                // A volume has a source, whatever that says.
                *value = Value::Object(Map::new());
                is_volume && !OF_EVERY_VOLUME.contains(&name.as_str())
            });
        }
    }
    // Which volume and which node is meant counts, and not what the driver calls them.
    if let Some(source) = object.pointer_mut("/spec/csi") {
        *source = json!({ "driver": driver, "volumeHandle": name });
    }
    for driver in object.pointer_mut("/spec/drivers").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(driver) = driver.as_object_mut() {
            keep(driver, &["allocatable", "name"]);
            driver.insert("nodeID".to_owned(), json!(name));
        }
    }
    clean(&mut object);
    object
}

/// Cleans an object, what it is made of, and every template in it.
fn clean(value: &mut Value) {
    let fields = match value {
        Value::Object(fields) => fields,
        Value::Array(items) => return items.iter_mut().for_each(clean),
        _ => return,
    };
    if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.retain(|name, _| ANNOTATIONS.contains(&name.as_str()));
        }
    }
    if let Some(opaque) = fields.get_mut("opaque").and_then(Value::as_object_mut) {
        opaque.insert("parameters".to_owned(), Value::Object(Map::new()));
    }
    // What the status of a Pod says of a claim names containers.
    if fields.contains_key("containers") && !fields.contains_key("resourceClaimName") {
        clean_pod(fields);
    }
    fields.values_mut().for_each(clean);
}

/// Cleans the spec of a Pod.
fn clean_pod(spec: &mut Map<String, Value>) {
    keep(spec, &POD_FIELDS);
    for list in ["containers", "initContainers"] {
        for container in items(spec, list).into_iter().flatten().filter_map(Value::as_object_mut) {
            keep(container, &CONTAINER_FIELDS);
            retain(container, "volumeMounts", |mount| {
                keep(mount, &["name", "mountPath", MOUNT_OPTIONS]);
                mount.contains_key(MOUNT_OPTIONS)
            });
        }
    }
    retain(spec, "volumes", |volume| {
        volume.retain(|name, _| name == "name" || VOLUME_SOURCES.contains(&name.as_str()));
        VOLUME_SOURCES.iter().any(|source| volume.contains_key(*source))
    });
}

fn keep(fields: &mut Map<String, Value>, kept: &[&str]) {
    fields.retain(|name, _| kept.contains(&name.as_str()));
}

fn items<'v>(fields: &'v mut Map<String, Value>, list: &str) -> Option<&'v mut Vec<Value>> {
    fields.get_mut(list)?.as_array_mut()
}

/// Cleans the items of a list and takes out the others; a list without items goes.
fn retain(fields: &mut Map<String, Value>, list: &str, mut cleans: impl FnMut(&mut Map<String, Value>) -> bool) {
    let Some(items) = items(fields, list) else { return };
    items.retain_mut(|item| item.as_object_mut().is_some_and(&mut cleans));
    if items.is_empty() {
        fields.remove(list);
    }
}
