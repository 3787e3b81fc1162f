//! The kubelet's question: may this Pod use its claims?
//!
//! Source: KEP-4381, "kubelet"; KEP-5729, "Determining Allowed Pods for a ResourceClaim".

use crate::api::claim::ResourceClaim;
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

/// Why a Pod is not started.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// The claim of an entry was not made yet.
    #[error("pod \"{namespace}/{pod}\": ResourceClaim not created yet")]
    NotCreated {
        /// Namespace of the Pod.
        namespace: String,
        /// The Pod.
        pod: String,
    },
    /// The claim is not there.
    #[error(
        "failed to fetch ResourceClaim {claim} referenced by pod {pod}: resourceclaims.resource.k8s.io \"{claim}\" not found"
    )]
    Missing {
        /// The Pod.
        pod: String,
        /// The claim.
        claim: String,
    },
    /// The claim was made for somebody else.
    #[error("ResourceClaim {namespace}/{claim} was not created for Pod {namespace}/{pod} (Pod is not owner)")]
    Foreign {
        /// Namespace of both.
        namespace: String,
        /// The Pod.
        pod: String,
        /// The claim.
        claim: String,
    },
    /// The node has no access to the devices of the claim: none of its drivers knows them.
    #[error("failed to prepare ResourceClaim {claim}: its devices are not available on node {node}")]
    Elsewhere {
        /// The claim.
        claim: String,
        /// The Pod's node.
        node: String,
    },
    /// No reservation lets the Pod use the claim.
    #[error("pod {pod} ({uid}) is not allowed to use ResourceClaim {claim} ({claim_uid})")]
    NotReserved {
        /// The Pod.
        pod: String,
        /// Its UID.
        uid: String,
        /// The claim.
        claim: String,
        /// UID of the claim.
        claim_uid: String,
    },
    /// The claim has no devices.
    #[error("claim {claim} is not allocated")]
    NotAllocated {
        /// The claim.
        claim: String,
    },
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
    let (namespace, name) = (pod.metadata.namespace.clone(), pod.metadata.name.clone());
    let (claim, is_generated) = match resolved {
        Resolved::Claim { name, is_generated } => (name, is_generated),
        Resolved::NotNeeded => return Permission::NotNeeded,
        Resolved::NotCreated | Resolved::NoSource => {
            return Permission::Refused(Refusal::NotCreated { namespace, pod: name });
        }
    };
    let Some(found) = cluster.claims().get(&(namespace.clone(), claim.to_owned())) else {
        return Permission::Refused(Refusal::Missing { pod: name, claim: claim.to_owned() });
    };
    if is_generated && found.metadata.controller().is_some() && !entries::is_for_pod(pod, found, groups) {
        return Permission::Refused(Refusal::Foreign { namespace, pod: name, claim: claim.to_owned() });
    }
    granted(cluster, pod, found, groups)
}

fn granted(cluster: &Cluster, pod: &Pod, claim: &ResourceClaim, groups: bool) -> Permission {
    let name = claim.metadata.name.clone();
    if !entries::is_reserved_for_pod(pod, claim, groups) {
        return Permission::Refused(Refusal::NotReserved {
            pod: pod.metadata.name.clone(),
            uid: pod.metadata.uid.clone(),
            claim: name,
            claim_uid: claim.metadata.uid.clone(),
        });
    }
    let Some(allocation) = &claim.status.allocation else {
        return Permission::Refused(Refusal::NotAllocated { claim: name });
    };
    let node = cluster.nodes().get(&pod.spec.node_name).filter(|node| !is_inferred(node));
    let selector = allocation.node_selector.as_ref();
    if node.zip(selector).is_some_and(|(node, selector)| !selects(selector, node)) {
        return Permission::Refused(Refusal::Elsewhere { claim: name, node: pod.spec.node_name.clone() });
    }
    let through_group = !entries::is_reserved_for_pod(pod, claim, false);
    Permission::Granted { claim: name, through_group }
}
