//! The main question: manifests in, what DRA does with them out. The simulated control plane gets the objects and
//! settles; the report is what stands then.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::allocate::Limits;
use crate::api::claim::{DeviceRequestAllocationResult, ResourceClaim};
use crate::api::quantity::Quantity;
use crate::api::slice::ResourceSlice;
use crate::cluster::Cluster;
use crate::control_plane::Simulation;
use crate::controllers::workloads::{reference, root_of};
use crate::explain::origin::template_of;
use crate::explain::reasons::Verdict;
use crate::explain::settled::{Settled, look, settle};
use crate::finding::{Code, Finding, ObjectRef, Severity};
use crate::gather::Gather;
use crate::scheduler::node_fit::is_inferred;
use crate::scheduler::special::NAME;

/// What DRA did with the objects of a cluster.
#[derive(Clone, PartialEq, Debug, Serialize, Default)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Nodes by name.
    pub nodes: Vec<NodeReport>,
    /// Pods in the order in which they were scheduled: by priority, then in the order of the input.
    pub pods: Vec<PodReport>,
    /// Claims by namespace and name.
    pub claims: Vec<ClaimReport>,
    /// What is worth knowing about the run as a whole: inferred nodes, replicas left out, objects left aside.
    pub findings: Vec<Finding>,
}

/// One node.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct NodeReport {
    /// Name.
    pub name: String,
    /// Whether no Node object was given and the name was taken from the slices.
    pub inferred: bool,
    /// Devices in pools of this node alone.
    #[cfg_attr(feature = "types", ts(type = "number"))]
    pub local_devices: u64,
    /// Of these, devices that are allocated, as a whole or in part.
    #[cfg_attr(feature = "types", ts(type = "number"))]
    pub allocated_devices: u64,
    /// Pods on the node, as `namespace/name`.
    pub pods: Vec<String>,
}

/// One Pod.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct PodReport {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// The workload controller that made it, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<ObjectRef>,
    /// The node it landed on; absent while it is Pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Why it is Pending, most important first. With a node: what keeps it from running there, mostly nothing.
    pub reasons: Vec<Finding>,
    /// Its claims in the order of `spec.resourceClaims`; last the one for extended resources that devices serve, as
    /// `<extended-resources>`.
    pub claims: Vec<PodClaimReport>,
}

impl PodReport {
    /// Whether something keeps the Pod from running: it has no node, or does not start on the one that it has.
    pub fn is_stuck(&self) -> bool {
        match self.reasons.first() {
            Some(first) => first.code != Code::RunFinished,
            None => self.node.is_none(),
        }
    }
}

impl Report {
    /// Whether every Pod has a node or is over, nothing keeps it from running there, and nothing is wrong with the run as a whole.
    pub fn is_satisfied(&self) -> bool {
        let is_fine = |findings: &[Finding]| findings.iter().all(|finding| finding.severity != Severity::Error);
        self.pods.iter().all(|pod| !pod.is_stuck() && is_fine(&pod.reasons)) && is_fine(&self.findings)
    }
}

/// One entry of a Pod's `spec.resourceClaims`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct PodClaimReport {
    /// Name of the entry.
    pub name: String,
    /// Name of the claim; absent where it could not be made or found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
}

/// One claim.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClaimReport {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// The template that it was generated from, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Whether it has devices.
    pub allocated: bool,
    /// Its devices in the order of picking.
    pub devices: Vec<AllocatedDevice>,
    /// Pods that may use it, as `namespace/name`.
    pub reserved_for: Vec<String>,
}

/// One device of a claim.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AllocatedDevice {
    /// `request` or `request/subrequest`.
    pub request: String,
    /// Driver of the device.
    pub driver: String,
    /// Pool of the device.
    pub pool: String,
    /// Name of the device.
    pub device: String,
    /// Whether it was taken with admin access.
    pub admin_access: bool,
    /// Which share of a shared device this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_id: Option<String>,
    /// What the share uses up, by capacity name, as canonical quantities.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub consumed_capacity: BTreeMap<String, String>,
}

/// The device of one entry of `status.allocation.devices.results`.
impl From<&DeviceRequestAllocationResult> for AllocatedDevice {
    fn from(result: &DeviceRequestAllocationResult) -> Self {
        let amount = |(name, amount): (&String, &Quantity)| (name.clone(), amount.to_string());
        Self {
            request: result.request.clone(),
            driver: result.driver.clone(),
            pool: result.pool.clone(),
            device: result.device.clone(),
            admin_access: result.admin_access == Some(true),
            share_id: result.share_id.clone(),
            consumed_capacity: result.consumed_capacity.iter().map(amount).gather(),
        }
    }
}

