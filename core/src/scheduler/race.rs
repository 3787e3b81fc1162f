//! A race that the reference loses with itself: the members of a gang bind side by side, each with the devices that the first
//! of them found for a shared claim. One is faster; the others find the claim allocated, fail, and follow after a pause.
//!
//! Reproduced in reference mode only. Otherwise the first member writes the claim and the others find it written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::attempt::{Failure, Scheduler};
use super::bind::{self, Placement};
use super::{Verdict, message};
use crate::api::claim::AllocationResult;
use crate::api::pod::Pod;
use crate::cluster::Key;
use crate::cluster::entries::key_of;
use crate::decision::Decision;
use crate::gather::Gather;

/// Binds the members that fit.
pub(super) fn bind_side_by_side(
    scheduler: &Scheduler<'_>,
    members: Vec<(Arc<Pod>, Placement)>,
    decision: &mut Decision,
) -> Vec<(Key, Verdict)> {
    let pending = pending(&members);
    let fastest = |uid: &String| {
        let uses = |(_, (_, place)): &(usize, &(Arc<Pod>, Placement))| {
            place.needs.iter().any(|need| need.claim.metadata.uid == *uid)
        };
        members.iter().enumerate().rfind(uses).map(|(index, _)| index)
    };
    let winners: BTreeMap<String, usize> = pending.keys().filter_map(|uid| Some((uid.clone(), fastest(uid)?))).gather();
    let mut verdicts = Vec::new();
    for (index, (pod, placement)) in members.iter().enumerate() {
        let loses = |uid: &String| winners.get(uid).is_some_and(|winner| *winner != index);
        let lost = placement.needs.iter().position(|need| loses(&need.claim.metadata.uid));
        let own = with_pending(placement, &pending, &winners, index);
        let verdict = match lost {
            None => bind::bind(scheduler, pod, own, decision),
            Some(position) => lose(scheduler, pod, own, position, decision),
        };
        verdicts.push((key_of(&pod.metadata), verdict));
    }
    verdicts
}

/// Shared claims without devices, each with what the first member found for it, by UID.
fn pending(members: &[(Arc<Pod>, Placement)]) -> BTreeMap<String, (super::needs::Need, Arc<AllocationResult>)> {
    let mut users: BTreeMap<String, usize> = BTreeMap::new();
    for (_, placement) in members {
        for need in &placement.needs {
            let count = users.entry(need.claim.metadata.uid.clone()).or_default();
            *count = count.saturating_add(1);
        }
    }
    let mut pending = BTreeMap::new();
    for (_, placement) in members {
        let new = placement.needs.iter().filter(|need| !need.is_allocated());
        for (need, allocation) in new.zip(&placement.allocations) {
            let uid = &need.claim.metadata.uid;
            if users.get(uid).is_some_and(|count| *count > 1) {
                pending.entry(uid.clone()).or_insert_with(|| (need.clone(), allocation.clone()));
            }
        }
    }
    pending
}

/// A member's place as the reference sees it: pending claims are still without devices, and what was found for them stands
/// behind what was found for the member's other claims, whatever the order of the claims. So devices can land in the wrong
/// claims.
fn with_pending(
    placement: &Placement,
    pending: &BTreeMap<String, (super::needs::Need, Arc<AllocationResult>)>,
    winners: &BTreeMap<String, usize>,
    index: usize,
) -> Placement {
    let mut needs = Vec::new();
    let mut found_before = Vec::new();
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    let mut position = 0usize;
    for need in &placement.needs {
        let uid = &need.claim.metadata.uid;
        let is_new = !need.is_allocated();
        match pending.get(uid).filter(|_| winners.get(uid) == Some(&index)) {
            Some((original, allocation)) if !is_new => {
                needs.push(original.clone());
                found_before.push(allocation.clone());
            }
            _ => {
                if is_new {
                    taken.insert(position);
                }
                needs.push(need.clone());
            }
        }
        position = position.saturating_add(usize::from(is_new));
    }
    let new = placement.allocations.iter().enumerate().filter(|(index, _)| taken.contains(index));
    let allocations = new.map(|(_, allocation)| allocation.clone()).chain(found_before).collect();
    Placement { needs, allocations, ..placement.clone() }
}

/// The claims before the lost one are written, and their reservations are taken back.
pub(super) fn lose(
    scheduler: &Scheduler<'_>,
    pod: &Pod,
    placement: Placement,
    position: usize,
    decision: &mut Decision,
) -> Verdict {
    let Some(lost) = placement.needs.get(position) else { return Verdict::Error };
    let (namespace, name) = key_of(&lost.claim.metadata);
    let needs: Vec<_> = placement.needs.iter().take(position).cloned().collect();
    let before = Placement { needs, ..placement };
    if let Err(failure) = bind::reserve(scheduler, pod, &before, decision) {
        return scheduler.fail(pod, failure, decision);
    }
    bind::take_back(pod, before.claims(scheduler), scheduler.settings.profile.mode, decision);
    let error = format!("claim {namespace}/{name} got allocated elsewhere in the meantime");
    scheduler.fail(pod, Failure::error(message::pre_bind(&error)), decision)
}
