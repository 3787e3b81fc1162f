//! Whether what is given differs from what is stored, where the API server, admission and controllers have filled in what
//! was left out.

use serde_json::Value;

use super::node::quantity;

/// Fields whose values are amounts, which are equal as numbers.
const AMOUNTS: [&str; 4] = ["requests", "limits", "overhead", "sizeLimit"];

/// Whether anything that is given differs from what is stored. What is left out or empty does not. Entries with names are
/// compared by name. Bounded by the depth of what is given.
pub(super) fn differs(given: &Value, stored: &Value) -> bool {
    compare(given, stored, false)
}

fn compare(given: &Value, stored: &Value, amounts: bool) -> bool {
    match (given, stored) {
        (Value::Null, _) => false,
        (Value::Object(given), _) => given.iter().any(|(name, value)| {
            let amounts = amounts || AMOUNTS.contains(&name.as_str());
            stored.get(name).map_or(!is_blank(value), |stored| compare(value, stored, amounts))
        }),
        (Value::Array(items), Value::Array(others)) => {
            let name = |value: &Value| value.get("name").and_then(Value::as_str).map(str::to_owned);
            if !items.is_empty() && items.iter().all(|item| name(item).is_some()) {
                items.iter().any(|item| {
                    let found = others.iter().find(|other| name(other) == name(item));
                    found.is_none_or(|found| compare(item, found, amounts))
                })
            } else {
                items.len() != others.len()
                    || items.iter().zip(others).any(|(item, other)| compare(item, other, amounts))
            }
        }
        _ if is_blank(given) && is_blank(stored) => false,
        _ if amounts => quantity(given) != quantity(stored),
        _ => given != stored,
    }
}

/// Whether a value says no more than one that is left out.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_blank),
    }
}
