//! What devices take of their node's own resources (KEP-5517): CPU, memory and the like for which a device stands, and what using
//! it costs beside that.
//!
//! The allocator never looks at this. Only when a Pod's claims have devices on a node is their demand added to what the Pod's containers
//! ask for, and the node must have room for all of it; if not, no other devices of the node are tried.
//!
//! Source: `nodeallocatabledynamicresources.go`; KEP-5517.

use std::collections::BTreeMap;

use super::node_fit::{self, NodeState, Refusal, Resources};
use super::requests;
use crate::allocate::extended::ANNOTATION;
use crate::api::claim::{AllocationResult, DeviceRequestAllocationResult, ResourceClaim};
use crate::api::pod::{Container, NodeAllocatableClaimStatus, NodeAllocatableCost, NodeAllocatableMapped, Pod};
use crate::api::quantity::Quantity;
use crate::api::slice::Device;
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::cluster::entries::{self, Resolved};
use crate::profile::{Profile, Version};

/// Why a Pod cannot have its devices on a node, in the reference's words.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Problem {
    /// Something is wrong: the Pod is given up.
    Error(String),
    /// Not on this node.
    Node(Vec<Refusal>),
}

/// Claims of a Pod, each with the devices that it has or would get.
pub(crate) type Claims<'c> = [(&'c ResourceClaim, &'c AllocationResult)];

