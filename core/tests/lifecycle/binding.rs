//! From a place to a node: conditions that drivers report before, how many Pods a claim bears, and which node is the best.

use apportion_core::profile::{Profile, Ranking};
use serde_json::json;

use crate::play::{Play, pod, profile};

/// A network card that its driver attaches before the Pod is bound, and a claim for it.
const CARDS: &str = r#"
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: nic}
spec: {selectors: [{cel: {expression: device.driver == "nic.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: cards}
spec:
  driver: nic.example.com
  nodeName: node-1
  pool: {name: node-1, generation: 1, resourceSliceCount: 1}
  devices: [{name: nic-0, bindingConditions: [attached], bindingFailureConditions: [broken]}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: card}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: nic}}]}}
"#;

fn waiting() -> Play {
    let mut play = Play::new();
    play.apply(CARDS);
    play.apply(&pod("user", "resourceClaimName: card", ""));
    play.run(5);
    let pod = play.pod("user");
    assert_eq!((pod.spec.node_name.as_str(), pod.status.nominated_node_name.as_str()), ("", "node-1"));
    assert!(play.named_claim("card").status.allocation.is_some());
    play
}

/// What the driver says about its card.
fn report(play: &mut Play, condition: &str) {
    play.patch("ResourceClaim", "card", true, json!({ "status": { "devices": [{
        "driver": "nic.example.com", "pool": "node-1", "device": "nic-0",
        "conditions": [{ "type": condition, "status": "True", "reason": "Driver", "message": "", "lastTransitionTime": null }],
    }] } }));
}

#[test]
fn a_pod_is_bound_when_its_device_is_attached() {
    let mut play = waiting();
    play.run(60);
    assert_eq!(play.pod("user").spec.node_name, "");
    report(&mut play, "attached");
    play.run(6);
    assert_eq!(play.pod("user").spec.node_name, "node-1");
}

#[test]
fn a_device_that_can_not_be_attached_is_given_back() {
    let mut play = waiting();
    report(&mut play, "broken");
    let failed = play.notes("FailedScheduling");
    assert!(failed.iter().any(|note| note.contains("device binding failed: claim=card, reason=Driver")), "{failed:?}");
    // It is free at once, and as nothing else fits it is tried again.
    play.run(1);
    assert!(play.named_claim("card").status.devices.is_empty(), "what the driver said is forgotten with the devices");
    assert_eq!(play.pod("user").spec.node_name, "");
}

#[test]
fn a_driver_that_says_nothing_is_not_waited_for_longer_than_ten_minutes() {
    let mut play = waiting();
    play.run(590);
    assert!(play.notes("FailedScheduling").is_empty());
    play.run(20);
    let failed = play.notes("FailedScheduling");
    assert!(failed.iter().any(|note| note.contains("device binding timeout: claim=card")), "{failed:?}");
}

#[test]
fn a_claim_bears_256_pods() {
    let mut play = Play::new();
    play.patch("Node", "node-1", false, json!({ "status": { "allocatable": { "pods": "300" } } }));
    play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: shared}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}");
    let all: String = (0..257).map(|number| pod(&format!("p-{number:03}"), "resourceClaimName: shared", "")).collect();
    play.apply(&all);
    play.run(5);
    let pods = play.simulation.server().cluster().pods().values();
    assert_eq!(pods.filter(|pod| pod.spec.node_name.is_empty()).count(), 1);
    assert_eq!(play.named_claim("shared").status.reserved_for.len(), 256);
    assert!(play.notes("FailedScheduling")[0].contains("must have at most 256 items"));
    // One that ends makes room.
    play.delete("Pod", "p-000");
    play.run(30);
    assert!(play.simulation.server().cluster().pods().values().all(|pod| !pod.spec.node_name.is_empty()));
}

/// The node with the earlier alternative, though it comes later; the first of equals.
#[test]
fn the_node_with_the_best_alternatives_wins() {
    let mut play = Play::with(Profile { placement: Ranking::First, ..profile() });
    for (node, model) in [("node-2", "large"), ("node-3", "large"), ("node-4", "small")] {
        play.apply(&format!("{{apiVersion: v1, kind: Node, metadata: {{name: {node}}}}}"));
        play.apply(&format!("{{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {{name: slice-{node}}}, spec: {{driver: gpu.example.com, nodeName: {node}, pool: {{name: {node}, generation: 1, resourceSliceCount: 1}}, devices: [{{name: d, attributes: {{model: {{string: {model}}}}}}}]}}}}"));
    }
    let is = |model: &str| {
        format!(
            r#"selectors: [{{cel: {{expression: '"model" in device.attributes["gpu.example.com"] && device.attributes["gpu.example.com"].model == "{model}"'}}}}]"#
        )
    };
    play.apply(&format!(
        "{{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {{name: choice}}, spec: {{spec: {{devices: {{requests: [{{name: r, firstAvailable: [{{name: best, deviceClassName: gpu, {}}}, {{name: any, deviceClassName: gpu}}]}}]}}}}}}}}",
        is("large")
    ));
    let mut nodes = Vec::new();
    for name in ["a", "b", "c"] {
        play.apply(&pod(name, "resourceClaimTemplateName: choice", ""));
        nodes.push(play.pod(name).spec.node_name.clone());
    }
    assert_eq!(nodes, ["node-2", "node-3", "node-1"]);
}
