//! The part `scheduler`: Pods that name it get nodes and devices, next to kube-scheduler, under the roles that it is installed with.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::deployment::install;
use crate::objects::{claim, class, namespace, node, pod, slice};
use crate::program::Running;

pub(crate) const GROUPS: &str = "scheduling.k8s.io/v1alpha2";

fn request(count: usize) -> Value {
    json!({ "name": "gpu", "exactly": { "deviceClassName": "gpu", "count": count } })
}

pub(crate) fn template(namespace: &str) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": { "name": "gpu", "namespace": namespace },
        "spec": { "spec": { "devices": { "requests": [request(1)] } } },
    })
}

/// A Pod for a scheduler, with a claim from the template.
pub(crate) fn waiting(namespace: &str, name: &str, scheduler: &str) -> Value {
    let mut pod = pod(namespace, name, json!([{ "name": "gpu", "resourceClaimTemplateName": "gpu" }]));
    pod["spec"]["schedulerName"] = json!(scheduler);
    pod
}

/// A gang that shares a claim.
pub(crate) fn gang(namespace: &str, name: &str, min_count: usize) -> Value {
    json!({
        "apiVersion": GROUPS, "kind": "PodGroup", "metadata": { "name": name, "namespace": namespace },
        "spec": {
            "schedulingPolicy": { "gang": { "minCount": min_count } },
            "resourceClaims": [{ "name": "gpu", "resourceClaimTemplateName": "gpu" }],
        },
    })
}

pub(crate) fn member(namespace: &str, name: &str, group: &str, scheduler: &str) -> Value {
    let mut pod = waiting(namespace, name, scheduler);
    pod["spec"]["schedulingGroup"] = json!({ "podGroupName": group });
    pod
}

/// Nodes with so many devices each.
pub(crate) fn make_nodes(plane: &ControlPlane, nodes: usize, devices: usize) {
    plane.requests.create(&class("gpu", "device.driver == \"gpu.example.com\""));
    for number in 0..nodes {
        let name = format!("node-{number:03}");
        let (bare, says) = node(&name);
        plane.requests.create(&bare);
        plane.requests.set_status(&bare, says);
        let devices: Vec<Value> = (0..devices).map(|device| json!({ "name": format!("gpu-{device}") })).collect();
        plane.requests.create(&slice(&name, "gpu.example.com", json!(devices)));
    }
}

pub(crate) fn placed(plane: &ControlPlane, pod: &Value) -> Option<String> {
    plane.requests.get(pod)?["spec"]["nodeName"].as_str().map(str::to_owned)
}

fn until_placed(plane: &ControlPlane, pod: &Value) -> String {
    plane.until("a place", 60, |plane| placed(plane, pod))
}

/// Devices of all claims that have some.
pub(crate) fn given(plane: &ControlPlane) -> Vec<String> {
    let mut all = Vec::new();
    for claim in plane.requests.list("resource.k8s.io/v1", "ResourceClaim") {
        for result in claim["status"]["allocation"]["devices"]["results"].as_array().into_iter().flatten() {
            all.push(format!("{} {} {}", result["driver"], result["pool"], result["device"]));
        }
    }
    all
}

/// The same; each is there once.
pub(crate) fn devices(plane: &ControlPlane) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for device in given(plane) {
        assert!(all.insert(device.clone()), "{device} is given away twice");
    }
    all
}

/// Events about Pods that got no place.
pub(crate) fn failures(plane: &ControlPlane, namespace: &str) -> usize {
    let events = plane.requests.list("events.k8s.io/v1", "Event");
    let failed = |event: &&Value| event["reason"] == "FailedScheduling" && event["metadata"]["namespace"] == *namespace;
    events.iter().filter(failed).count()
}

