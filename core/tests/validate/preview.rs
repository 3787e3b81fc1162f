//! What the preview of 1.38 changes. Its answers are those of the storage strategies in the source of 1.38.0-beta.0.

use apportion_core::finding::{Code, ErrorKind, Finding};
use apportion_core::profile::{Profile, Version};
use apportion_core::validate::{Operation, Submission, validate};
use serde_json::{Value, json};

use crate::{create_in, update};

/// A release and the preview, with the kinds of groups on.
fn profiles() -> [Profile; 2] {
    [Version::V1_37, Version::V1_38].map(|version| {
        let mut profile = Profile::of(version);
        for gate in ["GenericWorkload", "CompositePodGroup", "PodGroupPreemptionPolicy"] {
            assert!(profile.features.set(gate, true));
        }
        profile
    })
}

fn object(api_version: &str, kind: &str, spec: Value) -> Value {
    let namespace = if kind == "ResourceSlice" { Value::Null } else { json!("n") };
    json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": { "name": "o", "namespace": namespace, "uid": "u", "resourceVersion": "1" }, "spec": spec,
    })
}

fn errors(findings: &[Finding]) -> Vec<(ErrorKind, String)> {
    findings.iter().filter_map(|finding| Some((finding.kind?, finding.path.as_str().to_owned()))).collect()
}

/// What 1.37 and 1.38 say about the creation of an object.
fn created(object: &Value) -> [Vec<(ErrorKind, String)>; 2] {
    profiles().map(|profile| errors(&validate(Submission::create(object.clone()), &profile)))
}

/// What they say about an update.
fn updated(old: &Value, new: &Value) -> [Vec<(ErrorKind, String)>; 2] {
    profiles().map(|profile| errors(&update(&profile, old.clone(), new.clone())))
}

fn invalid(path: &str) -> (ErrorKind, String) {
    (ErrorKind::Invalid, path.to_owned())
}

#[test]
fn the_first_beta_of_the_resource_group_is_gone() {
    for (kind, spec) in [("DeviceClass", json!({})), ("ResourceClaimTemplate", json!({ "spec": {} }))] {
        let code = |api_version: &str, version| {
            create_in(version, object(api_version, kind, spec.clone())).first().map(|finding| finding.code)
        };
        assert_eq!(code("resource.k8s.io/v1beta1", Version::V1_38), Some(Code::ValidateNotServed));
        for version in [Version::V1_37, Version::All] {
            assert_ne!(code("resource.k8s.io/v1beta1", version), Some(Code::ValidateNotServed));
        }
        assert_ne!(code("resource.k8s.io/v1beta2", Version::V1_38), Some(Code::ValidateNotServed));
    }
}

fn composite(policy: Value, disruption: Value) -> Value {
    let spec = json!({
        "workloadRef": { "workloadName": "w", "templateName": "t" }, "schedulingPolicy": policy, "disruptionMode": disruption,
    });
    object("scheduling.k8s.io/v1beta1", "CompositePodGroup", spec)
}

#[test]
fn composite_groups_are_beta_and_grow() {
    let group = |count: u8| composite(json!({ "gang": { "minGroupCount": count } }), json!({ "single": {} }));
    let [before, after] = profiles().map(|profile| validate(Submission::create(group(2)), &profile));
    assert_eq!(before.first().map(|finding| finding.code), Some(Code::ValidateNotServed));
    assert_eq!(errors(&after), []);
    let alpha = |count| {
        let mut group = group(count);
        group["apiVersion"] = json!("scheduling.k8s.io/v1alpha3");
        group
    };
    assert_eq!(updated(&alpha(2), &alpha(3)), [vec![invalid("spec.schedulingPolicy")], vec![]]);
    assert_eq!(
        updated(&alpha(2), &alpha(0))[1],
        [(ErrorKind::Required, "spec.schedulingPolicy.gang.minGroupCount".to_owned())]
    );
}

