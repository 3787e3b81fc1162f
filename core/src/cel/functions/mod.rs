//! The implementations of functions. Their arguments fit the declaration, or the declaration does not matter.

mod convert;
mod kubernetes;
mod lists;
mod operators;
mod strings;

pub(super) use convert::to_text;
pub(super) use operators::compare_numbers;

use super::call::Func;
use super::plan::Call;
use super::value::{Eval, Value, no_overload};
use super::work::Work;
use super::{format, time};

/// Carries out one overload.
pub(super) fn call<'a>(func: Func, call: &Call, args: &[Value<'a>], work: &mut Work) -> Eval<Value<'a>> {
    let mut none = args.iter();
    match (none.next(), none.next(), none.next()) {
        (Some(a), None, None) => unary(func, a, call),
        (Some(a), Some(b), None) => binary(func, a, b, call, work),
        (Some(a), Some(b), Some(c)) => ternary(func, (a, b, c), args.get(3), call, work),
        _ => match func {
            Func::OptionalNone => Ok(Value::Optional(None)),
            Func::ConstantFormat(position) => Ok(Value::Format(position)),
            _ => no_overload(),
        },
    }
}

fn is_part_of_time(func: Func) -> bool {
    matches!(
        func,
        Func::FullYear
            | Func::Month
            | Func::DayOfYear
            | Func::DayOfMonth
            | Func::Date
            | Func::DayOfWeek
            | Func::Hours
            | Func::Minutes
            | Func::Seconds
            | Func::Milliseconds
    )
}

fn unary<'a>(func: Func, a: &Value<'a>, call: &Call) -> Eval<Value<'a>> {
    match func {
        Func::Identity => Ok(a.clone()),
        Func::Not | Func::NotStrictlyFalse | Func::Negate | Func::Size | Func::TypeOf => operators::unary(func, a),
        Func::ToBool
        | Func::ToBytes
        | Func::ToDouble
        | Func::ToDuration
        | Func::ToInt
        | Func::ToStr
        | Func::ToTimestamp
        | Func::ToUint => convert::convert(func, a),
        _ if is_part_of_time(func) => time::part(func, a, None),
        Func::OptionalOf => Ok(Value::some(a.clone())),
        Func::OptionalOfNonZero if a.is_zero() => Ok(Value::Optional(None)),
        Func::OptionalOfNonZero => Ok(Value::some(a.clone())),
        Func::OptionalValue => match a {
            Value::Optional(Some(value)) => (**value).clone().sound(),
            _ => super::value::fail("optional.none() dereference"),
        },
        Func::OptionalHasValue => Ok(Value::Bool(matches!(a, Value::Optional(Some(_))))),
        Func::Last
        | Func::First
        | Func::Unwrap
        | Func::IsSorted
        | Func::SumInt
        | Func::SumUint
        | Func::SumDouble
        | Func::SumDuration
        | Func::Max
        | Func::Min
        | Func::Flatten
        | Func::Sort
        | Func::Range
        | Func::Reverse
        | Func::Distinct
        | Func::Join => lists::unary(func, a),
        Func::LowerAscii | Func::UpperAscii | Func::Trim | Func::Quote => strings::unary(func, a),
        _ => kubernetes::unary(func, a, call),
    }
}

fn binary<'a>(func: Func, a: &Value<'a>, b: &Value<'a>, call: &Call, work: &mut Work) -> Eval<Value<'a>> {
    match func {
        Func::Add
        | Func::Divide
        | Func::Modulo
        | Func::Multiply
        | Func::Subtract
        | Func::Less
        | Func::LessEquals
        | Func::Greater
        | Func::GreaterEquals
        | Func::In => operators::binary(func, a, b),
        Func::Contains
        | Func::EndsWith
        | Func::StartsWith
        | Func::IndexOf
        | Func::LastIndexOf
        | Func::CharAt
        | Func::Split
        | Func::Substring => strings::binary(func, a, b),
        Func::Matches | Func::Find | Func::FindAll => strings::pattern(func, a, b, None, call.regex.as_ref(), work),
        Func::Format => format::format(a, b),
        _ if is_part_of_time(func) => time::part(func, a, Some(b)),
        Func::ListIndexOf
        | Func::ListLastIndexOf
        | Func::SetsContains
        | Func::SetsEquivalent
        | Func::SetsIntersects
        | Func::Flatten
        | Func::SortByKeys
        | Func::Join
        | Func::Includes
        | Func::IncludesFew
        | Func::MapInsert => lists::binary(func, a, b),
        _ => kubernetes::binary(func, a, b),
    }
}

fn ternary<'a>(
    func: Func,
    (a, b, c): (&Value<'a>, &Value<'a>, &Value<'a>),
    fourth: Option<&Value<'a>>,
    call: &Call,
    work: &mut Work,
) -> Eval<Value<'a>> {
    match func {
        Func::FindAll => strings::pattern(func, a, b, Some(c), call.regex.as_ref(), work),
        Func::IndexOf | Func::LastIndexOf | Func::Replace | Func::Split | Func::Substring => {
            strings::ternary(func, (a, b, c), fourth, call.is_after_1_36)
        }
        Func::Slice => lists::slice(a, b, c),
        Func::MapInsert => lists::map_insert(a, b, c),
        _ => no_overload(),
    }
}
