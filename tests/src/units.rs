//! Building blocks, asked through the questions that use them: an amount through a device's capacity and through CEL,
//! a toleration and a node selector through a claim for a device that has the taint or the selector.

use serde_json::{Value, json};

use crate::allocator;
use crate::door::{Asked, Door, Question};

/// Asks a door about one line of `quantity.jsonl`, `capacity.jsonl`, `tolerations.jsonl` or `nodeselector.jsonl`.
///
/// # Errors
///
/// What differs, in one line.
pub fn check(line: &Value, door: &mut dyn Door) -> Result<(), String> {
    let has = |name: &str| line.get(name).is_some();
    match text(line, "op") {
        "parse" => parse(line, door),
        "pair" => pair(line, door),
        _ if has("fits") => capacity(line, door),
        _ if has("tolerated") => toleration(line, door),
        _ if has("nodeSelector") => node_selector(line, door),
        _ => Err("the line is of no known kind".to_owned()),
    }
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn ask(door: &mut dyn Door, asked: &Asked) -> Result<Value, String> {
    let answer = door.ask(asked).map_err(|error| error.to_string())?;
    serde_json::from_str(&answer).map_err(|error| format!("the answer is not JSON: {error}"))
}

/// A cluster of one node and one device, and a claim for it.
fn one_device(device: Value, slice: &Value, request: &Value, in_use: &Value, node: &Value) -> Asked {
    let mut case = json!({
        "features": { "consumableCapacity": true, "deviceTaints": true },
        "node": node,
        "classes": [{ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "any" } }],
        "slices": [{
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "slice" },
            "spec": {
                "driver": "d.example.com",
                "pool": { "name": "pool", "generation": 1, "resourceSliceCount": 1 },
                "devices": [device],
            },
        }],
        "claims": [{
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "claim" },
            "spec": { "devices": { "requests": [{ "name": "r", "exactly": {
                "deviceClassName": "any", "allocationMode": "ExactCount", "count": 1,
            } }] } },
        }],
        "consumedCapacity": in_use,
    });
    for (target, fields) in [("/slices/0/spec", slice), ("/claims/0/spec/devices/requests/0/exactly", request)] {
        if let (Some(Value::Object(target)), Value::Object(fields)) = (case.pointer_mut(target), fields) {
            target.extend(fields.clone());
        }
    }
    allocator::asked(&case, allocator::Mode::Sound)
}

fn plain_node() -> Value {
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node" } })
}

fn evaluate(door: &mut dyn Door, expression: &str) -> Result<String, String> {
    let question = json!({
        "expression": expression,
        "environment": "stored",
        "features": { "consumableCapacity": true, "listTypeAttributes": false },
        "device": { "driver": "d.example.com" },
    });
    let asked = Asked { settings: Value::Null, objects: Vec::new(), question: Question::Evaluate(question) };
    Ok(text(&ask(door, &asked)?, "status").to_owned())
}

fn holds(door: &mut dyn Door, expression: &str) -> Result<(), String> {
    match evaluate(door, expression)?.as_str() {
        "match" => Ok(()),
        other => Err(format!("`{expression}` gives {other}")),
    }
}

fn literal(text: &str) -> String {
    json!(text).to_string()
}

/// The amount becomes a device's capacity and comes back as what a share consumes.
fn parse(line: &Value, door: &mut dyn Door) -> Result<(), String> {
    let input = text(line, "input");
    let is_quantity = format!("isQuantity({})", literal(input));
    if line.get("error").is_some() {
        return match evaluate(door, &is_quantity)?.as_str() {
            "noMatch" => Ok(()),
            other => Err(format!("`{is_quantity}` gives {other} for a text that is no quantity")),
        };
    }
    holds(door, &is_quantity)?;
    let device = json!({ "name": "device", "allowMultipleAllocations": true, "capacity": { "c": { "value": input } } });
    let asked = one_device(device, &json!({ "nodeName": "node" }), &Value::Null, &json!([]), &plain_node());
    let answer = ask(door, &asked)?;
    let got = answer.pointer("/allocations/0/devices/results/0/consumedCapacity/c").and_then(Value::as_str);
    if got == Some(text(line, "canonical")) {
        Ok(())
    } else {
        Err(format!("`{input}` prints as `{}`, got {got:?} in {answer}", text(line, "canonical")))
    }
}

