//! Validation: no object stops it, each finding is about a path, the same object gives the same findings, and an object
//! that is submitted as an update of itself is looked at as well.

#![no_main]

use apportion_core::profile::Profile;
use apportion_core::validate::{Operation, Submission, convert, validate, validate_set};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|text: &[u8]| {
    let Ok(object) = serde_json::from_slice::<Value>(text) else { return };
    let profile = Profile::default();
    let submission = Submission::create(object.clone());
    let findings = validate(submission.clone(), &profile);
    assert_eq!(findings, validate(submission, &profile));
    for operation in [Operation::Update, Operation::StatusUpdate] {
        let old = Some(object.clone());
        validate(Submission { old, operation, ..Submission::create(object.clone()) }, &profile);
    }
    let set: Vec<Value> = match &object {
        Value::Array(objects) => objects.clone(),
        _ => vec![object.clone()],
    };
    let texts: Vec<String> = set.iter().map(Value::to_string).collect();
    assert_eq!(validate_set(&set, &profile), validate_set(&texts, &profile));
    if let Ok(converted) = convert(object, "v1") {
        assert_eq!(convert(converted.clone(), "v1"), Ok(converted));
    }
});
