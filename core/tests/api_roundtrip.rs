//! The reader and writer of API objects against objects with every field set and against types generated from the API's schema.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test reads its cases from files and may fail"
)]

use std::collections::BTreeMap;
use std::path::Path;

use apportion_core::api::object::{Reading, read_object};
use apportion_core::finding::{Code, Severity};
use k8s_openapi::api::{apps, batch, core, resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The kinds of resource.k8s.io that are read as objects, each version with every field set, by version and kind.
fn fixtures() -> BTreeMap<(String, String), Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/objects/every-field-1.37.2.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let objects = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let named = objects.filter_map(|value| {
        let version = value["apiVersion"].as_str()?.strip_prefix("resource.k8s.io/")?.to_owned();
        let kind = value["kind"].as_str()?.to_owned();
        (kind != "ResourcePoolStatusRequest").then_some(((version, kind), value))
    });
    let found: BTreeMap<_, _> = named.collect();
    assert!(found.len() >= 15, "{} objects", found.len());
    found
}

fn read(value: Value) -> Reading {
    read_object(value)
}

/// What is written of an object that must be readable.
fn rewritten(value: Value) -> Value {
    let reading = read(value);
    let errors: Vec<_> = reading.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    reading.object.unwrap().write()
}

/// Compares objects and names the first path that differs, as whole objects are unreadable.
fn assert_same(left: &Value, right: &Value, path: &str) {
    match (left, right) {
        (Value::Object(some), Value::Object(others)) => {
            for key in some.keys().chain(others.keys()) {
                assert_same(&left[key], &right[key], &format!("{path}.{key}"));
            }
        }
        (Value::Array(some), Value::Array(others)) if some.len() == others.len() => {
            for (index, (one, other)) in some.iter().zip(others).enumerate() {
                assert_same(one, other, &format!("{path}[{index}]"));
            }
        }
        _ => assert_eq!(left, right, "{path}"),
    }
}

fn as_v1(mut value: Value) -> Value {
    value["apiVersion"] = json!("resource.k8s.io/v1");
    value
}

#[test]
fn every_field_of_the_api_is_known_and_comes_back() {
    let all = fixtures();
    for ((version, kind), value) in &all {
        let name = format!("{version} {kind}");
        let reading = read(value.clone());
        for finding in &reading.findings {
            // Texts that are no member of an enumeration are among the values.
            assert_eq!(finding.code, Code::ReadUnknownValue, "{name}: {finding:?}");
        }
        let written = reading.object.unwrap().write();
        // The flat form of the oldest version is written as the newer ones are.
        let expected = if version == "v1beta1" { &all[&("v1beta2".to_owned(), kind.clone())] } else { value };
        assert_same(&written, &as_v1(expected.clone()), &name);
    }
}

/// Reads the written object as the type generated from the API's schema, and compares what that writes.
fn is_of_the_schema<T: Serialize + DeserializeOwned>(written: &Value) {
    let typed: T = serde_json::from_value(written.clone()).unwrap();
    let mut again = serde_json::to_value(&typed).unwrap();
    // Timestamps of Kubernetes' clock have no fraction; the types may write one.
    normalise_times(&mut again);
    assert_same(&again, written, "");
}

