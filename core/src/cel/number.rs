//! Numbers as Go reads and prints them.

/// Reads a signed decimal integer.
pub(super) fn parse_int(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// Reads a floating point number; `None` where it is none or out of range.
pub(super) fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_signed = unsigned.len() < text.len();
    let is_named = unsigned.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    if let Some(hex) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        return hex_float(hex).map(|value| if text.starts_with('-') { -value } else { value });
    }
    let value: f64 = if text.contains('_') { without_underscores(text)?.parse() } else { text.parse() }.ok()?;
    let is_fine = if is_named { value.is_infinite() || !is_signed } else { value.is_finite() };
    is_fine.then_some(value)
}

/// The text without the underscores that stand between digits.
fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = |position: Option<usize>| position.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let is_between = |at: usize| is_digit(at.checked_sub(1)) && is_digit(at.checked_add(1));
    let is_fine = text.match_indices('_').all(|(at, _)| is_between(at));
    is_fine.then(|| text.replace('_', ""))
}

/// `1.8p3`: a hexadecimal mantissa with a binary exponent.
fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    // Longer mantissas would need rounding; nobody writes them.
    let bits = u64::from_str_radix(&digits, 16).ok().filter(|_| digits.len() <= 13)?;
    let exponent: i32 = exponent.parse().ok()?;
    let shift = exponent.checked_sub(i32::try_from(fraction.len()).ok()?.checked_mul(4)?)?;
    #[expect(clippy::cast_precision_loss, reason = "at most 52 bits")]
    let value = bits as f64 * 2f64.powi(shift);
    value.is_finite().then_some(value)
}

/// The shortest text that reads back as the same number: Go's `%g`. Of two that are equally near, the one with an even last digit.
pub(super) fn shortest(value: f64) -> String {
    if !value.is_finite() {
        return named(value, "+Inf", "-Inf");
    }
    let shortest = format!("{value:e}");
    let decimals = |text: &str| text.split('e').next()?.split_once('.').map(|(_, decimals)| decimals.len());
    // Rounding to as many digits is exact; what Rust calls the shortest is the larger one of two.
    let rounded = format!("{value:.*e}", decimals(&shortest).unwrap_or(0));
    let scientific = if rounded.parse() == Ok(value) { rounded } else { shortest };
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // Go's rule for `%g`, unlike `%v` that goes on to 21.
    if (-4..6).contains(&exponent) {
        let after_point = i32::try_from(decimals(&scientific).unwrap_or(0)).unwrap_or(0).saturating_sub(exponent);
        return format!("{value:.*}", usize::try_from(after_point).unwrap_or(0));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// With so many digits after the point, without separators: Go's `%f`.
pub(super) fn fixed_plain(value: f64, precision: usize) -> String {
    if value.is_finite() { format!("{value:.precision$}") } else { shortest(value) }
}

/// With so many digits after the point, and commas between thousands: the English form of Go's message printer.
pub(super) fn fixed(value: f64, precision: usize) -> String {
    if !value.is_finite() {
        return named(value, "∞", "-∞");
    }
    let plain = format!("{value:.precision$}");
    let (sign, unsigned) = plain.strip_prefix('-').map_or(("", plain.as_str()), |unsigned| ("-", unsigned));
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut grouped = String::with_capacity(plain.len().saturating_mul(2));
    for (position, digit) in whole.chars().enumerate() {
        let left = whole.len().saturating_sub(position);
        if position > 0 && left % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{grouped}{point}{fraction}")
}

/// The name of what is no finite number.
fn named(value: f64, infinity: &str, minus_infinity: &str) -> String {
    match value {
        _ if value.is_nan() => "NaN",
        _ if value > 0.0 => infinity,
        _ => minus_infinity,
    }
    .to_owned()
}

/// With an exponent, as the English form of Go's message printer writes it.
///
/// The reference takes what should be the precision as the width.
pub(super) fn scientific(value: f64, width: usize) -> String {
    let text = if value.is_finite() { scientific_plain(value) } else { named(value, "∞", "-∞") };
    format!("{text:>width$}")
}

fn scientific_plain(value: f64) -> String {
    let text = format!("{value:.6e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(("", exponent), |digits| ("⁻", digits));
    let raised: String = format!("{digits:0>2}").chars().map(raise).collect();
    format!("{mantissa}×10{sign}{raised}")
}

fn raise(digit: char) -> char {
    let position = digit.to_digit(10).unwrap_or(0) as usize;
    "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(position).unwrap_or(digit)
}

/// In quotes with escapes: Go's `%q`.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len().saturating_add(2));
    quoted.push('"');
    for c in text.chars() {
        match escape(c) {
            Some(escape) => quoted.push_str(escape),
            None if c.is_ascii_control() => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            None if !is_printable(c) && u32::from(c) > 0xffff => quoted.push_str(&format!("\\U{:08x}", u32::from(c))),
            None if !is_printable(c) => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            None => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// How a text in double quotes writes a character that cannot stand for itself.
pub(super) fn escape(c: char) -> Option<&'static str> {
    Some(match c {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\u{b}' => "\\v",
        _ => return None,
    })
}

/// Letters, marks, digits, punctuation and symbols; of the spaces only the one of ASCII.
fn is_printable(c: char) -> bool {
    c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric() || ["M", "N", "P", "S"].iter().any(|name| is_in(name, c))
}

fn is_in(class: &str, c: char) -> bool {
    super::regex::class(class).is_some_and(|ranges| ranges.iter().any(|(first, last)| (*first..=*last).contains(&c)))
}
