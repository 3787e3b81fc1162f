//! How long large clusters take from YAML to the report. Ignored: they are for
//! `cargo test --release -p apportion-core --test scale -- --ignored --nocapture --test-threads 1`.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a measurement needs a clock, a test may panic"
)]

mod forks;
mod worlds;

use std::time::Instant;

use apportion_core::allocate::Limits;
use apportion_core::ask::Report;
use apportion_core::engine::Engine;
use apportion_core::profile::Profile;
use serde_json::{Value, json};

/// The one of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs a cluster as `apportion run` does and says what each step costs.
fn run(title: &str, objects: &[Value]) -> (Engine, Report) {
    let yaml = objects.iter().map(apportion_yaml::write).collect::<Vec<_>>().join("---\n");
    let mut clock = Instant::now();
    let mut steps = String::new();
    let mut lap = |step: &str| {
        steps += &format!(", {step} {:.2} s", clock.elapsed().as_secs_f64());
        clock = Instant::now();
    };
    let reading = apportion_yaml::read(yaml.as_bytes(), &apportion_yaml::Limits::default());
    let texts: Vec<String> = reading.documents.iter().map(|document| document.value.to_string()).collect();
    lap("read");
    let mut engine = Engine::new(Profile::default(), Limits::default());
    let findings = engine.submit(texts.iter().map(String::as_str));
    assert!(findings.iter().all(Vec::is_empty), "{:?}", findings.iter().flatten().next());
    lap("admitted");
    let report = engine.run();
    lap("settled");
    let answer = serde_json::to_string(&report).unwrap();
    lap("written");
    let (placed, pods) = (report.pods.iter().filter(|pod| pod.node.is_some()).count(), report.pods.len());
    println!("{title}, {} MB{steps}: {placed} of {pods} Pods placed, {} MB", yaml.len() >> 20, answer.len() >> 20);
    (engine, report)
}

fn placed(report: &Report) -> usize {
    report.pods.iter().filter(|pod| pod.node.is_some()).count()
}

#[test]
#[ignore = "takes seconds and is of use in release mode only"]
fn a_trace_settles() {
    let (_, report) = run("trace", &worlds::trace(1));
    assert!(placed(&report) > 7_500);
}

#[test]
#[ignore = "takes seconds and is of use in release mode only"]
fn a_batch_settles_at_a_cost_that_grows_with_its_pods() {
    for pods in [12_500, 25_000, 50_000] {
        let (_, report) = run("batch", &worlds::batch(pods, 5_000));
        assert_eq!(placed(&report), pods);
    }
}

#[test]
#[ignore = "takes seconds and is of use in release mode only"]
fn gangs_settle() {
    let (_, report) = run("gangs", &worlds::gangs(1_000, 1_000));
    assert_eq!(placed(&report), 10_000);
}

#[test]
#[ignore = "takes seconds and is of use in release mode only"]
fn one_pod_is_explained() {
    let mut objects = worlds::batch(1, 5_000);
    if let Some(pod) = objects.last_mut() {
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("65");
    }
    let (engine, _) = run("one Pod", &objects);
    let start = Instant::now();
    let answer = engine.inquire(json!({ "kind": "explain" })).unwrap();
    println!("explained in {:.2} s: {} bytes", start.elapsed().as_secs_f64(), answer.to_string().len());
}
