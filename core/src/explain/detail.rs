//! Every device of a node, with all its reasons.

use std::collections::BTreeSet;

use super::case::Case;
use super::requests::{selector_ref, selectors};
use super::shape::mark;
use super::statistics::{self, Subject, fields, written};
use super::{
    DeviceDetail, NodeDetail, ReadValue, Reason, ReasonKind, Request, RequestDetail, SelectorRef, Shortage, holders,
    words,
};
use crate::allocate::DeviceId;
use crate::allocate::inspect::{DeviceSeen, NodeSeen, Observer, Obstacle, UnitSeen, inspect, units};
use crate::cel::Field;
use crate::cluster::{Cluster, PoolState, incomplete};
use crate::gather::Gather;

/// The devices of the nodes asked for; of all nodes where only a device is.
pub(crate) fn details(cluster: &mut Cluster, case: &Case, request: &Request) -> Vec<NodeDetail> {
    let units = units(cluster, &case.question.claims);
    let expressions = expressions(cluster, case, &units);
    let mut collector =
        Collector { case, expressions, units: &units, device: request.device.as_deref(), nodes: Vec::new() };
    let nodes = if request.nodes.is_empty() { &case.question.nodes } else { &request.nodes };
    let question = case.question.on(nodes.clone());
    if !nodes.is_empty() {
        inspect(cluster, &question, &mut collector);
    }
    let mut nodes = collector.nodes;
    for node in &mut nodes {
        conflicts(node, case, &units);
    }
    if request.device.is_some() {
        nodes.retain(|node| node.detail.requests.iter().any(|request| !request.devices.is_empty()));
    }
    nodes.iter_mut().for_each(|node| name_pools(cluster, node));
    let mut details: Vec<NodeDetail> = nodes.into_iter().map(|node| node.detail).collect();
    holders::name(cluster, case.held.get_or_init(|| holders::Held::of(cluster)), &mut details);
    details
}

/// By whether it is of the class and by position: a selector with the fields that it reads.
type Expressions = Vec<((bool, usize), (SelectorRef, Vec<Field>))>;

/// What a device has for the constraints that cover a unit.
type Held = Vec<(usize, Option<String>)>;

struct NodeAtWork {
    detail: NodeDetail,
    pools: Vec<(String, String, PoolState)>,
    /// By unit and device: what it has for the constraints that cover the unit.
    held: Vec<Vec<Held>>,
}

struct Collector<'s> {
    case: &'s Case,
    /// By unit: every selector with the fields that it reads.
    expressions: Vec<Expressions>,
    units: &'s [UnitSeen],
    device: Option<&'s str>,
    nodes: Vec<NodeAtWork>,
}

fn expressions(cluster: &mut Cluster, case: &Case, units: &[UnitSeen]) -> Vec<Expressions> {
    let mut memory = cluster.lend_memory();
    let mut all = Vec::new();
    for unit in units {
        let mut of_unit = Vec::new();
        if let Some(claim) = case.question.claims.get(unit.claim) {
            let (class, own) = selectors(cluster, claim, unit);
            for (of_class, count) in [(true, class.len()), (false, own.len())] {
                for index in 0..count {
                    let selector = selector_ref(cluster, claim, unit, of_class, index);
                    let compiled = memory.selectors.program(cluster.profile(), &selector.expression);
                    let read = compiled.reads().map(fields).unwrap_or_default().into_iter().cloned().collect();
                    of_unit.push(((of_class, index), (selector, read)));
                }
            }
        }
        all.push(of_unit);
    }
    cluster.return_memory(memory);
    all
}

