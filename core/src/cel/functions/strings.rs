//! Texts and patterns. Positions count code points.

use crate::cel::call::Func;
use crate::cel::eval::{LARGEST, too_large};
use crate::cel::number::escape;
use crate::cel::regex::Regex;
use crate::cel::value::{Eval, Value, fail, index, no_overload};
use crate::cel::work::Work;

pub(super) fn unary<'a>(func: Func, a: &Value<'a>) -> Eval<Value<'a>> {
    let Some(text) = a.as_str() else {
        return no_overload();
    };
    Ok(Value::text(match func {
        Func::LowerAscii => text.to_ascii_lowercase(),
        Func::UpperAscii => text.to_ascii_uppercase(),
        Func::Trim => text.trim_matches(is_space).to_owned(),
        _ => quote(text),
    }))
}

/// White space as Go's `unicode.IsSpace` has it.
fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// In double quotes, with escapes of CEL.
fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len().saturating_add(2));
    quoted.push('"');
    for c in text.chars() {
        match escape(c) {
            Some(escape) => quoted.push_str(escape),
            None => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

pub(super) fn binary<'a>(func: Func, a: &Value<'a>, b: &Value<'a>) -> Eval<Value<'a>> {
    match (func, a, b) {
        (Func::CharAt, Value::Str(text), Value::Int(index)) => char_at(text.as_str(), *index),
        (Func::Substring, Value::Str(text), Value::Int(start)) => {
            let text = text.as_str();
            match index(*start).and_then(|start| byte_offset(text, start)) {
                Some(offset) => Ok(Value::text(text.get(offset..).unwrap_or_default())),
                None => fail(format!("index out of range: {start}")),
            }
        }
        (_, Value::Str(text), Value::Str(part)) => {
            let (text, part) = (text.as_str(), part.as_str());
            match func {
                Func::Contains => Ok(Value::Bool(text.contains(part))),
                Func::EndsWith => Ok(Value::Bool(text.ends_with(part))),
                Func::StartsWith => Ok(Value::Bool(text.starts_with(part))),
                Func::IndexOf => index_of(text, part, 0),
                Func::LastIndexOf => Ok(last_index_of(text, part)),
                Func::Split => Ok(split(text, part, -1)),
                _ => no_overload(),
            }
        }
        _ => no_overload(),
    }
}

pub(super) fn ternary<'a>(
    func: Func,
    (a, b, c): (&Value<'a>, &Value<'a>, &Value<'a>),
    fourth: Option<&Value<'a>>,
    is_after_1_36: bool,
) -> Eval<Value<'a>> {
    if let (true, Func::IndexOf | Func::LastIndexOf, Value::Str(text), Value::Str(part), Value::Int(offset)) =
        (is_after_1_36, func, a, b, c)
        && part.as_str().is_empty()
    {
        return nothing_from(text.as_str(), *offset);
    }
    match (func, a, b, c, fourth) {
        (Func::IndexOf, Value::Str(text), Value::Str(part), Value::Int(offset), None) => {
            index_of(text.as_str(), part.as_str(), *offset)
        }
        (Func::LastIndexOf, Value::Str(text), Value::Str(part), Value::Int(offset), None) => {
            last_index_from(text.as_str(), part.as_str(), *offset)
        }
        (Func::Split, Value::Str(text), Value::Str(separator), Value::Int(limit), None) => {
            Ok(split(text.as_str(), separator.as_str(), *limit))
        }
        (Func::Substring, Value::Str(text), Value::Int(start), Value::Int(end), None) => {
            substring(text.as_str(), *start, *end)
        }
        (Func::Replace, Value::Str(text), Value::Str(old), Value::Str(new), limit) => {
            let limit = match limit {
                None => -1,
                Some(Value::Int(limit)) => *limit,
                Some(_) => return no_overload(),
            };
            replace(text.as_str(), old.as_str(), new.as_str(), limit)
        }
        _ => no_overload(),
    }
}

/// Where the code point of that number starts, the end included.
fn byte_offset(text: &str, index: usize) -> Option<usize> {
    text.char_indices().map(|(offset, _)| offset).chain([text.len()]).nth(index)
}

fn char_at<'a>(text: &str, number: i64) -> Eval<Value<'a>> {
    let offset = index(number).and_then(|index| byte_offset(text, index));
    match offset {
        Some(offset) => {
            let character = text.get(offset..).and_then(|rest| rest.chars().next());
            Ok(Value::text(character.map(String::from).unwrap_or_default()))
        }
        None => fail(format!("index out of range: {number}")),
    }
}

fn substring<'a>(text: &str, start: i64, end: i64) -> Eval<Value<'a>> {
    if start > end {
        return fail(format!("invalid substring range. start: {start}, end: {end}"));
    }
    let offset = |number: i64| index(number).and_then(|index| byte_offset(text, index));
    match (offset(start), offset(end)) {
        (Some(from), Some(to)) => Ok(Value::text(text.get(from..to).unwrap_or_default())),
        (None, _) => fail(format!("index out of range: {start}")),
        (_, None) => fail(format!("index out of range: {end}")),
    }
}

fn code_points<'a>(text: &str, end: usize) -> Value<'a> {
    Value::size(text.get(..end).map_or(0, |before| before.chars().count()))
}

fn index_of<'a>(text: &str, part: &str, offset: i64) -> Eval<Value<'a>> {
    if part.is_empty() {
        return Ok(Value::Int(offset));
    }
    let Some(start) = index(offset) else {
        return fail(format!("index out of range: {offset}"));
    };
    let found = byte_offset(text, start).and_then(|start| Some(start.saturating_add(text.get(start..)?.find(part)?)));
    Ok(found.map_or(Value::Int(-1), |end| code_points(text, end)))
}

/// Where nothing is found from an offset on: there, or at the end. Up to 1.36 the offset was not looked at.
fn nothing_from<'a>(text: &str, offset: i64) -> Eval<Value<'a>> {
    let Some(start) = index(offset) else {
        return fail(format!("index out of range: {offset}"));
    };
    Ok(Value::size(start.min(text.chars().count())))
}

fn last_index_of<'a>(text: &str, part: &str) -> Value<'a> {
    if part.is_empty() {
        return code_points(text, text.len());
    }
    text.rfind(part).map_or(Value::Int(-1), |end| code_points(text, end))
}

/// The last occurrence that starts at the offset or before.
fn last_index_from<'a>(text: &str, part: &str, offset: i64) -> Eval<Value<'a>> {
    if part.is_empty() {
        return Ok(Value::Int(offset));
    }
    let Some(last) = index(offset) else {
        return fail(format!("index out of range: {offset}"));
    };
    let Some(last) = byte_offset(text, last).filter(|last| *last < text.len()) else {
        return Ok(Value::Int(-1));
    };
    let found = text.rmatch_indices(part).map(|(start, _)| start).find(|start| *start <= last);
    // Overlapping occurrences are not among those found above.
    let overlapping = text
        .char_indices()
        .map(|(start, _)| start)
        .take_while(|start| *start <= last)
        .filter(|start| text.get(*start..).is_some_and(|rest| rest.starts_with(part)))
        .last();
    Ok(overlapping.max(found).map_or(Value::Int(-1), |end| code_points(text, end)))
}

fn split<'a>(text: &str, separator: &str, limit: i64) -> Value<'a> {
    let part = |part: &str| Value::text(part);
    let limit = match index(limit) {
        Some(0) => return Value::list(Vec::new()),
        Some(limit) => limit,
        None => usize::MAX,
    };
    if separator.is_empty() {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if parts.len().saturating_add(1) >= limit {
                break;
            }
            let (first, after) = rest.split_at_checked(c.len_utf8()).unwrap_or((rest, ""));
            parts.push(part(first));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(part(rest));
        }
        return Value::list(parts);
    }
    Value::list(text.splitn(limit, separator).map(part).collect())
}

