//! `matchAttribute` and `distinctAttribute` while devices are picked.
//!
//! Both are monotonic: what they refuse once, they refuse with more devices too.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Grid;
use super::failure::{Fatal, empty_constraint};
use super::plan::{Plan, Unit};
use super::pools::NodeDevice;
use super::quirks::Quirks;
use super::select::Derived;
use crate::api::claim::DeviceConstraint;
use crate::api::slice::{Attribute, AttributeValue};
use crate::cluster::selectors::SelectorProblem;
use crate::gather::Gather;

/// What a device has for an attribute. Sets are numbered; equal sets have equal numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Held {
    /// Not looked up yet.
    #[default]
    Unread,
    /// Nothing under that name.
    Missing,
    /// A value of no type that can be compared here, or a list without values. Where lists can be compared, no constraint accepts it.
    Strange,
    /// A set of values, not empty; a single value is a set of one.
    Set(u32),
}

impl Held {
    /// A number that only equal values have; at least 1.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::Unread => 1,
            Self::Missing => 2,
            Self::Strange => 3,
            Self::Set(number) => number.saturating_add(4),
        }
    }
}

/// One value. Values of different types are never equal; versions are compared as texts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Item<'c> {
    Int(i64),
    Bool(bool),
    String(Cow<'c, str>),
    Version(Cow<'c, str>),
}

/// The state of all constraints of a question on one node.
pub(super) struct Constraints<'c> {
    has_lists: bool,
    quirks: Quirks,
    constraints: Vec<Constraint<'c>>,
    /// Positions of the constraints that cover each unit, in the order of the claim; empty where there are none at all.
    by_unit: Vec<Vec<usize>>,
    held: Grid<Held>,
    /// By unit, device and attribute: what the unit computes of the device, or why that failed.
    derived: BTreeMap<(usize, usize), BTreeMap<String, Result<Held, SelectorProblem>>>,
    items: BTreeMap<Item<'c>, u32>,
    /// Sets of one value, of the types that most attributes have.
    singles: BTreeMap<Item<'c>, Held>,
    /// The latest of these.
    latest: Option<(Item<'c>, Held)>,
    sets: Vec<Vec<u32>>,
    set_numbers: BTreeMap<Vec<u32>, u32>,
    changes: Vec<Change>,
    /// Whether something happened that known defects of the reference would have done otherwise.
    met_defect: bool,
}

struct Constraint<'c> {
    attribute: &'c str,
    state: State,
}

enum State {
    Match {
        devices: u32,
        /// What all devices have in common; of no meaning without devices.
        common: Held,
    },
    Distinct {
        devices: u32,
        /// Values so far, each with the position of its request.
        values: Vec<(usize, Held)>,
    },
}

/// How to undo one accepted device for one constraint.
struct Change {
    constraint: usize,
    request: usize,
    /// Of `matchAttribute`: the common values before.
    common: Held,
}

/// Where the changes stood.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark(usize);

impl<'c> Constraints<'c> {
    pub(super) fn new(plan: &Plan<'c>, devices: usize, has_lists: bool, quirks: Quirks) -> Self {
        let mut constraints = Vec::new();
        let has_any = plan.claims.iter().any(|claim| !claim.claim.spec.devices.constraints.is_empty());
        let mut by_unit = vec![Vec::new(); if has_any { plan.units.len() } else { 0 }];
        for claim in &plan.claims {
            for constraint in &claim.claim.spec.devices.constraints {
                let position = constraints.len();
                for request in plan.requests_of(claim) {
                    for unit in plan.units_of(request) {
                        if covers(constraint, &request.request.name, unit)
                            && let Some(list) = by_unit.get_mut(unit.index)
                        {
                            list.push(position);
                        }
                    }
                }
                constraints.extend(Constraint::new(constraint));
            }
        }
        let held = Grid::new(constraints.len(), devices);
        Self {
            has_lists,
            quirks,
            constraints,
            by_unit,
            held,
            derived: BTreeMap::new(),
            items: BTreeMap::new(),
            singles: BTreeMap::new(),
            latest: None,
            sets: Vec::new(),
            set_numbers: BTreeMap::new(),
            changes: Vec::new(),
            met_defect: false,
        }
    }

    /// Forgets all devices that were added; what they have for the attributes stays known.
    pub(super) fn start_over(&mut self) {
        for constraint in &mut self.constraints {
            constraint.state = match constraint.state {
                State::Match { .. } => State::Match { devices: 0, common: Held::Unread },
                State::Distinct { .. } => State::Distinct { devices: 0, values: Vec::new() },
            };
        }
        self.changes.clear();
    }

