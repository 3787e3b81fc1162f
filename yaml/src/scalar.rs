//! What a scalar means to `kubectl`.
//!
//! Source: the YAML 1.1 type rules as `sigs.k8s.io/yaml` applies them; `tests/fixtures/scalars.json` holds its answers.

use std::borrow::Cow;

use crate::base64;
use crate::number::{self, Num};
use crate::tree::{Style, Tag};

/// What a scalar stands for.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Scalar<'t> {
    Null,
    Bool(bool),
    Number(Num),
    Text(Cow<'t, str>),
    /// A plain or tagged `<<`.
    Merge,
}

impl Scalar<'_> {
    /// The type's name in a message.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(Num::Float(_)) => "a float",
            Self::Number(Num::Int(_) | Num::Large(_)) => "an integer",
            Self::Text(_) | Self::Merge => "text",
        }
    }
}

/// The scalar cannot be of the type that its tag demands.
#[derive(PartialEq, Debug)]
pub(crate) struct TagMismatch {
    pub(crate) wanted: &'static str,
}

/// What the scalar stands for.
///
/// # Errors
///
/// [`TagMismatch`] when the text does not fit the tag, as in `!!int x`.
pub(crate) fn resolve(text: &str, style: Style, tag: Option<Tag>) -> Result<Scalar<'_>, TagMismatch> {
    let as_text = || Scalar::Text(Cow::Borrowed(text));
    let Some(tag) = tag else {
        return Ok(match style {
            Style::Text => as_text(),
            Style::Plain => resolve_plain(text).unwrap_or_else(as_text),
            Style::Json => resolve_json(text),
        });
    };
    let found = || resolve_plain(text).unwrap_or_else(as_text);
    match tag {
        Tag::Merge if text == "<<" => Ok(Scalar::Merge),
        Tag::Str | Tag::Merge | Tag::Other | Tag::Timestamp => Ok(as_text()),
        Tag::Binary => match base64::decode(text) {
            Some(bytes) => Ok(Scalar::Text(String::from_utf8_lossy(&bytes).into_owned().into())),
            None => Err(TagMismatch { wanted: "base64" }),
        },
        Tag::Bool => match found() {
            found @ Scalar::Bool(_) => Ok(found),
            _ => Err(TagMismatch { wanted: "a boolean" }),
        },
        Tag::Int => match found() {
            found @ Scalar::Number(Num::Int(_) | Num::Large(_)) => Ok(found),
            _ => Err(TagMismatch { wanted: "an integer" }),
        },
        Tag::Float => match found() {
            #[expect(clippy::cast_precision_loss, reason = "the tag asks for a float")]
            Scalar::Number(Num::Int(int)) => Ok(Scalar::Number(Num::Float(int as f64))),
            found @ Scalar::Number(Num::Float(_)) => Ok(found),
            _ => Err(TagMismatch { wanted: "a float" }),
        },
        Tag::Null => match found() {
            Scalar::Null => Ok(Scalar::Null),
            _ => Err(TagMismatch { wanted: "null" }),
        },
    }
}

/// What an unquoted text stands for; `None` when it is just text.
fn resolve_plain(text: &str) -> Option<Scalar<'static>> {
    // INVARIANT: no word, number or merge key begins with another character.
    let first = *text.as_bytes().first().unwrap_or(&b'~');
    match first {
        b'0'..=b'9' | b'+' | b'-' | b'.' => resolve_special_float(text)
            .map(|float| Scalar::Number(Num::Float(float)))
            .or_else(|| number::parse_yaml(text).map(Scalar::Number)),
        b'<' => (text == "<<").then_some(Scalar::Merge),
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => resolve_word(text),
        _ => None,
    }
}

fn resolve_word(text: &str) -> Option<Scalar<'static>> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Scalar::Bool(false),
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        _ => return None,
    })
}

fn resolve_special_float(text: &str) -> Option<f64> {
    Some(match text {
        ".nan" | ".NaN" | ".NAN" => f64::NAN,
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => f64::INFINITY,
        "-.inf" | "-.Inf" | "-.INF" => f64::NEG_INFINITY,
        _ => return None,
    })
}

fn resolve_json(text: &str) -> Scalar<'static> {
    match text {
        "true" => Scalar::Bool(true),
        "false" => Scalar::Bool(false),
        "null" => Scalar::Null,
        _ => match number::parse_json(text) {
            Some(number) => Scalar::Number(number),
            None => Scalar::Number(Num::Float(f64::INFINITY)),
        },
    }
}
