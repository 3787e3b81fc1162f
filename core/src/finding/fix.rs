//! Certain corrections, and the fields that paths lead to.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The one certain correction of a finding, to be made at its path.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Fix {
    /// The field gets another name.
    Rename(String),
    /// The field gets another value.
    Set(#[cfg_attr(feature = "types", ts(type = "unknown"))] Value),
    /// The field moves into the field of this name beside it, which is made where it is missing.
    Nest(String),
    /// The fields of its value take the field's place.
    Unnest,
}

impl Fix {
    /// Makes the correction in an object. False, and nothing is changed, when the object has no such field, or already
    /// has one of the new name.
    pub fn apply(&self, object: &mut Value, path: &str) -> bool {
        let Some((parent, last)) = parent(object, path) else { return false };
        match (self, parent) {
            (Self::Rename(name), Value::Object(fields)) if !fields.contains_key(name) => {
                let Some(value) = fields.remove(last) else { return false };
                fields.insert(name.clone(), value);
                true
            }
            (Self::Set(value), Value::Object(fields)) => put(fields.get_mut(last), value),
            (Self::Set(value), Value::Array(items)) => {
                put(last.parse::<usize>().ok().and_then(|index| items.get_mut(index)), value)
            }
            (Self::Nest(name), Value::Object(fields)) => nest(fields, last, name).is_some(),
            (Self::Unnest, Value::Object(fields)) => unnest(fields, last).is_some(),
            (Self::Rename(_) | Self::Set(_) | Self::Nest(_) | Self::Unnest, _) => false,
        }
    }
}

fn nest(fields: &mut Map<String, Value>, field: &str, into: &str) -> Option<()> {
    match fields.get(into) {
        None => {}
        Some(Value::Object(inner)) if !inner.contains_key(field) => {}
        Some(_) => return None,
    }
    let value = fields.remove(field)?;
    let outer = fields.entry(into.to_owned()).or_insert_with(|| Value::Object(Map::new()));
    outer.as_object_mut()?.insert(field.to_owned(), value);
    Some(())
}

fn unnest(fields: &mut Map<String, Value>, field: &str) -> Option<()> {
    let inner = fields.get(field)?.as_object()?;
    if inner.keys().any(|name| name != field && fields.contains_key(name)) {
        return None;
    }
    let Value::Object(inner) = fields.remove(field)? else { return None };
    fields.extend(inner);
    Some(())
}

fn put(place: Option<&mut Value>, value: &Value) -> bool {
    place.map(|place| place.clone_from(value)).is_some()
}

/// What holds the field of a path, and the field's name or index in it.
fn parent<'v, 'p>(object: &'v mut Value, path: &'p str) -> Option<(&'v mut Value, &'p str)> {
    let mut steps = steps(path);
    let mut last = steps.next()?;
    let mut value = object;
    for step in steps {
        value = match value {
            Value::Object(fields) => fields.get_mut(last)?,
            Value::Array(items) => items.get_mut(last.parse::<usize>().ok()?)?,
            _ => return None,
        };
        last = step;
    }
    Some((value, last))
}

/// The value of a field path such as `spec.devices[0].attributes[example.com/model]`; the empty path is the object.
pub fn value_at<'v>(object: &'v Value, path: &str) -> Option<&'v Value> {
    steps(path).try_fold(object, |value, step| match value {
        Value::Object(fields) => fields.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The steps of `spec.devices[0].attributes[example.com/model]`.
fn steps(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = path;
    std::iter::from_fn(move || {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let (step, left) = match rest.strip_prefix('[') {
            Some(inside) => inside.split_once(']').unwrap_or((inside, "")),
            None if rest.is_empty() => return None,
            None => rest.split_at_checked(rest.find(['.', '[']).unwrap_or(rest.len()))?,
        };
        rest = left;
        Some(step)
    })
}
