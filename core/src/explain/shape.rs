//! What two devices or nodes must agree on to be alike for a question.
//!
//! Alike is what cannot be told apart by the question, nor by the same question with selectors, taints or constraints left out, or
//! with less of a device asked for.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::ReasonKind;
use crate::allocate::inspect::{DeviceSeen, Obstacle, UnitSeen};
use crate::api::slice::{AttributeValue, Device, TaintEffect};

/// Values by number, in the order in which they came.
#[derive(Clone, Debug)]
pub(crate) struct Interned<T> {
    numbers: BTreeMap<T, u32>,
    values: Vec<T>,
    /// The number given last.
    last: u32,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { numbers: BTreeMap::new(), values: Vec::new(), last: 0 }
    }
}

impl<T: Ord + Clone> Interned<T> {
    /// The number of a value.
    pub(crate) fn number(&mut self, value: T) -> u32 {
        self.number_of(&value)
    }

    /// The same of a value that is copied when it is new.
    pub(crate) fn number_of(&mut self, value: &T) -> u32 {
        if self.get(self.last) == Some(value) {
            return self.last;
        }
        if let Some(known) = self.numbers.get(value) {
            self.last = *known;
            return *known;
        }
        self.last = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.numbers.insert(value.clone(), self.last);
        self.values.push(value.clone());
        self.last
    }

    /// How many values there are.
    pub(crate) const fn count(&self) -> usize {
        self.values.len()
    }

    /// The values in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.values.iter()
    }

    /// The value of a number.
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.values.get(number as usize)
    }
}

/// A reason without the amounts that differ from device to device.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Mark {
    pub(crate) kind: ReasonKind,
    /// Position of the selector or constraint.
    pub(crate) index: usize,
    /// Whether the selector is one of the class's.
    pub(crate) of_class: bool,
    /// Capacity, `set/counter`, taint or gate.
    pub(crate) name: String,
}

/// The reason that an obstacle is.
pub(crate) fn mark(obstacle: &Obstacle<'_>) -> Mark {
    let plain = |kind: ReasonKind| Mark { kind, index: 0, of_class: false, name: String::new() };
    match obstacle {
        Obstacle::SelectorFalse { of_class, index } => {
            let kind = if *of_class { ReasonKind::NotOfClass } else { ReasonKind::SelectorFalse };
            Mark { index: *index, of_class: *of_class, ..plain(kind) }
        }
        Obstacle::SelectorFails { of_class, index, .. } => {
            Mark { index: *index, of_class: *of_class, ..plain(ReasonKind::SelectorFails) }
        }
        Obstacle::OtherNode => plain(ReasonKind::OtherNode),
        Obstacle::FeatureOff { gate } => Mark { name: (*gate).to_owned(), ..plain(ReasonKind::FeatureOff) },
        Obstacle::NeedsDriver => plain(ReasonKind::NeedsDriver),
        Obstacle::ConstraintMissing { constraint } => {
            Mark { index: *constraint, ..plain(ReasonKind::ConstraintMissing) }
        }
        Obstacle::CapacityNever { name, .. } => Mark { name: name.clone(), ..plain(ReasonKind::CapacityNever) },
        Obstacle::Taint(taint) => Mark { name: super::words::taint(taint), ..plain(ReasonKind::Tainted) },
        Obstacle::InUse => plain(ReasonKind::InUse),
        Obstacle::CapacityShort { name, .. } => Mark { name: name.clone(), ..plain(ReasonKind::CapacityShort) },
        Obstacle::CounterShort { counter, .. } => Mark { name: counter.clone(), ..plain(ReasonKind::CounterShort) },
        Obstacle::CounterNever { counter, .. } => Mark { name: counter.clone(), ..plain(ReasonKind::CounterNever) },
        Obstacle::OtherGroup { set } => Mark { name: set.clone(), ..plain(ReasonKind::OtherGroup) },
    }
}

/// Devices and nodes that are alike.
#[derive(Default, Debug)]
pub(crate) struct Shapes {
    /// By what stands in the way and the values that constraints compare, where numbers say all of it.
    plain: BTreeMap<Vec<(u8, usize)>, u32>,
    texts: BTreeMap<String, u32>,
    values: Interned<AttributeValue>,
    taints: Interned<(String, String, TaintEffect)>,
    nodes: Interned<(Vec<u32>, Vec<u64>)>,
    key: Vec<(u8, usize)>,
    /// The key before, with its number.
    before: (Vec<(u8, usize)>, Option<u32>),
    next: u32,
}

