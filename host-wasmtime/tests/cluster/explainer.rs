//! The explainer next to kube-scheduler: every user hears it once, and nobody twice.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::deployment::install;
use crate::objects::{namespace, node, pod, slice};
use crate::placing::{gang, make_nodes, member};
use crate::program::Running;
use crate::stuck::{WITHOUT, make, stuck};

/// Notes of our Events by Pod.
fn told(plane: &ControlPlane) -> BTreeMap<String, Vec<String>> {
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in plane.requests.list("events.k8s.io/v1", "Event") {
        if event["reportingController"] == "apportion.dev/apportion-explainer" {
            let name = event["regarding"]["name"].as_str().unwrap().to_owned();
            told.entry(name).or_default().push(event["note"].as_str().unwrap().to_owned());
        }
    }
    told
}

fn condition(plane: &ControlPlane, name: &str) -> Option<Value> {
    let pod = plane.requests.get(&pod("ml", name, json!([])))?;
    let conditions = pod["status"]["conditions"].as_array()?;
    conditions.iter().find(|one| one["type"] == "apportion.dev/DevicesAvailable").cloned()
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn users_are_told_once_what_the_scheduler_does_not_say() {
    let plane = ControlPlane::start("explainer");
    install(&plane);
    make(&plane);
    let waiting = stuck().len() + WITHOUT.len();
    let running = Running::start(&plane, "explainer,conditions", &[]);
    plane.until("all Events", 90, |plane| (told(plane).len() >= waiting).then_some(()));
    plane.until("all conditions", 60, |plane| {
        let wanted = stuck().into_iter().filter(|(name, ..)| *name != "model");
        wanted.map(|(name, ..)| condition(plane, name)).collect::<Option<Vec<_>>>()
    });
    let first = told(&plane);
    for (name, notes) in &first {
        println!("{name}: {}", notes.join(" | "));
    }
    assert_eq!(first.len(), waiting, "one for each, none for the Pod that fits");
    assert!(first.values().all(|notes| notes.len() == 1), "{first:?}");
    for (name, _, says) in stuck() {
        assert!(first[name][0].contains(says), "{name}: {}", first[name][0]);
    }
    assert!(WITHOUT.iter().all(|name| first[*name][0].contains("`nowhere`")), "{first:?}");
    assert_eq!(condition(&plane, "two").unwrap()["message"], first["two"][0]);
    assert_eq!(condition(&plane, "model"), None, "it did not ask");
    // The scheduler tries again and again, and nothing is said again.
    let before = running.writes();
    std::thread::sleep(Duration::from_secs(30));
    assert_eq!(running.writes(), before, "nothing changed, nothing written");
    assert_eq!(told(&plane), first);
    println!("explainer: {before} writes for {waiting} Pods, {} MiB", running.memory());
    // One that starts anew knows what was told.
    running.stop();
    let running = Running::start(&plane, "explainer,conditions", &[]);
    std::thread::sleep(Duration::from_secs(20));
    assert_eq!(told(&plane), first);
    // The device is free: one of those who wait for both gets them, the others hear something else.
    plane.requests.delete(&pod("ml", "fits", json!([])));
    plane.until("a Pod to be placed", 90, |plane| {
        let pods = plane.requests.list("v1", "Pod");
        pods.into_iter().find(|pod| pod["spec"]["nodeName"].is_string() && pod["metadata"]["name"] != "fits")
    });
    plane.until("the other reason", 180, |plane| told(plane).values().any(|notes| notes.len() == 2).then_some(()));
    assert_eq!(running.metric("apportion_component_traps_total", &[]), 0.0);
}

/// A gang whose members share a claim for two devices, where a node has one; then comes a node that has two. Our scheduler places it: in
/// kube-scheduler of 1.36 all but one of those who share a claim fail first.
#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn a_group_is_told_and_its_condition_is_taken_back() {
    let plane = ControlPlane::start("explained-group");
    install(&plane);
    make_nodes(&plane, 1, 1);
    plane.requests.create(&namespace("ml", json!({})));
    plane.requests.create(&json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": { "name": "gpu", "namespace": "ml" },
        "spec": { "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": "gpu", "count": 2 } }] } } },
    }));
    let mut group = gang("ml", "pair", 2);
    group["metadata"]["annotations"] = json!({ "apportion.dev/explain": "true" });
    plane.requests.create(&group);
    for name in ["a", "b"] {
        plane.requests.create(&member("ml", name, "pair", "apportion"));
    }
    let running = Running::start(&plane, "explainer,conditions,scheduler", &[]);
    let condition = |plane: &ControlPlane| {
        let group = plane.requests.get(&gang("ml", "pair", 2))?;
        let conditions = group["status"]["conditions"].as_array()?;
        conditions.iter().find(|one| one["type"] == "apportion.dev/DevicesAvailable").cloned()
    };
    // At first the claims are not made.
    let said = plane.until("the condition", 60, |plane| {
        condition(plane).filter(|one| one["status"] == "False" && one["reason"] == "DevicesUnavailable")
    });
    assert!(said["message"].as_str().unwrap().contains("needs 2 devices of class `gpu`"), "{said}");
    plane.until("the Event", 30, |plane| told(plane).get("pair").cloned());

    let (bare, says) = node("large");
    plane.requests.create(&bare);
    plane.requests.set_status(&bare, says);
    plane.requests.create(&slice("large", "gpu.example.com", json!([{ "name": "gpu-0" }, { "name": "gpu-1" }])));
    plane.until("the gang to be placed", 120, |plane| {
        let pods = plane.requests.list("v1", "Pod");
        pods.iter().all(|pod| pod["spec"]["nodeName"] == "large").then_some(())
    });
    plane.until("the condition to be taken back", 60, |plane| {
        condition(plane).filter(|one| one["status"] == "True" && one["reason"] == "DevicesFound")
    });
    assert_eq!(running.metric("apportion_writes_total", &["code=\"403\""]), 0.0, "the roles are enough");
}