fn pair(line: &Value, door: &mut dyn Door) -> Result<(), String> {
    let quantity = |name: &str| format!("quantity({})", literal(text(line, name)));
    let (a, b) = (quantity("a"), quantity("b"));
    let order = line.get("cmp").and_then(Value::as_i64).unwrap_or_default();
    holds(door, &format!("{a}.compareTo({b}) == {order}"))?;
    holds(door, &format!("{a}.add({b}).compareTo({}) == 0", quantity("sum")))?;
    holds(door, &format!("{a}.sub({b}).compareTo({}) == 0", quantity("difference")))
}

fn capacity(line: &Value, door: &mut dyn Door) -> Result<(), String> {
    let device = json!({ "name": "device", "allowMultipleAllocations": true, "capacity": line.get("capacity") });
    let request = line.get("request").map_or(Value::Null, |request| json!({ "capacity": request }));
    let in_use = match line.get("consumedByOthers") {
        Some(Value::Object(others)) if !others.is_empty() => {
            json!([{ "driver": "d.example.com", "pool": "pool", "device": "device", "capacity": others }])
        }
        _ => json!([]),
    };
    let answer = ask(door, &one_device(device, &json!({ "nodeName": "node" }), &request, &in_use, &plain_node()))?;
    let fits = line.get("fits") == Some(&Value::Bool(true));
    if fits != (text(&answer, "status") == "allocated") {
        return Err(format!("expected fits {fits}, got {answer}"));
    }
    if !fits {
        return Ok(());
    }
    let none = json!({});
    let got = answer.pointer("/allocations/0/devices/results/0/consumedCapacity").unwrap_or(&none);
    let expected = line.get("consumed").unwrap_or(&none);
    if allocator::same_amounts(expected, got) {
        Ok(())
    } else {
        Err(format!("expected {expected} consumed, got {got}"))
    }
}

fn toleration(line: &Value, door: &mut dyn Door) -> Result<(), String> {
    let mut taint = line.get("taint").cloned().unwrap_or_default();
    let blocks = matches!(text(&taint, "effect"), "NoSchedule" | "NoExecute");
    let tolerated = line.get("tolerated") == Some(&Value::Bool(true));
    let mut toleration = line.get("toleration").cloned().unwrap_or_default();
    if !blocks {
        // An effect that never blocks cannot show whether it is tolerated: blocking ones in its place do, equal where
        // those of taint and toleration were equal.
        let effect = text(&toleration, "effect");
        let stand_in = if effect == text(&taint, "effect") { "NoSchedule" } else { "NoExecute" };
        if !effect.is_empty() {
            set(&mut toleration, "effect", stand_in);
        }
        set(&mut taint, "effect", "NoSchedule");
    }
    let device = json!({ "name": "device", "taints": [taint] });
    let request = json!({ "tolerations": [toleration] });
    let answer = ask(door, &one_device(device, &json!({ "nodeName": "node" }), &request, &json!([]), &plain_node()))?;
    if tolerated == (text(&answer, "status") == "allocated") {
        Ok(())
    } else {
        Err(format!("expected tolerated {tolerated}, got {answer}"))
    }
}

fn set(object: &mut Value, name: &str, text: &str) {
    if let Some(map) = object.as_object_mut() {
        map.insert(name.to_owned(), json!(text));
    }
}

fn node_selector(line: &Value, door: &mut dyn Door) -> Result<(), String> {
    let slice = json!({ "nodeSelector": line.get("nodeSelector") });
    let node = line.get("node").cloned().unwrap_or_default();
    let answer = ask(door, &one_device(json!({ "name": "device" }), &slice, &Value::Null, &json!([]), &node))?;
    // A selector with several terms can match, but not be written into an allocation; both are beyond the test itself.
    let reference = answer.get("reference").and_then(Value::as_str).unwrap_or_default();
    let malformed = reference.contains("failed to perform node selection");
    let expected_error = line.get("error").is_some();
    if expected_error != malformed {
        return Err(format!("expected an error {expected_error}, got {answer}"));
    }
    let matches =
        text(&answer, "status") == "allocated" || reference.contains("unsupported ResourceSlice.NodeSelector");
    let expected = line.get("matches") == Some(&Value::Bool(true));
    if expected_error || expected == matches {
        Ok(())
    } else {
        Err(format!("expected matches {expected}, got {answer}"))
    }
}
