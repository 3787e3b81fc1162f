//! Workloads while time passes: Pods that go are replaced.

use apportion_core::control_plane::Component;
use serde_json::json;

use crate::play::{NS, Play, key};

/// A workload whose Pods have a claim each.
fn workload(kind: &str, replicas: u64) -> String {
    format!(
        "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: serve, namespace: default}}\nspec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: serve}}}}\n  template:\n    metadata: {{labels: {{app: serve}}}}\n    spec:\n      containers: [{{name: c, resources: {{claims: [{{name: gpu}}]}}}}]\n      resourceClaims: [{{name: gpu, resourceClaimTemplateName: gpu-template}}]\n"
    )
}

fn play(kind: &str, replicas: u64) -> Play {
    let mut play = Play::new();
    play.apply(&workload(kind, replicas));
    assert_eq!(play.simulation.begin(), []);
    play.run(5);
    play
}

/// Names of Pods that are not about to go and have not ended.
fn names(play: &Play) -> Vec<String> {
    let pods = play.simulation.server().cluster().pods().values();
    let lives = pods.filter(|pod| !pod.metadata.is_deleting() && !pod.is_finished());
    lives.map(|pod| pod.metadata.name.clone()).collect()
}

/// Asks for a Pod to be deleted; its node takes some time.
fn ask_to_go(play: &mut Play, name: &str) {
    let now = play.simulation.now();
    play.simulation.server_mut().delete(&key("Pod", name), "", Some(30), now).unwrap();
    play.run(1);
}

#[test]
fn a_deployment_replaces_a_pod_at_once_and_its_claim_with_it() {
    let mut play = play("Deployment", 2);
    let before = names(&play);
    assert_eq!((before.len(), play.claims().len()), (2, 2));
    ask_to_go(&mut play, &before[0]);
    let after = names(&play);
    assert_eq!((after.len(), play.claims().len()), (2, 3), "the Pod that ends still has its claim");
    assert!(after.contains(&before[1]) && !after.contains(&before[0]));
    play.run(60);
    assert_eq!((names(&play), play.claims().len()), (after.clone(), 2));
    assert!(after.iter().all(|name| play.pod(name).spec.node_name == "node-1"));
    // One that fails is replaced, too, and stays to be looked at.
    play.patch("Pod", &after[0], true, json!({ "status": { "phase": "Failed" } }));
    assert_eq!((names(&play).len(), play.simulation.server().cluster().pods().len()), (2, 3));
}

#[test]
fn a_stateful_set_replaces_a_pod_by_one_of_its_name_once_it_is_gone() {
    let mut play = play("StatefulSet", 2);
    assert_eq!(names(&play), ["serve-0", "serve-1"]);
    let uid = play.pod("serve-0").metadata.uid.clone();
    ask_to_go(&mut play, "serve-0");
    assert_eq!(names(&play), ["serve-1"]);
    play.run(60);
    assert_eq!(names(&play), ["serve-0", "serve-1"]);
    assert_ne!(play.pod("serve-0").metadata.uid, uid);
    assert_eq!(play.claims().len(), 2);
}

#[test]
fn pods_of_a_workload_that_goes_are_not_replaced() {
    for kind in ["Deployment", "StatefulSet"] {
        let mut play = play(kind, 3);
        let now = play.simulation.now();
        let mut object = key(kind, "serve");
        object.namespace = NS.to_owned();
        play.simulation.server_mut().delete(&object, "", None, now).unwrap();
        play.run(120);
        assert_eq!(names(&play), [""; 0]);
        assert_eq!(play.claims().len(), 0);
    }
}

#[test]
fn a_workload_that_comes_later_gets_its_pods() {
    let mut play = Play::new();
    play.simulation.begin();
    play.apply(&workload("Deployment", 3));
    play.run(5);
    assert_eq!((names(&play).len(), play.claims().len()), (3, 3));
}

/// A controller that stops before any of its writes makes no Pod twice.
#[test]
fn a_controller_that_stops_goes_on_replacing() {
    for lost in 0..6 {
        let mut play = play("Deployment", 3);
        for name in names(&play).into_iter().take(2) {
            play.simulation.lose_write_after(lost);
            play.delete("Pod", &name);
        }
        play.restart(Component::Controllers, |_| {});
        play.restart(Component::Scheduler, |_| {});
        play.run(30);
        assert_eq!((names(&play).len(), play.claims().len()), (3, 3), "write {lost}");
    }
}

/// Pods that an evicted device takes with it come back, and wait for another device.
#[test]
fn an_evicted_pod_is_replaced() {
    let mut play = play("Deployment", 4);
    play.apply("{apiVersion: resource.k8s.io/v1beta2, kind: DeviceTaintRule, metadata: {name: broken}, spec: {deviceSelector: {driver: gpu.example.com, device: gpu-0}, taint: {key: k, effect: NoExecute}}}");
    play.run(60);
    let names = names(&play);
    let placed = names.iter().filter(|name| !play.pod(name).spec.node_name.is_empty()).count();
    assert_eq!((names.len(), placed), (4, 3), "three devices are left");
}
