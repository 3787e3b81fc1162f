//! The shapes of the kinds against objects with every field set and against types generated from the API's own schema.

use std::fs;
use std::path::Path;

use apportion_core::finding::{Code, Fix};
use apportion_core::validate::convert;
use k8s_openapi::api::{core, resource, scheduling};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::create;

/// Objects with every field of 1.37 set, by name.
fn fixtures() -> Vec<(String, Value)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/objects/every-field-1.37.2.jsonl");
    let named = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        (format!("{} {}", value["apiVersion"], value["kind"]), value)
    };
    let all: Vec<_> = fs::read_to_string(path).unwrap().lines().map(named).collect();
    assert!(all.len() > 18, "{} objects", all.len());
    all
}

/// Fields that the shape of the kind does not have, and values that it cannot hold.
fn misfits(object: Value) -> Vec<String> {
    let shape = [Code::ReadUnknownField, Code::ReadWrongType, Code::ReadBadQuantity, Code::ValidateDroppedField];
    let findings = create(object);
    findings.iter().filter(|one| shape.contains(&one.code)).map(|one| format!("{} {}", one.code, one.path)).collect()
}

#[test]
fn every_field_of_the_api_has_its_place() {
    for (name, value) in fixtures() {
        assert_eq!(misfits(value), [""; 0], "{name}");
    }
}

#[test]
fn versions_convert_there_and_back_without_loss() {
    for (name, value) in fixtures() {
        let (group, version) = value["apiVersion"].as_str().unwrap().split_once('/').unwrap();
        let others: &[&str] = match (group, value["kind"].as_str().unwrap()) {
            ("resource.k8s.io", "DeviceTaintRule") => &["v1", "v1beta2", "v1alpha3"],
            ("resource.k8s.io", "ResourcePoolStatusRequest") => &["v1alpha3"],
            ("resource.k8s.io", _) => &["v1", "v1beta2", "v1beta1"],
            ("scheduling.k8s.io", "CompositePodGroup") => continue,
            _ => &["v1beta1", "v1alpha3", "v1alpha2"],
        };
        for other in others {
            let there = convert(value.clone(), other).unwrap();
            let back = convert(there, version).unwrap();
            assert_eq!(back, value, "{name} through {other}");
        }
    }
}

/// A populated object as the generated type writes it: nothing of it is unknown to us.
fn is_known<T: Serialize + DeserializeOwned>(object: Value) {
    let typed: T = serde_json::from_value(object).unwrap();
    assert_eq!(misfits(serde_json::to_value(&typed).unwrap()), [""; 0]);
}

#[test]
fn objects_of_the_generated_types_fit() {
    let mut count = 0;
    for (_, value) in fixtures() {
        let api_version = value["apiVersion"].as_str().unwrap().to_owned();
        let kind = value["kind"].as_str().unwrap().to_owned();
        match (api_version.as_str(), kind.as_str()) {
            ("resource.k8s.io/v1", "ResourceClaim") => is_known::<resource::v1::ResourceClaim>(value),
            ("resource.k8s.io/v1", "ResourceClaimTemplate") => is_known::<resource::v1::ResourceClaimTemplate>(value),
            ("resource.k8s.io/v1", "DeviceClass") => is_known::<resource::v1::DeviceClass>(value),
            ("resource.k8s.io/v1", "ResourceSlice") => is_known::<resource::v1::ResourceSlice>(value),
            ("resource.k8s.io/v1", "DeviceTaintRule") => is_known::<resource::v1::DeviceTaintRule>(value),
            ("resource.k8s.io/v1beta1", "ResourceClaim") => is_known::<resource::v1beta1::ResourceClaim>(value),
            ("resource.k8s.io/v1beta1", "ResourceSlice") => is_known::<resource::v1beta1::ResourceSlice>(value),
            ("resource.k8s.io/v1beta2", "DeviceTaintRule") => is_known::<resource::v1beta2::DeviceTaintRule>(value),
            ("resource.k8s.io/v1alpha3", "ResourcePoolStatusRequest") => {
                is_known::<resource::v1alpha3::ResourcePoolStatusRequest>(value);
            }
            ("scheduling.k8s.io/v1alpha3", "PodGroup") => is_known::<scheduling::v1alpha3::PodGroup>(value),
            ("scheduling.k8s.io/v1alpha3", "Workload") => is_known::<scheduling::v1alpha3::Workload>(value),
            ("scheduling.k8s.io/v1alpha3", "CompositePodGroup") => {
                is_known::<scheduling::v1alpha3::CompositePodGroup>(value);
            }
            ("scheduling.k8s.io/v1beta1", "PodGroup") => is_known::<scheduling::v1beta1::PodGroup>(value),
            ("scheduling.k8s.io/v1beta1", "Workload") => is_known::<scheduling::v1beta1::Workload>(value),
            _ => continue,
        }
        count += 1;
    }
    println!("{count} objects of generated types");
}

/// Every field that a Pod of the newest API can have is known by name.
#[test]
fn pods_of_the_generated_type_fit() {
    let container = core::v1::Container { name: "c".to_owned(), ..Default::default() };
    let mut container = serde_json::to_value(container).unwrap();
    for name in ["args", "command", "env", "envFrom", "ports", "volumeMounts", "resizePolicy"] {
        container[name] = json!([]);
    }
    container["resources"] = json!({ "claims": [{ "name": "a", "request": "r" }], "limits": { "cpu": "1" } });
    let spec = json!({
        "containers": [container.clone()], "initContainers": [container], "hostUsers": false, "os": { "name": "linux" },
        "resourceClaims": [{ "name": "a", "resourceClaimName": "c" }], "schedulingGroup": { "podGroupName": "g" },
        "resources": { "requests": { "cpu": "1" } }, "tolerations": [], "affinity": {}, "volumes": [],
    });
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "n" }, "spec": spec });
    is_known::<core::v1::Pod>(pod);
}

#[test]
fn only_one_slip_of_the_finger_is_certain() {
    let fix = |field: &str, others: Value| {
        let mut exactly = others;
        exactly[field] = json!(1);
        let devices = json!({ "requests": [{ "name": "r", "exactly": exactly }] });
        let claim = json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c", "namespace": "n" },
            "spec": { "devices": devices },
        });
        let unknown = create(claim).into_iter().find(|one| one.code == Code::ReadUnknownField).unwrap();
        unknown.hint.map(|_| unknown.fix)
    };
    let renamed = |name: &str| Some(Some(Fix::Rename(name.to_owned())));
    assert_eq!(fix("cuont", json!({})), renamed("count"));
    assert_eq!(fix("Count", json!({})), renamed("count"));
    assert_eq!(fix("deviceClasName", json!({})), renamed("deviceClassName"));
    assert_eq!(fix("deviceClass", json!({})), Some(None));
    assert_eq!(fix("replicas", json!({})), None);
    assert_eq!(fix("cuont", json!({ "count": 1 })), None);
}

#[test]
fn times_are_rfc_3339() {
    let is_time = |time: &str| {
        let metadata = json!({ "name": "c", "namespace": "n", "creationTimestamp": time });
        let claim = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata });
        !create(claim).iter().any(|one| one.code == Code::ReadWrongType)
    };
    for good in ["2026-01-31T12:00:00Z", "2024-02-29T23:59:59.123456+02:00"] {
        assert!(is_time(good), "{good}");
    }
    for bad in
        ["2026-02-29T12:00:00Z", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31T12:00:00Zx", "2026-01-31 12:00:00Z"]
    {
        assert!(!is_time(bad), "{bad}");
    }
}
