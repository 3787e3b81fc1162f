//! Generated cases, answered by the native core and by a release of the reference, and compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::allocator::{self, Mode};
use crate::cel;
use crate::door::{self, Asked};
use crate::reference::{self, Release};

/// How a comparison went.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Cases on which both agree.
    pub passed: usize,
    /// Cases on which they differ.
    pub failed: usize,
    /// Cases that the reference did not finish.
    pub unfinished: usize,
    /// Outcomes of the reference by status.
    pub statuses: BTreeMap<String, usize>,
    /// Cases by what they dwell on.
    pub themes: BTreeMap<String, usize>,
    /// Cases on which the correct answer is another one, by the defects named.
    pub defects: BTreeMap<String, usize>,
    /// Cases that differ, by what they dwell on and what differs.
    #[serde(default)]
    pub differences: BTreeMap<String, usize>,
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

impl Tally {
    /// Adds what another part came to.
    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.unfinished += other.unfinished;
        for (all, part) in [
            (&mut self.statuses, other.statuses),
            (&mut self.themes, other.themes),
            (&mut self.defects, other.defects),
            (&mut self.differences, other.differences),
        ] {
            for (name, count) in part {
                *all.entry(name).or_default() += count;
            }
        }
    }
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
        let theme = case.get("theme").and_then(Value::as_str).unwrap_or("Selectors");
        *tally.themes.entry(theme.to_owned()).or_default() += 1;
        if !is_finished(case) {
            tally.unfinished += 1;
            continue;
        }
        let mut ask = |asked| native.ask(&asked).map_err(|error| error.to_string());
        let judged = if case.get("expression").is_some() {
            let expected = case.get("expected").unwrap_or(&Value::Null);
            ask(cel::asked(case)).and_then(|answer| cel::check(case, &answer).and(cel::outcome(&answer))).and_then(
                |got| {
                    let wanted = cel::essence(expected);
                    (got == wanted).then_some(()).ok_or_else(|| format!("expected {wanted}, got {got}"))
                },
            )
        } else {
            let agrees = |answer: &str| allocator::check(case, Mode::Reference, answer);
            scenario(case, &mut ask, &agrees).map(|defects| {
                if let Some(names) = defects {
                    *tally.defects.entry(names).or_default() += 1;
                }
            })
        };
        let judged = match judged {
            // An amount with more digits than the core holds.
            Err(why) if why.contains("quantity is out of range") => {
                *tally.defects.entry("long-amounts".to_owned()).or_default() += 1;
                Ok(())
            }
            Err(_) if is_due_to_fractions(root, case, &mut ask)? => {
                *tally.defects.entry("amounts-in-place".to_owned()).or_default() += 1;
                Ok(())
            }
            judged => judged,
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

/// Whether a difference is there only because the reference adds to amounts with a fraction, such as `1.5Gi`, in place: with the same
/// amounts written without one it answers otherwise, and as we do.
fn is_due_to_fractions(
    root: &Path,
    case: &Value,
    ask: &mut dyn FnMut(Asked) -> Result<String, String>,
) -> Result<bool> {
    let mut whole = case.clone();
    let release = case.get("version").and_then(Value::as_str).and_then(Release::parse);
    let (true, Some(release)) = (without_fractions(&mut whole), release) else { return Ok(false) };
    let whole = with_outcomes(root, release, vec![whole])?;
    let answers = [Mode::Reference, Mode::Sound].map(|mode| ask(allocator::asked(case, mode)));
    Ok(whole.iter().all(|whole| {
        let agrees = |answer: &str| allocator::check(whole, Mode::Reference, answer);
        let [reference, sound] = answers.clone();
        let mut answers = [reference, sound].into_iter();
        let mut again = |_| answers.next().unwrap_or_else(|| Err("asked too often".to_owned()));
        is_finished(whole) && scenario(whole, &mut again, &agrees).is_ok()
    }))
}

/// Writes amounts with a fraction as whole numbers of a smaller unit; whether there were any.
fn without_fractions(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match whole(text) {
            Some(other) => {
                *text = other;
                true
            }
            None => false,
        },
        Value::Array(values) => values.iter_mut().map(without_fractions).filter(|found| *found).count() > 0,
        Value::Object(fields) => fields.values_mut().map(without_fractions).filter(|found| *found).count() > 0,
        _ => false,
    }
}

/// `1536Mi` for `1.5Gi`.
fn whole(text: &str) -> Option<String> {
    const UNITS: [&str; 5] = ["", "Ki", "Mi", "Gi", "Ti"];
    let (number, unit) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let smaller = UNITS.iter().position(|known| known == &unit)?.checked_sub(1)?;
    let (whole, fraction) = number.split_once('.')?;
    let digits = u32::try_from(fraction.len()).ok()?;
    let scaled = format!("{whole}{fraction}").parse::<u64>().ok()?.checked_mul(1024)?;
    let tens = 10_u64.checked_pow(digits)?;
    (scaled % tens == 0).then(|| format!("{}{}", scaled / tens, UNITS.get(smaller).copied().unwrap_or_default()))
}

/// In mode `reference` the answer must be the release's. In mode `sound` it must be, too, or a finding must name the defect or say that
/// it did not come that far; and a finding must not name a defect for nothing. Gives the names of the defects.
///
/// # Errors
///
/// What differs.
pub fn scenario(
    case: &Value,
    ask: &mut dyn FnMut(Asked) -> Result<String, String>,
    agrees: &dyn Fn(&str) -> Result<(), String>,
) -> Result<Option<String>, String> {
    agrees(&ask(allocator::asked(case, Mode::Reference))?)?;
    let sound = ask(allocator::asked(case, Mode::Sound))?;
    if sound.contains(r#""status":"gave-up""#) {
        // With a defect the search can be shorter, because less fits.
        return Ok(None);
    }
    match (agrees(&sound), difference(&sound)) {
        (Ok(()), None) => Ok(None),
        (Err(_), Some(names)) => Ok(Some(names.join(" "))),
        (Ok(()), Some(names)) => {
            Err(format!("the answers agree, a finding says that `{}` differs", names.join("`, `")))
        }
        (Err(_), None) if sound.contains(r#""code":"alloc/reference-unknown""#) => Ok(None),
        (Err(why), None) => Err(format!("mode sound differs and no finding says so: {why}")),
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fractions_are_written_in_a_smaller_unit() {
        let mut case = json!({ "a": ["1.5Gi", "2Gi", "0.25Mi", "1.1Gi", "v1.5", "1.5M"], "b": { "c": "0.5Ki" } });
        assert!(without_fractions(&mut case));
        assert_eq!(case, json!({ "a": ["1536Mi", "2Gi", "256Ki", "1.1Gi", "v1.5", "1.5M"], "b": { "c": "512" } }));
        assert!(!without_fractions(&mut json!({ "a": 1, "b": "3Gi" })));
    }
}
