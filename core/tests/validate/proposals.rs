//! Slices with fields of proposals that no release has: KEP-5234 and KEP-5941.

use apportion_core::finding::Code;
use apportion_core::profile::Version;
use serde_json::{Value, json};

use crate::{brief, create, create_in};

fn slice(content: Value) -> Value {
    let mut spec = json!({ "driver": "nic.example.com", "nodeName": "n",
        "pool": { "name": "p", "generation": 1, "resourceSliceCount": 1 } });
    spec.as_object_mut().unwrap().extend(content.as_object().unwrap().clone());
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "s" }, "spec": spec })
}

fn drawing(counters: Value) -> Value {
    slice(json!({ "devices": [{ "name": "d", "consumesCounters": [{ "counterSet": "s", "counters": counters }] }] }))
}

#[test]
fn an_amount_is_given_or_comes_from_the_request() {
    let at = |rest: &str| format!("spec.devices[0].consumesCounters[0].counters[c]{rest}");
    assert_eq!(brief(&create(drawing(json!({ "c": { "valueFrom": { "capacityKey": "nic.example.com/c" } } })))), []);
    let both = create(drawing(json!({ "c": { "value": "1", "valueFrom": { "capacityKey": "c" } } })));
    assert_eq!(brief(&both), [(Code::ValidateInvalid, at("").as_str())]);
    let nothing = create(drawing(json!({ "c": { "valueFrom": {} } })));
    assert_eq!(brief(&nothing), [(Code::ValidateRequired, at(".valueFrom.capacityKey").as_str())]);
    let slash = create(drawing(json!({ "c": { "valueFrom": { "capacityKey": "a/" } } })));
    assert_eq!(slash[0].path, at(".valueFrom.capacityKey"));
}

#[test]
fn the_policy_of_a_counter_is_checked_like_that_of_a_capacity() {
    let set = |policy: Value| {
        slice(
            json!({ "sharedCounters": [{ "name": "s", "counters": { "c": { "value": "4", "requestPolicy": policy } } }] }),
        )
    };
    let path = "spec.sharedCounters[0].counters[c].requestPolicy";
    assert_eq!(brief(&create(set(json!({ "default": "1", "validRange": { "min": "1", "max": "4" } })))), []);
    let without = create(set(json!({ "validRange": { "min": "1" } })));
    assert_eq!(brief(&without), [(Code::ValidateRequired, format!("{path}.default").as_str())]);
    let beyond = create(set(json!({ "default": "1", "validValues": ["1", "8"] })));
    assert_eq!(brief(&beyond), [(Code::ValidateInvalid, format!("{path}.validValues[1]").as_str())]);
}

#[test]
fn a_mixin_that_is_included_must_be_there_and_the_whole_has_the_limits_of_a_device() {
    let attributes = |prefix: &str| -> Value {
        (0..20)
            .map(|number| (format!("{prefix}{number}"), json!({ "int": 1 })))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let with = |includes: Value, attributes_of_device: Value| {
        let mixins = json!({ "device": [{ "name": "base", "attributes": attributes("a") }] });
        create(slice(json!({ "mixins": mixins,
            "devices": [{ "name": "d", "includes": includes, "attributes": attributes_of_device }] })))
    };
    assert_eq!(brief(&with(json!(["base"]), attributes("a"))), []);
    assert_eq!(brief(&with(json!(["bse"]), json!({}))), [(Code::ValidateInvalid, "spec.devices[0].includes[0]")]);
    assert_eq!(brief(&with(json!(["base"]), attributes("b"))), [(Code::ValidateInvalid, "spec.devices[0]")]);
    let nine = with(json!(vec!["base"; 9]), json!({}));
    assert_eq!(brief(&nine), [(Code::ValidateTooMany, "spec.devices[0].includes")]);
}

#[test]
fn mixins_have_names_of_their_own_and_counters() {
    let found = create(slice(json!({ "devices": [], "mixins": {
        "device": [{ "name": "a" }, { "name": "a" }],
        "counterSet": [{ "name": "Not A Label", "counters": { "c": { "value": "1" } } }],
        "deviceCounterConsumption": [{ "name": "empty" }],
    } })));
    let paths: Vec<&str> = found.iter().map(|finding| finding.path.as_str()).collect();
    let expected =
        ["spec.mixins.device[1]", "spec.mixins.counterSet[0].name", "spec.mixins.deviceCounterConsumption[0].counters"];
    assert_eq!(paths, expected);
}

#[test]
fn no_release_knows_them() {
    let found = create_in(Version::V1_37, slice(json!({ "devices": [{ "name": "d", "includes": ["m"] }] })));
    assert_eq!(brief(&found), [(Code::ValidateProposed, "spec.devices[0].includes")]);
}
