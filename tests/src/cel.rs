//! Selectors recorded from the reference: an expression and a device in, status and costs out.

use serde_json::{Value, json};

use crate::door::{Asked, Question};

/// What an entry asks.
pub fn asked(entry: &Value) -> Asked {
    Asked {
        settings: Value::Null,
        objects: Vec::new(),
        question: Question::Evaluate(json!({
            "expression": entry.get("expression"),
            "environment": entry.get("environment"),
            "features": entry.get("features"),
            "version": entry.get("version").map_or("1.36", |version| version.as_str().unwrap_or_default()),
            "device": entry.get("device"),
        })),
    }
}

/// Compares an answer `{"status", "error", "actualCost", "maxCost"}` with what the entry expects.
///
/// # Errors
///
/// What differs, in one line.
pub fn check(entry: &Value, answer: &str) -> Result<(), String> {
    let answer: Value = serde_json::from_str(answer).map_err(|error| format!("the answer is not JSON: {error}"))?;
    let expected = entry.get("expected").ok_or("the entry has no outcome")?;
    let differs = |name: &str| {
        let (expected, got) = (expected.get(name), answer.get(name));
        expected.is_some() && expected != got
    };
    for name in ["status", "actualCost", "maxCost"] {
        if differs(name) {
            return Err(format!(
                "{name} of `{}`: expected {expected}, got {answer}",
                entry.get("expression").unwrap_or(&Value::Null)
            ));
        }
    }
    let part = expected.get("errorContains").and_then(Value::as_str).unwrap_or_default();
    let error = answer.get("error").and_then(Value::as_str).unwrap_or_default();
    if error.contains(part) { Ok(()) } else { Err(format!("expected an error with `{part}`, got `{error}`")) }
}

/// What counts of an outcome: status, costs, and the texts of those run-time errors that show what an expression came to.
pub fn essence(outcome: &Value) -> Value {
    let field = |name: &str| outcome.get(name).cloned().unwrap_or_default();
    let error = field("error");
    let text = error.as_str().unwrap_or_default();
    let shows = [
        "no such key: ",
        "index out of bounds: ",
        "index out of range: ",
        "cannot slice(",
        "error during formatting: ",
    ];
    let shown = field("status") == "runtimeError" && shows.iter().any(|start| text.starts_with(start));
    json!([field("status"), field("actualCost"), field("maxCost"), shown.then_some(text)])
}

/// What counts of an answer.
///
/// # Errors
///
/// When the answer is not JSON.
pub fn outcome(answer: &str) -> Result<Value, String> {
    let answer: Value = serde_json::from_str(answer).map_err(|error| format!("the answer is not JSON: {error}"))?;
    Ok(essence(&answer))
}
