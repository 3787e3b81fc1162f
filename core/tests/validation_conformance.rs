//! The recorded answers of the API server's validation, on the native core.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    reason = "tests read files and look at what must be there"
)]

use std::collections::BTreeMap;
use std::path::Path;

use apportion_core::validate::{Submission, validate};
use apportion_core::wire;
use serde_json::{Value, json};

const FILES: [&str; 11] = [
    "deviceclass",
    "devicetaintrule",
    "mutants",
    "pod",
    "podgroup",
    "probes",
    "resourceclaim",
    "resourceclaimtemplate",
    "resourcepoolstatusrequest",
    "resourceslice",
    "workload",
];

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn errors<'v>(list: impl Iterator<Item = (&'v str, &'v str)>) -> Vec<String> {
    let mut errors: Vec<String> = list.map(|(kind, path)| format!("{kind} {path}")).collect();
    errors.sort();
    errors
}

fn submission(case: &Value) -> Submission {
    let namespace = case.pointer("/object/metadata/namespace").and_then(Value::as_str);
    wire::submission(json!({
        "object": case["object"],
        "oldObject": case.get("oldObject"),
        "operation": case["operation"],
        "adminNamespace": namespace != Some("default"),
        "authorized": text(case, "authorizer") != "deny",
    }))
    .unwrap()
}

/// Parameters of exactly the allowed length, which the recorded server saw with a blank more than the compact JSON has.
fn is_length_of_blanks(case: &Value, error: &Value) -> bool {
    text(error, "type") == "FieldValueTooLong"
        && text(error, "field").ends_with(".parameters")
        && !case["errors"].as_array().unwrap().iter().any(|other| other["field"] == error["field"])
}

fn check(case: &Value) -> Result<(), String> {
    let (profile, _) = wire::settings(json!({ "version": "1.36", "featureGates": case["featureGates"] }))
        .map_err(|e| format!("{e:?}"))?;
    let findings = validate(submission(case), &profile);
    if case.get("decodeError").is_some() || case.get("panic").is_some() {
        let refused = findings.iter().any(|finding| finding.severity == apportion_core::finding::Severity::Error);
        return refused.then_some(()).ok_or_else(|| "accepted".to_owned());
    }
    let recorded = case.get("serverErrors").unwrap_or(&case["errors"]).as_array().unwrap();
    let expected = errors(
        recorded
            .iter()
            .filter(|error| !is_length_of_blanks(case, error))
            .map(|error| (text(error, "type"), text(error, "field"))),
    );
    let found = errors(findings.iter().filter_map(|finding| Some((finding.kind?.reference(), finding.path.as_str()))));
    if expected == found {
        return Ok(());
    }
    let without = |all: &[String], these: &[String]| {
        let mut rest = all.to_vec();
        for one in these {
            if let Some(position) = rest.iter().position(|other| other == one) {
                rest.remove(position);
            }
        }
        rest.join(", ")
    };
    Err(format!("missing [{}], surplus [{}]", without(&expected, &found), without(&found, &expected)))
}

#[test]
fn every_recorded_answer_is_given() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance/validation");
    let (mut counts, mut failures) = (BTreeMap::new(), Vec::new());
    for file in FILES {
        let Ok(text) = std::fs::read_to_string(folder.join(format!("{file}.jsonl"))) else { continue };
        let count: &mut (usize, usize) = counts.entry(file).or_default();
        for line in text.lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            count.1 += 1;
            match check(&case) {
                Ok(()) => count.0 += 1,
                Err(why) => failures.push(format!("{} ({}): {why}", case["id"].as_str().unwrap(), case["operation"])),
            }
        }
    }
    for (file, (passed, total)) in counts {
        println!("{file}: {passed} of {total}");
    }
    assert!(failures.is_empty(), "{} cases differ:\n{}", failures.len(), failures.join("\n"));
}
