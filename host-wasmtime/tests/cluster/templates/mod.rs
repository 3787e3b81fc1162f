//! `template-sync` with hundreds of namespaces, under the roles that it is installed with.

mod adoption;
mod change;
mod early;
mod many;
mod restricted;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::deployment::install;
use crate::objects::{copy, namespace, pod, source};
use crate::program::Running;

/// Namespaces of the team.
const MANY: usize = 500;

fn copies(plane: &ControlPlane, class: &str) -> usize {
    let is_of = |copy: &&Value| copy["spec"]["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] == *class;
    plane.requests.list("resource.k8s.io/v1", "ResourceClaimTemplate").iter().filter(is_of).count()
}

fn status(plane: &ControlPlane) -> Value {
    plane.requests.get(&source("")).map(|source| source["status"].clone()).unwrap_or_default()
}

fn until_synchronized(plane: &ControlPlane, class: &str, count: usize, seconds: u64) {
    plane.until("all copies", seconds, |plane| (copies(plane, class) == count).then_some(()));
    plane.until("the status", 30, |plane| {
        let status = status(plane);
        let is_ready = |one: &Value| one["type"] == "Ready" && one["status"] == "True";
        let is_ready = status["conditions"].as_array()?.iter().any(is_ready);
        (status["current"] == count && is_ready).then_some(())
    });
}

/// Every write that the part could make, counted by the API server.
fn writes(plane: &ControlPlane) -> u64 {
    ["resourceclaimtemplates", "clusterresourceclaimtemplates", "events"]
        .iter()
        .map(|plural| plane.requests.writes(plural))
        .sum()
}

/// Waits until nothing was written for a while.
fn writes_at_rest(plane: &ControlPlane) -> u64 {
    let mut last = (writes(plane), Instant::now());
    plane.until("no more writes", 60, |plane| {
        let now = writes(plane);
        if now != last.0 {
            last = (now, Instant::now());
        }
        (last.1.elapsed() > Duration::from_secs(3)).then_some(now)
    })
}

/// Makes namespaces at a pace, and tells how long each waited for its copy, from the moment it was asked for; sorted.
fn born(plane: &ControlPlane, names: &[String], pace: Duration) -> Vec<Duration> {
    let mut waiting: BTreeMap<String, Instant> = BTreeMap::new();
    let mut took = Vec::new();
    let mut names = names.iter();
    let mut next = Instant::now();
    loop {
        if next <= Instant::now()
            && let Some(name) = names.next()
        {
            waiting.insert(name.clone(), Instant::now());
            plane.requests.create(&namespace(name, json!({ "team": "ml" })));
            next += pace;
        }
        waiting.retain(|name, since| {
            let is_there = plane.requests.get(&copy(name)).is_some();
            if is_there {
                took.push(since.elapsed());
            }
            !is_there
        });
        if waiting.is_empty() && names.len() == 0 {
            took.sort();
            return took;
        }
        assert!(waiting.values().all(|since| since.elapsed() < Duration::from_secs(20)), "{waiting:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn said(took: &[Duration]) -> String {
    let at = |percent: usize| took[(took.len() - 1) * percent / 100].as_millis();
    format!("median {} ms, 99th percentile {} ms, longest {} ms", at(50), at(99), at(100))
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}-{number:03}")).collect()
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn five_hundred_namespaces_have_their_copy() {
    let plane = ControlPlane::start("templates");
    install(&plane);
    for name in names("ml", MANY) {
        plane.requests.create(&namespace(&name, json!({ "team": "ml" })));
    }
    let running = Running::start(&plane, "template-sync", &[]);
    plane.until("the lease", 30, |_| running.leads().then_some(()));
    let start = Instant::now();
    plane.requests.apply(&source("h100"));
    until_synchronized(&plane, "h100", MANY, 120);
    println!("{MANY} copies: {:.1} s at 50 writes/s, {} MiB", start.elapsed().as_secs_f64(), running.memory());

    // A namespace's birth until its copy is there.
    let took = born(&plane, &names("new", 100), Duration::from_millis(50));
    println!("100 namespaces, one every 50 ms: {}", said(&took));
    assert!(took[98] < Duration::from_secs(1), "{took:?}");
    until_synchronized(&plane, "h100", MANY + 100, 30);

    // A changed template replaces all copies; whoever is born meanwhile goes first.
    let start = Instant::now();
    plane.requests.apply(&source("h200"));
    plane.until("the first new copies", 30, |plane| (copies(plane, "h200") > 20).then_some(()));
    let took = born(&plane, &names("meanwhile", 40), Duration::from_millis(100));
    println!("40 namespaces while all copies are replaced: {}", said(&took));
    assert!(took[39] < Duration::from_secs(2), "{took:?}");
    until_synchronized(&plane, "h200", MANY + 140, 180);
    println!("{} copies replaced: {:.1} s", MANY + 140, start.elapsed().as_secs_f64());

    // Drift.
    plane.requests.delete(&copy("ml-003"));
    let fields = json!({ "metadata": { "labels": { "apportion.dev/source-name": "x" } } });
    plane.requests.merge(&copy("ml-004"), &fields);
    plane.until("the repair", 30, |plane| {
        let found = plane.requests.get(&copy("ml-004"))?;
        (found["metadata"]["labels"]["apportion.dev/source-name"] == "gpu").then_some(())
    });
    until_synchronized(&plane, "h200", MANY + 140, 30);
    plane.until("the count of repairs", 10, |_| {
        (running.metric("apportion_drift_repairs_total", &[]) == 2.0).then_some(())
    });
    plane.until("the Events about it", 20, |plane| {
        let events = plane.requests.list("events.k8s.io/v1", "Event");
        let told = |name: &str| {
            let is_of = |event: &&Value| event["reason"] == "DriftRepaired" && event["regarding"]["namespace"] == *name;
            events.iter().any(|event| is_of(&event) && !event["regarding"]["uid"].is_null())
        };
        (told("ml-003") && told("ml-004")).then_some(())
    });
    let gaps = |what: &str| running.metric(&format!("apportion_recreate_gap_seconds_{what}"), &[]);
    assert_eq!(gaps("count"), (MANY + 100) as f64, "one for each copy that was there before the change");
    println!("a replaced copy was missing for {:.0} ms on average", 1000.0 * gaps("sum") / gaps("count"));

    // Nothing to do, nothing written; neither does one that starts anew.
    let before = writes_at_rest(&plane);
    std::thread::sleep(Duration::from_secs(15));
    assert_eq!(writes(&plane), before, "a controller that has nothing to do writes nothing");
    running.stop();
    let running = Running::start(&plane, "template-sync", &[]);
    plane.until("the lease", 30, |_| running.leads().then_some(()));
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(writes(&plane), before, "a controller that starts anew writes nothing");
    assert_eq!(running.metric("apportion_component_traps_total", &[]), 0.0);

    // Without the controller the garbage collector removes the copies of a source that is gone.
    running.stop();
    plane.requests.delete(&source(""));
    plane.until("the copies to go", 120, |plane| (copies(plane, "h200") == 0).then_some(()));
}

/// One of two replicas is killed in the middle of a change; the other one goes on where it was.
#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn the_second_replica_goes_on_where_the_first_was_killed() {
    let plane = ControlPlane::start("replicas");
    install(&plane);
    for name in names("ml", 200) {
        plane.requests.create(&namespace(&name, json!({ "team": "ml" })));
    }
    let first = Running::start(&plane, "template-sync", &[]);
    plane.until("the first leads", 30, |_| first.leads().then_some(()));
    let second = Running::start(&plane, "template-sync", &[]);
    plane.requests.apply(&source("h100"));
    until_synchronized(&plane, "h100", 200, 60);
    assert!(!second.leads() && second.writes() == 0.0, "one of them works");

    plane.requests.apply(&source("h200"));
    plane.until("some new copies", 30, |plane| (copies(plane, "h200") > 40).then_some(()));
    first.kill();
    let killed = Instant::now();
    let between = copies(&plane, "h200");
    assert!(between < 200, "it was killed too late");
    plane.until("the second leads", 30, |_| second.leads().then_some(()));
    let waited = killed.elapsed();
    until_synchronized(&plane, "h200", 200, 60);
    println!("killed after {between} of 200 copies: the second led after {:.1} s", waited.as_secs_f64());
    assert_eq!(copies(&plane, "h100"), 0);
    // One that is told to end does not let the others wait.
    let third = Running::start(&plane, "template-sync", &[]);
    second.stop();
    let stopped = Instant::now();
    plane.until("the third leads", 30, |_| third.leads().then_some(()));
    assert!(stopped.elapsed() < Duration::from_secs(6), "{:?}", stopped.elapsed());
}

/// What users, quotas, and the rules for admin access have to say.
#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn what_a_namespace_refuses_is_in_the_status() {
    let plane = ControlPlane::start("conflicts");
    install(&plane);
    let allowed = |name: &str| namespace(name, json!({ "team": "ml", "resource.kubernetes.io/admin-access": "true" }));
    plane.requests.create(&namespace("plain", json!({ "team": "ml" })));
    plane.requests.create(&allowed("admin"));
    let _running = Running::start(&plane, "template-sync", &["--allow-admin-access"]);
    let mut admin = source("h100");
    admin["spec"]["template"]["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] = json!(true);
    plane.requests.apply(&admin);
    plane.until("the status", 60, |plane| {
        let status = status(plane);
        (status["current"] == 1 && status["refused"] == 1).then_some(())
    });
    assert_eq!(status(&plane)["failures"][0]["reason"], "AdminAccessNotAllowed");
    plane.requests.apply(&allowed("plain"));
    until_synchronized(&plane, "h100", 2, 30);

    // A quota that leaves no room, and then does.
    plane.requests.create(&namespace("full", json!({})));
    let quota = |room: &str| {
        json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": { "name": "none", "namespace": "full" },
            "spec": { "hard": { "count/resourceclaimtemplates.resource.k8s.io": room } },
        })
    };
    plane.requests.apply(&quota("0"));
    plane.until("the quota", 30, |plane| plane.requests.get(&quota("0"))?["status"].get("hard").map(|_| ()));
    plane.requests.apply(&allowed("full"));
    plane.until("the refusal", 60, |plane| (status(plane)["failures"][0]["reason"] == "QuotaExceeded").then_some(()));
    plane.requests.apply(&quota("5"));
    until_synchronized(&plane, "h100", 3, 120);

    // A user's own template stays as it is.
    plane.requests.create(&namespace("users", json!({})));
    let mut own = copy("users");
    own["spec"] = json!({ "spec": { "devices": { "requests": [{ "name": "mine", "exactly": { "deviceClassName": "mine" } }] } } });
    let own = plane.requests.create(&own);
    plane.requests.apply(&allowed("users"));
    plane.until("the conflict", 30, |plane| (status(plane)["conflicting"] == 1).then_some(()));
    plane.until("the Event", 20, |plane| {
        let events = plane.requests.list("events.k8s.io/v1", "Event");
        events.into_iter().find(|event| event["reason"] == "Conflict" && event["regarding"]["namespace"] == "users")
    });
    plane.requests.apply(&source("h200"));
    plane.until("all others", 60, |plane| (copies(plane, "h200") == 3).then_some(()));
    assert_eq!(
        plane.requests.get(&copy("users")).unwrap()["metadata"]["resourceVersion"],
        own["metadata"]["resourceVersion"]
    );
    // A namespace that goes is let go.
    plane.requests.delete(&namespace("plain", json!({})));
    plane.until("the namespace to go", 60, |plane| {
        plane.requests.get(&namespace("plain", json!({}))).is_none().then_some(())
    });
    until_synchronized_but_one(&plane);
    // With its source go the copies, and nothing else.
    plane.requests.delete(&source(""));
    plane.until("the copies to go", 60, |plane| (copies(plane, "h200") == 0).then_some(()));
    assert_eq!(copies(&plane, "mine"), 1);
}

