//! The claim that the scheduler makes for a Pod's extended resources (KEP-5004).

use serde_json::json;

use crate::allocate::Outcome;
use crate::allocate::extended::{ANNOTATION, ExtendedResources};
use crate::api::claim::ResourceClaim;
use crate::api::meta::OwnerReference;
use crate::api::pod::{Pod, PodExtendedResourceClaimStatus};
use crate::cluster::Cluster;
use crate::derive;

use super::expand::uid_of;

/// Name of the claim as long as it is not written.
pub(crate) const NAME: &str = "<extended-resources>";

/// The claim as it is decided about: with the requests of one node.
pub(crate) fn claim(pod: &Pod, extended: &ExtendedResources) -> ResourceClaim {
    let mut claim = ResourceClaim::default();
    let metadata = &mut claim.metadata;
    metadata.namespace.clone_from(&pod.metadata.namespace);
    metadata.name = NAME.to_owned();
    metadata.generate_name = format!("{}-extended-resources-", pod.metadata.name);
    metadata.annotations.insert(ANNOTATION.to_owned(), "true".to_owned());
    metadata.owner_references.push(OwnerReference {
        api_version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        name: pod.metadata.name.clone(),
        uid: uid_of("Pod", &pod.metadata),
        controller: Some(true),
        ..OwnerReference::default()
    });
    claim.spec.devices.requests.clone_from(&extended.requests);
    claim
}

/// The claim as it is written: with a name that no other claim has.
pub(crate) fn named(cluster: &Cluster, pod: &Pod, mut claim: ResourceClaim) -> ResourceClaim {
    let owner = uid_of("Pod", &pod.metadata);
    let metadata = &mut claim.metadata;
    // A name that is taken is tried again with other letters; with so many of them that ends soon.
    for attempt in 0..u16::MAX {
        let name = derive::generated_name(&metadata.generate_name, &[&owner, NAME, &attempt.to_string()]);
        if !cluster.claims().contains_key(&(metadata.namespace.clone(), name.clone())) {
            metadata.name = name;
            break;
        }
    }
    metadata.uid = derive::uid("ResourceClaim", &metadata.namespace, &metadata.name);
    claim
}

/// What the Pod's status says about the claim.
pub(crate) fn status(claim: &ResourceClaim, extended: &ExtendedResources) -> PodExtendedResourceClaimStatus {
    let mappings = extended.mappings.iter().map(|mapping| {
        json!({
            "containerName": mapping.container, "resourceName": mapping.resource, "requestName": mapping.request,
        })
    });
    PodExtendedResourceClaimStatus {
        resource_claim_name: claim.metadata.name.clone(),
        request_mappings: mappings.collect(),
        ..PodExtendedResourceClaimStatus::default()
    }
}

/// What two groups of nodes answered, as if they had been asked together.
pub(crate) fn together(before: Option<Outcome>, after: Outcome) -> Outcome {
    match (before, after) {
        (Some(Outcome::Unsatisfied { nodes }), Outcome::Unsatisfied { nodes: more }) => {
            Outcome::Unsatisfied { nodes: [nodes, more].concat() }
        }
        (Some(Outcome::Unsatisfied { nodes }), Outcome::GaveUp { node, nodes: more }) => {
            Outcome::GaveUp { node, nodes: [nodes, more].concat() }
        }
        (_, after) => after,
    }
}
