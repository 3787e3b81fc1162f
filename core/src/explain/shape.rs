//! What two devices or nodes must agree on to be alike for a question.
//!
//! Alike is what cannot be told apart by the question, nor by the same question with selectors, taints or constraints left out, with
//! other values in selectors, or with less of a device asked for.

use std::collections::BTreeMap;

use super::ReasonKind;
use super::own::Compared;
use super::statistics::{Held, Subject};
use crate::allocate::inspect::{DeviceSeen, Obstacle, UnitSeen};
use crate::api::quantity::Quantity;
use crate::api::slice::{AttributeValue, TaintEffect};

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
    /// The number of a value, which is copied when it is new.
    pub(crate) fn number(&mut self, value: &T) -> u32 {
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

/// What is known of a device or of what stands in its way: what it is, and which.
type Fact = (u8, usize);

/// Devices and nodes that are alike.
#[derive(Default, Debug)]
pub(crate) struct Shapes {
    /// By what stands in the way, the values that constraints compare, and what the device shares with others.
    devices: Interned<Vec<Fact>>,
    texts: Interned<String>,
    values: Interned<AttributeValue>,
    amounts: Interned<Quantity>,
    taints: Interned<(String, String, TaintEffect)>,
    nodes: Interned<(Vec<u32>, Vec<u64>)>,
    key: Vec<Fact>,
}

impl Shapes {
    /// The number of all that a unit sees of a device.
    pub(crate) fn of_device(
        &mut self,
        obstacles: &[Obstacle<'_>],
        seen: &DeviceSeen<'_, '_>,
        unit: Option<&UnitSeen>,
        compared: Option<&Compared>,
    ) -> u32 {
        let device = seen.device;
        let shares = device.allow_multiple_allocations == Some(true);
        let draws = !device.consumes_counters.is_empty();
        self.key.clear();
        for obstacle in obstacles.iter().filter(|_| !shares && !draws) {
            self.key.extend(plain(obstacle, &mut self.taints));
        }
        if self.key.len() < obstacles.len() {
            self.key.clear();
            let texts = obstacles.iter().map(|obstacle| format!("{obstacle:?}"));
            self.key.extend(texts.map(|text| (9, self.texts.number(&text) as usize)));
        }
        let constraints = unit.map(|unit| unit.constraints.as_slice()).unwrap_or_default();
        for ((index, _), value) in constraints.iter().zip(seen.held) {
            let number = value.map_or(usize::MAX, |value| self.values.number(value) as usize);
            self.key.extend([(16, *index), (17, number)]);
        }
        // Other values in the place of a selector's would tell them apart.
        if let Some(compared) = compared.filter(|_| obstacles.iter().any(is_own_selector)) {
            let subject = Subject { driver: &seen.slice.spec.driver, device };
            for (index, held) in compared.held(subject).enumerate() {
                let number = held.map_or(usize::MAX, |held| self.number(held));
                self.key.extend([(20, index), (21, number)]);
            }
        }
        if draws {
            let text = format!("{}/{} {:?}", seen.slice.spec.driver, local_pool(seen), device.consumes_counters);
            self.key.push((18, self.texts.number(&text) as usize));
        }
        if shares {
            let text = format!("{:?}", device.capacity);
            self.key.push((19, self.texts.number(&text) as usize));
        }
        self.devices.number(&self.key)
    }

    /// The number of what a device has for a field.
    fn number(&mut self, held: Held<'_>) -> usize {
        let number = match held {
            Held::Driver(driver) => self.texts.number(&driver.to_owned()),
            Held::Flag(flag) => u32::from(flag),
            Held::Attribute(value) => self.values.number(value),
            Held::Capacity(_, amount) => self.amounts.number(amount),
        };
        number as usize
    }

    /// The number of a node: its devices in any order, all as long as there are units, and what each unit needs there.
    pub(crate) fn of_node(&mut self, devices: Vec<u32>, needs: Vec<u64>) -> u32 {
        self.nodes.number(&(devices, needs))
    }
}

/// Whether a selector of the request itself is in the way.
fn is_own_selector(obstacle: &Obstacle<'_>) -> bool {
    matches!(
        obstacle,
        Obstacle::SelectorFalse { of_class: false, .. } | Obstacle::SelectorFails { of_class: false, .. }
    )
}

/// An obstacle that two numbers describe.
fn plain(obstacle: &Obstacle<'_>, taints: &mut Interned<(String, String, TaintEffect)>) -> Option<Fact> {
    match obstacle {
        Obstacle::SelectorFalse { of_class, index } => Some((u8::from(*of_class), *index)),
        Obstacle::InUse => Some((2, 0)),
        Obstacle::OtherNode => Some((3, 0)),
        Obstacle::NeedsDriver => Some((4, 0)),
        Obstacle::SelectorFails { of_class, index, .. } => Some((5 + u8::from(*of_class), *index)),
        Obstacle::ConstraintMissing { constraint } => Some((7, *constraint)),
        Obstacle::Taint(taint) => {
            let taint = (taint.key.clone(), taint.value.clone(), taint.effect.clone());
            Some((8, taints.number(&taint) as usize))
        }
        Obstacle::FeatureOff { .. }
        | Obstacle::CapacityNever { .. }
        | Obstacle::CapacityShort { .. }
        | Obstacle::CounterShort { .. }
        | Obstacle::CounterNever { .. }
        | Obstacle::OtherGroup { .. } => None,
    }
}

/// The pool, unless it is the only node's own, of which every such node has one.
fn local_pool<'s>(seen: &DeviceSeen<'_, 's>) -> &'s str {
    let spec = &seen.slice.spec;
    if spec.node_name.as_ref() == Some(&spec.pool.name) { "" } else { &spec.pool.name }
}
