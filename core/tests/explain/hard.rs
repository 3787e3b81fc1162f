//! Questions that invite to try out more than there is time for.

use apportion_core::engine::Engine;
use serde_json::{Value, json};

use super::questions::{ask, of};

/// A node with so many devices, and a claim of 32 requests with 8 alternatives each.
fn explained(devices: usize, selector: &str) -> Value {
    let devices: Vec<Value> = (0..devices)
        .map(|number| {
            let model = format!("m{}", number % 4);
            json!({ "name": format!("gpu-{number}"), "attributes": { "model": { "string": model } } })
        })
        .collect();
    let alternative = |number: usize| {
        let expression = selector.replace("NUMBER", &number.to_string());
        json!({ "name": format!("s{number}"), "deviceClassName": "gpu", "selectors": [{ "cel": { "expression": expression } }] })
    };
    let alternatives: Vec<Value> = (0..8).map(alternative).collect();
    let requests: Vec<Value> =
        (0..32).map(|number| json!({ "name": format!("r{number}"), "firstAvailable": alternatives })).collect();
    let objects = [
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" },
            "spec": { "selectors": [{ "cel": { "expression": "device.driver == 'd.example.com'" } }] } }),
        json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n" } }),
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "n" },
            "spec": { "driver": "d.example.com", "nodeName": "n", "devices": devices,
                "pool": { "name": "n", "generation": 1, "resourceSliceCount": 1 } } }),
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "namespace": "ml", "name": "c" },
            "spec": { "devices": { "requests": requests } } }),
    ];
    let engine = engine(json!({}), &objects);
    let subject = json!({ "kind": "ResourceClaim", "namespace": "ml", "name": "c" });
    let answer = engine.inquire(json!({ "kind": "explain", "subject": subject, "suggestions": true })).unwrap();
    answer[0].clone()
}

fn engine(settings: Value, objects: &[Value]) -> Engine {
    let (profile, limits) = apportion_core::wire::settings(settings).unwrap();
    let mut engine = Engine::new(profile, limits);
    let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
    engine.apply(texts.iter().map(String::as_str));
    engine
}

fn is_cut_off(explanation: &Value) -> bool {
    explanation["stage"].as_array().unwrap().iter().any(|finding| finding["code"] == "explain/cut-off")
}

/// Each trial alone is within the limit of one; there would be thousands.
#[test]
fn what_takes_too_many_trials_is_cut_off_and_says_so() {
    for selector in [
        "device.attributes['d.example.com'].model == 'xNUMBER'",
        "device.attributes['d.example.com'].model == 'mNUMBER'",
    ] {
        let explanation = explained(8, selector);
        assert_eq!(explanation["state"], "noDevices");
        assert!(is_cut_off(&explanation), "{explanation}");
        assert!(!explanation["requests"].as_array().unwrap().is_empty(), "the reason is there");
    }
}

#[test]
fn many_changes_in_vain_leave_steps_for_the_other_ones() {
    let explanation = explained(31, "true");
    let text = explanation["suggestions"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("add 1 device of class `gpu`"), "{text}");
}

#[test]
fn questions_of_every_day_are_not_cut_off() {
    let mut count = 0;
    for seed in 0..20 {
        let (settings, objects) = crate::made::made(seed);
        let answer = engine(settings, &objects).inquire(json!({ "kind": "explain", "suggestions": true })).unwrap();
        for explanation in answer.as_array().unwrap() {
            assert!(!is_cut_off(explanation), "{explanation}");
            count += 1;
        }
    }
    assert!(count >= 20, "{count} explanations");
}

/// More requests than are added up: none of them is left out of a sum.
#[test]
fn a_pod_with_eighty_requests_is_not_said_to_ask_for_fewer_devices() {
    let devices: Vec<Value> = (0..40).map(|number| json!({ "name": format!("gpu-{number}") })).collect();
    let request = |number: u32| json!({ "name": format!("r{number}"), "exactly": { "deviceClassName": "gpu" } });
    let requests: Vec<Value> = (0..20).map(request).collect();
    let claim = |name: &str| {
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "namespace": "ml", "name": name },
            "spec": { "devices": { "requests": requests } } })
    };
    let names = ["a", "b", "c", "d"];
    let entries = names.map(|name| json!({ "name": name, "resourceClaimName": name }));
    let mut objects = vec![
        json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n" } }),
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" }, "spec": {} }),
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "n" },
            "spec": { "driver": "d.example.com", "nodeName": "n", "devices": devices,
                "pool": { "name": "n", "generation": 1, "resourceSliceCount": 1 } } }),
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "namespace": "ml", "name": "many" },
            "spec": { "resourceClaims": entries, "containers": [{ "name": "c", "image": "x" }] } }),
    ];
    objects.extend(names.map(claim));
    let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
    let mut engine = of(json!({}));
    engine.apply(texts.iter().map(String::as_str));
    let subject = json!({ "kind": "Pod", "namespace": "ml", "name": "many" });
    let answer: Value = ask(&engine, json!({ "kind": "explain", "subject": subject }));
    assert!(answer.to_string().contains("not all of them together"), "{answer}");
    assert!(!answer.to_string().contains("asks for 64"), "{answer}");
}
