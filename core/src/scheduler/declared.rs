//! What a Pod needs that nodes declare in `status.declaredFeatures`: from 1.36 on such a Pod goes to no other node.
//!
//! Source: `component-helpers/nodedeclaredfeatures`.

use serde_json::Value;

use super::node_fit::is_inferred;
use crate::api::node::Node;
use crate::api::pod::{Container, Pod};
use crate::profile::Version;

/// What a Pod needs, by the names that nodes declare.
pub(super) fn needed(pod: &Pod, version: Version) -> Vec<&'static str> {
    let spec = &pod.spec;
    let is = |name: &str, value: bool| spec.rest.get(name) == Some(&Value::Bool(value));
    let any = |list: &str, has: &dyn Fn(&Value) -> bool| {
        let entries = |container: &Container| {
            container.rest.get(list).and_then(Value::as_array).is_some_and(|entries| entries.iter().any(has))
        };
        spec.init_containers.iter().chain(&spec.containers).any(entries)
    };
    let restarts_all = |rule: &Value| {
        rule.get("action").and_then(Value::as_str).is_some_and(|action| action == "RestartAllContainers")
    };
    let has_options = |mount: &Value| {
        mount.get("bindMountOptions").and_then(Value::as_array).is_some_and(|options| !options.is_empty())
    };
    let mut needed = Vec::new();
    if version >= Version::V1_36 && any("restartPolicyRules", &restarts_all) {
        needed.push("RestartAllContainersOnContainerExits");
    }
    if version >= Version::V1_36 && is("hostNetwork", true) && is("hostUsers", false) {
        needed.push("UserNamespacesHostNetworkSupport");
    }
    if version >= Version::V1_37 && any("volumeMounts", &has_options) {
        needed.push("VolumeBindMountOptions");
    }
    needed
}

/// The first thing that a Pod needs and a node does not declare. Of an inferred node that is not known.
pub(super) fn missing(needed: &[&'static str], node: &Node) -> Option<&'static str> {
    if needed.is_empty() || is_inferred(node) {
        return None;
    }
    let declared = node.status.declared_features.as_deref().unwrap_or_default();
    needed.iter().find(|feature| declared.iter().all(|other| other != *feature)).copied()
}
