//! Kinds that are not known: whether a known one was meant.

use serde_json::Value;

use super::other_workload::is_blueprint;
use super::read::Path;
use super::{object, workload};
use crate::finding::{Code, Finding, ObjectRef, Severity};
use crate::near::{distance, is_near};

/// API groups of which every kind is known: those of `v1` stand under the empty name.
const WHOLE: [&str; 5] = ["resource.k8s.io", "apportion.dev", "", "apps", "batch"];

/// Kinds of these groups that play no part here.
const OTHERS: [(&str, &str); 16] = [
    ("", "Binding"),
    ("", "ComponentStatus"),
    ("", "ConfigMap"),
    ("", "Endpoints"),
    ("", "Event"),
    ("", "LimitRange"),
    ("", "List"),
    ("", "PodTemplate"),
    ("", "ReplicationController"),
    ("", "ResourceQuota"),
    ("", "Secret"),
    ("", "Service"),
    ("", "ServiceAccount"),
    ("", "Status"),
    ("apps", "ControllerRevision"),
    ("batch", "JobTemplate"),
];

/// Deepest nesting that is searched.
const DEEPEST: usize = 20;

/// Most kinds of a group that a hint names.
const MOST_NAMED: usize = 12;

/// What is said about an object of such a kind: an error in a group of which every kind is known, a warning where a known kind was
/// probably meant, or where it asks for devices at the path given.
pub(super) fn finding(kind: &str, api_version: &str, asking: Option<&str>) -> Finding {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    if kind.ends_with("List") || OTHERS.contains(&(group, kind)) {
        return plays_no_part(kind, api_version);
    }
    let is_wrong = WHOLE.contains(&group) && (!group.is_empty() || api_version == "v1");
    let (path, hint) = match (meant(kind, group), home(kind, group)) {
        (Some(meant), _) => ("kind", Some(meant)),
        (None, Some(home)) => ("apiVersion", Some(home)),
        (None, None) => {
            let kinds: Vec<&str> = of(group).collect();
            ("kind", (is_wrong && kinds.len() <= MOST_NAMED).then(|| format!("its kinds are {}", kinds.join(", "))))
        }
    };
    let finding = if is_wrong {
        Finding::new(Code::ValidateNotServed, path, format!("`{api_version}` has no kind `{kind}`"))
    } else if hint.is_some() {
        let message = format!("no kind `{kind}` of `{api_version}` is known, so the object is left aside");
        Finding::new(Code::ReadUnknownKind, path, message).with_severity(Severity::Warning)
    } else {
        return asking.map_or_else(|| plays_no_part(kind, api_version), |at| not_expanded(kind, api_version, at));
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
        ("Kustomization" | "Component", _) if api_version.starts_with("kustomize.config.k8s.io/") => {
            let message = format!("the {kind} is not applied: objects are read as they are without its patches");
            let hint = "ask about what `kubectl kustomize` prints: pipe it in, with `-f -`";
            remark(message).with_severity(Severity::Warning).with_hint(hint)
        }
        _ => remark(format!("`{kind}` of `{api_version}` plays no part in device allocation")),
    }
}

/// The remark about an object of an unknown kind that asks for devices: the Pods that its controller makes are not known.
fn not_expanded(kind: &str, api_version: &str, path: &str) -> Finding {
    let message =
        format!("`{kind}` of `{api_version}` asks for devices, but no Pods are made of it: how is not known here");
    let finding = Finding::new(Code::ReadUnknownKind, path, message).with_severity(Severity::Warning);
    finding.with_hint("add the Pods that its controller makes, as `kubectl get pods -o yaml` prints them")
}

/// Where an object of an unknown kind asks for devices, or holds the spec of Pods. Bounded in depth.
pub(super) fn asks_for_devices(group: &str, kind: &str, object: &Value) -> Option<String> {
    let is_of_scheduler = group == "scheduling.k8s.io" || is_blueprint(kind, group);
    if is_of_scheduler || kind.ends_with("List") || known().chain(OTHERS).any(|known| known == (group, kind)) {
        return None;
    }
    asked_below(object.get("spec")?, &Path::ROOT.field("spec"), DEEPEST)
}

