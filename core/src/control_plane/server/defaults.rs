//! What the server fills in, and keeps in order, before it looks at the rules.

use serde_json::{Value, json};

use super::{Server, now_text, set, text, unset};
use crate::decision::{GROUP_FINALIZER, Time};
use crate::finding::ObjectRef;
use crate::profile::Version;

impl Server {
    /// Defaults of a new object.
    pub(super) fn prepare_create(&self, value: &mut Value, now: Time) {
        let features = self.cluster.profile().features;
        unset(value, &["metadata", "resourceVersion"]);
        match text(value, &["kind"]).to_owned().as_str() {
            "Pod" => {
                container_requests(value);
                let class = qos_class(value);
                let gated =
                    value.pointer("/spec/schedulingGates").and_then(Value::as_array).is_some_and(|g| !g.is_empty());
                set(value, &["metadata", "generation"], json!(1));
                set(value, &["status"], json!({ "phase": "Pending", "qosClass": class }));
                if gated {
                    let condition = json!({
                        "type": "PodScheduled", "status": "False", "lastProbeTime": null, "lastTransitionTime": null,
                        "reason": "SchedulingGated",
                        "message": "Scheduling is blocked due to non-empty scheduling gates",
                    });
                    set(value, &["status", "conditions"], json!([condition]));
                }
                if !features.generic_workload {
                    unset(value, &["spec", "schedulingGroup"]);
                }
            }
            "ResourceClaim" => {
                claim_spec(value.pointer_mut("/spec"));
                set(value, &["status"], json!({}));
            }
            "ResourceClaimTemplate" | "ClusterResourceClaimTemplate" => claim_spec(value.pointer_mut("/spec/spec")),
            "PodGroup" => {
                protect(value);
                if value.pointer("/spec/disruptionMode").is_none() && self.cluster.profile().version <= Version::V1_36 {
                    set(value, &["spec", "disruptionMode"], json!("Pod"));
                }
                if !features.workload_resource_claims {
                    unset(value, &["spec", "resourceClaims"]);
                }
                set(value, &["status"], json!({}));
            }
            "DeviceClass" => set(value, &["metadata", "generation"], json!(1)),
            "ResourcePoolStatusRequest" => {
                unset(value, &["status"]);
                if value.pointer("/spec/limit").is_none_or(Value::is_null) {
                    set(value, &["spec", "limit"], json!(100));
                }
            }
            "ResourceSlice" => {
                set(value, &["metadata", "generation"], json!(1));
                slice_taints(value, now);
            }
            "DeviceTaintRule" => {
                set(value, &["metadata", "generation"], json!(1));
                time_added(value.pointer_mut("/spec/taint"), now);
                set(value, &["status"], json!({}));
            }
            _ => {}
        }
    }

    /// Keeps generation, times and gates in order when an object changes.
    pub(super) fn prepare_update(&self, key: &ObjectRef, old: &Value, value: &mut Value, now: Time) {
        match key.kind.as_str() {
            "ResourceSlice" => slice_taints(value, now),
            "DeviceTaintRule" => {
                let time = "/spec/taint/timeAdded";
                let effect = "/spec/taint/effect";
                if old.pointer(effect) != value.pointer(effect) && old.pointer(time) == value.pointer(time) {
                    set(value, &["spec", "taint", "timeAdded"], now_text(now));
                }
                time_added(value.pointer_mut("/spec/taint"), now);
            }
            "ResourceClaim" => drop_deallocated_devices(old, value),
            _ => {}
        }
        let counts = matches!(key.kind.as_str(), "ResourceSlice" | "DeviceTaintRule" | "DeviceClass");
        if counts && old.get("spec") != value.get("spec") {
            let generation = old.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or_default();
            set(value, &["metadata", "generation"], json!(generation.saturating_add(1)));
        }
    }
}

/// What a new Job gets: how it finds its Pods, and what its template leaves out.
pub(super) fn job(value: &mut Value) {
    let (name, uid) = (text(value, &["metadata", "name"]).to_owned(), text(value, &["metadata", "uid"]).to_owned());
    let is_numbered = value.pointer("/spec/completions").is_some() || value.pointer("/spec/parallelism").is_some();
    for (field, default) in [
        ("parallelism", json!(1)),
        ("completions", if is_numbered { Value::Null } else { json!(1) }),
        ("backoffLimit", json!(6)),
        ("completionMode", json!("NonIndexed")),
        ("suspend", json!(false)),
        ("podReplacementPolicy", json!("TerminatingOrFailed")),
        ("manualSelector", json!(false)),
    ] {
        default_to(value.get_mut("spec"), field, &default);
    }
    if value.pointer("/spec/manualSelector") != Some(&json!(true)) {
        for (label, text) in [("controller-uid", &uid), ("job-name", &name)] {
            for label in [label.to_owned(), format!("batch.kubernetes.io/{label}")] {
                set(value, &["spec", "template", "metadata", "labels", &label], json!(text));
            }
        }
        set(value, &["spec", "selector", "matchLabels", "batch.kubernetes.io/controller-uid"], json!(uid));
    }
    let labels = value.pointer("/spec/template/metadata/labels").cloned().unwrap_or_default();
    if value.pointer("/metadata/labels").and_then(Value::as_object).is_none_or(serde_json::Map::is_empty) {
        set(value, &["metadata", "labels"], labels);
    }
    for (field, default) in [
        ("terminationGracePeriodSeconds", json!(30)),
        ("dnsPolicy", json!("ClusterFirst")),
        ("securityContext", json!({})),
        ("schedulerName", json!("default-scheduler")),
    ] {
        default_to(value.pointer_mut("/spec/template/spec"), field, &default);
    }
    for list in ["/spec/template/spec/containers", "/spec/template/spec/initContainers"] {
        for container in each(Some(value), list) {
            default_to(Some(container), "terminationMessagePath", &json!("/dev/termination-log"));
            default_to(Some(container), "terminationMessagePolicy", &json!("File"));
            let image = text(container, &["image"]);
            let is_latest =
                image.rsplit('/').next().is_some_and(|last| !last.contains([':', '@']) || last.ends_with(":latest"));
            default_to(Some(container), "imagePullPolicy", &json!(if is_latest { "Always" } else { "IfNotPresent" }));
        }
    }
    set(value, &["metadata", "generation"], json!(1));
    set(value, &["status"], json!({}));
}