#[test]
fn only_gangs_are_disrupted_as_a_whole() {
    let group = |policy| {
        let spec = json!({ "schedulingPolicy": policy, "disruptionMode": { "all": {} } });
        object("scheduling.k8s.io/v1beta1", "PodGroup", spec)
    };
    assert_eq!(created(&group(json!({ "basic": {} }))), [vec![], vec![invalid("spec.disruptionMode")]]);
    assert_eq!(created(&group(json!({ "gang": { "minCount": 2 } }))), [[], []]);
    let stored = group(json!({ "basic": {} }));
    assert_eq!(updated(&stored, &stored), [[], []]);
    assert_eq!(created(&composite(json!({ "basic": {} }), json!({ "all": {} })))[1], [invalid("spec.disruptionMode")]);
}

/// A Workload with one composite template, whose child is this.
fn workload(child: Value) -> Value {
    let mut child = child;
    child["name"] = json!("child");
    let template = json!({
        "name": "parent", "schedulingPolicy": { "gang": { "minGroupCount": 1 } }, "disruptionMode": { "all": {} },
        "preemptionPolicy": "Never", "podGroupTemplates": [child],
    });
    object("scheduling.k8s.io/v1beta1", "Workload", json!({ "compositePodGroupTemplates": [template] }))
}

#[test]
fn templates_below_agree_with_those_above() {
    let gang = json!({ "gang": { "minCount": 1 } });
    let fine = json!({ "schedulingPolicy": gang, "disruptionMode": { "all": {} }, "preemptionPolicy": "Never" });
    let [_, after] = created(&workload(fine));
    assert_eq!(after, []);
    let child = "spec.compositePodGroupTemplates[0].podGroupTemplates[0]";
    let basic =
        json!({ "schedulingPolicy": { "basic": {} }, "disruptionMode": { "single": {} }, "preemptionPolicy": "Never" });
    let [before, after] = created(&workload(basic));
    assert_eq!(before, []);
    assert_eq!(after, [invalid(&format!("{child}.schedulingPolicy")), invalid(&format!("{child}.disruptionMode"))]);
    let other = json!({ "schedulingPolicy": gang, "disruptionMode": { "all": {} }, "preemptionPolicy": "PreemptLowerPriority" });
    let [before, after] = created(&workload(other.clone()));
    assert_eq!((before, after), (vec![], vec![invalid("spec")]));
    // What is stored stays.
    assert_eq!(updated(&workload(other.clone()), &workload(other)), [[], []]);
}

#[test]
fn priorities_of_groups_have_no_limit() {
    let spec = json!({ "schedulingPolicy": { "basic": {} }, "priority": 1_000_000_001 });
    let group = object("scheduling.k8s.io/v1beta1", "PodGroup", spec);
    assert_eq!(created(&group), [vec![invalid("spec.priority")], vec![]]);
}

fn claim(requests: Value) -> Value {
    let exactly = json!({ "deviceClassName": "c", "capacity": { "requests": requests } });
    object(
        "resource.k8s.io/v1",
        "ResourceClaim",
        json!({ "devices": { "requests": [{ "name": "r", "exactly": exactly }] } }),
    )
}

#[test]
fn amounts_of_capacity_are_looked_at() {
    let at = "spec.devices.requests[0].exactly.capacity.requests";
    assert_eq!(created(&claim(json!({ "memory": "1Gi", "d.io/memory": "0" }))), [[], []]);
    assert_eq!(created(&claim(json!({ "not a name": "1" }))), [vec![], vec![invalid(at)]]);
    assert_eq!(created(&claim(json!({ "memory": "-1" }))), [vec![], vec![invalid(&format!("{at}[memory]"))]]);
    let many: serde_json::Map<String, Value> = (0..33).map(|index| (format!("m{index}"), json!("1"))).collect();
    assert_eq!(created(&claim(json!(many))), [vec![], vec![(ErrorKind::TooMany, at.to_owned())]]);
    // A stored template may have other things changed.
    let spec = claim(json!({ "memory": "-1" }))["spec"].clone();
    let template = |label: &str| {
        let mut template = object("resource.k8s.io/v1", "ResourceClaimTemplate", json!({ "spec": spec }));
        template["metadata"]["labels"] = json!({ "l": label });
        template
    };
    assert_eq!(updated(&template("a"), &template("b")), [[], []]);
}

