//! An object held against its schema.

use serde_json::{Map, Value};

use super::super::node::quantity;
use super::super::report::{Report, shown};
use super::suggest::suggestion;
use super::{Era, Field, Type};
use crate::api::read::Path;
use crate::finding::{Code, ErrorKind, Finding, Fix};
use crate::gather::Gather;
use crate::near::amount_remedy;
use crate::profile::Version;

/// Holds a value against a type: reports what does not fit and what is unknown, and takes out what is unknown or `null`.
/// False when something does not fit, so that the API server would look no further.
pub(in crate::validate) fn fit(out: &mut Report<'_>, value: &mut Value, of: &'static Type, at: &Path<'_>) -> bool {
    match of {
        Type::Any => true,
        Type::Opt(inner) => fit(out, value, inner, at),
        // An element that is `null` holds nothing.
        _ if value.is_null() => true,
        Type::Text => value.is_string() || misfit(out, value, "text", at),
        Type::Flag => value.is_boolean() || misfit(out, value, "true or false", at),
        Type::Int64 => value.as_i64().is_some() || misfit(out, value, "a whole number of at most 64 bits", at),
        Type::Int32 => {
            value.as_i64().is_some_and(|number| i32::try_from(number).is_ok())
                || misfit(out, value, "a whole number of at most 32 bits", at)
        }
        Type::Quantity => fit_quantity(out, value, at),
        Type::Time => match value.as_str() {
            None => misfit(out, value, "a time", at),
            Some(text) => is_time(text) || misfit(out, value, "a time such as `2026-01-31T12:00:00Z`", at),
        },
        Type::Object(fields) => match value {
            Value::Object(map) => fit_fields(out, map, fields, true, at),
            Value::String(text) => {
                let text = text.clone();
                misfit_text(out, &text, fields, at)
            }
            _ => {
                misfit(out, value, "an object", at);
                hint_at_value(out, value, fields)
            }
        },
        Type::Open(fields) => match value {
            Value::Object(map) => fit_fields(out, map, fields, false, at),
            _ => misfit(out, value, "an object", at),
        },
        Type::List(element) => match value {
            Value::Array(items) => {
                let mut fits = true;
                for (index, item) in items.iter_mut().enumerate() {
                    fits &= fit(out, item, element, &at.index(index));
                }
                fits
            }
            _ => misfit(out, value, "a list", at),
        },
        Type::Map(element) => match value {
            Value::Object(map) => {
                let mut fits = true;
                for (key, item) in map.iter_mut() {
                    fits &= fit(out, item, element, &at.key(key));
                }
                fits
            }
            _ => misfit(out, value, "an object", at),
        },
    }
}

fn fit_fields(
    out: &mut Report<'_>,
    map: &mut Map<String, Value>,
    fields: &'static [Field],
    closed: bool,
    at: &Path<'_>,
) -> bool {
    let mut fits = true;
    let mut unknown: Vec<String> = Vec::new();
    map.retain(|name, value| {
        if value.is_null() {
            return false;
        }
        match fields.iter().find(|field| field.name == name) {
            Some(field) if exists(field, out.profile.version) => {
                fits &= fit(out, value, &field.holds, &at.field(name));
                true
            }
            Some(field) => {
                report_era(out, field, &at.field(name));
                false
            }
            None if closed => {
                unknown.push(name.clone());
                false
            }
            None => true,
        }
    });
    for name in unknown {
        if out.is_full() {
            continue;
        }
        let message = format!("unknown field `{name}`: the API server drops it, kubectl refuses it");
        let finding = Finding::new(Code::ReadUnknownField, at.field(&name), message);
        let special = special(&name, fields, map);
        let way_out = special.or_else(|| suggestion(&name, fields, |other| map.contains_key(other)));
        out.note(match way_out {
            Some((hint, fix)) => Finding { fix, ..finding.with_hint(hint) },
            None => finding,
        });
    }
    fits
}

/// Fields that were removed or moved, where a near name would mislead; with the correction, where only one can be meant beside
/// the other fields of `map`.
fn special(name: &str, fields: &[Field], map: &Map<String, Value>) -> Option<(String, Option<Fix>)> {
    let has = |name: &str| fields.iter().any(|field| field.name == name);
    let (hint, fix) = match name {
        "source" if has("resourceClaimName") => {
            ("the field was removed in 1.31: put its content directly into the entry", Some(Fix::Unnest))
        }
        "boolean" if has("bool") => {
            ("write `bool`", (!map.contains_key("bool")).then(|| Fix::Rename("bool".to_owned())))
        }
        "basic" if has("attributes") => {
            ("`basic` is of `resource.k8s.io/v1beta1`: put its content directly into the device", Some(Fix::Unnest))
        }
        "exactly" if has("deviceClassName") => (
            "before `resource.k8s.io/v1beta2` there is no `exactly`: put its content directly into the request, or raise `apiVersion`",
            None,
        ),
        "spec" if has("devices") => (
            "this is the body of a ResourceClaimTemplate: write `kind: ResourceClaimTemplate`, or put the content of `spec` one level higher",
            None,
        ),
        "deviceClassName" | "selectors" | "allocationMode" | "count" | "adminAccess" | "tolerations" | "capacity"
            if has("exactly") =>
        {
            let is_certain = !map.contains_key("firstAvailable");
            let hint = format!("`{name}` belongs into `exactly` since `resource.k8s.io/v1beta2`");
            return Some((hint, is_certain.then(|| Fix::Nest("exactly".to_owned()))));
        }
        _ => return None,
    };
    Some((hint.to_owned(), fix))
}

