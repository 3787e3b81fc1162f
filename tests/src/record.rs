//! Recording the project's own corpus.

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::allocator::{self, Mode};
use crate::reference::Release;
use crate::{differential, door};

/// The scenarios that the reference finishes, with its outcome. Where a defect of the reference shows, the case
/// also gets the names of the defects and the correct outcome, as the vectors have them.
///
/// The correct outcome must be the one of the release in which the defects are repaired, but for the names of requests in
/// configuration: that release leaves them out where an entry is for all of them.
///
/// # Errors
///
/// When the reference breaks, or a correct outcome is in doubt.
pub fn corpus(root: &Path, release: Release, scenarios: Vec<Value>) -> Result<Vec<Value>> {
    let mut cases = differential::with_outcomes(root, release, scenarios)?;
    cases.retain(differential::is_finished);
    if release == Release::V1_37 {
        return Ok(cases);
    }
    let repaired = differential::with_outcomes(root, Release::V1_37, cases.clone())?;
    let mut native = door::open("native", root)?;
    for (case, repaired) in cases.iter_mut().zip(repaired) {
        let answer = native.ask(&allocator::asked(case, Mode::Sound))?;
        let Some(defects) = differential::difference(&answer) else { continue };
        let mut answer: Value = serde_json::from_str(&answer)?;
        let mut plain = (repaired, answer.clone());
        forget_config_names(&mut plain.0);
        forget_config_names(&mut plain.1);
        let judged = allocator::check(&plain.0, Mode::Reference, &plain.1.to_string());
        let id = case.get("id").cloned().unwrap_or_default();
        ensure!(judged.is_ok(), "{id}: the correct outcome is in doubt: {judged:?}");
        if let (Some(map), Some(fields)) = (case.as_object_mut(), answer.as_object_mut()) {
            // Errors are compared in the reference's words.
            if let Some(words) = fields.get("reference").cloned() {
                fields.insert("error".to_owned(), words);
            }
            fields.retain(|name, _| ["status", "allocations", "error"].contains(&name.as_str()));
            map.insert("referenceQuirks".to_owned(), json!(defects));
            map.insert("soundExpected".to_owned(), answer);
        }
    }
    Ok(cases)
}

fn forget_config_names(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(forget_config_names),
        Value::Object(map) => {
            if map.contains_key("source") {
                map.remove("requests");
            }
            map.values_mut().for_each(forget_config_names);
        }
        _ => {}
    }
}
