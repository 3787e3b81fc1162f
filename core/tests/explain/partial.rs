//! Parts of a real cluster: what is not given or was refused does not become a fact.

use apportion_core::ask::{Bounds, Devices, Difference, Eviction, Fit, Usage};
use apportion_core::finding::{Finding, ObjectRef};
use serde_json::{Value, json};

use super::questions::{ask, of};

const DRIVER: &str = "gpu.example.com";

/// A cluster with two devices, one of which a Pod uses.
fn cluster() -> Vec<Value> {
    let named =
        |namespace: &str, name: &str| json!({ "namespace": namespace, "name": name, "uid": format!("real-{name}") });
    let device = json!({ "request": "gpu", "driver": DRIVER, "pool": "a", "device": "gpu-0" });
    let users = json!([{ "resource": "pods", "name": "p", "uid": "real-p" }]);
    let exact = json!([{ "name": "gpu", "exactly": { "deviceClassName": "gpu" } }]);
    vec![
        json!({ "apiVersion": "v1", "kind": "Node", "metadata": named("", "a") }),
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": named("", "gpu"), "spec": {} }),
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": named("", "slice"),
            "spec": {
                "driver": DRIVER, "nodeName": "a", "pool": { "name": "a", "generation": 1, "resourceSliceCount": 1 },
                "devices": [{ "name": "gpu-0" }, { "name": "gpu-1" }],
            },
        }),
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": named("ml", "c"),
            "spec": { "devices": { "requests": exact } },
            "status": { "allocation": { "devices": { "results": [device] } }, "reservedFor": users },
        }),
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": named("ml", "p"),
            "spec": { "nodeName": "a", "containers": [{ "name": "c", "image": "x" }], "resourceClaims": [{ "name": "gpu", "resourceClaimName": "c" }] },
            "status": { "phase": "Running" },
        }),
    ]
}

