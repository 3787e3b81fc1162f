//! Reading JSON into typed objects: every problem becomes a finding, and nothing is lost.
//!
//! A field that the type does not have, and a value that it cannot hold, stay in the object's [`Rest`], so that
//! writing the object gives back what was read.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Number, Value};

use super::quantity::Quantity;
use crate::finding::{Code, Finding};
use crate::near::amount_remedy;

/// Where in an object the reader is; printed in the API server's notation, `spec.devices[0].attributes[a/b]`.
#[derive(Clone, Copy, Debug)]
pub struct Path<'p> {
    parent: Option<&'p Self>,
    step: Step<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Root,
    Field(&'p str),
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    /// The object itself.
    pub const ROOT: Path<'static> = Path { parent: None, step: Step::Root };

    /// A field of the value at this path.
    pub fn field(&'p self, name: &'p str) -> Self {
        Self { parent: Some(self), step: Step::Field(name) }
    }

    /// An entry of the map at this path.
    pub fn key(&'p self, key: &'p str) -> Self {
        Self { parent: Some(self), step: Step::Key(key) }
    }

    /// An element of the list at this path.
    pub fn index(&'p self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Index(index) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Bounded: as deep as the API types nest.
        if let Some(parent) = self.parent {
            fmt::Display::fmt(parent, f)?;
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Field(name) => {
                let first = self.parent.is_none_or(|parent| matches!(parent.step, Step::Root));
                write!(f, "{}{name}", if first { "" } else { "." })
            }
            Step::Key(key) => write!(f, "[{key}]"),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// What an object held that its type does not know; empty for most objects, and then without cost.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rest(Option<Box<Map<String, Value>>>);

impl Rest {
    /// Keeps what is left of an object.
    pub fn new(left: Map<String, Value>) -> Self {
        Self((!left.is_empty()).then(|| Box::new(left)))
    }

    /// Keeps more fields.
    pub fn extend(&mut self, more: Map<String, Value>) {
        if !more.is_empty() {
            self.0.get_or_insert_default().extend(more);
        }
    }

    /// The fields kept, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.iter().flat_map(|map| map.iter())
    }

    /// One field kept.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.as_ref()?.get(name)
    }

    /// Keeps one field.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.0.get_or_insert_default().insert(name.to_owned(), value);
    }

    /// Keeps one field no longer.
    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(fields) = &mut self.0 {
            fields.remove(name);
            if fields.is_empty() {
                self.0 = None;
            }
        }
    }

    /// A copy to write the known fields into.
    pub fn to_map(&self) -> Map<String, Value> {
        self.0.as_deref().cloned().unwrap_or_default()
    }
}

/// A value of the Kubernetes API, read from JSON and written back.
pub trait Json: Sized {
    /// Reads a value.
    ///
    /// # Errors
    ///
    /// Gives the JSON back when the type cannot hold it; a finding at `at` says why.
    fn read(value: Value, at: &Path<'_>, findings: &mut Vec<Finding>) -> Result<Self, Value>;

    /// The JSON of the value; `None` where Kubernetes leaves the field out.
    fn write(&self) -> Option<Value>;

    /// The JSON of the value as a field that need not be there: zero, `false` and objects without
    /// fields are left out.
    fn write_field(&self) -> Option<Value> {
        self.write()
    }
}

/// Reports a value of the wrong type and gives it back.
pub fn wrong_type<T>(value: Value, wanted: &str, at: &Path<'_>, findings: &mut Vec<Finding>) -> Result<T, Value> {
    let found = match &value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    findings.push(Finding::new(Code::ReadWrongType, at, format!("expected {wanted}, found {found}")));
    Err(value)
}

impl Json for String {
    fn read(value: Value, at: &Path<'_>, findings: &mut Vec<Finding>) -> Result<Self, Value> {
        match value {
            Value::String(text) => Ok(text),
            Value::Null => Ok(Self::new()),
            Value::Bool(_) | Value::Number(_) => {
                let read = wrong_type(value, "text", at, findings);
                if let Some(last) = findings.last_mut() {
                    last.hint = Some("put it in quotes".to_owned());
                }
                read
            }
            other => wrong_type(other, "text", at, findings),
        }
    }

    fn write(&self) -> Option<Value> {
        (!self.is_empty()).then(|| Value::String(self.clone()))
    }
}

impl Json for bool {
    fn read(value: Value, at: &Path<'_>, findings: &mut Vec<Finding>) -> Result<Self, Value> {
        match value {
            Value::Bool(flag) => Ok(flag),
            Value::Null => Ok(false),
            other => wrong_type(other, "true or false", at, findings),
        }
    }