    /// How many different values were seen.
    pub(super) fn values(&self) -> usize {
        self.items.len()
    }

    /// How many constraints there are.
    pub(super) fn len(&self) -> usize {
        self.constraints.len()
    }

    /// Positions of the constraints that cover a unit.
    pub(super) fn covering(&self, unit: usize) -> &[usize] {
        self.by_unit.get(unit).map_or(&[], Vec::as_slice)
    }

    /// Whether a constraint is `matchAttribute`.
    pub(super) fn is_match(&self, constraint: usize) -> bool {
        matches!(self.constraints.get(constraint).map(|constraint| &constraint.state), Some(State::Match { .. }))
    }

    /// The numbers of the values in a set.
    pub(super) fn items(&self, held: Held) -> &[u32] {
        match held {
            Held::Set(number) => self.sets.get(number as usize).map_or(&[], Vec::as_slice),
            Held::Unread | Held::Missing | Held::Strange => &[],
        }
    }

    /// Appends all that a constraint remembers of the devices picked: what decides about further ones.
    pub(super) fn describe(&self, constraint: usize, key: &mut Vec<u32>) {
        match self.constraints.get(constraint).map(|constraint| &constraint.state) {
            None | Some(State::Match { devices: 0, .. }) => key.push(0),
            Some(State::Match { common, .. }) => key.push(common.number()),
            Some(State::Distinct { values, .. }) => {
                let first = key.len();
                key.extend(values.iter().map(|(_, held)| held.number()));
                if let Some(values) = key.get_mut(first..) {
                    values.sort_unstable();
                }
            }
        }
        key.push(u32::MAX);
    }

