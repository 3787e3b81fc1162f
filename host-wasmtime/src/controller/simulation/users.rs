//! What users, administrators and drivers do.

use serde_json::{Value, json};

use super::api_server::{Change, Store};
use super::processor::{below, happens, one};

pub(super) const HOME: &str = "apportion-system";
const NAMESPACES: u64 = 6;
const SOURCES: u64 = 3;
const PODS: u64 = 12;
const NODES: u64 = 3;

fn name(kind: &str, end: u64) -> String {
    format!("{kind}-{}", below(end))
}

fn named(api_version: &str, kind: &str, namespace: &str, name: &str, fields: Value) -> Value {
    let mut object = json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name } });
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = json!(namespace);
    }
    for (field, value) in fields.as_object().unwrap() {
        object[field] = value.clone();
    }
    object
}

fn devices(class: &str, count: Value) -> Value {
    let exactly = json!({ "deviceClassName": class, "allocationMode": "ExactCount", "count": count });
    json!({ "devices": { "requests": [{ "name": "gpu", "exactly": exactly }] } })
}

/// What is there before anything happens.
pub(super) fn begin(store: &mut Store) {
    for class in ["gpu", "tpu"] {
        store.put(named("resource.k8s.io/v1", "DeviceClass", "", class, json!({ "spec": {} })));
    }
    store.put(named("v1", "Namespace", "", HOME, json!({})));
    for number in 0..NAMESPACES {
        store.put(namespace(&format!("n-{number}"), "ml"));
    }
    for number in 0..NODES {
        let node = format!("node-{number}");
        let status = json!({ "allocatable": { "cpu": "64", "pods": "100" } });
        store.put(named("v1", "Node", "", &node, json!({ "status": status })));
        store.put(slice(&node, 1, &["a", "b"]));
    }
}

pub(super) fn namespace(name: &str, team: &str) -> Value {
    let mut namespace = named("v1", "Namespace", "", name, json!({}));
    namespace["metadata"]["labels"] = json!({ "team": team });
    namespace["metadata"]["finalizers"] = json!(["kubernetes"]);
    namespace
}

fn slice(node: &str, generation: u64, names: &[&str]) -> Value {
    let devices: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    let spec = json!({
        "driver": "gpu.example.com", "nodeName": node, "devices": devices,
        "pool": { "name": node, "generation": generation, "resourceSliceCount": 1 },
    });
    named("resource.k8s.io/v1", "ResourceSlice", "", node, json!({ "spec": spec }))
}

fn source(name: &str) -> Value {
    let target = one(&[0, 0, 0, 1, 2]);
    let targets = match target {
        0 => json!([{ "namespaceSelector": { "matchLabels": { "team": "ml" } } }]),
        1 => json!([{ "names": ["n-0", "n-1"] }]),
        _ => json!([{ "names": ["*"] }]),
    };
    let spec = json!({
        "targets": targets, "template": { "spec": devices(one(&["gpu", "tpu"]), json!(1 + below(2))) },
        "deletionPolicy": one(&["Delete", "Delete", "Orphan", "DeleteWhenUnused"]),
        "updateStrategy": one(&["Recreate", "Recreate", "Recreate", "OnlyNew"]),
        "paused": happens(50),
    });
    named("apportion.dev/v1alpha1", "ClusterResourceClaimTemplate", "", name, json!({ "spec": spec }))
}

/// A source for the namespaces of one team.
pub(super) fn source_for_label(name: &str) -> Value {
    let mut source = source(name);
    let targets = json!([{ "namespaceSelector": { "matchLabels": { "team": "ml" } } }]);
    source["spec"] = json!({ "targets": targets, "template": source["spec"]["template"] });
    source
}

/// Whether an object is in a namespace of which there are many.
pub(super) fn is_in_many(object: &Value) -> bool {
    object["metadata"]["namespace"].as_str().is_some_and(|namespace| namespace.starts_with("many-"))
}

/// A source with something that the controller does not understand.
fn strange(mut source: Value) -> Value {
    match happens(500) {
        true => source["spec"]["template"]["spec"]["devices"]["requests"][0]["exactly"]["count"] = json!("1"),
        false => source["spec"]["targets"] = json!([{ "namespaceQuery": "team = ml" }]),
    }
    source
}