/// What the devices of a Pod's claims take of a node, one entry per claim that takes something, by name; what the Pod's status is to say.
///
/// # Errors
///
/// Where that cannot be told, is not allowed, or the node has no room for it.
pub(crate) fn check(
    cluster: &Cluster,
    pod: &Pod,
    node: &NodeState,
    claims: &Claims<'_>,
) -> Result<Vec<NodeAllocatableClaimStatus>, Problem> {
    if !cluster.profile().features.node_allocatable_resources {
        return Ok(Vec::new());
    }
    let statuses = statuses(cluster, pod, claims)?;
    if statuses.is_empty() {
        return Ok(statuses);
    }
    let is_generated = |name: &str| claims.iter().any(|(claim, _)| claim.metadata.name == name && is_special(claim));
    let mut unused = statuses.iter().filter(|status| status.containers.is_empty());
    if cluster.profile().version <= Version::V1_36
        && let Some(status) = unused.find(|status| !is_generated(&status.resource_claim_name))
    {
        let claim = &status.resource_claim_name;
        return Err(refusal(format!(
            "claim {claim}: node-allocatable resource claim not referenced by any container within the pod"
        )));
    }
    let mut asking = pod.clone();
    asking.status.node_allocatable_resource_claim_statuses.clone_from(&statuses);
    if let Some(resource) = exceeds_pod_level(&asking) {
        return Err(refusal(format!(
            "pod level request for {resource} is insufficient to cover the aggregated container and node-allocatable DRA requests"
        )));
    }
    let mut demand = node_fit::requests(&asking);
    demand.retain(|name, _| matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") || is_huge_page(name));
    let refusals = node.insufficient(&demand);
    if refusals.is_empty() { Ok(statuses) } else { Err(Problem::Node(refusals)) }
}

fn refusal(text: String) -> Problem {
    Problem::Node(vec![Refusal::Devices(text)])
}

/// Why a claim that has devices cannot be used by a Pod, too: what a device stands for is for one Pod.
pub(crate) fn sharing_problem(cluster: &Cluster, claim: &ResourceClaim, is_reserved: bool) -> Option<String> {
    let allocation = claim.status.allocation.as_ref()?;
    let is_on = cluster.profile().features.node_allocatable_resources;
    if !is_on || is_reserved || claim.status.reserved_for.is_empty() {
        return None;
    }
    let has_mapping = |device: &Device| share(cluster.profile(), device).values().any(|share| share.mapping.is_some());
    let mut devices = allocation.devices.results.iter().filter_map(|result| device(cluster, result));
    if !devices.any(has_mapping) {
        return None;
    }
    let name = &claim.metadata.name;
    Some(if cluster.profile().version <= Version::V1_36 {
        format!("node allocatable resource claim {name} is already used by another pod")
    } else {
        format!("node allocatable resource claim {name} has a mapped device and cannot be shared across pods")
    })
}

/// What is taken of a node, all claims together.
pub(crate) fn taken(statuses: &[NodeAllocatableClaimStatus]) -> Resources {
    let mut taken = Resources::new();
    let mut add = |name: &String, amount: &Quantity| {
        let sum = taken.entry(name.clone()).or_default();
        *sum = sum.saturating_add(amount);
    };
    for status in statuses {
        for (name, amount) in &status.resources {
            add(name, amount);
        }
        for mapped in &status.mapping {
            mapped.quantity.iter().for_each(|amount| add(&mapped.name, amount));
        }
        for cost in &status.overhead {
            cost.per_pod.iter().for_each(|amount| add(&cost.name, amount));
            for _ in &status.containers {
                cost.per_container.iter().for_each(|amount| add(&cost.name, amount));
            }
        }
    }
    taken
}

/// A resource of which the Pod as a whole asks for less than its containers and devices together.
fn exceeds_pod_level(pod: &Pod) -> Option<String> {
    let whole = requests::of_whole(&pod.spec);
    if whole.is_empty() {
        return None;
    }
    let mut parts = pod.clone();
    parts.spec.resources = None;
    parts.spec.overhead.clear();
    let parts = node_fit::requests(&parts);
    let exceeds = |(name, whole): &(&String, &Quantity)| parts.get(*name).is_some_and(|sum| sum > *whole);
    whole.iter().find(exceeds).map(|(name, _)| name.clone())
}

/// Whether the scheduler made a claim for extended resources, which no container names.
fn is_special(claim: &ResourceClaim) -> bool {
    claim.metadata.annotations.contains_key(ANNOTATION)
}

/// Whether a resource is huge pages of a size.
pub(super) fn is_huge_page(resource: &str) -> bool {
    resource.starts_with("hugepages-")
}

fn statuses(cluster: &Cluster, pod: &Pod, claims: &Claims<'_>) -> Result<Vec<NodeAllocatableClaimStatus>, Problem> {
    let mut statuses = Vec::new();
    for (claim, allocation) in claims {
        let mut sums = Sums::default();
        for result in &allocation.devices.results {
            let Some(device) = device(cluster, result) else { continue };
            for (resource, share) in share(cluster.profile(), device) {
                sums.add(claim, result, resource, &share)?;
            }
        }
        if sums.mapped.is_empty() && sums.costs.is_empty() {
            continue;
        }
        let name = &claim.metadata.name;
        let mut status = NodeAllocatableClaimStatus {
            resource_claim_name: name.clone(),
            containers: users(cluster, pod, name),
            ..NodeAllocatableClaimStatus::default()
        };
        if cluster.profile().version <= Version::V1_36 {
            status.resources = sums.mapped;
        } else {
            let mapped =
                |(name, quantity)| NodeAllocatableMapped { name, quantity: Some(quantity), ..Default::default() };
            status.mapping = sums.mapped.into_iter().map(mapped).collect();
            status.overhead = sums.costs.into_values().collect();
        }
        statuses.push(status);
    }
    statuses.arrange_by(|a, b| a.resource_claim_name.cmp(&b.resource_claim_name));
    Ok(statuses)
}

/// Containers that refer to a claim, init containers first; once per reference.
fn users(cluster: &Cluster, pod: &Pod, claim: &str) -> Vec<String> {
    let group = entries::group_of(cluster, pod).filter(|_| cluster.profile().features.workload_resource_claims);
    let is_for_claim = |entry: &str| {
        let mut entries = pod.spec.resource_claims.iter().filter(|own| own.name == entry);
        entries
            .any(|entry| matches!(entries::resolve(pod, entry, group), Resolved::Claim { name, .. } if name == claim))
    };
    let uses = |container: &Container| {
        container
            .resources
            .claims
            .iter()
            .filter(|used| is_for_claim(&used.name))
            .map(|_| container.name.clone())
            .collect()
    };
    pod.spec
        .init_containers
        .iter()
        .chain(&pod.spec.containers)
        .flat_map(|container| -> Vec<String> { uses(container) })
        .collect()
}

/// A published device.
///
/// DIFFERENCE: the reference up to 1.36 looks for pool and device only, and may find another driver's.
fn device<'c>(cluster: &'c Cluster, result: &DeviceRequestAllocationResult) -> Option<&'c Device> {
    let pool = cluster.inventory().pool_index(&result.driver, &result.pool)?;
    let entries = cluster.inventory().slices_of_pool(pool);
    let named = entries.filter_map(|entry| {
        let device = entry.slice.spec.devices.iter().find(|device| device.name == result.device)?;
        Some((entry.slice.spec.pool.generation, device))
    });
    named.max_by_key(|(generation, _)| *generation).map(|(_, device)| device)
}

