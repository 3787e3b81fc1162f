//! What no rule about a set looks at is dropped at once, so that a set takes a fraction of its objects' room.

use serde_json::Value;

use super::index::kind;

/// Keeps of a held object what the rules about sets look at. Attributes and capacities are not among it.
pub(super) fn trim(object: &mut Value) {
    let is_slice = kind(object) == "ResourceSlice";
    let Some(fields) = object.as_object_mut() else { return };
    fields.remove("status");
    keep(fields.get_mut("metadata"), &["name", "generateName", "namespace", "labels"]);
    if is_slice {
        let devices = fields.get_mut("spec").and_then(|spec| spec.get_mut("devices")).and_then(Value::as_array_mut);
        for device in devices.into_iter().flatten() {
            keep(device.get_mut("basic"), &["consumesCounters"]);
            keep(Some(device), &["name", "consumesCounters", "basic"]);
        }
    }
}

fn keep(value: Option<&mut Value>, names: &[&str]) {
    if let Some(Value::Object(fields)) = value {
        fields.retain(|name, _| names.contains(&name.as_str()));
    }
}
