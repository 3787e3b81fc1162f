//! What the API servers of every release answered, compared with `validate`.
//!
//! After a repair, `APPORTION_RECORD=1` in the environment writes the list of differences anew.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stdout, reason = "tests read files")]

use std::path::Path;

use apportion_core::validate::{convert, submit};
use apportion_core::wire;
use apportion_tests::answers::{self, Listed, Recording, Tally};
use serde_json::{Value, json};

/// The releases that are recorded, with how many answers at least.
const RELEASES: [&str; 4] = ["1.34", "1.35", "1.36", "1.37"];
const FEWEST: usize = 5000;

fn recordings() -> Vec<Recording> {
    let all = answers::below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/validation")).unwrap();
    assert_eq!(all.iter().map(|recording| recording.header.minor()).collect::<Vec<_>>(), RELEASES);
    for recording in &all {
        assert!(
            recording.lines.len() >= FEWEST,
            "{} has {} answers",
            recording.header.kubernetes,
            recording.lines.len()
        );
    }
    all
}

#[test]
fn every_release_is_answered_as_its_api_server_does() {
    let mut tally = Tally::default();
    for recording in recordings() {
        for line in &recording.lines {
            let submission = wire::submission(recording.submission(&line.request).unwrap()).unwrap();
            let (profile, _) = wire::settings(recording.settings(&line.request)).unwrap();
            let admission = submit(submission, &profile);
            let mut differences = answers::differences(&recording, line, &json!({ "findings": admission.findings }));
            if differences.is_empty() {
                differences = answers::stored_differences(&recording, line, admission.object);
            }
            tally.add(&recording, line, differences);
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/validation/differences.list");
    let listed = std::fs::read_to_string(&file).unwrap();
    if std::env::var_os("APPORTION_RECORD").is_some() {
        std::fs::write(&file, tally.rewritten(&listed)).unwrap();
        return;
    }
    let listed = Listed::parse(&listed).unwrap();
    let wrong = tally.judge(&listed, |_| true);
    assert!(wrong.is_empty(), "{} differences are not as listed:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_stored_object_is_converted_as_its_api_server_does() {
    let mut converted = 0;
    for recording in recordings() {
        for (id, object) in &recording.bases {
            let (name, _) = id.split_once('@').unwrap();
            let others =
                recording.bases.iter().filter(|(other, _)| other.split_once('@').is_some_and(|(n, _)| n == name));
            for (other, expected) in others.filter(|(other, _)| *other != id) {
                let version = expected.get("apiVersion").and_then(Value::as_str).unwrap();
                let made = convert(object.clone(), version).unwrap();
                let (made, expected) = (answers::relevant(&made), answers::relevant(expected));
                assert_eq!(made, expected, "{}: {id} as {other}", recording.header.kubernetes);
                converted += 1;
            }
        }
    }
    assert!(converted > 50, "{converted} conversions");
}
