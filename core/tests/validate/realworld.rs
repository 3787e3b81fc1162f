//! Published manifests: the API server's verdict on each, where it was recorded.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use apportion_core::finding::Code;
use apportion_core::profile::{Features, Profile, Version};
use apportion_core::validate::{Submission, validate};
use serde_json::{Value, json};

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared")
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// What the recording did to a document first: a namespace for those without, `v1` for `v1beta2`.
fn submitted(mut object: Value, case: &Value) -> Value {
    let cluster = matches!(text(case, "kind"), "DeviceClass" | "ResourceSlice" | "DeviceTaintRule");
    if !cluster && object.pointer("/metadata/namespace").is_none() {
        object["metadata"]["namespace"] = json!("test");
    }
    object
}

#[test]
fn published_manifests_get_the_recorded_verdict() {
    let recorded = fs::read_to_string(shared().join("conformance/validation/realworld.jsonl")).unwrap_or_default();
    let mut profile = Profile::of(Version::V1_36);
    for gate in Features::gates().filter(|gate| *gate != "ClusterResourceClaimTemplates") {
        profile.features.set(gate, true);
    }
    // What 1.36 has not yet is off there, whatever its gates.
    profile.features.set("DRAFractionalCapacityRange", false);
    let mut files: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let (mut passed, mut failures) = (0, Vec::new());
    for line in recorded.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let file = text(&case, "file").to_owned();
        let documents = files.entry(file.clone()).or_insert_with(|| {
            let bytes = fs::read(shared().join("realworld").join(&file)).unwrap();
            let reading = apportion_yaml::read(&bytes, &apportion_yaml::Limits::default());
            reading.documents.into_iter().map(|document| document.value).collect()
        });
        // Empty documents count in the recording, and the reader takes lists apart.
        let number = case["document"].as_u64().unwrap() as usize;
        let is_wanted = |value: &Value| {
            let name = value.pointer("/metadata/name").or_else(|| value.pointer("/metadata/generateName"));
            text(value, "kind") == text(&case, "kind")
                && name.and_then(Value::as_str).unwrap_or_default() == text(&case, "name")
        };
        let at = documents.iter().enumerate().filter(|(_, value)| is_wanted(value)).map(|(at, _)| at);
        let Some(at) = at.min_by_key(|at| at.abs_diff(number)) else {
            failures.push(format!("{file}: no document {number}, {} `{}`", text(&case, "kind"), text(&case, "name")));
            continue;
        };
        let document = documents[at].clone();
        let findings = validate(Submission::create(submitted(document, &case)), &profile);
        let mut found: Vec<String> = findings
            .iter()
            .filter_map(|finding| Some(format!("{} {}", finding.kind?.reference(), finding.path)))
            .collect();
        let errors = case["errors"].as_array().unwrap();
        let mut expected: Vec<String> =
            errors.iter().map(|error| format!("{} {}", text(error, "type"), text(error, "field"))).collect();
        found.sort();
        expected.sort();
        let unknown = findings.iter().filter(|finding| {
            finding.code == Code::ReadUnknownField
                || finding.code == Code::ValidateDroppedField && finding.message.contains("came with")
        });
        let mut unknown: Vec<String> = unknown.map(|finding| format!("unknown field \"{}\"", finding.path)).collect();
        let listed = case.get("unknownFields").and_then(Value::as_array);
        let mut listed: Vec<String> =
            listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        unknown.sort();
        listed.sort();
        if (&found, &unknown) == (&expected, &listed) {
            passed += 1;
        } else {
            failures.push(format!("{file} {number}: expected {expected:?} {listed:?}, found {found:?} {unknown:?}"));
        }
    }
    println!("{passed} published manifests");
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}
