//! What an evaluation may take is counted in steps, not in time.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "helpers of tests")]

use std::collections::BTreeMap;

use apportion_core::allocate::{Limits, Outcome, Question};
use apportion_core::cel::{COST_LIMIT, DeviceView, Environment, compile};
use apportion_core::engine::{Engine, read_claim_value};
use apportion_core::profile::{Features, Profile, Version};
use serde_json::{Value, json};

const TOO_MANY: &str = "operation cancelled: the evaluation takes too many steps";

fn evaluate(source: &str) -> Result<bool, String> {
    let env = Environment::stored(Version::V1_36, &Features::of(Version::V1_36));
    let (attributes, capacity) = (BTreeMap::new(), BTreeMap::new());
    let device = DeviceView {
        driver: "gpu.example.com",
        attributes: &attributes,
        capacity: &capacity,
        allow_multiple_allocations: false,
    };
    let program = compile(source, &env).map_err(|error| error.message)?;
    program.matches(&device, COST_LIMIT).map(|found| found.matched).map_err(|error| error.message)
}

/// A text of 90,000 characters, and a pattern of 49,000 instructions in 400 characters.
fn hostile(pattern: &str) -> String {
    let (text, part) = ("a".repeat(300), "a".repeat(300));
    format!("'{text}'.replace('a', '{part}').matches('{}{pattern}')", ".{1000}".repeat(49))
}

#[test]
fn a_pattern_that_repeats_ends_at_the_limit() {
    assert_eq!(evaluate(&hostile("b")), Err(TOO_MANY.to_owned()));
    assert_eq!(evaluate("'aaa'.matches('a{2}')"), Ok(true));
}

#[test]
fn patterns_compiled_again_and_again_are_counted() {
    let pattern = ".{1000}".repeat(49);
    let source = format!(
        "[1,2,3,4,5,6,7,8,9,10].all(i, [1,2,3,4,5,6,7,8,9,10].all(j, [1,2,3,4,5,6,7,8,9,10].all(k, [1,2].all(l, !'a'.matches('{pattern}'.trim())))))"
    );
    assert_eq!(evaluate(&source), Err(TOO_MANY.to_owned()));
}

#[test]
fn a_list_that_holds_itself_many_times_is_not_walked_through() {
    let mut source = "v9 == v9".to_owned();
    for level in (1..10).rev() {
        let item = format!("v{}", level - 1);
        source = format!("cel.bind(v{level}, [{}], {source})", vec![item; 10].join(","));
    }
    assert_eq!(evaluate(&format!("cel.bind(v0, [1], {source})")), Err(TOO_MANY.to_owned()));
}

fn claim(name: &str, selectors: &[String]) -> Value {
    let selectors: Vec<Value> =
        selectors.iter().map(|expression| json!({ "cel": { "expression": expression } })).collect();
    let exactly = json!({ "deviceClassName": "gpu", "selectors": selectors });
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": name, "namespace": "ml" },
        "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": exactly }] } },
    })
}

#[test]
fn selectors_that_take_long_end_in_a_finding_about_their_claim() {
    let text = "a".repeat(300);
    let expression = |number: usize| format!("!'{text}'.replace('a', '{text}').matches('.{{{}}}b')", 440 + number);
    let class =
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" }, "spec": {} });
    let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-a" } });
    let slice = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "slice" },
        "spec": {
            "driver": "gpu.example.com", "nodeName": "node-a", "devices": [{ "name": "gpu-0" }],
            "pool": { "name": "node-a", "generation": 1, "resourceSliceCount": 1 },
        },
    });
    let mut engine = Engine::new(Profile::default(), Limits::default());
    engine.apply([&class, &node, &slice].map(serde_json::Value::to_string).iter().map(String::as_str));
    let ask = |claim: Value| Question { claims: vec![read_claim_value(claim).unwrap()], ..Question::default() };
    let answer = engine.allocate(&ask(claim("slow", &(0..8).map(expression).collect::<Vec<_>>())));
    let Outcome::Failed { failure, .. } = &answer.outcome else { panic!("{answer:?}") };
    assert_eq!(failure.finding.object.as_ref().unwrap().name, "slow");
    assert!(failure.finding.message.contains("too many steps"), "{failure:?}");
    assert_eq!(failure.finding.path, "spec.devices.requests[0].exactly.selectors[5].cel.expression");

    let answer = engine.allocate(&ask(claim("one", &[expression(0)])));
    assert!(matches!(answer.outcome, Outcome::Allocated { .. }), "{answer:?}");
    assert!(answer.steps > 2_000_000, "its evaluation counts in the search's steps: {}", answer.steps);
    let answer = engine.allocate(&ask(claim("other", &["true".to_owned()])));
    assert!(matches!(answer.outcome, Outcome::Allocated { .. }), "{answer:?}");
    assert_eq!(answer.steps, 1);
}
