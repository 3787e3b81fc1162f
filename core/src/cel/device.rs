//! The variable `device`, read from the API object without copying.

use std::collections::BTreeMap;

use super::semver::Semver;
use super::value::{Entries, List, Map, QuantityValue, Str, Value};
use crate::api::slice::{Attribute, AttributeValue, DeviceCapacity};

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

/// A map of the device: by domain, or by id within one domain.
#[derive(Clone)]
pub(super) struct DeviceMap<'a> {
    device: &'a DeviceView<'a>,
    is_capacity: bool,
    /// `None`: all domains.
    domain: Option<Str<'a>>,
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
        let map = |is_capacity| Value::Map(Map::Of(DeviceMap { device: self, is_capacity, domain: None }));
        match name {
            "driver" => Some(Value::Str(Str::Borrowed(self.driver))),
            "attributes" => Some(map(false)),
            "capacity" => Some(map(true)),
            "allowMultipleAllocations" => Some(Value::Bool(self.allow_multiple_allocations)),
            _ => None,
        }
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
    fn names(&self) -> Names<'a> {
        if self.is_capacity {
            Names::Capacity(self.device.capacity.keys())
        } else {
            Names::Attributes(self.device.attributes.keys())
        }
    }

    fn value(&self, name: &str) -> Option<Value<'a>> {
        if self.is_capacity {
            let capacity = self.device.capacity.get(name)?;
            Some(Value::Quantity(QuantityValue::Borrowed(&capacity.value)))
        } else {
            convert(self.device.attributes.get(name)?)
        }
    }

    fn in_domain(&self, domain: &str) -> Value<'a> {
        let known = self.names().find_map(|name| {
            let (found, _) = split(name, self.device.driver);
            (found == domain).then_some(Str::Borrowed(found))
        });
        let domain = known.unwrap_or_else(|| Str::Owned(domain.into()));
        Value::Map(Map::Of(Self { device: self.device, is_capacity: self.is_capacity, domain: Some(domain) }))
    }

    /// The names of the device that belong to this map, without those that a later spelling replaces.
    fn members(&self) -> Vec<(&'a str, &'a str)> {
        let mut members: Vec<(&str, &str)> = Vec::new();
        for name in self.names() {
            let (domain, id) = split(name, self.device.driver);
            let (key, is_member) = match &self.domain {
                None => (domain, true),
                Some(wanted) => (id, wanted.as_str() == domain),
            };
            if is_member {
                match members.iter_mut().find(|(known, _)| *known == key) {
                    // Two spellings of one name: the reference keeps either; here it is the later one.
                    Some(member) => member.1 = name,
                    None => members.push((key, name)),
                }
            }
        }
        members.sort_unstable_by_key(|(key, _)| *key);
        members
    }

    pub(super) fn len(&self) -> usize {
        self.members().len()
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.names().any(|name| {
            let (domain, id) = split(name, self.device.driver);
            match &self.domain {
                None => domain == key,
                Some(wanted) => wanted.as_str() == domain && id == key,
            }
        })
    }

    /// A domain is always found: one that the device does not have is empty.
    pub(super) fn find(&self, key: &str) -> Option<Value<'a>> {
        let Some(wanted) = &self.domain else {
            return Some(self.in_domain(key));
        };
        let driver = self.device.driver;
        let name = self.names().filter(|name| split(name, driver) == (wanted.as_str(), key)).last()?;
        self.value(name)
    }

    pub(super) fn entries(&self) -> Entries<'a> {
        let entry = |(key, name): (&'a str, &'a str)| {
            let value = if self.domain.is_some() { self.value(name) } else { Some(self.in_domain(key)) };
            Some((Value::Str(Str::Borrowed(key)), value?))
        };
        self.members().into_iter().filter_map(entry).collect()
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
