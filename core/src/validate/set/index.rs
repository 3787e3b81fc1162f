//! The objects of a set by what refers to them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::copies::Copies;
use super::json::{Json, field, kind, name, namespace, text};
use crate::validate::kind::split;
use crate::validate::priority::Class;

/// Namespace and name; the namespace is empty where there is none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key<'v>(pub(super) &'v str, pub(super) &'v str);

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str(self.1) } else { write!(f, "{}/{}", self.0, self.1) }
    }
}

/// What a set holds.
#[derive(Default)]
pub(super) struct Index<'v> {
    pub(super) classes: BTreeSet<&'v str>,
    pub(super) cluster_templates: BTreeMap<&'v str, &'v Json<'v>>,
    pub(super) templates: BTreeMap<Key<'v>, &'v Json<'v>>,
    pub(super) claims: BTreeMap<Key<'v>, &'v Json<'v>>,
    pub(super) groups: BTreeMap<Key<'v>, &'v Json<'v>>,
    pub(super) workloads: BTreeMap<Key<'v>, &'v Json<'v>>,
    pub(super) namespaces: BTreeMap<&'v str, &'v Json<'v>>,
    pub(super) priority_classes: Vec<Class<'v>>,
    pub(super) copies: Copies<'v>,
}

/// Whether others refer to objects of a kind, or they belong together.
pub(super) fn is_held(kind: &str) -> bool {
    matches!(
        kind,
        "ClusterResourceClaimTemplate"
            | "DeviceClass"
            | "Namespace"
            | "PodGroup"
            | "PriorityClass"
            | "ResourceClaim"
            | "ResourceClaimTemplate"
            | "ResourceSlice"
            | "Workload"
    )
}

impl<'v> Index<'v> {
    /// Of the objects of kinds that are [held](is_held).
    pub(super) fn of(objects: &'v [Json<'_>]) -> Self {
        let mut index = Self::default();
        for object in objects {
            let key = Key(namespace(object), name(object));
            let group = split(text(object, "apiVersion")).0;
            match (group, kind(object)) {
                ("resource.k8s.io", "DeviceClass") => drop(index.classes.insert(key.1)),
                ("apportion.dev", _) => {}
                (_, "ClusterResourceClaimTemplate") => drop(index.cluster_templates.insert(key.1, object)),
                ("resource.k8s.io", "ResourceClaimTemplate") => drop(index.templates.insert(key, object)),
                ("resource.k8s.io", "ResourceClaim") => drop(index.claims.insert(key, object)),
                ("scheduling.k8s.io", "PodGroup") => drop(index.groups.insert(key, object)),
                ("scheduling.k8s.io", "Workload") => drop(index.workloads.insert(key, object)),
                ("scheduling.k8s.io", "PriorityClass") => index.priority_classes.push(Class {
                    name: key.1,
                    value: field(object, "value").and_then(Json::as_i64).unwrap_or_default(),
                    policy: text(object, "preemptionPolicy"),
                    is_default: field(object, "globalDefault") == Some(&Json::Bool(true)),
                }),
                ("", "Namespace") => drop(index.namespaces.insert(key.1, object)),
                _ => {}
            }
        }
        index.copies = Copies::of(objects, &index.namespaces);
        index
    }
}
