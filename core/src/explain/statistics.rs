//! What devices have for the attributes and capacities that a selector reads.

use std::collections::{BTreeMap, BTreeSet};

use super::literals::Literal;
use super::{AttributeStatistic, ValueCount};
use crate::api::quantity::{Format, Quantity};
use crate::api::slice::{AttributeValue, Device, find};
use crate::arrange::Arrange;
use crate::cel::{Field, Reads};
use crate::near::nearest_name as nearest;

/// Most values that are listed.
const MOST_VALUES: usize = 8;

/// A device with its driver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'c> {
    pub(crate) driver: &'c str,
    pub(crate) device: &'c Device,
}

/// Single fields that an expression reads; `None` where it cannot be told.
pub(crate) fn fields(reads: &Reads) -> Vec<&Field> {
    match reads {
        Reads::Everything => Vec::new(),
        Reads::Fields(fields) => fields.iter().filter(|field| is_single(field)).collect(),
    }
}

fn is_single(field: &Field) -> bool {
    matches!(field, Field::Attribute { .. } | Field::Capacity { .. } | Field::Driver | Field::AllowMultipleAllocations)
}

/// The field as selectors write it.
pub(crate) fn written(field: &Field) -> String {
    match field {
        Field::Driver => "device.driver".to_owned(),
        Field::AllowMultipleAllocations => "device.allowMultipleAllocations".to_owned(),
        Field::Attribute { domain, id } => format!("device.attributes[\"{domain}\"].{id}"),
        Field::AttributesOf(domain) => format!("device.attributes[\"{domain}\"]"),
        Field::Attributes => "device.attributes".to_owned(),
        Field::Capacity { domain, id } => format!("device.capacity[\"{domain}\"].{id}"),
        Field::CapacityOf(domain) => format!("device.capacity[\"{domain}\"]"),
        Field::Capacities => "device.capacity".to_owned(),
    }
}

/// What a device has for a field, in words.
pub(crate) fn value(subject: Subject<'_>, field: &Field) -> Option<String> {
    held(subject, field, &full_name(field)).map(Held::in_words)
}

/// What a device has for a field; two that are alike read alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Held<'c> {
    Driver(&'c str),
    Flag(bool),
    Attribute(&'c AttributeValue),
    /// All that is seen of the quantity, and the quantity.
    Capacity((i128, i32, Format, bool, Option<&'c str>), &'c Quantity),
}

/// The name under which a field stands in a device of another driver.
pub(crate) fn full_name(field: &Field) -> String {
    match field {
        Field::Attribute { domain, id } | Field::Capacity { domain, id } => format!("{domain}/{id}"),
        _ => String::new(),
    }
}

/// What a device has for a field of that full name.
pub(crate) fn held<'c>(subject: Subject<'c>, field: &Field, full: &str) -> Option<Held<'c>> {
    let Subject { driver, device } = subject;
    match field {
        Field::Driver => Some(Held::Driver(driver)),
        Field::AllowMultipleAllocations => Some(Held::Flag(device.allow_multiple_allocations == Some(true))),
        Field::Attribute { domain, id } => {
            let own = || (domain == driver).then(|| find(&device.attributes, id)).flatten();
            find(&device.attributes, full).or_else(own).map(|attribute| Held::Attribute(&attribute.value))
        }
        Field::Capacity { domain, id } => {
            let own = || (domain == driver).then(|| find(&device.capacity, id)).flatten();
            let found = find(&device.capacity, full).or_else(own);
            found.map(|capacity| Held::Capacity(capacity.value.identity(), &capacity.value))
        }
        Field::AttributesOf(_) | Field::Attributes | Field::CapacityOf(_) | Field::Capacities => None,
    }
}

impl Held<'_> {
    pub(crate) fn in_words(self) -> String {
        match self {
            Self::Driver(driver) => format!("\"{driver}\""),
            Self::Flag(flag) => flag.to_string(),
            Self::Attribute(value) => in_words(value),
            Self::Capacity(_, quantity) => quantity.to_string(),
        }
    }
}

/// A value as selectors would write it.
pub(crate) fn in_words(value: &AttributeValue) -> String {
    let texts = |values: &[String]| values.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ");
    match value {
        AttributeValue::Int(value) => value.to_string(),
        AttributeValue::Bool(value) => value.to_string(),
        AttributeValue::String(text) => format!("\"{text}\""),
        AttributeValue::Version(text) => text.clone(),
        AttributeValue::Ints(values) => format!("{values:?}"),
        AttributeValue::Bools(values) => format!("{values:?}"),
        AttributeValue::Strings(values) => format!("[{}]", texts(values)),
        AttributeValue::Versions(values) => format!("[{}]", values.join(", ")),
        AttributeValue::Unsupported => "a value of no known type".to_owned(),
    }
}

/// What devices have for fields, in their order, from what was counted of them.
/// All devices are looked at only where none has a field.
pub(crate) fn statistics<'c>(
    subjects: &dyn Fn() -> Vec<Subject<'c>>,
    fields: &[Field],
    counted: &Counted<'c>,
) -> Vec<AttributeStatistic> {
    let statistic = |(field, alike): (&Field, &BTreeMap<Held<'c>, u64>)| {
        let mut values = by_frequency(&mut alike.iter().map(|(held, number)| (held.in_words(), *number)));
        let present = alike.values().fold(0u64, |sum, count| sum.saturating_add(*count));
        values.truncate(MOST_VALUES);
        let values = values.into_iter().map(|(value, devices)| ValueCount { value, devices }).collect();
        let did_you_mean = (present == 0).then(|| likely(&subjects(), field)).flatten().map(|field| written(&field));
        AttributeStatistic { name: written(field), present, devices: counted.devices, values, did_you_mean }
    };
    fields.iter().zip(&counted.by_field).map(statistic).collect()
}

