//! The manifest that a suggestion for a Pod gives is the one to write: of the Pod, or of what makes it.

use apportion_core::engine::Engine;
use apportion_core::explain::{Change, Explanation, Suggestion};
use apportion_core::finding::ObjectRef;
use apportion_core::wire;
use serde_json::{Value, json};

fn engine(objects: &[Value]) -> Engine {
    let (profile, limits) = wire::settings(json!({})).unwrap();
    let mut engine = Engine::new(profile, limits);
    let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
    engine.apply(texts.iter().map(String::as_str));
    engine
}

fn pending(engine: &Engine) -> Vec<Explanation> {
    serde_json::from_value(engine.inquire(json!({ "kind": "explain", "suggestions": true })).unwrap()).unwrap()
}

fn node(labels: Value, allocatable: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n", "labels": labels },
        "status": { "allocatable": allocatable } })
}

/// The one suggestion for all that is Pending.
fn suggested(objects: &[Value]) -> Suggestion {
    let mut all = pending(&engine(objects));
    all.truncate(1);
    all.pop().unwrap().suggestions.into_iter().next().unwrap()
}

/// Writes the manifest of the first suggestion over what is there: nothing is Pending any more.
fn manifest_helps(objects: &[Value]) -> Value {
    let [manifest] = <[Value; 1]>::try_from(manifests_help(objects)).unwrap();
    manifest
}

/// The same with several manifests.
fn manifests_help(objects: &[Value]) -> Vec<Value> {
    let suggestion = suggested(objects);
    let same = |object: &Value| (object["kind"].clone(), object["metadata"]["name"].clone());
    let written: Vec<_> = suggestion.manifests.iter().map(same).collect();
    let mut changed: Vec<Value> = objects.iter().filter(|object| !written.contains(&same(object))).cloned().collect();
    assert_eq!(changed.len() + written.len(), objects.len(), "{suggestion:?}");
    changed.extend(suggestion.manifests.iter().cloned());
    assert_eq!(pending(&engine(&changed)), [], "{suggestion:?}");
    suggestion.manifests
}

fn pod(spec: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "ml", "uid": "1" }, "spec": spec })
}

#[test]
fn of_a_single_container_less_is_asked_and_the_rest_stays() {
    let node = node(json!({}), json!({ "cpu": "4", "pods": "10" }));
    let container = json!({ "name": "main", "image": "i", "resources": { "requests": { "cpu": "8", "memory": "1" }, "limits": { "cpu": "9" } } });
    let small = json!({ "name": "small", "image": "i", "resources": {} });
    let written = manifest_helps(&[
        self::node(json!({}), json!({ "cpu": "4", "memory": "1Gi", "pods": "10" })),
        pod(json!({ "containers": [small, container] })),
    ]);
    let resources = &written["spec"]["containers"][1]["resources"];
    assert_eq!(*resources, json!({ "requests": { "cpu": "4", "memory": "1" }, "limits": { "cpu": "9" } }));
    assert_eq!(written["spec"]["containers"][1]["image"], "i");
    assert_eq!(written["metadata"], json!({ "name": "p", "namespace": "ml" }));

    // Which of two has to do with less, nobody but the user knows.
    let two = [
        json!({ "name": "a", "resources": { "requests": { "cpu": "4" } } }),
        json!({ "name": "b", "resources": { "requests": { "cpu": "4" } } }),
    ];
    let suggestion = suggested(&[node.clone(), pod(json!({ "containers": two }))]);
    assert!(matches!(suggestion.changes.as_slice(), [Change::LowerResource { .. }]), "{suggestion:?}");
    assert_eq!(suggestion.manifests, Vec::<Value>::new());

    // Overhead is not the container's.
    let overhead = json!({ "overhead": { "cpu": "1" }, "containers": [{ "name": "a", "resources": { "requests": { "cpu": "4" } } }] });
    assert_eq!(suggested(&[node, pod(overhead)]).manifests, Vec::<Value>::new());
}

#[test]
fn the_limit_of_what_is_not_shared_goes_down_with_the_request() {
    let resources = json!({ "limits": { "example.com/card": "4" }, "requests": { "example.com/card": "4" } });
    let written = manifest_helps(&[
        node(json!({}), json!({ "example.com/card": "2", "pods": "10" })),
        pod(json!({ "containers": [{ "name": "main", "image": "i", "resources": resources }] })),
    ]);
    let lower = json!({ "example.com/card": "2" });
    assert_eq!(written["spec"]["containers"][0]["resources"], json!({ "limits": lower, "requests": lower }));
}

