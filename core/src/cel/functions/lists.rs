//! Lists, sets, maps.

use std::cmp::Ordering;
use std::sync::Arc;

use super::operators::{binary as operate, compare};
use crate::arrange::Arrange;
use crate::cel::call::{Func, Trait};
use crate::cel::eval::{LARGEST, check_key, equals, too_large};
use crate::cel::plan::insert;
use crate::cel::value::{Entries, Eval, List, Map, Value, fail, index, no_overload};

pub(super) fn unary<'a>(func: Func, a: &Value<'a>) -> Eval<Value<'a>> {
    if func == Func::Range {
        return match a {
            Value::Int(end) => Ok(Value::list((0..*end).map(Value::Int).collect())),
            _ => no_overload(),
        };
    }
    let Value::List(list) = a else {
        return match func {
            Func::Flatten => fail(format!("no such overload: {}.flatten()", a.type_name())),
            _ => no_overload(),
        };
    };
    let optional = |value: Option<Value<'a>>| Ok(value.map_or(Value::Optional(None), Value::some));
    match func {
        Func::First => optional(list.get(0)),
        Func::Last => optional(list.len().checked_sub(1).and_then(|last| list.get(last))),
        Func::Unwrap => unwrap(list),
        Func::IsSorted => is_sorted(list),
        Func::SumInt => sum(list, Value::Int(0)),
        Func::SumUint => sum(list, Value::Uint(0)),
        Func::SumDouble => sum(list, Value::Double(0.0)),
        Func::SumDuration => sum(list, Value::Duration(0)),
        Func::Max => extreme(list, "max", Ordering::Less),
        Func::Min => extreme(list, "min", Ordering::Greater),
        Func::Flatten => flatten(list, 1),
        Func::Sort => sort_by(list, list),
        Func::Reverse => Ok(Value::list(list.iter().rev().collect())),
        Func::Distinct => Ok(distinct(list)),
        Func::Join => join(list, ""),
        _ => no_overload(),
    }
}

pub(super) fn binary<'a>(func: Func, a: &Value<'a>, b: &Value<'a>) -> Eval<Value<'a>> {
    match (func, a, b) {
        (Func::Includes, Value::List(list), _) => {
            Ok(Value::Bool(list.iter().any(|value| equals(&value, b) == Ok(true))))
        }
        (Func::Includes | Func::IncludesFew, _, _) => includes(a, b),
        (Func::ListIndexOf, Value::List(list), item) => {
            let found = list.iter().position(|value| equals(&value, item) == Ok(true));
            Ok(found.map_or(Value::Int(-1), Value::size))
        }
        (Func::ListLastIndexOf, Value::List(list), item) => {
            let found = list.iter().rev().position(|value| equals(&value, item) == Ok(true));
            let index = found.and_then(|found| list.len().checked_sub(found)?.checked_sub(1));
            Ok(index.map_or(Value::Int(-1), Value::size))
        }
        (Func::SetsContains, Value::List(a), Value::List(b)) => Ok(Value::Bool(contains_all(a, b))),
        (Func::SetsEquivalent, Value::List(a), Value::List(b)) => {
            Ok(Value::Bool(contains_all(a, b) && contains_all(b, a)))
        }
        (Func::SetsIntersects, Value::List(a), Value::List(b)) => {
            Ok(Value::Bool(a.iter().any(|value| contains(b, &value))))
        }
        (Func::Flatten, Value::List(list), Value::Int(depth)) => flatten(list, *depth),
        (Func::Flatten, _, _) => fail(format!("no such overload: {}.flatten({})", a.type_name(), b.type_name())),
        (Func::SortByKeys, Value::List(list), Value::List(keys)) => sort_by(list, keys),
        (Func::Join, Value::List(list), Value::Str(separator)) => join(list, separator.as_str()),
        (Func::MapInsert, Value::Map(target), Value::Map(update)) => {
            let mut entries = target.entries();
            for (key, value) in update.entries() {
                insert_new(&mut entries, key, value)?;
            }
            Ok(Value::Map(Map::Entries(Arc::new(entries))))
        }
        _ => no_overload(),
    }
}

fn contains(list: &List<'_>, element: &Value<'_>) -> bool {
    list.iter().any(|value| equals(element, &value) == Ok(true))
}

fn contains_all(list: &List<'_>, part: &List<'_>) -> bool {
    part.iter().all(|value| contains(list, &value))
}

/// How many elements `includes` looks at.
const MOST_INCLUDED: usize = 48;

fn includes<'a>(a: &Value<'a>, b: &Value<'a>) -> Eval<Value<'a>> {
    let Value::List(list) = a else {
        return Ok(Value::Bool(equals(a, b) == Ok(true)));
    };
    if list.iter().take(MOST_INCLUDED).any(|value| equals(&value, b) == Ok(true)) {
        return Ok(Value::Bool(true));
    }
    if list.len() > MOST_INCLUDED {
        return fail(format!("'includes' function cannot be applied to lists longer than {MOST_INCLUDED} values"));
    }
    Ok(Value::Bool(false))
}

fn unwrap<'a>(list: &List<'a>) -> Eval<Value<'a>> {
    let mut values = Vec::new();
    for value in list.iter() {
        match value {
            Value::Optional(Some(value)) => values.push((*value).clone()),
            Value::Optional(None) => {}
            other => return fail(format!("value {other} is not optional")),
        }
    }
    Ok(Value::list(values))
}

