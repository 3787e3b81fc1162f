//! Reservations of consumers that are gone, devices nobody uses any more, claims whose Pod has ended.

use std::sync::Arc;

use crate::api::claim::{ResourceClaim, ResourceClaimConsumerReference};
use crate::api::meta::OwnerReference;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cluster::entries::{is_group_reference, is_pod_reference};
use crate::cluster::{Cluster, Key};
use crate::decision::{Action, CLAIM_FINALIZER, Decision, Identified};
use crate::finding::ObjectRef;
use crate::profile::Profile;

/// What to do about one claim.
///
/// The devices are given back together with the last reservation, in the same write; the finalizer goes after that. A claim
/// that was emptied by somebody else keeps its devices until it is deleted.
pub(super) fn claim(cluster: &Cluster, profile: &Profile, key: &Key) -> Decision {
    let Some(claim) = cluster.claims().get(key) else { return Decision::none() };
    let mut decision = Decision::none();
    let mut after = ResourceClaim::clone(claim);
    let mut kept = Vec::new();
    for consumer in &claim.status.reserved_for {
        match fate(cluster, profile, claim, consumer) {
            Fate::Keeps => kept.push(consumer.clone()),
            Fate::Ended => {}
            Fate::Gone(object) => decision.gone.push(Identified { object, uid: consumer.uid.clone() }),
        }
    }
    let lost_some = kept.len() < claim.status.reserved_for.len();
    let is_unused = kept.is_empty();
    if is_unused && claim.metadata.has_finalizer(CLAIM_FINALIZER) && (lost_some || claim.metadata.is_deleting()) {
        after.status.reserved_for = kept;
        after.status.allocation = None;
        after.status.devices.clear();
        if after.status != claim.status {
            decision.actions.push(Action::UpdateStatus(object(after.clone())));
        }
        after.metadata.finalizers.retain(|finalizer| finalizer != CLAIM_FINALIZER);
        decision.actions.push(Action::Update(object(after)));
    } else if lost_some {
        after.status.reserved_for = kept;
        decision.actions.push(Action::UpdateStatus(object(after)));
    }
    if is_unused
        && !claim.metadata.is_deleting()
        && let Some((owner, pod)) = owning_pod(cluster, claim)
    {
        let is_replaced = pod.metadata.uid != owner.uid;
        if is_replaced {
            // The claim may be known before the Pod that it was made for.
            decision.gone.push(Identified { object: pod.metadata.reference("Pod"), uid: owner.uid.clone() });
        }
        if is_replaced || is_pod_done(pod) {
            decision.actions.push(Action::delete(claim.metadata.reference("ResourceClaim"), &claim.metadata));
        }
    }
    decision
}

/// What is to become of a reservation.
enum Fate {
    Keeps,
    /// The consumer is there and needs it no more, or another object has its name.
    Ended,
    /// The consumer is not known.
    Gone(ObjectRef),
}

fn fate(
    cluster: &Cluster,
    profile: &Profile,
    claim: &ResourceClaim,
    consumer: &ResourceClaimConsumerReference,
) -> Fate {
    let key = (claim.metadata.namespace.clone(), consumer.name.clone());
    let gone = |kind: &str| Fate::Gone(ObjectRef::new(kind, &*key.0, &*key.1));
    if is_pod_reference(consumer) {
        return match cluster.pods().get(&key) {
            Some(pod) if pod.metadata.uid == consumer.uid && is_pod_done(pod) => Fate::Ended,
            Some(pod) if pod.metadata.uid == consumer.uid => Fate::Keeps,
            Some(_) | None => gone("Pod"),
        };
    }
    if is_group_reference(consumer) && profile.features.workload_resource_claims {
        // A PodGroup that is being deleted keeps its reservation until it is gone: its Pods may still run.
        return match cluster.pod_groups().get(&key) {
            Some(group) if group.metadata.uid == consumer.uid => Fate::Keeps,
            Some(_) | None => gone("PodGroup"),
        };
    }
    Fate::Keeps
}

/// Whether a Pod uses its claims no more: it has run to its end, or is deleted before it got a node.
fn is_pod_done(pod: &Pod) -> bool {
    pod.is_finished() || (pod.metadata.is_deleting() && pod.spec.node_name.is_empty())
}

/// The Pod that a claim was made for, and the one that has its name now. If there is none, garbage collection acts.
fn owning_pod<'c>(cluster: &'c Cluster, claim: &'c ResourceClaim) -> Option<(&'c OwnerReference, &'c Pod)> {
    let owner = claim.metadata.controller().filter(|owner| owner.kind == "Pod" && owner.api_version == "v1")?;
    let pod = cluster.pods().get(&(claim.metadata.namespace.clone(), owner.name.clone()))?;
    Some((owner, pod))
}

fn object(claim: ResourceClaim) -> Box<Object> {
    Box::new(Object::ResourceClaim(Arc::new(claim)))
}
