//! Generated cases, answered by the native core and by a release of the reference, and compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use crate::allocator::{self, Mode};
use crate::door::{self, Door};
use crate::reference::{self, Release};
use crate::{cel, generate};

/// How a comparison went.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Cases on which both agree.
    pub passed: usize,
    /// Cases on which they differ.
    pub failed: usize,
    /// Cases that the reference did not finish.
    pub unfinished: usize,
    /// Outcomes of the reference by status.
    pub statuses: BTreeMap<String, usize>,
    /// Cases on which the correct answer is another one, by the defects named.
    pub defects: BTreeMap<String, usize>,
}

/// The scenarios of some seeds with the reference's outcome in each as `expected`.
///
/// # Errors
///
/// When the reference does not build or breaks.
pub fn scenarios(root: &Path, release: Release, seeds: impl Iterator<Item = u64>) -> Result<Vec<Value>> {
    with_outcomes(root, release, seeds.map(|seed| generate::scenario(seed, release)).collect())
}

/// The selectors of some seeds, likewise.
///
/// # Errors
///
/// When the reference does not build or breaks.
pub fn selectors(root: &Path, release: Release, seeds: impl Iterator<Item = u64>) -> Result<Vec<Value>> {
    with_outcomes(root, release, seeds.map(|seed| generate::selector(seed, release)).collect())
}

/// Cases with the reference's outcome in each as `expected`.
///
/// # Errors
///
/// When the reference does not build or breaks.
pub fn with_outcomes(root: &Path, release: Release, mut cases: Vec<Value>) -> Result<Vec<Value>> {
    let outcomes = reference::outcomes(root, release, &cases)?;
    for (case, mut outcome) in cases.iter_mut().zip(outcomes) {
        if let (Some(case), Some(fields)) = (case.as_object_mut(), outcome.as_object_mut()) {
            fields.remove("nanoseconds");
            case.insert("expected".to_owned(), outcome);
        }
    }
    Ok(cases)
}

/// Whether the reference gave an answer.
pub fn is_finished(case: &Value) -> bool {
    !matches!(status(case), "panic" | "timeout")
}

fn status(case: &Value) -> &str {
    case.pointer("/expected/status").and_then(Value::as_str).unwrap_or_default()
}

/// Compares the native core with the outcomes in the cases; a difference is written below `target/differences`.
///
/// # Errors
///
/// When the core cannot be asked or a file cannot be written.
pub fn compare(root: &Path, cases: &[Value]) -> Result<Tally> {
    let mut native = door::open("native", root)?;
    let mut tally = Tally::default();
    for case in cases {
        *tally.statuses.entry(status(case).to_owned()).or_default() += 1;
        if !is_finished(case) {
            tally.unfinished += 1;
            continue;
        }
        let judged = if case.get("expression").is_some() {
            selector(case, native.as_mut())?
        } else {
            scenario(case, native.as_mut(), &mut tally.defects)?
        };
        match judged {
            Ok(()) => tally.passed += 1,
            Err(why) => {
                tally.failed += 1;
                let id = case.get("id").and_then(Value::as_str).unwrap_or_default();
                let version = case.get("version").and_then(Value::as_str).unwrap_or_default();
                let file = root.join("target/differences").join(format!("{id}-{version}.json"));
                fs::create_dir_all(root.join("target/differences"))?;
                fs::write(&file, serde_json::to_string_pretty(case)?)?;
                println!("FAILED {id} ({}): {why}", file.display());
            }
        }
    }
    Ok(tally)
}

fn selector(case: &Value, native: &mut dyn Door) -> Result<Result<(), String>> {
    let answer = native.ask(&cel::asked(case))?;
    Ok(cel::check(case, &answer).and_then(|()| same_text(case, &answer)))
}

/// The texts of run-time errors are compared where they show what an expression came to.
fn same_text(case: &Value, answer: &str) -> Result<(), String> {
    let expected = case.pointer("/expected/error").and_then(Value::as_str).unwrap_or_default();
    let answer: Value = serde_json::from_str(answer).map_err(|error| format!("the answer is not JSON: {error}"))?;
    let got = answer.get("error").and_then(Value::as_str).unwrap_or_default();
    let shows = [
        "no such key: ",
        "index out of bounds: ",
        "index out of range: ",
        "cannot slice(",
        "error during formatting: ",
    ];
    if status(case) != "runtimeError" || expected == got || !shows.iter().any(|start| expected.starts_with(start)) {
        return Ok(());
    }
    Err(format!("error of `{}`: expected `{expected}`, got `{got}`", case.get("expression").unwrap_or(&Value::Null)))
}

/// In mode `reference` the answer must be the release's. In mode `sound` it must be, too, or a finding must name the defect or say that
/// it did not come that far; and a finding must not name a defect for nothing.
fn scenario(case: &Value, native: &mut dyn Door, defects: &mut BTreeMap<String, usize>) -> Result<Result<(), String>> {
    let answer = native.ask(&allocator::asked(case, Mode::Reference))?;
    if let Err(why) = allocator::check(case, Mode::Reference, &answer) {
        return Ok(Err(why));
    }
    let sound = native.ask(&allocator::asked(case, Mode::Sound))?;
    if sound.contains(r#""status":"gave-up""#) {
        // With a defect the search can be shorter, because less fits.
        return Ok(Ok(()));
    }
    let agrees = allocator::check(case, Mode::Reference, &sound);
    Ok(match (agrees, difference(&sound)) {
        (Ok(()), None) => Ok(()),
        (Err(_), Some(names)) => {
            *defects.entry(names.join(" ")).or_default() += 1;
            Ok(())
        }
        (Ok(()), Some(names)) => {
            Err(format!("the answers agree, a finding says that `{}` differs", names.join("`, `")))
        }
        (Err(_), None) if sound.contains(r#""code":"alloc/reference-unknown""#) => Ok(()),
        (Err(why), None) => Err(format!("mode sound differs and no finding says so: {why}")),
    })
}

/// The defects that a finding of an answer names.
pub fn difference(answer: &str) -> Option<Vec<String>> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let findings = answer.get("findings")?.as_array()?;
    let is_difference =
        |finding: &&Value| finding.get("code").and_then(Value::as_str) == Some("alloc/reference-differs");
    let message = findings.iter().find(is_difference)?.get("message")?.as_str()?;
    let (_, names) = message.split_once("because of its defect ")?;
    Some(names.split('`').filter(|name| !name.is_empty() && *name != ", ").map(str::to_owned).collect())
}
