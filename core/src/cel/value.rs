//! Values during evaluation. What belongs to the device is borrowed.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::decls::T;
use super::device::{DeviceMap, DeviceView, Which};
use super::net::{Cidr, Ip};
use super::semver::Semver;
use super::time::Timestamp;
use super::url::Url;
use crate::api::quantity::Quantity;

/// Why evaluation stopped or a part of it failed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fault {
    /// An error that logical operators can absorb.
    Error(Cow<'static, str>),
    /// The end of the evaluation: the cost limit, or a failure that nothing absorbs.
    Abort(Cow<'static, str>),
}

pub(super) type Eval<T> = Result<T, Fault>;

pub(super) fn fail<X>(message: impl Into<Cow<'static, str>>) -> Eval<X> {
    Err(Fault::Error(message.into()))
}

/// A number as an index; the largest one of this machine stands for all that are larger, so that every machine says the same of them.
/// `None` where it is negative.
pub(super) fn index(number: i64) -> Option<usize> {
    (number >= 0).then(|| usize::try_from(number).unwrap_or(usize::MAX))
}

pub(super) fn no_overload<X>() -> Eval<X> {
    fail("no such overload")
}

/// A value of any type.
#[derive(Clone)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Str(Str<'a>),
    Bytes(Arc<[u8]>),
    /// In nanoseconds.
    Duration(i64),
    Timestamp(Timestamp),
    /// A type, by its name.
    Type(&'static str),
    List(List<'a>),
    Map(Map<'a>),
    Optional(Option<Arc<Value<'a>>>),
    Quantity(QuantityValue<'a>),
    Semver(Arc<Semver>),
    Ip(Ip),
    Cidr(Cidr),
    Url(Arc<Url>),
    /// One of the named formats, by its position.
    Format(u8),
    /// An error in place of an optional's value; see [`Value::through_go`].
    Broken(Arc<str>),
}

/// A text.
#[derive(Clone)]
pub(super) enum Str<'a> {
    Borrowed(&'a str),
    Owned(Arc<str>),
}

#[derive(Clone)]
pub(super) enum QuantityValue<'a> {
    Borrowed(&'a Quantity),
    Owned(Arc<Quantity>),
    /// The result of `add` or `sub`. The reference keeps it in another form, which does not compare equal to anything
    /// when it stands on the right.
    Sum(Arc<Quantity>),
}

#[derive(Clone)]
pub(super) enum List<'a> {
    Ints(&'a [i64]),
    Bools(&'a [bool]),
    Strings(&'a [String]),
    Versions(&'a [String]),
    Values(Arc<Vec<Value<'a>>>),
}

#[derive(Clone)]
pub(super) enum Map<'a> {
    /// The variable `device`.
    Device(&'a DeviceView<'a>),
    Attributes(DeviceMap<'a>),
    Capacity(DeviceMap<'a>),
    Empty,
    /// Sorted by key.
    Entries(Arc<Entries<'a>>),
}

/// Keys and values, sorted by key.
pub(super) type Entries<'a> = Vec<(Value<'a>, Value<'a>)>;

impl Str<'_> {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Owned(text) => text,
        }
    }
}

impl QuantityValue<'_> {
    pub(super) fn get(&self) -> &Quantity {
        match self {
            Self::Borrowed(quantity) => quantity,
            Self::Owned(quantity) | Self::Sum(quantity) => quantity,
        }
    }
}

impl<'a> List<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Ints(list) => list.len(),
            Self::Bools(list) => list.len(),
            Self::Strings(list) | Self::Versions(list) => list.len(),
            Self::Values(list) => list.len(),
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            Self::Ints(list) => list.get(index).map(|value| Value::Int(*value)),
            Self::Bools(list) => list.get(index).map(|value| Value::Bool(*value)),
            Self::Strings(list) => list.get(index).map(|value| Value::Str(Str::Borrowed(value))),
            // The device was refused before if this is no version.
            Self::Versions(list) => list.get(index).and_then(|value| Semver::parse(value).ok()).map(Value::from),
            Self::Values(list) => list.get(index).cloned(),
        }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = Value<'a>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

impl<'a> Map<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Device(_) => 4,
            Self::Attributes(map) => map.len(Which::Attributes),
            Self::Capacity(map) => map.len(Which::Capacity),
            Self::Empty => 0,
            Self::Entries(entries) => entries.len(),
        }
    }

    /// The value that a lookup gives.
    pub(super) fn find(&self, key: &Value<'_>) -> Option<Value<'a>> {
        match self {
            Self::Device(device) => device.field(key.as_str()?),
            Self::Attributes(map) => map.find(Which::Attributes, key.as_str()?),
            Self::Capacity(map) => map.find(Which::Capacity, key.as_str()?),
            Self::Empty => None,
            Self::Entries(entries) => find_entry(entries, key),
        }
    }

    /// Whether the key is really there.
    pub(super) fn contains(&self, key: &Value<'_>) -> bool {
        match self {
            Self::Attributes(map) => key.as_str().is_some_and(|key| map.contains(Which::Attributes, key)),
            Self::Capacity(map) => key.as_str().is_some_and(|key| map.contains(Which::Capacity, key)),
            Self::Device(_) | Self::Empty | Self::Entries(_) => self.find(key).is_some(),
        }
    }

    /// Sorted by key.
    pub(super) fn entries(&self) -> Entries<'a> {
        match self {
            Self::Device(device) => {
                let fields = ["allowMultipleAllocations", "attributes", "capacity", "driver"];
                let entry = |name: &'static str| Some((Value::Str(Str::Borrowed(name)), device.field(name)?));
                fields.into_iter().filter_map(entry).collect()
            }
            Self::Attributes(map) => map.entries(Which::Attributes),
            Self::Capacity(map) => map.entries(Which::Capacity),
            Self::Empty => Vec::new(),
            Self::Entries(entries) => (**entries).clone(),
        }
    }
}

fn find_entry<'a>(entries: &Entries<'a>, key: &Value<'_>) -> Option<Value<'a>> {
    let exact = |key: &Value<'_>| {
        let found = entries.binary_search_by(|(entry, _)| key_order(entry, key)).ok()?;
        entries.get(found).map(|(_, value)| value.clone())
    };
    exact(key).or_else(|| match key {
        Value::Double(value) => to_i64(*value)
            .and_then(|value| exact(&Value::Int(value)))
            .or_else(|| to_u64(*value).and_then(|value| exact(&Value::Uint(value)))),
        Value::Int(value) => u64::try_from(*value).ok().and_then(|value| exact(&Value::Uint(value))),
        Value::Uint(value) => i64::try_from(*value).ok().and_then(|value| exact(&Value::Int(value))),
        _ => None,
    })
}

/// The integer that equals the number.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the result is compared")]
pub(super) fn to_i64(value: f64) -> Option<i64> {
    let integer = value as i64;
    (value > i64::MIN as f64 && value < i64::MAX as f64 && (integer as f64).total_cmp(&(value + 0.0)).is_eq())
        .then_some(integer)
}

/// The unsigned integer that equals the number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the result is compared"
)]
pub(super) fn to_u64(value: f64) -> Option<u64> {
    let integer = value as u64;
    ((0.0..18_446_744_073_709_551_616.0).contains(&value) && (integer as f64).total_cmp(&(value + 0.0)).is_eq())
        .then_some(integer)
}