    fn write(&self) -> Option<Value> {
        Some(Value::Bool(*self))
    }

    fn write_field(&self) -> Option<Value> {
        self.then_some(Value::Bool(true))
    }
}

impl Json for i64 {
    fn read(value: Value, at: &Path<'_>, findings: &mut Vec<Finding>) -> Result<Self, Value> {
        match &value {
            Value::Number(number) => match number.as_i64() {
                Some(integer) => Ok(integer),
                None => wrong_type(value, "a whole number of at most 64 bits", at, findings),
            },
            Value::Null => Ok(0),
            _ => wrong_type(value, "a whole number", at, findings),
        }
    }

    fn write(&self) -> Option<Value> {
        Some(Value::Number(Number::from(*self)))
    }

    fn write_field(&self) -> Option<Value> {
        (*self != 0).then(|| Value::Number(Number::from(*self)))
    }
}

impl Json for Value {
    fn read(value: Value, _: &Path<'_>, _: &mut Vec<Finding>) -> Result<Self, Value> {
        Ok(value)
    }

    fn write(&self) -> Option<Value> {
        (!self.is_null()).then(|| self.clone())
    }
}

impl Json for Quantity {
    fn read(value: Value, at: &Path<'_>, findings: &mut Vec<Finding>) -> Result<Self, Value> {
        let text = match &value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return wrong_type(value, "a quantity", at, findings),
        };
        match Self::parse(&text) {
            Ok(quantity) => Ok(quantity),
            Err(_) => {
                findings.push(
                    Finding::new(Code::ReadBadQuantity, at, format!("`{text}` is not a quantity"))
                        .with_hint(amount_remedy(&text)),
                );
                Err(value)
            }
        }
    }

    fn write(&self) -> Option<Value> {
        Some(Value::String(self.to_string()))
    }
}

impl<T: Json> Json for Option<T> {
    fn read(value: Value, at: &Path<'_>, findings: &mut Vec<Finding>) -> Result<Self, Value> {
        match value {
            Value::Null => Ok(None),
            present => T::read(present, at, findings).map(Some),
        }
    }

    fn write(&self) -> Option<Value> {
        // An explicit empty text or list stays visible.
        self.as_ref().map(|inner| inner.write().unwrap_or_else(|| Value::Array(Vec::new())))
    }
}

macro_rules! pointers {
    ($($pointer:ident)*) => {$(
        impl<T: Json> Json for $pointer<T> {
            fn read(value: Value, at: &Path<'_>, findings: &mut Vec<Finding>) -> Result<Self, Value> {
                T::read(value, at, findings).map(Self::new)
            }

            fn write(&self) -> Option<Value> {
                self.as_ref().write()
            }

            fn write_field(&self) -> Option<Value> {
                self.as_ref().write_field()
            }
        }
    )*};
}
pointers! { Box Arc }

impl<T: Json> Json for Vec<T> {
    fn read(value: Value, at: &Path<'_>, findings: &mut Vec<Finding>) -> Result<Self, Value> {
        match value {
            // An element that cannot be read is reported and left out: the error makes the whole object unusable.
            Value::Array(items) => {
                // Room for no more than there is in short lists; in long ones most elements may be unreadable.
                let mut list = Self::with_capacity(items.len().min(16));
                list.extend(
                    items
                        .into_iter()
                        .enumerate()
                        .filter_map(|(index, item)| T::read(item, &at.index(index), findings).ok()),
                );
                Ok(list)
            }
            Value::Null => Ok(Self::new()),
            other => wrong_type(other, "a list", at, findings),
        }
    }

    fn write(&self) -> Option<Value> {
        (!self.is_empty()).then(|| Value::Array(self.iter().map(|item| item.write().unwrap_or(Value::Null)).collect()))
    }
}

impl<T: Json> Json for BTreeMap<String, T> {
    fn read(value: Value, at: &Path<'_>, findings: &mut Vec<Finding>) -> Result<Self, Value> {
        match value {
            Value::Object(map) => {
                // Collecting would be compiled with a sort for each type.
                let mut read = Self::new();
                for (key, item) in map {
                    if let Ok(item) = T::read(item, &at.key(&key), findings) {
                        read.insert(key, item);
                    }
                }
                Ok(read)
            }
            Value::Null => Ok(Self::new()),
            other => wrong_type(other, "an object", at, findings),
        }
    }

    fn write(&self) -> Option<Value> {
        (!self.is_empty()).then(|| {
            let mut written = Map::new();
            for (key, item) in self {
                written.insert(key.clone(), item.write().unwrap_or(Value::Null));
            }
            Value::Object(written)
        })
    }
}

