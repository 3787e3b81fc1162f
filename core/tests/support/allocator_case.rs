//! One allocator case of the conformance vectors: what to feed to an engine, and how its answer differs.
//!
//! Nothing here knows an engine; objects, settings and question are JSON, and so is the answer.

use std::collections::{BTreeMap, BTreeSet};

use apportion_core::api::quantity::Quantity;
use serde_json::{Value, json};

/// Which recorded outcome is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// The correct one.
    Sound,
    /// What the reference returned, its defects included.
    Reference,
}

/// A case in the form that engines take.
pub(crate) struct Case {
    pub(crate) id: String,
    /// Settings of the engine.
    pub(crate) settings: Value,
    /// Objects of the cluster, in any order.
    pub(crate) objects: Vec<Value>,
    /// The question.
    pub(crate) question: Value,
    /// The outcome in the schema of the vectors.
    pub(crate) expected: Value,
}

const GATES: [(&str, &str); 7] = [
    ("adminAccess", "DRAAdminAccess"),
    ("consumableCapacity", "DRAConsumableCapacity"),
    ("deviceBindingAndStatus", "DRADeviceBindingConditions"),
    ("deviceTaints", "DRADeviceTaints"),
    ("listTypeAttributes", "DRAListTypeAttributes"),
    ("partitionableDevices", "DRAPartitionableDevices"),
    ("prioritizedList", "DRAPrioritizedList"),
];

/// Brings a vector into the form that engines take.
pub(crate) fn read(vector: &Value, wanted: Wanted) -> Case {
    let gates: BTreeMap<&str, bool> =
        GATES.iter().map(|(feature, gate)| (*gate, vector["features"][*feature].as_bool().unwrap_or(false))).collect();
    let mode = if wanted == Wanted::Sound { "sound" } else { "reference" };
    let sound = vector.get("soundExpected").filter(|_| wanted == Wanted::Sound);
    let list = |field: &str| vector[field].as_array().cloned().unwrap_or_default();
    let mut objects = vec![vector["node"].clone()];
    objects.extend(list("classes"));
    objects.extend(distinct_names(list("slices")));
    Case {
        id: vector["id"].as_str().unwrap_or_default().to_owned(),
        // The vectors were recorded with 1.36.
        settings: json!({ "version": "1.36", "featureGates": gates, "mode": mode }),
        objects,
        question: json!({
            "claims": list("claims"),
            "nodes": [vector["node"]["metadata"]["name"]],
            "inUse": {
                "devices": list("allocatedDevices"),
                "shares": list("allocatedSharedDevices"),
                "consumed": list("consumedCapacity"),
            },
        }),
        expected: sound.unwrap_or(&vector["expected"]).clone(),
    }
}

/// Two slices of one name cannot be in a cluster: the second gets a name that sorts right behind the first.
fn distinct_names(mut slices: Vec<Value>) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    for slice in &mut slices {
        let name = slice["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let mut unique = name.clone();
        while !seen.insert(unique.clone()) {
            // The character is smaller than every one that a name can have.
            unique.push('!');
        }
        slice["metadata"]["name"] = Value::String(unique);
    }
    slices
}

/// How an answer in canonical JSON differs from the outcome wanted; empty when it does not.
pub(crate) fn differences(case: &Case, answer: &Value) -> Vec<String> {
    let mut differences = Vec::new();
    let mut compare = |what: &str, got: &Value, want: &Value| {
        if got != want {
            differences.push(format!("{what}: got {got}, want {want}"));
        }
    };
    let want = &case.expected;
    let (status, text, is_local) = outcome(answer);
    compare("status", &json!(status), &want["status"]);
    if status == "error" && want["status"] == "error" {
        let want_text = want["error"].as_str().unwrap_or_default();
        let is_same = match comparable_prefix(want_text) {
            Some(prefix) => text.starts_with(prefix),
            None => text == want_text,
        };
        if !is_same {
            compare("error", &json!(text), &want["error"]);
        }
        compare("node-local", &json!(is_local), &json!(want["nodeLocalError"] == json!(true)));
    }
    if status == "allocated" && want["status"] == "allocated" {
        let mut shares = BTreeSet::new();
        let mut got = answer["allocations"].clone();
        let mut want = want["allocations"].clone();
        let mut repeated = Vec::new();
        visit(&mut got, "shareID", &mut |share| {
            let text = share.as_str().unwrap_or_default().to_owned();
            if text.len() != 36 || !shares.insert(text.clone()) {
                repeated.push(text);
            }
            *share = json!("00000000-0000-0000-0000-000000000000");
        });
        compare("share ids that are not fresh UUIDs", &json!(repeated), &json!([]));
        for side in [&mut got, &mut want] {
            visit(side, "consumedCapacity", &mut |amounts| {
                for amount in amounts.as_object_mut().into_iter().flatten().map(|(_, amount)| amount) {
                    canonical(amount);
                }
            });
            visit(side, "tolerations", &mut |tolerations| {
                for toleration in tolerations.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
                    // The API server sets it.
                    toleration.entry("operator").or_insert(json!("Equal"));
                }
            });
        }
        compare("allocations", &got, &want);
    }
    differences
}

/// Status, reference text and node-locality in the terms of the vectors.
fn outcome(answer: &Value) -> (String, String, bool) {
    let status = answer["status"].as_str().unwrap_or_default().to_owned();
    let failure = match status.as_str() {
        "none" => &answer["nodes"][0]["failure"],
        "error" => answer,
        _ => return (status, String::new(), false),
    };
    match failure["reference"].as_str() {
        Some(text) => ("error".to_owned(), text.to_owned(), failure["nodeLocal"] == json!(true)),
        None => (status, String::new(), false),
    }
}

/// Up to where an error text is the allocator's own: CEL and the lister have their own words.
fn comparable_prefix(text: &str) -> Option<&str> {
    let markers = ["CEL compile error: ", "CEL runtime error: ", "could not retrieve device class "];
    markers.iter().find_map(|marker| text.find(marker).map(|position| &text[..position + marker.len()]))
}

fn canonical(amount: &mut Value) {
    if let Some(quantity) = amount.as_str().and_then(|text| Quantity::parse(text).ok()) {
        // By value: as a plain number of billionths.
        let nano = Quantity::parse("1n").ok().and_then(|nano| quantity.checked_add(&nano)?.checked_sub(&nano));
        *amount = json!(nano.map(|quantity| decimal(&quantity)).unwrap_or_default());
    }
}

/// A quantity as exact text that does not depend on its suffix style.
fn decimal(quantity: &Quantity) -> String {
    let zero = Quantity::parse("0.0").unwrap_or_default();
    // A sum takes the style of its first part; zero takes that of the other one.
    let one = Quantity::parse("1").unwrap_or_default();
    let shifted = one.checked_add(quantity).and_then(|sum| sum.checked_sub(&one));
    shifted.unwrap_or(zero).to_string()
}

fn visit(value: &mut Value, field: &str, change: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Object(map) => {
            for (name, inner) in map {
                if name == field { change(inner) } else { visit(inner, field, change) }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, field, change)),
        _ => {}
    }
}
