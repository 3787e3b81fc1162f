//! From a place to the writes: claims get devices and reservations, then the Pod gets its node.

use std::sync::Arc;

use super::attempt::{Failure, Scheduler};
use super::conditions::{self, Readiness};
use super::needs::Need;
use super::refusal::Cause;
use super::scoring::Scores;
use super::{Verdict, message, race, special, write};
use crate::allocate::extended::{ANNOTATION, ExtendedResources};
use crate::api::claim::{AllocationResult, ResourceClaim};
use crate::api::object::Object;
use crate::api::pod::{NodeAllocatableClaimStatus, Pod};
use crate::decision::{Action, CLAIM_FINALIZER, Decision, MAX_RESERVATIONS};
use crate::profile::Mode;

/// Seconds between two looks at what drivers report.
const POLL_SECONDS: i64 = 5;

/// A place for a Pod.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    /// The node.
    pub(super) node: String,
    /// The Pod's claims.
    pub(super) needs: Vec<Need>,
    /// Devices for those without any, in their order.
    pub(super) allocations: Vec<Arc<AllocationResult>>,
    /// What devices serve there of the resources that the Pod asks for.
    pub(super) extended: Option<ExtendedResources>,
    /// What all its devices take of the node.
    pub(super) taken: Vec<NodeAllocatableClaimStatus>,
    /// How the nodes compared that fit, where somebody wants to hear it.
    pub(super) scores: Option<Box<Scores>>,
}

impl Placement {
    /// The claims as they are to be: allocated and reserved. Only those that change.
    pub(super) fn claims(&self, scheduler: &Scheduler<'_>) -> Vec<ResourceClaim> {
        let stamped = conditions::are_on(&scheduler.settings.profile.features);
        let mut allocations = self.allocations.iter();
        let mut changed = Vec::new();
        for need in &self.needs {
            let mut claim = need.claim.clone();
            if !need.is_allocated() {
                claim.status.allocation = allocations.next().cloned();
                if claim.metadata.finalizers.iter().all(|finalizer| finalizer != CLAIM_FINALIZER) {
                    claim.metadata.finalizers.push(CLAIM_FINALIZER.to_owned());
                }
            }
            if !need.is_reserved {
                claim.status.reserved_for.push(need.consumer.clone());
                let allocation = claim.status.allocation.as_mut().filter(|_| stamped);
                if let Some(allocation) = allocation.filter(|allocation| allocation.allocation_timestamp.is_empty()) {
                    Arc::make_mut(allocation).allocation_timestamp = scheduler.settings.now.to_string();
                }
            }
            if claim != need.claim {
                changed.push(claim);
            }
        }
        changed
    }
}

/// Binds a Pod on its own.
pub(super) fn bind(scheduler: &Scheduler<'_>, pod: &Pod, placement: Placement, decision: &mut Decision) -> Verdict {
    if let Some(position) = named_again(&placement) {
        return race::lose(scheduler, pod, placement, position, decision);
    }
    if let Err(failure) = reserve(scheduler, pod, &placement, decision) {
        return scheduler.fail(pod, failure, decision);
    }
    finish(scheduler, pod, &placement, decision)
}

/// The first claim that another entry has named before, where the Pod is still to get it: the second of two writes of one claim fails.
fn named_again(placement: &Placement) -> Option<usize> {
    let uids = placement.needs.iter().map(|need| &need.claim.metadata.uid);
    let is_named_before = |(position, uid): &(usize, &String)| uids.clone().take(*position).any(|other| other == *uid);
    let again = uids.clone().enumerate().find(is_named_before).map(|(position, _)| position);
    again.filter(|position| placement.needs.get(*position).is_some_and(|need| !need.is_reserved))
}

/// Writes the claims.
///
/// # Errors
///
/// When a claim has no room for the Pod; then nothing was written.
pub(super) fn reserve(
    scheduler: &Scheduler<'_>,
    pod: &Pod,
    placement: &Placement,
    decision: &mut Decision,
) -> Result<(), Failure> {
    let claims = placement.claims(scheduler);
    if let Some(failure) = no_room(&claims) {
        return Err(failure);
    }
    // DIFFERENCE: the reference says where the Pod goes even if it goes there at once. That is a write that nobody reads.
    if !placement.needs.is_empty() && scheduler.settings.profile.mode == Mode::Reference {
        write::nominate(pod, &placement.node, decision);
    }
    for mut claim in claims {
        let before = placement.needs.iter().find(|need| need.claim.metadata.uid == claim.metadata.uid);
        if let Some(need) = before.filter(|need| need.is_new) {
            // Which UID it gets is not known yet.
            claim.metadata.uid.clear();
            let mut new = need.claim.clone();
            new.metadata.uid.clear();
            decision.actions.push(Action::Create { object: object(new), refused: None });
        }
        if before.is_some_and(|need| need.claim.metadata.finalizers != claim.metadata.finalizers) {
            decision.actions.push(Action::Update(object(claim.clone())));
        }
        decision.actions.push(Action::UpdateStatus(object(claim)));
    }
    let special = placement.needs.iter().find(|need| need.claim.metadata.annotations.contains_key(ANNOTATION));
    if let (Some(need), Some(extended)) = (special, &placement.extended) {
        write::extended(pod, special::status(&need.claim, extended), decision);
    }
    Ok(())
}

