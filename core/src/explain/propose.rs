//! Changes worth trying.
//!
//! A ladder is a list of changes of one kind to one thing, from the smallest to the largest: the first rung that helps is the one
//! to suggest.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, parts};
use super::literals::{Literal, literals, replaced};
use super::relax::{Trials, asked, drop_constraint};
use super::requests::{selectors, subjects};
use super::statistics::{Subject, fields, likely, of_field, value, written};
use super::survey::Standing;
use super::{DeviceDetail, Holder, ReasonKind, Request, detail};
use crate::allocate::DeviceId;
use crate::allocate::inspect::{DeviceSeen, NodeSeen, Observer, Obstacle, UnitSeen, inspect};
use crate::api::claim::ResourceClaim;
use crate::api::quantity::{Format, Quantity};
use crate::api::slice::{AttributeValue, DeviceCapacity};
use crate::cel::Field;
use crate::simulate::suggest::nearest;

/// Most values that are tried in the place of one constant.
const MOST_VALUES: usize = 24;

/// Most nodes of which the holders of devices are looked at.
const MOST_HELD_NODES: usize = 4;

/// Most claims that are tried as the one to free.
const MOST_HOLDERS: usize = 48;

type Found = (Vec<Change>, String);

/// All ladders of changes to the claims and their classes.
pub(super) fn ladders(trials: &mut Trials<'_>) -> Vec<Vec<Change>> {
    let units = trials.survey.units.clone();
    let claims = trials.case.question.claims.clone();
    let left = leftovers(trials);
    let mut ladders = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        let Some(claim) = claims.get(unit.claim) else { continue };
        let name = claim.metadata.name.clone();
        ladders.extend(expressions(trials, index, unit, claim));
        for taint in taints(trials, index) {
            ladders.push(vec![Change::Tolerate { claim: name.clone(), request: unit.name.clone(), taint }]);
        }
        for (capacity, amount) in asked(claim, &unit.name) {
            let lower = left.get(&(index, capacity.clone())).cloned().unwrap_or_default();
            let rung = |to: &Quantity| Change::LowerCapacity {
                claim: name.clone(),
                request: unit.name.clone(),
                name: capacity.clone(),
                from: amount.to_string(),
                to: to.to_string(),
            };
            let mut lower: Vec<Quantity> = lower.into_iter().filter(|one| *one < amount && one.signum() > 0).collect();
            lower.sort_by(|a, b| b.cmp(a));
            lower.dedup();
            ladders.push(lower.iter().map(rung).collect());
        }
        if !unit.is_all && unit.count > 1 {
            let rung =
                |to| Change::LowerCount { claim: name.clone(), request: unit.name.clone(), from: unit.count, to };
            ladders.push((1..unit.count).rev().map(rung).collect());
        }
    }
    for claim in &claims {
        let constraints = 0..claim.spec.devices.constraints.len();
        ladders.extend(constraints.map(|index| vec![drop_constraint(claim, index)]));
    }
    ladders.retain(|ladder| !ladder.is_empty());
    ladders
}

/// Ladders about the selectors of a unit and of its class.
fn expressions(trials: &mut Trials<'_>, index: usize, unit: &UnitSeen, claim: &ResourceClaim) -> Vec<Vec<Change>> {
    let (class, own) = selectors(trials.cluster, claim, unit);
    let text = |list: &[crate::api::claim::DeviceSelector]| -> Vec<String> {
        list.iter().map(|one| one.cel.as_ref().map(|cel| cel.expression.clone()).unwrap_or_default()).collect()
    };
    let (class, own) = (text(class), text(own));
    let is_empty = !has_devices(trials, index);
    let mut ladders = Vec::new();
    for (position, expression) in own.iter().enumerate() {
        let at = u64::try_from(position).unwrap_or(u64::MAX);
        let (claim, request) = (claim.metadata.name.clone(), unit.name.clone());
        let changed = other_expressions(trials, index, expression, is_empty);
        let rung = |to: String| Change::ChangeSelector {
            claim: claim.clone(),
            request: request.clone(),
            index: at,
            from: expression.clone(),
            to,
        };
        ladders.push(changed.into_iter().map(rung).collect());
        ladders.push(vec![Change::DropSelector { claim, request, index: at, expression: expression.clone() }]);
    }
    for (position, expression) in class.iter().enumerate().filter(|_| is_empty) {
        let at = u64::try_from(position).unwrap_or(u64::MAX);
        let mut changed = other_expressions(trials, index, expression, true);
        // A class is the administrator's: only slips of the keyboard are pointed out.
        changed.retain(|other| nearest(expression, std::iter::once(other)).is_some());
        let class = unit.class.clone();
        let rung = |to: String| Change::ChangeClass { class: class.clone(), index: at, from: expression.clone(), to };
        ladders.push(changed.into_iter().map(rung).collect());
    }
    ladders
}

