//! The parts that stand in for controllers of Kubernetes: each thing that changed is looked at once.

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
