//! Kinds that are not known: whether a known one was meant.

use super::{object, workload};
use crate::finding::{Code, Finding, Severity};
use crate::near::{distance, is_near};

/// Groups of which every kind is known.
const WHOLE: [&str; 2] = ["resource.k8s.io", "apportion.dev"];

/// What is said about an object of such a kind: an error in a group of which every kind is known, a warning where a known kind was
/// probably meant.
pub(super) fn finding(kind: &str, api_version: &str) -> Finding {
    if kind.ends_with("List") {
        return plays_no_part(kind, api_version);
    }
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let is_wrong = WHOLE.contains(&group);
    let (path, hint) = match (meant(kind, group), home(kind, group)) {
        (Some(meant), _) => ("kind", Some(meant)),
        (None, Some(home)) => ("apiVersion", Some(home)),
        (None, None) => {
            ("kind", is_wrong.then(|| format!("its kinds are {}", of(group).collect::<Vec<_>>().join(", "))))
        }
    };
    let finding = if is_wrong {
        Finding::new(Code::ValidateNotServed, path, format!("`{api_version}` has no kind `{kind}`"))
    } else if hint.is_some() {
        let message = format!("no kind `{kind}` of `{api_version}` is known, so the object is left aside");
        Finding::new(Code::ReadUnknownKind, path, message).with_severity(Severity::Warning)
    } else {
        return plays_no_part(kind, api_version);
    };
    Finding { hint, ..finding }
}

/// The remark about an object that is left aside: most play no part, of some it is only not simulated.
pub(crate) fn plays_no_part(kind: &str, api_version: &str) -> Finding {
    let remark = |message: String| Finding::new(Code::ReadUnknownKind, "kind", message);
    match (kind, api_version) {
        ("ResourceQuota", "v1") => {
            remark("`ResourceQuota` is not looked at: what exceeds it is accepted here".to_owned())
        }
        ("LimitRange", "v1") => remark("`LimitRange` is not looked at: its defaults are not added to Pods".to_owned()),
        ("Workload", "scheduling.k8s.io/v1alpha1") => {
            let message = "gangs of Kubernetes 1.35 are not simulated: Pods with a `workloadRef` are placed one by one";
            remark(message.to_owned()).with_severity(Severity::Warning)
        }
        _ => remark(format!("`{kind}` of `{api_version}` plays no part in device allocation")),
    }
}

/// Group and kind of all that is known.
fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
    object::KINDS.iter().chain(workload::KINDS).copied()
}

/// The known kinds of a group.
fn of(group: &str) -> impl Iterator<Item = &'static str> {
    known().filter(move |(known, _)| *known == group).map(|(_, kind)| kind)
}

/// The kind of the same group that was probably meant.
fn meant(kind: &str, group: &str) -> Option<String> {
    if (kind, group) == ("ResourceClass", "resource.k8s.io") {
        return Some("Kubernetes 1.31 replaced it by `DeviceClass`".to_owned());
    }
    let lower = kind.to_ascii_lowercase();
    let measured = of(group).map(|known| (distance(&lower, &known.to_ascii_lowercase()), known));
    let (least, meant) = measured.min_by_key(|(distance, _)| *distance)?;
    is_near(least, kind, meant).then(|| format!("did you mean `{meant}`?"))
}

/// The group of the kind, where another one of Kubernetes was written, or one with a slip of the finger.
fn home(kind: &str, written: &str) -> Option<String> {
    let is_of_kubernetes = !written.contains('.') || written.ends_with(".k8s.io");
    let may_be = |group: &str| is_of_kubernetes || distance(written, group) == 1;
    let (group, meant) = known().find(|(group, known)| known.eq_ignore_ascii_case(kind) && may_be(group))?;
    Some(match group {
        "" => format!("`{meant}` is of `apiVersion: v1`"),
        _ => format!("`{meant}` is of the group `{group}`: write `apiVersion` as `{group}/` and a version"),
    })
}
