//! Objects in other versions, and in the namespace that kubectl gives them.

use apportion_core::validate::{convert, in_default_namespace};
use serde_json::{Value, json};

fn object(api_version: &str, kind: &str, spec: Value) -> Value {
    json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": "o" }, "spec": spec })
}

#[test]
fn every_spelling_of_a_group_becomes_the_newest() {
    let newest =
        json!({ "workloadRef": { "workloadName": "w", "templateName": "t" }, "schedulingPolicy": { "basic": {} } });
    for (version, spec) in [
        (
            "v1alpha1",
            json!({ "workloadRef": { "name": "w" }, "podGroupTemplateRef": { "name": "t" }, "policy": { "basic": {} } }),
        ),
        (
            "v1alpha2",
            json!({ "podGroupTemplateRef": { "workloadName": "w", "podGroupTemplateName": "t" }, "schedulingPolicy": { "basic": {} } }),
        ),
        (
            "v1alpha2",
            json!({ "podGroupTemplateRef": { "workload": { "workloadName": "w", "podGroupTemplateName": "t" } }, "schedulingPolicy": { "basic": {} } }),
        ),
    ] {
        let group = object(&format!("scheduling.k8s.io/{version}"), "PodGroup", spec);
        let raised = convert(group.clone(), "v1beta1").unwrap();
        assert_eq!(raised["spec"], newest);
        let back = convert(raised, version).unwrap();
        assert_eq!(convert(back, "v1beta1").unwrap()["spec"], newest);
    }
}

#[test]
fn the_source_of_pod_claims_goes() {
    let pod =
        object("v1", "Pod", json!({ "resourceClaims": [{ "name": "a", "source": { "resourceClaimName": "c" } }] }));
    let converted = convert(pod, "v1").unwrap();
    assert_eq!(converted["spec"]["resourceClaims"], json!([{ "name": "a", "resourceClaimName": "c" }]));
}

#[test]
fn there_is_no_way_to_a_version_that_never_was() {
    assert!(convert(object("resource.k8s.io/v1beta1", "ResourceClaim", json!({})), "v2").is_err());
    assert!(convert(object("v1", "Pod", json!({})), "v2").is_err());
}

#[test]
fn only_namespaced_objects_go_to_the_default_namespace() {
    let namespace = |api_version: &str, kind: &str, written: Value| {
        let object = json!({ "apiVersion": api_version, "kind": kind, "metadata": { "namespace": written } });
        in_default_namespace(object).pointer("/metadata/namespace").cloned()
    };
    assert_eq!(namespace("v1", "Pod", Value::Null), Some(json!("default")));
    assert_eq!(namespace("v1", "Pod", json!("ml")), Some(json!("ml")));
    assert_eq!(namespace("resource.k8s.io/v1", "ResourceClaim", json!("")), Some(json!("default")));
    assert_eq!(namespace("resource.k8s.io/v1", "DeviceClass", Value::Null), Some(Value::Null));
    assert_eq!(in_default_namespace(json!([])), json!([]));
}

#[test]
fn there_and_back_loses_nothing() {
    let claim = json!({ "apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim", "spec": { "devices": { "requests": [
        { "name": "a", "deviceClassName": "c", "count": 2, "selectors": [] },
        { "name": "b", "firstAvailable": [{ "name": "x", "deviceClassName": "c" }] },
    ] } } });
    let raised = convert(claim.clone(), "v1").unwrap();
    assert_eq!(raised["spec"]["devices"]["requests"][0]["exactly"]["count"], 2);
    assert_eq!(convert(raised, "v1beta1").unwrap(), claim);
    let slice = json!({ "apiVersion": "resource.k8s.io/v1alpha3", "kind": "ResourceSlice", "spec": { "devices": [
        { "name": "d", "basic": { "capacity": { "m": "1Gi" }, "attributes": { "a": { "int": 1 } } } },
        { "name": "bare" },
    ] } });
    let raised = convert(slice.clone(), "v1").unwrap();
    assert_eq!(raised["spec"]["devices"][0]["capacity"]["m"]["value"], "1Gi");
    assert_eq!(convert(raised, "v1alpha3").unwrap(), slice);
}
