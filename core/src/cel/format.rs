//! `format`: `"%s has %d".format([..])`.

use super::ast::{Ast, Element, Kind, NodeId};
use super::check::Checked;
use super::error::Report;
use super::eval::{LARGEST, too_large};
use super::functions::to_text;
use super::number;
use super::types::Type;
use super::value::{Eval, Fault, List, Map, Value, fail};

use crate::arrange::Arrange;

/// One `%..` of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Clause {
    letter: char,
    precision: Option<usize>,
}

/// Takes the clause after a `%`.
fn clause(rest: &str) -> Result<(Clause, &str), String> {
    let could_not = |why: String| format!("could not parse formatting clause: {why}");
    let (precision, rest) = match rest.strip_prefix('.') {
        None => (None, rest),
        Some(after) => {
            let length = after.bytes().take_while(u8::is_ascii_digit).count();
            let (digits, after) = after.split_at_checked(length).unwrap_or((after, ""));
            let in_precision = |why: String| could_not(format!("error while parsing precision: {why}"));
            if after.is_empty() {
                return Err(in_precision("could not find end of precision specifier".to_owned()));
            }
            let precision = digits.parse().map_err(|_| {
                in_precision(format!(
                    "error while converting precision to integer: strconv.Atoi: parsing \"{digits}\": invalid syntax"
                ))
            })?;
            (Some(precision), after)
        }
    };
    let mut chars = rest.chars();
    match chars.next() {
        Some(letter) if "sdfebxXo".contains(letter) => Ok((Clause { letter, precision }, chars.as_str())),
        Some(letter) => Err(could_not(format!("unrecognized formatting clause \"{letter}\""))),
        None => Err("unexpected end of string".to_owned()),
    }
}

/// Goes through a format; `fill` is given the position of each clause's argument.
fn walk(text: &str, count: usize, mut fill: impl FnMut(usize, Clause) -> Eval<String>) -> Eval<(String, usize)> {
    let mut built = String::with_capacity(text.len());
    let mut rest = text;
    let mut position = 0;
    while let Some((before, after)) = rest.split_once('%') {
        built.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            built.push('%');
            rest = after;
            continue;
        }
        if position >= count {
            return fail(format!("index {position} out of range"));
        }
        if after.is_empty() {
            return fail("unexpected end of string");
        }
        let (clause, after) = clause(after).or_else(fail)?;
        built.push_str(&fill(position, clause)?);
        if built.len() > LARGEST {
            return too_large();
        }
        position += 1;
        rest = after;
    }
    built.push_str(rest);
    Ok((built, position))
}

/// `"..".format([..])`.
pub(super) fn format<'a>(text: &Value<'a>, args: &Value<'a>) -> Eval<Value<'a>> {
    let (Some(text), Value::List(list)) = (text.as_str(), args) else {
        return super::value::no_overload();
    };
    let (built, _) = walk(text, list.len(), |position, clause| {
        let value = list.get(position).unwrap_or(Value::Null);
        apply(clause, &value).or_else(|fault| match fault {
            Fault::Error(message) => fail(format!("error during formatting: {message}")),
            abort => Err(abort),
        })
    })?;
    Ok(Value::text(built))
}

/// The most digits after the point.
const MOST_DIGITS: usize = 60_000;

