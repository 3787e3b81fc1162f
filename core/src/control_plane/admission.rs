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
    let mut judged: Vec<Finding> = admission.findings.into_iter().filter(matters).collect();
    let is_refused = judged.iter().any(Finding::refuses);
    // Of a refused object everything is said that reading says of it, in the words of the API server's rules where they say it as well.
    let reading = read_object(if is_refused { in_default_namespace(again()) } else { admission.object });
    let is_usable = reading.is_usable() && !is_refused;
    let mut findings: Vec<Finding> = Vec::new();
    for known in reading.findings {
        let is_same = |other: &Finding| known.path == other.path && known.severity == other.severity;
        let before = findings.len();
        judged.retain(|one| {
            let is_other = !is_same(one);
            if !is_other {
                findings.push(one.clone());
            }
            is_other
        });
        if findings.len() == before && !findings.iter().any(is_same) {
            findings.push(known);
        }
    }
    findings.append(&mut judged);
    (reading.object.filter(|_| is_usable), findings)
}