fn exists(field: &Field, version: Version) -> bool {
    match field.era {
        Era::Always => true,
        Era::Since(first) => version >= first,
        Era::Until(last) => version <= last || version == Version::All,
        Era::Only(one) => version == one || version == Version::All,
        Era::Gone | Era::Proposed => version == Version::All,
    }
}

fn report_era(out: &mut Report<'_>, field: &Field, at: &Path<'_>) {
    let version = out.profile.version;
    let name = field.name;
    out.note(match field.era {
        Era::Proposed => Finding::new(
            Code::ValidateProposed,
            at,
            format!("`{name}` was proposed, and no released Kubernetes has it: the API server of {version} drops it"),
        ),
        Era::Since(first) | Era::Only(first) if version < first => Finding::new(
            Code::ValidateDroppedField,
            at,
            format!("`{name}` came with Kubernetes {first}: the API server of {version} drops it"),
        ),
        Era::Since(_) | Era::Until(_) | Era::Only(_) | Era::Gone | Era::Always => Finding::new(
            Code::ValidateDroppedField,
            at,
            format!("`{name}` was removed before Kubernetes {version}: the API server drops it"),
        ),
    });
}

/// A plain value where an attribute or a capacity belongs, which names the type of its value.
fn hint_at_value(out: &mut Report<'_>, value: &Value, fields: &[Field]) -> bool {
    let has = |name: &str| fields.iter().any(|field| field.name == name);
    let of_type = match value {
        Value::Bool(_) => "bool",
        Value::Number(_) => "int",
        Value::String(_) => "string",
        Value::Null | Value::Array(_) | Value::Object(_) => return false,
    };
    if let Some(name) = [of_type, "value"].into_iter().find(|name| has(name)) {
        out.hint(format!("write `{{{name}: {}}}`", value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
        out.fix(Fix::Set(Value::Object([(name.to_owned(), value.clone())].into_iter().gather())));
    }
    false
}

/// Text where an object belongs: the object's only text, or its name, was meant.
fn misfit_text(out: &mut Report<'_>, text: &str, fields: &[Field], at: &Path<'_>) -> bool {
    misfit(out, &Value::from(text), "an object", at);
    hint_at_value(out, &Value::from(text), fields);
    let meant = match fields {
        [field] => Some(field),
        [first, _] if first.name == "name" => Some(first),
        _ => None,
    };
    if let Some(field) = meant.filter(|field| matches!(field.holds, Type::Text)) {
        out.hint(format!("write it under `{}`", field.name));
        out.fix(Fix::Set(Value::Object([(field.name.to_owned(), Value::from(text))].into_iter().gather())));
    }
    false
}

fn misfit(out: &mut Report<'_>, value: &Value, wanted: &str, at: &Path<'_>) -> bool {
    let mut fix = None;
    let (found, hint) = match value {
        Value::Null => ("null".to_owned(), None),
        Value::Bool(_) | Value::Number(_) => {
            (format!("`{value}`"), (wanted == "text").then(|| "put it in quotes".to_owned()))
        }
        Value::String(text) => {
            let text = shown(text);
            let meant = match wanted {
                "true or false" => text.parse::<bool>().ok().map(Value::from),
                _ if wanted.starts_with("a whole") => text.parse::<i64>().ok().map(Value::from),
                _ => None,
            };
            fix = meant.map(Fix::Set);
            let hint = fix.is_some().then(|| format!("write {text} without quotes"));
            (if fix.is_some() { format!("the text `\"{text}\"`") } else { format!("`{text}`") }, hint)
        }
        Value::Array(_) => ("a list".to_owned(), None),
        Value::Object(_) => ("an object".to_owned(), None),
    };
    out.error(ErrorKind::TypeInvalid, Code::ReadWrongType, at, format!("expected {wanted}, found {found}"));
    if let Some(hint) = hint {
        out.hint(hint);
    }
    if let Some(fix) = fix {
        out.fix(fix);
    }
    false
}

fn fit_quantity(out: &mut Report<'_>, value: &Value, at: &Path<'_>) -> bool {
    if quantity(value).is_some() {
        return true;
    }
    let found = match value {
        Value::String(text) => shown(text).into_owned(),
        other => shown(&other.to_string()).into_owned(),
    };
    out.error(ErrorKind::TypeInvalid, Code::ReadBadQuantity, at, format!("`{found}` is not a quantity"));
    out.hint(amount_remedy(&found));
    false
}

/// RFC 3339, as Go reads it: a fraction of seconds is allowed, and a zone is needed.
fn is_time(text: &str) -> bool {
    let number = |text: &str| (text.len() == 2).then(|| text.parse::<u32>().ok()).flatten();
    let is_offset = |zone: &str| {
        zone.split_once(':').is_some_and(|(hours, minutes)| {
            number(hours).is_some_and(|hours| hours < 24) && number(minutes).is_some_and(|minutes| minutes < 60)
        })
    };
    zone(text).is_some_and(|zone| zone == "Z" || zone.strip_prefix(['+', '-']).is_some_and(is_offset))
}

/// What follows a date, a time of day and a fraction of a second.
fn zone(text: &str) -> Option<&str> {
    let mut rest = text;
    let mut number = |width: usize, end: &str| {
        let (digits, after) = rest.split_at_checked(width)?;
        rest = after.strip_prefix(end)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u32>().ok()).flatten()
    };
    let (year, month, day) = (number(4, "-")?, number(2, "-")?, number(2, "T")?);
    let (hour, minute, second) = (number(2, ":")?, number(2, ":")?, number(2, "")?);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400) => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    };
    if !(1..=days).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let Some(fraction) = rest.strip_prefix('.') else { return Some(rest) };
    let after = fraction.trim_start_matches(|character: char| character.is_ascii_digit());
    (after.len() < fraction.len()).then_some(after)
}