/// A total order of values as keys: values of one type by size, types apart. Equal means the same key to the reference.
pub(super) fn key_order(a: &Value<'_>, b: &Value<'_>) -> Ordering {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Int(a), Value::Int(b)) | (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
        (Value::Uint(a), Value::Uint(b)) => a.cmp(b),
        (Value::Double(a), Value::Double(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
        (Value::Str(a), Value::Str(b)) => a.as_str().cmp(b.as_str()),
        (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
        (Value::Type(a), Value::Type(b)) => a.cmp(b),
        (Value::Ip(a), Value::Ip(b)) => a.cmp(b),
        (Value::Cidr(a), Value::Cidr(b)) => a.cmp(b),
        // To the reference these are places in memory, so that two of them are never the same key.
        (Value::Quantity(_), Value::Quantity(_))
        | (Value::Url(_), Value::Url(_))
        | (Value::List(_), Value::List(_))
        | (Value::Map(_), Value::Map(_))
        | (Value::Optional(Some(_)), Value::Optional(_))
        | (Value::Optional(_), Value::Optional(Some(_))) => Ordering::Less,
        _ => a.rank().cmp(&b.rank()),
    }
}

impl<'a> Value<'a> {
    pub(super) fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Str(Str::Owned(text.into()))
    }

    pub(super) fn list(values: Vec<Value<'a>>) -> Self {
        Self::List(List::Values(Arc::new(values)))
    }

    pub(super) fn some(value: Value<'a>) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    pub(super) fn size(value: usize) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text.as_str()),
            _ => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Int(_) => 2,
            Self::Uint(_) => 3,
            Self::Double(_) => 4,
            Self::Str(_) => 5,
            Self::Bytes(_) => 6,
            Self::Duration(_) => 7,
            Self::Timestamp(_) => 8,
            Self::Type(_) => 9,
            Self::List(_) => 10,
            Self::Map(_) => 11,
            Self::Optional(_) => 12,
            Self::Quantity(_) => 13,
            Self::Semver(_) => 14,
            Self::Ip(_) => 15,
            Self::Cidr(_) => 16,
            Self::Url(_) => 17,
            Self::Format(_) => 18,
            Self::Broken(_) => 19,
        }
    }

    /// An optional's value after the reference up to 1.36 passed it on: it becomes a Go value and that a value again, which fails for
    /// most types of Kubernetes. The optional then holds the error.
    pub(super) fn through_go(&self) -> Self {
        let broken = |name: &str, value: &Self| {
            Self::Broken(format!("unsupported conversion to ref.Val: ({name}){value}").into())
        };
        match self {
            Self::Quantity(_) => broken("*resource.Quantity", self),
            Self::Semver(_) => broken("semver.Version", self),
            Self::Ip(_) => broken("netip.Addr", self),
            Self::Cidr(_) => broken("netip.Prefix", self),
            Self::Url(_) => broken("*url.URL", self),
            Self::Type(name) => Self::Str(Str::Borrowed(name)),
            Self::Optional(None) => Self::Null,
            Self::Optional(Some(value)) => value.through_go(),
            other => other.clone(),
        }
    }

    /// The value, or the error that is in its place.
    pub(super) fn sound(self) -> Eval<Self> {
        match self {
            Self::Broken(message) => Err(Fault::Error(message.to_string().into())),
            value => Ok(value),
        }
    }

    /// The name of the value's type.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::Str(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Type(_) => "type",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Optional(_) => "optional_type",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Url(_) => "kubernetes.URL",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Broken(_) => "error",
        }
    }

    /// Whether the value can be passed where a declaration says `wanted`. Of collections, the first element counts.
    pub(super) fn fits(&self, wanted: T) -> bool {
        match (wanted, self) {
            (T::Dyn | T::A | T::B, _) => true,
            (T::List(element), Self::List(list)) => list.get(0).is_none_or(|first| first.fits(*element)),
            (T::Map(key, value), Self::Map(map)) => {
                let entries = map.entries();
                entries.first().is_none_or(|(k, v)| k.fits(*key) && v.fits(*value))
            }
            (wanted, value) => wanted.name() == value.type_name(),
        }
    }

    /// What `size()` would say, 1 for everything without a size: the measure of costs.
    pub(super) fn cost_size(&self) -> u64 {
        let size = match self {
            Self::Str(text) if text.as_str().is_ascii() => text.as_str().len(),
            Self::Str(text) => text.as_str().chars().count(),
            Self::Bytes(bytes) => bytes.len(),
            Self::List(list) => list.len(),
            Self::Map(map) => map.len(),
            Self::Optional(Some(value)) => return value.cost_size(),
            Self::Ip(ip) => ip.byte_length(),
            Self::Cidr(cidr) => usize::from(cidr.prefix_length().div_ceil(8)),
            _ => 1,
        };
        u64::try_from(size).unwrap_or(u64::MAX)
    }

    /// Whether this is what the type has when nothing was set.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(value) => !value,
            Self::Int(value) | Self::Duration(value) => *value == 0,
            Self::Uint(value) => *value == 0,
            Self::Double(value) => value.abs() <= 0.0,
            Self::Str(text) => text.as_str().is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Timestamp(time) => time.is_zero(),
            Self::List(list) => list.len() == 0,
            Self::Map(map) => map.len() == 0,
            _ => false,
        }
    }
}

