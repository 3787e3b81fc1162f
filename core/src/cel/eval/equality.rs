//! When values are equal, and what Go calls their types.

use crate::cel::functions;
use crate::cel::value::{Eval, QuantityValue, Value, no_overload, to_i64, to_u64};

/// Membership as the reference's sets of constants have it: numbers match across types where the conversion is exact.
#[expect(clippy::cast_precision_loss, reason = "the reference converts the same way")]
pub(super) fn is_member(member: &Value<'_>, value: &Value<'_>) -> bool {
    match (member, value) {
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => a.as_str() == b.as_str(),
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Uint(a), Value::Uint(b)) => a == b,
        (Value::Double(a), Value::Double(b)) => a == b,
        (Value::Int(a), Value::Uint(b)) => u64::try_from(*a).is_ok_and(|a| a == *b),
        (Value::Uint(a), Value::Int(b)) => i64::try_from(*a).is_ok_and(|a| a == *b),
        (Value::Int(a), Value::Double(b)) => *a as f64 == *b,
        (Value::Uint(a), Value::Double(b)) => *a as f64 == *b,
        (Value::Double(a), Value::Int(b)) => to_i64(*a) == Some(*b),
        (Value::Double(a), Value::Uint(b)) => to_u64(*a) == Some(*b),
        _ => false,
    }
}

/// `==`. Values of different types differ; an error only for types that refuse to be compared.
pub(in crate::cel) fn equality(left: &Value<'_>, right: &Value<'_>) -> Eval<bool> {
    if matches!(left, Value::Null) || matches!(right, Value::Null) {
        return Ok(matches!((left, right), (Value::Null, Value::Null)));
    }
    equals(left, right)
}

/// The method of the left value, as containers use it.
pub(in crate::cel) fn equals(left: &Value<'_>, right: &Value<'_>) -> Eval<bool> {
    Ok(match (left, right) {
        (Value::Broken(_), _) => return left.clone().sound().map(|_| false),
        (_, Value::Broken(_)) => return right.clone().sound().map(|_| false),
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => a.as_str() == b.as_str(),
        (Value::Bytes(a), Value::Bytes(b)) => a == b,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::Null, Value::Null) => true,
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
            functions::compare_numbers(left, right).is_some_and(std::cmp::Ordering::is_eq)
        }
        (Value::List(a), Value::List(b)) => {
            // An element that cannot be compared does not make lists different.
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equality(&a, &b) != Ok(false))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.entries()
                    .iter()
                    .all(|(key, value)| b.find(key).is_some_and(|other| equality(value, &other) != Ok(false)))
        }
        (Value::Optional(a), Value::Optional(b)) => match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => return equality(a, b),
            (None, Some(_)) | (Some(_), None) => false,
        },
        (Value::Quantity(_), Value::Quantity(QuantityValue::Sum(_))) => return no_overload(),
        (Value::Quantity(a), Value::Quantity(b)) => a.get() == b.get(),
        (Value::Semver(a), Value::Semver(b)) => a == b,
        (Value::Ip(a), Value::Ip(b)) => a == b,
        (Value::Cidr(a), Value::Cidr(b)) => a == b,
        (Value::Url(a), Value::Url(b)) => a == b,
        (Value::Format(a), Value::Format(b)) => a == b,
        (
            Value::Quantity(_) | Value::Semver(_) | Value::Ip(_) | Value::Cidr(_) | Value::Url(_) | Value::Format(_),
            _,
        ) => return no_overload(),
        _ => false,
    })
}

/// The name that the reference's messages show for a value's representation.
pub(in crate::cel) fn go_type(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "types.Null",
        Value::Bool(_) => "types.Bool",
        Value::Int(_) => "types.Int",
        Value::Uint(_) => "types.Uint",
        Value::Double(_) => "types.Double",
        Value::Str(_) => "types.String",
        Value::Bytes(_) => "types.Bytes",
        Value::Duration(_) => "types.Duration",
        Value::Timestamp(_) => "types.Timestamp",
        Value::Type(_) => "*types.Type",
        Value::List(_) => "*types.baseList",
        Value::Map(_) => "*types.baseMap",
        Value::Optional(_) => "*types.Optional",
        Value::Quantity(_) => "cel.Quantity",
        Value::Semver(_) => "cel.Semver",
        Value::Ip(_) => "cel.IP",
        Value::Cidr(_) => "cel.CIDR",
        Value::Url(_) => "cel.URL",
        Value::Format(_) => "cel.Format",
        Value::Broken(_) => "*types.Err",
    }
}
