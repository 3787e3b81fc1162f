//! A device that two claims have at the same time. No Pod is bound to it.

use crate::api::claim::ResourceClaim;
use crate::api::pod::Pod;
use crate::cluster::Cluster;
use crate::cluster::entries::{Resolved, group_of, resolve};

/// Says which of a Pod's claims shares a device with another claim, if one does.
pub(super) fn overlap(cluster: &Cluster, pod: &Pod) -> Option<String> {
    let (group, namespace) = (group_of(cluster, pod), &pod.metadata.namespace);
    let mut claims = pod.spec.resource_claims.iter().filter_map(|entry| match resolve(pod, entry, group) {
        Resolved::Claim { name, .. } => cluster.claims().get(&(namespace.clone(), name.to_owned())),
        Resolved::NotNeeded | Resolved::NotCreated | Resolved::NoSource => None,
    });
    claims.find_map(|claim| of_claim(cluster, claim))
}

fn of_claim(cluster: &Cluster, own: &ResourceClaim) -> Option<String> {
    own.held().next()?;
    let others = cluster.held().filter(|(claim, _)| claim.metadata.uid != own.metadata.uid);
    let (other, device) = others.into_iter().find(|(_, theirs)| own.held().any(|mine| mine.excludes(theirs)))?;
    let (own, other) = (&own.metadata, &other.metadata);
    Some(format!(
        "not bound: claims {}/{} and {}/{} both have device {}/{}/{}; delete one of them",
        own.namespace, own.name, other.namespace, other.name, device.driver, device.pool, device.device
    ))
}