#[test]
fn amounts_that_are_held_are_looked_at() {
    let claim = |allocation: Value| {
        let mut claim = claim(json!({}));
        claim["status"] = json!({ "allocation": allocation });
        claim
    };
    let result =
        json!({ "request": "r", "driver": "d.io", "pool": "p", "device": "d", "consumedCapacity": { "memory": "-1" } });
    let allocated = claim(json!({ "devices": { "results": [result] } }));
    let found = profiles().map(|profile| {
        let submission = Submission {
            object: allocated.clone(),
            old: Some(claim(Value::Null)),
            operation: Operation::StatusUpdate,
            ..Submission::default()
        };
        errors(&validate(submission, &profile))
            .into_iter()
            .filter(|(kind, _)| *kind == ErrorKind::Invalid)
            .collect::<Vec<_>>()
    });
    assert_eq!(found, [vec![], vec![invalid("status.allocation.devices.results[0].consumedCapacity[memory]")]]);
}

fn slice(devices: Value, per_device: bool) -> Value {
    let (node, per_device) = if per_device { (Value::Null, json!(true)) } else { (json!("n"), Value::Null) };
    let spec = json!({
        "driver": "d.io", "pool": { "name": "p", "resourceSliceCount": 1 }, "nodeName": node, "perDeviceNodeSelection": per_device,
        "devices": devices,
    });
    object("resource.k8s.io/v1", "ResourceSlice", spec)
}

#[test]
fn a_device_has_one_node_selector_term() {
    let term = json!({ "matchExpressions": [{ "key": "k", "operator": "Exists" }] });
    let device = json!({ "name": "d", "nodeSelector": { "nodeSelectorTerms": [term, term] } });
    let wanted = invalid("spec.devices[0].nodeSelector.nodeSelectorTerms");
    assert_eq!(created(&slice(json!([device]), true)), [vec![], vec![wanted]]);
}

/// Devices are stored with what no release accepts today; 1.37 forgives each capacity alone, 1.38 the list as a whole.
#[test]
fn stored_devices_are_forgiven_together() {
    let bad = json!({ "name": "a", "capacity": { "not a name": { "value": "1" } } });
    let wrong = json!({ "name": "b", "attributes": { "not a name": { "int": 1 } } });
    let devices = |extra: Option<&str>| {
        let extra = extra.map(|name| json!({ "name": name }));
        json!([bad.clone(), wrong.clone()].into_iter().chain(extra).collect::<Vec<_>>())
    };
    let stored = slice(devices(None), false);
    let mut newer = stored.clone();
    newer["spec"]["pool"]["generation"] = json!(2);
    assert_eq!(updated(&stored, &newer), [vec![invalid("spec.devices[1].attributes")], vec![]]);
    let (attributes, capacity) = (invalid("spec.devices[1].attributes"), invalid("spec.devices[0].capacity"));
    let [before, mut after] = updated(&stored, &slice(devices(Some("c")), false));
    assert_eq!(after, [capacity, attributes]);
    assert_eq!(before, after.split_off(1));
}

#[test]
fn the_claim_of_extended_resources_maps_to_resources_of_the_node() {
    let container = json!({ "name": "c", "image": "i", "resources": { "requests": { "d.io/gpu": "1" }, "limits": { "d.io/gpu": "1" } } });
    let mut pod = object("v1", "Pod", json!({ "containers": [container] }));
    let old = pod.clone();
    pod["status"] = json!({
        "extendedResourceClaimStatus": {
            "resourceClaimName": "x", "requestMappings": [{ "containerName": "c", "resourceName": "d.io/gpu", "requestName": "r" }],
        },
        "nodeAllocatableResourceClaimStatuses": [{
            "resourceClaimName": "x", "containers": ["c"], "mapping": [{ "name": "cpu", "quantity": "1" }],
        }],
    });
    let found = profiles().map(|mut profile| {
        assert!(profile.features.set("DRANodeAllocatableResources", true));
        let submission = Submission {
            object: pod.clone(),
            old: Some(old.clone()),
            operation: Operation::StatusUpdate,
            ..Submission::default()
        };
        errors(&validate(submission, &profile))
    });
    let at = "status.nodeAllocatableResourceClaimStatuses[0].resourceClaimName";
    assert_eq!(found, [vec![invalid(at)], vec![]]);
}
