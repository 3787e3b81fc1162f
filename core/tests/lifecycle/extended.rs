//! Plain resources that devices serve (KEP-5004): the claim that the scheduler makes, and its end.

use apportion_core::control_plane::Component;
use apportion_core::controllers::kubelet::{Permission, may_use};
use serde_json::{Value, json};

use crate::play::{Play, documents, group, profile};

const CLASS: &str = "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {extendedResourceName: example.com/gpu, selectors: [{cel: {expression: device.driver == 'gpu.example.com'}}]}}";

fn world() -> Play {
    let mut play = Play::new();
    let now = play.simulation.now();
    play.simulation.server_mut().update(documents(CLASS).remove(0), false, now).unwrap();
    play
}

fn asking(name: &str, resource: &str, count: u32, member: &str) -> Value {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name },
        "spec": { "containers": [{ "name": "c", "resources": { "limits": { resource: count.to_string() } } }] },
    });
    if !member.is_empty() {
        pod["spec"]["schedulingGroup"] = json!({ "podGroupName": member });
    }
    pod
}

fn is_placed(play: &Play, name: &str) -> bool {
    !play.pod(name).spec.node_name.is_empty()
}

#[test]
fn the_scheduler_makes_a_claim_that_ends_with_its_pod() {
    let mut play = world();
    play.create(asking("one", "example.com/gpu", 3, "")).unwrap();
    play.run(1);
    let claim = play.claim().clone();
    let status = play.pod("one").status.extended_resource_claim_status.clone().unwrap();
    assert_eq!(status.resource_claim_name, claim.metadata.name);
    let mapping =
        json!({ "containerName": "c", "resourceName": "example.com/gpu", "requestName": "container-0-request-0" });
    assert_eq!(status.request_mappings, [mapping]);
    assert_eq!(claim.status.allocation.as_ref().unwrap().devices.results.len(), 3);
    let permissions = may_use(play.simulation.server().cluster(), play.pod("one"), true);
    assert!(matches!(permissions.as_slice(), [Permission::Granted { through_group: false, .. }]));
    play.create(asking("two", "deviceclass.resource.kubernetes.io/gpu", 2, "")).unwrap();
    play.run(1);
    assert!(!is_placed(&play, "two") && play.claims().len() == 1);
    play.patch("Pod", "one", true, json!({ "status": { "phase": "Succeeded" } }));
    assert!(is_placed(&play, "two"));
    assert_ne!(play.claim().metadata.name, claim.metadata.name);
    play.delete("Pod", "two");
    assert!(play.claims().is_empty());
}

/// Whichever write is lost, the scheduler that starts again ends with one claim, and with the Pod on its node.
#[test]
fn a_scheduler_that_stops_between_two_writes_goes_on() {
    for lost in 0..8 {
        let mut play = world();
        play.simulation.lose_write_after(lost);
        play.create(asking("one", "example.com/gpu", 2, "")).unwrap();
        play.simulation.step();
        let now = profile();
        play.restart(Component::Scheduler, |profile| *profile = now);
        play.run(30);
        assert!(is_placed(&play, "one"), "write {lost}");
        let claim = play.claim();
        assert_eq!(play.pod("one").extended_resource_claim(), Some(&claim.metadata.name), "write {lost}");
        assert_eq!(claim.status.reserved_for.len(), 1, "write {lost}");
    }
}

#[test]
fn a_gang_asks_for_extended_resources_together() {
    for (each, fits) in [(2, true), (3, false)] {
        let mut play = world();
        play.apply(&group("gang", "gang: {minCount: 2}", "resourceClaimTemplateName: unused"));
        play.create(asking("a", "example.com/gpu", each, "gang")).unwrap();
        play.create(asking("b", "example.com/gpu", each, "gang")).unwrap();
        play.run(5);
        assert_eq!((is_placed(&play, "a"), is_placed(&play, "b")), (fits, fits));
        let made =
            play.claims().iter().filter(|claim| claim.metadata.generate_name.ends_with("extended-resources-")).count();
        assert_eq!(made, if fits { 2 } else { 0 }, "a trial leaves nothing");
    }
}

#[test]
fn a_device_plugin_or_a_gate_that_is_off_keeps_devices_out_of_it() {
    let mut play = world();
    play.patch("Node", "node-1", false, json!({ "status": { "allocatable": { "example.com/gpu": "1" } } }));
    play.create(asking("plugin", "example.com/gpu", 1, "")).unwrap();
    play.run(1);
    assert!(is_placed(&play, "plugin") && play.claims().is_empty());
    let mut without = profile();
    without.features.extended_resource = false;
    let mut play = Play::with(without);
    play.create(asking("off", "example.com/gpu", 1, "")).unwrap();
    play.run(1);
    assert!(!is_placed(&play, "off") && play.claims().is_empty());
}
