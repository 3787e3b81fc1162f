//! A template that changes while Pods and groups use it: no Pod is lost, and what a group shares stays shared.

use std::time::Duration;

use serde_json::{Value, json};

use super::until_synchronized;
use crate::control_plane::ControlPlane;
use crate::deployment::install;
use crate::objects::{class, namespace, node, pod, slice, source};
use crate::placing::{GROUPS, member, placed};
use crate::program::Running;

/// Namespaces in which Pods arrive while the copies are replaced.
const PLACES: usize = 40;

fn place(number: usize) -> String {
    format!("ml-{number:02}")
}

/// A group whose Pods share a claim.
fn group(namespace: &str) -> Value {
    json!({
        "apiVersion": GROUPS, "kind": "PodGroup", "metadata": { "name": "g", "namespace": namespace },
        "spec": {
            "schedulingPolicy": { "basic": {} },
            "resourceClaims": [{ "name": "gpu", "resourceClaimTemplateName": "gpu" }],
        },
    })
}

/// Names of the claims of a namespace that belong to a kind.
fn claims(plane: &ControlPlane, namespace: &str, owner: &str) -> Vec<String> {
    let mut all = plane.requests.list("resource.k8s.io/v1", "ResourceClaim");
    all.retain(|claim| {
        let metadata = &claim["metadata"];
        metadata["namespace"] == *namespace && metadata["ownerReferences"][0]["kind"] == *owner
    });
    all.iter().map(|claim| claim["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// The claim that a Pod has by its status.
fn claim_of(plane: &ControlPlane, pod: &Value) -> Option<String> {
    let statuses = plane.requests.get(pod)?["status"]["resourceClaimStatuses"].clone();
    Some(statuses[0]["resourceClaimName"].as_str()?.to_owned())
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn what_a_group_shares_outlives_a_change_of_the_template() {
    let plane = ControlPlane::start("change");
    install(&plane);
    let (bare, says) = node("node");
    plane.requests.create(&bare);
    plane.requests.set_status(&bare, says);
    let devices: Vec<Value> = (0..2 * PLACES).map(|number| json!({ "name": format!("gpu-{number}") })).collect();
    plane.requests.create(&slice("node", "gpu.example.com", json!(devices)));
    for name in ["h100", "h200"] {
        plane.requests.create(&class(name, "device.driver == \"gpu.example.com\""));
    }
    for number in 0..PLACES {
        plane.requests.create(&namespace(&place(number), json!({ "team": "ml" })));
    }
    let running = Running::start(&plane, "template-sync", &[]);
    plane.requests.apply(&source("h100"));
    until_synchronized(&plane, "h100", PLACES, 60);

    // Two members that share what the group has.
    let space = place(0);
    plane.requests.create(&group(&space));
    let members: Vec<Value> =
        (0..3).map(|number| member(&space, &format!("m-{number}"), "g", "default-scheduler")).collect();
    members[..2].iter().for_each(|member| drop(plane.requests.create(member)));
    members[..2].iter().for_each(|member| drop(plane.until("a place", 60, |plane| placed(plane, member))));
    let shared = claims(&plane, &space, "PodGroup");
    assert_eq!(shared.len(), 1);

    // While the copies are replaced, Pods arrive everywhere, and another member.
    plane.requests.apply(&source("h200"));
    plane.requests.create(&members[2]);
    let arriving: Vec<Value> = (0..PLACES)
        .map(|number| pod(&place(number), "p", json!([{ "name": "gpu", "resourceClaimTemplateName": "gpu" }])))
        .collect();
    for pod in &arriving {
        plane.requests.create(pod);
        std::thread::sleep(Duration::from_millis(20));
    }
    until_synchronized(&plane, "h200", PLACES, 60);
    for pod in members.iter().chain(&arriving) {
        plane.until("a place", 60, |plane| placed(plane, pod));
    }
    assert_eq!(claims(&plane, &space, "PodGroup"), shared, "the group's claim is the same");
    for member in &members {
        assert_eq!(claim_of(&plane, member).as_ref(), shared.first(), "and all members have it");
    }
    let of_pods = |number: usize| claims(&plane, &place(number), "Pod").len();
    assert!((0..PLACES).all(|number| of_pods(number) == 1), "each other Pod has one of its own, and no member has");

    let gap = |what: &str| running.metric(&format!("apportion_recreate_gap_seconds_{what}"), &[]);
    assert_eq!(gap("count"), PLACES as f64);
    let average = gap("sum") / gap("count");
    println!("{PLACES} copies were replaced while Pods arrived; each was missing for {:.0} ms", 1000.0 * average);
    assert!(average < 1.0, "a copy is made again at once, ahead of those that are still to go");
}