impl Shapes {
    /// The number of all that a unit sees of a device.
    pub(crate) fn of_device(
        &mut self,
        obstacles: &[Obstacle<'_>],
        seen: &DeviceSeen<'_, '_>,
        unit: Option<&UnitSeen>,
    ) -> u32 {
        let device = seen.device;
        let constraints = unit.map(|unit| unit.constraints.as_slice()).unwrap_or_default();
        let next = self.next;
        if self.write_key(obstacles, seen, constraints) {
            // Neighbours are mostly alike.
            if let (before, Some(number)) = &self.before
                && *before == self.key
            {
                return *number;
            }
            let known = self.plain.get(&self.key).copied();
            self.before.0.clone_from(&self.key);
            self.before.1 = Some(known.unwrap_or(next));
            if let Some(known) = known {
                return known;
            }
            self.plain.insert(self.key.clone(), next);
        } else {
            let text = describe(obstacles, seen, device, constraints);
            if let Some(known) = self.texts.get(&text) {
                return *known;
            }
            self.texts.insert(text, next);
        }
        self.next = next.saturating_add(1);
        next
    }

    /// Writes what is seen of a device in numbers. False where they do not say all.
    fn write_key(
        &mut self,
        obstacles: &[Obstacle<'_>],
        seen: &DeviceSeen<'_, '_>,
        constraints: &[(usize, String)],
    ) -> bool {
        let device = seen.device;
        if !device.consumes_counters.is_empty() || device.allow_multiple_allocations == Some(true) {
            return false;
        }
        self.key.clear();
        for obstacle in obstacles {
            let Some(number) = plain(obstacle, &mut self.taints) else { return false };
            self.key.push(number);
        }
        for ((index, _), value) in constraints.iter().zip(seen.held) {
            let number = value.map_or(usize::MAX, |value| self.values.number_of(value) as usize);
            self.key.extend([(16, *index), (17, number)]);
        }
        true
    }

    /// The number of a node: its devices in any order, all as long as there are units, and what each unit needs there.
    pub(crate) fn of_node(&mut self, devices: Vec<u32>, needs: Vec<u64>) -> u32 {
        self.nodes.number((devices, needs))
    }
}

/// An obstacle that two numbers describe.
fn plain(obstacle: &Obstacle<'_>, taints: &mut Interned<(String, String, TaintEffect)>) -> Option<(u8, usize)> {
    match obstacle {
        Obstacle::SelectorFalse { of_class, index } => Some((u8::from(*of_class), *index)),
        Obstacle::InUse => Some((2, 0)),
        Obstacle::OtherNode => Some((3, 0)),
        Obstacle::NeedsDriver => Some((4, 0)),
        Obstacle::SelectorFails { of_class, index, .. } => Some((5 + u8::from(*of_class), *index)),
        Obstacle::ConstraintMissing { constraint } => Some((7, *constraint)),
        Obstacle::Taint(taint) => {
            let taint = (taint.key.clone(), taint.value.clone(), taint.effect.clone());
            Some((8, taints.number(taint) as usize))
        }
        Obstacle::FeatureOff { .. }
        | Obstacle::CapacityNever { .. }
        | Obstacle::CapacityShort { .. }
        | Obstacle::CounterShort { .. }
        | Obstacle::CounterNever { .. }
        | Obstacle::OtherGroup { .. } => None,
    }
}

fn describe(
    obstacles: &[Obstacle<'_>],
    seen: &DeviceSeen<'_, '_>,
    device: &Device,
    constraints: &[(usize, String)],
) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for obstacle in obstacles {
        let _ = write!(text, "{obstacle:?} ");
    }
    for ((index, _), value) in constraints.iter().zip(seen.held) {
        let _ = write!(text, "{index}={value:?} ");
    }
    if !device.consumes_counters.is_empty() {
        let _ = write!(text, "{}/{} {:?} ", seen.slice.spec.driver, local_pool(seen), device.consumes_counters);
    }
    if device.allow_multiple_allocations == Some(true) {
        let _ = write!(text, "{:?} ", device.capacity);
    }
    text
}

/// The pool, unless it is the only node's own, of which every such node has one.
fn local_pool<'s>(seen: &DeviceSeen<'_, 's>) -> &'s str {
    let spec = &seen.slice.spec;
    if spec.node_name.as_ref() == Some(&spec.pool.name) { "" } else { &spec.pool.name }
}