/// Whether some device is of the class of a unit.
fn has_devices(trials: &Trials<'_>, unit: usize) -> bool {
    !subjects(trials.cluster, trials.survey, unit, false).is_empty()
}

/// Expressions that might have been meant: another name for what no device has, another constant.
fn other_expressions(trials: &mut Trials<'_>, unit: usize, expression: &str, takes_all: bool) -> Vec<String> {
    let mut memory = trials.cluster.lend_memory();
    let compiled = memory.selectors.program(trials.cluster.profile(), expression);
    let read: Vec<Field> = compiled.reads().map(fields).unwrap_or_default().into_iter().cloned().collect();
    trials.cluster.return_memory(memory);
    let cluster = &*trials.cluster;
    let all = subjects(cluster, trials.survey, unit, takes_all);
    let mut changed = Vec::new();
    for field in &read {
        let found = of_field(&all, field);
        if found.present > 0 {
            let (whole, count) = (written(field), u64::try_from(all.len()).unwrap_or(u64::MAX));
            if found.present < count && !expression.contains("has(") {
                changed.push(format!("has({whole}) && ({})", expression.trim()));
            }
            continue;
        }
        if let Some(meant) = likely(&all, field) {
            changed.extend(renamed(expression, field, &meant));
        }
    }
    let offers = offers(&all, &read);
    for (kind, place) in literals(expression) {
        let Some(before) = expression.get(place.clone()) else { continue };
        let values = ordered(kind, before, offers.get(&(kind as u8)).map(Vec::as_slice).unwrap_or_default());
        changed.extend(values.into_iter().filter_map(|value| replaced(expression, &place, &value)));
    }
    changed.retain(|one| one != expression);
    let mut seen = BTreeSet::new();
    changed.retain(|one| seen.insert(one.clone()));
    changed
}

/// The expression with another field in the place of one, in the spellings in which fields are written.
fn renamed(expression: &str, from: &Field, to: &Field) -> Option<String> {
    let (old, new) = (written(from), written(to));
    let accesses: [fn(&str) -> String; 4] = [
        |text| text.to_owned(),
        |text| text.replacen("].", "].?", 1),
        |text| text.replacen("[", "[?", 1).replacen("].", "].?", 1),
        |text| match text.rsplit_once("].") {
            Some((before, id)) => format!("{before}][\"{id}\"]"),
            None => text.to_owned(),
        },
    ];
    accesses.iter().find_map(|access| {
        ['"', '\''].into_iter().find_map(|quote| {
            let spell = |text: &str| access(text).replace('"', &quote.to_string());
            let old = spell(&old);
            expression.contains(&old).then(|| expression.replace(&old, &spell(&new)))
        })
    })
}

