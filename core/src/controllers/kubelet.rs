//! The kubelet's question: may this Pod use its claims?
//!
//! Source: KEP-4381, "kubelet"; KEP-5729, "Determining Allowed Pods for a ResourceClaim".

use crate::api::pod::Pod;
use crate::cluster::Cluster;
use crate::cluster::entries::{self, Resolved};
use crate::scheduler::node_fit::{is_inferred, selects};

/// What the kubelet does about one entry of a Pod.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Permission {
    /// The Pod may use the claim.
    Granted {
        /// The claim.
        claim: String,
        /// Why: the Pod itself is listed, or its PodGroup.
        through_group: bool,
    },
    /// The entry needs no claim.
    NotNeeded,
    /// The Pod is not started; the kubelet looks again later.
    Refused(Refusal),
}

/// Why a Pod is not started; claims by their names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The claim of an entry was not made yet.
    NotCreated,
    /// The claim is not there.
    Missing(String),
    /// The claim was made for somebody else.
    Foreign(String),
    /// The node has no access to the devices of the claim: none of its drivers knows them.
    Elsewhere {
        /// The claim.
        claim: String,
        /// The Pod's node.
        node: String,
    },
    /// No reservation lets the Pod use the claim.
    NotReserved(String),
    /// The claim has no devices.
    NotAllocated(String),
}

/// Whether a Pod may use the claim of each of its entries. `groups` says whether the kubelet knows PodGroups: an old one,
/// or one with the feature off, accepts only Pods that are listed themselves.
///
/// The PodGroup itself is never looked up: the Pod's status names all claims.
pub fn may_use(cluster: &Cluster, pod: &Pod, groups: bool) -> Vec<Permission> {
    let entries = pod.spec.resource_claims.iter().map(|entry| entries::resolve(pod, entry, None));
    let extended = pod.extended_resource_claim().map(|name| Resolved::Claim { name, is_generated: true });
    entries.chain(extended).map(|resolved| permission(cluster, pod, resolved, groups)).collect()
}

fn permission(cluster: &Cluster, pod: &Pod, resolved: Resolved<'_>, groups: bool) -> Permission {
    let (claim, is_generated) = match resolved {
        Resolved::Claim { name, is_generated } => (name.to_owned(), is_generated),
        Resolved::NotNeeded => return Permission::NotNeeded,
        Resolved::NotCreated | Resolved::NoSource => return Permission::Refused(Refusal::NotCreated),
    };
    let Some(found) = cluster.claims().get(&(pod.metadata.namespace.clone(), claim.clone())) else {
        return Permission::Refused(Refusal::Missing(claim));
    };
    if is_generated && found.metadata.controller().is_some() && !entries::is_for_pod(pod, found, groups) {
        return Permission::Refused(Refusal::Foreign(claim));
    }
    if !entries::is_reserved_for_pod(pod, found, groups) {
        return Permission::Refused(Refusal::NotReserved(claim));
    }
    let Some(allocation) = &found.status.allocation else {
        return Permission::Refused(Refusal::NotAllocated(claim));
    };
    let node = cluster.nodes().get(&pod.spec.node_name).filter(|node| !is_inferred(node));
    let selector = allocation.node_selector.as_ref();
    if node.zip(selector).is_some_and(|(node, selector)| !selects(selector, node)) {
        return Permission::Refused(Refusal::Elsewhere { claim, node: pod.spec.node_name.clone() });
    }
    Permission::Granted { claim, through_group: !entries::is_reserved_for_pod(pod, found, false) }
}