fn asked_below(value: &Value, at: &Path<'_>, left: usize) -> Option<String> {
    let left = left.checked_sub(1)?;
    match value {
        Value::Object(map) => map.iter().find_map(|(name, inner)| {
            let at = at.field(name);
            if asks(name, inner) { Some(at.to_string()) } else { asked_below(inner, &at, left) }
        }),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| asked_below(item, &at.index(index), left))
        }
        _ => None,
    }
}

/// Whether a field names claims, a class of devices, or what runs in Pods. In the schema of a definition the same names hold something else.
fn asks(name: &str, value: &Value) -> bool {
    let has_objects = |value: &Value| value.as_array().is_some_and(|list| list.first().is_some_and(Value::is_object));
    match name {
        "resourceClaims" => has_objects(value),
        "resourceClaimTemplateName" | "deviceClassName" => value.is_string(),
        _ => {
            let is_pod = name.to_ascii_lowercase().ends_with("podspec");
            is_pod && value.get("containers").is_some_and(has_objects)
        }
    }
}

/// Group and kind of all that is known.
fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
    object::KINDS.iter().chain(workload::KINDS).copied()
}

/// The known kinds of a group.
fn of(group: &str) -> impl Iterator<Item = &'static str> {
    known().chain(OTHERS).filter(move |(known, _)| *known == group).map(|(_, kind)| kind)
}

/// What to write instead of a kind, where one of the same group was probably meant.
fn meant(kind: &str, group: &str) -> Option<String> {
    if (kind, group) == ("ResourceClass", "resource.k8s.io") {
        return Some("Kubernetes 1.31 replaced it by `DeviceClass`".to_owned());
    }
    near(kind, group).map(|meant| format!("did you mean `{meant}`?"))
}

/// The kind of the same group that was probably meant.
fn near(kind: &str, group: &str) -> Option<&'static str> {
    let lower = kind.to_ascii_lowercase();
    let measured = of(group).map(|known| (distance(&lower, &known.to_ascii_lowercase()), known));
    let (least, meant) = measured.min_by_key(|(distance, _)| *distance)?;
    is_near(least, kind, meant).then_some(meant)
}

/// What to write as `apiVersion`, where the kind is of another group.
fn home(kind: &str, written: &str) -> Option<String> {
    Some(match at_home(kind, written)? {
        ("", meant) => format!("`{meant}` is of `apiVersion: v1`"),
        (group, meant) => {
            format!("`{meant}` is of the group `{group}`: write `apiVersion` as `{group}/` and a version")
        }
    })
}

/// The kind with its group, where another one of Kubernetes was written, or one with a slip of the finger.
fn at_home(kind: &str, written: &str) -> Option<(&'static str, &'static str)> {
    let is_of_kubernetes = !written.contains('.') || written.ends_with(".k8s.io");
    let may_be = |group: &str| is_of_kubernetes || distance(written, group) == 1;
    known().find(|(group, known)| known.eq_ignore_ascii_case(kind) && may_be(group))
}

/// The object that one of an unknown kind was probably meant to be.
pub(crate) fn meant_object(written: &Value) -> Option<ObjectRef> {
    let text = |path: &str| written.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let (kind, api_version) = (text("/kind"), text("/apiVersion"));
    let written_group = api_version.split_once('/').map_or("", |(group, _)| group);
    if known().any(|known| known == (written_group, kind)) {
        return None;
    }
    let near = near(kind, written_group).map(|near| (written_group, near));
    let (group, kind) = near.or_else(|| at_home(kind, written_group))?;
    let namespace = match (object::is_namespaced(group, kind), text("/metadata/namespace")) {
        (false, _) => "",
        (true, "") => "default",
        (true, namespace) => namespace,
    };
    Some(ObjectRef::new(kind, namespace, text("/metadata/name")))
}
