//! The variable `device`, read from the API object without copying.

use std::collections::BTreeMap;

use super::semver::Semver;
use super::value::{Entries, Eval, List, Map, QuantityValue, Str, Value, fail};
use crate::api::slice::{Attribute, AttributeValue, DeviceCapacity, find};
use crate::arrange::Arrange;

/// The device that an expression is evaluated for.
#[derive(Clone, Copy, Debug)]
pub struct DeviceView<'a> {
    /// The name of the driver: the domain of attributes and capacities that name none.
    pub driver: &'a str,
    /// Attributes by name, `domain/id` or `id`.
    pub attributes: &'a BTreeMap<String, Attribute>,
    /// Capacities by name, `domain/id` or `id`.
    pub capacity: &'a BTreeMap<String, DeviceCapacity>,
    /// Whether several allocations may share the device.
    pub allow_multiple_allocations: bool,
}

/// The attributes or the capacities of a device: a map by domain, or by id within one domain that the device has.
#[derive(Clone, Copy)]
pub(super) struct DeviceMap<'a> {
    device: &'a DeviceView<'a>,
    /// `None`: all domains.
    domain: Option<&'a str>,
}

/// Whether selectors can be evaluated for a device with these attributes at all: each has a value of a known type.
pub(crate) fn are_usable(attributes: &BTreeMap<String, Attribute>, has_lists: bool) -> bool {
    let capacity = BTreeMap::new();
    let device = DeviceView { driver: "", attributes, capacity: &capacity, allow_multiple_allocations: false };
    device.problem(has_lists).is_none()
}

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Which {
    Attributes,
    Capacity,
}

/// What the first steps from the device come to, where they are constants.
pub(super) enum Direct {
    /// `device.driver`.
    Driver,
    /// `device.allowMultipleAllocations`.
    AllowMultipleAllocations,
    /// One attribute or capacity.
    Named(Named),
}

/// One attribute or capacity, named in the expression.
pub(super) struct Named {
    which: Which,
    domain: Box<str>,
    id: Box<str>,
    /// Domain and id.
    name: Box<str>,
}

impl<'a> DeviceView<'a> {
    /// Why no expression can be evaluated for this device, if so.
    ///
    /// The reference converts all attributes first; one that cannot be converted fails even `true`.
    pub(super) fn problem(&self, has_lists: bool) -> Option<String> {
        self.attributes.iter().find_map(|(name, attribute)| {
            let bad = |versions: &[String]| {
                let error = versions.iter().find_map(|version| Semver::parse(version).err())?;
                Some(format!("parse semantic version: {error}"))
            };
            let unsupported = || Some("unsupported attribute value".to_owned());
            let problem = match &attribute.value {
                AttributeValue::Int(_) | AttributeValue::Bool(_) | AttributeValue::String(_) => None,
                AttributeValue::Version(version) => bad(std::slice::from_ref(version)),
                AttributeValue::Unsupported => unsupported(),
                AttributeValue::Ints(_) | AttributeValue::Bools(_) | AttributeValue::Strings(_) if has_lists => None,
                AttributeValue::Versions(versions) if has_lists => bad(versions),
                AttributeValue::Ints(_)
                | AttributeValue::Bools(_)
                | AttributeValue::Strings(_)
                | AttributeValue::Versions(_) => unsupported(),
            };
            problem.map(|problem| format!("attribute {name}: {problem}"))
        })
    }

    /// A field of `device`.
    pub(super) fn field(&'a self, name: &str) -> Option<Value<'a>> {
        let map = DeviceMap { device: self, domain: None };
        match name {
            "driver" => Some(Value::Str(Str::Borrowed(self.driver))),
            "attributes" => Some(Value::Map(Map::Attributes(map))),
            "capacity" => Some(Value::Map(Map::Capacity(map))),
            "allowMultipleAllocations" => Some(Value::Bool(self.allow_multiple_allocations)),
            _ => None,
        }
    }

    fn value(&self, which: Which, name: &str) -> Option<Value<'a>> {
        match which {
            Which::Attributes => convert(find(self.attributes, name)?),
            Which::Capacity => Some(Value::Quantity(QuantityValue::Borrowed(&find(self.capacity, name)?.value))),
        }
    }
}

impl Direct {
    /// A field of `device` that is no map.
    pub(super) fn field(name: &str) -> Option<Self> {
        match name {
            "driver" => Some(Self::Driver),
            "allowMultipleAllocations" => Some(Self::AllowMultipleAllocations),
            _ => None,
        }
    }

    /// `device.attributes["domain"].id` and its other spellings.
    pub(super) fn named(field: &str, domain: &str, id: &str) -> Option<Self> {
        let which = match field {
            "attributes" => Which::Attributes,
            "capacity" => Which::Capacity,
            _ => return None,
        };
        let name = format!("{domain}/{id}").into();
        Some(Self::Named(Named { which, domain: domain.into(), id: id.into(), name }))
    }

    /// How many steps it stands for.
    pub(super) fn steps(&self) -> usize {
        match self {
            Self::Driver | Self::AllowMultipleAllocations => 1,
            Self::Named(_) => 3,
        }
    }

