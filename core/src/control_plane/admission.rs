//! Objects on their way into a control plane: judged, given defaults and freed of what the stated Kubernetes does not know, as its API server
//! does.

use serde_json::Value;

use crate::api::object::{Object, parse, read_object};
use crate::finding::{Code, Finding};
use crate::profile::Profile;
use crate::validate::{Submission, in_default_namespace, submit};

/// Admits one object from its JSON text: the object as it is stored, `None` where it is refused or plays no part; and what is found in it.
///
/// The findings are those of reading, the errors of the API server, and fields that it drops.
pub(crate) fn admit(text: &str, profile: &Profile) -> (Option<Object>, Vec<Finding>) {
    match parse(text) {
        Ok(value) => judge(value, || parse(text).unwrap_or_default(), profile),
        Err(finding) => (None, vec![finding]),
    }
}

/// The same for an object that was parsed.
pub(crate) fn admit_value(value: &Value, profile: &Profile) -> (Option<Object>, Vec<Finding>) {
    judge(value.clone(), || value.clone(), profile)
}

/// Judges an object; `again` gives it once more.
fn judge(value: Value, again: impl FnOnce() -> Value, profile: &Profile) -> (Option<Object>, Vec<Finding>) {
    let admission = submit(Submission::create(in_default_namespace(value)), profile);
    let matters = |finding: &Finding| {
        finding.refuses()
            || matches!(finding.code, Code::ValidateDroppedField | Code::ReadUnknownField | Code::ReadUnknownValue)
    };
    let judged: Vec<Finding> = admission.findings.into_iter().filter(matters).collect();
    let is_refused = judged.iter().any(Finding::refuses);
    // Of a refused object everything is said that reading says of it.
    let reading = read_object(if is_refused { in_default_namespace(again()) } else { admission.object });
    let is_usable = reading.is_usable() && !is_refused;
    let mut findings = reading.findings;
    for finding in judged {
        let is_same = |known: &&mut Finding| known.path == finding.path && known.severity == finding.severity;
        match findings.iter_mut().find(is_same) {
            // The API server's rules know what may have been meant.
            Some(known) if known.code == finding.code && known.hint.is_none() => *known = finding,
            Some(_) => {}
            None => findings.push(finding),
        }
    }
    (reading.object.filter(|_| is_usable), findings)
}
