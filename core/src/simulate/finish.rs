//! What finished Pods leave behind: their reservations go, with the last one the devices, and then claims made for them.

use std::collections::BTreeSet;

use crate::api::claim::ResourceClaim;
use crate::api::object::Object;
use crate::cluster::Cluster;
use crate::finding::ObjectRef;

use super::claims::is_finished;
use super::problems::claim_reference;
use super::schedule::FINALIZER;
use crate::controllers::workloads::controller;

/// Takes finished Pods out of the claims' reservations. A claim that loses its last one is deallocated; a claim that was
/// made for a finished Pod and that nobody uses is deleted.
pub(crate) fn release_finished(cluster: &mut Cluster) {
    let mut finished: BTreeSet<String> =
        cluster.pods().values().filter(|pod| is_finished(pod)).map(|pod| pod.metadata.uid.clone()).collect();
    finished.remove("");
    if finished.is_empty() {
        return;
    }
    let holds =
        |claim: &&ResourceClaim| claim.status.reserved_for.iter().any(|consumer| finished.contains(&consumer.uid));
    let claims: Vec<ResourceClaim> = cluster.claims().values().filter(holds).cloned().collect();
    for mut claim in claims {
        let status = &mut claim.status;
        status.reserved_for.retain(|consumer| !finished.contains(&consumer.uid));
        if status.reserved_for.is_empty() {
            status.allocation = None;
            status.devices.clear();
            claim.metadata.finalizers.retain(|finalizer| finalizer != FINALIZER);
        }
        cluster.apply(Object::ResourceClaim(Box::new(claim)));
    }
    let made_for_finished = |claim: &&ResourceClaim| {
        let owner = controller(&claim.metadata);
        claim.status.reserved_for.is_empty() && owner.is_some_and(|owner| finished.contains(&owner.uid))
    };
    let left: Vec<ObjectRef> = cluster.claims().values().filter(made_for_finished).map(claim_reference).collect();
    for claim in left {
        cluster.delete(&claim);
    }
}
