//! Places in objects by paths: names with dots between them, where `[]` goes into every element of a list and `{}` into every
//! entry of a map.

use serde_json::Value;

use crate::api::read::Path;

/// Visits every place of a path. Bounded: as deep as the path is long.
pub(super) fn each(value: &mut Value, path: &str, at: &Path<'_>, visit: &mut dyn FnMut(&mut Value, &Path<'_>)) {
    if path.is_empty() {
        return visit(value, at);
    }
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    if let Some(name) = step.strip_suffix("[]") {
        let list = at.field(name);
        for (index, item) in value.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten().enumerate() {
            each(item, rest, &list.index(index), visit);
        }
    } else if let Some(name) = step.strip_suffix("{}") {
        let map = at.field(name);
        for (key, item) in value.get_mut(name).and_then(Value::as_object_mut).into_iter().flatten() {
            each(item, rest, &map.key(key), visit);
        }
    } else if let Some(inner) = value.get_mut(step) {
        each(inner, rest, &at.field(step), visit);
    }
}

/// Whether a test holds for any place of a path. Bounded as [`each`].
pub(super) fn any(value: &Value, path: &str, test: fn(&Value) -> bool) -> bool {
    if path.is_empty() {
        return test(value);
    }
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    if let Some(name) = step.strip_suffix("[]") {
        value.get(name).and_then(Value::as_array).into_iter().flatten().any(|item| any(item, rest, test))
    } else if let Some(name) = step.strip_suffix("{}") {
        let entries = value.get(name).and_then(Value::as_object);
        entries.into_iter().flat_map(|map| map.values()).any(|item| any(item, rest, test))
    } else {
        value.get(step).is_some_and(|inner| any(inner, rest, test))
    }
}
