//! What the API server fills in where a field is left out, as far as a later comparison can tell.

use serde_json::{Map, Value, json};

use super::places;
use crate::api::read::Path;
use crate::api::source::SOURCE_KIND;

/// Sets the defaults of a kind, which is in its internal form.
pub(super) fn set(kind: &str, object: &mut Value, flat: bool) {
    match kind {
        "ResourceClaim" => claim_spec(object.get_mut("spec"), flat),
        "ResourceClaimTemplate" | "ClusterResourceClaimTemplate" => {
            claim_spec(object.pointer_mut("/spec/spec"), flat);
        }
        SOURCE_KIND => claim_spec(object.pointer_mut("/spec/template/spec"), flat),
        "ResourceSlice" => {
            let path = "spec.devices[].nodeAllocatableResourceMappings{}";
            places::each(object, path, &Path::ROOT, &mut |mapping, _| {
                if let Some(mapping) = mapping.as_object_mut() {
                    mapping.entry("allocationMultiplier").or_insert_with(|| json!("1"));
                }
            });
        }
        "ResourcePoolStatusRequest" => {
            if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
                spec.entry("limit").or_insert_with(|| json!(100));
            }
        }
        "Pod" => {
            if let Some(spec) = object.get_mut("spec") {
                pod_amounts(spec);
            }
        }
        _ => {}
    }
}

const CONTAINERS: [&str; 2] = ["containers", "initContainers"];

/// What decides where a Pod can run: requests follow from limits, and on the node's network ports are the node's.
fn pod_amounts(spec: &mut Value) {
    let on_host = spec.get("hostNetwork") == Some(&Value::Bool(true));
    for list in CONTAINERS {
        each(spec.get_mut(list), |container| {
            each(container.get_mut("ports"), |port| {
                let own = port.get("containerPort").cloned();
                if let Some(own) = own.filter(|_| on_host && port.get("hostPort").is_none_or(|host| host == 0)) {
                    port.insert("hostPort".to_owned(), own);
                }
            });
            let Some(Value::Object(resources)) = container.get_mut("resources") else { return };
            let Some(limits) = resources.get("limits").and_then(Value::as_object).cloned() else { return };
            if let Value::Object(requests) = resources.entry("requests").or_insert_with(|| json!({})) {
                for (name, limit) in limits {
                    requests.entry(name).or_insert(limit);
                }
            }
        });
    }
}

/// Every other default of a Pod's spec, for comparison with one that is stored.
pub(super) fn pod_spec(spec: &mut Value) {
    let Some(map) = spec.as_object_mut() else { return };
    // Admission takes the two from the account and the priority.
    for (name, value) in [
        ("restartPolicy", json!("Always")),
        ("dnsPolicy", json!("ClusterFirst")),
        ("schedulerName", json!("default-scheduler")),
        ("enableServiceLinks", json!(true)),
        ("preemptionPolicy", json!("PreemptLowerPriority")),
        ("serviceAccountName", json!("default")),
    ] {
        map.entry(name).or_insert(value);
    }
    if let Some(account) = map.get("serviceAccountName").cloned() {
        map.entry("serviceAccount").or_insert(account);
    }
    for list in CONTAINERS {
        each(map.get_mut(list), |container| {
            container.entry("terminationMessagePath").or_insert_with(|| json!("/dev/termination-log"));
            container.entry("terminationMessagePolicy").or_insert_with(|| json!("File"));
            each(container.get_mut("ports"), |port| {
                port.entry("protocol").or_insert_with(|| json!("TCP"));
            });
        });
    }
    pod_amounts(spec);
}

/// The disruption mode of a PodGroup, in the shape of its version.
pub(super) fn disruption_mode(object: &mut Value, is_union: bool) {
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        spec.entry("disruptionMode").or_insert_with(|| if is_union { json!({ "single": {} }) } else { json!("Pod") });
    }
}

fn each(list: Option<&mut Value>, mut change: impl FnMut(&mut Map<String, Value>)) {
    let items = list.and_then(Value::as_array_mut);
    items.into_iter().flatten().filter_map(Value::as_object_mut).for_each(&mut change);
}

fn claim_spec(spec: Option<&mut Value>, flat: bool) {
    let requests = spec.and_then(|spec| spec.pointer_mut("/devices/requests"));
    each(requests, |request| {
        if let Some(Value::Object(exactly)) = request.get_mut("exactly") {
            // In a flat version only requests with a class are known to be of this form.
            let has_class = exactly.get("deviceClassName").is_some_and(|class| class != "");
            if !flat || has_class {
                asked(exactly);
            }
        }
        each(request.get_mut("firstAvailable"), asked);
    });
}

fn asked(request: &mut Map<String, Value>) {
    fill(request, "allocationMode", json!("ExactCount"));
    if request.get("allocationMode").is_some_and(|mode| mode == "ExactCount") {
        fill(request, "count", json!(1));
    }
    each(request.get_mut("tolerations"), |toleration| fill(toleration, "operator", json!("Equal")));
}

/// Sets a field that is left out, or has the zero of its type.
fn fill(map: &mut Map<String, Value>, name: &str, default: Value) {
    if map.get(name).is_none_or(|value| value == "" || *value == 0) {
        map.insert(name.to_owned(), default);
    }
}