/// Values that devices have for what is read, by the kind of constant that they can stand for; most frequent first.
fn offers(all: &[Subject<'_>], read: &[Field]) -> BTreeMap<u8, Vec<String>> {
    let mut counts: BTreeMap<u8, BTreeMap<String, u64>> = BTreeMap::new();
    let mut add = |kind: Literal, value: String| {
        let count = counts.entry(kind as u8).or_default().entry(value).or_default();
        *count = count.saturating_add(1);
    };
    for subject in all {
        for field in read {
            match field {
                Field::Capacity { .. } => {
                    if let Some(text) = value(*subject, field) {
                        add(Literal::Quantity, text);
                    }
                }
                Field::Driver => add(Literal::Text, subject.driver.to_owned()),
                Field::Attribute { domain, id } => {
                    let attributes = &subject.device.attributes;
                    let own = || (domain == subject.driver).then(|| attributes.get(id)).flatten();
                    let found = attributes.get(&format!("{domain}/{id}")).or_else(own);
                    match found.map(|attribute| &attribute.value) {
                        Some(AttributeValue::String(text)) => add(Literal::Text, text.clone()),
                        Some(AttributeValue::Version(text)) => add(Literal::Version, text.clone()),
                        Some(AttributeValue::Int(number)) => add(Literal::Integer, number.to_string()),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }
    let sorted = |counts: BTreeMap<String, u64>| {
        let mut all: Vec<(String, u64)> = counts.into_iter().collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all.into_iter().map(|(text, _)| text).collect()
    };
    counts.into_iter().map(|(kind, counts)| (kind, sorted(counts))).collect()
}

/// Values in the order of trying: amounts by their distance from what is written, names by their likeness and then frequency.
fn ordered(kind: Literal, before: &str, offers: &[String]) -> Vec<String> {
    let mut values: Vec<String> = offers.iter().filter(|value| *value != before).cloned().collect();
    let distance = |value: &String| -> Option<Quantity> {
        let (a, b) = (Quantity::parse(before).ok()?, Quantity::parse(value).ok()?);
        Some(if a < b { b.saturating_sub(&a) } else { a.saturating_sub(&b) })
    };
    match kind {
        Literal::Quantity | Literal::Integer => {
            values.retain(|value| distance(value).is_some());
            values.sort_by_key(distance);
        }
        Literal::Text => {
            let is_same_word = |value: &String| !value.eq_ignore_ascii_case(before);
            values.sort_by_key(is_same_word);
        }
        Literal::Version => {}
    }
    values.truncate(MOST_VALUES);
    values
}

/// Taints that keep devices from a unit, on some node.
fn taints(trials: &mut Trials<'_>, unit: usize) -> BTreeSet<String> {
    struct Taints(usize, BTreeSet<String>);
    impl Observer for Taints {
        fn node(&mut self, _: &NodeSeen<'_>) -> bool {
            true
        }
        fn device(&mut self, unit: usize, _: &DeviceSeen<'_>, obstacles: &[Obstacle<'_>]) {
            let is_other = |obstacle: &Obstacle<'_>| matches!(obstacle, Obstacle::SelectorFalse { of_class: true, .. });
            let is_of_class = !obstacles.iter().any(is_other);
            for obstacle in obstacles.iter().filter(|_| unit == self.0 && is_of_class) {
                if let Obstacle::Taint(taint) = obstacle {
                    self.1.insert(super::words::taint(taint));
                }
            }
        }
        fn done(&mut self) {}
    }
    let mut taints = Taints(unit, BTreeSet::new());
    look(trials, &mut taints);
    taints.1
}

fn look(trials: &mut Trials<'_>, observer: &mut dyn Observer) {
    let question = crate::allocate::Question { nodes: trials.nodes.clone(), ..trials.case.question.clone() };
    if !question.nodes.is_empty() {
        inspect(trials.cluster, &question, observer);
    }
}

/// Amounts that devices could grant, by unit and capacity.
fn leftovers(trials: &mut Trials<'_>) -> BTreeMap<(usize, String), Vec<Quantity>> {
    #[derive(Default)]
    struct Left(BTreeMap<(usize, String), Vec<Quantity>>);
    impl Observer for Left {
        fn node(&mut self, _: &NodeSeen<'_>) -> bool {
            true
        }
        fn device(&mut self, unit: usize, device: &DeviceSeen<'_>, obstacles: &[Obstacle<'_>]) {
            for obstacle in obstacles {
                let (name, left) = match obstacle {
                    Obstacle::CapacityShort { name, left, .. } => (name, left.clone()),
                    Obstacle::CapacityNever { name, has: Some(has), .. } => (name, has.clone()),
                    _ => continue,
                };
                let Some(capacity) = device.device.capacity.get(name) else { continue };
                let list = self.0.entry((unit, name.clone())).or_default();
                for amount in grantable(capacity, left) {
                    if !list.contains(&amount) {
                        list.push(amount);
                    }
                }
            }
        }
        fn done(&mut self) {}
    }
    let mut left = Left::default();
    look(trials, &mut left);
    left.0
}

/// The largest amounts up to a bound that a capacity's policy allows.
fn grantable(capacity: &DeviceCapacity, left: Quantity) -> Vec<Quantity> {
    let Some(policy) = &capacity.request_policy else { return vec![left] };
    if !policy.valid_values.is_empty() {
        return policy.valid_values.iter().filter(|value| **value <= left).cloned().collect();
    }
    let Some(range) = &policy.valid_range else { return vec![left] };
    let left = match &range.max {
        Some(max) if *max < left => max.clone(),
        _ => left,
    };
    let number = |amount: &Quantity| amount.value_rounded_up();
    let (Some(min), Some(step)) = (&range.min, &range.step) else { return vec![left] };
    let (min, step) = (number(min), number(step));
    let over = left.as_i64().unwrap_or_else(|| number(&left).saturating_sub(1)).saturating_sub(min);
    match over.checked_rem(step) {
        Some(rest) if over >= 0 => {
            let amount = min.saturating_add(over.saturating_sub(rest));
            vec![Quantity::from_i64(amount, Format::BinarySi)]
        }
        _ => Vec::new(),
    }
}

/// Other classes with devices of the same drivers.
pub(super) fn other_classes(trials: &mut Trials<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    if !trials.cluster.profile().features.prioritized_list {
        return found;
    }
    let classes: Vec<String> = trials.cluster.classes().keys().take(16).cloned().collect();
    let units = trials.survey.units.clone();
    let claims = trials.case.question.claims.clone();
    for (index, unit) in units.iter().enumerate().filter(|(_, unit)| unit.sub.is_none()) {
        let Some(claim) = claims.get(unit.claim) else { continue };
        let drivers: BTreeSet<String> = subjects(trials.cluster, trials.survey, index, false)
            .iter()
            .map(|subject| subject.driver.to_owned())
            .collect();
        for class in classes.iter().filter(|class| **class != unit.class) {
            let change = Change::AddAlternative {
                claim: claim.metadata.name.clone(),
                request: unit.name.clone(),
                class: class.clone(),
            };
            // What the other requests get is of other drivers, too: all must be known ones.
            let others = others_drivers(trials, unit);
            if let Some((node, used)) = trials.helps_with(std::slice::from_ref(&change))
                && used.iter().all(|driver| drivers.contains(driver) || others.contains(driver))
            {
                found.push((vec![change], node));
            }
        }
    }
    found
}

/// Drivers of devices that other requests could have.
fn others_drivers(trials: &Trials<'_>, own: &UnitSeen) -> BTreeSet<String> {
    let units = trials.survey.units.iter().enumerate();
    let others = units.filter(|(_, unit)| (unit.claim, unit.request) != (own.claim, own.request));
    others
        .flat_map(|(index, _)| subjects(trials.cluster, trials.survey, index, false))
        .map(|subject| subject.driver.to_owned())
        .collect()
}

/// Nodes that were not asked, one suggestion for all of them.
pub(super) fn other_nodes(trials: &mut Trials<'_>) -> Option<Found> {
    const SHOWN: usize = 6;
    let mut fitting = Vec::new();
    let mut rest: Vec<String> = trials.case.other_nodes.clone();
    while !rest.is_empty() && fitting.len() < SHOWN {
        let Some(node) = trials.helps(&[Change::UseNodes { nodes: rest.clone() }]) else { break };
        rest.retain(|name| *name > node || (*name != node && !fitting.contains(name)));
        rest.retain(|name| *name != node);
        fitting.push(node);
    }
    let first = fitting.first()?.clone();
    Some((vec![Change::UseNodes { nodes: fitting }], first))
}

/// Claims whose devices would do: single ones, or the smallest set on one node.
pub(super) fn freed(trials: &mut Trials<'_>) -> Vec<Found> {
    const SHOWN: usize = 3;
    let nodes: Vec<String> = trials.nodes.iter().take(MOST_HELD_NODES).cloned().collect();
    let request = Request { nodes, ..Request::default() };
    let details = detail::details(trials.cluster, trials.case, &request);
    let mut by_node: Vec<Vec<Holder>> = Vec::new();
    for node in &details {
        let devices = node.requests.iter().flat_map(|request| &request.devices);
        let held: BTreeSet<Holder> = devices
            .filter(|device| is_only_held(device))
            .flat_map(|device| device.reasons.iter())
            .flat_map(|reason| reason.holders.clone())
            .collect();
        let own = &trials.case.own;
        let is_own = |holder: &Holder| holder.consumers.iter().any(|consumer| own.contains(consumer));
        let mut held: Vec<Holder> = held.into_iter().filter(|holder| !is_own(holder)).collect();
        held.sort_by_key(|holder| (holder.priority.unwrap_or_default(), holder.consumers.len(), holder.claim.clone()));
        by_node.push(held);
    }
    let mut found: Vec<Found> = Vec::new();
    let mut tried = BTreeSet::new();
    for holder in by_node.iter().flatten() {
        if found.len() >= SHOWN || tried.len() >= MOST_HOLDERS {
            break;
        }
        if tried.insert(holder.claim.clone()) {
            let change = free(holder);
            found.extend(trials.helps(std::slice::from_ref(&change)).map(|node| (vec![change], node)));
        }
    }
    if !found.is_empty() {
        return found;
    }
    for holders in by_node.iter().filter(|holders| holders.len() <= MOST_HOLDERS) {
        // The most important are kept where that is possible, so they are looked at first.
        let mut kept: Vec<Change> = holders.iter().rev().map(free).collect();
        let Some(mut node) = trials.helps(&kept) else { continue };
        let mut at = 0;
        while at < kept.len() {
            let mut rest = kept.clone();
            rest.remove(at);
            match trials.helps(&rest) {
                Some(fits) => {
                    node = fits;
                    kept = rest;
                }
                None => at = at.saturating_add(1),
            }
        }
        if !kept.is_empty() {
            kept.reverse();
            return vec![(kept, node)];
        }
    }
    found
}

fn free(holder: &Holder) -> Change {
    Change::FreeClaim { claim: holder.claim.clone(), consumers: holder.consumers.clone(), priority: holder.priority }
}

/// Whether nothing but other claims keeps a device away.
fn is_only_held(device: &DeviceDetail) -> bool {
    !device.reasons.is_empty()
        && device.reasons.iter().all(|reason| {
            matches!(
                reason.kind,
                ReasonKind::InUse | ReasonKind::CapacityShort | ReasonKind::CounterShort | ReasonKind::OtherGroup
            )
        })
}

/// The fewest devices that would have to be added to the nearest node.
pub(super) fn added(trials: &mut Trials<'_>) -> Option<Found> {
    let node = trials.nodes.first()?.clone();
    let units = trials.survey.units.clone();
    let claims = trials.case.question.claims.clone();
    for (index, unit) in units.iter().enumerate().filter(|(_, unit)| !unit.is_all) {
        let Some(claim) = claims.get(unit.claim) else { continue };
        let Some(like) = model(trials, index) else { continue };
        let mut copy = claim.clone();
        let wanted = parts(&mut copy.spec.devices, &unit.name)
            .map_or(unit.count, |parts| u64::try_from(*parts.count).unwrap_or(unit.count).max(1));
        for count in 1..=wanted.min(32) {
            let class = unit.class.clone();
            let change = Change::AddDevices { count, class, like: like.clone(), node: node.clone() };
            if let Some(node) = trials.helps(std::slice::from_ref(&change)) {
                return Some((vec![change], node));
            }
        }
    }
    None
}

/// A device that a unit would take if nobody else had it.
fn model(trials: &Trials<'_>, unit: usize) -> Option<DeviceId> {
    let is_held = |kind: ReasonKind| kind >= ReasonKind::OtherGroup;
    for entry in trials.cluster.inventory().all_slices() {
        for (device, index) in entry.slice.spec.devices.iter().zip(&entry.devices) {
            let is_model = match trials.survey.standing(unit, *index) {
                Standing::Usable => true,
                Standing::Kept { reason, .. } => {
                    trials.survey.reasons.get(reason).is_some_and(|mark| is_held(mark.kind))
                }
                Standing::Unseen => false,
            };
            if is_model {
                let spec = &entry.slice.spec;
                return Some(DeviceId {
                    driver: spec.driver.clone(),
                    pool: spec.pool.name.clone(),
                    device: device.name.clone(),
                });
            }
        }
    }
    None
}
