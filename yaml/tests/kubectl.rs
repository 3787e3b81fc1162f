//! The reading of `kubectl`, recorded from its own reader (apimachinery 0.37), against ours.

use apportion_yaml::{Limits, Reading, Severity, read};
use serde_json::{Value, json};

const SCALARS: &str = include_str!("fixtures/scalars.json");
const DOCUMENTS: &str = include_str!("fixtures/documents.json");

/// Where we differ, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("a: 'x\n\ty'\n", "a tab before a later line of a quoted text is refused here"),
    ("a: \"x\n\t\n y\"\n", "a tab before a later line of a quoted text is refused here"),
    ("a: \"x\\\n\ty\"\n", "a tab before a later line of a quoted text is refused here"),
    ("a: 'x'\n   \t\nb: c\n", "kubectl refuses some lines of nothing but blanks and a tab"),
    ("a:\n  \t\n  b: c\n", "kubectl refuses some lines of nothing but blanks and a tab"),
    ("a:\n  - b\n  \t\n  - c\n", "kubectl refuses some lines of nothing but blanks and a tab"),
    ("k: \u{85}x\n", "kubectl ends the line there; we warn and go on"),
    ("k: a\u{2028}b\n", "kubectl ends the line there; we warn and go on"),
    ("apiVersion: v1\nkind: List\nitems: null\n", "a list without items is taken apart into nothing"),
    ("{\"a\":1e999}\n", "kubectl hands the number on and the API server refuses it"),
    ("{\"a\": \"\\ud83d\\ude00 \\ud800 \\/\"}", "half a surrogate pair becomes U+FFFD here, and later with kubectl"),
    ("{\"a\":1} x", "a text is a document here; that it is no object is said by who wants objects"),
];

fn is_refused(reading: &Reading) -> bool {
    reading.problems.iter().any(|problem| problem.severity == Severity::Error)
}

fn rows(fixture: &str) -> Vec<Value> {
    serde_json::from_str(fixture).unwrap_or_default()
}

#[test]
fn scalars_mean_what_they_mean_to_kubectl() {
    let rows = rows(SCALARS);
    assert!(rows.len() > 270, "{} scalars", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let written = row["written"].as_str().unwrap();
        let as_value = read(format!("v: {written}\n").as_bytes(), &Limits::default());
        let value = (!is_refused(&as_value)).then(|| as_value.documents[0].value["v"].clone());
        let expected = row["value"].as_str().map(|json| serde_json::from_str::<Value>(json).unwrap());
        // kubectl writes `-0` where a float is zero, and reads it as the integer.
        let expected = if expected == Some(json!(-0.0)) { Some(json!(0)) } else { expected };
        if value != expected {
            wrong.push(format!("value {written}: {value:?}, kubectl {expected:?}"));
        }
        let as_key = read(format!("{written}: 0\n").as_bytes(), &Limits::default());
        if is_refused(&as_key) {
            // Where the text is no mapping with one key, kubectl's answer is recorded as null too.
            if !row["key"].is_null() {
                wrong.push(format!("key {written}: refused, kubectl {}", row["key"]));
            }
            continue;
        }
        let object = as_key.documents.first().and_then(|document| document.value.as_object());
        let key = object.filter(|object| object.values().eq([0])).and_then(|object| object.keys().next());
        if key.map(String::as_str) != row["key"].as_str() {
            wrong.push(format!("key {written}: {key:?}, kubectl {}", row["key"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn documents_are_split_and_read_as_kubectl_does() {
    let rows = rows(DOCUMENTS);
    assert!(rows.len() > 220, "{} texts", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let text = row["text"].as_str().unwrap();
        let reading = read(text.as_bytes(), &Limits::default());
        let is_expected_different = DIFFERENT.iter().any(|(different, _)| *different == text);
        let is_same = match (row["refused"].as_bool().unwrap(), is_refused(&reading)) {
            // kubectl stops at the first document that it refuses; we go on.
            (true, true) => true,
            (true, false) | (false, true) => false,
            (false, false) => {
                let ours = reading.documents.iter().map(|document| document.value.clone());
                let recorded = row["documents"].as_array().unwrap().iter();
                ours.eq(
                    recorded.flat_map(|json| items(serde_json::from_str(json.as_str().unwrap()).unwrap_or_default()))
                )
            }
        };
        if is_same == is_expected_different {
            wrong.push(format!("{text:?}: {:?} {:?}, kubectl {row}", reading.documents, reading.problems));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A list's items, as we take it apart; anything else alone.
fn items(value: Value) -> Vec<Value> {
    match (value.get("kind"), value.get("items")) {
        (Some(kind), Some(Value::Array(items))) if kind == "List" => items.clone(),
        _ => vec![value],
    }
}