#[test]
fn of_the_pods_of_a_workload_the_template_is_written() {
    let spec = json!({ "nodeSelector": { "zone": "a" }, "containers": [{ "name": "main", "image": "i" }] });
    let template = json!({ "metadata": { "labels": { "app": "x" } }, "spec": spec });
    let mut to_end = template.clone();
    to_end["spec"]["restartPolicy"] = json!("Never");
    let selector = json!({ "matchLabels": { "app": "x" } });
    let metadata = |name: &str| json!({ "name": name, "namespace": "ml", "uid": name });
    let workloads = [
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata("d"),
            "spec": { "replicas": 2, "selector": selector, "template": template } }),
        json!({ "apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata("c"),
            "spec": { "schedule": "0 0 * * *", "jobTemplate": { "spec": { "template": to_end } } } }),
        json!({ "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata("j"), "spec": {
            "replicatedJobs": [{ "name": "r", "template": { "spec": { "template": to_end } } }] } }),
    ];
    for workload in workloads {
        let node = node(json!({ "zone": "b" }), json!({ "pods": "10" }));
        let written = manifest_helps(&[node, workload.clone()]);
        assert_eq!(written["kind"], workload["kind"]);
        assert!(!written.to_string().contains("nodeSelector"), "{written}");
        assert!(written.to_string().contains(r#""image":"i""#), "{written}");
    }
}

#[test]
fn a_pod_whose_workload_is_not_here_has_no_manifest() {
    let mut pod = pod(json!({ "nodeSelector": { "zone": "a" }, "containers": [{ "name": "main" }] }));
    pod["metadata"]["ownerReferences"] =
        json!([{ "apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "2", "controller": true }]);
    let suggestion = suggested(&[node(json!({ "zone": "b" }), json!({ "pods": "10" })), pod]);
    assert!(matches!(suggestion.changes.as_slice(), [Change::DropNodeSelector { .. }]), "{suggestion:?}");
    assert_eq!(suggestion.manifests, Vec::<Value>::new());
}

#[test]
fn what_keeps_the_members_of_a_group_is_written_for_all_of_them() {
    let group = json!({ "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": { "name": "g", "namespace": "ml" },
        "spec": { "schedulingPolicy": { "gang": { "minCount": 3 } } } });
    let member = |name: &str, cpu: &str| {
        let resources = json!({ "requests": { "cpu": cpu } });
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "ml", "uid": name }, "spec": {
            "schedulingGroup": { "podGroupName": "g" }, "nodeSelector": { "zone": "a" },
            "containers": [{ "name": "main", "image": "i", "resources": resources }] } })
    };
    let node = node(json!({ "zone": "b" }), json!({ "cpu": "4", "pods": "10" }));
    let written = manifests_help(&[node.clone(), group.clone(), member("a", "1"), member("b", "1"), member("c", "1")]);
    let names: Vec<&Value> = written.iter().map(|pod| &pod["metadata"]["name"]).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(written.iter().all(|pod| pod["spec"]["nodeSelector"].is_null()), "{written:?}");

    // A leader that asks for something else has the same in its way; else the gang would still not fit.
    let written = manifests_help(&[node, group, member("lead", "2"), member("b", "1"), member("c", "1")]);
    assert_eq!(written.len(), 3, "{written:?}");
}

#[test]
fn a_template_can_still_be_changed_once_claims_were_made_from_it() {
    let devices = json!([{ "name": "gpu-0" }, { "name": "gpu-1" }]);
    let requests = json!([{ "name": "gpu", "exactly": { "deviceClassName": "gpu", "count": 3 } }]);
    let mut engine = engine(&[
        node(json!({}), json!({ "cpu": "4", "pods": "10" })),
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" }, "spec": {} }),
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "n" },
            "spec": { "driver": "gpu.example.com", "nodeName": "n", "devices": devices,
                "pool": { "name": "n", "generation": 1, "resourceSliceCount": 1 } } }),
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": { "name": "three", "namespace": "ml" }, "spec": { "spec": { "devices": { "requests": requests } } } }),
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "ml" },
            "spec": { "containers": [{ "name": "c", "image": "i" }],
                "resourceClaims": [{ "name": "gpu", "resourceClaimTemplateName": "three" }] } }),
    ]);
    let texts = |engine: &Engine| -> Vec<String> {
        pending(engine).pop().unwrap().suggestions.into_iter().map(|suggestion| suggestion.text).collect()
    };
    let before = texts(&engine);
    assert!(before[0].starts_with("ask for 2 devices instead of 3"), "{before:?}");
    engine.run();
    assert_eq!(texts(&engine), before);
}

#[test]
fn an_object_without_a_namespace_is_that_of_default() {
    let claim = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c" } });
    let mut engine = engine(&[claim]);
    let claim = ObjectRef::new("ResourceClaim", "", "c");
    assert_eq!(engine.get(&claim).unwrap()["metadata"]["namespace"], "default");
    assert!(engine.delete(&claim));
    assert!(!engine.delete(&claim));
}