impl Observer for Collector<'_> {
    fn node(&mut self, node: &NodeSeen<'_>) -> bool {
        let claims = &self.case.question.claims;
        let requests = self.units.iter().enumerate().map(|(index, unit)| RequestDetail {
            claim: claims.get(unit.claim).map(|claim| claim.metadata.name.clone()).unwrap_or_default(),
            request: unit.name.clone(),
            needed: node.needs.get(index).copied().unwrap_or(unit.count),
            usable: 0,
            devices: Vec::new(),
        });
        let detail = NodeDetail { name: node.name.to_owned(), pools: Vec::new(), requests: requests.collect() };
        let bad = node.pools.iter().filter(|pool| *pool.state != PoolState::Usable);
        let pools = bad.map(|pool| (pool.driver.to_owned(), pool.name.to_owned(), pool.state.clone())).collect();
        self.nodes.push(NodeAtWork { detail, pools, held: vec![Vec::new(); self.units.len()] });
        true
    }

    fn device(&mut self, unit: usize, device: &DeviceSeen<'_, '_>, obstacles: &[Obstacle<'_>]) {
        let id = DeviceId::of(device.slice, device.device);
        if !self.device.is_none_or(|wanted| is_meant(wanted, &id)) {
            return;
        }
        let reasons: Vec<Reason> = obstacles.iter().map(|obstacle| self.reason(unit, device, obstacle)).collect();
        let held = self.units.get(unit).map(|unit| {
            let all = unit.constraints.iter().zip(device.held);
            all.map(|((index, _), held)| (*index, held.map(statistics::in_words))).collect()
        });
        let Some(node) = self.nodes.last_mut() else { return };
        if let Some(list) = node.held.get_mut(unit) {
            list.push(held.unwrap_or_default());
        }
        if let Some(request) = node.detail.requests.get_mut(unit) {
            request.usable = request.usable.saturating_add(u64::from(reasons.is_empty()));
            request.devices.push(DeviceDetail { device: id, reasons });
        }
    }
}

/// Whether a device is the one of that name, with or without its pool and driver.
pub(crate) fn is_meant(wanted: &str, id: &DeviceId) -> bool {
    let short = format!("{}/{}", id.pool, id.device);
    wanted == id.device || wanted == short || wanted == format!("{}/{short}", id.driver)
}