fn normalise_times(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(seconds) = text.strip_suffix(".000000Z") {
                *text = format!("{seconds}Z");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(normalise_times),
        Value::Object(map) => map.values_mut().for_each(normalise_times),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn what_is_written_is_of_the_schema_of_the_api() {
    for value in fixtures().into_values() {
        let written = rewritten(value);
        match written["kind"].as_str().unwrap() {
            "ResourceClaim" => is_of_the_schema::<resource::v1::ResourceClaim>(&written),
            "ResourceClaimTemplate" => is_of_the_schema::<resource::v1::ResourceClaimTemplate>(&written),
            "DeviceClass" => is_of_the_schema::<resource::v1::DeviceClass>(&written),
            "ResourceSlice" => is_of_the_schema::<resource::v1::ResourceSlice>(&written),
            "DeviceTaintRule" => is_of_the_schema::<resource::v1::DeviceTaintRule>(&written),
            other => panic!("{other}"),
        }
    }
}

/// Reads a manifest as the schema's type, so that its fields are certainly right, and expects it back unchanged.
fn comes_back<T: Serialize + DeserializeOwned>(manifest: Value) {
    let typed: T = serde_json::from_value(manifest).unwrap();
    let value = serde_json::to_value(&typed).unwrap();
    let reading = read(value.clone());
    assert_eq!(reading.findings, []);
    assert_same(&reading.object.unwrap().write(), &value, "");
}

fn pod_spec() -> Value {
    json!({
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [
                    { "matchExpressions": [{ "key": "zone", "operator": "In", "values": ["a", "b"] }] },
                    { "matchFields": [{ "key": "metadata.name", "operator": "In", "values": ["node-a"] }] },
                ] },
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    { "weight": 5, "preference": { "matchExpressions": [{ "key": "k", "operator": "Exists" }] } },
                ],
            },
            "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [
                { "topologyKey": "kubernetes.io/hostname", "labelSelector": { "matchLabels": { "app": "x" } } },
            ] },
        },
        "containers": [{
            "name": "main", "image": "pause:3.10", "env": [{ "name": "A", "value": "b" }],
            "resources": {
                "claims": [{ "name": "gpu", "request": "small" }],
                "limits": { "cpu": "1500m", "memory": "1Gi" },
                "requests": { "cpu": "1", "memory": "512Mi" },
            },
        }],
        "initContainers": [{ "name": "side", "image": "i", "restartPolicy": "Always" }],
        "nodeSelector": { "disk": "ssd" },
        "overhead": { "cpu": "10m" },
        "priority": 7,
        "resourceClaims": [
            { "name": "gpu", "resourceClaimTemplateName": "single" },
            { "name": "shared", "resourceClaimName": "team" },
        ],
        "resources": { "requests": { "cpu": "2" } },
        "schedulerName": "default-scheduler",
        "schedulingGates": [{ "name": "example.com/wait" }],
        "terminationGracePeriodSeconds": 0,
        "tolerations": [{ "key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30 }],
        "topologySpreadConstraints": [
            { "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule" },
        ],
    })
}

fn pod_template() -> Value {
    json!({ "metadata": { "labels": { "app": "x" }, "annotations": { "note": "n" } }, "spec": pod_spec() })
}

#[test]
fn pods_nodes_and_namespaces_come_back() {
    comes_back::<core::v1::Pod>(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "p", "namespace": "ml", "uid": "u", "labels": { "a": "b" } },
        "spec": pod_spec(),
        "status": {
            "phase": "Running", "hostIP": "10.0.0.1",
            "conditions": [{ "type": "PodScheduled", "status": "True" }],
            "resourceClaimStatuses": [{ "name": "gpu", "resourceClaimName": "p-gpu-abcde" }, { "name": "none" }],
        },
    }));
    comes_back::<core::v1::Node>(json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": "node-a", "labels": { "zone": "a" } },
        "spec": {
            "podCIDR": "10.0.0.0/24", "unschedulable": true,
            "taints": [{ "key": "k", "value": "v", "effect": "NoSchedule" }],
        },
        "status": {
            "allocatable": { "cpu": "7500m", "memory": "30Gi" }, "capacity": { "cpu": "8", "memory": "32Gi" },
            "conditions": [{ "type": "Ready", "status": "True" }],
        },
    }));
    comes_back::<core::v1::Namespace>(json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": "ml", "labels": { "resource.kubernetes.io/admin-access": "true" } },
        "spec": { "finalizers": ["kubernetes"] },
        "status": { "phase": "Active" },
    }));
}

