//! What a Pod's claim entries mean: which claim, made from what, used by the Pod or by its PodGroup.
//!
//! `podGroupResourceClaim` (KEP-5729 as proposed) and an entry equal to one of the PodGroup (as shipped) resolve to the
//! same [`Binding`], so that nobody else needs to know the spelling.
//!
//! Source: `dynamic-resource-allocation/resourceclaim`; KEP-5729.

use std::sync::Arc;

use crate::api::claim::{ResourceClaim, ResourceClaimConsumerReference};
use crate::api::group::PodGroup;
use crate::api::meta::ObjectMeta;
use crate::api::pod::{Pod, PodResourceClaim, PodResourceClaimStatus};
use crate::cluster::{Cluster, Key};

/// API group of PodGroups, as in reservations.
pub const SCHEDULING_GROUP: &str = "scheduling.k8s.io";

/// Annotation of a generated claim: the entry that it was made for.
pub(crate) const ENTRY_ANNOTATION: &str = "resource.kubernetes.io/pod-claim-name";

/// The same for claims of PodGroups, as proposed; recognised, and written by nobody.
pub(crate) const GROUP_ENTRY_ANNOTATION: &str = "resource.kubernetes.io/podgroup-claim-name";

/// Who consumes the claim of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binding {
    /// The Pod itself.
    Pod,
    /// The Pod's PodGroup, as one consumer for all its Pods.
    Group,
}

/// Where the claim of an entry comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source<'e> {
    /// A claim that a user made.
    Named(&'e str),
    /// A template of the namespace.
    Template(&'e str),
    /// A cluster-wide template.
    ClusterTemplate(&'e str),
}

/// The claim of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resolved<'e> {
    /// This claim.
    Claim {
        /// Its name.
        name: &'e str,
        /// Whether it was generated, so that its owner must be checked.
        is_generated: bool,
    },
    /// The entry needs no claim.
    NotNeeded,
    /// The claim was not made yet.
    NotCreated,
    /// The entry names nothing to make it from.
    NoSource,
}

/// The source of an entry of a PodGroup, or of a Pod's own.
pub(crate) fn source(entry: &PodResourceClaim) -> Option<Source<'_>> {
    let named = entry.resource_claim_name.as_deref().map(Source::Named);
    let template = || entry.resource_claim_template_name.as_deref().map(Source::Template);
    let cluster = || entry.cluster_resource_claim_template_name.as_deref().map(Source::ClusterTemplate);
    named.or_else(template).or_else(cluster)
}

/// The PodGroup that a Pod is part of, if it exists.
pub(crate) fn group_of<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<&'c PodGroup> {
    let key = (pod.metadata.namespace.clone(), pod.group_name()?.to_owned());
    cluster.pod_groups().get(&key)
}

/// The entry of the PodGroup that a Pod's entry stands for, if it does.
pub(crate) fn group_entry<'g>(entry: &PodResourceClaim, group: Option<&'g PodGroup>) -> Option<&'g PodResourceClaim> {
    let entries = &group?.spec.resource_claims;
    if let Some(name) = &entry.pod_group_resource_claim {
        return entries.iter().find(|other| other.name == *name);
    }
    entries.iter().find(|other| other.name == entry.name && source(other) == source(entry) && source(entry).is_some())
}

/// Who consumes the claim of a Pod's entry. `group` is the Pod's PodGroup where the feature is on.
pub(crate) fn binding(entry: &PodResourceClaim, group: Option<&PodGroup>) -> Binding {
    if group_entry(entry, group).is_some() { Binding::Group } else { Binding::Pod }
}

/// The claim of a Pod's entry. `group` is the Pod's PodGroup where the feature is on.
pub fn resolve<'e>(pod: &'e Pod, entry: &'e PodResourceClaim, group: Option<&'e PodGroup>) -> Resolved<'e> {
    if let Some(name) = &entry.resource_claim_name {
        return Resolved::Claim { name, is_generated: false };
    }
    let named = group_entry(entry, group).and_then(|entry| entry.resource_claim_name.as_deref());
    if let Some(name) = named {
        return Resolved::Claim { name, is_generated: false };
    }
    if source(entry).is_none() && entry.pod_group_resource_claim.is_none() {
        return Resolved::NoSource;
    }
    recorded(&pod.status.resource_claim_statuses, &entry.name)
}