/// Driver, pool and device.
type DeviceKey<'c> = (&'c str, &'c str, &'c str);

/// Lets the cluster's control plane settle.
///
/// The cluster afterwards holds what was made. Names and ids are derived from what they belong to, so a second run over the resulting
/// cluster changes nothing and reports the same nodes, Pods and claims.
pub fn run(cluster: &mut Cluster, limits: &Limits) -> Report {
    let settled = settle(cluster, limits);
    report(cluster, settled)
}

/// Nodes, Pods and claims of a control plane as they stand, and why Pods have no node.
pub fn report_of(simulation: &mut Simulation) -> Report {
    let settled = look(simulation);
    report(simulation.server().cluster(), settled)
}

/// The report of a cluster that was looked at.
fn report(cluster: &Cluster, settled: Settled) -> Report {
    let Settled { order, entries, mut verdicts, findings, .. } = settled;
    let pods = order
        .iter()
        .map(|key| {
            let Verdict { node, reasons } = verdicts.remove(key).unwrap_or_default();
            let pod = cluster.pods().get(key);
            let owner = pod.and_then(|pod| root_of(cluster, pod)).map(reference);
            let entries = entries.get(key).into_iter().flatten();
            let claims = entries.map(|entry| PodClaimReport { name: entry.name.clone(), claim: entry.claim.clone() });
            let extended = pod.and_then(|pod| pod.extended_resource_claim());
            let extended = extended.map(|claim| PodClaimReport { name: NAME.to_owned(), claim: Some(claim.clone()) });
            let (namespace, name) = key.clone();
            PodReport { namespace, name, owner, node, reasons, claims: claims.chain(extended).collect() }
        })
        .collect();
    let claims = cluster.claims().values().map(|claim| claim_report(cluster, claim)).collect();
    Report { nodes: node_reports(cluster, &pods), pods, claims, findings }
}

fn claim_report(cluster: &Cluster, claim: &ResourceClaim) -> ClaimReport {
    let status = &claim.status;
    ClaimReport {
        namespace: claim.metadata.namespace.clone(),
        name: claim.metadata.name.clone(),
        template: template_of(cluster, claim).map(|template| template.name),
        allocated: status.allocation.is_some(),
        devices: claim.results().map(AllocatedDevice::from).collect(),
        reserved_for: users(claim),
    }
}

/// For whom a claim is reserved, as `namespace/name`; other than Pods behind their resource.
pub(super) fn users(claim: &ResourceClaim) -> Vec<String> {
    let namespace = &claim.metadata.namespace;
    let reserved = claim.status.reserved_for.iter();
    let user = reserved.map(|user| match user.resource.as_str() {
        "pods" => format!("{namespace}/{}", user.name),
        other => format!("{other} {namespace}/{}", user.name),
    });
    user.collect()
}

fn node_reports(cluster: &Cluster, pods: &Vec<PodReport>) -> Vec<NodeReport> {
    let held = cluster.held().map(|(_, result)| (&*result.driver, &*result.pool, &*result.device));
    let allocated: BTreeSet<DeviceKey<'_>> = held.gather();
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
            NodeReport {
                name: name.clone(),
                inferred: is_inferred(node),
                local_devices: devices.map_or(0, BTreeSet::len) as u64,
                allocated_devices: devices.map_or(0, |devices| devices.intersection(&allocated).count()) as u64,
                pods: pods_by_node.remove(name).unwrap_or_default(),
            }
        })
        .collect()
}

/// Devices of the newest generation of each pool, by the one node that has access.
fn local_devices(cluster: &Cluster) -> BTreeMap<&str, BTreeSet<DeviceKey<'_>>> {
    let mut local: BTreeMap<&str, BTreeSet<DeviceKey<'_>>> = BTreeMap::new();
    for (ResourceSlice { spec, .. }, device) in cluster.newest_devices() {
        if let Some(node) = spec.node_name.as_deref().or(device.node_name.as_deref()) {
            local.entry(node).or_default().insert((&spec.driver, &spec.pool.name, &device.name));
        }
    }
    local
}