#[test]
fn workloads_come_back() {
    let metadata = json!({ "name": "w", "namespace": "ml" });
    let selector = json!({ "matchLabels": { "app": "x" } });
    let of = |api_version: &str, kind: &str, spec: Value| json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec });
    comes_back::<apps::v1::Deployment>(of(
        "apps/v1",
        "Deployment",
        json!({ "replicas": 0, "selector": selector, "template": pod_template(), "strategy": { "type": "Recreate" } }),
    ));
    comes_back::<apps::v1::ReplicaSet>(of(
        "apps/v1",
        "ReplicaSet",
        json!({ "replicas": 2, "selector": selector, "template": pod_template() }),
    ));
    comes_back::<apps::v1::StatefulSet>(of(
        "apps/v1",
        "StatefulSet",
        json!({ "selector": selector, "serviceName": "s", "template": pod_template(), "ordinals": { "start": 3 } }),
    ));
    comes_back::<apps::v1::DaemonSet>(of(
        "apps/v1",
        "DaemonSet",
        json!({ "selector": selector, "template": pod_template(), "minReadySeconds": 4 }),
    ));
    let job = json!({
        "parallelism": 2, "completions": 4, "completionMode": "Indexed", "suspend": false, "backoffLimit": 3,
        "template": pod_template(),
    });
    comes_back::<batch::v1::Job>(of("batch/v1", "Job", job.clone()));
    comes_back::<batch::v1::CronJob>(of(
        "batch/v1",
        "CronJob",
        json!({ "schedule": "@daily", "suspend": true, "jobTemplate": { "metadata": { "labels": { "l": "v" } }, "spec": job } }),
    ));
}

#[test]
fn workloads_without_a_schema_here_come_back() {
    let job =
        json!({ "metadata": { "labels": { "l": "v" } }, "spec": { "parallelism": 2, "template": pod_template() } });
    let job_set = json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": { "name": "w", "namespace": "ml" },
        "spec": {
            "suspend": false, "failurePolicy": { "maxRestarts": 3 },
            "replicatedJobs": [{ "name": "workers", "replicas": 2, "template": job, "groupName": "default" }],
        },
        "status": { "restarts": 1 },
    });
    let groups = json!({
        "apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
        "metadata": { "name": "w", "namespace": "ml" },
        "spec": {
            "replicas": 2, "startupPolicy": "LeaderCreated",
            "leaderWorkerTemplate": {
                "size": 4, "restartPolicy": "RecreateGroupOnPodRestart",
                "leaderTemplate": pod_template(), "workerTemplate": pod_template(),
            },
        },
    });
    for value in [job_set, groups] {
        let reading = read(value.clone());
        assert_eq!(reading.findings, []);
        assert_same(&reading.object.unwrap().write(), &value, "");
    }
}

#[test]
fn a_kind_of_another_group_is_another_kind() {
    let reading = read(json!({
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": { "name": "j" }, "spec": { "tasks": [] },
    }));
    assert!(reading.object.is_none());
    assert_eq!(reading.findings[0].code, Code::ReadUnknownKind);
}

#[test]
fn another_case_of_a_key_is_noticed() {
    let finding = read(json!({ "apiversion": "v1", "kind": "Pod" })).findings.remove(0);
    assert_eq!(finding.code, Code::ReadNoKind);
    assert_eq!(
        finding.hint.as_deref(),
        Some("write `apiVersion` instead of `apiversion`: upper and lower case matter")
    );
}

/// Code and path of the findings about a value, in order.
fn said(value: Value) -> Vec<(Code, String)> {
    read(value).findings.into_iter().map(|finding| (finding.code, finding.path)).collect()
}

fn claim(api_version: &str, requests: Value) -> Value {
    json!({
        "apiVersion": format!("resource.k8s.io/{api_version}"), "kind": "ResourceClaim", "metadata": { "name": "c" },
        "spec": { "devices": { "requests": requests } },
    })
}

