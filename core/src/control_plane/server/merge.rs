//! Merging fields into objects.

use serde_json::{Map, Value};

/// RFC 7386: objects are merged, all else is replaced, `null` removes.
pub(super) fn merge(target: &mut Value, fields: &Value) {
    merge_with(target, fields, &|_, target, value| *target = value.clone());
}

/// The same, and lists with a merge key are merged by it.
pub(super) fn strategic(target: &mut Value, fields: &Value) {
    merge_with(target, fields, &|name, target, value| match (merge_key(name), value.as_array()) {
        (Some(key), Some(items)) if items.iter().all(|item| item.get(key).is_some()) => {
            let list = std::mem::take(target);
            let mut list = if let Value::Array(list) = list { list } else { Vec::new() };
            merge_list(&mut list, items, key);
            *target = Value::Array(list);
        }
        _ => *target = value.clone(),
    });
}

/// The field that tells the items of a list apart, for lists that are merged. A list whose items lack it is replaced.
pub(super) fn merge_key(list: &str) -> Option<&'static str> {
    match list {
        "conditions" => Some("type"),
        "containers"
        | "env"
        | "ephemeralContainers"
        | "imagePullSecrets"
        | "initContainers"
        | "resourceClaims"
        | "resourceClaimStatuses"
        | "schedulingGates"
        | "volumes" => Some("name"),
        "ports" => Some("containerPort"),
        "topologySpreadConstraints" => Some("topologyKey"),
        "volumeMounts" => Some("mountPath"),
        "reservedFor" | "ownerReferences" => Some("uid"),
        _ => None,
    }
}

/// Bounded: objects in API objects nest as deep as JSON that was read with a limit.
fn merge_with(target: &mut Value, fields: &Value, replace: &dyn Fn(&str, &mut Value, &Value)) {
    let Some(fields) = fields.as_object() else {
        *target = fields.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(map) = target.as_object_mut() else { return };
    for (name, value) in fields {
        if value.is_null() {
            map.remove(name);
            continue;
        }
        let place = map.entry(name.clone()).or_insert(Value::Null);
        if value.is_object() {
            merge_with(place, value, replace);
        } else {
            replace(name, place, value);
        }
    }
}

/// Merges items into a list in which a field tells them apart.
pub(super) fn merge_list(list: &mut Vec<Value>, items: &[Value], key: &str) {
    for item in items {
        let is_delete = item.get("$patch").and_then(Value::as_str) == Some("delete");
        let position = list.iter().position(|known| known.get(key) == item.get(key));
        match position.and_then(|position| list.get_mut(position)) {
            Some(_) if is_delete => list.retain(|known| known.get(key) != item.get(key)),
            Some(known) => strategic(known, item),
            None if is_delete => {}
            None => {
                let mut new = Value::Object(Map::new());
                strategic(&mut new, item);
                list.push(new);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_merge_replaces_lists_and_removes_nulls() {
        let mut value = json!({"a": {"b": [1, 2], "c": 1}, "d": 2});
        merge(&mut value, &json!({"a": {"b": [3], "c": null}, "e": 4}));
        assert_eq!(value, json!({"a": {"b": [3]}, "d": 2, "e": 4}));
    }

    #[test]
    fn conditions_are_merged_by_type() {
        let mut value = json!({"conditions": [{"type": "A", "status": "True"}, {"type": "B"}]});
        strategic(&mut value, &json!({"conditions": [{"type": "A", "status": "False"}, {"type": "C"}]}));
        let expected = json!({"conditions": [{"type": "A", "status": "False"}, {"type": "B"}, {"type": "C"}]});
        assert_eq!(value, expected);
        strategic(&mut value, &json!({"conditions": [{"type": "B", "$patch": "delete"}]}));
        assert_eq!(value, json!({"conditions": [{"type": "A", "status": "False"}, {"type": "C"}]}));
    }
}