impl Collector<'_> {
    fn reason(&self, unit: usize, device: &DeviceSeen<'_, '_>, obstacle: &Obstacle<'_>) -> Reason {
        let mut reason = Reason::new(mark(obstacle).kind, String::new());
        let class = self.units.get(unit).map(|unit| unit.class.as_str()).unwrap_or_default();
        let shortage = |name: String, needs: String, left: Option<String>| Some(Shortage { name, needs, left });
        match obstacle {
            Obstacle::SelectorFalse { of_class, index } | Obstacle::SelectorFails { of_class, index, .. } => {
                let is_it = |(at, _): &&((bool, usize), (SelectorRef, Vec<Field>))| *at == (*of_class, *index);
                let known = self.expressions.get(unit).and_then(|all| all.iter().find(is_it)).map(|(_, known)| known);
                if let Some((selector, fields)) = known {
                    let subject = Subject { driver: &device.slice.spec.driver, device: device.device };
                    let read =
                        |field: &Field| ReadValue { name: written(field), value: statistics::value(subject, field) };
                    reason.values = fields.iter().map(read).collect();
                    reason.text = selector_text(selector, class, &reason.values, obstacle);
                    reason.selector = Some(selector.clone());
                }
            }
            Obstacle::OtherNode => reason.text = "the device says that it is for other nodes".to_owned(),
            Obstacle::FeatureOff { gate } => {
                reason.text = format!("it needs the feature gate `{gate}`, which is off");
            }
            Obstacle::NeedsDriver => {
                let text = "its slice skips steps of the driver, and the node does not declare the feature";
                reason.text = format!("{text} `DRAOptionalNodeOperations`");
            }
            Obstacle::ConstraintMissing { constraint } => {
                let claim = self.units.get(unit).and_then(|unit| self.case.question.claims.get(unit.claim));
                let attribute = claim.map(|claim| words::constraint_attribute(claim, *constraint));
                let attribute = attribute.unwrap_or_default();
                reason.text = format!("it lacks the attribute `{attribute}` of `constraints[{constraint}]`");
                reason.constraint = u64::try_from(*constraint).ok();
            }
            Obstacle::CapacityNever { name, needs, has } => {
                let needs = needs.as_ref().map(ToString::to_string).unwrap_or_default();
                let has = has.as_ref().map(ToString::to_string);
                reason.text = match &has {
                    Some(has) => format!("it has {has} of `{name}` and can never grant {needs}"),
                    None if device.device.capacity.is_empty() => {
                        format!("it has no capacity `{name}`, but none at all")
                    }
                    None => {
                        format!("it has no capacity `{name}`, but {}", words::list(device.device.capacity.keys()))
                    }
                };
                reason.shortage = shortage(name.clone(), needs, has);
            }
            Obstacle::Taint(taint) => {
                let text = words::taint(taint);
                reason.text = format!("it has the taint `{text}`, which the request does not tolerate");
                reason.taint = Some(text);
            }
            Obstacle::InUse => reason.text = "it is in use".to_owned(),
            Obstacle::CapacityShort { name, needs, left } => {
                reason.text = format!("it has {left} of `{name}` left, {needs} is needed");
                reason.shortage = shortage(name.clone(), needs.to_string(), Some(left.to_string()));
            }
            Obstacle::CounterShort { set, counter, needs, left } => {
                reason.text = match needs.is_zero() {
                    true => format!("counter `{counter}` of set `{set}` is overdrawn ({left} left)"),
                    false => format!("it draws {needs} of counter `{counter}` of set `{set}`, {left} is left"),
                };
                reason.shortage = shortage(format!("{set}/{counter}"), needs.to_string(), Some(left.to_string()));
            }
            Obstacle::CounterNever { set, counter, needs, total } => {
                reason.text = format!("it draws {needs} of counter `{counter}` of set `{set}`, which has only {total}");
                reason.shortage = shortage(format!("{set}/{counter}"), needs.to_string(), Some(total.to_string()));
            }
            Obstacle::OtherGroup { set } => {
                reason.text = format!("it is not compatible with partitions in use that draw from `{set}`");
                reason.shortage = shortage(set.clone(), String::new(), None);
            }
        }
        reason
    }
}

fn selector_text(selector: &SelectorRef, class: &str, values: &[ReadValue], obstacle: &Obstacle<'_>) -> String {
    use crate::cluster::selectors::SelectorProblem;
    let which = words::selector(selector, class);
    let read = |ReadValue { name, value }: &ReadValue| match value {
        Some(value) => format!("`{name}` is {value}"),
        None => format!("the device has no `{name}`"),
    };
    let read: Vec<String> = values.iter().map(read).collect();
    let values = if read.is_empty() { String::new() } else { format!(": {}", read.join(", ")) };
    match obstacle {
        Obstacle::SelectorFails { problem: SelectorProblem::Compile(text), .. } => {
            let first = text.lines().next().unwrap_or_default();
            format!("{which} does not compile: {first}")
        }
        Obstacle::SelectorFails { problem: SelectorProblem::Runtime(text), .. } => {
            format!("{which} ends in an error ({text}){values}")
        }
        _ => format!("{which} is false{values}"),
    }
}

/// Adds what constraints refuse: devices for which no other request, or not enough devices of their own, have a partner.
fn conflicts(node: &mut NodeAtWork, case: &Case, units: &[UnitSeen]) {
    let mut found: Vec<(usize, usize, Reason)> = Vec::new();
    for (position, unit) in units.iter().enumerate() {
        let Some(claim) = case.question.claims.get(unit.claim) else { continue };
        for (index, attribute) in &unit.constraints {
            let is_match = claim.spec.devices.constraints.get(*index).is_some_and(|one| one.match_attribute.is_some());
            if !is_match {
                continue;
            }
            for (at, value) in usable(node, position, *index) {
                let constraint = (*index, attribute.as_str());
                let Some((other, text)) = without_partner(node, units, position, constraint, &value) else { continue };
                let text = format!("`constraints[{index}]` leaves no partner for it: {text}");
                let reason = Reason::new(ReasonKind::ConstraintConflict, text);
                found.push((position, at, Reason { constraint: u64::try_from(*index).ok(), other, ..reason }));
            }
        }
    }
    for (position, at, reason) in found {
        let request = node.detail.requests.get_mut(position);
        if let Some(device) = request.and_then(|request| request.devices.get_mut(at)) {
            device.reasons.push(reason);
        }
    }
}

