//! The objects of a set by what refers to them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::super::kind::split;

/// Namespace and name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key<'v>(pub(super) &'v str, pub(super) &'v str);

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0, self.1)
    }
}

/// What a set holds.
#[derive(Default)]
pub(super) struct Index<'v> {
    pub(super) classes: BTreeSet<&'v str>,
    pub(super) cluster_templates: BTreeMap<&'v str, &'v Value>,
    pub(super) templates: BTreeMap<Key<'v>, &'v Value>,
    pub(super) claims: BTreeMap<Key<'v>, &'v Value>,
    pub(super) groups: BTreeMap<Key<'v>, &'v Value>,
    pub(super) workloads: BTreeMap<Key<'v>, &'v Value>,
    pub(super) namespaces: BTreeMap<&'v str, &'v Value>,
}

/// Whether others refer to objects of a kind, or they belong together.
pub(super) fn is_held(kind: &str) -> bool {
    matches!(
        kind,
        "ClusterResourceClaimTemplate"
            | "DeviceClass"
            | "Namespace"
            | "PodGroup"
            | "ResourceClaim"
            | "ResourceClaimTemplate"
            | "ResourceSlice"
            | "Workload"
    )
}

impl<'v> Index<'v> {
    /// Of the objects of kinds that are [held](is_held).
    pub(super) fn of(objects: &'v [Cow<'_, Value>]) -> Self {
        let mut index = Self::default();
        for object in objects.iter().map(AsRef::as_ref) {
            let key = Key(namespace(object), name(object));
            let group = split(object.get("apiVersion").and_then(Value::as_str).unwrap_or_default()).0;
            match (group, kind(object)) {
                ("resource.k8s.io", "DeviceClass") => drop(index.classes.insert(key.1)),
                (_, "ClusterResourceClaimTemplate") => drop(index.cluster_templates.insert(key.1, object)),
                ("resource.k8s.io", "ResourceClaimTemplate") => drop(index.templates.insert(key, object)),
                ("resource.k8s.io", "ResourceClaim") => drop(index.claims.insert(key, object)),
                ("scheduling.k8s.io", "PodGroup") => drop(index.groups.insert(key, object)),
                ("scheduling.k8s.io", "Workload") => drop(index.workloads.insert(key, object)),
                ("", "Namespace") => drop(index.namespaces.insert(key.1, object)),
                _ => {}
            }
        }
        index
    }
}

/// The kind of an object.
pub(super) fn kind(object: &Value) -> &str {
    object.get("kind").and_then(Value::as_str).unwrap_or_default()
}

/// Its name.
pub(super) fn name(object: &Value) -> &str {
    inner(object, &["metadata", "name"]).and_then(Value::as_str).unwrap_or_default()
}

/// What stands below a field, and below one of that, and so on.
pub(super) fn inner<'v>(value: &'v Value, fields: &[&str]) -> Option<&'v Value> {
    fields.iter().try_fold(value, |value, field| value.get(field))
}

/// Its namespace, as kubectl fills it in.
pub(super) fn namespace(object: &Value) -> &str {
    let namespace = inner(object, &["metadata", "namespace"]).and_then(Value::as_str).unwrap_or_default();
    if namespace.is_empty() { "default" } else { namespace }
}

/// The elements of a list; none where there is none.
pub(super) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A text; empty where there is none.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
