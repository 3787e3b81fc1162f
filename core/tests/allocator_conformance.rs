//! The recorded outcomes of the reference allocator, in both modes.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test reads files and fails by panicking"
)]

#[path = "support/allocator_case.rs"]
mod allocator_case;

use std::path::{Path, PathBuf};

use allocator_case::{Wanted, differences, read};
use apportion_core::engine::Engine;
use apportion_core::wire;
use serde_json::Value;

fn shared(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance/allocator").join(path)
}

fn folder(name: &str) -> Vec<Value> {
    let Ok(entries) = std::fs::read_dir(shared(name)) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()).collect()
}

fn lines(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(shared(name)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn problems(vector: &Value, wanted: Wanted) -> Vec<String> {
    let case = read(vector, wanted);
    let (profile, limits) = wire::settings(case.settings.clone()).unwrap();
    let mut engine = Engine::new(profile, limits);
    let texts: Vec<String> = case.objects.iter().map(Value::to_string).collect();
    let findings = engine.apply(texts.iter().map(String::as_str));
    let mut problems: Vec<String> = Vec::new();
    for finding in findings.into_iter().flatten() {
        if finding.severity == apportion_core::finding::Severity::Error {
            problems.push(format!("an object was refused: {finding:?}"));
        }
    }
    match wire::question(case.question.clone()) {
        Ok(question) => problems.extend(differences(&case, &engine.allocate(&question).to_json())),
        Err(findings) => problems.push(format!("the question was refused: {findings:?}")),
    }
    problems.into_iter().map(|problem| format!("{} {wanted:?}: {problem}", case.id)).collect()
}

fn run(name: &str, vectors: &[Value], wanted: Wanted) {
    let failures: Vec<Vec<String>> =
        vectors.iter().map(|vector| problems(vector, wanted)).filter(|problems| !problems.is_empty()).collect();
    println!("{name} {wanted:?}: {} passed, {} failed", vectors.len() - failures.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.concat().join("\n"));
}

#[test]
fn the_reference_s_own_cases_are_answered_alike() {
    for wanted in [Wanted::Sound, Wanted::Reference] {
        run("cases", &folder("cases"), wanted);
    }
}

#[test]
fn random_cases_are_answered_alike() {
    for wanted in [Wanted::Sound, Wanted::Reference] {
        run("random", &lines("random.jsonl"), wanted);
    }
}

#[test]
fn defects_of_the_reference_are_reproduced_or_not_as_asked() {
    for wanted in [Wanted::Sound, Wanted::Reference] {
        run("quirks", &folder("quirks"), wanted);
    }
}

#[test]
fn a_defect_that_changes_the_answer_is_named() {
    let mut named = 0;
    for vector in folder("quirks").iter().chain(&lines("random.jsonl")) {
        let case = read(vector, Wanted::Sound);
        let (profile, limits) = wire::settings(case.settings.clone()).unwrap();
        let mut engine = Engine::new(profile, limits);
        let texts: Vec<String> = case.objects.iter().map(Value::to_string).collect();
        engine.apply(texts.iter().map(String::as_str));
        let answer = engine.allocate(&wire::question(case.question).unwrap());
        let messages: Vec<String> = answer.findings.into_iter().map(|finding| finding.message).collect();
        let quirks = vector.get("referenceQuirks").and_then(Value::as_array).cloned().unwrap_or_default();
        assert_eq!(messages.is_empty(), quirks.is_empty(), "{}: {messages:?} {quirks:?}", case.id);
        for quirk in quirks {
            let name = quirk.as_str().unwrap().to_owned();
            assert!(messages.concat().contains(&name), "{}: {name} is not in {messages:?}", case.id);
            named += 1;
        }
    }
    println!("{named} defects named");
}
