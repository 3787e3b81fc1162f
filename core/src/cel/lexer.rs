//! Source text to tokens.

use super::error::Report;

/// What a token is; its text is a range of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token {
    Ident,
    /// A name in backticks, which environments accept from 1.37 on.
    EscapedIdent,
    Int,
    Uint,
    Double,
    Str,
    Bytes,
    True,
    False,
    Null,
    In,
    /// An operator or bracket.
    Sign(&'static str),
    End,
}

/// A token with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spanned<'a> {
    pub(super) token: Token,
    pub(super) text: &'a str,
    /// In code points from the start of the source.
    pub(super) offset: u32,
}

const SIGNS: [&str; 25] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*",
    "/", "%", "=",
];

/// All tokens, ending with [`Token::End`]. What is no token is reported and skipped.
pub(super) fn tokens<'a>(source: &'a str, report: &mut Report<'a>) -> Vec<Spanned<'a>> {
    let mut tokens = Vec::new();
    let mut rest = source;
    let mut offset = 0u32;
    loop {
        let blank = blank_length(rest);
        let (skipped, after) = rest.split_at_checked(blank).unwrap_or((rest, ""));
        offset = offset.saturating_add(code_points(skipped));
        rest = after;
        if rest.is_empty() {
            break;
        }
        let (token, length) = match scan(rest) {
            Some((Token::Sign("="), _)) | None => {
                let bad = rest.chars().next().map_or(1, char::len_utf8);
                let (text, after) = rest.split_at_checked(bad).unwrap_or((rest, ""));
                report.syntax(offset, &format!("token recognition error at: '{text}'"));
                offset = offset.saturating_add(1);
                rest = after;
                continue;
            }
            Some(found) => found,
        };
        let (text, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        tokens.push(Spanned { token, text, offset });
        offset = offset.saturating_add(code_points(text));
        rest = after;
    }
    tokens.push(Spanned { token: Token::End, text: "<EOF>", offset });
    tokens
}

fn code_points(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

/// The length of white space and comments.
fn blank_length(text: &str) -> usize {
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start_matches(['\t', ' ', '\r', '\n', '\u{c}']);
        let trimmed = if trimmed.starts_with("//") { trimmed.trim_start_matches(|c| c != '\n') } else { trimmed };
        if trimmed.len() == rest.len() {
            return text.len().saturating_sub(rest.len());
        }
        rest = trimmed;
    }
}

/// The first token of `text` and its length in bytes.
fn scan(text: &str) -> Option<(Token, usize)> {
    let first = text.bytes().next()?;
    if first.is_ascii_digit() || (first == b'.' && text.as_bytes().get(1).is_some_and(u8::is_ascii_digit)) {
        return Some(number(text));
    }
    if let Some(length) = string(text) {
        return Some((Token::Str, length));
    }
    if matches!(first, b'b' | b'B')
        && let Some(length) = text.get(1..).and_then(string)
    {
        return Some((Token::Bytes, length.saturating_add(1)));
    }
    if first.is_ascii_alphabetic() || first == b'_' {
        let length = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let token = match text.get(..length).unwrap_or_default() {
            "true" => Token::True,
            "false" => Token::False,
            "null" => Token::Null,
            "in" => Token::In,
            _ => Token::Ident,
        };
        return Some((token, length));
    }
    if first == b'`' {
        let inner =
            text.bytes().skip(1).take_while(|byte| byte.is_ascii_alphanumeric() || b"_.-/ ".contains(byte)).count();
        let closed = text.as_bytes().get(inner.saturating_add(1)) == Some(&b'`');
        return (closed && inner > 0).then_some((Token::EscapedIdent, inner.saturating_add(2)));
    }
    SIGNS.iter().find(|sign| text.starts_with(**sign)).map(|sign| (Token::Sign(sign), sign.len()))
}

fn number(text: &str) -> (Token, usize) {
    let digits = |from: usize| text.bytes().skip(from).take_while(u8::is_ascii_digit).count();
    let at = |position: usize| text.as_bytes().get(position).copied().unwrap_or_default();
    if text.starts_with("0x") {
        let hex = text.bytes().skip(2).take_while(u8::is_ascii_hexdigit).count();
        if hex > 0 {
            let end = 2 + hex;
            return if matches!(at(end), b'u' | b'U') { (Token::Uint, end + 1) } else { (Token::Int, end) };
        }
    }
    let mut end = digits(0);
    let mut token = Token::Int;
    if at(end) == b'.' && digits(end + 1) > 0 {
        token = Token::Double;
        end += 1 + digits(end + 1);
    }
    if matches!(at(end), b'e' | b'E') {
        let sign = usize::from(matches!(at(end + 1), b'+' | b'-'));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            return (Token::Double, end + 1 + sign + exponent);
        }
    }
    if token == Token::Int && matches!(at(end), b'u' | b'U') {
        return (Token::Uint, end + 1);
    }
    (token, end)
}

