//! Requirements of the proposals about the shape of objects; names of tests carry their ids.

use apportion_core::finding::{Code, ErrorKind, Finding};
use apportion_core::profile::{Profile, Version};
use apportion_core::validate::{Operation, Submission, validate};
use serde_json::{Value, json};

use crate::{brief, create, create_in, update};

fn object(api_version: &str, kind: &str, spec: Value) -> Value {
    json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": { "name": "o", "namespace": "n", "uid": "u", "resourceVersion": "1" }, "spec": spec,
    })
}

/// The same of a kind that lives in no namespace.
fn wide(api_version: &str, kind: &str, spec: Value) -> Value {
    let mut object = object(api_version, kind, spec);
    object["metadata"].as_object_mut().unwrap().remove("namespace");
    object
}

fn group(entries: Value) -> Value {
    object(
        "scheduling.k8s.io/v1alpha2",
        "PodGroup",
        json!({ "schedulingPolicy": { "basic": {} }, "resourceClaims": entries }),
    )
}

fn workload(entries: Value) -> Value {
    let template = json!({ "name": "t", "schedulingPolicy": { "basic": {} }, "resourceClaims": entries });
    object("scheduling.k8s.io/v1alpha2", "Workload", json!({ "podGroupTemplates": [template] }))
}

fn pod(claims: Value, more: Value) -> Value {
    let mut spec = json!({ "containers": [{ "name": "c", "image": "i" }], "resourceClaims": claims });
    if let (Some(spec), Some(more)) = (spec.as_object_mut(), more.as_object()) {
        spec.extend(more.clone());
    }
    object("v1", "Pod", spec)
}

fn claim(request: Value) -> Value {
    object("resource.k8s.io/v1", "ResourceClaim", json!({ "devices": { "requests": [request] } }))
}

/// Classes and paths of the API server's errors.
fn errors(findings: &[Finding]) -> Vec<(ErrorKind, &str)> {
    findings.iter().filter_map(|finding| Some((finding.kind?, finding.path.as_str()))).collect()
}

fn is_refused(findings: &[Finding]) -> bool {
    !errors(findings).is_empty()
}

fn without(gates: &[&str]) -> Profile {
    let mut profile = Profile::default();
    gates.iter().for_each(|gate| assert!(profile.features.set(gate, false)));
    profile
}

/// r_008 r_024: claims stand in the templates of a Workload, not in the Workload.
#[test]
fn r_024_workloads_have_claims_in_their_templates() {
    let entry = json!([{ "name": "a", "resourceClaimTemplateName": "t" }]);
    assert_eq!(errors(&create(workload(entry.clone()))), []);
    let mut direct = workload(json!([]));
    direct["spec"]["resourceClaims"] = entry;
    assert!(!create(direct).is_empty());
}

/// r_025 r_028 r_029 r_217 r_223: the entries of both lists.
#[test]
fn r_029_entries_have_a_name_and_one_source() {
    for make in [group, workload] {
        for (entries, is_good) in [
            (json!([{ "name": "a", "resourceClaimTemplateName": "t" }]), true),
            (json!([{ "name": "a", "resourceClaimName": "c" }]), true),
            (json!([{ "name": "a", "clusterResourceClaimTemplateName": "t" }]), true),
            (json!([{ "name": "a" }]), false),
            (json!([{ "name": "a", "resourceClaimName": "c", "resourceClaimTemplateName": "t" }]), false),
            (json!([{ "name": "a", "resourceClaimName": "c", "clusterResourceClaimTemplateName": "t" }]), false),
            (json!([{ "resourceClaimName": "c" }]), false),
            (json!([{ "name": "A_b", "resourceClaimName": "c" }]), false),
            (json!([{ "name": "a", "resourceClaimName": "c" }, { "name": "a", "resourceClaimName": "d" }]), false),
        ] {
            let found = create(make(entries.clone()));
            assert_eq!(is_refused(&found), !is_good, "{entries} {found:?}");
        }
    }
}

/// r_026: neither list can be changed.
#[test]
fn r_026_claims_of_groups_and_workloads_are_immutable() {
    let (one, other) =
        (json!([{ "name": "a", "resourceClaimName": "c" }]), json!([{ "name": "a", "resourceClaimName": "d" }]));
    for make in [group, workload] {
        assert!(is_refused(&update(&Profile::default(), make(one.clone()), make(other.clone()))));
        assert!(!is_refused(&update(&Profile::default(), make(one.clone()), make(one.clone()))));
    }
}

