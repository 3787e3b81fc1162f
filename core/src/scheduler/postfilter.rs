//! After a Pod fitted nowhere: an allocation that nobody uses and that stands in its way is given up.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::attempt::{Failure, Scheduler};
use super::bind;
use super::needs::Need;
use crate::api::claim::ResourceClaim;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cluster::entries::{group_of, is_group_reference};
use crate::decision::{Action, CLAIM_FINALIZER, Decision};
use crate::profile::Version;

/// What kept the Pod from some node.
#[derive(Clone, Debug, Default)]
pub(super) struct Obstacles {
    /// Positions of claims whose devices cannot be used on some node.
    pub(super) unavailable: BTreeSet<usize>,
}

/// What to say, what to write, and whether nobody says anything after it.
pub(super) fn relieve(
    scheduler: &Scheduler<'_>,
    pod: &Pod,
    needs: &[Need],
    asks: bool,
    obstacles: &Obstacles,
) -> (&'static str, Decision, bool) {
    if needs.is_empty() && !asks {
        return (said(scheduler, "no new claims to deallocate"), Decision::none(), false);
    }
    let is_own = |need: &&Need| {
        let reserved = &need.claim.status.reserved_for;
        reserved.is_empty() || matches!(reserved.as_slice(), [one] if one.uid == pod.metadata.uid)
    };
    let unavailable = obstacles.unavailable.iter().filter_map(|index| needs.get(*index));
    if let Some(need) = unavailable.filter(|need| need.is_allocated()).find(is_own) {
        let mut claim = need.claim.clone();
        claim.status.allocation = None;
        claim.status.reserved_for.clear();
        claim.status.devices.clear();
        let action = Action::UpdateStatus(Box::new(Object::ResourceClaim(Arc::new(claim))));
        return ("deallocation of ResourceClaim completed", Decision::of(vec![action]), false);
    }
    match release_group_claim(scheduler, pod, needs) {
        Some(action) => ("ResourceClaim unreserved for PodGroup", Decision::of(vec![action]), true),
        None => (said(scheduler, "still not schedulable"), Decision::none(), false),
    }
}

/// What is said where nothing is given up: nothing from 1.37 on.
pub(super) fn said(scheduler: &Scheduler<'_>, text: &'static str) -> &'static str {
    if scheduler.settings.profile.version >= Version::V1_37 { "" } else { text }
}

/// Removes a claim for extended resources that an earlier attempt left without devices: another node may need another one.
pub(super) fn remove(claim: &ResourceClaim) -> Failure {
    let mut actions = Vec::new();
    let reference = claim.metadata.reference("ResourceClaim");
    if claim.metadata.finalizers.iter().any(|finalizer| finalizer == CLAIM_FINALIZER) {
        let mut free = claim.clone();
        free.metadata.finalizers.retain(|finalizer| finalizer != CLAIM_FINALIZER);
        actions.push(Action::Update(Box::new(Object::ResourceClaim(Arc::new(free)))));
    }
    if !claim.metadata.is_deleting() {
        actions.push(Action::delete(reference, &claim.metadata));
    }
    Failure { relief: Decision::of(actions), ..Failure::error("deletion of ResourceClaim completed".to_owned()) }
}

/// Takes the PodGroup's reservation away when none of its Pods had a node before; the next attempt gives the devices back.
fn release_group_claim(scheduler: &Scheduler<'_>, pod: &Pod, needs: &[Need]) -> Option<Action> {
    let cluster = &*scheduler.cluster;
    let group = group_of(cluster, pod).filter(|_| scheduler.settings.profile.features.workload_resource_claims)?;
    let key = (group.metadata.namespace.clone(), group.metadata.name.clone());
    let mut members = cluster.links().pods_of_group(&key);
    let has_place = members.any(|name| {
        let member = cluster.pods().get(&(key.0.clone(), name.clone()));
        !scheduler.placed.contains(name) && member.is_some_and(|member| !member.spec.node_name.is_empty())
    });
    if has_place {
        return None;
    }
    let holds = |need: &&Need| {
        let mut reserved = need.claim.status.reserved_for.iter();
        need.is_shared
            && need.is_allocated()
            && !scheduler.reserved.contains(&need.claim.metadata.name)
            && reserved.any(|one| is_group_reference(one) && one.uid == group.metadata.uid)
    };
    let mut claim = needs.iter().find(holds)?.claim.clone();
    bind::release(&mut claim, &group.metadata.uid, scheduler.settings.profile.mode);
    Some(Action::UpdateStatus(Box::new(Object::ResourceClaim(Arc::new(claim)))))
}
