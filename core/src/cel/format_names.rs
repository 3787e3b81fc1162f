//! The named formats of `format.<name>()`.

use super::time::Timestamp;
use super::url::Url;

/// By the position that a value holds.
const NAMES: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

/// The length of the regular expression behind a format, or what the reference says instead; costs depend on it.
const PATTERN_SIZES: [u64; 13] = [30, 60, 30, 60, 30, 60, 30, 40, 1103, 70, 84, 71, 71];

pub(super) fn find(name: &str) -> Option<u8> {
    NAMES.iter().position(|known| *known == name).and_then(|position| u8::try_from(position).ok())
}

pub(super) fn pattern_size(position: u8) -> u64 {
    PATTERN_SIZES.get(usize::from(position)).copied().unwrap_or(1)
}

/// What is wrong with the text, empty if nothing.
pub(super) fn validate(position: u8, text: &str) -> Vec<String> {
    let only = |is_valid: bool, message: &str| if is_valid { Vec::new() } else { vec![message.to_owned()] };
    match NAMES.get(usize::from(position)).copied().unwrap_or_default() {
        "dns1123Label" => name(text, Kind::Label),
        "dns1123Subdomain" => name(text, Kind::Subdomain),
        "dns1035Label" => name(text, Kind::Label1035),
        "dns1123LabelPrefix" => name(&mask_trailing_dash(text), Kind::Label),
        "dns1123SubdomainPrefix" => name(&mask_trailing_dash(text), Kind::Subdomain),
        "dns1035LabelPrefix" => name(&mask_trailing_dash(text), Kind::Label1035),
        "qualifiedName" => qualified_name(text),
        "labelValue" => label_value(text),
        "uri" => match Url::is_request_uri(text) {
            true => Vec::new(),
            false => vec![Url::parse(text).err().unwrap_or_default()],
        },
        "uuid" => only(is_uuid(text), "does not match the UUID format"),
        "byte" => only(is_base64(text), "invalid base64"),
        "date" => only(is_date(text), "invalid date"),
        _ => only(is_datetime(text), "invalid datetime"),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Label,
    Subdomain,
    Label1035,
}

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
                     end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
                     '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
                         must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation \
                         is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
                          character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
                          validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const NAME: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const QUALIFIED: &str = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
                         with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
                         validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix \
                         and '/' (e.g. 'example.com/MyName')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
                     start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used \
                     for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// A prefix of a name may end with a dash: what follows is generated. The reference looks at the last two bytes as one letter.
fn mask_trailing_dash(text: &str) -> String {
    let start = text.strip_suffix('-').and_then(|start| start.get(..start.len().checked_sub(1)?));
    start.map_or_else(|| text.to_owned(), |start| format!("{start}a"))
}

fn is_label(text: &str) -> bool {
    let is_alnum = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().copied().is_some_and(is_alnum)
        && bytes.last().copied().is_some_and(is_alnum)
        && bytes.iter().all(|byte| is_alnum(*byte) || *byte == b'-')
}

fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn too_long(most: usize) -> String {
    format!("must be no more than {most} bytes")
}

fn name(text: &str, kind: Kind) -> Vec<String> {
    let (most, message) = match kind {
        Kind::Label => (63, LABEL),
        Kind::Subdomain => (253, SUBDOMAIN),
        Kind::Label1035 => (63, LABEL_1035),
    };
    let mut problems = Vec::new();
    if text.len() > most {
        problems.push(too_long(most));
    }
    let is_valid = match kind {
        Kind::Label => is_label(text),
        Kind::Subdomain => text.split('.').all(is_label),
        Kind::Label1035 => is_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase()),
    };
    if !is_valid {
        let as_subdomain = kind == Kind::Label && text.split('.').all(is_label);
        problems.push(if as_subdomain { "must not contain dots".to_owned() } else { message.to_owned() });
    }
    problems
}

fn qualified_name(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut parts = text.split('/');
    let plain = match (parts.next(), parts.next(), parts.next()) {
        (Some(plain), None, None) => plain,
        (Some(prefix), Some(plain), None) => {
            if prefix.is_empty() {
                problems.push("prefix part must be non-empty".to_owned());
            } else {
                let found = name(prefix, Kind::Subdomain);
                problems.extend(found.into_iter().map(|problem| format!("prefix part {problem}")));
            }
            plain
        }
        _ => {
            problems.push(QUALIFIED.to_owned());
            return problems;
        }
    };
    if plain.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if plain.len() > 63 {
        problems.push(format!("name part {}", too_long(63)));
    }
    if !is_name(plain) {
        problems.push(NAME.to_owned());
    }
    problems
}

fn label_value(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 63 {
        problems.push(too_long(63));
    }
    if !text.is_empty() && !is_name(text) {
        problems.push(VALUE.to_owned());
    }
    problems
}

fn is_uuid(text: &str) -> bool {
    let mut rest = text;
    for (position, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if position > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        match rest.split_at_checked(length) {
            Some((digits, after)) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => rest = after,
            _ => return false,
        }
    }
    rest.is_empty()
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let padding = text.len().saturating_sub(body.len());
    text.len().is_multiple_of(4)
        && !text.is_empty()
        && padding <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

fn is_date(text: &str) -> bool {
    // Year 0 is a year here, although it is out of range as a timestamp.
    Timestamp::parse(&format!("{text}T00:00:00Z")) != Err(false)
}

fn is_datetime(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    let (clock, rest) = match time.split_at_checked(8) {
        Some(split) => split,
        None => return false,
    };
    let clock: Vec<&str> = clock.split(':').collect();
    let is_number = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_clock = matches!(clock.as_slice(), [hour, minute, second]
        if is_number(hour) && is_number(minute) && is_number(second) && *hour <= "23" && *minute <= "59" && *second <= "59");
    let mut zone = rest;
    if !zone.starts_with(['z', '+', '-']) {
        let digits = zone.chars().skip(1).take_while(char::is_ascii_digit).count();
        let skipped = zone.chars().next().map_or(0, char::len_utf8).saturating_add(digits);
        zone = if digits > 0 { zone.get(skipped..).unwrap_or_default() } else { "" };
    }
    let is_zone = zone == "z"
        || zone
            .strip_prefix(['+', '-'])
            .and_then(|zone| zone.split_once(':'))
            .is_some_and(|(h, m)| is_number(h) && is_number(m));
    is_date(date) && is_clock && is_zone
}
