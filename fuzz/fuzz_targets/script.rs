//! Scripts: none stops the reader, its commands read the same once they were written, and none of them stops the cluster that it is
//! done to.

#![no_main]

use std::sync::LazyLock;

use apportion_core::allocate::Limits;
use apportion_core::control_plane::script::script;
use apportion_core::control_plane::{Command, Simulation};
use apportion_core::decision::Time;
use apportion_core::profile::Profile;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const START: Time = Time::from_millis(1_700_000_000_000);

/// How much time a script may let pass, in milliseconds.
const LONGEST: i64 = 600_000;

/// A small cluster at rest.
static CLUSTER: LazyLock<Simulation> = LazyLock::new(|| {
    let objects: Vec<Value> = serde_json::from_str(include_str!("../cluster.json")).unwrap_or_default();
    let mut simulation = Simulation::new(Profile::default(), Limits { max_steps: 10_000 }, START);
    let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
    simulation.submit(texts.iter().map(String::as_str));
    simulation.begin();
    simulation.run_until(START.plus_seconds(10));
    simulation
});

fuzz_target!(|text: &[u8]| {
    let Ok(value) = serde_json::from_slice::<Value>(text) else { return };
    let Ok(steps) = script(&value) else { return };
    let mut simulation = CLUSTER.clone();
    for step in steps.into_iter().take(12) {
        let written = json!(step.command);
        assert_eq!(serde_json::from_value::<Command>(written).ok(), Some(step.command.clone()));
        simulation.run_until(START.plus_millis(10_000 + step.at_millis.clamp(0, LONGEST)));
        // One that is refused is an answer as well.
        let _ = simulation.perform(step.command);
    }
    simulation.run_until(START.plus_millis(20_000 + LONGEST));
});
