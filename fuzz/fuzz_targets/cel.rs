//! Selectors: no expression stops the compiler, the parser, the checker or the evaluator, its cost stays near the limit,
//! and a second evaluation gives the same answer.

#![no_main]

use std::sync::LazyLock;

use apportion_core::cel::{COST_LIMIT, Environment};
use apportion_core::evaluate::{DeviceSample, evaluate, read_device};
use apportion_core::profile::Profile;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

static DEVICE: LazyLock<DeviceSample> = LazyLock::new(|| {
    let device = json!({
        "driver": "gpu.example.com",
        "attributes": {
            "model": { "string": "a100" },
            "numa": { "int": 1 },
            "healthy": { "bool": true },
            "driverVersion": { "version": "1.2.3" },
            "dra.example.com/tags": { "strings": ["a", "b"] },
        },
        "capacity": { "memory": { "value": "40Gi" } },
        "allowMultipleAllocations": true,
    });
    read_device(device).unwrap_or_default()
});

fuzz_target!(|expression: &str| {
    let profile = Profile::default();
    for environment in [
        Environment::stored(profile.version, &profile.features),
        Environment::new_expressions(profile.version, &profile.features),
    ] {
        let answer = evaluate(expression, &DEVICE, &environment);
        assert_eq!(answer, evaluate(expression, &DEVICE, &environment));
        // One call may pass the limit, and is the last one then.
        assert!(answer.actual_cost.is_none_or(|cost| cost <= 100 * COST_LIMIT), "{answer:?}");
    }
});