/// Copies outlive their source while Pods need them, and nothing else removes them.
#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn copies_in_use_outlive_their_source() {
    let plane = ControlPlane::start("usage");
    install(&plane);
    for name in ["used", "unused"] {
        plane.requests.create(&namespace(name, json!({ "team": "ml" })));
    }
    let running = Running::start(&plane, "template-sync", &[]);
    let mut source = source("h100");
    source["spec"]["deletionPolicy"] = json!("DeleteWhenUnused");
    plane.requests.apply(&source);
    until_synchronized(&plane, "h100", 2, 60);
    // Nothing has the device, so that the Pod waits, and its claim is made of the copy.
    let pod = pod("used", "p", json!([{ "name": "gpu", "resourceClaimTemplateName": "gpu" }]));
    plane.requests.create(&pod);
    plane.requests.delete(&source);
    plane.until("the copy that nobody uses to go", 30, |plane| {
        plane.requests.get(&copy("unused")).is_none().then_some(())
    });
    running.stop();
    let running = Running::start(&plane, "template-sync", &[]);
    plane.until("the lease", 30, |_| running.leads().then_some(()));
    std::thread::sleep(Duration::from_secs(5));
    assert!(plane.requests.get(&copy("used")).is_some(), "a Pod uses it");
    plane.requests.delete(&pod);
    // A controller that has just started deletes only what it saw the reason of.
    plane.until("the copy to go with its Pod", 120, |plane| plane.requests.get(&copy("used")).is_none().then_some(()));
    assert_eq!(running.metric("apportion_writes_total", &["code=\"403\""]), 0.0, "the roles are enough");
}

fn until_synchronized_but_one(plane: &ControlPlane) {
    plane.until("the status", 30, |plane| {
        let status = status(plane);
        (status["current"] == 2 && status["conflicting"] == 1).then_some(())
    });
}