#[test]
fn unknown_fields_are_reported_and_kept() {
    let value = claim("v1", json!([{ "name": "r", "exactly": { "deviceClassName": "c", "colour": "red" }, "x": [1] }]));
    let expected = ["spec.devices.requests[0].exactly.colour", "spec.devices.requests[0].x"];
    let expected: Vec<_> = expected.iter().map(|path| (Code::ReadUnknownField, (*path).to_owned())).collect();
    assert_eq!(said(value.clone()), expected);
    let mut written = rewritten(value.clone());
    // The default of an enumeration is written, as the API server writes it.
    written["spec"]["devices"]["requests"][0]["exactly"].as_object_mut().unwrap().remove("allocationMode");
    assert_same(&written, &value, "");
}

#[test]
fn wrong_types_are_reported_where_they_stand() {
    let template = |patch: fn(&mut Value)| {
        let mut pod = pod_template();
        patch(&mut pod);
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "d" },
            "spec": { "template": pod },
        })
    };
    let wrong = |path: &str| vec![(Code::ReadWrongType, path.to_owned())];
    let cases = [
        (
            claim("v1", json!([{ "name": "r", "exactly": { "count": "two" } }])),
            wrong("spec.devices.requests[0].exactly.count"),
        ),
        (claim("v1", json!([{ "name": 1 }])), wrong("spec.devices.requests[0].name")),
        (claim("v1", json!({ "name": "r" })), wrong("spec.devices.requests")),
        (
            claim("v1beta1", json!([{ "name": "r", "deviceClassName": "c", "count": "two" }])),
            wrong("spec.devices.requests[0].count"),
        ),
        (
            claim("v1", json!([{ "name": "r", "exactly": { "capacity": { "requests": { "memory": "1 GB" } } } }])),
            vec![(Code::ReadBadQuantity, "spec.devices.requests[0].exactly.capacity.requests[memory]".to_owned())],
        ),
        (
            json!({
                "apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceSlice", "metadata": { "name": "s" },
                "spec": { "devices": [{ "name": "d", "basic": { "attributes": { "a": { "int": "x" } } } }] },
            }),
            wrong("spec.devices[0].basic.attributes[a].int"),
        ),
        (
            template(|pod| pod["spec"]["resourceClaims"][1]["name"] = json!(3)),
            wrong("spec.template.spec.resourceClaims[1].name"),
        ),
        (
            template(|pod| pod["spec"]["containers"][0]["resources"]["limits"]["cpu"] = json!("many")),
            vec![(Code::ReadBadQuantity, "spec.template.spec.containers[0].resources.limits[cpu]".to_owned())],
        ),
        (
            template(|pod| pod["spec"]["resourceClaims"][0] = json!({ "name": "g", "source": {} })),
            vec![(Code::ReadUnknownField, "spec.template.spec.resourceClaims[0].source".to_owned())],
        ),
    ];
    for (value, expected) in cases {
        assert_eq!(said(value.clone()), expected, "{value}");
    }
}

#[test]
fn a_value_of_the_wrong_type_is_kept() {
    let value = claim("v1", json!([{ "name": "r", "exactly": { "deviceClassName": "c", "count": "two" } }]));
    let written = read(value).object.unwrap().write();
    assert_eq!(written["spec"]["devices"]["requests"][0]["exactly"]["count"], "two");
}

#[test]
fn flat_versions_become_exact_requests() {
    // R-300, R-316: older versions are accepted and mean the same.
    let flat = claim(
        "v1beta1",
        json!([{ "name": "r", "deviceClassName": "c", "count": 2, "tolerations": [{ "operator": "Exists" }] }]),
    );
    let exact = claim(
        "v1",
        json!([{ "name": "r", "exactly": { "deviceClassName": "c", "count": 2, "tolerations": [{ "operator": "Exists" }] } }]),
    );
    assert_eq!(rewritten(flat), rewritten(exact));
}
