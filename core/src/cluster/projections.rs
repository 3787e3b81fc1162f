//! Devices grouped by what selectors read of them.
//!
//! An index over the values of a few attributes and capacities: devices of one group agree on all of them. It says nothing
//! about which devices a selector accepts. A slice is looked at when a question first comes to it, and again after it changed.

use std::sync::Arc;

use super::inventory::SliceEntry;
use super::shared_map::SharedMap;
use super::slots::{Sheet, SliceIdx, Slot};
use crate::api::slice::{Attribute, AttributeValue, Device, DeviceCapacity, ResourceSliceSpec, find};
use crate::cel::{Field, Reads};

/// Position of a projection among those of one cluster.
pub(crate) type ProjectionIdx = usize;

/// All projections.
#[derive(Clone, Debug, Default)]
pub(super) struct Projections(Vec<Projection>);

/// One list of fields, and the devices grouped by them.
#[derive(Clone, Debug)]
struct Projection {
    fields: Arc<[Name]>,
    /// Number of each group, from 0, by what its devices have for the fields.
    groups: SharedMap<Vec<u8>, u32>,
    /// The groups of a slice's devices, in its order; nothing for a slice that was not looked at.
    by_slice: Sheet<Option<Arc<[u32]>>>,
    /// Devices in that.
    devices: usize,
}

/// A field whose value is looked up.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Name {
    AllowMultipleAllocations,
    Attribute { domain: String, id: String, full: String },
    Capacity { domain: String, id: String, full: String },
}

impl Projections {
    /// The projection on which an expression's answer depends; `None` where that is more than a few named fields.
    pub(super) fn of(&mut self, reads: &Reads) -> Option<ProjectionIdx> {
        let Reads::Fields(fields) = reads else {
            return None;
        };
        // The driver always counts.
        let names = fields.iter().filter(|field| **field != Field::Driver).map(Name::of);
        let fields = names.collect::<Option<Vec<Name>>>()?;
        let known = self.0.iter().position(|projection| *projection.fields == *fields);
        Some(known.unwrap_or_else(|| {
            let (groups, by_slice) = (SharedMap::default(), Sheet::default());
            self.0.push(Projection { fields: fields.into(), groups, by_slice, devices: 0 });
            self.0.len() - 1
        }))
    }

    /// The group of a device of a slice.
    pub(super) fn group(&mut self, projection: ProjectionIdx, entry: &SliceEntry, position: usize) -> Option<u32> {
        if let Some(groups) = self.groups(projection, entry) {
            return groups.get(position).copied();
        }
        self.0.get_mut(projection)?.add(entry);
        self.groups(projection, entry)?.get(position).copied()
    }

    fn groups(&self, projection: ProjectionIdx, entry: &SliceEntry) -> Option<&[u32]> {
        self.0.get(projection)?.by_slice.get(entry.index.position() as usize)?.as_deref()
    }

    /// The groups of all devices of a slice, in its order; `None` where none was asked for so far.
    pub(super) fn known_groups(&self, projection: ProjectionIdx, entry: &SliceEntry) -> Option<&[u32]> {
        self.groups(projection, entry).filter(|groups| !groups.is_empty())
    }

    /// Forgets a slice that is gone.
    pub(super) fn forget(&mut self, slice: SliceIdx) {
        for projection in &mut self.0 {
            let position = slice.position() as usize;
            if projection.by_slice.get(position).is_some_and(Option::is_some)
                && let Some(groups) = projection.by_slice.get_mut(position).and_then(Option::take)
            {
                projection.devices = projection.devices.saturating_sub(groups.len());
            }
        }
    }

    /// Starts anew where most groups are of devices long gone. Numbers of groups change, so not while a question is open.
    pub(super) fn tidy(&mut self) {
        const SPARE: usize = 1024;
        for projection in &mut self.0 {
            let most = projection.devices.saturating_mul(2).saturating_add(SPARE);
            if projection.groups.len() > most {
                projection.groups.clear();
                projection.by_slice.clear();
                projection.devices = 0;
            }
        }
    }
}

impl Projection {
    /// Adds the groups of a slice's devices, in its order.
    fn add(&mut self, entry: &SliceEntry) {
        let groups = self.groups(&entry.slice.spec);
        self.devices = self.devices.saturating_add(groups.len());
        let slice = entry.index.position() as usize;
        while self.by_slice.len() <= slice {
            self.by_slice.push(None);
        }
        if let Some(slot) = self.by_slice.get_mut(slice) {
            *slot = Some(groups.into());
        }
    }

