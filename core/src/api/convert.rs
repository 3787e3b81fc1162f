//! Older API versions, brought to the form of `v1` on entry.

use serde_json::{Map, Value};

/// Fields of an exact request that stood directly in the request before `v1beta2`.
const EXACT_FIELDS: [&str; 8] = [
    "deviceClassName",
    "selectors",
    "allocationMode",
    "count",
    "adminAccess",
    "tolerations",
    "capacity",
    "derivedAttributes",
];

/// A version whose requests are flat and whose devices have a `basic` part.
pub(super) fn is_flat(version: &str) -> bool {
    matches!(version, "v1beta1" | "v1alpha3")
}

/// Moves the fields of flat requests below `exactly`.
pub(super) fn claim_spec(spec: &mut Value) {
    let requests = spec.pointer_mut("/devices/requests").and_then(Value::as_array_mut);
    for request in requests.into_iter().flatten().filter_map(Value::as_object_mut) {
        let mut exactly = Map::new();
        for name in EXACT_FIELDS {
            if let Some(value) = request.remove(name) {
                exactly.insert(name.to_owned(), value);
            }
        }
        if !exactly.is_empty() && !request.contains_key("exactly") {
            request.insert("exactly".to_owned(), Value::Object(exactly));
        } else {
            // Both forms, or `firstAvailable` with surplus fields: left as written, the reader reports them.
            request.append(&mut exactly);
        }
    }
}

/// Moves the fields of `basic` up into the device.
pub(super) fn slice_spec(spec: &mut Value) {
    let devices = spec.get_mut("devices").and_then(Value::as_array_mut);
    for device in devices.into_iter().flatten().filter_map(Value::as_object_mut) {
        match device.remove("basic") {
            Some(Value::Object(basic)) => {
                for (name, value) in basic {
                    device.entry(name).or_insert(value);
                }
            }
            Some(Value::Null) | None => {}
            Some(other) => {
                device.insert("basic".to_owned(), other);
            }
        }
    }
}

/// The path as the author of a flat version knows it.
pub(super) fn flat_path(kind: &str, path: &str) -> String {
    match kind {
        "ResourceSlice" => match path.strip_prefix("spec.devices[").and_then(|rest| rest.split_once("].")) {
            Some((index, field)) if field != "name" && !field.starts_with("basic") => {
                format!("spec.devices[{index}].basic.{field}")
            }
            _ => path.to_owned(),
        },
        _ => path.replacen("].exactly.", "].", 1),
    }
}
