//! The parts that stand in for controllers of Kubernetes: each thing that changed is looked at once.

use apportion_core::api::object::Object;
use apportion_core::controller::{Conclusion, Lane, Part};
use apportion_core::decision::Action;
use serde_json::json;

use crate::world::World;

fn pod(name: &str, entry: serde_json::Value) -> serde_json::Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "ml" },
        "spec": { "containers": [{ "name": "c" }], "resourceClaims": [entry] },
    })
}

#[test]
fn claims_are_made_for_pods_when_their_template_comes() {
    let mut world = World::new(Part::Claims);
    world.put(pod("p", json!({ "name": "gpu", "resourceClaimTemplateName": "t" })));
    let due = world.controller.due();
    assert_eq!((due.len(), due[0].object.kind.as_str(), due[0].lane), (1, "Pod", Lane::Urgent));
    let decision = world.controller.reconcile(&due[0].object, world.now);
    assert_eq!((decision.actions.len(), decision.events[0].reason.as_str()), (0, "FailedResourceClaimCreation"));
    let mut template = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": { "name": "t", "namespace": "ml" } });
    template["spec"] = crate::world::spec("gpu");
    world.put(template);
    let due = world.controller.due();
    assert_eq!((due.len(), due[0].object.name.as_str()), (1, "p"), "the Pod is looked at again");
    let decision = world.controller.reconcile(&due[0].object, world.now);
    assert!(matches!(decision.actions[0], Action::Create { .. }), "{:?}", decision.actions);
}

#[test]
fn a_pod_group_is_kept_while_pods_need_it() {
    let mut world = World::new(Part::PodGroupProtection);
    let mut group = json!({
        "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
        "metadata": {
            "name": "g", "namespace": "ml", "deletionTimestamp": "2026-01-01T00:00:00Z",
            "finalizers": ["scheduling.k8s.io/podgroup-protection"],
        },
        "spec": { "schedulingPolicy": { "basic": {} } },
    });
    let mut member = pod("p", json!({ "name": "gpu", "resourceClaimName": "c" }));
    member["spec"]["schedulingGroup"] = json!({ "podGroupName": "g" });
    world.put(member.clone());
    world.put(group.clone());
    let due = world.controller.due();
    assert_eq!((due.len(), due[0].object.name.as_str()), (1, "g"));
    assert!(world.controller.reconcile(&due[0].object, world.now).actions.is_empty(), "a Pod needs it");
    world.remove(&crate::world::reference(&member));
    let due = world.controller.due();
    let decision = world.controller.reconcile(&due[0].object, world.now);
    let [Action::Update(freed)] = decision.actions.as_slice() else { panic!("{:?}", decision.actions) };
    assert!(freed.metadata().finalizers.is_empty());
    group["metadata"]["finalizers"] = json!([]);
    world.put(group);
    assert!(world.controller.reconcile(&due[0].object, world.now).actions.is_empty());
}

#[test]
fn a_pod_that_cannot_be_read_keeps_its_group() {
    let mut world = World::new(Part::PodGroupProtection);
    world.put(json!({
        "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
        "metadata": {
            "name": "g", "namespace": "ml", "deletionTimestamp": "2026-01-01T00:00:00Z",
            "finalizers": ["scheduling.k8s.io/podgroup-protection"],
        },
        "spec": { "schedulingPolicy": { "basic": {} } },
    }));
    let mut member = pod("p", json!({ "name": "gpu", "resourceClaimName": "c" }));
    member["spec"]["schedulingGroup"] = json!({ "podGroupName": "g" });
    member["spec"]["priority"] = json!("high");
    world.offer(member);
    let due = world.controller.due();
    assert!(world.controller.reconcile(&due[0].object, world.now).actions.is_empty());
}

/// The watch of Pods may be behind that of claims.
#[test]
fn a_claim_of_a_pod_that_is_not_known_yet_goes_only_if_the_pod_is_not_there() {
    let mut world = World::new(Part::Claims);
    world.put(pod("p", json!({ "name": "gpu", "resourceClaimTemplateName": "t" })));
    let owner = json!({ "apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "its successor", "controller": true });
    world.put(json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": { "name": "c", "namespace": "ml", "ownerReferences": [owner] },
        "spec": { "devices": { "requests": [] } },
    }));
    let claim = world.objects.keys().find(|key| key.kind == "ResourceClaim").unwrap().clone();
    let decision = world.controller.reconcile(&claim, world.now);
    assert!(matches!(decision.actions.as_slice(), [Action::Delete { .. }]));
    assert_eq!(decision.gone[0].uid, "its successor");
}

