//! A cluster in one file: the objects that decisions look at, without secrets, and the settings that answered.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::anonymize::anonymize;
use crate::allocate::Limits;
use crate::cluster::Cluster;
use crate::finding::ObjectRef;
use crate::profile::{Features, Mode};

/// The format of the file.
pub const FORMAT: &str = "apportion/snapshot/v1";

/// Fields of a Pod's spec that are looked at.
const POD_FIELDS: [&str; 18] = [
    "affinity",
    "containers",
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
    "schedulerName",
    "schedulingGates",
    "schedulingGroup",
    "terminationGracePeriodSeconds",
    "tolerations",
    "topologySpreadConstraints",
];

/// Fields of a container that are looked at; its environment may hold secrets.
const CONTAINER_FIELDS: [&str; 5] = ["image", "name", "ports", "resources", "restartPolicy"];

/// Annotations that are looked at.
const ANNOTATIONS: [&str; 4] = [
    "resource.kubernetes.io/pod-claim-name",
    "resource.kubernetes.io/podgroup-claim-name",
    "resource.kubernetes.io/extended-resource-claim",
    "apportion/inferred",
];

/// A cluster in one file, without secrets.
#[derive(Serialize)]
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
/// name. Opaque parameters of drivers, environments, volumes and managed fields are left out. Names of Pods that a run makes for a
/// Deployment hang on its whole Pod template, so they differ from those of the cluster that the snapshot is of.
///
/// With `is_anonymous` nodes, pools, namespaces and all namespaced objects get other names, in the order of the old ones, and labels that no
/// decision looks at are left out.
pub fn snapshot(cluster: &Cluster, limits: &Limits, is_anonymous: bool) -> Value {
    let profile = cluster.profile();
    let defaults = Features::of(profile.version);
    let gates: BTreeMap<&str, bool> = Features::gates()
        .filter_map(|gate| profile.features.get(gate).map(|on| (gate, on)))
        .filter(|(gate, on)| defaults.get(gate) != Some(*on))
        .collect();
    let mode = if profile.mode == Mode::Reference { "reference" } else { "sound" };
    let mut objects: Vec<Value> = references(cluster)
        .iter()
        .filter_map(|object| cluster.get(object))
        .map(|object| cleaned(object.write()))
        .collect();
    if is_anonymous {
        anonymize(&mut objects);
    }
    let settings = json!({
        "version": profile.version.to_string(), "featureGates": gates, "mode": mode, "maxSteps": limits.max_steps,
    });
    json!(Snapshot { format: FORMAT, settings, objects })
}

/// All objects: first what has no order, then workloads and Pods as they arrived.
fn references(cluster: &Cluster) -> Vec<ObjectRef> {
    let mut all = Vec::new();
    let mut global = |kind: &str, names: &mut dyn Iterator<Item = &String>| {
        for name in names {
            all.push(ObjectRef { kind: kind.to_owned(), namespace: String::new(), name: name.clone() });
        }
    };
    global("Namespace", &mut cluster.namespaces().keys());
    global("Node", &mut cluster.nodes().keys());
    global("DeviceClass", &mut cluster.classes().keys());
    global("ResourceSlice", &mut cluster.slices().keys());
    global("DeviceTaintRule", &mut cluster.taint_rules().keys());
    global("ClusterResourceClaimTemplate", &mut cluster.cluster_templates().keys());
    let mut local = |kind: &str, keys: &mut dyn Iterator<Item = &(String, String)>| {
        for key in keys {
            all.push(ObjectRef { kind: kind.to_owned(), namespace: key.0.clone(), name: key.1.clone() });
        }
    };
    local("ResourceClaimTemplate", &mut cluster.templates().keys());
    local("ResourceClaim", &mut cluster.claims().keys());
    local("PodGroup", &mut cluster.pod_groups().keys());
    let mut ordered: Vec<(u64, ObjectRef)> = Vec::new();
    for (kind, namespace, name) in cluster.workloads().keys() {
        let object = ObjectRef { kind: kind.clone(), namespace: namespace.clone(), name: name.clone() };
        ordered.push((cluster.arrival(kind, namespace, name), object));
    }
    for (namespace, name) in cluster.pods().keys() {
        let object = ObjectRef { kind: "Pod".to_owned(), namespace: namespace.clone(), name: name.clone() };
        ordered.push((cluster.arrival("Pod", namespace, name), object));
    }
    ordered.sort();
    all.extend(ordered.into_iter().map(|(_, object)| object));
    all
}

/// An object without what nobody looks at, and without what may be secret.
fn cleaned(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.retain(|name, _| ANNOTATIONS.contains(&name.as_str()));
        }
    }
    without_parameters(&mut object);
    if let Some(spec) = object.get_mut("spec") {
        clean_pods(spec, 0);
    }
    object
}

/// Empties the opaque parameters of drivers wherever they stand.
fn without_parameters(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(opaque) = fields.get_mut("opaque").and_then(Value::as_object_mut) {
                opaque.insert("parameters".to_owned(), Value::Object(Map::new()));
            }
            fields.values_mut().for_each(without_parameters);
        }
        Value::Array(items) => items.iter_mut().for_each(without_parameters),
        _ => {}
    }
}

/// Cleans every Pod spec in a spec: its own, or those of templates at any depth.
fn clean_pods(spec: &mut Value, depth: u32) {
    // Workloads nest a few templates at most.
    if depth > 12 {
        return;
    }
    match spec {
        Value::Object(fields) if fields.contains_key("containers") => {
            fields.retain(|name, _| POD_FIELDS.contains(&name.as_str()) || name == "workloadRef");
            for list in ["containers", "initContainers"] {
                for container in fields.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                    if let Some(container) = container.as_object_mut() {
                        container.retain(|name, _| CONTAINER_FIELDS.contains(&name.as_str()));
                    }
                }
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(|value| clean_pods(value, depth.saturating_add(1))),
        Value::Array(items) => items.iter_mut().for_each(|value| clean_pods(value, depth.saturating_add(1))),
        _ => {}
    }
}
