//! Older versions of `resource.k8s.io` and the internal form, there and back.
//!
//! Source: `pkg/apis/resource/v1beta1/conversion.go`; KEP-4381 for `v1alpha3`.

use serde_json::{Map, Value, json};

/// Fields of an exact request that stand directly in a flat request.
const EXACT: [&str; 8] = [
    "deviceClassName",
    "selectors",
    "allocationMode",
    "count",
    "adminAccess",
    "tolerations",
    "capacity",
    "derivedAttributes",
];

/// A version of `resource.k8s.io` whose requests are flat and whose devices have a `basic` part.
pub(crate) fn is_flat(version: &str) -> bool {
    matches!(version, "v1beta1" | "v1alpha3")
}

fn requests(spec: Option<&mut Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    let list = spec.and_then(|spec| spec.pointer_mut("/devices/requests")).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn devices(spec: Option<&mut Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    let list = spec.and_then(|spec| spec.get_mut("devices")).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn claim_spec<'o>(kind: &str, object: &'o mut Value) -> Option<&'o mut Value> {
    match kind {
        "ResourceClaim" => object.get_mut("spec"),
        "ResourceClaimTemplate" | "ClusterResourceClaimTemplate" => object.pointer_mut("/spec/spec"),
        _ => None,
    }
}

/// Brings an object of a flat version into the internal form, the shape of `v1`.
pub(crate) fn raise(kind: &str, version: &str, object: &mut Value) {
    for request in requests(claim_spec(kind, object)) {
        let mut exactly = Map::new();
        for name in EXACT {
            if let Some(value) = request.remove(name) {
                exactly.insert(name.to_owned(), value);
            }
        }
        if request.contains_key("exactly") {
            // Both forms: left as written, for the reader to report.
            request.append(&mut exactly);
        } else if exactly.values().any(is_given) {
            request.insert("exactly".to_owned(), Value::Object(exactly));
        }
    }
    if kind != "ResourceSlice" {
        return;
    }
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        if spec.get("nodeName").is_some_and(|name| name == "") {
            spec.remove("nodeName");
        }
        if spec.get("allNodes") == Some(&Value::Bool(false)) {
            spec.remove("allNodes");
        }
    }
    for device in devices(object.get_mut("spec")) {
        let mut basic = match device.remove("basic") {
            Some(Value::Object(basic)) => basic,
            Some(Value::Null) | None => continue,
            Some(other) => {
                device.insert("basic".to_owned(), other);
                continue;
            }
        };
        for name in ["attributes", "capacity"] {
            if basic.get(name).and_then(Value::as_object).is_some_and(Map::is_empty) {
                basic.remove(name);
            }
        }
        if version == "v1alpha3"
            && let Some(Value::Object(capacity)) = basic.get_mut("capacity")
        {
            for amount in capacity.values_mut() {
                *amount = json!({ "value": amount.take() });
            }
        }
        for (name, value) in basic {
            device.entry(name).or_insert(value);
        }
    }
}

/// Names the version of an object that was [raised](raise).
pub(crate) fn stored_as(kind: &str, object: &mut Value) {
    let is_raised = matches!(kind, "ResourceClaim" | "ResourceClaimTemplate" | "DeviceClass" | "ResourceSlice");
    if let Some(Value::Object(map)) = Some(object).filter(|_| is_raised) {
        map.insert("apiVersion".to_owned(), Value::from("resource.k8s.io/v1"));
    }
}

/// Brings an object in the internal form into a flat version.
pub(crate) fn lower(kind: &str, version: &str, object: &mut Value) {
    for request in requests(claim_spec(kind, object)) {
        if let Some(Value::Object(exactly)) = request.remove("exactly") {
            for (name, value) in exactly {
                request.entry(name).or_insert(value);
            }
        }
    }
    if kind != "ResourceSlice" {
        return;
    }
    for device in devices(object.get_mut("spec")) {
        let mut basic = Map::new();
        let names: Vec<String> = device.keys().filter(|name| *name != "name" && *name != "basic").cloned().collect();
        for name in names {
            if let Some(value) = device.remove(&name) {
                basic.insert(name, value);
            }
        }
        if version == "v1alpha3"
            && let Some(Value::Object(capacity)) = basic.get_mut("capacity")
        {
            for amount in capacity.values_mut() {
                // A request policy has no place there: then the object form stays.
                if let Value::Object(parts) = amount
                    && parts.len() == 1
                    && let Some(value) = parts.remove("value")
                {
                    *amount = value;
                }
            }
        }
        if !basic.is_empty() {
            device.insert("basic".to_owned(), Value::Object(basic));
        }
    }
}

/// The path as the author of a flat version knows it.
pub(crate) fn flat_path(kind: &str, path: &str) -> String {
    if kind == "ResourceSlice" {
        return match path.strip_prefix("spec.devices[").and_then(|rest| rest.split_once("].")) {
            Some((index, field)) if field != "name" && !field.starts_with("basic") => {
                format!("spec.devices[{index}].basic.{field}")
            }
            _ => path.to_owned(),
        };
    }
    path.replacen("].exactly.", "].", 1)
}

/// Whether a value is more than the zero of its type: lists and pointers are even when they are empty.
pub(crate) fn is_given(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_i64() != Some(0),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => true,
    }
}
