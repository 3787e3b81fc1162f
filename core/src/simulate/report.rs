//! The report, from the cluster after the run.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::claim::ResourceClaim;
use crate::cluster::{Cluster, Key};
use crate::finding::Finding;

use super::claims::{Entry, template_of};
use super::schedule::Verdict;
use super::special::NAME;
use super::{AllocatedDevice, ClaimReport, NodeReport, PodClaimReport, PodReport, Report};
use crate::controllers::workloads::{reference, root_of};
use crate::scheduler::node_fit::is_inferred;

/// Driver, pool and device.
type DeviceKey<'c> = (&'c str, &'c str, &'c str);

/// Builds the report.
pub(crate) fn report(
    cluster: &Cluster,
    order: &[Key],
    entries: &BTreeMap<Key, Vec<Entry>>,
    mut verdicts: BTreeMap<Key, Verdict>,
    findings: Vec<Finding>,
) -> Report {
    let pods = order
        .iter()
        .map(|key| {
            let verdict = verdicts.remove(key).unwrap_or_default();
            let root = cluster.pods().get(key).and_then(|pod| root_of(cluster, pod));
            let claims = entries.get(key).map(Vec::as_slice).unwrap_or_default();
            let special = cluster.pods().get(key).and_then(|pod| pod.extended_resource_claim());
            let special = special.map(|claim| PodClaimReport { name: NAME.to_owned(), claim: Some(claim.clone()) });
            PodReport {
                namespace: key.0.clone(),
                name: key.1.clone(),
                owner: root.map(reference),
                node: verdict.node,
                reasons: verdict.reasons,
                claims: claims
                    .iter()
                    .map(|entry| PodClaimReport { name: entry.name.clone(), claim: entry.claim.clone() })
                    .chain(special)
                    .collect(),
            }
        })
        .collect();
    let claims = cluster.claims().values().map(|claim| claim_report(cluster, claim)).collect();
    Report { nodes: node_reports(cluster, &pods), pods, claims, findings }
}

fn claim_report(cluster: &Cluster, claim: &ResourceClaim) -> ClaimReport {
    let status = &claim.status;
    let results = status.allocation.iter().flat_map(|allocation| &allocation.devices.results);
    let namespace = &claim.metadata.namespace;
    let consumer = |resource: &str, name: &str| match resource {
        "pods" => format!("{namespace}/{name}"),
        other => format!("{other} {namespace}/{name}"),
    };
    ClaimReport {
        namespace: namespace.clone(),
        name: claim.metadata.name.clone(),
        template: template_of(cluster, claim).map(|template| template.name),
        allocated: status.allocation.is_some(),
        devices: results.map(AllocatedDevice::from).collect(),
        reserved_for: status.reserved_for.iter().map(|entry| consumer(&entry.resource, &entry.name)).collect(),
    }
}

fn node_reports(cluster: &Cluster, pods: &Vec<PodReport>) -> Vec<NodeReport> {
    let allocated = allocated(cluster);
    let local = local_devices(cluster);
    let mut pods_by_node: BTreeMap<&String, Vec<String>> = BTreeMap::new();
    for pod in pods {
        if let Some(node) = &pod.node {
            pods_by_node.entry(node).or_default().push(format!("{}/{}", pod.namespace, pod.name));
        }
    }
    cluster
        .nodes()
        .iter()
        .map(|(name, node)| {
            let devices = local.get(name.as_str());
            let count = devices.map_or(0, BTreeSet::len);
            let in_use = devices.map_or(0, |devices| devices.intersection(&allocated).count());
            NodeReport {
                name: name.clone(),
                inferred: is_inferred(node),
                local_devices: count as u64,
                allocated_devices: in_use as u64,
                pods: pods_by_node.remove(name).unwrap_or_default(),
            }
        })
        .collect()
}

/// Devices of the newest generation of each pool, by the one node that has access.
fn local_devices(cluster: &Cluster) -> BTreeMap<&str, BTreeSet<DeviceKey<'_>>> {
    let mut newest: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    for slice in cluster.slices().values() {
        let pool = &slice.spec.pool;
        let generation = newest.entry((&slice.spec.driver, &pool.name)).or_insert(pool.generation);
        *generation = (*generation).max(pool.generation);
    }
    let mut local: BTreeMap<&str, BTreeSet<DeviceKey<'_>>> = BTreeMap::new();
    for slice in cluster.slices().values() {
        let (spec, pool) = (&slice.spec, &slice.spec.pool);
        if newest.get(&(spec.driver.as_str(), pool.name.as_str())) != Some(&pool.generation) {
            continue;
        }
        for device in &spec.devices {
            if let Some(node) = spec.node_name.as_deref().or(device.node_name.as_deref()) {
                local.entry(node).or_default().insert((&spec.driver, &pool.name, &device.name));
            }
        }
    }
    local
}

/// Devices that claims have, other than for administration.
fn allocated(cluster: &Cluster) -> BTreeSet<DeviceKey<'_>> {
    let allocations = cluster.claims().values().filter_map(|claim| claim.status.allocation.as_ref());
    let results = allocations.flat_map(|allocation| &allocation.devices.results);
    let taken = results.filter(|result| result.admin_access != Some(true));
    taken.map(|result| (result.driver.as_str(), result.pool.as_str(), result.device.as_str())).collect()
}
