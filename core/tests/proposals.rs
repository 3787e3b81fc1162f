//! Proposals that no release has: counters that requests draw from (KEP-5941) and mixins of slices (KEP-5234).
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use apportion_core::allocate::{Answer, Limits, Outcome};
use apportion_core::api::read::Json;
use apportion_core::engine::Engine;
use apportion_core::finding::ObjectRef;
use apportion_core::profile::{Profile, Version};
use apportion_core::wire;
use serde_json::{Value, json};

fn engine(profile: Profile, objects: &[Value]) -> Engine {
    let mut engine = Engine::new(profile, Limits::default());
    let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
    let findings = engine.apply(texts.iter().map(String::as_str));
    assert!(findings.iter().all(Vec::is_empty), "{findings:?}");
    engine
}

fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": { "name": name }, "spec": spec })
}

/// A slice of pool `p` of a driver on node `n`.
fn slice(name: &str, count: u64, content: Value) -> Value {
    let mut spec = json!({ "driver": "nic.example.com", "nodeName": "n",
        "pool": { "name": "p", "generation": 1, "resourceSliceCount": count } });
    spec.as_object_mut().unwrap().extend(content.as_object().unwrap().clone());
    object("ResourceSlice", name, spec)
}

fn surroundings() -> [Value; 2] {
    [
        json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n" } }),
        object("DeviceClass", "any", json!({})),
    ]
}

/// A claim for one device each with these amounts of bandwidth; without an amount where it is empty.
fn claim(name: &str, amounts: &[&str]) -> Value {
    let request = |(index, amount): (usize, &&str)| {
        let mut exactly = json!({ "deviceClassName": "any", "allocationMode": "ExactCount", "count": 1 });
        if !amount.is_empty() {
            exactly["capacity"] = json!({ "requests": { "nic.example.com/bandwidth": amount } });
        }
        json!({ "name": format!("r{index}"), "exactly": exactly })
    };
    let requests: Vec<Value> = amounts.iter().enumerate().map(request).collect();
    let mut claim = object("ResourceClaim", name, json!({ "devices": { "requests": requests } }));
    claim["metadata"]["namespace"] = json!("d");
    claim
}

fn ask(engine: &mut Engine, claim: &Value) -> Answer {
    engine.allocate(&wire::question(json!({ "claims": [claim], "nodes": ["n"] })).unwrap())
}

/// Device and what it consumes, of every result; the reason where there is none.
fn results(answer: &Answer) -> Vec<(String, Value)> {
    let Outcome::Allocated { allocations, .. } = &answer.outcome else { return Vec::new() };
    let results = allocations.iter().flat_map(|allocation| &allocation.devices.results);
    results.map(|result| (result.device.clone(), result.consumed_capacity.write().unwrap_or_default())).collect()
}

/// A network card with 100G for all of its functions, of which each draws what is asked for.
fn functions(is_shared: bool) -> Vec<Value> {
    let policy = json!({ "default": "1G", "validRange": { "min": "1M", "max": "60G", "step": "1M" } });
    let sets = json!([{ "name": "card", "counters": { "bandwidth": { "value": "100G", "requestPolicy": policy } } }]);
    let draws = json!({ "bandwidth": { "valueFrom": { "capacityKey": "nic.example.com/bandwidth" } } });
    let function = |name: &str| {
        json!({ "name": name, "allowMultipleAllocations": is_shared,
            "consumesCounters": [{ "counterSet": "card", "counters": draws }] })
    };
    let devices = json!([function("vf-0"), function("vf-1"), function("vf-2")]);
    vec![slice("counters", 2, json!({ "sharedCounters": sets })), slice("devices", 2, json!({ "devices": devices }))]
}

#[test]
fn functions_of_a_card_share_what_requests_draw() {
    let mut engine = engine(Profile::default(), &[surroundings().to_vec(), functions(false)].concat());
    let amount = |text: &str| json!({ "nic.example.com/bandwidth": text });
    let answer = ask(&mut engine, &claim("c", &["60G", "30500k", ""]));
    // The second amount is rounded to the next step, the third is the default.
    let expected = [("vf-0", "60G"), ("vf-1", "31M"), ("vf-2", "1G")];
    assert_eq!(results(&answer), expected.map(|(device, text)| (device.to_owned(), amount(text))));
    assert!(results(&ask(&mut engine, &claim("c", &["60G", "41G"]))).is_empty(), "101G of 100G");
    assert!(results(&ask(&mut engine, &claim("c", &["61G"]))).is_empty(), "more than the policy allows");
}