fn condition(plane: &ControlPlane, object: &Value, kind: &str) -> Option<Value> {
    let found = plane.requests.get(object)?;
    found["status"]["conditions"].as_array()?.iter().find(|one| one["type"] == *kind).cloned()
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn pods_that_name_it_get_their_places_from_our_scheduler() {
    let plane = ControlPlane::start("placing");
    install(&plane);
    plane.requests.create(&namespace("ml", json!({})));
    plane.requests.create(&template("ml"));
    make_nodes(&plane, 2, 4);
    let running = Running::start(&plane, "scheduler", &["--qps", "500", "--burst", "500"]);
    plane.until("the lease", 30, |_| running.leads().then_some(()));

    // What kube-scheduler gave away is taken. Both at once would not hear of each other's devices in time.
    let theirs = plane.requests.create(&waiting("ml", "theirs", "default-scheduler"));
    until_placed(&plane, &theirs);
    std::thread::sleep(Duration::from_secs(1));
    // Pods with a claim of their own, two with one that they share, and one without claims.
    plane.requests.create(&claim("ml", "shared", json!({ "requests": [request(1)] })));
    let mut pods: Vec<Value> = (0..3).map(|number| waiting("ml", &format!("own-{number}"), "apportion")).collect();
    for number in 0..2 {
        let mut sharing =
            pod("ml", &format!("sharing-{number}"), json!([{ "name": "gpu", "resourceClaimName": "shared" }]));
        sharing["spec"]["schedulerName"] = json!("apportion");
        pods.push(sharing);
    }
    let mut plain = pod("ml", "plain", json!([]));
    plain["spec"]["schedulerName"] = json!("apportion");
    pods.push(plain);
    for pod in &pods {
        plane.requests.create(pod);
    }
    for pod in &pods {
        until_placed(&plane, pod);
    }
    assert_eq!(devices(&plane).len(), 5);

    // A gang, one member later than the others.
    plane.requests.create(&gang("ml", "gang", 3));
    let members: Vec<Value> =
        (0..3).map(|number| member("ml", &format!("member-{number}"), "gang", "apportion")).collect();
    for member in &members[..2] {
        plane.requests.create(member);
    }
    std::thread::sleep(Duration::from_secs(2));
    assert!(members[..2].iter().all(|member| placed(&plane, member).is_none()), "there are not enough of them");
    plane.requests.create(&members[2]);
    let nodes: BTreeSet<String> = members.iter().map(|member| until_placed(&plane, member)).collect();
    assert_eq!(nodes.len(), 1, "they share a device of one node");
    let said = plane.until("the condition", 10, |plane| condition(plane, &gang("ml", "gang", 3), "PodGroupScheduled"));
    assert_eq!(said["status"], "True", "{said}");
    assert_eq!((devices(&plane).len(), failures(&plane, "ml")), (6, 0), "and nobody failed once");

    // More than there is: told once, and nothing is written until something changes.
    let late: Vec<Value> = (0..4).map(|number| waiting("ml", &format!("late-{number}"), "apportion")).collect();
    for pod in &late {
        plane.requests.create(pod);
    }
    plane.until("two places", 30, |plane| (devices(plane).len() == 8).then_some(()));
    let without: Vec<&Value> = plane.until("two that wait", 30, |plane| {
        let told =
            |pod: &&Value| condition(plane, pod, "PodScheduled").is_some_and(|one| one["reason"] == "Unschedulable");
        let told: Vec<&Value> = late.iter().filter(told).collect();
        (told.len() == 2).then_some(told)
    });
    plane.until("their Events", 10, |plane| (failures(plane, "ml") == 2).then_some(()));
    std::thread::sleep(Duration::from_secs(3));
    let before = (running.writes(), plane.requests.writes("events"));
    std::thread::sleep(Duration::from_secs(15));
    assert_eq!((running.writes(), plane.requests.writes("events")), before, "they wait in silence");
    plane.requests.delete(&pods[0]);
    plane.requests.delete(&pods[1]);
    for pod in without {
        until_placed(&plane, pod);
    }
    assert_eq!(devices(&plane).len(), 8);
    assert_eq!(running.metric("apportion_writes_total", &["code=\"403\""]), 0.0, "the roles are enough");
    assert_eq!(running.metric("apportion_component_traps_total", &[]), 0.0);
    println!("{} writes, {} MiB", running.writes(), running.memory());
}

/// Whoever starts anew goes on, whatever was written last.
#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn our_scheduler_may_be_killed_at_any_time() {
    let plane = ControlPlane::start("killed-scheduler");
    install(&plane);
    plane.requests.create(&namespace("ml", json!({})));
    plane.requests.create(&template("ml"));
    make_nodes(&plane, 20, 8);
    let arguments = ["--qps", "500", "--burst", "500", "--leader-elect", "false"];
    let mut running = Some(Running::start(&plane, "scheduler", &arguments));
    let mut kills = 0;
    for number in 0..150 {
        plane.requests.create(&waiting("ml", &format!("p-{number}"), "apportion"));
        if number % 30 == 29 {
            running.take().unwrap().kill();
            kills += 1;
            running = Some(Running::start(&plane, "scheduler", &arguments));
        }
    }
    plane.until("all places", 120, |plane| (!plane.requests.has_unplaced("ml")).then_some(()));
    assert_eq!(devices(&plane).len(), 150);
    println!("150 Pods placed, {kills} kills");
}
