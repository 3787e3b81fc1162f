//! Situations in which claims and Pods are stuck, each with the explanation that was read and found right.
//!
//! A case is a YAML file below `cases/` whose first lines say what is asked: `# ask: {json}` as [`inquiry`] reads it without the
//! `kind`, and `# settings: {json}` where another Kubernetes is meant. Beside it stands the explanation as text.
//! `APPORTION_RECORD=1` writes the texts anew.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests read files and look at what must be there"
)]

mod hard;
mod laws;
mod layout;
mod made;
mod manifests;
mod partial;
mod questions;
mod speed;

use std::fs;
use std::path::{Path, PathBuf};

use apportion_core::engine::Engine;
use apportion_core::explain::Explanation;
use apportion_core::finding::{Finding, Severity};
use apportion_core::wire;
use serde_json::{Value, json};

/// One case.
pub(crate) struct Case {
    pub(crate) path: PathBuf,
    pub(crate) settings: Value,
    pub(crate) ask: Value,
    pub(crate) objects: Vec<String>,
}

/// All cases by name.
pub(crate) fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explain/cases");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> Case {
    let text = fs::read_to_string(&path).unwrap();
    let line = |name: &str| {
        let start = format!("# {name}: ");
        let line = text.lines().take(6).find_map(|line| line.strip_prefix(&start));
        line.map_or(json!({}), |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{path:?}: {error}")))
    };
    let (settings, ask) = (line("settings"), line("ask"));
    let reading = apportion_yaml::read(text.as_bytes(), &apportion_yaml::Limits::default());
    assert_eq!(reading.problems, [], "{path:?}");
    let objects = reading.documents.iter().map(|document| document.value.to_string()).collect();
    Case { path, settings, ask, objects }
}

impl Case {
    /// The cluster of the case.
    pub(crate) fn engine(&self) -> Engine {
        let (profile, limits) = wire::settings(self.settings.clone()).unwrap();
        let mut engine = Engine::new(profile, limits);
        for findings in engine.apply(self.objects.iter().map(String::as_str)) {
            let errors: Vec<_> = findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
            assert!(errors.is_empty(), "{:?}: {errors:?}", self.path);
        }
        engine
    }

    /// The answer to what is asked.
    pub(crate) fn answer(&self, engine: &Engine) -> Result<Value, Vec<Finding>> {
        let mut ask = self.ask.clone();
        let fields = ask.as_object_mut().unwrap();
        fields.entry("kind").or_insert(json!("explain"));
        if fields["kind"] == "explain" {
            fields.entry("suggestions").or_insert(json!(true));
        }
        engine.inquire(ask)
    }
}

#[test]
fn every_stuck_situation_is_explained_as_recorded() {
    let records = std::env::var_os("APPORTION_RECORD").is_some();
    let mut wrong = Vec::new();
    for case in cases() {
        let engine = case.engine();
        let text = match case.answer(&engine) {
            Ok(answer) => layout::explanations(&serde_json::from_value::<Vec<Explanation>>(answer).unwrap()),
            Err(findings) => layout::findings(&findings),
        };
        let beside = case.path.with_extension("txt");
        if records {
            fs::write(&beside, &text).unwrap();
        } else if fs::read_to_string(&beside).unwrap_or_default() != text {
            wrong.push(format!("{}\n{text}", case.path.display()));
        }
    }
    assert!(wrong.is_empty(), "explained otherwise than recorded:\n{}", wrong.join("\n"));
}

#[test]
fn the_corpus_is_large_enough_and_every_explanation_survives_json() {
    let cases = cases();
    assert!(cases.len() >= 60, "only {} cases", cases.len());
    for case in cases {
        let engine = case.engine();
        let Ok(answer) = case.answer(&engine) else { continue };
        let read: Vec<Explanation> = serde_json::from_value(answer.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), answer, "{:?}", case.path);
        assert_eq!(case.answer(&engine).unwrap(), answer, "{:?} asked twice", case.path);
    }
}
