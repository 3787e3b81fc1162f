//! Whether two values say the same, as the API server compares them: what is left out equals what is empty, except where
//! a field can tell the two apart, and amounts are compared as numbers.

use serde_json::Value;

use super::super::node::quantity;
use super::Type;

/// Whether two values of a type say the same.
pub(in crate::validate) fn same(of: &Type, left: &Value, right: &Value) -> bool {
    match of {
        Type::Text | Type::Time => left.as_str().unwrap_or_default() == right.as_str().unwrap_or_default(),
        Type::Flag => (left == &Value::Bool(true)) == (right == &Value::Bool(true)),
        Type::Int32 | Type::Int64 => left.as_i64().unwrap_or_default() == right.as_i64().unwrap_or_default(),
        Type::Quantity => quantity(left).unwrap_or_default() == quantity(right).unwrap_or_default(),
        Type::Any => left == right,
        Type::Object(fields) | Type::Open(fields) => fields.iter().all(|field| {
            let part = |value| Value::get(value, field.name).unwrap_or(&Value::Null);
            same(&field.holds, part(left), part(right))
        }),
        Type::List(element) => {
            let (left, right) = (items(left), items(right));
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(element, left, right))
        }
        Type::Map(element) => {
            let length = |value: &Value| value.as_object().map_or(0, serde_json::Map::len);
            length(left) == length(right)
                && left
                    .as_object()
                    .into_iter()
                    .flatten()
                    .all(|(key, value)| right.get(key).is_some_and(|other| same(element, value, other)))
        }
        Type::Opt(inner) => match (left.is_null(), right.is_null()) {
            (true, true) => true,
            (false, false) => same(inner, left, right),
            _ => false,
        },
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
