//! The claims of a waiting Pod, and what keeps it from being tried at all.

use crate::api::claim::{DeviceRequest, ResourceClaim, ResourceClaimConsumerReference};
use crate::api::group::PodGroup;
use crate::api::pod::Pod;
use crate::cluster::Cluster;
use crate::cluster::entries::{self, Binding, Resolved};
use crate::profile::{Features, Mode};

/// One claim of a Pod.
#[derive(Clone, Debug)]
pub(super) struct Need {
    /// The claim as it is.
    pub(super) claim: ResourceClaim,
    /// The reservation that the Pod needs.
    pub(super) consumer: ResourceClaimConsumerReference,
    /// Whether there is one that lets the Pod use it.
    pub(super) is_reserved: bool,
    /// Whether it is the PodGroup's.
    pub(super) is_shared: bool,
    /// Whether the claim is still to be made.
    pub(super) is_new: bool,
}

impl Need {
    pub(super) fn is_allocated(&self) -> bool {
        self.claim.status.allocation.is_some()
    }
}

/// The claims of a Pod in the order of its entries, each once.
///
/// DIFFERENCE: the reference takes a claim that two entries name for two, and finds devices for it twice.
///
/// # Errors
///
/// Why the Pod is not to be tried yet, in the reference's words; users do not see them.
pub(super) fn needs(cluster: &Cluster, features: &Features, pod: &Pod) -> Result<Vec<Need>, String> {
    let groups = features.workload_resource_claims;
    let group = entries::group_of(cluster, pod).filter(|_| groups);
    let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
    let mut needs: Vec<Need> = Vec::new();
    for entry in pod.spec.resource_claims.iter().filter(|_| features.dynamic_resource_allocation) {
        let (claim, is_generated) = match entries::resolve(pod, entry, group) {
            Resolved::Claim { name, is_generated } => (name, is_generated),
            Resolved::NotNeeded => continue,
            Resolved::NotCreated => return Err(format!("pod \"{namespace}/{name}\": ResourceClaim not created yet")),
            Resolved::NoSource => {
                return Err(format!(
                    "pod \"{namespace}/{name}\", spec.resourceClaim \"{}\": none of the supported fields are set",
                    entry.name
                ));
            }
        };
        let Some(found) = cluster.claims().get(&(namespace.clone(), claim.to_owned())) else {
            return Err(format!("could not find ResourceClaim \"{namespace}/{claim}\""));
        };
        if found.metadata.is_deleting() {
            return Err(format!("resourceclaim \"{claim}\" is being deleted"));
        }
        if is_generated && !entries::is_for_pod(pod, found, groups) {
            let who = match pod.group_name().filter(|_| groups) {
                Some(group) => format!("neither Pod nor PodGroup {group} is the owner"),
                None => "Pod is not owner".to_owned(),
            };
            return Err(format!(
                "ResourceClaim {namespace}/{claim} was not created for Pod {namespace}/{name} ({who})"
            ));
        }
        let counts_again = cluster.profile().mode == Mode::Reference;
        if counts_again || needs.iter().all(|need| need.claim.metadata.name != claim) {
            needs.push(Need {
                consumer: entries::consumer(pod, Some(entry), group),
                is_reserved: entries::is_reserved_for_pod(pod, found, groups),
                is_shared: entries::binding(entry, group) == Binding::Group,
                is_new: false,
                claim: ResourceClaim::clone(found),
            });
        }
    }
    Ok(needs)
}

/// The claim for a Pod's extended resources: one that was made before and has devices, or the one to be made.
pub(super) fn special(pod: &Pod, claim: ResourceClaim, is_new: bool) -> Need {
    Need {
        consumer: entries::consumer(pod, None, None),
        is_reserved: entries::is_reserved_for_pod(pod, &claim, false),
        is_shared: false,
        is_new,
        claim,
    }
}

/// What keeps a member of a PodGroup from being tried, in the reference's words.
pub(super) fn group_hold(cluster: &Cluster, features: &Features, pod: &Pod) -> Result<Option<PodGroup>, String> {
    let Some(name) = pod.group_name().filter(|_| features.generic_workload) else { return Ok(None) };
    let key = (pod.metadata.namespace.clone(), name.to_owned());
    let Some(group) = cluster.pod_groups().get(&key) else {
        return Err(format!("waiting for pods's pod group \"{name}\" to appear in scheduling queue"));
    };
    if let Some(min_count) = group.min_count().filter(|_| features.gang_scheduling) {
        let known = cluster.links().pods_of_group(&key).count();
        if i64::try_from(known).unwrap_or(i64::MAX) < min_count {
            return Err("waiting for minCount pods from a gang to appear in scheduling queue".to_owned());
        }
    }
    Ok(Some(group.clone()))
}

/// What is wrong with the requests of an unallocated claim, before any node is looked at.
pub(super) fn request_problem(cluster: &Cluster, features: &Features, claim: &ResourceClaim) -> Option<String> {
    let place = || format!("resource claim {}/{}", claim.metadata.namespace, claim.metadata.name);
    let class = |label: String, class: &str| {
        if class.is_empty() {
            return Some(format!("request {label}: unsupported request type"));
        }
        let is_known = cluster.classes().contains_key(class);
        (!is_known).then(|| format!("request {label}: device class {class} does not exist"))
    };
    claim.spec.devices.requests.iter().find_map(|request: &DeviceRequest| {
        if let Some(exact) = &request.exactly {
            return class(request.name.clone(), &exact.device_class_name);
        }
        if request.first_available.is_empty() {
            return Some(format!("{}, request {}: unknown request type", place(), request.name));
        }
        if !features.prioritized_list {
            let text = "has subrequests, but the DRAPrioritizedList feature is disabled";
            return Some(format!("{}, request {}: {text}", place(), request.name));
        }
        let mut subs = request.first_available.iter();
        subs.find_map(|sub| class(format!("{}/{}", request.name, sub.name), &sub.device_class_name))
    })
}
