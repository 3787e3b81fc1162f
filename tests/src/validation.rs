//! What the API server answered, recorded: an object and an operation in, error types and field paths out.

use serde_json::{Value, json};

use crate::door::{Asked, Question};

/// Whether a recorded case is one about validation.
pub fn is_case(case: &Value) -> bool {
    case.get("operation").is_some() && case.get("errors").is_some() && case.get("object").is_some()
}

/// What a case asks.
pub fn asked(case: &Value) -> Asked {
    let namespace = case.pointer("/object/metadata/namespace").and_then(Value::as_str);
    Asked {
        settings: json!({ "version": "1.36", "featureGates": case.get("featureGates") }),
        objects: Vec::new(),
        question: Question::Validate(json!({
            "object": case.get("object"),
            "oldObject": case.get("oldObject"),
            "operation": case.get("operation"),
            // In the recording every namespace but this one has the label.
            "adminNamespace": namespace != Some("default"),
            "authorized": case.get("authorizer").and_then(Value::as_str) != Some("deny"),
        })),
    }
}

/// Compares the types and paths of an answer's errors with those that a client of the recorded server sees.
///
/// # Errors
///
/// What differs, in one line.
pub fn check(case: &Value, answer: &str) -> Result<(), String> {
    let answer: Value = serde_json::from_str(answer).map_err(|error| format!("the answer is not JSON: {error}"))?;
    let findings = answer.get("findings").and_then(Value::as_array).ok_or_else(|| format!("no findings: {answer}"))?;
    if case.get("decodeError").is_some() || case.get("panic").is_some() {
        let refused = findings.iter().any(|finding| text(finding, "severity") == "error");
        return if refused { Ok(()) } else { Err("the object was accepted".to_owned()) };
    }
    let recorded = case.get("serverErrors").or_else(|| case.get("errors")).and_then(Value::as_array);
    let recorded = recorded.into_iter().flatten().filter(|error| !is_length_of_blanks(case, error));
    let expected = sorted(recorded.map(|error| {
        (text(error, "type").trim_start_matches("FieldValue").to_ascii_lowercase(), text(error, "field").to_owned())
    }));
    let found = sorted(findings.iter().filter(|finding| finding.get("kind").is_some()).map(|finding| {
        let kind = match text(finding, "kind") {
            "internal" => "internalerror".to_owned(),
            kind => kind.to_ascii_lowercase(),
        };
        (kind, text(finding, "path").to_owned())
    }));
    if expected == found {
        return Ok(());
    }
    let without = |all: &[(String, String)], these: &[(String, String)]| {
        let mut rest = all.to_vec();
        for one in these {
            if let Some(position) = rest.iter().position(|other| other == one) {
                rest.remove(position);
            }
        }
        rest.iter().map(|(kind, path)| format!("{kind} {path}")).collect::<Vec<_>>().join(", ")
    };
    Err(format!("missing [{}], surplus [{}]", without(&expected, &found), without(&found, &expected)))
}

/// Parameters of exactly the allowed length, which the recorded server saw with a blank more than the compact JSON has.
fn is_length_of_blanks(case: &Value, error: &Value) -> bool {
    let listed = case.get("errors").and_then(Value::as_array);
    text(error, "type") == "FieldValueTooLong"
        && text(error, "field").ends_with(".parameters")
        && !listed.into_iter().flatten().any(|other| text(other, "field") == text(error, "field"))
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn sorted(errors: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut errors: Vec<_> = errors.collect();
    errors.sort();
    errors
}
