//! Arithmetic, order, size, membership.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::cel::call::Func;
use crate::cel::eval::{LARGEST, check_key, equals, too_large};
use crate::cel::value::{Eval, List, Map, Value, fail, no_overload};

pub(super) fn unary<'a>(func: Func, a: &Value<'a>) -> Eval<Value<'a>> {
    match (func, a) {
        (Func::Not, Value::Bool(value)) => Ok(Value::Bool(!value)),
        (Func::NotStrictlyFalse, Value::Bool(value)) => Ok(Value::Bool(*value)),
        (Func::NotStrictlyFalse, _) => Ok(Value::Bool(true)),
        (Func::Negate, Value::Int(value)) => int(value.checked_neg()),
        (Func::Negate, Value::Double(value)) => Ok(Value::Double(-value)),
        (Func::Negate, Value::Duration(value)) => duration(value.checked_neg()),
        (Func::Size, Value::Str(text)) => Ok(Value::size(text.as_str().chars().count())),
        (Func::Size, Value::Bytes(bytes)) => Ok(Value::size(bytes.len())),
        (Func::Size, Value::List(list)) => Ok(Value::size(list.len())),
        (Func::Size, Value::Map(map)) => Ok(Value::size(map.len())),
        (Func::TypeOf, value) => Ok(Value::Type(value.type_name())),
        _ => no_overload(),
    }
}

pub(super) fn binary<'a>(func: Func, a: &Value<'a>, b: &Value<'a>) -> Eval<Value<'a>> {
    match func {
        Func::Add => add(a, b),
        Func::Subtract => subtract(a, b),
        Func::Multiply => match (a, b) {
            (Value::Int(a), Value::Int(b)) => int(a.checked_mul(*b)),
            (Value::Uint(a), Value::Uint(b)) => uint(a.checked_mul(*b)),
            (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a * b)),
            _ => no_overload(),
        },
        Func::Divide => match (a, b) {
            (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => fail("division by zero"),
            (Value::Int(a), Value::Int(b)) => int(a.checked_div(*b)),
            (Value::Uint(a), Value::Uint(b)) => uint(a.checked_div(*b)),
            (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a / b)),
            _ => no_overload(),
        },
        Func::Modulo => match (a, b) {
            (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => fail("modulus by zero"),
            (Value::Int(a), Value::Int(b)) => int(a.checked_rem(*b)),
            (Value::Uint(a), Value::Uint(b)) => uint(a.checked_rem(*b)),
            _ => no_overload(),
        },
        Func::In => is_in(a, b),
        _ => {
            let order = compare(a, b)?;
            Ok(Value::Bool(match func {
                Func::Less => order.is_lt(),
                Func::LessEquals => order.is_le(),
                Func::Greater => order.is_gt(),
                _ => order.is_ge(),
            }))
        }
    }
}

fn int<'a>(value: Option<i64>) -> Eval<Value<'a>> {
    value.map_or_else(|| fail("integer overflow"), |value| Ok(Value::Int(value)))
}

fn uint<'a>(value: Option<u64>) -> Eval<Value<'a>> {
    value.map_or_else(|| fail("unsigned integer overflow"), |value| Ok(Value::Uint(value)))
}

fn duration<'a>(value: Option<i64>) -> Eval<Value<'a>> {
    value.map_or_else(|| fail("duration overflow"), |value| Ok(Value::Duration(value)))
}

