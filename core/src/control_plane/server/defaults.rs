//! What the server fills in, and keeps in order, before it looks at the rules.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Server;
use super::item::Item;
use crate::api::claim::{ResourceClaim, set_defaults};
use crate::api::object::Object;
use crate::api::pod::{Pod, PodStatus};
use crate::api::slice::{DeviceTaint, ResourceSlice};
use crate::decision::{GROUP_FINALIZER, Time};
use crate::profile::Version;

impl Server {
    /// Defaults of a new object.
    pub(super) fn prepare_create(&self, item: &mut Item, now: Time) {
        let profile = self.cluster.profile();
        let features = &profile.features;
        let metadata = item.metadata_mut();
        metadata.resource_version.clear();
        let Item::Known(object) = item else { return };
        match object {
            Object::Pod(pod) => {
                let pod = Arc::make_mut(pod);
                new_pod(pod);
                if !features.generic_workload {
                    pod.spec.scheduling_group = None;
                }
                if !features.dynamic_resource_allocation {
                    pod.spec.resource_claims.clear();
                    let containers = pod.spec.init_containers.iter_mut().chain(&mut pod.spec.containers);
                    containers.for_each(|container| container.resources.claims.clear());
                }
            }
            Object::ResourceClaim(claim) => {
                let claim = Arc::make_mut(claim);
                set_defaults(&mut claim.spec);
                claim.status = Default::default();
            }
            Object::ResourceClaimTemplate(template) | Object::ClusterResourceClaimTemplate(template) => {
                set_defaults(&mut Arc::make_mut(template).spec.spec);
            }
            Object::PodGroup(group) => {
                let group = Arc::make_mut(group);
                // Admission gives every PodGroup the finalizer.
                let finalizers = &mut group.metadata.finalizers;
                if finalizers.iter().all(|finalizer| finalizer != GROUP_FINALIZER) {
                    finalizers.push(GROUP_FINALIZER.to_owned());
                }
                if group.spec.rest.get("disruptionMode").is_none() && profile.version <= Version::V1_36 {
                    group.spec.rest.set("disruptionMode", json!("Pod"));
                }
                if !features.workload_resource_claims {
                    group.spec.resource_claims.clear();
                }
                group.status = Default::default();
            }
            Object::ResourcePoolStatusRequest(request) => {
                let request = Arc::make_mut(request);
                request.status = Value::Null;
                request.spec.limit.get_or_insert(100);
            }
            Object::ResourceSlice(slice) => slice_taints(Arc::make_mut(slice), now),
            Object::DeviceTaintRule(rule) => {
                let rule = Arc::make_mut(rule);
                time_added(&mut rule.spec.taint, now);
                rule.status = Value::Null;
            }
            Object::Node(_)
            | Object::Namespace(_)
            | Object::TemplateSource(_)
            | Object::DeviceClass(_)
            | Object::SchedulingWorkload(_)
            | Object::PriorityClass(_)
            | Object::SchedulerConfiguration(_)
            | Object::PodDisruptionBudget(_)
            | Object::Service(_)
            | Object::PersistentVolumeClaim(_)
            | Object::PersistentVolume(_)
            | Object::StorageClass(_)
            | Object::CSINode(_)
            | Object::CSIDriver(_)
            | Object::CSIStorageCapacity(_)
            | Object::VolumeAttachment(_)
            | Object::Workload(_) => {}
        }
        if counts(object) || matches!(object, Object::Pod(_)) {
            item.set_number("generation", 1);
        }
    }

