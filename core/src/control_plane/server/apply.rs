//! Server-side apply for one field manager: what it leaves out and owned before goes.

use serde_json::Value;

use super::merge::{merge_key, strategic};

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
}
