//! Where in `device` a value comes from, and how large the device's parts can be.

use std::cell::RefCell;
use std::rc::Rc;

use super::range::Range;

/// A path of names.
///
/// It grows the way slices of the reference's language do: a longer path may share memory with the one it was made from,
/// so that a second extension of one path changes the first. Estimates depend on that.
#[derive(Clone, Default)]
pub(super) struct Path {
    names: Rc<RefCell<Vec<Rc<str>>>>,
    length: usize,
    capacity: usize,
}

impl Path {
    pub(super) fn of(name: &str) -> Self {
        Self::default().with(name)
    }

    /// The path with one more name.
    pub(super) fn with(&self, name: &str) -> Self {
        let name: Rc<str> = name.into();
        let length = self.length.saturating_add(1);
        if self.length < self.capacity {
            let mut names = self.names.borrow_mut();
            match names.get_mut(self.length) {
                Some(place) => *place = name,
                None => names.push(name),
            }
            return Self { names: Rc::clone(&self.names), length, capacity: self.capacity };
        }
        let mut names: Vec<Rc<str>> = self.names.borrow().iter().take(self.length).cloned().collect();
        names.push(name);
        let capacity = self.capacity.saturating_mul(2).max(length);
        Self { names: Rc::new(RefCell::new(names)), length, capacity }
    }

    /// A copy that shares nothing.
    pub(super) fn separate(&self, name: &str) -> Self {
        let mut names: Vec<Rc<str>> = self.names.borrow().iter().take(self.length).cloned().collect();
        names.push(name.into());
        let length = names.len();
        Self { names: Rc::new(RefCell::new(names)), length, capacity: length }
    }

    pub(super) fn starts_with(&self, name: &str) -> bool {
        self.length > 0 && self.names.borrow().first().is_some_and(|first| **first == *name)
    }

    /// How large what the path leads to can be, if that is declared.
    pub(super) fn declared_size(&self) -> Option<Range> {
        let names = self.names.borrow();
        let mut names = names.iter().take(self.length);
        if names.next().map(|first| &**first) != Some("device") {
            return None;
        }
        let mut place = Place::Device;
        for name in names {
            place = place.step(name)?;
        }
        Some(Range { min: 0, max: place.most() })
    }
}

/// A part of the device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Device,
    Driver,
    AllowMultipleAllocations,
    Attributes,
    AttributesOfDomain,
    Attribute,
    Capacities,
    CapacitiesOfDomain,
    Capacity,
    Domain,
    Id,
}

impl Place {
    fn step(self, name: &str) -> Option<Self> {
        Some(match (self, name) {
            (Self::Attributes, "@items" | "@values") => Self::AttributesOfDomain,
            (Self::AttributesOfDomain, "@items" | "@values") => Self::Attribute,
            (Self::Capacities, "@items" | "@values") => Self::CapacitiesOfDomain,
            (Self::CapacitiesOfDomain, "@items" | "@values") => Self::Capacity,
            (Self::Attributes | Self::Capacities, "@keys") => Self::Domain,
            (Self::AttributesOfDomain | Self::CapacitiesOfDomain, "@keys") => Self::Id,
            (_, "@items" | "@values" | "@keys") => return None,
            (Self::Device, "driver") => Self::Driver,
            (Self::Device, "attributes") => Self::Attributes,
            (Self::Device, "capacity") => Self::Capacities,
            (Self::Device, "allowMultipleAllocations") => Self::AllowMultipleAllocations,
            (Self::AttributesOfDomain, _) => Self::Attribute,
            _ => return None,
        })
    }

    fn most(self) -> u64 {
        match self {
            Self::Device | Self::Capacity => 0,
            Self::AllowMultipleAllocations => 1,
            Self::Attributes | Self::AttributesOfDomain | Self::Capacities | Self::CapacitiesOfDomain | Self::Id => 32,
            Self::Driver | Self::Domain => 63,
            Self::Attribute => 64,
        }
    }
}