fn template(namespace: &str, name: &str) -> Value {
    let spec = json!({ "spec": devices("gpu", json!(1)) });
    named("resource.k8s.io/v1", "ResourceClaimTemplate", namespace, name, json!({ "spec": spec }))
}

fn pod(namespace: &str, name: &str) -> Value {
    let mut entry = json!({ "name": "gpu" });
    match happens(600) {
        true => entry["resourceClaimTemplateName"] = json!(self::name("s", SOURCES)),
        false => entry["resourceClaimName"] = json!(self::name("c", 4)),
    }
    let spec = json!({
        "schedulerName": "apportion", "containers": [{ "name": "c" }], "resourceClaims": [entry], "priority": below(3),
    });
    let mut pod = named("v1", "Pod", namespace, name, json!({ "spec": spec, "status": { "phase": "Pending" } }));
    if happens(200) {
        pod["spec"]["schedulingGroup"] = json!({ "podGroupName": "g" });
    }
    if happens(500) {
        pod["metadata"]["annotations"] = json!({ "apportion.dev/explain": "true" });
    }
    pod
}

/// Where a copy has just gone: somebody is quick.
fn place_that_is_free(store: &Store) -> Option<(String, String)> {
    let is_end = |change: &&Change| change.kind == "DELETED" && change.plural == "resourceclaimtemplates";
    let gone = &store.changes.iter().rev().take(20).find(is_end)?.object["metadata"];
    Some((gone["namespace"].as_str()?.to_owned(), gone["name"].as_str()?.to_owned()))
}

/// Somebody writes something into a source, of those that are there, that the controller does not understand.
pub(super) fn make_strange(store: &mut Store) {
    let names: Vec<String> = (0..SOURCES).map(|number| format!("s-{number}")).collect();
    let is_there = |name: &&String| store.get("clusterresourceclaimtemplates", "", name).is_some();
    let there: Vec<&str> = names.iter().filter(is_there).map(String::as_str).collect();
    if !there.is_empty() {
        change(store, "clusterresourceclaimtemplates", "", one(&there), |one| *one = strange(one.take()));
    }
}

/// Changes an object, where it is there.
fn change(store: &mut Store, plural: &str, namespace: &str, name: &str, act: impl FnOnce(&mut Value)) {
    if let Some(mut object) = store.get(plural, namespace, name) {
        act(&mut object);
        let _ = store.replace(plural, object);
    }
}

