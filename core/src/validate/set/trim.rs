//! What no rule about a set looks at is dropped at once, so that a set takes a fraction of its objects' room.

use serde_json::{Map, Value};

use super::index::{kind, text};
use crate::validate::kind::{Kind, split};
use crate::validate::pod_templates;

/// Keeps of an object what the rules about sets look at. Attributes and capacities are not among it.
pub(super) fn trim(object: &mut Value) {
    let is_slice = kind(object) == "ResourceSlice";
    let is_held = is_held(object);
    let Some(fields) = object.as_object_mut() else { return };
    fields.retain(|name, _| matches!(name.as_str(), "apiVersion" | "kind" | "metadata") || is_held && name != "status");
    keep(fields.get_mut("metadata"), &["name", "generateName", "namespace", "labels"]);
    if is_slice {
        let devices = fields.get_mut("spec").and_then(|spec| spec.get_mut("devices")).and_then(Value::as_array_mut);
        for device in devices.into_iter().flatten() {
            keep(device.get_mut("basic"), &["consumesCounters"]);
            keep(Some(device), &["name", "consumesCounters", "basic"]);
        }
    } else if is_held {
        containers(object);
    }
}

/// Whether a rule looks into an object: it has claims, Pods or devices in it, or grants something.
fn is_held(object: &Value) -> bool {
    let (group, kind) = (split(text(object, "apiVersion")).0, kind(object));
    Kind::of(group, kind).is_some()
        || pod_templates::of(group, kind).is_some()
        || matches!(kind, "Namespace" | "ClusterRole" | "Role")
}

fn keep(value: Option<&mut Value>, names: &[&str]) {
    if let Some(Value::Object(fields)) = value {
        fields.retain(|name, _| names.contains(&name.as_str()));
    }
}

/// Leaves of containers, wherever they are, only the claims that they use.
fn containers(object: &mut Value) {
    let mut open = vec![object];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => open.extend(fields.iter_mut().filter_map(|(name, value)| {
                if matches!(name.as_str(), "containers" | "initContainers" | "ephemeralContainers") {
                    value.as_array_mut().into_iter().flatten().for_each(container);
                    return None;
                }
                Some(value)
            })),
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

fn container(container: &mut Value) {
    let claims = container.pointer_mut("/resources/claims").map(Value::take);
    *container = Value::Object(claims.map_or_else(Map::new, |claims| {
        Map::from_iter([("resources".to_owned(), Value::Object(Map::from_iter([("claims".to_owned(), claims)])))])
    }));
}