    /// Keeps generation, times and gates in order when an object changes.
    pub(super) fn prepare_update(&self, old: &Item, item: &mut Item, now: Time) {
        let (Item::Known(before), Item::Known(object)) = (old, &mut *item) else { return };
        let differs = match (before, object) {
            (Object::ResourceSlice(old), Object::ResourceSlice(slice)) => {
                slice_taints(Arc::make_mut(slice), now);
                old.spec != slice.spec
            }
            (Object::DeviceTaintRule(old), Object::DeviceTaintRule(rule)) => {
                let (before, taint) = (&old.spec.taint, &mut Arc::make_mut(rule).spec.taint);
                if before.effect != taint.effect && before.time_added == taint.time_added {
                    taint.time_added = now.to_string();
                }
                time_added(taint, now);
                old.spec != rule.spec
            }
            (Object::DeviceClass(old), Object::DeviceClass(class)) => old.spec != class.spec,
            (Object::ResourceClaim(old), Object::ResourceClaim(claim)) => {
                drop_deallocated_devices(old, Arc::make_mut(claim));
                false
            }
            _ => false,
        };
        if differs {
            item.set_number("generation", old.number("generation").saturating_add(1));
        }
    }
}

/// Whether changes of the spec are counted.
fn counts(object: &Object) -> bool {
    matches!(object, Object::ResourceSlice(_) | Object::DeviceTaintRule(_) | Object::DeviceClass(_))
}

fn new_pod(pod: &mut Pod) {
    // Requests that are left out are as large as the limits.
    for container in pod.spec.containers.iter_mut().chain(&mut pod.spec.init_containers) {
        for (name, amount) in &container.resources.limits {
            container.resources.requests.entry(name.clone()).or_insert_with(|| amount.clone());
        }
    }
    pod.status = PodStatus { phase: "Pending".to_owned(), ..PodStatus::default() };
    pod.status.rest.set("qosClass", json!(qos_class(pod)));
    if !pod.spec.scheduling_gates.is_empty() {
        pod.status.conditions.push(json!({
            "type": "PodScheduled", "status": "False", "lastProbeTime": null, "lastTransitionTime": null,
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }));
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

fn each<'v>(value: Option<&'v mut Value>, list: &str) -> impl Iterator<Item = &'v mut Value> {
    value.and_then(|value| value.pointer_mut(list)).and_then(Value::as_array_mut).into_iter().flatten()
}

/// A text in an object; empty where there is none.
fn text<'v>(value: &'v Value, path: &[&str]) -> &'v str {
    let found = path.iter().try_fold(value, |value, name| value.get(*name));
    found.and_then(Value::as_str).unwrap_or_default()
}

/// Sets a field, making the objects on the way.
fn set(value: &mut Value, path: &[&str], to: Value) {
    let mut place = value;
    for name in path {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        let Some(map) = place.as_object_mut() else { return };
        place = map.entry(*name).or_insert(Value::Null);
    }
    *place = to;
}

fn slice_taints(slice: &mut ResourceSlice, now: Time) {
    slice.spec.devices.iter_mut().flat_map(|device| &mut device.taints).for_each(|taint| time_added(taint, now));
}

fn time_added(taint: &mut DeviceTaint, now: Time) {
    if taint.time_added.is_empty() {
        taint.time_added = now.to_string();
    }
}

/// Quality of service of a Pod, from CPU and memory of its containers.
fn qos_class(pod: &Pod) -> &'static str {
    let mut has_any = false;
    let mut is_guaranteed = true;
    for container in pod.spec.containers.iter().chain(&pod.spec.init_containers) {
        for resource in ["cpu", "memory"] {
            let (limit, request) =
                (container.resources.limits.get(resource), container.resources.requests.get(resource));
            has_any |= request.is_some() || limit.is_some();
            is_guaranteed &= limit.is_some() && request == limit;
        }
    }
    match (has_any, is_guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// Reports of drivers about devices that the claim has no more go with them.
fn drop_deallocated_devices(old: &ResourceClaim, claim: &mut ResourceClaim) {
    if claim.status.devices.is_empty() {
        return;
    }
    let has = |claim: &ResourceClaim, device: &Value| {
        let is = |name: &str, known: &str| device.get(name).and_then(Value::as_str).unwrap_or_default() == known;
        let mut results = claim.status.allocation.iter().flat_map(|allocation| &allocation.devices.results);
        results.any(|result| is("driver", &result.driver) && is("pool", &result.pool) && is("device", &result.device))
    };
    let mut devices = std::mem::take(&mut claim.status.devices);
    devices.retain(|device| !has(old, device) || has(claim, device));
    claim.status.devices = devices;
}