fn apply(clause: Clause, value: &Value<'_>) -> Eval<String> {
    let refuse = |what: &str| fail(format!("{what}, was given {}", value.type_name()));
    match (clause.letter, value) {
        ('s', value) => as_string(value),
        ('d', Value::Int(value)) => Ok(value.to_string()),
        ('d', Value::Uint(value)) => Ok(value.to_string()),
        ('d', _) => refuse("decimal clause can only be used on integers"),
        ('f' | 'e', value) => {
            let number = match value {
                Value::Double(value) => *value,
                Value::Str(text) => match text.as_str() {
                    "NaN" => f64::NAN,
                    "Infinity" => f64::INFINITY,
                    "-Infinity" => f64::NEG_INFINITY,
                    _ => return refuse(float_message(clause.letter)),
                },
                _ => return refuse(float_message(clause.letter)),
            };
            let precision = clause.precision.unwrap_or(6);
            if precision > MOST_DIGITS {
                return too_large();
            }
            Ok(if clause.letter == 'f' {
                number::fixed(number, precision)
            } else {
                number::scientific(number, precision)
            })
        }
        ('b', Value::Int(value)) => Ok(signed(*value, |value| format!("{value:b}"))),
        ('b', Value::Uint(value)) => Ok(format!("{value:b}")),
        ('b', Value::Bool(value)) => Ok(u8::from(*value).to_string()),
        ('b', _) => refuse("only integers and bools can be formatted as binary"),
        ('o', Value::Int(value)) => Ok(signed(*value, |value| format!("{value:o}"))),
        ('o', Value::Uint(value)) => Ok(format!("{value:o}")),
        ('o', _) => refuse("octal clause can only be used on integers"),
        (letter, value) => {
            let hex = match value {
                Value::Int(value) => signed(*value, |value| format!("{value:x}")),
                Value::Uint(value) => format!("{value:x}"),
                Value::Str(text) => text.as_str().bytes().map(|byte| format!("{byte:02x}")).collect(),
                Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
                _ => return refuse("only integers, byte buffers, and strings can be formatted as hex"),
            };
            Ok(if letter == 'X' { hex.to_ascii_uppercase() } else { hex })
        }
    }
}

fn float_message(letter: char) -> &'static str {
    if letter == 'f' {
        "fixed-point clause can only be used on doubles"
    } else {
        "scientific clause can only be used on doubles"
    }
}

fn signed(value: i64, digits: impl Fn(u64) -> String) -> String {
    format!("{}{}", if value < 0 { "-" } else { "" }, digits(value.unsigned_abs()))
}

const STRING_MESSAGE: &str = "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, \
                              durations, and timestamps";

fn bytes_text(value: &Value<'_>) -> Eval<String> {
    match to_text(value) {
        Err(Fault::Error(why)) => fail(format!("could not convert argument \"{why}\" to string")),
        text => text.map(|text| text.to_string()),
    }
}

fn as_string(value: &Value<'_>) -> Eval<String> {
    match value {
        Value::Bytes(_) => bytes_text(value),
        Value::List(list) => list_text(list),
        Value::Map(map) => map_text(map),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Double(_)
        | Value::Str(_)
        | Value::Duration(_)
        | Value::Timestamp(_)
        | Value::Type(_) => to_text(value).map(|text| text.to_string()),
        other => fail(format!("{STRING_MESSAGE}, was given {}", other.type_name())),
    }
}

fn list_text(list: &List<'_>) -> Eval<String> {
    let mut parts = Vec::with_capacity(list.len());
    for value in list.iter() {
        parts.push(element(&value)?);
    }
    Ok(format!("[{}]", parts.join(", ")))
}

fn map_text(map: &Map<'_>) -> Eval<String> {
    let mut pairs = Vec::new();
    for (key, value) in map.entries() {
        if !matches!(key, Value::Str(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_)) {
            return fail(format!("no formatting function for map key of type {}", key.type_name()));
        }
        pairs.push((element(&key)?, element(&value)?));
    }
    pairs.arrange_by(|(a, _), (b, _)| a.cmp(b));
    let pairs: Vec<String> = pairs.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
    Ok(format!("{{{}}}", pairs.join(", ")))
}

/// An element of a collection: texts in quotes.
fn element(value: &Value<'_>) -> Eval<String> {
    Ok(match value {
        Value::Str(text) => number::quoted(text.as_str()),
        Value::Bytes(_) => format!("b{}", number::quoted(&bytes_text(value)?)),
        Value::Double(value) if value.is_finite() => number::fixed_plain(*value, 6),
        Value::Double(value) => format!("\"{}\"", number::shortest(*value)),
        Value::Timestamp(_) => format!("timestamp({})", number::quoted(&to_text(value)?)),
        Value::Duration(_) => format!("duration({})", number::quoted(&to_text(value)?)),
        Value::List(list) => list_text(list)?,
        Value::Map(map) => map_text(map)?,
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Type(_) => as_string(value)?,
        other => return fail(format!("no formatting function for {}", other.type_name())),
    })
}

