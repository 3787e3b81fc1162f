//! Fields that were applied before and are left out now are removed: those of a field manager on the server's side, and those of a user
//! of kubectl, which keeps in an annotation what was applied last.

use serde_json::Value;

use super::merge::{merge, merge_key, strategic};
use crate::api::object::parse;

/// Where kubectl keeps what was applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Applies fields; `before` is what the same manager applied last.
pub(super) fn apply(target: &mut Value, before: Option<&Value>, fields: &Value) {
    if let Some(before) = before {
        disown(target, before, fields);
    }
    strategic(target, fields);
}

/// Removes what was applied before and is not any more. Bounded by the depth of what was applied.
fn disown(target: &mut Value, before: &Value, fields: &Value) {
    let (Some(map), Some(before)) = (target.as_object_mut(), before.as_object()) else { return };
    for (name, old) in before {
        let Some(place) = map.get_mut(name) else { continue };
        match (fields.get(name), merge_key(name)) {
            (None, _) if merge_key(name).is_none() && !old.is_object() => drop(map.remove(name)),
            (new, Some(key)) => disown_items(place, old, new.unwrap_or(&Value::Null), key),
            (new, None) => disown(place, old, new.unwrap_or(&Value::Null)),
        }
    }
}

fn disown_items(target: &mut Value, before: &Value, fields: &Value, key: &str) {
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let kept = items(fields);
    let gone: Vec<Value> = items(before)
        .into_iter()
        .filter(|old| kept.iter().all(|new| new.get(key) != old.get(key)))
        .filter_map(|old| old.get(key).cloned())
        .collect();
    if let Some(list) = target.as_array_mut() {
        list.retain(|item| item.get(key).is_none_or(|value| !gone.contains(value)));
    }
}

/// An object as kubectl sends it, with itself in the annotation.
pub(super) fn remembered(mut object: Value) -> Value {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return object };
    let annotations = metadata.entry("annotations").or_insert(Value::Null);
    let mut others = annotations.as_object().cloned().unwrap_or_default();
    others.remove(LAST_APPLIED);
    *annotations = Value::Object(others.clone());
    others.insert(LAST_APPLIED.to_owned(), Value::String(object.to_string()));
    if let Some(annotations) = object.pointer_mut("/metadata/annotations") {
        *annotations = Value::Object(others);
    }
    object
}

/// Merges an object that a user applies into the stored one. Fields that were applied last and are missing now are removed.
///
/// Source: kubectl `pkg/cmd/apply/patcher.go`: a strategic merge for built-in kinds, else a JSON merge patch.
pub(super) fn apply_as_user(target: &mut Value, fields: &Value) {
    let group = fields.get("apiVersion").and_then(Value::as_str).and_then(|version| version.split_once('/'));
    let is_built_in = group.is_none_or(|(group, _)| !group.contains('.') || group.ends_with(".k8s.io"));
    let annotation = target.get("metadata").and_then(|metadata| metadata.get("annotations")?.get(LAST_APPLIED));
    if let Some(mut before) = annotation.and_then(Value::as_str).and_then(|text| parse(text).ok()) {
        if let Some(before) = before.as_object_mut() {
            before.remove("status");
        }
        prune(target, &before, fields, is_built_in);
    }
    if is_built_in { strategic(target, fields) } else { merge(target, fields) }
}

/// Removes the fields that were applied last and are missing now, even if somebody else has changed them since.
fn prune(target: &mut Value, before: &Value, fields: &Value, has_keys: bool) {
    let (Some(map), Some(before)) = (target.as_object_mut(), before.as_object()) else { return };
    for (name, old) in before {
        let Some(new) = fields.get(name) else {
            map.remove(name);
            continue;
        };
        let Some(place) = map.get_mut(name) else { continue };
        let (Some(key), Some(items)) = (merge_key(name).filter(|_| has_keys), place.as_array_mut()) else {
            prune(place, old, new, has_keys);
            continue;
        };
        let find = |list: &Value, item: &Value| {
            let is_it = |one: &&Value| one.get(key).is_some_and(|value| item.get(key) == Some(value));
            list.as_array().and_then(|list| list.iter().find(is_it).cloned())
        };
        items.retain(|item| find(old, item).is_none() || find(new, item).is_some());
        for item in items {
            if let (Some(old), Some(new)) = (find(old, item), find(new, item)) {
                prune(item, &old, &new, has_keys);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entries_that_the_manager_leaves_out_go() {
        let first = json!({"status": {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "x"}]}});
        let second = json!({"status": {"resourceClaimStatuses": [{"name": "b", "resourceClaimName": "y"}]}});
        let mut pod = json!({"status": {"phase": "Pending", "resourceClaimStatuses": [{"name": "c"}]}});
        apply(&mut pod, None, &first);
        apply(&mut pod, Some(&first), &second);
        let expected = json!([{"name": "c"}, {"name": "b", "resourceClaimName": "y"}]);
        assert_eq!(pod.pointer("/status/resourceClaimStatuses"), Some(&expected));
        assert_eq!(pod.pointer("/status/phase"), Some(&json!("Pending")));
    }

    #[test]
    fn what_a_user_leaves_out_goes_and_what_others_wrote_stays() {
        let object = |annotation: &str, spec: Value| json!({"apiVersion": "apps/v1", "metadata": {"name": "a", "annotations": {"note": annotation}}, "spec": spec});
        let first = json!({"replicas": 3, "nodeSelector": {"zone": "a"}, "containers": [{"name": "c", "image": "x", "tty": true}, {"name": "side"}]});
        let mut stored = remembered(object("first", first));
        strategic(&mut stored, &json!({"spec": {"paused": true, "containers": [{"name": "injected"}]}}));
        let second = json!({"containers": [{"name": "c", "image": "y"}]});
        apply_as_user(&mut stored, &remembered(object("second", second.clone())));
        let spec = json!({"paused": true, "containers": [{"name": "c", "image": "y"}, {"name": "injected"}]});
        assert_eq!(stored.get("spec"), Some(&spec));
        let again = remembered(object("second", second));
        assert_eq!(stored.get("metadata"), again.get("metadata"));
        apply_as_user(&mut stored, &again);
        assert_eq!(stored.get("spec"), Some(&spec));
    }

    #[test]
    fn lists_of_other_kinds_are_replaced() {
        let object = |containers: Value| json!({"apiVersion": "example.com/v1", "metadata": {}, "spec": {"containers": containers}});
        let mut stored = remembered(object(json!([{"name": "a"}, {"name": "b"}])));
        apply_as_user(&mut stored, &remembered(object(json!([{"name": "b", "image": "x"}]))));
        assert_eq!(stored.pointer("/spec/containers"), Some(&json!([{"name": "b", "image": "x"}])));
    }
}