fn add<'a>(a: &Value<'a>, b: &Value<'a>) -> Eval<Value<'a>> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_add(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_add(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a + b)),
        (Value::Str(a), Value::Str(b)) => {
            let (a, b) = (a.as_str(), b.as_str());
            if a.len().saturating_add(b.len()) > LARGEST {
                return too_large();
            }
            let mut sum = String::with_capacity(a.len().saturating_add(b.len()));
            sum.push_str(a);
            sum.push_str(b);
            Ok(Value::text(sum))
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            if a.len().saturating_add(b.len()) > LARGEST {
                return too_large();
            }
            Ok(Value::Bytes(a.iter().chain(b.iter()).copied().collect()))
        }
        (Value::List(a), Value::List(b)) => {
            if a.len().saturating_add(b.len()) > LARGEST / 16 {
                return too_large();
            }
            let values = Arc::new(a.iter().chain(b.iter()).collect());
            Ok(Value::List(List::Values(values)))
        }
        (Value::Duration(a), Value::Duration(b)) => duration(a.checked_add(*b)),
        (Value::Duration(nanos), Value::Timestamp(time)) | (Value::Timestamp(time), Value::Duration(nanos)) => {
            time.add(*nanos).map_or_else(|| fail("timestamp overflow"), |time| Ok(Value::Timestamp(time)))
        }
        _ => no_overload(),
    }
}

fn subtract<'a>(a: &Value<'a>, b: &Value<'a>) -> Eval<Value<'a>> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_sub(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_sub(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a - b)),
        (Value::Duration(a), Value::Duration(b)) => duration(a.checked_sub(*b)),
        (Value::Timestamp(time), Value::Duration(nanos)) => {
            let later = nanos.checked_neg().and_then(|nanos| time.add(nanos));
            later.map_or_else(|| fail("timestamp overflow"), |time| Ok(Value::Timestamp(time)))
        }
        (Value::Timestamp(a), Value::Timestamp(b)) => {
            a.since(*b).map_or_else(|| fail("integer overflow"), |nanos| Ok(Value::Duration(nanos)))
        }
        _ => no_overload(),
    }
}

/// The order of two values of one kind.
pub(super) fn compare(a: &Value<'_>, b: &Value<'_>) -> Eval<Ordering> {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Ok(a.cmp(b)),
        (Value::Str(a), Value::Str(b)) => Ok(a.as_str().cmp(b.as_str())),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(a.cmp(b)),
        (Value::Duration(a), Value::Duration(b)) => Ok(a.cmp(b)),
        (Value::Timestamp(a), Value::Timestamp(b)) => Ok(a.cmp(b)),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
            compare_numbers(a, b).map_or_else(|| fail("NaN values cannot be ordered"), Ok)
        }
        // What is not a number is seen before the type of the other side.
        (Value::Double(value), _) if value.is_nan() => fail("NaN values cannot be ordered"),
        _ => no_overload(),
    }
}

/// The order of two numbers of any types; `None` if one is not a number.
#[expect(clippy::cast_precision_loss, reason = "the reference converts the same way")]
pub(in crate::cel) fn compare_numbers(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    const TWO_64: f64 = 18_446_744_073_709_551_616.0;
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Uint(b)) => Some(u64::try_from(*a).map_or(Ordering::Less, |a| a.cmp(b))),
        (Value::Uint(_), Value::Int(_)) => compare_numbers(b, a).map(Ordering::reverse),
        (Value::Double(a), Value::Int(_)) if *a < -TWO_63 => Some(Ordering::Less),
        (Value::Double(a), Value::Int(_)) if *a > TWO_63 => Some(Ordering::Greater),
        (Value::Double(a), Value::Int(b)) => a.partial_cmp(&(*b as f64)),
        (Value::Double(a), Value::Uint(_)) if *a < 0.0 => Some(Ordering::Less),
        (Value::Double(a), Value::Uint(_)) if *a > TWO_64 => Some(Ordering::Greater),
        (Value::Double(a), Value::Uint(b)) => a.partial_cmp(&(*b as f64)),
        (Value::Int(_) | Value::Uint(_), Value::Double(_)) => compare_numbers(b, a).map(Ordering::reverse),
        _ => None,
    }
}

fn is_in<'a>(element: &Value<'a>, container: &Value<'a>) -> Eval<Value<'a>> {
    match container {
        Value::List(list) => Ok(Value::Bool(list.iter().any(|value| equals(element, &value) == Ok(true)))),
        Value::Map(map) => {
            if matches!(map, Map::Entries(entries) if !entries.is_empty()) {
                check_key(element)?;
            }
            Ok(Value::Bool(map.contains(element)))
        }
        _ => no_overload(),
    }
}