#[test]
fn what_claims_in_the_cluster_draw_is_taken_until_they_go() {
    let mut holder = claim("holder", &["60G"]);
    holder["status"] = json!({ "allocation": { "devices": { "results": [{
        "request": "r0", "driver": "nic.example.com", "pool": "p", "device": "vf-1",
        "consumedCapacity": { "nic.example.com/bandwidth": "60G" } }] } } });
    let objects = [surroundings().to_vec(), functions(false), vec![holder]].concat();
    let mut engine = engine(Profile::default(), &objects);
    assert_eq!(results(&ask(&mut engine, &claim("c", &["40G"])))[0].0, "vf-0");
    assert!(results(&ask(&mut engine, &claim("c", &["41G"]))).is_empty());
    let holder = ObjectRef { kind: "ResourceClaim".into(), namespace: "d".into(), name: "holder".into() };
    assert!(engine.delete(&holder));
    assert_eq!(results(&ask(&mut engine, &claim("c", &["41G"])))[0].0, "vf-0");
}

#[test]
fn every_share_of_a_device_draws_its_own_amount() {
    let mut engine = engine(Profile::default(), &[surroundings().to_vec(), functions(true)].concat());
    let devices: Vec<String> =
        results(&ask(&mut engine, &claim("c", &["60G", "40G"]))).into_iter().map(|r| r.0).collect();
    assert_eq!(devices, ["vf-0", "vf-0"]);
    assert!(results(&ask(&mut engine, &claim("c", &["60G", "30G", "11G"]))).is_empty());
}

#[test]
fn without_the_feature_such_devices_are_not_there() {
    let mut engine = engine(Profile::of(Version::V1_37), &[surroundings().to_vec(), functions(false)].concat());
    let answer = ask(&mut engine, &claim("c", &[""]));
    assert!(matches!(answer.outcome, Outcome::Unsatisfied { .. }), "{answer:?}");
}

fn mixed() -> Vec<Value> {
    let mixins = json!({
        "device": [
            { "name": "base", "attributes": { "model": { "string": "old" }, "speed": { "int": 1 } } },
            { "name": "fast", "attributes": { "speed": { "int": 2 } }, "capacity": { "memory": { "value": "8Gi" } } },
        ],
        "deviceCounterConsumption": [{ "name": "half", "counters": { "lanes": { "value": "2" } } }],
    });
    let draws = |include: &str| json!([{ "counterSet": "board", "includes": [include] }]);
    let devices = json!([
        { "name": "d0", "includes": ["base", "fast"], "attributes": { "model": { "string": "new" } }, "consumesCounters": draws("half") },
        { "name": "d1", "includes": ["fast", "base"], "consumesCounters": draws("half") },
        { "name": "d2", "includes": ["gone"] },
    ]);
    let sets = json!([{ "name": "board", "includes": ["lanes"] }]);
    let counters = json!({ "counterSet": [{ "name": "lanes", "counters": { "lanes": { "value": "3" } } }] });
    vec![
        slice("devices", 2, json!({ "mixins": mixins, "devices": devices })),
        slice("counters", 2, json!({ "mixins": counters, "sharedCounters": sets })),
    ]
}

fn selecting(expression: &str) -> Value {
    let mut claim = claim("c", &[""]);
    claim["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = json!([{ "cel": { "expression": expression } }]);
    claim
}

#[test]
fn the_last_mixin_counts_and_the_device_itself_counts_more() {
    let mut engine = engine(Profile::default(), &[surroundings().to_vec(), mixed()].concat());
    let mut chosen = |expression: &str| results(&ask(&mut engine, &selecting(expression))).first().map(|r| r.0.clone());
    let model = |name: &str| format!("device.attributes[\"nic.example.com\"].?model.orValue(\"\") == \"{name}\"");
    assert_eq!(chosen(&model("new")).as_deref(), Some("d0"));
    assert_eq!(chosen(&model("old")).as_deref(), Some("d1"));
    assert_eq!(chosen("device.attributes[\"nic.example.com\"].speed == 2").as_deref(), Some("d0"));
    assert_eq!(chosen("device.attributes[\"nic.example.com\"].speed == 1").as_deref(), Some("d1"));
    // The device with a mixin that is not there is as good as absent; its attributes are never read.
    assert_eq!(chosen("device.attributes[\"nic.example.com\"].speed == 3"), None);
    // Both draw two of three lanes.
    assert!(results(&ask(&mut engine, &claim("c", &["", ""]))).is_empty());
}

#[test]
fn a_slice_with_mixins_is_given_back_as_written_and_read_anew_when_the_gate_changes() {
    let mut engine = engine(Profile::default(), &[surroundings().to_vec(), mixed()].concat());
    let slice = ObjectRef { kind: "ResourceSlice".into(), name: "devices".into(), ..ObjectRef::default() };
    assert_eq!(engine.get(&slice).unwrap()["spec"]["devices"], mixed()[0]["spec"]["devices"]);
    assert!(!results(&ask(&mut engine, &claim("c", &[""]))).is_empty());
    let mut without = Profile::default();
    without.features.resource_slice_mixins = false;
    let mut old = self::engine(without, &[surroundings().to_vec(), mixed()].concat());
    assert!(results(&ask(&mut old, &claim("c", &[""]))).is_empty());
    assert_eq!(old.get(&slice).unwrap()["spec"]["devices"], mixed()[0]["spec"]["devices"]);
}