fn is_sorted<'a>(list: &List<'a>) -> Eval<Value<'a>> {
    let mut previous: Option<Value<'a>> = None;
    for value in list.iter() {
        if !Trait::Compare.is_met_by(&value) {
            return no_overload();
        }
        // Values that cannot be compared do not make a list unsorted.
        if previous.is_some_and(|previous| compare(&previous, &value).is_ok_and(Ordering::is_gt)) {
            return Ok(Value::Bool(false));
        }
        previous = Some(value);
    }
    Ok(Value::Bool(true))
}

fn sum<'a>(list: &List<'a>, zero: Value<'a>) -> Eval<Value<'a>> {
    list.iter().try_fold(zero, |sum, value| {
        if Trait::Add.is_met_by(&value) { operate(Func::Add, &sum, &value) } else { no_overload() }
    })
}

fn extreme<'a>(list: &List<'a>, name: &str, replaces: Ordering) -> Eval<Value<'a>> {
    let mut best: Option<Value<'a>> = None;
    for value in list.iter() {
        if !Trait::Compare.is_met_by(&value) {
            return no_overload();
        }
        if best.as_ref().is_none_or(|best| compare(best, &value) == Ok(replaces)) {
            best = Some(value);
        }
    }
    best.map_or_else(|| fail(format!("{name} called on empty list")), Ok)
}

fn flatten<'a>(list: &List<'a>, depth: i64) -> Eval<Value<'a>> {
    if depth < 0 {
        return fail("level must be non-negative");
    }
    let mut values = Vec::new();
    flatten_into(list, depth, &mut values)?;
    Ok(Value::list(values))
}

/// Lists nest no deeper than expressions do.
fn flatten_into<'a>(list: &List<'a>, depth: i64, values: &mut Vec<Value<'a>>) -> Eval<()> {
    for value in list.iter() {
        match value {
            Value::List(inner) if depth > 0 => flatten_into(&inner, depth - 1, values)?,
            other => values.push(other),
        }
        if values.len() > LARGEST / 16 {
            return too_large();
        }
    }
    Ok(())
}

fn sort_by<'a>(list: &List<'a>, keys: &List<'a>) -> Eval<Value<'a>> {
    if list.len() != keys.len() {
        return fail(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} \
             elements respectively",
            list.len(),
            keys.len()
        ));
    }
    let Some(first) = keys.get(0) else {
        return Ok(Value::List(list.clone()));
    };
    if !Trait::Compare.is_met_by(&first) {
        return fail("list elements must be comparable");
    }
    let mut pairs: Vec<(Value<'a>, Value<'a>)> = keys.iter().zip(list.iter()).collect();
    if pairs.iter().any(|(key, _)| key.type_name() != first.type_name()) {
        return fail("list elements must have the same type");
    }
    // DIFFERENCE: beyond 12 elements the reference does not keep equal elements in their order.
    pairs.arrange_by(|(a, _), (b, _)| compare(a, b).unwrap_or(Ordering::Equal));
    Ok(Value::list(pairs.into_iter().map(|(_, value)| value).collect()))
}

fn distinct<'a>(list: &List<'a>) -> Value<'a> {
    let mut values: Vec<Value<'a>> = Vec::new();
    for value in list.iter() {
        if !values.iter().any(|known| equals(&value, known) == Ok(true)) {
            values.push(value);
        }
    }
    Value::list(values)
}

fn join<'a>(list: &List<'a>, separator: &str) -> Eval<Value<'a>> {
    let mut text = String::new();
    for (position, value) in list.iter().enumerate() {
        if position > 0 {
            text.push_str(separator);
        }
        match value.as_str() {
            Some(part) => text.push_str(part),
            None => return fail(format!("join: invalid input: {value}")),
        }
        if text.len() > LARGEST {
            return too_large();
        }
    }
    Ok(Value::text(text))
}

pub(super) fn slice<'a>(a: &Value<'a>, b: &Value<'a>, c: &Value<'a>) -> Eval<Value<'a>> {
    let (Value::List(list), Value::Int(start), Value::Int(end)) = (a, b, c) else {
        return no_overload();
    };
    let (Some(from), Some(to)) = (index(*start), index(*end)) else {
        return fail(format!("cannot slice({start}, {end}), negative indexes not supported"));
    };
    if start > end {
        return fail(format!("cannot slice({start}, {end}), start index must be less than or equal to end index"));
    }
    if to > list.len() {
        return fail(format!("cannot slice({start}, {end}), list is length {}", list.len()));
    }
    Ok(Value::list((from..to).filter_map(|index| list.get(index)).collect()))
}

pub(super) fn map_insert<'a>(a: &Value<'a>, key: &Value<'a>, value: &Value<'a>) -> Eval<Value<'a>> {
    let Value::Map(map) = a else {
        return no_overload();
    };
    let mut entries = map.entries();
    insert_new(&mut entries, key.clone(), value.clone())?;
    Ok(Value::Map(Map::Entries(Arc::new(entries))))
}

fn insert_new<'a>(entries: &mut Entries<'a>, key: Value<'a>, value: Value<'a>) -> Eval<()> {
    check_key(&key)?;
    let known = Map::Entries(Arc::new(std::mem::take(entries)));
    if known.find(&key).is_some() {
        return fail(format!("insert failed: key {key} already exists"));
    }
    if let Map::Entries(mut known) = known {
        *entries = std::mem::take(Arc::make_mut(&mut known));
    }
    insert(entries, key, value);
    Ok(())
}