/// r_036 r_037 r_216 r_226: one of the sources, the proposed ones included.
#[test]
fn r_216_claims_of_pods_have_one_source() {
    let sources =
        ["resourceClaimName", "resourceClaimTemplateName", "podGroupResourceClaim", "clusterResourceClaimTemplateName"];
    let grouped = json!({ "schedulingGroup": { "podGroupName": "g" } });
    for one in sources {
        let entry = |others: &[&str]| {
            let mut entry = json!({ "name": "a", one: "x" });
            others.iter().for_each(|other| entry[*other] = json!("y"));
            pod(json!([entry]), grouped.clone())
        };
        assert!(!is_refused(&create(entry(&[]))), "{one}");
        for other in sources.into_iter().filter(|other| *other != one) {
            assert!(is_refused(&create(entry(&[other]))), "{one} and {other}");
        }
    }
    assert!(is_refused(&create(pod(json!([{ "name": "a" }]), grouped))));
}

/// r_135: eight templates at most, unique names, immutable.
#[test]
fn r_135_templates_of_a_workload() {
    let with = |names: &[String]| {
        let templates: Vec<Value> =
            names.iter().map(|name| json!({ "name": name, "schedulingPolicy": { "basic": {} } })).collect();
        object("scheduling.k8s.io/v1alpha2", "Workload", json!({ "podGroupTemplates": templates }))
    };
    let names = |count: usize| (0..count).map(|number| format!("t-{number}")).collect::<Vec<_>>();
    assert!(!is_refused(&create(with(&names(8)))));
    assert!(is_refused(&create(with(&names(9)))));
    assert!(is_refused(&create(with(&["t".to_owned(), "t".to_owned()]))));
    assert!(is_refused(&update(&Profile::default(), with(&names(2)), with(&names(3)))));
}

/// r_137: a Pod's group has one member and cannot be changed.
#[test]
fn r_137_the_group_of_a_pod_is_immutable() {
    let of = |name: &str| pod(json!([]), json!({ "schedulingGroup": { "podGroupName": name } }));
    assert!(!is_refused(&create(of("g"))));
    assert!(is_refused(&create(pod(json!([]), json!({ "schedulingGroup": {} })))));
    assert!(is_refused(&update(&Profile::default(), of("g"), of("h"))));
}

/// r_142: a PodGroup's name is a DNS subdomain.
#[test]
fn r_142_names_of_pod_groups() {
    for (name, is_good) in [("a.b-c", true), ("A", false), ("a_b", false), ("-a", false)] {
        let mut named = group(json!([]));
        named["metadata"]["name"] = json!(name);
        assert_eq!(is_refused(&create(named)), !is_good, "{name}");
    }
}

/// r_211 r_213: cluster-scoped; the claim's metadata may say labels and annotations.
#[test]
fn r_213_cluster_wide_templates_say_labels_and_annotations() {
    let with = |metadata: Value| {
        let spec = json!({ "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": "c" } }] } });
        wide("resource.k8s.io/v1", "ClusterResourceClaimTemplate", json!({ "metadata": metadata, "spec": spec }))
    };
    assert!(!is_refused(&create(with(json!({ "labels": { "a": "b" }, "annotations": { "c": "d" } })))));
    assert!(is_refused(&create(with(json!({ "name": "x" })))));
    assert!(is_refused(&create(with(json!({ "finalizers": ["example.com/x"] })))));
}

/// r_212: the spec cannot be changed.
#[test]
fn r_212_cluster_wide_templates_are_immutable() {
    let with = |class: &str| {
        let spec = json!({ "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": class } }] } });
        wide("resource.k8s.io/v1", "ClusterResourceClaimTemplate", json!({ "spec": spec }))
    };
    assert!(is_refused(&update(&Profile::default(), with("c"), with("d"))));
    assert!(!is_refused(&update(&Profile::default(), with("c"), with("c"))));
}

/// r_182: with the gate off a new Pod loses its group, one that has it keeps it.
#[test]
fn r_182_the_group_is_dropped_unless_it_is_in_use() {
    let off = without(&["GenericWorkload"]);
    let of = |name: &str| pod(json!([]), json!({ "schedulingGroup": { "podGroupName": name } }));
    let found = validate(Submission::create(of("g")), &off);
    assert_eq!(brief(&found), [(Code::ValidateDroppedField, "spec.schedulingGroup")]);
    assert_eq!(brief(&update(&off, of("g"), of("g"))), []);
}

/// r_236: with the gate off an object that has the field cannot be updated at all.
#[test]
fn r_236_an_object_with_the_field_fails_any_update() {
    let off = without(&["ClusterResourceClaimTemplates"]);
    let entry = || json!([{ "name": "a", "clusterResourceClaimTemplateName": "t" }]);
    let mut labelled = pod(entry(), json!({}));
    labelled["metadata"]["labels"] = json!({ "a": "b" });
    assert!(is_refused(&update(&off, pod(entry(), json!({})), labelled)));
}