/// How many devices have each value, field by field.
pub(crate) struct Counted<'c> {
    /// In the order of the fields.
    pub(crate) by_field: Vec<BTreeMap<Held<'c>, u64>>,
    /// How many devices were counted.
    pub(crate) devices: u64,
}

/// Counts what devices have for fields; each stands for so many that have the same.
pub(crate) fn counted<'c>(subjects: &[(Subject<'c>, u64)], fields: &[Field]) -> Counted<'c> {
    let full: Vec<String> = fields.iter().map(full_name).collect();
    let mut all: Vec<BTreeMap<Held<'_>, u64>> = vec![BTreeMap::new(); fields.len()];
    for (subject, number) in subjects {
        for ((field, full), counts) in fields.iter().zip(&full).zip(&mut all) {
            let Some(held) = held(*subject, field, full) else { continue };
            let count = counts.entry(held).or_default();
            *count = count.saturating_add(*number);
        }
    }
    let devices = subjects.iter().fold(0u64, |sum, (_, number)| sum.saturating_add(*number));
    Counted { by_field: all, devices }
}

/// Values that were counted, by the kind of constant that they can stand for; most frequent first.
pub(crate) fn offers(counted: &Counted<'_>) -> Vec<(Literal, Vec<String>)> {
    let text = |held: &Held<'_>, kind: Literal| match (held, kind) {
        (Held::Capacity(_, quantity), Literal::Quantity) => Some(quantity.to_string()),
        (Held::Driver(driver), Literal::Text) => Some((*driver).to_owned()),
        (Held::Attribute(AttributeValue::String(text)), Literal::Text)
        | (Held::Attribute(AttributeValue::Version(text)), Literal::Version) => Some(text.clone()),
        (Held::Attribute(AttributeValue::Int(number)), Literal::Integer) => Some(number.to_string()),
        _ => None,
    };
    let kinds = [Literal::Quantity, Literal::Version, Literal::Text, Literal::Integer];
    let of_kind = |kind| {
        let values = counted.by_field.iter().flatten();
        let values = values.filter_map(|(held, number)| Some((text(held, kind)?, *number)));
        (kind, by_frequency(&mut { values }).into_iter().map(|(text, _)| text).collect())
    };
    kinds.into_iter().map(of_kind).collect()
}

/// Values with their numbers summed up, most frequent first.
fn by_frequency(values: &mut dyn Iterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (value, number) in values {
        let count = counts.entry(value).or_default();
        *count = count.saturating_add(number);
    }
    let mut all: Vec<(String, u64)> = counts.into_iter().collect();
    all.arrange_by_key(|(_, count)| std::cmp::Reverse(*count));
    all
}

/// The field that was probably meant by one that no device has: the same name as a capacity instead of an attribute, in another
/// domain, or spelled a little differently.
pub(crate) fn likely(subjects: &[Subject<'_>], field: &Field) -> Option<Field> {
    let (is_attribute, domain, id) = match field {
        Field::Attribute { domain, id } => (true, domain, id),
        Field::Capacity { domain, id } => (false, domain, id),
        _ => return None,
    };
    fn split<'c>(driver: &'c str, name: &'c str) -> (&'c str, &'c str) {
        name.split_once('/').unwrap_or((driver, name))
    }
    let mut names = [BTreeSet::new(), BTreeSet::new()];
    for Subject { driver, device } in subjects {
        names[0].extend(device.attributes.keys().map(|name| split(driver, name)));
        names[1].extend(device.capacity.keys().map(|name| split(driver, name)));
    }
    let owned = |names: BTreeSet<(&str, &str)>| -> Vec<(String, String)> {
        names.into_iter().map(|(domain, id)| (domain.to_owned(), id.to_owned())).collect()
    };
    let [attributes, capacities] = names.map(owned);
    let (same, other) = if is_attribute { (&attributes, &capacities) } else { (&capacities, &attributes) };
    let make = |is_attribute: bool, (domain, id): &(String, String)| match is_attribute {
        true => Field::Attribute { domain: domain.clone(), id: id.clone() },
        false => Field::Capacity { domain: domain.clone(), id: id.clone() },
    };
    let wanted = (domain.clone(), id.clone());
    if other.contains(&wanted) {
        return Some(make(!is_attribute, &wanted));
    }
    let of_domain: Vec<String> = same.iter().filter(|name| name.0 == *domain).map(|name| name.1.clone()).collect();
    let by_case = of_domain.iter().find(|name| name.eq_ignore_ascii_case(id));
    if let Some(near) = by_case.map(String::as_str).or_else(|| nearest(id, of_domain.iter())) {
        return Some(make(is_attribute, &(domain.clone(), near.to_owned())));
    }
    if let Some(found) = same.iter().find(|name| name.1 == *id) {
        return Some(make(is_attribute, found));
    }
    other.iter().find(|name| name.1 == *id).map(|found| make(!is_attribute, found))
}
