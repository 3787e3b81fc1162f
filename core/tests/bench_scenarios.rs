//! The workloads of `../shared/bench`: their outcomes, and how much search they take.
//!
//! `cargo test --release -p apportion-core --test bench_scenarios -- --nocapture` also prints times.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "a test reads files and fails by panicking"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use apportion_core::allocate::{Answer, Outcome};
use apportion_core::api::object::Object;
use apportion_core::api::read::Json;
use apportion_core::cluster::Cluster;
use apportion_core::engine::Engine;
use apportion_core::wire;
use serde_json::{Value, json};

fn scenario(name: &str) -> Option<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/bench/scenarios");
    let path: PathBuf = folder.join(format!("{name}.json"));
    std::fs::read_to_string(path).ok().map(|text| serde_json::from_str(&text).unwrap())
}

fn engine(objects: impl IntoIterator<Item = Value>) -> Engine {
    let settings = json!({ "version": "1.36" });
    let (profile, limits) = wire::settings(settings).unwrap();
    let mut engine = Engine::new(profile, limits);
    let texts: Vec<String> = objects.into_iter().map(|object| object.to_string()).collect();
    for finding in engine.apply(texts.iter().map(String::as_str)).into_iter().flatten() {
        assert!(finding.severity != apportion_core::finding::Severity::Error, "{finding:?}");
    }
    engine
}

fn list(value: &Value, field: &str) -> Vec<Value> {
    value[field].as_array().cloned().unwrap_or_default()
}

/// Asks once for the answer, then as often as it takes to see the time of one question.
fn measure(name: &str, engine: &mut Engine, question: &Value) -> Answer {
    let question = wire::question(question.clone()).unwrap();
    let answer = engine.allocate(&question);
    let mut best = f64::MAX;
    let start = Instant::now();
    while start.elapsed().as_millis() < 200 {
        let one = Instant::now();
        engine.allocate(&question);
        best = best.min(one.elapsed().as_secs_f64() * 1e6);
    }
    println!("{name:36} {:>9} steps {best:>10.1} us", answer.steps);
    answer
}

fn status(answer: &Answer) -> &'static str {
    match answer.outcome {
        Outcome::Allocated { .. } => "allocated",
        Outcome::Unsatisfied { .. } => "none",
        Outcome::Failed { .. } => "error",
        Outcome::GaveUp { .. } => "gave-up",
    }
}

fn single(name: &str, most_steps: u64) {
    let Some(scenario) = scenario(name) else {
        return;
    };
    let objects = [vec![scenario["node"].clone()], list(&scenario, "classes"), list(&scenario, "slices")].concat();
    let mut engine = engine(objects);
    let question = json!({
        "claims": scenario["claims"],
        "nodes": [scenario["node"]["metadata"]["name"]],
        "inUse": { "devices": list(&scenario, "allocatedDevices") },
    });
    let answer = measure(name, &mut engine, &question);
    let expected = &scenario["expected"];
    assert_eq!(status(&answer), expected["status"], "{name}");
    if let Outcome::Allocated { allocations, .. } = &answer.outcome {
        let got: Vec<Value> = allocations.iter().filter_map(Json::write).collect();
        assert_eq!(json!(got), expected["allocations"], "{name}");
    }
    assert!(answer.steps <= most_steps, "{name}: {} steps", answer.steps);
}

#[test]
fn single_questions_end_soon() {
    for (name, most_steps) in [
        ("match-pcie-16x4", 4000),
        ("match-numa-2x32-count1", 4000),
        ("match-numa-2x32-count2", 4000),
        ("unsat-match-pcie-16x4", 4000),
        ("unsat-match-numa-2x16-count2", 4000),
        ("unsat-match-numa-2x24-count2", 4000),
        ("unsat-match-numa-2x32-count2", 4000),
        ("unsat-match-numa-2x32-count4", 4000),
        ("unsat-count-7-of-6", 100),
        ("unsat-count-9-of-8", 200),
        ("unsat-count-11-of-10", 200),
        ("unsat-count-17-of-16", 200),
        ("unsat-count-21-of-20", 200),
        ("first-available-models", 600),
        ("first-available-counts", 600),
    ] {
        single(name, most_steps);
    }
}

/// Places claims one after another until one does not fit; gives how many fit.
fn place_all(cluster: &mut Cluster, scenario: &Value) -> (u64, u64) {
    let cycle = list(scenario, "claimCycle");
    let (mut placed, mut steps) = (0, 0);
    loop {
        let mut claim = cycle[usize::try_from(placed).unwrap() % cycle.len()].clone();
        claim["metadata"]["name"] = json!(format!("claim-{placed}"));
        let question = wire::question(json!({ "claims": [claim], "nodes": ["node-0"] })).unwrap();
        let answer =
            apportion_core::allocate::allocate(cluster, &question, &apportion_core::allocate::Limits::default());
        steps += answer.steps;
        let Outcome::Allocated { allocations, .. } = answer.outcome else {
            return (placed, steps);
        };
        let mut claim = question.claims[0].clone();
        claim.status.allocation = allocations.into_iter().next();
        cluster.apply(Object::ResourceClaim(Arc::new(claim)));
        placed += 1;
    }
}