/// Checks a constant format with a written list against the types of its elements.
pub(super) fn validate(
    ast: &Ast,
    checked: &Checked,
    (call, text): (NodeId, &str),
    elements: &[Element],
    report: &mut Report<'_>,
) {
    let mut bad = None;
    let outcome = walk(text, elements.len(), |position, clause| {
        let Some(element) = elements.get(position) else {
            return Ok(String::new());
        };
        if clause.letter == 's' {
            return match not_text(ast, checked, element.value) {
                None => Ok(String::new()),
                Some(id) => {
                    bad = Some(id);
                    let name = run_time_name(checked.type_of(id));
                    fail(format!("error during formatting: {STRING_MESSAGE}, was given {name}"))
                }
            };
        }
        let found = checked.type_of(element.value);
        let is_fine = matches!(found, Type::Dyn)
            || match clause.letter {
                'd' | 'o' => matches!(found, Type::Int | Type::Uint),
                'f' | 'e' => matches!(found, Type::Double | Type::Str),
                'b' => matches!(found, Type::Int | Type::Uint | Type::Bool),
                _ => matches!(found, Type::Int | Type::Uint | Type::Str | Type::Bytes),
            };
        if is_fine {
            return Ok(String::new());
        }
        bad = Some(element.value);
        let message = match clause.letter {
            'd' => "decimal clause can only be used on integers",
            'f' | 'e' => float_message(clause.letter),
            'b' => "only integers and bools can be formatted as binary",
            'o' => "octal clause can only be used on integers",
            _ => "only integers, byte buffers, and strings can be formatted as hex",
        };
        fail(format!("error during formatting: {message}, was given {}", run_time_name(found)))
    });
    match outcome {
        Ok((_, used)) if elements.len() > used => {
            let message =
                format!("too many arguments supplied to string.format (expected {used}, got {})", elements.len());
            report.add(ast.offset(call), message);
        }
        Ok(_) => {}
        Err(Fault::Error(message) | Fault::Abort(message)) => {
            report.add(ast.offset(bad.unwrap_or(call)), message);
        }
    }
}

/// The first expression that has no text: the value itself, or one that a list or map is written with.
fn not_text(ast: &Ast, checked: &Checked, value: NodeId) -> Option<NodeId> {
    let mut stack = vec![value];
    while let Some(id) = stack.pop() {
        if !is_text(checked.type_of(id)) {
            return Some(id);
        }
        match ast.kind(id) {
            // Of what has no parts to look at, dyn is fine whatever it holds.
            Kind::List(elements) => stack.extend(elements.iter().rev().map(|element| element.value)),
            Kind::Map(entries) => stack.extend(entries.iter().rev().flat_map(|entry| [entry.value, entry.key])),
            _ => {}
        }
    }
    None
}

fn is_text(found: &Type) -> bool {
    matches!(
        found,
        Type::Dyn
            | Type::List(_)
            | Type::Map(_, _)
            | Type::Int
            | Type::Uint
            | Type::Double
            | Type::Bool
            | Type::Str
            | Type::Timestamp
            | Type::Bytes
            | Type::Duration
            | Type::Meta(_)
            | Type::AnyMeta
            | Type::Null
    )
}

/// The name of a type without its parameters.
fn run_time_name(found: &Type) -> String {
    match found {
        Type::List(_) => "list".to_owned(),
        Type::Map(_, _) => "map".to_owned(),
        Type::Optional(_) => "optional_type".to_owned(),
        Type::Meta(_) => "type".to_owned(),
        Type::Any => "google.protobuf.Any".to_owned(),
        Type::Duration => "google.protobuf.Duration".to_owned(),
        Type::Timestamp => "google.protobuf.Timestamp".to_owned(),
        other => other.to_string(),
    }
}