/// Usable devices of a unit with what they have for a constraint; lists are left out.
fn usable(node: &NodeAtWork, unit: usize, constraint: usize) -> Vec<(usize, String)> {
    let Some(request) = node.detail.requests.get(unit) else { return Vec::new() };
    let held = node.held.get(unit).map(Vec::as_slice).unwrap_or_default();
    let all = request.devices.iter().zip(held).enumerate();
    all.filter(|(_, (device, _))| device.reasons.is_empty())
        .filter_map(|(at, (_, held))| {
            let value = held.iter().find(|(index, _)| *index == constraint)?.1.clone()?;
            (!value.starts_with('[')).then_some((at, value))
        })
        .collect()
}

/// Why no other devices go with those that have a value, with one of the others.
fn without_partner(
    node: &NodeAtWork,
    units: &[UnitSeen],
    own: usize,
    (constraint, attribute): (usize, &str),
    value: &str,
) -> Option<(Option<DeviceId>, String)> {
    let unit = units.get(own)?;
    let with_value = usable(node, own, constraint).iter().filter(|(_, other)| other == value).count() as u64;
    let needed = node.detail.requests.get(own)?.needed;
    if with_value < needed {
        let devices = words::plural(with_value, "device");
        let text = format!("{devices} of this node with `{attribute}` {value} can be used, the request needs {needed}");
        return Some((None, text));
    }
    let covered = |other: &UnitSeen| other.constraints.iter().any(|(index, _)| *index == constraint);
    let others =
        units.iter().enumerate().filter(|(_, other)| other.claim == unit.claim && other.request != unit.request);
    let requests: BTreeSet<usize> = others.clone().map(|(_, other)| other.request).gather();
    for request in requests {
        let alternatives: Vec<(usize, &UnitSeen)> =
            others.clone().filter(|(_, other)| other.request == request).collect();
        // An alternative that the constraint does not cover goes with everything.
        if alternatives.iter().any(|(_, other)| !covered(other)) {
            continue;
        }
        let offered =
            |at: usize| usable(node, at, constraint).into_iter().map(move |(device, value)| (at, device, value));
        let offers: Vec<(usize, usize, String)> = alternatives.iter().flat_map(|(at, _)| offered(*at)).collect();
        let requests = alternatives.iter().filter_map(|(at, _)| node.detail.requests.get(*at));
        let total = requests.flat_map(|one| &one.devices).filter(|device| device.reasons.is_empty()).count();
        let Some((at, device, other)) = offers.first() else { continue };
        if total == offers.len() && offers.iter().all(|(_, _, other)| other != value) {
            let id = node.detail.requests.get(*at)?.devices.get(*device)?.device.clone();
            let text = format!("`{attribute}` is {value} here and {other} on all of the other request's");
            return Some((Some(id), text));
        }
    }
    None
}

fn name_pools(cluster: &Cluster, node: &mut NodeAtWork) {
    for (driver, pool, state) in &node.pools {
        node.detail.pools.push(match state {
            PoolState::Usable => continue,
            PoolState::Incomplete => {
                let index = cluster.inventory().pool_index(driver, pool);
                format!("driver `{driver}`: {}", index.map(|index| incomplete(cluster, index)).unwrap_or_default())
            }
            PoolState::Invalid(reason) => format!("pool `{pool}` of `{driver}` contradicts itself: {reason}"),
        });
    }
}
