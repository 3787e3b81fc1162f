//! What hosts hand through as JSON: whatever it is, every call answers, and the same call gives the same answer.
//!
//! Each line is the name of a call and its argument.

#![no_main]

use std::sync::LazyLock;

use apportion_core::allocate::Limits;
use apportion_core::control_plane::Simulation;
use apportion_core::decision::Time;
use apportion_core::engine::Engine;
use apportion_core::evaluate::evaluate;
use apportion_core::profile::Profile;
use apportion_core::wire::{self, controller, simulation};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const LIMITS: Limits = Limits { max_steps: 10_000 };

/// Most calls: a run has to end soon.
const MOST: usize = 12;

static CLUSTER: LazyLock<Engine> = LazyLock::new(|| {
    let objects: Vec<Value> = serde_json::from_str(include_str!("../cluster.json")).unwrap_or_default();
    let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
    let mut engine = Engine::new(Profile::default(), LIMITS);
    engine.submit(texts.iter().map(String::as_str));
    engine
});

fuzz_target!(|text: &str| {
    let mut simulations =
        [(); 2].map(|()| Simulation::new(Profile::default(), LIMITS, Time::from_millis(1_700_000_000_000)));
    for line in text.lines().take(MOST) {
        let (name, argument) = line.split_once(' ').unwrap_or((line, "null"));
        let Ok(argument) = serde_json::from_str::<Value>(argument) else { continue };
        let answers = [(); 2].map(|()| ask(name, argument.clone()));
        assert_eq!(answers[0], answers[1]);
        let [one, other] = &mut simulations;
        let Ok(first) = simulation::call(one, name, near(name, argument.clone()));
        let Ok(second) = simulation::call(other, name, near(name, argument));
        assert_eq!(first, second);
    }
});

/// The caller chooses how long a simulation runs, even years. The fuzzer stops at an hour.
fn near(name: &str, argument: Value) -> Value {
    match (name, argument.as_i64()) {
        ("runUntil", Some(millis)) => json!(1_700_000_000_000 + millis.rem_euclid(3_600_000)),
        _ => argument,
    }
}

/// A question without a past. `null` where there is no such question.
fn ask(name: &str, argument: Value) -> Value {
    let findings = |findings| json!({ "findings": findings });
    match name {
        "settings" => match wire::settings(argument.clone()) {
            Ok((profile, _)) => json!(wire::components(&argument, &profile).is_ok()),
            Err(found) => findings(found),
        },
        "controller" => {
            controller::controller(Profile::default(), LIMITS, argument).map_or_else(findings, |_| json!({}))
        }
        "allocate" => {
            wire::question(argument).map_or_else(findings, |question| CLUSTER.clone().allocate(&question).to_json())
        }
        "evaluate" => wire::selector(argument).map_or_else(findings, |question| {
            evaluate(&question.expression, &question.device, &question.environment).to_json()
        }),
        "validate" => wire::validation(argument).map_or_else(findings, |question| question.answer()),
        "inquire" => CLUSTER.inquire(argument).unwrap_or_else(findings),
        _ => Value::Null,
    }
}