/// r_301: the version of taint rules that the page has.
#[test]
fn r_301_taint_rules_are_accepted_in_v1alpha3() {
    let rule = |version: &str| {
        let spec = json!({ "deviceSelector": { "driver": "d.io" }, "taint": { "key": "k", "effect": "NoExecute" } });
        wide(&format!("resource.k8s.io/{version}"), "DeviceTaintRule", spec)
    };
    assert_eq!(brief(&create(rule("v1alpha3"))), []);
}

/// r_313: a slice has a driver, a pool and says which nodes have access.
#[test]
fn r_313_pool_devices_and_node_access_are_mandatory() {
    let whole = json!({
        "driver": "d.io", "nodeName": "n", "devices": [{ "name": "d" }],
        "pool": { "name": "p", "generation": 1, "resourceSliceCount": 1 },
    });
    let slice = |spec: &Value| wide("resource.k8s.io/v1", "ResourceSlice", spec.clone());
    assert_eq!(errors(&create(slice(&whole))), []);
    for field in ["driver", "pool", "nodeName"] {
        let mut less = whole.clone();
        less.as_object_mut().unwrap().remove(field);
        assert!(is_refused(&create(slice(&less))), "{field}");
    }
    let mut both = whole.clone();
    both["allNodes"] = json!(true);
    assert!(is_refused(&create(slice(&both))));
}

/// r_321: without the gate what drivers report is dropped.
#[test]
fn r_321_device_status_is_dropped_without_its_gate() {
    let mut reported = claim(json!({ "name": "r", "exactly": { "deviceClassName": "c" } }));
    reported["status"] = json!({
        "allocation": { "devices": { "results": [{ "request": "r", "driver": "d.io", "pool": "p", "device": "x" }] } },
    });
    let old = reported.clone();
    reported["status"]["devices"] = json!([{ "driver": "d.io", "pool": "p", "device": "x" }]);
    let submission =
        Submission { object: reported, old: Some(old), operation: Operation::StatusUpdate, ..Submission::default() };
    let found = validate(submission.clone(), &without(&["DRAResourceClaimDeviceStatus"]));
    assert!(
        found.iter().any(|finding| finding.code == Code::ValidateDroppedField && finding.path == "status.devices"),
        "{found:?}"
    );
    let found = validate(submission, &Profile::default());
    assert!(found.iter().all(|finding| finding.code != Code::ValidateDroppedField), "{found:?}");
}

/// r_328: without the gate admin access is dropped on creation.
#[test]
fn r_328_admin_access_is_dropped_without_its_gate() {
    let asked = claim(json!({ "name": "r", "exactly": { "deviceClassName": "c", "adminAccess": true } }));
    let found = validate(Submission::create(asked), &without(&["DRAAdminAccess"]));
    assert_eq!(brief(&found), [(Code::ValidateDroppedField, "spec.devices.requests[0].exactly.adminAccess")]);
}

/// r_105: the number of claims of a PodGroup, as it shipped.
#[test]
fn r_105_a_pod_group_has_four_claims_at_most() {
    let with = |count: usize| {
        let entries: Vec<Value> =
            (0..count).map(|number| json!({ "name": format!("a-{number}"), "resourceClaimName": "c" })).collect();
        group(Value::Array(entries))
    };
    assert!(!is_refused(&create(with(4))));
    assert!(is_refused(&create(with(5))));
}

/// r_108: no field beside the reservations says who may use a claim.
#[test]
fn r_108_there_is_no_other_way_to_share_a_claim() {
    for field in ["reservedFor", "reservedForAnyPod"] {
        let mut claim = claim(json!({ "name": "r", "exactly": { "deviceClassName": "c" } }));
        claim["spec"][field] = json!(true);
        let found = create_in(Version::V1_36, claim);
        assert!(found.iter().any(|finding| finding.code == Code::ReadUnknownField), "{found:?}");
    }
}

/// r_136: the field of the first proposal is no field any more.
#[test]
fn r_136_the_old_reference_of_a_pod_is_gone() {
    let old = pod(json!([]), json!({ "workloadRef": { "name": "w", "podGroup": "g" } }));
    assert!(!create_in(Version::V1_36, old).is_empty());
}

/// r_316: attributes below `basic`, as `v1beta1` has them; the page's `boolean` is no key of the API.
#[test]
fn r_316_devices_of_v1beta1_are_basic() {
    let slice = |key: &str| {
        let device =
            json!({ "name": "d", "basic": { "attributes": { "model": { "string": "x" }, "shared": { key: true } } } });
        let pool = json!({ "name": "p", "generation": 1, "resourceSliceCount": 1 });
        let spec = json!({ "driver": "d.io", "nodeName": "n", "pool": pool, "devices": [device] });
        wide("resource.k8s.io/v1beta1", "ResourceSlice", spec)
    };
    assert_eq!(errors(&create_in(Version::V1_34, slice("bool"))), []);
    assert!(!create_in(Version::V1_34, slice("boolean")).is_empty());
}
