//! Questions and settings as JSON.

use apportion_core::wire::{question, settings};
use serde_json::json;

#[test]
fn settings_name_what_they_do_not_know() {
    let wrong = settings(json!({ "featureGates": { "DRAMagic": true } })).unwrap_err();
    assert_eq!(wrong[0].path, "featureGates[DRAMagic]");
    assert!(settings(json!({ "version": "1.12" })).is_err());
    assert!(settings(json!({ "mod": "sound" })).is_err());
}

#[test]
fn gates_change_the_defaults_of_the_version() {
    let (profile, _) = settings(json!({ "version": "1.36", "featureGates": { "DRADeviceTaints": false } })).unwrap();
    assert!(!profile.features.device_taints && profile.features.consumable_capacity);
}

#[test]
fn a_question_is_read_with_everything_in_it() {
    let read = question(json!({
        "claims": [{ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c" } }],
        "nodes": ["a"],
        "inUse": { "consumed": [{ "driver": "d", "pool": "p", "device": "x", "capacity": { "m": "1Gi" } }] },
    }))
    .unwrap();
    assert_eq!(read.claims.len(), 1);
    assert_eq!(read.in_use.consumed[0].1["m"].to_string(), "1Gi");
}