#[test]
fn sequences_place_as_many_claims_as_the_reference() {
    for name in ["mig-8x7-1g", "mig-8x7-mixed", "consumable-nic-1000"] {
        let Some(scenario) = scenario(name) else {
            return;
        };
        let objects = [vec![scenario["node"].clone()], list(&scenario, "classes"), list(&scenario, "slices")].concat();
        let engine = engine(objects);
        let mut cluster = engine.cluster().clone();
        let start = Instant::now();
        let (placed, steps) = place_all(&mut cluster, &scenario);
        println!("{name:36} {steps:>9} steps {:>10.1} us, {placed} claims", start.elapsed().as_secs_f64() * 1e6);
        assert_eq!(json!(placed), scenario["expectedAllocatedClaims"], "{name}");
    }
}

#[test]
fn many_nodes_are_tried_in_order() {
    let Some(scenario) = scenario("nodes") else {
        return;
    };
    for parameters in list(&scenario, "parameterSets") {
        let count = parameters["nodes"].as_u64().unwrap();
        let used = 8 * count * parameters["usedPercent"].as_u64().unwrap() / 100;
        let mut objects = list(&scenario, "classes");
        let fill = |template: &Value, name: &str| {
            serde_json::from_str::<Value>(&template.to_string().replace("${node}", name)).unwrap()
        };
        for node in 0..count {
            let name = format!("node-{node:05}");
            objects.push(fill(&scenario["nodeTemplate"], &name));
            objects.push(fill(&scenario["sliceTemplate"], &name));
        }
        let driver = objects.last().unwrap()["spec"]["driver"].clone();
        let results: Vec<Value> = (0..used)
            .map(|k| json!({ "request": "r", "driver": driver, "pool": format!("node-{:05}", k / 8), "device": format!("gpu-{}", k % 8) }))
            .collect();
        objects.push(json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "used" },
            "spec": {}, "status": { "allocation": { "devices": { "results": results } } },
        }));
        let mut engine = engine(objects);
        let name = format!("nodes-{count}-used-{}", parameters["usedPercent"]);
        let claims = scenario.get("claims").cloned().unwrap_or_else(|| json!([scenario["claim"]]));
        let answer = measure(&name, &mut engine, &json!({ "claims": claims }));
        let Outcome::Allocated { node, allocations } = &answer.outcome else {
            panic!("{name}: {answer:?}");
        };
        let index = parameters["expectedNodeIndex"].as_u64().unwrap();
        assert_eq!(*node, format!("node-{index:05}"), "{name}");
        assert_eq!(json!(allocations[0].devices.results[0].device), parameters["expectedDevice"], "{name}");
    }
}

#[test]
fn an_impossible_request_after_many_choices_is_seen_at_once() {
    let class = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" },
        "spec": { "selectors": [{ "cel": { "expression": "device.driver == \"gpu.example.com\"" } }] } });
    let devices: Vec<Value> = (0..10).map(|k| json!({ "name": format!("gpu-{k}") })).collect();
    let slice = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "s" },
        "spec": { "driver": "gpu.example.com", "nodeName": "n", "devices": devices,
            "pool": { "name": "n", "generation": 1, "resourceSliceCount": 1 } } });
    let request = |name: &str, selectors: &Value| {
        json!({ "name": name,
            "exactly": { "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1, "selectors": selectors } })
    };
    let impossible = json!([{ "cel": { "expression": "device.driver == \"none\"" } }]);
    let mut requests: Vec<Value> = (0..8).map(|k| request(&format!("r{k}"), &json!([]))).collect();
    requests.push(request("none", &impossible));
    let claim = |requests: &[Value]| {
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c", "namespace": "d" },
            "spec": { "devices": { "requests": requests } } })
    };
    let together = vec![claim(&requests)];
    let apart: Vec<Value> = requests.iter().map(|request| claim(std::slice::from_ref(request))).collect();
    for (name, claims) in [("impossible-one-claim", together), ("impossible-nine-claims", apart)] {
        let mut engine = engine([class.clone(), slice.clone()]);
        let answer = measure(name, &mut engine, &json!({ "claims": claims, "nodes": ["n"] }));
        assert_eq!(status(&answer), "none", "{name}");
        assert!(answer.steps < 1000, "{name}: {} steps", answer.steps);
    }
}
