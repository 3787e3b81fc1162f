//! More devices to choose from: of other classes, on other nodes, given back by others, added.

use std::collections::BTreeSet;

use super::change::Change;
use super::relax::{AllocatorTrials, Found, fewest};
use super::requests::is_of_class;
use super::survey::Standing;
use super::trial::key_in;
use super::{DeviceDetail, Holder, NodeDetail, ReasonKind, Request, detail};
use crate::allocate::DeviceId;
use crate::arrange::Arrange;
use crate::cluster::DeviceIdx;
use crate::gather::Gather;

/// Most nodes of which the holders of devices are looked at.
const MOST_HELD_NODES: usize = 4;

/// Most claims that are tried as the one to free.
const MOST_HOLDERS: usize = 48;

/// Other classes with devices of the same drivers.
pub(crate) fn other_classes(trials: &mut AllocatorTrials<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    if !trials.cluster.profile().features.prioritized_list {
        return found;
    }
    let classes: Vec<String> = trials.cluster.classes().keys().take(16).cloned().collect();
    let (survey, case) = (trials.survey, trials.case);
    for (index, unit) in survey.units.iter().enumerate().filter(|(_, unit)| unit.sub.is_none()) {
        let Some(claim) = case.question.claims.get(unit.claim) else { continue };
        let drivers = drivers(trials, index);
        for class in classes.iter().filter(|class| **class != unit.class) {
            let change = Change::AddAlternative {
                claim: claim.metadata.name.clone(),
                request: unit.name.clone(),
                class: class.clone(),
            };
            let Some((node, allocations)) = trials.helps_with(std::slice::from_ref(&change)) else { continue };
            let results = allocations.get(unit.claim).map(|one| one.devices.results.as_slice()).unwrap_or_default();
            let mut own = results.iter().filter(|result| result.request.split('/').next() == Some(&*unit.name));
            if own.all(|result| drivers.contains(&result.driver)) {
                found.push((vec![change], node));
            }
        }
    }
    found
}

/// Drivers of the devices of a unit's class.
fn drivers(trials: &AllocatorTrials<'_>, unit: usize) -> BTreeSet<String> {
    let mut drivers = BTreeSet::new();
    for entry in trials.cluster.inventory().all_slices() {
        let driver = &entry.slice.spec.driver;
        let is_new = !drivers.contains(driver);
        if is_new && entry.devices.iter().any(|device| is_of_class(trials.survey, unit, *device)) {
            drivers.insert(driver.clone());
        }
    }
    drivers
}

/// Nodes that were not asked, one suggestion for all of them.
pub(crate) fn other_nodes(trials: &mut AllocatorTrials<'_>) -> Option<Found> {
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
pub(crate) fn freed(trials: &mut AllocatorTrials<'_>) -> Vec<Found> {
    const SHOWN: usize = 3;
    let nodes: Vec<String> = trials.nodes.iter().take(MOST_HELD_NODES).cloned().collect();
    let request = Request { nodes, ..Request::default() };
    let details = detail::details(trials.cluster, trials.case, &request);
    let own = &trials.case.own;
    let is_own = |holder: &&Holder| holder.consumers.iter().any(|consumer| own.contains(consumer));
    let holders = |node: &NodeDetail| {
        let devices = node.requests.iter().flat_map(|request| &request.devices).filter(|device| is_only_held(device));
        let held: BTreeSet<&Holder> =
            devices.flat_map(|device| &device.reasons).flat_map(|reason| &reason.holders).gather();
        let mut held: Vec<Holder> = held.into_iter().filter(|holder| !is_own(holder)).cloned().collect();
        held.arrange_by_key(|holder| {
            (holder.priority.unwrap_or_default(), holder.consumers.len(), holder.claim.clone())
        });
        held
    };
    let by_node: Vec<Vec<Holder>> = details.iter().map(holders).collect();
    let mut found: Vec<Found> = Vec::new();
    let mut tried = BTreeSet::new();
    for holder in by_node.iter().flatten() {
        if found.len() >= SHOWN || tried.len() >= MOST_HOLDERS {
            break;
        }
        if tried.insert(holder.claim.clone()) {
            found.extend(trials.found(free(holder)));
        }
    }
    if !found.is_empty() {
        return found;
    }
    for holders in by_node.iter().filter(|holders| holders.len() <= MOST_HOLDERS) {
        // The most important are kept where that is possible, so they are looked at first.
        let all: Vec<Change> = holders.iter().rev().map(free).collect();
        let Some(node) = trials.helps(&all) else { continue };
        let (mut kept, node) = fewest(all, node, |rest| trials.helps(rest));
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
    !device.reasons.is_empty() && device.reasons.iter().all(|reason| reason.kind >= ReasonKind::OtherGroup)
}

/// The fewest devices that would have to be added to the nearest node.
pub(crate) fn added(trials: &mut AllocatorTrials<'_>) -> Option<Found> {
    let node = trials.nodes.first()?.clone();
    let survey = trials.survey;
    for (index, unit) in survey.units.iter().enumerate().filter(|(_, unit)| !unit.is_all) {
        let Some(like) = model(trials, index) else { continue };
        let change =
            |count| Change::AddDevices { count, class: unit.class.clone(), like: like.clone(), node: node.clone() };
        let found = (1..=unit.count.clamp(1, 32)).find_map(|count| Some((count, trials.found(change(count))?)));
        let Some((count, (changes, node))) = found else { continue };
        // The other Pods of a gang need as many again.
        let members = waiting_members(trials);
        return Some(if members > 1 { (vec![change(count.saturating_mul(members))], node) } else { (changes, node) });
    }
    None
}

/// How many Pods of the subject's PodGroup have no place where it is tried: itself and those behind it.
fn waiting_members(trials: &AllocatorTrials<'_>) -> u64 {
    if !trials.case.is_of_group {
        return 1;
    }
    let is_waiting = |name: &&String| {
        let pod = key_in(name).and_then(|key| trials.cluster.pods().get(&key));
        pod.is_some_and(|pod| pod.spec.node_name.is_empty() && !pod.is_finished())
    };
    let members: BTreeSet<&String> = trials.case.own.iter().filter(is_waiting).gather();
    members.len() as u64
}

/// A device that a unit would take if nobody else had it.
fn model(trials: &AllocatorTrials<'_>, unit: usize) -> Option<DeviceId> {
    let is_model = |index: DeviceIdx| match trials.survey.standing(unit, index) {
        Standing::Usable => true,
        Standing::Kept { reason, .. } => {
            trials.survey.reasons.get(reason).is_some_and(|mark| mark.kind >= ReasonKind::OtherGroup)
        }
        Standing::Unseen | Standing::Elsewhere => false,
    };
    trials.cluster.inventory().all_slices().find_map(|entry| {
        let mut devices = entry.slice.spec.devices.iter().zip(entry.devices.iter());
        devices.find(|(_, index)| is_model(**index)).map(|(device, _)| DeviceId::of(&entry.slice, device))
    })
}