/// The cluster, where the claim was made from a template.
fn with_template() -> Vec<Value> {
    let mut objects = cluster();
    let template = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
        "metadata": { "namespace": "ml", "name": "t", "uid": "real-t" }, "spec": { "spec": objects[3]["spec"] },
    });
    objects[4]["spec"]["resourceClaims"] = json!([{ "name": "gpu", "resourceClaimTemplateName": "t" }]);
    objects[4]["status"]["resourceClaimStatuses"] = json!([{ "name": "gpu", "resourceClaimName": "c" }]);
    objects[3]["metadata"]["annotations"] = json!({ "resource.kubernetes.io/pod-claim-name": "gpu" });
    let owner = json!({ "apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "real-p", "controller": true });
    objects[3]["metadata"]["ownerReferences"] = json!([owner]);
    objects.push(template);
    objects
}

/// The cluster without objects of some kinds.
fn without(kinds: &[&str]) -> Vec<Value> {
    let mut objects = cluster();
    objects.retain(|object| !kinds.contains(&object["kind"].as_str().unwrap()));
    objects
}

/// The cluster with an object of a kind that cannot be read.
fn with_unreadable(kind: &str) -> Vec<Value> {
    unreadable(cluster(), kind)
}

fn unreadable(mut objects: Vec<Value>, kind: &str) -> Vec<Value> {
    let broken = objects.iter_mut().find(|object| object["kind"] == kind).unwrap();
    match kind {
        "ResourceClaim" => broken["spec"]["devices"]["requests"] = json!("oops"),
        "ResourceSlice" => broken["spec"]["devices"] = json!("oops"),
        "Pod" => broken["spec"]["resourceClaims"] = json!("oops"),
        _ => broken["spec"] = json!("oops"),
    }
    objects
}

fn submitted(objects: &[Value]) -> apportion_core::engine::Engine {
    let mut engine = of(json!({}));
    let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
    engine.submit(texts.iter().map(String::as_str));
    engine
}

#[test]
fn devices_of_claims_that_are_not_known_are_neither_free_nor_used() {
    let alone = without(&["ResourceClaim", "Pod", "Node"]);
    for (objects, unknown) in
        [(cluster(), 0), (without(&["ResourceClaim"]), 2), (with_unreadable("ResourceClaim"), 2), (alone, 2)]
    {
        let engine = submitted(&objects);
        let usage: Usage = ask(&engine, json!({ "kind": "usage" }));
        let known = 2 - unknown;
        let (used, free) = (known / 2, known / 2);
        assert_eq!(usage.devices, Devices { total: 2, used, free, unknown, ..Devices::default() });
        assert!(!usage.is_played);
        let fit: Fit = ask(&engine, json!({ "kind": "fit", "device": { "class": "gpu" } }));
        let at_most = free + unknown;
        assert_eq!(fit.total, Bounds { at_least: free, at_most });
        assert_eq!(fit.rows[0].fits, fit.total);
        assert_eq!(fit.largest[0].devices, fit.total);
    }
}

#[test]
fn a_cluster_without_claims_has_its_devices_free() {
    let mut objects = without(&["ResourceClaim"]);
    objects.last_mut().unwrap()["spec"]["resourceClaims"] = json!([]);
    let usage: Usage = ask(&submitted(&objects), json!({ "kind": "usage" }));
    assert_eq!(usage.devices, Devices { total: 2, free: 2, ..Devices::default() });
}

#[test]
fn slices_alone_are_said_to_lack_what_could_use_them() {
    let remarks: Vec<Finding> =
        ask(&submitted(&without(&["Node", "Pod", "ResourceClaim"])), json!({ "kind": "unmodelled" }));
    let [only] = remarks.as_slice() else { panic!("{remarks:?}") };
    assert_eq!(only.message, "the dump holds no `Node`, `Pod`, `ResourceClaim`, so nothing is known about them");
}

#[test]
fn a_dump_of_one_namespace_does_not_say_which_devices_others_hold() {
    let remarks = |objects: &[Value]| -> Vec<String> {
        let found: Vec<Finding> = ask(&submitted(objects), json!({ "kind": "unmodelled" }));
        found.into_iter().map(|remark| remark.message).collect()
    };
    let mut objects = cluster();
    let alone = "the dump holds Pods of namespace `ml` alone; devices that others hold look free";
    assert_eq!(remarks(&objects), [alone]);
    // Its scheduler knew more.
    let refusal = json!({ "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes are available" });
    objects[4]["metadata"]["name"] = json!("q");
    objects[4]["spec"]["nodeName"] = json!("");
    objects[4]["spec"]["resourceClaims"] = json!([]);
    objects[4]["status"] = json!({ "phase": "Pending", "conditions": [refusal] });
    let contradicted = "the scheduler of the cluster found no node for `ml/q`; by what is given there is one";
    assert_eq!(remarks(&objects), [alone, contradicted]);
    let named = json!({ "namespace": "kube-system", "name": "s", "uid": "real-s" });
    objects.push(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": named,
        "spec": { "nodeName": "a", "containers": [{ "name": "c", "image": "x" }] },
    }));
    assert_eq!(remarks(&objects), [contradicted]);
}

#[test]
fn who_would_have_to_go_is_not_known_without_the_claims() {
    let taint = |effect: &str| json!([{ "devices": DRIVER, "taint": format!("broken:{effect}") }]);
    for (objects, unknown) in [
        (cluster(), false),
        (without(&["ResourceClaim"]), true),
        (with_unreadable("ResourceClaim"), true),
        (unreadable(with_template(), "ResourceClaim"), true),
    ] {
        let engine = submitted(&objects);
        let evictions: Vec<Eviction> = ask(&engine, json!({ "kind": "evictions", "taints": taint("NoExecute") }));
        let [only] = evictions.as_slice() else { panic!("{evictions:?}") };
        assert_eq!((&*only.pod, only.unknown, &*only.claims), ("ml/p", unknown, &["ml/c".to_owned()][..]));
        let evictions: Vec<Eviction> = ask(&engine, json!({ "kind": "evictions", "taints": taint("NoSchedule") }));
        assert_eq!(evictions, []);
    }
}