fn replace<'a>(text: &str, old: &str, new: &str, limit: i64) -> Eval<Value<'a>> {
    let limit = index(limit).unwrap_or(usize::MAX);
    let count = if old.is_empty() { text.chars().count().saturating_add(1) } else { text.matches(old).count() };
    if count.min(limit).saturating_mul(new.len()).saturating_add(text.len()) > LARGEST {
        return too_large();
    }
    Ok(Value::text(text.replacen(old, new, limit)))
}

/// `matches`, `find`, `findAll`.
pub(super) fn pattern<'a>(
    func: Func,
    a: &Value<'a>,
    b: &Value<'a>,
    limit: Option<&Value<'a>>,
    regex: Option<&Regex>,
    work: &mut Work,
) -> Eval<Value<'a>> {
    let (Some(text), Some(pattern)) = (a.as_str(), b.as_str()) else {
        return no_overload();
    };
    let limit = match limit {
        None => usize::MAX,
        Some(Value::Int(limit)) => index(*limit).unwrap_or(usize::MAX),
        Some(_) => return no_overload(),
    };
    let compiled;
    let regex = match regex {
        Some(regex) => regex,
        None => match Regex::new(pattern) {
            Ok(regex) => {
                work.take(regex.size())?;
                compiled = regex;
                &compiled
            }
            Err(error) if func == Func::Matches => return fail(error.to_string()),
            Err(error) => return fail(format!("Illegal regex: {error}")),
        },
    };
    Ok(match func {
        Func::Matches => Value::Bool(regex.is_match(text, work)?),
        Func::Find => {
            let found = regex.find_at(text, 0, work)?.and_then(|(start, end)| text.get(start..end));
            Value::text(found.unwrap_or_default())
        }
        _ => Value::list(regex.find_all(text, limit, work)?.into_iter().map(Value::text).collect()),
    })
}
