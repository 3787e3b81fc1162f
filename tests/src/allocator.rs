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

/// The release of the cases that do not name one.
const RECORDED: &str = "1.36.2";

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
    let nodes = if is_of_several(case) { list("nodes") } else { vec![case.get("node").cloned().unwrap_or_default()] };
    let name_of = |node: &Value| node.pointer("/metadata/name").cloned().unwrap_or_default();
    let names: Vec<Value> = nodes.iter().map(name_of).collect();
    let mut objects = nodes;
    objects.extend(list("classes"));
    objects.extend(distinct_names(list("slices")));
    Asked {
        settings: json!({
            "version": case.get("version").map_or(RECORDED, |version| version.as_str().unwrap_or_default()),
            "featureGates": gates,
            "mode": mode.name(),
            "maxSteps": case.get("maxSteps"),
        }),
        objects,
        question: Question::Allocate(json!({
            "claims": list("claims"),
            "nodes": names,
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
    let sound = case.get("soundExpected").filter(|_| mode == Mode::Sound);
    let expected = sound.or_else(|| case.get("expected")).ok_or("the case has no outcome")?;
    let (expected, got) = (essence(expected, case), outcome(answer, case)?);
    if expected == got { Ok(()) } else { Err(format!("expected {expected}, got {got}")) }
}

/// What counts of an answer to a case, in the form of [`essence`].
///
/// # Errors
///
/// When the answer is not JSON, or the ids of its shares are not ids.
pub fn outcome(answer: &str, case: &Value) -> Result<Value, String> {
    let mut answer: Value = serde_json::from_str(answer).map_err(|error| format!("the answer is not JSON: {error}"))?;
    let allocations = answer.get("allocations").unwrap_or(&Value::Null);
    let mut shares = BTreeSet::new();
    for id in share_ids(allocations) {
        let is_shaped = id.len() == 36 && id.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
        if !is_shaped || !shares.insert(id.clone()) {
            return Err(format!("share id `{id}` is malformed or given twice"));
        }
    }
    let failures: Vec<Value> = answer
        .get("nodes")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|node| node.pointer("/failure/reference").cloned().unwrap_or(json!("")))
        .collect();
    let reference = answer.get("reference").cloned();
    let status = answer.get("status").cloned().unwrap_or_default();
    if let Some(map) = answer.as_object_mut() {
        map.insert("error".to_owned(), reference.unwrap_or_default());
        match failures.as_slice() {
            // In the reference what ends the search on the only node is an error.
            [failure] if status == "none" && !is_of_several(case) && failure != "" => {
                map.insert("status".to_owned(), json!("error"));
                map.insert("nodeLocalError".to_owned(), json!(true));
                map.insert("error".to_owned(), failure.clone());
            }
            _ => {
                map.insert("errors".to_owned(), json!(failures));
            }
        }
    }
    Ok(essence(&answer, case))
}

/// What counts of an outcome: its status, the allocations without the ids of shares and with amounts in one spelling, errors up to
/// where another program's words begin, steps where the search gave up.
pub fn essence(outcome: &Value, case: &Value) -> Value {
    let field = |name: &str| outcome.get(name).cloned().unwrap_or_default();
    let status = field("status");
    let several = is_of_several(case);
    let known = |text: &Value| json!(known(text.as_str().unwrap_or_default()));
    let details = match status.as_str().unwrap_or_default() {
        "allocated" => {
            let mut allocations = outcome.get("allocations").cloned().unwrap_or(json!([]));
            spell(&mut allocations);
            json!([allocations, several.then(|| field("node"))])
        }
        "error" => json!([field("nodeLocalError") == true, known(&field("error")), several.then(|| field("node"))]),
        "none" if several => field("errors").as_array().into_iter().flatten().map(known).collect(),
        "gave-up" => field("steps"),
        _ => Value::Null,
    };
    json!([status, details])
}

/// Whether a case asks about several nodes, in order.
fn is_of_several(case: &Value) -> bool {
    case.get("nodes").is_some()
}

/// The part of an error that the reference itself wrote.
fn known(text: &str) -> String {
    const FOREIGN: [&str; 6] = [
        " failed: compilation failed: ",
        "CEL compile error: ",
        "CEL runtime error: ",
        "could not retrieve device class ",
        "failed to parse node selector",
        "failed to perform node selection for device",
    ];
    let end = FOREIGN.iter().find_map(|marker| Some(text.split_once(marker)?.0.len() + marker.len()));
    text.get(..end.unwrap_or(text.len())).unwrap_or(text).to_owned()
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

/// Writes the ids of shares and amounts in one way. Parameters of drivers stay as they are.
fn spell(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(spell),
        Value::Object(map) => {
            for (name, item) in map {
                match name.as_str() {
                    "shareID" => *item = json!("share"),
                    "parameters" => {}
                    "consumedCapacity" => {
                        for amount in item.as_object_mut().into_iter().flat_map(Map::values_mut) {
                            let read = amount.as_str().and_then(|text| Quantity::parse(text).ok());
                            *amount = read
                                .and_then(|read| read.billionths())
                                .map_or_else(|| amount.take(), |read| json!(read.to_string()));
                        }
                    }
                    _ => spell(item),
                }
            }
        }
        _ => {}
    }
}

pub(crate) fn same_amounts(expected: &Value, got: &Value) -> bool {
    let read = |value: &Value| -> Option<Vec<(String, Quantity)>> {
        let amounts = value.as_object()?.iter();
        amounts.map(|(name, amount)| Some((name.clone(), Quantity::parse(amount.as_str()?).ok()?))).collect()
    };
    read(expected).is_some_and(|expected| read(got) == Some(expected))
}
