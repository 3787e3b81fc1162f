//! Numbers as Go's converters read and print them, because that is what `kubectl` runs.

use serde_json::{Number, Value};

/// A number that a scalar stands for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Num {
    Int(i64),
    /// Beyond `i64`, within `u64`.
    Large(u64),
    Float(f64),
}

impl Num {
    /// The number as it stands in the JSON that `kubectl` makes. `None` for infinity and not-a-number.
    ///
    /// A float without fraction below 10^21 is printed there without a point, and so becomes an integer.
    pub(crate) fn to_json(self) -> Option<Value> {
        Some(match self {
            Self::Int(int) => Value::from(int),
            Self::Large(large) => Value::from(large),
            Self::Float(float) => {
                if float.fract() == 0.0
                    && float.abs() < 1e21
                    && let Ok(int) = format!("{float}").parse::<i64>()
                {
                    return Some(Value::from(int));
                }
                Value::Number(Number::from_f64(float)?)
            }
        })
    }

    /// The number as `kubectl` writes it where it stands as a key. `None` where it refuses: beyond `i64`.
    pub(crate) fn to_key(self) -> Option<String> {
        match self {
            Self::Int(int) => Some(int.to_string()),
            Self::Large(_) => None,
            Self::Float(float) => Some(float_key(float)),
        }
    }
}

/// Go's `FormatFloat(float, 'g', -1, 32)`: a key keeps about seven digits.
fn float_key(float: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "the loss is what kubectl has")]
    let short = float as f32;
    if short.is_nan() {
        return ".nan".into();
    }
    if short.is_infinite() {
        return if short > 0.0 { ".inf" } else { "-.inf" }.into();
    }
    let scientific = format!("{short:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // Go decides by the exponent alone when it prints the shortest digits.
    if (-4..6).contains(&exponent) {
        return format!("{short}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// A number of YAML 1.1 as `kubectl` reads it: `12`, `-3`, `0x1F`, `0o17`, `017`, `0b11`, `1_000`, `.5`, `1e3`.
pub(crate) fn parse_yaml(text: &str) -> Option<Num> {
    if text.starts_with('.') {
        return if has_only_inner_underscores(text) { parse_float(&text.replace('_', "")) } else { None };
    }
    let without_underscores;
    let plain = if text.contains('_') {
        without_underscores = text.replace('_', "");
        &without_underscores
    } else {
        text
    };
    if let Some(int) = parse_int(plain) {
        return Some(int);
    }
    if let Some(float) = parse_float(plain) {
        return Some(float);
    }
    // `0b-11` is a number to kubectl; the sign may stand behind the prefix.
    let (negative, digits) = match plain.strip_prefix("-0b") {
        Some(digits) => (true, digits),
        None => (false, plain.strip_prefix("0b")?),
    };
    if negative && digits.starts_with(['+', '-']) {
        return None;
    }
    i64::from_str_radix(digits, 2).ok().map(|int| Num::Int(if negative { int.wrapping_neg() } else { int }))
}

/// Whether every underscore stands between two digits.
fn has_only_inner_underscores(text: &str) -> bool {
    let is_digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
    let mut before = None;
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'_' && !(is_digit(before) && is_digit(bytes.peek().copied())) {
            return false;
        }
        before = Some(byte);
    }
    true
}

/// Go's `ParseInt` and `ParseUint` with base 0, after the underscores are gone.
fn parse_int(text: &str) -> Option<Num> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => ("-", text.get(1..)?),
        b'+' => ("+", text.get(1..)?),
        _ => ("", text),
    };
    let prefix = digits.get(..2).unwrap_or_default();
    let (radix, digits) = match prefix {
        "0x" | "0X" => (16, digits.get(2..)?),
        "0o" | "0O" => (8, digits.get(2..)?),
        "0b" | "0B" => (2, digits.get(2..)?),
        _ if digits.len() > 1 && digits.starts_with('0') => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    // `from_str_radix` would take another sign.
    if !digits.starts_with(|first: char| first.is_ascii_hexdigit()) {
        return None;
    }
    if let Ok(int) = i64::from_str_radix(&format!("{sign}{digits}"), radix) {
        return Some(Num::Int(int));
    }
    if sign.is_empty() { u64::from_str_radix(digits, radix).ok().map(Num::Large) } else { None }
}

/// A decimal float; `None` for other text and for what is too large to be one.
fn parse_float(text: &str) -> Option<Num> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_mantissa = all_digits(whole) && all_digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    let is_exponent = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    if !is_mantissa || !is_exponent {
        return None;
    }
    text.parse::<f64>().ok().filter(|float| float.is_finite()).map(Num::Float)
}

/// A JSON number. The text must follow JSON's grammar. `None` when it is too large for a float.
pub(crate) fn parse_json(text: &str) -> Option<Num> {
    if !text.contains(['.', 'e', 'E']) {
        if let Ok(int) = text.parse::<i64>() {
            return Some(Num::Int(int));
        }
        if let Ok(large) = text.parse::<u64>() {
            return Some(Num::Large(large));
        }
    }
    text.parse::<f64>().ok().filter(|float| float.is_finite()).map(Num::Float)
}

/// Whether the text is an integer in decimal digits.
pub(crate) fn is_decimal_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