    fn groups(&mut self, spec: &ResourceSliceSpec) -> Vec<u32> {
        let (mut key, mut before) = (Vec::new(), Vec::new());
        if self.fields.is_empty()
            && let Some(first) = spec.devices.first()
        {
            // Nothing but the driver counts.
            self.write_key(&mut key, &spec.driver, first);
            return vec![self.number(&key); spec.devices.len()];
        }
        let mut groups = Vec::with_capacity(spec.devices.len());
        let mut group = None;
        let mut last: Option<&Device> = None;
        for device in &spec.devices {
            let is_like = |other: &Device| {
                other.is_like(device) && other.allow_multiple_allocations == device.allow_multiple_allocations
            };
            // Neighbours are mostly alike.
            if !last.replace(device).is_some_and(is_like) {
                self.write_key(&mut key, &spec.driver, device);
                if group.is_none() || key != before {
                    group = Some(self.number(&key));
                }
                std::mem::swap(&mut key, &mut before);
            }
            groups.extend(group);
        }
        groups
    }

    /// The number of the group with a key.
    fn number(&mut self, key: &[u8]) -> u32 {
        if let Some(known) = self.groups.get(key) {
            return *known;
        }
        let next = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        self.groups.insert(key.to_vec(), next);
        next
    }

    /// Both spellings of a name in the driver's own domain are looked at. That may tell devices apart that an expression
    /// cannot, which costs an evaluation and changes nothing.
    fn write_key(&self, key: &mut Vec<u8>, driver: &str, device: &Device) {
        key.clear();
        let mut key = Key(key);
        key.text(driver);
        for name in self.fields.iter() {
            match name {
                Name::AllowMultipleAllocations => key.flag(device.allow_multiple_allocations == Some(true)),
                Name::Attribute { domain, id, full } => {
                    key.attribute(find(&device.attributes, full));
                    if domain == driver {
                        key.attribute(find(&device.attributes, id));
                    }
                }
                Name::Capacity { domain, id, full } => {
                    key.capacity(find(&device.capacity, full));
                    if domain == driver {
                        key.capacity(find(&device.capacity, id));
                    }
                }
            }
        }
    }
}

/// What a device has, as bytes that no other values give: every text and list is preceded by its length.
struct Key<'k>(&'k mut Vec<u8>);

impl Key<'_> {
    fn number(&mut self, number: i128) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    fn text(&mut self, text: &str) {
        self.length(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn length(&mut self, length: usize) {
        self.0.extend_from_slice(&u64::try_from(length).unwrap_or(u64::MAX).to_le_bytes());
    }

    fn list<T>(&mut self, values: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.length(values.len());
        values.iter().for_each(|value| write(self, value));
    }

    fn attribute(&mut self, attribute: Option<&Attribute>) {
        let Some(attribute) = attribute else { return self.0.push(0) };
        match &attribute.value {
            AttributeValue::Int(value) => {
                self.0.push(1);
                self.number(i128::from(*value));
            }
            AttributeValue::Bool(value) => {
                self.0.push(2);
                self.flag(*value);
            }
            AttributeValue::String(text) => {
                self.0.push(3);
                self.text(text);
            }
            AttributeValue::Version(text) => {
                self.0.push(4);
                self.text(text);
            }
            AttributeValue::Ints(values) => {
                self.0.push(5);
                self.list(values, |key, value| key.number(i128::from(*value)));
            }
            AttributeValue::Bools(values) => {
                self.0.push(6);
                self.list(values, |key, value| key.flag(*value));
            }
            AttributeValue::Strings(values) => {
                self.0.push(7);
                self.list(values, |key, value| key.text(value));
            }
            AttributeValue::Versions(values) => {
                self.0.push(8);
                self.list(values, |key, value| key.text(value));
            }
            AttributeValue::Unsupported => self.0.push(9),
        }
    }

    fn capacity(&mut self, capacity: Option<&DeviceCapacity>) {
        let Some(capacity) = capacity else { return self.0.push(0) };
        let (mantissa, scale, format, is_small, text) = capacity.value.identity();
        self.0.push(1);
        self.number(mantissa);
        self.number(i128::from(scale));
        self.0.push(format as u8);
        self.flag(is_small);
        self.flag(text.is_some());
        self.text(text.unwrap_or_default());
    }
}

impl Name {
    /// `None` for what takes a walk through all names.
    fn of(field: &Field) -> Option<Self> {
        let full = |domain: &str, id: &str| format!("{domain}/{id}");
        match field {
            Field::AllowMultipleAllocations => Some(Self::AllowMultipleAllocations),
            Field::Attribute { domain, id } => {
                Some(Self::Attribute { domain: domain.clone(), id: id.clone(), full: full(domain, id) })
            }
            Field::Capacity { domain, id } => {
                Some(Self::Capacity { domain: domain.clone(), id: id.clone(), full: full(domain, id) })
            }
            Field::Driver | Field::AttributesOf(_) | Field::Attributes | Field::CapacityOf(_) | Field::Capacities => {
                None
            }
        }
    }
}