/// The length of the string literal at the start, if there is a complete one.
fn string(text: &str) -> Option<usize> {
    let (is_raw, body) = match text.strip_prefix(['r', 'R']) {
        Some(body) => (true, body),
        None => (false, text),
    };
    let prefix = text.len().saturating_sub(body.len());
    for quote in ["\"\"\"", "'''"] {
        if let Some(inner) = body.strip_prefix(quote)
            && let Some(length) = string_body(inner, quote, is_raw, true)
        {
            return Some(prefix + 6 + length);
        }
    }
    for quote in ["\"", "'"] {
        if let Some(inner) = body.strip_prefix(quote) {
            return string_body(inner, quote, is_raw, false).map(|length| prefix + 2 + length);
        }
    }
    None
}

/// The length up to the closing quote.
fn string_body(inner: &str, quote: &str, is_raw: bool, is_multiline: bool) -> Option<usize> {
    let mut rest = inner;
    loop {
        if rest.starts_with(quote) {
            return Some(inner.len().saturating_sub(rest.len()));
        }
        let mut chars = rest.chars();
        match chars.next()? {
            '\n' | '\r' if !is_multiline => return None,
            '\\' if !is_raw => {
                let length = escape_length(chars.as_str())?;
                rest = chars.as_str().get(length..)?;
            }
            _ => rest = chars.as_str(),
        }
    }
}

/// The length of what follows a backslash, `None` for an unknown escape.
fn escape_length(text: &str) -> Option<usize> {
    let first = text.bytes().next()?;
    let length = match first {
        b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`' => return Some(1),
        b'x' | b'X' => 3,
        b'u' => 5,
        b'U' => 9,
        b'0'..=b'3' => {
            let octal = text.bytes().skip(1).take(2).filter(|byte| (b'0'..=b'7').contains(byte)).count();
            return (octal == 2).then_some(3);
        }
        _ => return None,
    };
    let hex = text.bytes().skip(1).take(length - 1).filter(u8::is_ascii_hexdigit).count();
    (hex == length - 1).then_some(length)
}

/// The value of a string or bytes literal's text.
///
/// # Errors
///
/// The reference's message for an escape that is no character.
pub(super) fn unescape(literal: &str, is_bytes: bool) -> Result<Vec<u8>, &'static str> {
    let body = if is_bytes { literal.get(1..).unwrap_or_default() } else { literal };
    let (is_raw, body) = body.strip_prefix(['r', 'R']).map_or((false, body), |body| (true, body));
    let quotes = if body.len() >= 6 && (body.starts_with("\"\"\"") || body.starts_with("'''")) { 3 } else { 1 };
    let inner = body.get(quotes..body.len().saturating_sub(quotes)).unwrap_or_default();
    if is_raw {
        return Ok(inner.as_bytes().to_vec());
    }
    let mut value = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(position) = rest.find('\\') {
        let (before, escape) = rest.split_at_checked(position).unwrap_or((rest, ""));
        value.extend_from_slice(before.as_bytes());
        let escape = escape.get(1..).unwrap_or_default();
        let length = escape_length(escape).ok_or("unable to unescape string")?;
        let (text, after) = escape.split_at_checked(length).ok_or("unable to unescape string")?;
        push_escape(&mut value, text, is_bytes)?;
        rest = after;
    }
    value.extend_from_slice(rest.as_bytes());
    Ok(value)
}

fn push_escape(value: &mut Vec<u8>, escape: &str, is_bytes: bool) -> Result<(), &'static str> {
    let first = escape.bytes().next().unwrap_or_default();
    let simple = match first {
        b'a' => Some(7),
        b'b' => Some(8),
        b'f' => Some(12),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        b'v' => Some(11),
        b'"' | b'\'' | b'\\' | b'?' | b'`' => Some(first),
        _ => None,
    };
    if let Some(byte) = simple {
        value.push(byte);
        return Ok(());
    }
    if is_bytes && matches!(first, b'u' | b'U') {
        return Err("unable to unescape string");
    }
    let is_octal = first.is_ascii_digit();
    let digits = if is_octal { escape } else { escape.get(1..).unwrap_or_default() };
    let code = u32::from_str_radix(digits, if is_octal { 8 } else { 16 }).map_err(|_| "unable to unescape string")?;
    if is_bytes {
        value.push(u8::try_from(code).unwrap_or_default());
        return Ok(());
    }
    let character = char::from_u32(code).ok_or("invalid unicode code point")?;
    value.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Ok(())
}