/// A dump of some Pods of a namespace: who is not in it may still run.
#[test]
fn a_claim_that_is_reserved_for_a_pod_that_is_not_given_is_not_free() {
    let mut objects = cluster();
    objects[4]["metadata"]["name"] = json!("other");
    objects[4]["spec"]["resourceClaims"] = json!([]);
    objects[2]["spec"]["devices"] = json!([{ "name": "gpu-0" }]);
    let mut mine = objects[3].clone();
    mine["metadata"]["name"] = json!("mine");
    mine["status"] = json!({});
    let waiting = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "namespace": "ml", "name": "waits", "uid": "real-waits" },
        "spec": { "containers": [{ "name": "c", "image": "x" }], "resourceClaims": [{ "name": "gpu", "resourceClaimName": "mine" }] },
        "status": { "phase": "Pending" },
    });
    objects.extend([mine, waiting]);
    let mut engine = submitted(&objects);
    let answer = engine.inquire(json!({ "kind": "explain", "suggestions": true })).unwrap();
    let waits = answer.as_array().unwrap().iter().find(|one| one["subject"]["name"] == "waits").unwrap();
    assert_eq!((&waits["state"], &waits["requests"][0]["usable"]), (&json!("noDevices"), &json!(0)), "{waits}");
    // Whoever deletes a consumer is told which one.
    for suggestion in waits["suggestions"].as_array().unwrap() {
        for change in suggestion["changes"].as_array().unwrap().iter().filter(|change| change["kind"] == "freeClaim") {
            assert_ne!(change["consumers"], json!([]), "{suggestion}");
        }
    }
    let report = engine.run();
    assert_eq!(report.pods.iter().find(|pod| pod.name == "waits").unwrap().node, None);
}

#[test]
fn what_one_of_two_clusters_does_not_know_is_not_gone() {
    for kind in ["Node", "ResourceSlice", "Pod", "ResourceClaim"] {
        let name = match kind {
            "Node" => "a",
            "ResourceSlice" => "slice",
            "Pod" => "p",
            _ => "c",
        };
        let namespace = if matches!(kind, "Pod" | "ResourceClaim") { "ml" } else { "" };
        let lacking = (without(&[kind]), ObjectRef::new(kind, "", ""));
        let refused = (with_unreadable(kind), ObjectRef::new(kind, namespace, name));
        for (other, unknown) in [lacking, refused] {
            for (before, after) in [(cluster(), other.clone()), (other, cluster())] {
                let found: Difference = ask(&submitted(&before), json!({ "kind": "compare", "objects": after }));
                assert_eq!(found.unknown, std::slice::from_ref(&unknown));
                let devices = [found.devices_added, found.devices_removed].concat();
                assert_eq!((devices, found.devices_lost), (vec![], vec![]), "{kind}");
                assert_eq!([found.nodes_added, found.nodes_removed].concat(), [""; 0], "{kind}");
                assert_eq!((found.pods, found.claims), (vec![], vec![]), "{kind}");
            }
        }
    }
    let both: Difference =
        ask(&submitted(&with_unreadable("Pod")), json!({ "kind": "compare", "objects": with_unreadable("Pod") }));
    assert_eq!((both.unknown, both.before == both.after), (vec![], true));
    let generated = unreadable(with_template(), "ResourceClaim");
    let found: Difference = ask(&submitted(&with_template()), json!({ "kind": "compare", "objects": generated }));
    assert_eq!(found.claims, []);
    let mut smaller = cluster();
    smaller[2]["spec"]["devices"] = json!([{ "name": "gpu-0" }]);
    let found: Difference = ask(&submitted(&cluster()), json!({ "kind": "compare", "objects": smaller }));
    assert_eq!((found.devices_removed.len(), found.unknown), (1, vec![]));
}

#[test]
fn nodes_with_taints_and_devices_without_slices_are_named() {
    let mut objects = cluster();
    objects[0]["spec"] = json!({ "taints": [{ "key": "gpu", "value": "yes", "effect": "NoSchedule" }] });
    objects[3]["status"]["allocation"]["devices"]["results"][0]["device"] = json!("gpu-9");
    let engine = submitted(&objects);
    let usage: Usage = ask(&engine, json!({ "kind": "usage" }));
    let fit: Fit = ask(&engine, json!({ "kind": "fit", "device": { "class": "gpu" } }));
    for taints in [usage.node_taints, fit.node_taints] {
        let [only] = taints.as_slice() else { panic!("{taints:?}") };
        assert_eq!((&*only.taint, &*only.nodes), ("gpu=yes:NoSchedule", &["a".to_owned()][..]));
    }
    let unpublished: Vec<&str> = usage.unpublished.iter().map(|device| device.device.as_str()).collect();
    assert_eq!((usage.devices.used, unpublished), (0, vec!["gpu-9"]));
}
