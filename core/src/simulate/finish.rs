//! What finished Pods leave behind: their reservations go, and with the last one the devices.

use std::collections::BTreeSet;

use crate::api::claim::ResourceClaim;
use crate::api::object::Object;
use crate::cluster::Cluster;

use super::claims::is_finished;
use super::schedule::FINALIZER;

/// Takes finished Pods out of the claims' reservations; a claim that loses its last one is deallocated.
pub(crate) fn release_finished(cluster: &mut Cluster) {
    let finished: BTreeSet<String> =
        cluster.pods().values().filter(|pod| is_finished(pod)).map(|pod| pod.metadata.uid.clone()).collect();
    let holds = |claim: &&ResourceClaim| {
        claim.status.reserved_for.iter().any(|consumer| !consumer.uid.is_empty() && finished.contains(&consumer.uid))
    };
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
}
