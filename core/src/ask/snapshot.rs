//! A cluster in one file: the objects that decisions look at, without secrets, and the settings that answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::anonymize::anonymize;
use crate::allocate::Limits;
use crate::api::condition::text;
use crate::api::object::Object;
use crate::api::pod::Namespace;
use crate::api::source::{Selection, Target, TemplateSource};
use crate::cluster::Cluster;
use crate::gather::Gather;
use crate::profile::{Features, Mode};
use crate::validate::as_served;

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
/// name. Refused objects that others can refer to come last. Opaque parameters of drivers, environments, volumes and managed fields are
/// left out. Names of Pods that a run makes for a Deployment depend on its whole Pod template: they differ from those of the original
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
        object => as_served(object.write(), profile.version),
    });
    let refused = cluster.all_refused().filter(|object| REFERRED_TO.contains(&text(object, "kind"))).cloned();
    let mut objects: Vec<Value> = objects.chain(refused).map(cleaned).collect();
    if is_anonymous {
        anonymize(&mut objects);
    }
    let settings = json!({
        "version": profile.version.to_string(), "featureGates": gates, "mode": mode, "maxSteps": limits.max_steps,
    });
    json!(Snapshot { format: FORMAT, settings, objects })
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

/// An object without what nobody looks at, and without what may be secret.
fn cleaned(mut object: Value) -> Value {
    // What drivers report of a claim's devices: addresses, and data of their own.
    for device in object.pointer_mut("/status/devices").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(device) = device.as_object_mut() {
            device.remove("data");
            device.remove("networkData");
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
    if fields.contains_key("containers") {
        fields.retain(|name, _| POD_FIELDS.contains(&name.as_str()) || name == "workloadRef");
        for list in ["containers", "initContainers"] {
            for container in fields.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(container) = container.as_object_mut() {
                    container.retain(|name, _| CONTAINER_FIELDS.contains(&name.as_str()));
                }
            }
        }
    }
    fields.values_mut().for_each(clean);
}
