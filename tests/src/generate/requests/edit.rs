//! Changes of an object, small enough to be stored beside a recorded answer.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One change. Places are JSON pointers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Edit {
    /// Puts a value; at `-` of a list as its last entry.
    Set(String, Value),
    /// Takes a field or entry out.
    Remove(String),
    /// Puts a text so many times in a row.
    Text(String, String, usize),
    /// A list with so many copies of its first entry, each with a name of its own.
    Times(String, usize),
    /// One more copy of a list's first entry.
    Again(String),
    /// A map with so many copies of its first entry, under other keys.
    Entries(String, usize),
}

impl Edit {
    /// The place that is changed.
    pub fn at(&self) -> &str {
        match self {
            Self::Set(at, _)
            | Self::Remove(at)
            | Self::Text(at, ..)
            | Self::Times(at, _)
            | Self::Again(at)
            | Self::Entries(at, _) => at,
        }
    }

    /// Changes an object. `None` where it has no such place.
    pub fn apply(&self, object: &mut Value) -> Option<()> {
        match self {
            Self::Set(at, value) => set(object, at, value.clone()),
            Self::Text(at, text, times) => set(object, at, Value::from(text.repeat(*times))),
            Self::Remove(at) => {
                let (parent, name) = at.rsplit_once('/')?;
                match object.pointer_mut(parent)? {
                    Value::Object(map) => drop(map.remove(&unescaped(name))?),
                    Value::Array(items) => drop(items.remove(name.parse::<usize>().ok().filter(|i| *i < items.len())?)),
                    _ => return None,
                }
                Some(())
            }
            Self::Times(at, times) => {
                let items = object.pointer_mut(at)?.as_array_mut()?;
                let first = items.first()?.clone();
                *items = (0..*times).map(|index| named(first.clone(), index)).collect();
                Some(())
            }
            Self::Again(at) => {
                let items = object.pointer_mut(at)?.as_array_mut()?;
                items.push(items.first()?.clone());
                Some(())
            }
            Self::Entries(at, times) => {
                let map = object.pointer_mut(at)?.as_object_mut()?;
                let first = map.values().next()?.clone();
                *map = (0..*times).map(|index| (format!("k-{index}"), first.clone())).collect::<Map<_, _>>();
                Some(())
            }
        }
    }
}

/// A copy with a name of its own.
fn named(mut item: Value, index: usize) -> Value {
    if let Value::String(text) = &mut item {
        text.push_str(&index.to_string());
    }
    for name in ["name", "uid", "type"] {
        if let Some(Value::String(text)) = item.get_mut(name) {
            text.push_str(&index.to_string());
        }
    }
    item
}

fn set(object: &mut Value, at: &str, value: Value) -> Option<()> {
    let (parent, name) = at.rsplit_once('/')?;
    match object.pointer_mut(parent)? {
        Value::Object(map) => drop(map.insert(unescaped(name), value)),
        Value::Array(items) if name == "-" => items.push(value),
        Value::Array(items) => *items.get_mut(name.parse::<usize>().ok()?)? = value,
        _ => return None,
    }
    Some(())
}

/// A key as one step of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// What makes one value of another.
pub fn difference(from: &Value, to: &Value) -> Vec<Edit> {
    let mut edits = Vec::new();
    note(from, to, "", &mut edits);
    edits
}

fn note(from: &Value, to: &Value, at: &str, edits: &mut Vec<Edit>) {
    match (from, to) {
        _ if from == to => {}
        (Value::Object(from), Value::Object(to)) => {
            for (name, value) in from {
                let at = format!("{at}/{}", escaped(name));
                match to.get(name) {
                    Some(other) => note(value, other, &at, edits),
                    None => edits.push(Edit::Remove(at)),
                }
            }
            let new = to.iter().filter(|(name, _)| !from.contains_key(*name));
            edits.extend(new.map(|(name, value)| Edit::Set(format!("{at}/{}", escaped(name)), value.clone())));
        }
        (Value::Array(from), Value::Array(to)) if from.len() == to.len() => {
            for (index, (from, to)) in from.iter().zip(to).enumerate() {
                note(from, to, &format!("{at}/{index}"), edits);
            }
        }
        _ => edits.push(Edit::Set(at.to_owned(), to.clone())),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests look at what must be there")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_differs_makes_one_value_of_the_other() {
        let (from, to) = (json!({ "a": [1, { "b/c": 2 }], "d": 3 }), json!({ "a": [1, { "b/c": 4, "e": 5 }] }));
        let mut made = from.clone();
        for edit in difference(&from, &to) {
            edit.apply(&mut made).unwrap();
        }
        assert_eq!(made, to);
    }
}
