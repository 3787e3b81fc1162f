//! Devices grouped by what selectors read of them.
//!
//! An index over the values of a few attributes and capacities: devices of one group agree on all of them. It says nothing
//! about which devices a selector accepts. A slice is looked at when a question first comes to it, and again after it changed.

use std::collections::BTreeMap;

use super::inventory::SliceEntry;
use super::slots::{SliceIdx, Slot};
use crate::api::quantity::Format;
use crate::api::slice::{AttributeValue, Device};
use crate::cel::{Field, Reads};

/// Position of a projection among those of one cluster.
pub(crate) type ProjectionIdx = usize;

/// All projections.
#[derive(Clone, Debug, Default)]
pub(super) struct Projections(Vec<Projection>);

/// One list of fields, and the devices grouped by them.
#[derive(Clone, Debug)]
struct Projection {
    fields: Vec<Name>,
    /// Number of each group, from 0.
    groups: BTreeMap<Vec<Part>, u32>,
    /// By slice: the group of each device; nothing for a slice that was not looked at.
    by_slice: Vec<Vec<u32>>,
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

/// One thing seen of a device.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Part {
    Driver(String),
    Flag(bool),
    Attribute(Option<AttributeValue>),
    Capacity(Option<(i128, i32, Format, bool, Option<String>)>),
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
        let known = self.0.iter().position(|projection| projection.fields == fields);
        Some(known.unwrap_or_else(|| {
            self.0.push(Projection { fields, groups: BTreeMap::new(), by_slice: Vec::new(), devices: 0 });
            self.0.len() - 1
        }))
    }

    /// The group of a device of a slice.
    pub(super) fn group(&mut self, projection: ProjectionIdx, entry: &SliceEntry, position: usize) -> Option<u32> {
        let projection = self.0.get_mut(projection)?;
        let slice = entry.index.position() as usize;
        let known = projection.by_slice.get(slice).filter(|groups| !groups.is_empty());
        if let Some(groups) = known {
            return groups.get(position).copied();
        }
        let devices = entry.slice.spec.devices.iter();
        let groups: Vec<u32> = devices.map(|device| projection.find(&entry.slice.spec.driver, device)).collect();
        if projection.by_slice.len() <= slice {
            projection.by_slice.resize(slice + 1, Vec::new());
        }
        projection.devices = projection.devices.saturating_add(groups.len());
        let group = groups.get(position).copied();
        if let Some(slot) = projection.by_slice.get_mut(slice) {
            *slot = groups;
        }
        group
    }

    /// Forgets a slice that is gone.
    pub(super) fn forget(&mut self, slice: SliceIdx) {
        for projection in &mut self.0 {
            if let Some(groups) = projection.by_slice.get_mut(slice.position() as usize) {
                projection.devices = projection.devices.saturating_sub(groups.len());
                groups.clear();
            }
        }
    }

    /// Starts anew where most groups are of devices long gone. Numbers of groups change, so not while a question is open.
    pub(super) fn tidy(&mut self) {
        const SPARE: usize = 1024;
        for projection in &mut self.0 {
            if projection.groups.len() > projection.devices.saturating_mul(2).saturating_add(SPARE) {
                projection.groups.clear();
                projection.by_slice.clear();
                projection.devices = 0;
            }
        }
    }
}

impl Projection {
    fn find(&mut self, driver: &str, device: &Device) -> u32 {
        let key = self.key(driver, device);
        let next = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        *self.groups.entry(key).or_insert(next)
    }

    /// Both spellings of a name in the driver's own domain are looked at. That may tell devices apart that an expression
    /// cannot, which costs an evaluation and changes nothing.
    fn key(&self, driver: &str, device: &Device) -> Vec<Part> {
        let mut key = vec![Part::Driver(driver.to_owned())];
        for name in &self.fields {
            match name {
                Name::AllowMultipleAllocations => {
                    key.push(Part::Flag(device.allow_multiple_allocations == Some(true)));
                }
                Name::Attribute { domain, id, full } => {
                    let value = |name: &String| device.attributes.get(name).map(|attribute| attribute.value.clone());
                    key.push(Part::Attribute(value(full)));
                    if domain == driver {
                        key.push(Part::Attribute(value(id)));
                    }
                }
                Name::Capacity { domain, id, full } => {
                    let value = |name: &String| {
                        let (mantissa, scale, format, is_small, text) = device.capacity.get(name)?.value.identity();
                        Some((mantissa, scale, format, is_small, text.map(str::to_owned)))
                    };
                    key.push(Part::Capacity(value(full)));
                    if domain == driver {
                        key.push(Part::Capacity(value(id)));
                    }
                }
            }
        }
        key
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
