//! The controller behind a proxy that loses, delays and refuses requests: nothing is lost, and nothing happens twice.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::deployment::install;
use crate::objects::{copy, namespace, source};
use crate::placing::{devices, gang, make_nodes, member, template, waiting};
use crate::program::Running;

/// Out of a hundred requests something is done to.
const SHARE: usize = 12;

const NAMESPACES: usize = 40;
const PODS: usize = 120;
const GANGS: usize = 8;
const MEMBERS: usize = 4;

/// How many claims each owner has.
pub(crate) fn claims_by_owner(plane: &ControlPlane) -> BTreeMap<String, usize> {
    let mut by_owner = BTreeMap::new();
    for claim in plane.requests.list("resource.k8s.io/v1", "ResourceClaim") {
        let owner = &claim["metadata"]["ownerReferences"][0];
        *by_owner.entry(format!("{} {}", owner["kind"], owner["name"])).or_insert(0) += 1;
    }
    by_owner
}

/// Whether every claim that a placed Pod uses has devices and is reserved for it or its group.
pub(crate) fn is_entitled(plane: &ControlPlane) {
    let claims: BTreeMap<String, Value> = plane
        .requests
        .list("resource.k8s.io/v1", "ResourceClaim")
        .into_iter()
        .map(|claim| (claim["metadata"]["name"].as_str().unwrap().to_owned(), claim))
        .collect();
    let pods = plane.requests.list("v1", "Pod");
    for pod in pods.iter().filter(|pod| pod["spec"]["nodeName"].is_string()) {
        let name = pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"].as_str().unwrap();
        let status = &claims[name]["status"];
        let selected = status["allocation"]["nodeSelector"].to_string();
        assert!(selected.contains(pod["spec"]["nodeName"].as_str().unwrap()), "{pod}\n{status}");
        let consumers = status["reservedFor"].as_array().unwrap();
        let group = &pod["spec"]["schedulingGroup"]["podGroupName"];
        let is_user = |one: &Value| one["name"] == pod["metadata"]["name"] || one["name"] == *group;
        assert!(consumers.iter().filter(|one| is_user(one)).count() == 1, "{pod}\n{status}");
    }
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn nothing_is_lost_and_nothing_happens_twice() {
    let plane = ControlPlane::with("faults", &["podgroup-protection-controller"]);
    install(&plane);
    make_nodes(&plane, 20, 8);
    let proxy = plane.proxy(SHARE, 20_261_122);
    let arguments = ["--leader-elect", "false", "--qps", "500", "--burst", "500"];
    let running = Running::behind(&plane, &proxy, "template-sync,claims,scheduler", &arguments);
    plane.requests.create(&namespace("work", json!({})));
    plane.requests.create(&template("work"));
    plane.requests.apply(&source("h100"));
    let start = Instant::now();
    for number in 0..PODS {
        if number % 3 == 0 {
            plane.requests.create(&namespace(&format!("ml-{:02}", number / 3), json!({ "team": "ml" })));
        }
        plane.requests.create(&waiting("work", &format!("p-{number:03}"), "apportion"));
        if number % 15 == 14 {
            let name = format!("g-{}", number / 15);
            plane.requests.create(&gang("work", &name, MEMBERS));
            for index in 0..MEMBERS {
                plane.requests.create(&member("work", &format!("{name}-{index}"), &name, "apportion"));
            }
        }
        devices(&plane);
        std::thread::sleep(Duration::from_millis(100));
    }
    plane.until("all places", 300, |plane| {
        devices(plane);
        (!plane.requests.has_unplaced("work")).then_some(())
    });
    let namespaces: Vec<String> = (0..NAMESPACES).map(|number| format!("ml-{number:02}")).collect();
    plane.until("all copies", 120, |plane| {
        namespaces.iter().all(|name| plane.requests.get(&copy(name)).is_some()).then_some(())
    });
    println!("all is done after {:.0} s; faults: {:?}", start.elapsed().as_secs_f64(), proxy.counts());
    // What is late arrives, and changes nothing.
    std::thread::sleep(Duration::from_secs(8));
    proxy.calm();
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(devices(&plane).len(), PODS + GANGS);
    is_entitled(&plane);
    let by_owner = claims_by_owner(&plane);
    assert_eq!(by_owner.len(), PODS + GANGS);
    assert!(by_owner.values().all(|count| *count == 1), "{by_owner:?}");
    let status = plane.until("the status of the source", 60, |plane| {
        let status = plane.requests.get(&source(""))?["status"].clone();
        (status["current"] == NAMESPACES).then_some(status)
    });
    assert_eq!(status["matched"], NAMESPACES, "{status}");
    let (requests, faults) = proxy.counts();
    assert!(faults > 50, "{faults} faults");
    let traps = running.metric("apportion_component_traps_total", &[]);
    let unanswered = running.metric("apportion_reconciled_total", &["unanswered"]);
    println!("{requests} requests, {faults} faults, {unanswered} decisions without an answer");
    assert!(unanswered > 0.0 && traps == 0.0);
}