/// Somebody does something.
pub(super) fn act(store: &mut Store) {
    let choice = below(100);
    let (namespace, name, node) = (name("n", NAMESPACES), name("s", SOURCES), name("node", NODES));
    let (pod_name, claim) = (self::name("p", PODS), self::name("c", 4));
    let is_there = store.get("namespaces", "", &namespace).is_some();
    match choice {
        // Namespaces.
        0..4 => store.put(self::namespace(&namespace, one(&["ml", "web"]))),
        4 => drop(store.delete("namespaces", "", &namespace)),
        5..8 => sweep(store),
        17.. if !is_there && choice < 82 => {}
        // Sources.
        8..14 => {
            let source = source(&name);
            let is_there = store.get("clusterresourceclaimtemplates", "", &name).is_some();
            match is_there {
                true => change(store, "clusterresourceclaimtemplates", "", &name, |one| {
                    one["spec"] = source["spec"].clone()
                }),
                false => store.put(source),
            }
        }
        14..16 => make_strange(store),
        16 => drop(store.delete("clusterresourceclaimtemplates", "", &name)),
        // Copies, and templates of users with their names.
        17..20 => {
            let (namespace, name) = place_that_is_free(store).filter(|_| happens(500)).unwrap_or((namespace, name));
            store.delete("resourceclaimtemplates", &namespace, &name);
        }
        20..24 => {
            let (namespace, name) = place_that_is_free(store).unwrap_or((namespace, name));
            store.delete("resourceclaimtemplates", &namespace, &name);
            store.put(template(&namespace, &name));
        }
        24 => change(store, "resourceclaimtemplates", &namespace, &name, |one| {
            one["metadata"]["labels"]["apportion.dev/source-name"] = json!("x");
        }),
        // Claims and Pods.
        25..30 if store.get("resourceclaims", &namespace, &claim).is_none() => {
            let spec = devices("gpu", json!(1 + below(2)));
            store.put(named("resource.k8s.io/v1", "ResourceClaim", &namespace, &claim, json!({ "spec": spec })));
        }
        30..33 => drop(store.delete("resourceclaims", &namespace, &claim)),
        33..55 if store.get("pods", &namespace, &pod_name).is_none() => store.put(pod(&namespace, &pod_name)),
        55..70 => change(store, "pods", &namespace, &pod_name, |one| {
            if one["spec"]["nodeName"].is_string() && one["status"]["phase"] != "Succeeded" {
                one["status"]["phase"] = json!(self::one(&["Running", "Succeeded"]));
            }
        }),
        70..82 => drop(store.delete("pods", &namespace, &pod_name)),
        // Nodes, their devices and what is wrong with them.
        82..87 => {
            let generation =
                store.get("resourceslices", "", &node).and_then(|one| one["spec"]["pool"]["generation"].as_u64());
            let slice =
                slice(&node, generation.unwrap_or(0) + 1, one::<&[&str]>(&[&["a", "b"], &["a", "b", "c"], &["a"]]));
            store.put(slice);
        }
        87 => drop(store.delete("resourceslices", "", &node)),
        88 => {
            let spec = json!({
                "deviceSelector": { "pool": node }, "taint": { "key": "broken", "effect": one(&["NoSchedule", "NoExecute"]) },
            });
            store.put(named("resource.k8s.io/v1beta2", "DeviceTaintRule", "", "rule", json!({ "spec": spec })));
        }
        89..92 => drop(store.delete("devicetaintrules", "", "rule")),
        // Groups.
        92 if is_there => {
            let spec = json!({ "schedulingPolicy": { "gang": { "minCount": 2 } } });
            store.put(named("scheduling.k8s.io/v1beta1", "PodGroup", &namespace, "g", json!({ "spec": spec })));
        }
        93 => drop(store.delete("podgroups", &namespace, "g")),
        _ => store.collect_garbage(),
    }
}

/// The same, mostly about sources and copies.
pub(super) fn act_on_copies(store: &mut Store) {
    match below(8) {
        0 => {
            let source = source(&name("s", SOURCES));
            store.put(source);
        }
        1 | 2 => {
            let templates: Vec<Value> = store.of("resourceclaimtemplates").cloned().collect();
            if !templates.is_empty() {
                let metadata = &templates[usize::try_from(below(templates.len() as u64)).unwrap()]["metadata"];
                let text = |field: &str| metadata[field].as_str().unwrap().to_owned();
                store.delete("resourceclaimtemplates", &text("namespace"), &text("name"));
            }
        }
        3 | 4 => {
            if let Some((namespace, name)) = place_that_is_free(store) {
                store.put(template(&namespace, &name));
            }
        }
        _ => act(store),
    }
}

/// What kube-controller-manager does about namespaces that are to go.
pub(super) fn sweep(store: &mut Store) {
    let is_going = |one: &&Value| one["metadata"]["deletionTimestamp"].is_string();
    let going: Vec<Value> = store.of("namespaces").filter(is_going).cloned().collect();
    for namespace in going {
        let name = namespace["metadata"]["name"].as_str().unwrap();
        let mut is_empty = true;
        for plural in ["pods", "resourceclaims", "resourceclaimtemplates", "podgroups"] {
            let inside = store.of(plural).filter(|one| one["metadata"]["namespace"] == name);
            let names: Vec<String> = inside.map(|one| one["metadata"]["name"].as_str().unwrap().to_owned()).collect();
            for one in names {
                is_empty &=
                    store.delete(plural, name, &one).is_none_or(|one| one["metadata"]["deletionTimestamp"].is_null());
            }
        }
        if is_empty {
            change(store, "namespaces", "", name, |one| one["metadata"]["finalizers"] = json!([]));
        }
    }
}
