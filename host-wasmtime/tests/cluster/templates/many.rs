//! Two hundred sources and ten thousand namespaces.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{born, said, writes, writes_at_rest};
use crate::control_plane::ControlPlane;
use crate::deployment::install;
use crate::objects::{copy, namespace, source};
use crate::program::Running;
use crate::throughput::side_by_side;

const NAMESPACES: usize = 10_000;

/// As many teams: each source is for one of them.
const SOURCES: usize = 200;

fn name(number: usize) -> String {
    format!("n-{number:05}")
}

fn team(number: usize) -> Value {
    json!({ "team": format!("t-{:03}", number % SOURCES) })
}

/// The source of a team. The last one is for the namespaces that are made later, too.
fn of_team(number: usize) -> Value {
    let mut source = source("h100");
    source["metadata"]["name"] = json!(format!("s-{number:03}"));
    source["spec"]["templateName"] = json!("gpu");
    let mut targets = vec![json!({ "namespaceSelector": { "matchLabels": team(number) } })];
    if number + 1 == SOURCES {
        targets.push(json!({ "namespaceSelector": { "matchLabels": { "team": "ml" } } }));
    }
    source["spec"]["targets"] = json!(targets);
    source
}

fn current(plane: &ControlPlane) -> u64 {
    let sources = plane.requests.list("apportion.dev/v1alpha1", "ClusterResourceClaimTemplate");
    sources.iter().filter_map(|source| source["status"]["current"].as_u64()).sum()
}

/// Seconds from the start of the program until it knows everything and has nothing left to look at, and what it computed for that.
fn started(plane: &ControlPlane) -> (Running, f64, f64) {
    let arguments = ["--qps", "1000", "--burst", "1000"];
    let begin = Instant::now();
    let running = Running::start(plane, "template-sync", &arguments);
    plane.until("the lease", 60, |_| running.leads().then_some(()));
    plane.until("nothing to be left", 300, |_| {
        (running.metric("apportion_queue_depth", &[]) == 0.0
            && running.metric("apportion_decision_seconds_count", &[]) > 0.0)
            .then_some(())
    });
    let took = begin.elapsed().as_secs_f64();
    let computed = running.computed();
    (running, took, computed)
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn two_hundred_sources_and_ten_thousand_namespaces() {
    let plane = ControlPlane::start("many");
    install(&plane);
    let start = Instant::now();
    side_by_side(NAMESPACES, |number| drop(plane.requests.create(&namespace(&name(number), team(number)))));
    side_by_side(SOURCES, |number| drop(plane.requests.create(&of_team(number))));
    println!("made in {:.0} s", start.elapsed().as_secs_f64());

    let start = Instant::now();
    let running = Running::start(&plane, "template-sync", &["--qps", "1000", "--burst", "1000"]);
    plane.until("all copies", 600, |plane| {
        std::thread::sleep(Duration::from_secs(1));
        (current(plane) == NAMESPACES as u64).then_some(())
    });
    let count = plane.requests.list("resource.k8s.io/v1", "ResourceClaimTemplate").len();
    assert_eq!(count, NAMESPACES, "one for each namespace");
    println!(
        "{NAMESPACES} copies of {SOURCES} sources: {:.0} s, {:.1} s computed, {} MiB",
        start.elapsed().as_secs_f64(),
        running.computed(),
        running.memory()
    );
    let before = writes_at_rest(&plane);
    running.stop();

    let (running, took, computed) = started(&plane);
    println!("started anew: {took:.1} s, {computed:.1} s computed, {} MiB", running.memory());
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(writes(&plane), before, "a controller that starts anew writes nothing");

    // What a namespace costs where there are many.
    let (since, decisions) = (running.computed(), running.metric("apportion_decision_seconds_count", &[]));
    let names: Vec<String> = (0..100).map(|number| format!("new-{number:03}")).collect();
    let took = born(&plane, &names, Duration::from_millis(50));
    writes_at_rest(&plane);
    let decisions = running.metric("apportion_decision_seconds_count", &[]) - decisions;
    let computed = running.computed() - since;
    println!(
        "100 namespaces, one every 50 ms: {}; {:.0} ms computed and {:.1} decisions for each",
        said(&took),
        10.0 * computed,
        decisions / 100.0
    );
    assert!(took[98] < Duration::from_secs(1), "{took:?}");
    assert!(decisions < 500.0, "what other sources are for is not looked at");
    assert!(running.memory() < 512, "{} MiB", running.memory());
    assert!(plane.requests.get(&copy("new-000")).is_some());
}
