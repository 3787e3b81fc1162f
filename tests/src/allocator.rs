//! Allocation problems recorded from the reference: a case becomes settings, objects and a question; the answer is compared.

use std::collections::BTreeSet;

use apportion_core::api::quantity::Quantity;
use serde_json::{Map, Value, json};

use crate::door::{Asked, Question};

/// Feature names of the vectors, and of what is newer than the vectors, and the gate behind each.
const GATES: [(&str, &str); 11] = [
    ("adminAccess", "DRAAdminAccess"),
    ("compatibilityGroups", "DRADeviceCompatibilityGroups"),
    ("consumableCapacity", "DRAConsumableCapacity"),
    ("derivedAttributes", "DRADerivedAttributes"),
    ("deviceBindingAndStatus", "DRADeviceBindingConditions"),
    ("deviceTaints", "DRADeviceTaints"),
    ("fractionalCapacityRange", "DRAFractionalCapacityRange"),
    ("listTypeAttributes", "DRAListTypeAttributes"),
    ("optionalNodeOperations", "DRAOptionalNodeOperations"),
    ("partitionableDevices", "DRAPartitionableDevices"),
    ("prioritizedList", "DRAPrioritizedList"),
];

/// Which of a case's two outcomes is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The correct one.
    Sound,
    /// The reference's own.
    Reference,
}

impl Mode {
    /// The name in ids and settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Reference => "reference",
        }
    }
}

/// What a case asks.
pub fn asked(case: &Value, mode: Mode) -> Asked {
    let mut gates = Map::new();
    for (feature, gate) in GATES {
        let on = case.pointer(&format!("/features/{feature}")).and_then(Value::as_bool).unwrap_or(false);
        gates.insert(gate.to_owned(), Value::Bool(on));
    }
    let list = |name: &str| case.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut objects = vec![case.get("node").cloned().unwrap_or_default()];
    objects.extend(list("classes"));
    objects.extend(distinct_names(list("slices")));
    let node = case.pointer("/node/metadata/name").cloned().unwrap_or_default();
    Asked {
        settings: json!({
            "version": case.get("version").map_or("1.36", |version| version.as_str().unwrap_or_default()),
            "featureGates": gates,
            "mode": mode.name(),
            "maxSteps": case.get("maxSteps"),
        }),
        objects,
        question: Question::Allocate(json!({
            "claims": list("claims"),
            "nodes": [node],
            "inUse": {
                "devices": list("allocatedDevices"),
                "shares": list("allocatedSharedDevices"),
                "consumed": list("consumedCapacity"),
            },
        })),
    }
}

/// A cluster cannot hold two slices of one name; the second gets a name that sorts directly behind the first.
fn distinct_names(mut slices: Vec<Value>) -> Vec<Value> {
    let mut taken = BTreeSet::new();
    for slice in &mut slices {
        let Some(Value::String(name)) = slice.pointer_mut("/metadata/name") else { continue };
        while !taken.insert(name.clone()) {
            name.push('!');
        }
    }
    slices
}

/// Compares an answer with the outcome that the case expects in a mode.
///
/// # Errors
///
/// What differs, in one line.
pub fn check(case: &Value, mode: Mode, answer: &str) -> Result<(), String> {
    let answer: Value = serde_json::from_str(answer).map_err(|error| format!("the answer is not JSON: {error}"))?;
    let sound = case.get("soundExpected").filter(|_| mode == Mode::Sound);
    let expected = sound.or_else(|| case.get("expected")).ok_or("the case has no outcome")?;
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let node_failure = answer.pointer("/nodes/0/failure");
    let status = match text(&answer, "status").as_str() {
        "none" if node_failure.is_some() => "error".to_owned(),
        other => other.to_owned(),
    };
    if status != text(expected, "status") {
        return Err(format!("expected {}, got {answer}", outcome_line(expected)));
    }
    match status.as_str() {
        "allocated" => compare_allocations(expected.get("allocations"), answer.get("allocations")),
        "error" => {
            let node_local = expected.get("nodeLocalError").and_then(Value::as_bool).unwrap_or(false);
            if node_local != node_failure.is_some() {
                return Err(format!("expected an error with nodeLocal {node_local}, got {answer}"));
            }
            let got = text(node_failure.unwrap_or(&answer), "reference");
            compare_error(&text(expected, "error"), &got)
        }
        "gave-up" if expected.get("steps") != answer.get("steps") => {
            Err(format!("expected to give up {}, got {answer}", outcome_line(expected)))
        }
        _ => Ok(()),
    }
}

fn outcome_line(expected: &Value) -> String {
    match expected.get("error").and_then(Value::as_str) {
        Some(error) => format!("error `{error}`"),
        None => expected.to_string(),
    }
}

/// Texts that other programs write behind a known beginning are compared up to there.
fn compare_error(expected: &str, got: &str) -> Result<(), String> {
    const FOREIGN: [&str; 6] = [
        " failed: compilation failed: ",
        "CEL compile error: ",
        "CEL runtime error: ",
        "could not retrieve device class ",
        "failed to parse node selector",
        "failed to perform node selection for device",
    ];
    let known = |text: &str| {
        FOREIGN
            .iter()
            .find_map(|marker| text.find(marker).map(|at| text.chars().take(at + marker.len()).collect::<String>()))
            .unwrap_or_else(|| text.to_owned())
    };
    if known(expected) == known(got) { Ok(()) } else { Err(format!("expected error `{expected}`, got `{got}`")) }
}

fn compare_allocations(expected: Option<&Value>, got: Option<&Value>) -> Result<(), String> {
    let (expected, got) = (expected.cloned().unwrap_or(json!([])), got.cloned().unwrap_or(json!([])));
    let mut shares = BTreeSet::new();
    for id in share_ids(&got) {
        let shaped = id.len() == 36 && id.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
        if !shaped || !shares.insert(id.clone()) {
            return Err(format!("share id `{id}` is malformed or given twice"));
        }
    }
    if same(&expected, &got) { Ok(()) } else { Err(format!("expected {expected}, got {got}")) }
}

fn share_ids(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(share_ids).collect(),
        Value::Object(map) => map
            .iter()
            .flat_map(|(name, item)| match item {
                Value::String(id) if name == "shareID" => vec![id.clone()],
                other => share_ids(other),
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Equal but for the text of share ids and the spelling of consumed quantities.
fn same(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, left)| {
                    right.get(name).is_some_and(|right| match name.as_str() {
                        "shareID" => true,
                        "consumedCapacity" => same_amounts(left, right),
                        "parameters" => left == right,
                        _ => same(left, right),
                    })
                })
        }
        (left, right) => left == right,
    }
}

pub(crate) fn same_amounts(expected: &Value, got: &Value) -> bool {
    let read = |value: &Value| -> Option<Vec<(String, Quantity)>> {
        let amounts = value.as_object()?.iter();
        amounts.map(|(name, amount)| Some((name.clone(), Quantity::parse(amount.as_str()?).ok()?))).collect()
    };
    read(expected).is_some_and(|expected| read(got) == Some(expected))
}
