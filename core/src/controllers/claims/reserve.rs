//! Reservations for Pods that have a node although the scheduler did not reserve their claims.

use std::sync::Arc;

use crate::api::claim::ResourceClaim;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cluster::entries::{self, Resolved};
use crate::cluster::{Cluster, Key};
use crate::decision::{Action, Decision, MAX_RESERVATIONS};
use crate::profile::Profile;

/// Reserves the allocated claims of a Pod with a node. Claims without devices get none here: the Pod waits at the kubelet.
///
/// One claim that is missing or has no devices stops them all: the Pod could not start anyway. Claims that are being
/// deleted and full ones take no new consumers. Whether the node has access to the devices is not looked at.
pub(super) fn for_placed(cluster: &Cluster, profile: &Profile, key: &Key, decision: &mut Decision) {
    let placed = |pod: &&Arc<Pod>| !pod.spec.node_name.is_empty() && !pod.metadata.is_deleting() && !pod.is_finished();
    let Some(pod) = cluster.pods().get(key).filter(placed) else { return };
    let groups = profile.features.workload_resource_claims;
    let group = entries::group_of(cluster, pod).filter(|_| groups);
    if groups && pod.group_name().is_some() && group.is_none() {
        return;
    }
    let mut missing = Vec::new();
    for entry in &pod.spec.resource_claims {
        let (name, is_generated) = match entries::resolve(pod, entry, group) {
            Resolved::Claim { name, is_generated } => (name, is_generated),
            Resolved::NotNeeded => continue,
            Resolved::NotCreated | Resolved::NoSource => return,
        };
        let Some(claim) = cluster.claims().get(&(key.0.clone(), name.to_owned())) else { return };
        if is_generated && !entries::is_for_pod(pod, claim, groups) {
            return;
        }
        if claim.status.allocation.is_none() {
            return;
        }
        let has_room = claim.status.reserved_for.len() < MAX_RESERVATIONS && !claim.metadata.is_deleting();
        if has_room && !entries::is_reserved_for_pod(pod, claim, groups) {
            missing.push((claim, entries::consumer(pod, Some(entry), group)));
        }
    }
    for (claim, consumer) in missing {
        let mut claim = ResourceClaim::clone(claim);
        claim.status.reserved_for.push(consumer);
        decision.actions.push(Action::UpdateStatus(Box::new(Object::ResourceClaim(Arc::new(claim)))));
    }
}