/// What a device takes of one resource.
#[derive(Default)]
struct Share<'c> {
    mapping: Option<Mapping<'c>>,
    per_pod: Option<&'c Quantity>,
    per_container: Option<&'c Quantity>,
}

/// What a device stands for.
enum Mapping<'c> {
    /// So much per unit of a capacity that is consumed.
    Capacity(&'c str, Option<&'c Quantity>),
    /// So much; 1 where that is left out.
    Device(Option<&'c Quantity>),
}

/// The shape of the version; with every feature on, either.
fn share<'c>(profile: &Profile, device: &'c Device) -> BTreeMap<&'c str, Share<'c>> {
    let mut shares: BTreeMap<&str, Share<'_>> = BTreeMap::new();
    if profile.version >= Version::V1_37 {
        for (resource, of_device) in &device.node_allocatable_resources {
            let share = shares.entry(resource).or_default();
            share.mapping = of_device.mapping.as_ref().and_then(|mapping| match &mapping.capacity_key {
                Some(key) if !key.is_empty() => Some(Mapping::Capacity(key, mapping.capacity_multiplier.as_ref())),
                _ => mapping.device_multiplier.as_ref().map(|amount| Mapping::Device(Some(amount))),
            });
            share.per_pod = of_device.overhead.as_ref().and_then(|overhead| overhead.per_pod.as_ref());
            share.per_container = of_device.overhead.as_ref().and_then(|overhead| overhead.per_container.as_ref());
        }
    }
    if profile.version <= Version::V1_36 || profile.version == Version::All {
        for (resource, mapping) in &device.node_allocatable_resource_mappings {
            let factor = mapping.allocation_multiplier.as_ref();
            shares.entry(resource).or_default().mapping = Some(match &mapping.capacity_key {
                Some(key) if !key.is_empty() => Mapping::Capacity(key, factor),
                _ => Mapping::Device(factor),
            });
        }
    }
    shares
}

/// What the devices of one claim take.
#[derive(Default)]
struct Sums {
    mapped: Resources,
    costs: BTreeMap<String, NodeAllocatableCost>,
}

impl Sums {
    fn add(
        &mut self,
        claim: &ResourceClaim,
        result: &DeviceRequestAllocationResult,
        resource: &str,
        share: &Share<'_>,
    ) -> Result<(), Problem> {
        let one = Quantity::from_i64(1, crate::api::quantity::Format::DecimalSi);
        let amount = match &share.mapping {
            None => None,
            Some(Mapping::Device(amount)) => Some(amount.unwrap_or(&one).clone()),
            Some(Mapping::Capacity(key, _)) if result.consumed_capacity.is_empty() => {
                let (namespace, name) = (&claim.metadata.namespace, &claim.metadata.name);
                return Err(Problem::Error(format!(
                    "claim {namespace}/{name}, device {}: ConsumedCapacity is nil, but Capacity key '{key}' is set in NodeAllocatableResources for resource {resource}",
                    result.device
                )));
            }
            // What is not consumed does not count.
            Some(Mapping::Capacity(key, factor)) => consumed(result, key)
                .map(|amount| factor.map_or_else(|| amount.clone(), |factor| amount.saturating_mul(factor))),
        };
        if let Some(amount) = amount {
            let sum = self.mapped.entry(resource.to_owned()).or_default();
            *sum = sum.saturating_add(&amount);
        }
        if share.per_pod.is_some() || share.per_container.is_some() {
            let new = || NodeAllocatableCost { name: resource.to_owned(), ..NodeAllocatableCost::default() };
            let cost = self.costs.entry(resource.to_owned()).or_insert_with(new);
            for (sum, amount) in [(&mut cost.per_pod, share.per_pod), (&mut cost.per_container, share.per_container)] {
                if let Some(amount) = amount {
                    *sum = Some(sum.as_ref().map_or_else(|| amount.clone(), |sum| sum.saturating_add(amount)));
                }
            }
        }
        Ok(())
    }
}

/// The consumed amount of a capacity, by its qualified name; in the driver's own domain either may leave the domain out.
fn consumed<'r>(result: &'r DeviceRequestAllocationResult, key: &str) -> Option<&'r Quantity> {
    let amounts = &result.consumed_capacity;
    let other = match key.split_once('/') {
        Some((domain, id)) => (domain == result.driver).then(|| id.to_owned()),
        None => Some(format!("{}/{key}", result.driver)),
    };
    amounts.get(key).or_else(|| amounts.get(&other?))
}