    /// The value, or the error of a missing one.
    pub(super) fn find<'a>(&self, device: &'a DeviceView<'a>) -> Eval<Value<'a>> {
        match self {
            Self::Driver => Ok(Value::Str(Str::Borrowed(device.driver))),
            Self::AllowMultipleAllocations => Ok(Value::Bool(device.allow_multiple_allocations)),
            Self::Named(named) => named.find(device),
        }
    }
}

impl Named {
    fn find<'a>(&self, device: &'a DeviceView<'a>) -> Eval<Value<'a>> {
        // A name is split at its first slash, so no name has this domain if there is one in it.
        let long = if self.domain.contains('/') { None } else { device.value(self.which, &self.name) };
        let has_short = *self.domain == *device.driver && !self.id.contains('/');
        let short = if has_short { device.value(self.which, &self.id) } else { None };
        // Two spellings of one name: the reference keeps either; here it is the later one.
        let found = if self.id > self.name { short.or(long) } else { long.or(short) };
        found.map_or_else(|| fail(format!("no such key: {}", self.id)), Ok)
    }
}

/// A name as domain and id.
fn split<'n>(name: &'n str, driver: &'n str) -> (&'n str, &'n str) {
    name.split_once('/').unwrap_or((driver, name))
}

fn convert(attribute: &Attribute) -> Option<Value<'_>> {
    Some(match &attribute.value {
        AttributeValue::Int(value) => Value::Int(*value),
        AttributeValue::Bool(value) => Value::Bool(*value),
        AttributeValue::String(text) => Value::Str(Str::Borrowed(text)),
        AttributeValue::Version(text) => Value::from(Semver::parse(text).ok()?),
        AttributeValue::Ints(list) => Value::List(List::Ints(list)),
        AttributeValue::Bools(list) => Value::List(List::Bools(list)),
        AttributeValue::Strings(list) => Value::List(List::Strings(list)),
        AttributeValue::Versions(list) => Value::List(List::Versions(list)),
        AttributeValue::Unsupported => return None,
    })
}

impl<'a> DeviceMap<'a> {
    fn names(self, which: Which) -> Names<'a> {
        match which {
            Which::Attributes => Names::Attributes(self.device.attributes.keys()),
            Which::Capacity => Names::Capacity(self.device.capacity.keys()),
        }
    }

    fn split(self, name: &'a str) -> (&'a str, &'a str) {
        split(name, self.device.driver)
    }

    fn in_domain(self, which: Which, domain: &'a str) -> Value<'a> {
        let map = Self { device: self.device, domain: Some(domain) };
        Value::Map(match which {
            Which::Attributes => Map::Attributes(map),
            Which::Capacity => Map::Capacity(map),
        })
    }

    /// The names of the device that belong to this map, without those that a later spelling replaces.
    fn members(self, which: Which) -> Vec<(&'a str, &'a str)> {
        let mut members: Vec<(&str, &str)> = Vec::new();
        for name in self.names(which) {
            let (domain, id) = self.split(name);
            let (key, is_member) = self.domain.map_or((domain, true), |wanted| (id, wanted == domain));
            if is_member {
                match members.iter_mut().find(|(known, _)| *known == key) {
                    // Two spellings of one name: the reference keeps either; here it is the later one.
                    Some(member) => member.1 = name,
                    None => members.push((key, name)),
                }
            }
        }
        members.arrange_by_key(|(key, _)| *key);
        members
    }

    pub(super) fn len(self, which: Which) -> usize {
        self.members(which).len()
    }

    pub(super) fn contains(self, which: Which, key: &str) -> bool {
        self.names(which).any(|name| {
            let (domain, id) = self.split(name);
            self.domain.map_or(domain == key, |wanted| wanted == domain && id == key)
        })
    }

    /// A domain is always found: one that the device does not have is empty.
    pub(super) fn find(self, which: Which, key: &str) -> Option<Value<'a>> {
        match self.domain {
            None => {
                let domain = self.names(which).map(|name| self.split(name).0).find(|domain| *domain == key);
                Some(domain.map_or(Value::Map(Map::Empty), |domain| self.in_domain(which, domain)))
            }
            Some(wanted) => {
                let name = self.names(which).filter(|name| self.split(name) == (wanted, key)).last()?;
                self.device.value(which, name)
            }
        }
    }

    pub(super) fn entries(self, which: Which) -> Entries<'a> {
        let entry = |(key, name): (&'a str, &'a str)| {
            let value =
                if self.domain.is_some() { self.device.value(which, name) } else { Some(self.in_domain(which, key)) };
            Some((Value::Str(Str::Borrowed(key)), value?))
        };
        self.members(which).into_iter().filter_map(entry).collect()
    }
}

enum Names<'a> {
    Attributes(std::collections::btree_map::Keys<'a, String, Attribute>),
    Capacity(std::collections::btree_map::Keys<'a, String, DeviceCapacity>),
}

impl<'a> Iterator for Names<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        match self {
            Self::Attributes(names) => names.next(),
            Self::Capacity(names) => names.next(),
        }
        .map(String::as_str)
    }
}