/// Reports the fields of an object that its type does not have.
pub fn report_unknown(map: &Map<String, Value>, at: &Path<'_>, findings: &mut Vec<Finding>) {
    for name in map.keys() {
        findings.push(Finding::new(Code::ReadUnknownField, at.field(name), format!("unknown field `{name}`")));
    }
}

/// Takes one field out of `map` into `slot`; a value that does not fit stays in `map`.
pub fn take<T: Json>(
    map: &mut Map<String, Value>,
    name: &'static str,
    slot: &mut T,
    misfits: &mut Map<String, Value>,
    at: &Path<'_>,
    findings: &mut Vec<Finding>,
) {
    match map.remove(name) {
        None | Some(Value::Null) => {}
        Some(value) => match T::read(value, &at.field(name), findings) {
            Ok(read) => *slot = read,
            Err(value) => {
                misfits.insert(name.to_owned(), value);
            }
        },
    }
}

/// Declares the types of API objects together with their readers and writers.
///
/// `closed` types report fields they do not have; `open` types keep them silently, because the real kind
/// has many more fields than matter here.
macro_rules! api_struct {
    (@is_closed closed) => { true };
    (@is_closed open) => { false };
    ($($(#[$meta:meta])* $mode:ident $name:ident { $($(#[$doc:meta])* $json:literal $field:ident: $ty:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug, Default)]
        pub struct $name {
            $($(#[$doc])* pub $field: $ty,)*
            /// Fields that this type does not know, and values that it cannot hold.
            pub rest: $crate::api::read::Rest,
        }

        impl $crate::api::read::Json for $name {
            fn read(
                value: serde_json::Value,
                at: &$crate::api::read::Path<'_>,
                findings: &mut Vec<$crate::finding::Finding>,
            ) -> Result<Self, serde_json::Value> {
                let mut map = match value {
                    serde_json::Value::Object(map) => map,
                    serde_json::Value::Null => return Ok(Self::default()),
                    other => return $crate::api::read::wrong_type(other, "an object", at, findings),
                };
                let mut object = Self::default();
                #[expect(clippy::allow_attributes, reason = "not every type has a field that can misfit")]
                #[allow(unused_mut, reason = "not every type has a field that can misfit")]
                let mut misfits = serde_json::Map::new();
                $($crate::api::read::take(&mut map, $json, &mut object.$field, &mut misfits, at, findings);)*
                if $crate::api::read::api_struct!(@is_closed $mode) {
                    $crate::api::read::report_unknown(&map, at, findings);
                }
                map.extend(misfits);
                object.rest = $crate::api::read::Rest::new(map);
                Ok(object)
            }

            fn write(&self) -> Option<serde_json::Value> {
                let mut map = self.rest.to_map();
                $(if let Some(value) = $crate::api::read::Json::write_field(&self.$field) {
                    map.insert($json.to_owned(), value);
                })*
                Some(serde_json::Value::Object(map))
            }

            fn write_field(&self) -> Option<serde_json::Value> {
                self.write().filter(|value| value.as_object().is_none_or(|map| !map.is_empty()))
            }
        }
    )*};
}
pub(crate) use api_struct;

/// Declares closed sets of texts; a text outside it is kept in `Unknown` and reported.
macro_rules! api_enum {
    ($($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* } default $default:ident)*) => {$(
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
            /// A text outside the set, kept as written.
            Unknown(String),
        }

        impl $name {
            /// The text in the API.
            pub fn text(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Unknown(text) => text,
                }
            }

            /// The variant of a text.
            pub fn of(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)*
                    other => Self::Unknown(other.to_owned()),
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        }

        impl $crate::api::read::Json for $name {
            fn read(
                value: serde_json::Value,
                at: &$crate::api::read::Path<'_>,
                findings: &mut Vec<$crate::finding::Finding>,
            ) -> Result<Self, serde_json::Value> {
                let text = match value {
                    serde_json::Value::String(text) => text,
                    serde_json::Value::Null => return Ok(Self::default()),
                    other => return $crate::api::read::wrong_type(other, "text", at, findings),
                };
                let read = Self::of(&text);
                if matches!(read, Self::Unknown(_)) {
                    let known: &[&str] = &[$($text,)*];
                    findings.push(
                        $crate::finding::Finding::new(
                            $crate::finding::Code::ReadUnknownValue, at, format!("unknown value `{text}`"),
                        )
                        .with_hint(format!("one of {}", known.join(", "))),
                    );
                }
                Ok(read)
            }

            fn write(&self) -> Option<serde_json::Value> {
                Some(serde_json::Value::String(self.text().to_owned()))
            }
        }
    )*};
}
pub(crate) use api_enum;