#[test]
fn a_pod_on_a_tainted_device_is_evicted_once_its_time_is_up() {
    let mut world = World::new(Part::TaintEviction);
    world.put(json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "s" },
        "spec": {
            "driver": "d", "nodeName": "n", "pool": { "name": "n", "generation": 1, "resourceSliceCount": 1 },
            "devices": [{ "name": "x", "taints": [{ "key": "broken", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z" }] }],
        },
    }));
    let mut member = pod("p", json!({ "name": "gpu", "resourceClaimName": "c" }));
    member["spec"]["nodeName"] = json!("n");
    world.put(member);
    let uid = world.objects.iter().find(|(key, _)| key.kind == "Pod").unwrap().1["metadata"]["uid"].clone();
    world.put(json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c", "namespace": "ml" },
        "spec": { "devices": { "requests": [] } },
        "status": {
            "allocation": { "devices": { "results": [{ "request": "gpu", "driver": "d", "pool": "n", "device": "x" }] } },
            "reservedFor": [{ "resource": "pods", "name": "p", "uid": uid }],
        },
    }));
    let due = world.controller.due();
    assert_eq!((due.len(), due[0].object.name.as_str()), (1, ""), "one look at all");
    let decision = world.controller.reconcile(&due[0].object, world.now);
    let deletes = |decision: &apportion_core::decision::Decision| {
        decision.actions.iter().filter(|action| matches!(action, Action::Delete { .. })).count()
    };
    assert_eq!(deletes(&decision), 1);
    world.controller.conclude(&due[0].object, Conclusion::Failed);
    let again = world.controller.reconcile(&due[0].object, world.now);
    assert_eq!(deletes(&again), 1, "what was not carried out is decided again");
}

/// What a part keeps of a Pod.
fn kept(part: Part, node: &str, group: Option<&str>) -> Option<serde_json::Value> {
    let mut world = World::new(part);
    let mut pod = json!({ "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "p", "namespace": "d", "labels": { "app": "x" }, "annotations": { "a": "b" } },
        "spec": { "nodeName": node, "schedulerName": "apportion", "serviceAccountName": "x",
            "resourceClaims": [{ "name": "gpu", "resourceClaimName": "c" }],
            "containers": [{ "name": "main", "image": "x", "resources": { "requests": { "cpu": "1" } } }] },
        "status": { "phase": "Running", "podIP": "10.0.0.1", "conditions": [{ "type": "Ready", "status": "True" }] } });
    if let Some(name) = group {
        pod["spec"]["schedulingGroup"] = json!({ "podGroupName": name });
    }
    world.controller.apply([pod.to_string().as_str()]);
    let kept = world.controller.cluster().pods().get(&("d".to_owned(), "p".to_owned())).cloned();
    kept.map(|pod| Object::Pod(pod).write())
}

#[test]
fn of_a_pod_with_a_node_only_what_counts_is_kept() {
    let mut expected = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "d" },
        "spec": { "nodeName": "n", "schedulerName": "apportion", "resourceClaims": [{ "name": "gpu", "resourceClaimName": "c" }] },
        "status": { "phase": "Running" } });
    assert_eq!(kept(Part::Claims, "n", None), Some(expected.clone()));
    assert_eq!(kept(Part::TaintEviction, "n", None), Some(expected.clone()));
    expected["metadata"]["labels"] = json!({ "app": "x" });
    expected["spec"]["containers"] = json!([{ "name": "main", "resources": { "requests": { "cpu": "1" } } }]);
    assert_eq!(kept(Part::Scheduler, "n", None), Some(expected.clone()));
    assert_eq!(kept(Part::Explainer, "n", None), Some(expected));
}

#[test]
fn a_pod_that_waits_is_kept_for_whoever_places_or_explains_it() {
    for part in [Part::Scheduler, Part::Explainer] {
        let pod = kept(part, "", None).unwrap();
        assert_eq!(pod["metadata"]["annotations"]["a"], "b");
        assert_eq!(pod["status"]["conditions"][0]["type"], "Ready");
    }
}

#[test]
fn the_protection_of_groups_keeps_members() {
    assert_eq!(kept(Part::PodGroupProtection, "n", None), None);
    let member = kept(Part::PodGroupProtection, "n", Some("g")).unwrap();
    assert_eq!(member["spec"]["schedulingGroup"], json!({ "podGroupName": "g" }));
    assert_eq!(member["spec"]["containers"], json!(null));
    assert_eq!(member["status"]["phase"], "Running");
}
