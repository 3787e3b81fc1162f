//! Who gains what, and what a namespace takes.
//!
//! Source: KEP-5018: admin access hangs on a label of the namespace, so whoever may set that label may grant it.

use super::super::{ADMIN_LABEL, no_admin_access, takes_nothing};
use super::index::Index;
use super::json::{Json, field, inner, kind, list, name, namespace, text};
use crate::derive::is_foreign;
use crate::finding::{Code, Finding, Severity};

/// How the label was spelt before 1.34. It allows nothing any more.
const OLD_LABEL: &str = "resource.k8s.io/admin-access";

/// One object.
pub(super) fn check(object: &Json<'_>, index: &Index<'_>, has_admin_access: bool, found: &mut Vec<Finding>) {
    let space = namespace(object);
    let stored = index.namespaces.get(space).filter(|space| is_stored(space));
    if stored.and_then(|space| inner(space, "metadata.deletionTimestamp")).is_some()
        && inner(object, "metadata.namespace").is_some()
        && !is_stored(object)
    {
        return found.push(takes_nothing(space));
    }
    match kind(object) {
        "ResourceClaim" if has_admin_access => admin_access(object, "spec", index, found),
        "ResourceClaimTemplate" if has_admin_access => admin_access(object, "spec.spec", index, found),
        "Namespace" => label(object, found),
        "ClusterRole" | "Role" => role(object, found),
        _ => {}
    }
}

/// Whether the object was found in a cluster.
fn is_stored(object: &Json<'_>) -> bool {
    inner(object, "metadata.uid").and_then(Json::as_str).is_some_and(is_foreign)
}

/// The value of a label of a namespace.
fn label_of<'v>(space: &'v Json<'v>, name: &str) -> Option<&'v str> {
    field(inner(space, "metadata.labels")?, name)?.as_str()
}

fn admin_access(object: &Json<'_>, prefix: &str, index: &Index<'_>, found: &mut Vec<Finding>) {
    for (number, request) in list(inner(object, &format!("{prefix}.devices.requests"))).iter().enumerate() {
        let nested = inner(request, "exactly.adminAccess") == Some(&Json::Bool(true));
        if !nested && field(request, "adminAccess") != Some(&Json::Bool(true)) {
            continue;
        }
        let inside = if nested { ".exactly" } else { "" };
        let at = format!("{prefix}.devices.requests[{number}]{inside}.adminAccess");
        let space = namespace(object);
        let label = ADMIN_LABEL;
        match index.namespaces.get(space) {
            None => {
                let message = format!("admin access needs the label `{label}: \"true\"` on namespace `{space}`");
                found.push(Finding::new(Code::LinkAdminLabel, at, message).with_severity(Severity::Info));
            }
            Some(namespace) if label_of(namespace, label) == Some("true") => {}
            Some(_) if is_stored(object) => {
                let message = format!("namespace `{space}` has lost the label `{label}: \"true\"`");
                let finding = Finding::new(Code::LinkAdminLabel, at, message);
                found.push(finding.with_hint("an administrator must set the label"));
            }
            Some(_) => {
                let what = format!("{} `{}`", kind(object), name(object));
                found.push(Finding { path: at, ..no_admin_access(&what, space) });
            }
        }
    }
}

fn label(object: &Json<'_>, found: &mut Vec<Finding>) {
    if label_of(object, OLD_LABEL).is_some() {
        let message = format!("`{OLD_LABEL}` is the label of Kubernetes 1.33; since 1.34 it allows nothing");
        let finding = Finding::new(Code::LinkAdminLabel, format!("metadata.labels[{OLD_LABEL}]"), message);
        found.push(finding.with_hint(format!("set `{ADMIN_LABEL}: \"true\"` instead")));
    }
    let Some(value) = label_of(object, ADMIN_LABEL) else { return };
    let at = format!("metadata.labels[{ADMIN_LABEL}]");
    if value == "true" {
        let message = "everybody who may create claims in this namespace can use devices that are allocated to others";
        found.push(Finding::new(Code::SecurityAdminNamespace, at, message).with_hint(
            "allow `create` on resourceclaims, resourceclaimtemplates and Pods here to administrators only",
        ));
    } else {
        let message = format!("the value must be exactly `true`, `{value}` allows nothing");
        found.push(Finding::new(Code::LinkAdminLabel, at, message));
    }
}

/// A role that may change the labels of namespaces.
fn role(object: &Json<'_>, found: &mut Vec<Finding>) {
    for (number, rule) in list(field(object, "rules")).iter().enumerate() {
        let has = |name: &str, wanted: &[&str]| {
            list(field(rule, name)).iter().filter_map(Json::as_str).any(|value| value == "*" || wanted.contains(&value))
        };
        let named = list(field(rule, "resourceNames"));
        if has("apiGroups", &[""]) && has("resources", &["namespaces"]) && has("verbs", &["patch", "update"]) {
            let who = text(field(object, "metadata").unwrap_or(&Json::Null), "name");
            let which = if named.is_empty() { "any namespace" } else { "the named namespaces" };
            let message =
                format!("whoever has the role `{who}` may label {which} and so gains admin access to all devices");
            let finding = Finding::new(Code::SecurityNamespaceLabels, format!("rules[{number}]"), message);
            found.push(finding.with_hint(format!("let an admission policy protect the label `{ADMIN_LABEL}`")));
        }
    }
}
