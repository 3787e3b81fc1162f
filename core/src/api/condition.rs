//! Conditions of a status, and other JSON that is read in passing.

use serde_json::Value;

/// A text field; empty where there is none.
pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The condition of a type.
pub(crate) fn condition<'v>(conditions: impl IntoIterator<Item = &'v Value>, kind: &str) -> Option<&'v Value> {
    conditions.into_iter().find(|condition| text(condition, "type") == kind)
}

/// The conditions of a status.
pub(crate) fn conditions(status: &Value) -> &[Value] {
    status.get("conditions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Whether a condition of a type is true.
pub(crate) fn holds<'v>(conditions: impl IntoIterator<Item = &'v Value>, kind: &str) -> bool {
    conditions.into_iter().any(|condition| text(condition, "type") == kind && text(condition, "status") == "True")
}
