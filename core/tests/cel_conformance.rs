//! The recorded selectors of the reference: outcome, error class, costs.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test reads files and fails by panicking"
)]

use std::path::Path;

use apportion_core::api::read::{Json, Path as FieldPath};
use apportion_core::api::slice::Device;
use apportion_core::cel::{COST_LIMIT, CompileErrorKind, DeviceView, Environment, compile};
use apportion_core::profile::Version;
use serde_json::Value;

/// What an evaluation gives: status, error text, static and actual cost.
#[derive(PartialEq, Debug)]
struct Outcome {
    status: &'static str,
    error: String,
    max_cost: Option<u64>,
    actual_cost: Option<u64>,
}

fn evaluate(case: &Value) -> Outcome {
    let env = Environment {
        stored: case["environment"] == "stored",
        consumable_capacity: case["features"]["consumableCapacity"] == true,
        list_type_attributes: case["features"]["listTypeAttributes"] == true,
        version: Version::V1_36,
    };
    let program = match compile(case["expression"].as_str().unwrap(), &env) {
        Ok(program) => program,
        Err(error) => {
            assert_ne!(error.kind, CompileErrorKind::NotSupportedHere, "{error}");
            return Outcome { status: "compileError", error: error.message, max_cost: None, actual_cost: None };
        }
    };
    let mut findings = Vec::new();
    let device = Device::read(case["device"].clone(), &FieldPath::ROOT, &mut findings).unwrap();
    let driver = case["device"]["driver"].as_str().unwrap_or_default();
    let view = DeviceView {
        driver,
        attributes: &device.attributes,
        capacity: &device.capacity,
        allow_multiple_allocations: device.allow_multiple_allocations.unwrap_or_default(),
    };
    let max_cost = Some(program.max_cost());
    match program.matches(&view, COST_LIMIT) {
        Ok(found) => {
            let status = if found.matched { "match" } else { "noMatch" };
            Outcome { status, error: String::new(), max_cost, actual_cost: Some(found.cost) }
        }
        Err(error) => Outcome { status: "runtimeError", error: error.message, max_cost, actual_cost: error.cost },
    }
}

fn problem(case: &Value) -> Option<String> {
    let expected = &case["expected"];
    let got = evaluate(case);
    let cost = |field: &str| expected[field].as_u64();
    let contains = expected["errorContains"].as_str().unwrap_or_default();
    let is_right = got.status == expected["status"]
        && got.error.contains(contains)
        && (cost("maxCost").is_none() || cost("maxCost") == got.max_cost)
        && (cost("actualCost").is_none() || cost("actualCost") == got.actual_cost)
        // Syntax errors of the reference name all that its parser generator would have accepted.
        && (contains_syntax(expected) || got.error == expected["error"].as_str().unwrap_or_default());
    (!is_right).then(|| format!("{}: `{}`\n  want {expected}\n  got  {got:?}", case["id"], case["expression"]))
}

fn contains_syntax(expected: &Value) -> bool {
    expected["error"].as_str().is_some_and(|error| error.contains("Syntax error"))
}

fn run(file: &str, count: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance/cel").join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("0 selectors compared: no recorded data here");
        return;
    };
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() >= count);
    let problems: Vec<String> = cases.iter().filter_map(problem).collect();
    println!("{} selectors compared", cases.len());
    assert!(problems.is_empty(), "{} of {} differ\n{}", problems.len(), cases.len(), problems.join("\n"));
}

#[test]
fn the_reference_s_own_selectors_agree() {
    run("cases.json", 87);
}

#[test]
fn the_selectors_beyond_the_reference_s_own_agree() {
    run("extra.json", 492);
}
