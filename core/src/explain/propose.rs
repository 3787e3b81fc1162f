//! Changes worth trying.
//!
//! A ladder is a list of changes of one kind to one thing, from the smallest to the largest: the first rung that helps is the one
//! to suggest.

use std::collections::BTreeSet;

use super::change::Change;
use super::relax::{AllocatorTrials, asked, drop_constraint};
use super::reword;
use crate::allocate::inspect::{DeviceSeen, Obstacle, inspect};
use crate::api::quantity::{Format, Quantity};
use crate::api::slice::DeviceCapacity;
use crate::arrange::Arrange;
use crate::near::distance;

/// Most names of capacities that are tried in the place of one, the most alike first.
const MOST_NAMES: usize = 8;

/// All ladders of changes to the claims and their classes.
pub(crate) fn ladders(trials: &mut AllocatorTrials<'_>) -> Vec<Vec<Change>> {
    let (survey, claims) = (trials.survey, &trials.case.question.claims);
    let (left, others) = (leftovers(trials), other_capacities(trials));
    let mut ladders = Vec::new();
    for (index, unit) in survey.units.iter().enumerate() {
        let Some(claim) = claims.get(unit.claim) else { continue };
        let name = claim.metadata.name.clone();
        ladders.extend(reword::ladders(trials, index, unit, claim));
        for taint in taints(trials, index) {
            ladders.push(vec![Change::Tolerate { claim: name.clone(), request: unit.name.clone(), taint }]);
        }
        for (capacity, amount) in asked(claim, &unit.name) {
            let lower = left.iter().find(|(at, _)| is_at(at, index, &capacity)).map(|(_, all)| all.clone());
            let lower = lower.unwrap_or_default();
            let rung = |to: &Quantity| Change::LowerCapacity {
                claim: name.clone(),
                request: unit.name.clone(),
                name: capacity.clone(),
                from: amount.to_string(),
                to: to.to_string(),
            };
            let mut lower: Vec<Quantity> = lower.into_iter().filter(|one| *one < amount && one.signum() > 0).collect();
            lower.arrange_by(|a, b| b.cmp(a));
            lower.dedup();
            ladders.push(lower.iter().map(rung).collect());
            let there = others.iter().find(|(at, _)| is_at(at, index, &capacity)).map(|(_, all)| all);
            let other = |to: &String| Change::OtherCapacity {
                claim: name.clone(),
                request: unit.name.clone(),
                amount: amount.to_string(),
                from: capacity.clone(),
                to: to.clone(),
            };
            let mut there: Vec<&String> = there.into_iter().flatten().collect();
            there.arrange_by_key(|one| distance(&capacity, one));
            ladders.push(there.into_iter().take(MOST_NAMES).map(other).collect());
        }
        if !unit.is_all && unit.count > 1 {
            let rung =
                |to| Change::LowerCount { claim: name.clone(), request: unit.name.clone(), from: unit.count, to };
            ladders.push((1..unit.count).rev().map(rung).collect());
        }
    }
    for claim in claims {
        let constraints = 0..claim.spec.devices.constraints.len();
        ladders.extend(constraints.map(|index| vec![drop_constraint(claim, index)]));
    }
    ladders.retain(|ladder| !ladder.is_empty());
    ladders
}

/// Taints that keep devices from a unit, on some node.
fn taints(trials: &mut AllocatorTrials<'_>, wanted: usize) -> BTreeSet<String> {
    let mut taints = BTreeSet::new();
    look(trials, |unit, _, obstacles| {
        let is_other = |obstacle: &Obstacle<'_>| matches!(obstacle, Obstacle::SelectorFalse { of_class: true, .. });
        for obstacle in obstacles.iter().filter(|_| unit == wanted && !obstacles.iter().any(is_other)) {
            if let Obstacle::Taint(taint) = obstacle {
                taints.insert(super::words::taint(taint));
            }
        }
    });
    taints
}

fn look(trials: &mut AllocatorTrials<'_>, mut observe: impl FnMut(usize, &DeviceSeen<'_, '_>, &[Obstacle<'_>])) {
    let question = trials.case.question.on(trials.nodes.clone());
    if !question.nodes.is_empty() {
        inspect(trials.cluster, &question, &mut observe);
    }
}

/// Something of each capacity that a unit asks for; they are few.
type ByCapacity<T> = Vec<((usize, String), T)>;

fn is_at((unit, name): &(usize, String), wanted: usize, capacity: &str) -> bool {
    *unit == wanted && name == capacity
}

/// What there is of a capacity, which is made where there is nothing yet.
fn entry<'a, T: Default>(all: &'a mut ByCapacity<T>, unit: usize, capacity: &str) -> Option<&'a mut T> {
    let place = all.iter().position(|(at, _)| is_at(at, unit, capacity)).unwrap_or(all.len());
    if place == all.len() {
        all.push(((unit, capacity.to_owned()), T::default()));
    }
    all.get_mut(place).map(|(_, found)| found)
}

/// Amounts that devices could grant, by unit and capacity.
fn leftovers(trials: &mut AllocatorTrials<'_>) -> ByCapacity<Vec<Quantity>> {
    let mut all: ByCapacity<Vec<Quantity>> = Vec::new();
    look(trials, |unit, device, obstacles| {
        for obstacle in obstacles {
            let (name, left) = match obstacle {
                Obstacle::CapacityShort { name, left, .. } => (name, left.clone()),
                Obstacle::CapacityNever { name, has: Some(has), .. } => (name, has.clone()),
                _ => continue,
            };
            let Some(capacity) = device.device.capacity.get(name) else { continue };
            let Some(list) = entry(&mut all, unit, name) else { continue };
            for amount in grantable(capacity, left) {
                if !list.contains(&amount) {
                    list.push(amount);
                }
            }
        }
    });
    all
}

/// What else devices have that lack a capacity, by unit and capacity.
fn other_capacities(trials: &mut AllocatorTrials<'_>) -> ByCapacity<BTreeSet<String>> {
    let mut all: ByCapacity<BTreeSet<String>> = Vec::new();
    look(trials, |unit, device, obstacles| {
        for obstacle in obstacles {
            if let Obstacle::CapacityNever { name, has: None, .. } = obstacle {
                let Some(names) = entry(&mut all, unit, name) else { continue };
                names.extend(device.device.capacity.keys().filter(|key| *key != name).cloned());
            }
        }
    });
    all
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
