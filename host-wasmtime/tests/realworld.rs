//! What `apportion validate` says about published manifests, one snapshot per repository, each read by a person.
//!
//! The manifests belong to others, so they are not here: `APPORTION_MANIFESTS` names the folder with one folder per repository, and
//! `cargo test --release --package apportion --test host realworld -- --ignored` reads it. docs/testing.md has the last figures.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn program(arguments: &[&str], folder: &Path) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_apportion"));
    program.args(arguments).current_dir(folder).env_clear().output().unwrap()
}

/// Every manifest below a folder, by name.
fn files(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml" || ending == "json") {
            found.insert(path);
        }
    }
}

/// Everything that is set, with values that mean nothing: what is wrong with it is only counted.
const MEANINGLESS: &str = "kubernetes-api-roundtrip";

/// The errors and warnings about one file in full; remarks are counted.
fn findings(repository: &Path, file: &Path) -> String {
    let name = file.strip_prefix(repository).unwrap().to_str().unwrap();
    let status = program(&["run", "-f", name], repository).status;
    assert!(matches!(status.code(), Some(0 | 1)), "{name}: {status}");
    let output = program(&["validate", "-o", "json", "-f", name], repository);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut text = String::new();
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    let is_counted = |severity: &str| severity == "info" || repository.ends_with(MEANINGLESS);
    for finding in answer.get("findings").unwrap().as_array().unwrap() {
        let part = |name: &str| finding.get(name).and_then(Value::as_str).unwrap_or_default();
        let place = |name: &str| finding.get(name).and_then(Value::as_u64).unwrap_or_default();
        if is_counted(part("severity")) {
            *counted.entry(format!("{} {}", part("severity"), part("code"))).or_default() += 1;
            continue;
        }
        write!(text, "  {}:{} {} {}", place("line"), place("column"), part("severity"), part("code")).unwrap();
        let object = |name: &str| finding.pointer(&format!("/object/{name}")).and_then(Value::as_str);
        if let Some(kind) = object("kind") {
            write!(text, " {kind} {}", object("name").unwrap_or_default()).unwrap();
        }
        write!(text, "\n    {}: {}", part("path"), part("message")).unwrap();
        if !part("hint").is_empty() {
            write!(text, "\n    help: {}", part("hint")).unwrap();
        }
        text.push('\n');
    }
    for (what, count) in counted {
        writeln!(text, "  {count} {what}").unwrap();
    }
    text
}

#[test]
#[ignore = "reads the folder that APPORTION_MANIFESTS names"]
fn published_manifests_are_judged_as_reviewed() {
    let repositories = fs::read_dir(std::env::var_os("APPORTION_MANIFESTS").unwrap()).unwrap();
    let mut answers: BTreeMap<String, String> = BTreeMap::new();
    let mut read = 0;
    for repository in repositories.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let mut found = BTreeSet::new();
        files(&repository, &mut found);
        let mut clean = 0;
        let mut text = String::new();
        for file in &found {
            let findings = findings(&repository, file);
            if findings.is_empty() {
                clean += 1;
            } else {
                writeln!(text, "{}\n{findings}", file.strip_prefix(&repository).unwrap().display()).unwrap();
            }
        }
        read += found.len();
        let name = repository.file_name().unwrap().to_str().unwrap().to_owned();
        answers.insert(name, format!("{clean} of {} files without a remark\n\n{text}", found.len()));
    }
    assert!(read > 0, "no manifests");
    println!("{read} published files");
    insta::with_settings!({ omit_expression => true, snapshot_path => "snapshots/realworld", prepend_module_to_snapshot => false }, {
        for (name, answer) in answers {
            insta::assert_snapshot!(name, answer);
        }
    });
}