    /// Whether what the reference does wrong with constraints can show.
    pub(super) fn has_defects(&self) -> bool {
        let is_affected = |constraint: &Constraint<'_>| match constraint.state {
            State::Match { .. } => self.has_lists && self.quirks.list_match_restore,
            State::Distinct { .. } => self.quirks.distinct_per_device,
        };
        self.constraints.iter().any(is_affected)
    }

    /// Whether something happened so far that known defects of the reference would have done otherwise.
    pub(super) fn met_defect(&self) -> bool {
        self.met_defect
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.changes.len())
    }

    /// The expression by which a unit computes what a constraint looks at; `None` where the device's own attribute counts.
    pub(super) fn expression<'u>(&self, constraint: usize, unit: &Unit<'u>) -> Option<&'u str> {
        let attribute = self.constraints.get(constraint)?.attribute;
        let derived = unit.derived.iter().rev().find(|derived| derived.name == attribute)?;
        Some(&derived.expression)
    }

    /// Whether it is still to be computed what a unit sees of a device.
    pub(super) fn wants(&self, unit: &Unit<'_>, position: usize) -> bool {
        !unit.derived.is_empty()
            && !self.covering(unit.index).is_empty()
            && !self.derived.contains_key(&(unit.index, position))
    }

    /// Takes in what a unit computes of a device.
    pub(super) fn learn(&mut self, unit: &Unit<'_>, position: usize, derived: Derived) {
        let held = derived.into_iter().map(|(name, value)| (name, value.map(|value| self.owned_set_of(&value))));
        let held = held.gather();
        self.derived.insert((unit.index, position), held);
    }

    /// What a constraint sees of a device that is picked for a unit: first what the unit computes, then what the device has.
    ///
    /// # Errors
    ///
    /// The attribute that could not be computed, and why.
    pub(super) fn held_by(
        &mut self,
        constraint: usize,
        unit: &Unit<'_>,
        position: usize,
        device: &NodeDevice<'c>,
    ) -> Result<Held, (String, SelectorProblem)> {
        if !unit.derived.is_empty() {
            let attribute = self.constraints.get(constraint).map_or("", |constraint| constraint.attribute);
            let derived = self.derived.get(&(unit.index, position)).and_then(|derived| derived.get(attribute));
            match derived {
                Some(Ok(held)) => return Ok(*held),
                Some(Err(problem)) => return Err((attribute.to_owned(), problem.clone())),
                None => {}
            }
        }
        Ok(self.held(constraint, position, device))
    }

    /// Adds a device to every constraint that covers its unit; undone again if one of them refuses.
    ///
    /// # Errors
    ///
    /// The attribute that could not be computed, and why.
    pub(super) fn add(
        &mut self,
        unit: &Unit<'_>,
        position: usize,
        device: &NodeDevice<'c>,
    ) -> Result<bool, (String, SelectorProblem)> {
        let mark = self.mark();
        for index in 0..self.by_unit.get(unit.index).map_or(0, Vec::len) {
            let constraint = self.by_unit.get(unit.index).and_then(|list| list.get(index)).copied();
            let Some(constraint) = constraint else {
                break;
            };
            let held = match self.held_by(constraint, unit, position, device) {
                Ok(held) => held,
                Err(problem) => {
                    self.undo(mark);
                    return Err(problem);
                }
            };
            if !self.add_to(constraint, unit.request, held) {
                self.undo(mark);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Undoes everything since a mark.
    pub(super) fn undo(&mut self, mark: Mark) {
        while self.changes.len() > mark.0
            && let Some(change) = self.changes.pop()
        {
            let Some(constraint) = self.constraints.get_mut(change.constraint) else {
                continue;
            };
            match &mut constraint.state {
                State::Match { devices, common } => {
                    self.met_defect |= self.has_lists;
                    *devices = devices.saturating_sub(1);
                    if !self.quirks.list_match_restore {
                        *common = change.common;
                    }
                }
                State::Distinct { devices, values } => {
                    *devices = devices.saturating_sub(1);
                    if self.quirks.distinct_per_device {
                        values.retain(|(request, _)| *request != change.request);
                    } else {
                        values.pop();
                    }
                }
            }
        }
    }

    /// Forgets how to undo what was done since a mark; the effect stays for good.
    pub(super) fn leak(&mut self, mark: Mark) {
        self.changes.truncate(mark.0);
    }

    fn add_to(&mut self, index: usize, request: usize, held: Held) -> bool {
        let Some(constraint) = self.constraints.get(index) else {
            return true;
        };
        let (before, after) = match &constraint.state {
            _ if held == Held::Missing || (held == Held::Strange && self.has_lists) => return false,
            // The first device is taken as it is.
            State::Match { devices: 0, common } => (*common, held),
            State::Match { common, .. } => {
                let before = *common;
                match self.intersection(before, held) {
                    Some(both) => (before, both),
                    None => return false,
                }
            }
            State::Distinct { devices: 0, .. } => (Held::Unread, held),
            State::Distinct { values, .. } => {
                let is_new = |other: &(usize, Held)| held != Held::Strange && !self.overlaps(held, other.1);
                if !values.iter().all(is_new) {
                    return false;
                }
                (Held::Unread, held)
            }
        };
        if let Some(constraint) = self.constraints.get_mut(index) {
            match &mut constraint.state {
                State::Match { devices, common } => {
                    *devices += 1;
                    *common = after;
                }
                State::Distinct { devices, values } => {
                    *devices += 1;
                    self.met_defect |= values.iter().any(|(of, _)| *of == request);
                    if self.quirks.distinct_per_device {
                        values.retain(|(of, _)| *of != request);
                    }
                    values.push((request, after));
                }
            }
        }
        self.changes.push(Change { constraint: index, request, common: before });
        true
    }

    /// The values in both, unless there are none.
    fn intersection(&mut self, a: Held, b: Held) -> Option<Held> {
        let (Held::Set(first), Held::Set(second)) = (a, b) else {
            return None;
        };
        if first == second {
            return Some(a);
        }
        let second = self.sets.get(second as usize)?;
        let both: Vec<u32> =
            self.sets.get(first as usize)?.iter().filter(|item| second.contains(item)).copied().collect();
        (!both.is_empty()).then(|| self.number(both))
    }

    fn overlaps(&self, a: Held, b: Held) -> bool {
        let (Held::Set(first), Held::Set(second)) = (a, b) else {
            return false;
        };
        let sets = self.sets.get(first as usize).zip(self.sets.get(second as usize));
        first == second || sets.is_some_and(|(first, second)| first.iter().any(|item| second.contains(item)))
    }

    fn number(&mut self, set: Vec<u32>) -> Held {
        if let Some(known) = self.set_numbers.get(&set) {
            return Held::Set(*known);
        }
        let number = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        self.sets.push(set.clone());
        self.set_numbers.insert(set, number);
        Held::Set(number)
    }

    /// What a device has for the attribute of a constraint.
    fn held(&mut self, constraint: usize, position: usize, device: &NodeDevice<'c>) -> Held {
        let known = self.held.get(constraint, position);
        if known != Held::Unread {
            return known;
        }
        let attribute = self.constraints.get(constraint).map_or("", |constraint| constraint.attribute);
        let held = match lookup(device, attribute) {
            None => Held::Missing,
            Some(attribute) => self.set_of(&attribute.value),
        };
        self.held.set(constraint, position, held);
        held
    }

    fn set_of(&mut self, value: &'c AttributeValue) -> Held {
        let single = match value {
            AttributeValue::Int(value) => Some(Item::Int(*value)),
            AttributeValue::String(value) => Some(Item::String(Cow::Borrowed(value))),
            _ => None,
        };
        let Some(item) = single else {
            return self.any_set_of(value);
        };
        // Devices with equal values mostly follow one another.
        if let Some((_, held)) = self.latest.as_ref().filter(|(latest, _)| *latest == item) {
            return *held;
        }
        let held = match self.singles.get(&item) {
            Some(held) => *held,
            None => {
                let held = self.any_set_of(value);
                self.singles.insert(item.clone(), held);
                held
            }
        };
        self.latest = Some((item, held));
        held
    }

    fn any_set_of(&mut self, value: &'c AttributeValue) -> Held {
        match items(value, self.has_lists, &|text: &'c str| Cow::Borrowed(text)) {
            Some(items) => self.number_items(items),
            None => Held::Strange,
        }
    }

    fn owned_set_of(&mut self, value: &AttributeValue) -> Held {
        match items(value, self.has_lists, &|text: &str| Cow::Owned(text.to_owned())) {
            Some(items) => self.number_items(items),
            None => Held::Strange,
        }
    }

    fn number_items(&mut self, items: Vec<Item<'c>>) -> Held {
        let mut numbers = Vec::new();
        for item in items {
            let next = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
            numbers.push(*self.items.entry(item).or_insert(next));
        }
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() { Held::Strange } else { self.number(numbers) }
    }
}

/// The values of an attribute; `None` where they cannot be compared.
fn items<'v, 'c>(
    value: &'v AttributeValue,
    has_lists: bool,
    text: &dyn Fn(&'v str) -> Cow<'c, str>,
) -> Option<Vec<Item<'c>>> {
    Some(match value {
        AttributeValue::Int(value) => vec![Item::Int(*value)],
        AttributeValue::Bool(value) => vec![Item::Bool(*value)],
        AttributeValue::String(value) => vec![Item::String(text(value))],
        AttributeValue::Version(value) => vec![Item::Version(text(value))],
        AttributeValue::Unsupported => return None,
        _ if !has_lists => return None,
        AttributeValue::Ints(values) => values.iter().map(|value| Item::Int(*value)).collect(),
        AttributeValue::Bools(values) => values.iter().map(|value| Item::Bool(*value)).collect(),
        AttributeValue::Strings(values) => values.iter().map(|value| Item::String(text(value))).collect(),
        AttributeValue::Versions(values) => values.iter().map(|value| Item::Version(text(value))).collect(),
    })
}

impl<'c> Constraint<'c> {
    fn new(constraint: &'c DeviceConstraint) -> Option<Self> {
        let (attribute, state) = match (&constraint.match_attribute, &constraint.distinct_attribute) {
            (Some(attribute), _) => (attribute, State::Match { devices: 0, common: Held::Unread }),
            (None, Some(attribute)) => (attribute, State::Distinct { devices: 0, values: Vec::new() }),
            (None, None) => return None,
        };
        Some(Self { attribute, state })
    }
}

/// A constraint must say what it is about.
pub(super) fn check(claim: &crate::api::claim::ResourceClaim) -> Result<(), Fatal> {
    let is_empty =
        |constraint: &DeviceConstraint| constraint.match_attribute.is_none() && constraint.distinct_attribute.is_none();
    match claim.spec.devices.constraints.iter().position(is_empty) {
        Some(index) => Err(empty_constraint(claim, index)),
        None => Ok(()),
    }
}

/// Whether a constraint covers a unit of a request.
pub(super) fn covers(constraint: &DeviceConstraint, request: &str, unit: &Unit<'_>) -> bool {
    constraint.requests.is_empty()
        || constraint.requests.iter().any(|name| name == request || (unit.sub.is_some() && *name == unit.full_name))
}

/// The attribute of a fully qualified name.
pub(super) fn lookup<'c>(device: &NodeDevice<'c>, name: &str) -> Option<&'c Attribute> {
    device.device.attribute(&device.slice.spec.driver, name)
}
