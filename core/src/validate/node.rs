//! One value of an object together with its place.

use serde_json::{Map, Value};

use crate::api::quantity::Quantity;
use crate::api::read::Path;

/// What an absent field holds.
static ABSENT: Value = Value::Null;

/// A value and where it is. Asking for what is not there gives an absent node, so that rules need not care how deep an
/// object was written out.
#[derive(Clone, Copy)]
pub(super) struct Node<'v, 'p> {
    /// The value; `null` where there is none.
    pub(super) value: &'v Value,
    /// Where it is.
    pub(super) at: Path<'p>,
}

impl<'v> Node<'v, 'static> {
    /// A whole object.
    pub(super) fn root(value: &'v Value) -> Self {
        Self { value, at: Path::ROOT }
    }
}

impl<'v, 'p> Node<'v, 'p> {
    /// A field.
    pub(super) fn field<'s>(&'s self, name: &'s str) -> Node<'v, 's> {
        Node { value: self.peek(name), at: self.at.field(name) }
    }

    /// The value of a field, where its place does not matter.
    pub(super) fn peek(&self, name: &str) -> &'v Value {
        self.value.get(name).unwrap_or(&ABSENT)
    }

    /// Whether there is a value.
    pub(super) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether a field has a value.
    pub(super) fn has(&self, name: &str) -> bool {
        !self.peek(name).is_null()
    }

    /// The text; empty where there is none.
    pub(super) fn text(&self) -> &'v str {
        self.value.as_str().unwrap_or_default()
    }

    /// The text of a field; empty where there is none.
    pub(super) fn text_of(&self, name: &str) -> &'v str {
        self.peek(name).as_str().unwrap_or_default()
    }

    /// The whole number; 0 where there is none.
    pub(super) fn int(&self) -> i64 {
        self.value.as_i64().unwrap_or_default()
    }

    /// Whether it is `true`.
    pub(super) fn is_true(&self) -> bool {
        self.value == &Value::Bool(true)
    }

    /// The quantity; `None` where there is none.
    pub(super) fn quantity(&self) -> Option<Quantity> {
        quantity(self.value)
    }

    /// The elements of a list; none where there is no list.
    pub(super) fn list(&self) -> &'v [Value] {
        self.value.as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// The elements of a list with their places.
    pub(super) fn items(&self) -> impl Iterator<Item = Node<'v, '_>> {
        self.list().iter().enumerate().map(|(index, value)| Node { value, at: self.at.index(index) })
    }

    /// The entries of an object or map; none where there is no such value.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'v str, &'v Value)> {
        let map: Option<&'v Map<String, Value>> = self.value.as_object();
        map.into_iter().flat_map(|map| map.iter().map(|(key, value)| (key.as_str(), value)))
    }

    /// How many elements or entries there are.
    pub(super) fn len(&self) -> usize {
        match self.value {
            Value::Array(items) => items.len(),
            Value::Object(map) => map.len(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        }
    }
}

/// A quantity as it stands in JSON.
pub(super) fn quantity(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => Quantity::parse(text).ok(),
        Value::Number(number) => Quantity::parse(&number.to_string()).ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A map key for a place: one that is longer than keys may be is shortened in the middle.
pub(super) fn shown_key(key: &str, longest: usize) -> std::borrow::Cow<'_, str> {
    let longest = longest.max(16);
    if key.len() <= longest {
        return key.into();
    }
    let kept = longest.saturating_sub(3);
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    let start = key.get(..floor_boundary(key, head)).unwrap_or_default();
    let end = key.get(floor_boundary(key, key.len().saturating_sub(tail))..).unwrap_or_default();
    format!("{start}...{end}").into()
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at = at.saturating_sub(1);
    }
    at
}