impl From<Semver> for Value<'_> {
    fn from(version: Semver) -> Self {
        Self::Semver(Arc::new(version))
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

/// As error messages show a value.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL_VALUE"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Uint(value) => write!(f, "{value}"),
            Self::Double(value) => f.write_str(&super::number::shortest(*value)),
            Self::Str(text) => f.write_str(text.as_str()),
            Self::Bytes(bytes) => write!(f, "{bytes:?}"),
            Self::Duration(nanos) => f.write_str(&super::time::duration_text(*nanos)),
            Self::Timestamp(time) => write!(f, "{time}"),
            Self::Type(name) => f.write_str(name),
            Self::List(list) => {
                f.write_str("[")?;
                for (position, value) in list.iter().enumerate() {
                    write!(f, "{}{value}", if position > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Map(map) => {
                f.write_str("{")?;
                for (position, (key, value)) in map.entries().into_iter().enumerate() {
                    write!(f, "{}{key}: {value}", if position > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
            Self::Optional(None) => f.write_str("optional.none()"),
            Self::Optional(Some(value)) => write!(f, "optional({value})"),
            Self::Quantity(quantity) => write!(f, "{}", quantity.get()),
            Self::Semver(version) => write!(f, "{version}"),
            Self::Ip(ip) => write!(f, "{ip}"),
            Self::Cidr(cidr) => write!(f, "{cidr}"),
            Self::Url(url) => write!(f, "{url}"),
            Self::Format(_) => f.write_str("format"),
            Self::Broken(message) => f.write_str(message),
        }
    }
}
