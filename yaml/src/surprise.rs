//! Warnings about unquoted values that mean something else than they look.

use std::ops::Range;

use crate::number::{Num, is_decimal_integer};
use crate::problem::{Problem, ProblemCode, quoted};
use crate::scalar::Scalar;

/// What to say about an unquoted value, if anything. `key` is the name of the field that holds it.
pub(crate) fn about_value(text: &str, scalar: &Scalar<'_>, key: &str, span: Range<usize>) -> Option<Problem> {
    match scalar {
        Scalar::Bool(value) if !is_plain_bool(text) => {
            let message = format!("{} is read as {value}", quoted(text));
            let hint = format!("write `{value}` if that is meant, or quote it: `\"{text}\"`");
            Some(Problem::new(ProblemCode::SurprisingScalar, span, message).with_hint(hint))
        }
        Scalar::Number(number) => about_number(text, *number, key, span),
        Scalar::Null | Scalar::Bool(_) | Scalar::Text(_) | Scalar::Merge => None,
    }
}

/// What to say about a JSON number, if anything.
pub(crate) fn about_json(text: &str, scalar: &Scalar<'_>, span: Range<usize>) -> Option<Problem> {
    match scalar {
        Scalar::Number(Num::Large(_)) => Some(large(text, span)),
        Scalar::Number(Num::Float(float)) if is_decimal_integer(text) && float.is_finite() => {
            (float.abs() >= 1e18).then(|| large(text, span))
        }
        _ => None,
    }
}

/// What to say about an unquoted key that is no text, if anything. `name` is the key as it is read.
pub(crate) fn about_key(text: &str, name: &str, span: Range<usize>) -> Option<Problem> {
    if text == name || is_plain_bool(text) {
        return None;
    }
    let message = format!("key {} is read as {}", quoted(text), quoted(name));
    Some(Problem::new(ProblemCode::SurprisingKey, span, message).with_hint(format!("quote it: `\"{text}\"`")))
}

fn is_plain_bool(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
}

fn about_number(text: &str, number: Num, key: &str, span: Range<usize>) -> Option<Problem> {
    let shown = match number {
        Num::Int(int) => int.to_string(),
        Num::Large(_) => return Some(large(text, span)),
        Num::Float(float) if is_decimal_integer(text) && float.abs() >= 1e18 => return Some(large(text, span)),
        Num::Float(float) if float.is_finite() => float.to_string(),
        Num::Float(_) => return None,
    };
    if !is_surprising(text, number) || (is_octal(text) && is_file_mode(key)) {
        return None;
    }
    let message = format!("{} is read as the number {shown}", quoted(text));
    let hint = format!("write `{shown}` if that is meant, or quote it: `\"{text}\"`");
    Some(Problem::new(ProblemCode::SurprisingScalar, span, message).with_hint(hint))
}

/// A warning about an integer that Kubernetes cannot keep exactly.
fn large(text: &str, span: Range<usize>) -> Problem {
    let message = format!("{} does not fit into 64 bits with a sign and loses digits in Kubernetes", quoted(text));
    Problem::new(ProblemCode::LargeNumber, span, message).with_hint("quote it if the field takes text or a quantity")
}

fn is_surprising(text: &str, number: Num) -> bool {
    // `0x1F` and `0b11` look like the numbers that they are; `012` and `0o12` do not.
    if text.contains('_') || is_octal(text) {
        return true;
    }
    match number {
        // `12e5` may be the beginning of a hash.
        Num::Float(_) if text.contains(['e', 'E']) => !text.contains('.'),
        // `1.10` is a version to its author.
        Num::Float(_) => text.contains('.') && text.ends_with('0'),
        Num::Int(_) | Num::Large(_) => false,
    }
}

fn is_octal(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let second = digits.as_bytes().get(1);
    digits.starts_with('0') && second.is_some_and(|second| second.is_ascii_digit() || matches!(second, b'o' | b'O'))
}

/// File modes are written in octal by everybody who writes them.
fn is_file_mode(key: &str) -> bool {
    key == "mode" || key == "defaultMode"
}
