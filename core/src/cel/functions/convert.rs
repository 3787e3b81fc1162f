//! Conversions between types.

use std::sync::Arc;

use crate::cel::call::Func;
use crate::cel::number;
use crate::cel::time::{Timestamp, duration_text, parse_duration};
use crate::cel::value::{Eval, Value, fail};

pub(super) fn convert<'a>(func: Func, a: &Value<'a>) -> Eval<Value<'a>> {
    match func {
        Func::ToBool => to_bool(a),
        Func::ToBytes => match a {
            Value::Str(text) => Ok(Value::Bytes(text.as_str().as_bytes().into())),
            _ => refuse(a, "bytes"),
        },
        Func::ToDouble => to_double(a),
        Func::ToDuration => match a {
            Value::Str(text) => {
                parse_duration(text.as_str()).map_or_else(|| refuse(a, DURATION), |nanos| Ok(Value::Duration(nanos)))
            }
            _ => refuse(a, DURATION),
        },
        Func::ToInt => to_int(a),
        Func::ToStr => to_text(a).map(Value::text),
        Func::ToTimestamp => match a {
            Value::Int(seconds) => Timestamp::from_seconds(*seconds)
                .map_or_else(|| fail("timestamp overflow"), |time| Ok(Value::Timestamp(time))),
            Value::Str(text) => match Timestamp::parse(text.as_str()) {
                Ok(time) => Ok(Value::Timestamp(time)),
                Err(true) => fail("timestamp overflow"),
                Err(false) => refuse(a, "google.protobuf.Timestamp"),
            },
            _ => refuse(a, "google.protobuf.Timestamp"),
        },
        _ => to_uint(a),
    }
}

const DURATION: &str = "google.protobuf.Duration";

fn refuse<X>(value: &Value<'_>, wanted: &str) -> Eval<X> {
    fail(format!("type conversion error from '{}' to '{wanted}'", value.type_name()))
}

fn to_bool<'a>(a: &Value<'a>) -> Eval<Value<'a>> {
    match a.as_str() {
        Some("1" | "t" | "T" | "TRUE" | "true" | "True") => Ok(Value::Bool(true)),
        Some("0" | "f" | "F" | "FALSE" | "false" | "False") => Ok(Value::Bool(false)),
        _ => refuse(a, "bool"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "the conversion that was asked for")]
fn to_double<'a>(a: &Value<'a>) -> Eval<Value<'a>> {
    match a {
        Value::Int(value) => Ok(Value::Double(*value as f64)),
        Value::Uint(value) => Ok(Value::Double(*value as f64)),
        Value::Str(text) => {
            number::parse_float(text.as_str()).map_or_else(|| refuse(a, "double"), |value| Ok(Value::Double(value)))
        }
        _ => refuse(a, "double"),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "checked to be in range")]
fn to_int<'a>(a: &Value<'a>) -> Eval<Value<'a>> {
    match a {
        Value::Uint(value) => {
            i64::try_from(*value).map_or_else(|_| fail("integer overflow"), |value| Ok(Value::Int(value)))
        }
        Value::Double(value) if *value > i64::MIN as f64 && *value < i64::MAX as f64 => Ok(Value::Int(*value as i64)),
        Value::Double(_) => fail("integer overflow"),
        Value::Duration(nanos) => Ok(Value::Int(*nanos)),
        Value::Timestamp(time) => Ok(Value::Int(time.seconds)),
        Value::Str(text) => {
            number::parse_int(text.as_str()).map_or_else(|| refuse(a, "int"), |value| Ok(Value::Int(value)))
        }
        _ => refuse(a, "int"),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
fn to_uint<'a>(a: &Value<'a>) -> Eval<Value<'a>> {
    match a {
        Value::Int(value) => {
            u64::try_from(*value).map_or_else(|_| fail("unsigned integer overflow"), |value| Ok(Value::Uint(value)))
        }
        Value::Double(value) if *value >= 0.0 && *value < 18_446_744_073_709_551_616.0 => {
            Ok(Value::Uint(*value as u64))
        }
        Value::Double(_) => fail("unsigned integer overflow"),
        Value::Str(text) => {
            let digits = Some(text.as_str()).filter(|text| !text.starts_with('+'));
            let parsed = digits.and_then(|digits| digits.parse().ok());
            parsed.map_or_else(|| refuse(a, "uint"), |value| Ok(Value::Uint(value)))
        }
        _ => refuse(a, "uint"),
    }
}

/// The text that `string()` gives.
pub(in crate::cel) fn to_text(a: &Value<'_>) -> Eval<Arc<str>> {
    Ok(match a {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string().into(),
        Value::Int(value) => value.to_string().into(),
        Value::Uint(value) => value.to_string().into(),
        Value::Double(value) => number::shortest(*value).into(),
        Value::Str(text) => text.as_str().into(),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => return fail("invalid UTF-8 in bytes, cannot convert to string"),
        },
        Value::Duration(nanos) => duration_text(*nanos).into(),
        Value::Timestamp(time) => time.to_string().into(),
        Value::Type(name) => (*name).into(),
        Value::Ip(ip) => ip.to_string().into(),
        Value::Cidr(cidr) => cidr.to_string().into(),
        other => return refuse(other, "string"),
    })
}