/// Sets a field that is left out; null is no default.
fn default_to(value: Option<&mut Value>, field: &str, default: &Value) {
    if let Some(map) = value.and_then(Value::as_object_mut).filter(|_| !default.is_null()) {
        let known = map.entry(field).or_insert(Value::Null);
        if known.is_null() {
            known.clone_from(default);
        }
    }
}

/// Admission gives every PodGroup the finalizer.
fn protect(value: &mut Value) {
    let mut finalizers = value.pointer("/metadata/finalizers").and_then(Value::as_array).cloned().unwrap_or_default();
    if !finalizers.iter().any(|finalizer| finalizer == GROUP_FINALIZER) {
        finalizers.push(json!(GROUP_FINALIZER));
    }
    set(value, &["metadata", "finalizers"], Value::Array(finalizers));
}

fn each<'v>(value: Option<&'v mut Value>, list: &str) -> impl Iterator<Item = &'v mut Value> {
    value.and_then(|value| value.pointer_mut(list)).and_then(Value::as_array_mut).into_iter().flatten()
}

fn claim_spec(spec: Option<&mut Value>) {
    for request in each(spec, "/devices/requests") {
        if let Some(exact) = request.get_mut("exactly") {
            device_request(exact);
        }
        for sub in each(Some(request), "/firstAvailable") {
            device_request(sub);
        }
    }
}

fn device_request(request: &mut Value) {
    if text(request, &["allocationMode"]).is_empty() {
        set(request, &["allocationMode"], json!("ExactCount"));
    }
    let count = request.get("count").and_then(Value::as_i64).unwrap_or_default();
    if text(request, &["allocationMode"]) == "ExactCount" && count == 0 {
        set(request, &["count"], json!(1));
    }
    for toleration in each(Some(request), "/tolerations") {
        if text(toleration, &["operator"]).is_empty() {
            set(toleration, &["operator"], json!("Equal"));
        }
    }
}

fn slice_taints(slice: &mut Value, now: Time) {
    for device in each(Some(slice), "/spec/devices") {
        for taint in each(Some(device), "/taints") {
            time_added(Some(taint), now);
        }
    }
}

fn time_added(taint: Option<&mut Value>, now: Time) {
    if let Some(taint) = taint.filter(|taint| text(taint, &["timeAdded"]).is_empty()) {
        set(taint, &["timeAdded"], now_text(now));
    }
}

/// Requests that are left out are as large as the limits.
fn container_requests(pod: &mut Value) {
    for list in ["/spec/containers", "/spec/initContainers"] {
        for container in each(Some(pod), list) {
            let limits = container.pointer("/resources/limits").and_then(Value::as_object).cloned().unwrap_or_default();
            for (name, amount) in limits {
                if container.pointer("/resources/requests").and_then(|requests| requests.get(&name)).is_none() {
                    set(container, &["resources", "requests", &name], amount);
                }
            }
        }
    }
}

/// Quality of service of a Pod, from CPU and memory of its containers.
fn qos_class(pod: &Value) -> &'static str {
    let mut has_any = false;
    let mut is_guaranteed = true;
    for list in ["/spec/containers", "/spec/initContainers"] {
        for container in pod.pointer(list).and_then(Value::as_array).into_iter().flatten() {
            for resource in ["cpu", "memory"] {
                let amount = |kind: &str| container.pointer(&format!("/resources/{kind}/{resource}"));
                has_any |= amount("requests").is_some() || amount("limits").is_some();
                is_guaranteed &= amount("limits").is_some() && amount("requests") == amount("limits");
            }
        }
    }
    match (has_any, is_guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// Reports of drivers about devices that the claim has no more go with them.
fn drop_deallocated_devices(old: &Value, value: &mut Value) {
    let results =
        |value: &Value| value.pointer("/status/allocation/devices/results").and_then(Value::as_array).cloned();
    let ids = |results: Option<Vec<Value>>| -> Vec<[String; 3]> {
        results.unwrap_or_default().iter().map(device_id).collect()
    };
    let (before, after) = (ids(results(old)), ids(results(value)));
    if let Some(devices) = value.pointer_mut("/status/devices").and_then(Value::as_array_mut) {
        devices.retain(|device| {
            let id = device_id(device);
            !before.contains(&id) || after.contains(&id)
        });
        if devices.is_empty() {
            unset(value, &["status", "devices"]);
        }
    }
}

fn device_id(device: &Value) -> [String; 3] {
    ["driver", "pool", "device"].map(|name| text(device, &[name]).to_owned())
}