/// The claim of a PodGroup's entry.
pub(crate) fn resolve_for_group<'e>(group: &'e PodGroup, entry: &'e PodResourceClaim) -> Resolved<'e> {
    match source(entry) {
        Some(Source::Named(name)) => Resolved::Claim { name, is_generated: false },
        Some(_) => recorded(&group.status.resource_claim_statuses, &entry.name),
        None => Resolved::NoSource,
    }
}

fn recorded<'e>(statuses: &'e [PodResourceClaimStatus], entry: &str) -> Resolved<'e> {
    match statuses.iter().find(|status| status.name == entry).map(|status| status.resource_claim_name.as_deref()) {
        Some(Some(name)) => Resolved::Claim { name, is_generated: true },
        Some(None) => Resolved::NotNeeded,
        None => Resolved::NotCreated,
    }
}

/// Whether a generated claim was made for the Pod, or for its PodGroup where `groups` says that the feature is on.
///
/// A Pod knows its PodGroup by name only. That is safe while the finalizer keeps the PodGroup from being replaced under
/// living Pods (KEP-5729, "Finding Pods").
pub fn is_for_pod(pod: &Pod, claim: &ResourceClaim, groups: bool) -> bool {
    let Some(owner) = claim.metadata.controller() else { return false };
    if pod.metadata.namespace != claim.metadata.namespace {
        return false;
    }
    let by_group = || {
        let group = owner.api_version.split_once('/').map(|(group, _)| group);
        owner.kind == "PodGroup" && group == Some(SCHEDULING_GROUP) && pod.group_name() == Some(&owner.name)
    };
    owner.uid == pod.metadata.uid || (groups && by_group())
}

/// Whether an object controls a claim of its namespace.
pub(crate) fn is_controlled_by(claim: &ResourceClaim, owner: &ObjectMeta) -> bool {
    claim.metadata.namespace == owner.namespace
        && claim.metadata.controller().is_some_and(|controller| controller.uid == owner.uid)
}

/// Whether a reservation lets the Pod use the claim: by UID, or through its PodGroup where `groups` says that the feature
/// is on.
pub fn is_reserved_for_pod(pod: &Pod, claim: &ResourceClaim, groups: bool) -> bool {
    claim.status.reserved_for.iter().any(|consumer| {
        consumer.uid == pod.metadata.uid
            || (groups && is_group_reference(consumer) && pod.group_name() == Some(&consumer.name))
    })
}

/// Whether a reservation names a Pod.
pub(crate) fn is_pod_reference(consumer: &ResourceClaimConsumerReference) -> bool {
    consumer.api_group.is_empty() && consumer.resource == "pods"
}

/// Whether a reservation names a PodGroup.
pub(crate) fn is_group_reference(consumer: &ResourceClaimConsumerReference) -> bool {
    consumer.api_group == SCHEDULING_GROUP && consumer.resource == "podgroups"
}

/// The reservation that an entry needs.
pub(crate) fn consumer(
    pod: &Pod,
    entry: Option<&PodResourceClaim>,
    group: Option<&PodGroup>,
) -> ResourceClaimConsumerReference {
    let for_group = entry.is_some_and(|entry| binding(entry, group) == Binding::Group);
    let (api_group, resource, metadata) = match group.filter(|_| for_group) {
        Some(group) => (SCHEDULING_GROUP, "podgroups", &group.metadata),
        None => ("", "pods", &pod.metadata),
    };
    ResourceClaimConsumerReference {
        api_group: api_group.to_owned(),
        resource: resource.to_owned(),
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        ..ResourceClaimConsumerReference::default()
    }
}

/// The claim that an object controls and that was made for one of its entries; the first by name where there are several.
pub(crate) fn generated_for<'c>(cluster: &'c Cluster, owner: &ObjectMeta, entry: &str) -> Option<&'c ResourceClaim> {
    let keys = cluster.links().claims_of_owner(&owner.uid);
    keys.filter_map(|key| cluster.claims().get(key).map(Arc::as_ref))
        .find(|claim| claim.metadata.namespace == owner.namespace && entry_of(claim) == Some(entry))
}

/// The entry that a claim says it was made for.
pub(crate) fn entry_of(claim: &ResourceClaim) -> Option<&str> {
    let annotations = &claim.metadata.annotations;
    annotations.get(ENTRY_ANNOTATION).or_else(|| annotations.get(GROUP_ENTRY_ANNOTATION)).map(String::as_str)
}

/// Namespace and name.
pub(crate) fn key_of(metadata: &ObjectMeta) -> Key {
    (metadata.namespace.clone(), metadata.name.clone())
}
