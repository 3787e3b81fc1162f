//! How long large clusters take to settle. Ignored: they are for `cargo test --release -p apportion-core --test scale -- --ignored --nocapture`.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "a measurement needs a clock, a test may panic"
)]

mod worlds;

use std::time::Instant;

use apportion_core::allocate::Limits;
use apportion_core::control_plane::{Settled, Simulation};
use apportion_core::decision::Time;
use apportion_core::profile::Profile;
use serde_json::Value;

/// Settles a cluster and says what that costs; how many Pods have a node.
pub(crate) fn settle(title: &str, objects: &[Value]) -> usize {
    let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
    let start = Instant::now();
    let mut simulation = Simulation::new(Profile::default(), Limits::default(), Time::from_seconds(1_750_000_000));
    let findings = simulation.apply(texts.iter().map(String::as_str));
    let read = start.elapsed().as_secs_f64();
    assert!(findings.iter().all(Vec::is_empty));
    let start = Instant::now();
    assert_eq!(simulation.run(), Settled::Quiet);
    let settled = start.elapsed().as_secs_f64();
    let pods = simulation.server().cluster().pods();
    let placed = pods.values().filter(|pod| !pod.spec.node_name.is_empty()).count();
    let (looks, writes) = (simulation.looks_at_nodes(), simulation.writes());
    println!(
        "{title}: read in {read:.2} s, settled in {settled:.2} s, {placed} of {} Pods placed, {looks} looks at nodes, {writes} writes",
        pods.len()
    );
    placed
}

#[test]
#[ignore = "takes seconds and is of use in release mode only"]
fn a_trace_settles() {
    assert!(settle("trace", &worlds::trace(1)) > 7_500);
}

#[test]
#[ignore = "takes seconds and is of use in release mode only"]
fn a_batch_settles_at_a_cost_that_grows_with_its_pods() {
    for pods in [5_000, 10_000, 20_000, 40_000] {
        assert_eq!(settle("batch", &worlds::batch(pods, 5_000)), pods);
    }
}

#[test]
#[ignore = "takes seconds and is of use in release mode only"]
fn gangs_settle() {
    assert_eq!(settle("gangs", &worlds::gangs(1_000, 1_000)), 10_000);
}