/// Gives the Pod its node, once its drivers are ready.
pub(super) fn finish(scheduler: &Scheduler<'_>, pod: &Pod, placement: &Placement, decision: &mut Decision) -> Verdict {
    if conditions::are_on(&scheduler.settings.profile.features) {
        let new = placement.claims(scheduler);
        let is_new = |need: &&Need| new.iter().all(|claim| claim.metadata.uid != need.claim.metadata.uid);
        let claims: Vec<&ResourceClaim> =
            new.iter().chain(placement.needs.iter().filter(is_new).map(|need| &need.claim)).collect();
        let mut waits = false;
        for claim in &claims {
            match conditions::readiness(claim, scheduler.settings.now) {
                Readiness::Ready => {}
                Readiness::Failed(error) => return give_up(scheduler, pod, placement, &error, decision),
                Readiness::TimedOut => {
                    let error = format!("device binding timeout: claim={}", claim.metadata.name);
                    return give_up(scheduler, pod, placement, &error, decision);
                }
                Readiness::Waits => {
                    waits = true;
                    if let Some(deadline) = conditions::deadline(claim) {
                        decision.wake_at(deadline.plus_seconds(1));
                    }
                }
            }
        }
        if waits {
            write::nominate(pod, &placement.node, decision);
            if pod.status.nominated_node_name != placement.node {
                let note = format!("waiting for binding conditions for device on node {}", placement.node);
                decision.events.push(write::event(pod, false, "BindingConditionsPending", "Scheduling", note));
            }
            decision.wake_at(scheduler.settings.now.plus_seconds(POLL_SECONDS));
            return Verdict::Binding;
        }
    }
    write::node_allocatable(pod, &placement.taken, decision);
    let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
    decision.actions.push(Action::Bind {
        pod: pod.metadata.reference("Pod"),
        uid: pod.metadata.uid.clone(),
        node: placement.node.clone(),
    });
    let note = format!("Successfully assigned {namespace}/{name} to {}", placement.node);
    decision.actions.push(Action::Record(write::event(pod, false, "Scheduled", "Binding", note)));
    Verdict::Bound
}

/// Takes the Pod's own reservations back; those of its PodGroup stay.
fn give_up(
    scheduler: &Scheduler<'_>,
    pod: &Pod,
    placement: &Placement,
    error: &str,
    decision: &mut Decision,
) -> Verdict {
    take_back(pod, placement.needs.iter().map(|need| need.claim.clone()), scheduler.settings.profile.mode, decision);
    scheduler.fail(pod, Failure::error(message::pre_bind(error)), decision)
}

/// Takes a Pod's own reservations of claims back.
pub(super) fn take_back(
    pod: &Pod,
    claims: impl IntoIterator<Item = ResourceClaim>,
    mode: Mode,
    decision: &mut Decision,
) {
    let uid = &pod.metadata.uid;
    for mut claim in claims {
        if claim.status.reserved_for.iter().any(|consumer| consumer.uid == *uid) {
            release(&mut claim, uid, mode);
            decision.actions.push(Action::UpdateStatus(object(claim)));
        }
    }
}

/// Takes a consumer out of a claim.
///
/// DIFFERENCE: the reference leaves the devices of a claim without consumers to the next attempt. If there is none, because the
/// Pod goes, they stay allocated for nobody.
pub(super) fn release(claim: &mut ResourceClaim, uid: &str, mode: Mode) {
    claim.status.reserved_for.retain(|consumer| consumer.uid != uid);
    if claim.status.reserved_for.is_empty() && mode == Mode::Sound {
        claim.status.allocation = None;
        claim.status.devices.clear();
    }
}

/// The failure of a Pod for which a claim has no reservation left.
pub(super) fn no_room(claims: &[ResourceClaim]) -> Option<Failure> {
    let full = claims.iter().find(|claim| claim.status.reserved_for.len() > MAX_RESERVATIONS)?;
    let cause = Cause::NoReservation { claim: full.metadata.name.clone() };
    Some(Failure { cause, ..Failure::error(message::pre_bind(&too_many(full))) })
}

fn too_many(claim: &ResourceClaim) -> String {
    let (namespace, name) = (&claim.metadata.namespace, &claim.metadata.name);
    let count = claim.status.reserved_for.len();
    format!(
        "add reservation to claim {namespace}/{name}: ResourceClaim.resource.k8s.io \"{name}\" is invalid: status.reservedFor: Too many: {count}: must have at most {MAX_RESERVATIONS} items"
    )
}

fn object(claim: ResourceClaim) -> Box<Object> {
    Box::new(Object::ResourceClaim(Arc::new(claim)))
}
