//! The claim that the scheduler makes for a Pod's extended resources (KEP-5004).

use std::sync::Arc;

use serde_json::json;

use crate::allocate::extended::{self, ANNOTATION, ExtendedResources, class_for};
use crate::api::claim::ResourceClaim;
use crate::api::meta::OwnerReference;
use crate::api::pod::{Pod, PodExtendedResourceClaimStatus};
use crate::cluster::Cluster;
use crate::derive::{self, uid_of};

/// Name of the claim as long as it is not written.
pub(crate) const NAME: &str = "<extended-resources>";

/// Whether a Pod asks for a resource that devices can serve, on one node or another.
pub(crate) fn is_asked(cluster: &Cluster, pod: &Pod) -> bool {
    let containers = pod.spec.init_containers.iter().chain(&pod.spec.containers);
    let mut names = containers.flat_map(|container| {
        container.resources.limits.keys().chain(container.resources.requests.keys()).filter(|name| name.contains('/'))
    });
    let features = &cluster.profile().features;
    features.dynamic_resource_allocation
        && features.extended_resource
        && names.any(|name| class_for(cluster, name).is_some())
}

/// The claim that was made for a Pod earlier.
pub(crate) fn existing<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<&'c ResourceClaim> {
    let uid = &pod.metadata.uid;
    let claims = cluster.links().claims_of_owner(uid).filter_map(|key| cluster.claims().get(key).map(Arc::as_ref));
    let is_own = |claim: &&ResourceClaim| claim.metadata.controller().is_some_and(|owner| owner.uid == *uid);
    claims.filter(is_own).find(|claim| claim.metadata.annotations.get(ANNOTATION).is_some_and(|value| value == "true"))
}

/// What a request of the claim with that name serves: a resource, and which container asks for it. `None` for requests that users write.
pub(crate) fn served(pod: &Pod, claim: &str, request: &str) -> Option<(String, String)> {
    extended::served(pod, request).filter(|_| claim == NAME)
}

/// The same in words.
pub(crate) fn in_words(pod: &Pod, claim: &str, request: &str) -> Option<String> {
    let (resource, container) = served(pod, claim, request)?;
    Some(format!("`{resource}` of container `{container}`"))
}

/// The claim as it is decided about: with the requests of one node.
pub(crate) fn claim(pod: &Pod, extended: &ExtendedResources) -> ResourceClaim {
    let mut claim = ResourceClaim::default();
    let metadata = &mut claim.metadata;
    metadata.namespace.clone_from(&pod.metadata.namespace);
    metadata.name = NAME.to_owned();
    metadata.generate_name = format!("{}-extended-resources-", pod.metadata.name);
    metadata.annotations.insert(ANNOTATION.to_owned(), "true".to_owned());
    let owner = pod.metadata.as_controller("v1", "Pod");
    metadata.owner_references.push(OwnerReference { uid: uid_of("Pod", &pod.metadata), ..owner });
    claim.devices_mut().requests.clone_from(&extended.requests);
    claim
}

/// The claim as it is written: with a name that no other claim has.
pub(crate) fn named(cluster: &Cluster, pod: &Pod, mut claim: ResourceClaim) -> ResourceClaim {
    let owner = uid_of("Pod", &pod.metadata);
    let metadata = &mut claim.metadata;
    metadata.name = derive::free_name(&metadata.generate_name, &[&owner, NAME], |name| {
        cluster.claims().contains_key(&(metadata.namespace.clone(), name.to_owned()))
    });
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
