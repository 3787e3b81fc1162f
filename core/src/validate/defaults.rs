//! What the API server fills in where a field is left out, as far as a later comparison can tell.

use serde_json::{Map, Value, json};

use crate::api::source::SOURCE_KIND;

/// Sets the defaults of a kind, which is in its internal form.
pub(super) fn set(kind: &str, object: &mut Value, flat: bool) {
    match kind {
        "ResourceClaim" => claim_spec(object.get_mut("spec"), flat),
        "ResourceClaimTemplate" | "ClusterResourceClaimTemplate" => {
            claim_spec(object.pointer_mut("/spec/spec"), flat);
        }
        SOURCE_KIND => claim_spec(object.pointer_mut("/spec/template/spec"), flat),
        "ResourceSlice" => each(object.pointer_mut("/spec/devices"), |device| {
            if let Some(Value::Object(mappings)) = device.get_mut("nodeAllocatableResourceMappings") {
                for mapping in mappings.values_mut().filter_map(Value::as_object_mut) {
                    mapping.entry("allocationMultiplier").or_insert_with(|| json!("1"));
                }
            }
        }),
        "ResourcePoolStatusRequest" => {
            if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
                spec.entry("limit").or_insert_with(|| json!(100));
            }
        }
        _ => {}
    }
}

/// The disruption mode of a PodGroup, in the shape of its version.
pub(super) fn disruption_mode(object: &mut Value, is_union: bool) {
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        spec.entry("disruptionMode").or_insert_with(|| if is_union { json!({ "single": {} }) } else { json!("Pod") });
    }
}

fn each(list: Option<&mut Value>, mut change: impl FnMut(&mut Map<String, Value>)) {
    let items = list.and_then(Value::as_array_mut);
    items.into_iter().flatten().filter_map(Value::as_object_mut).for_each(&mut change);
}

fn claim_spec(spec: Option<&mut Value>, flat: bool) {
    let requests = spec.and_then(|spec| spec.pointer_mut("/devices/requests"));
    each(requests, |request| {
        if let Some(Value::Object(exactly)) = request.get_mut("exactly") {
            // In a flat version only requests with a class are known to be of this form.
            let has_class = exactly.get("deviceClassName").is_some_and(|class| class != "");
            if !flat || has_class {
                asked(exactly);
            }
        }
        each(request.get_mut("firstAvailable"), asked);
    });
}

fn asked(request: &mut Map<String, Value>) {
    let mode = request.entry("allocationMode").or_insert_with(|| json!("ExactCount"));
    if mode == "" {
        *mode = json!("ExactCount");
    }
    if mode == "ExactCount" {
        let count = request.entry("count").or_insert_with(|| json!(1));
        if count == 0 {
            *count = json!(1);
        }
    }
    each(request.get_mut("tolerations"), |toleration| {
        let operator = toleration.entry("operator").or_insert_with(|| json!("Equal"));
        if operator == "" {
            *operator = json!("Equal");
        }
    });
}
