//! An embedded cluster: manifests in, what DRA does with them out.
//!
//! Workload controllers make Pods, templates make claims, Pods are scheduled one after another in a fixed order,
//! and claims get devices through the same allocator that answers every other question.
//!
//! Time does not pass: Pods that got their place keep it. Names and ids are derived from what they belong to, so a second
//! run over the resulting cluster changes nothing and reports the same nodes, Pods and claims.

pub(crate) mod claims;
pub(crate) mod finish;
pub(crate) mod infer;
mod order;
pub(crate) mod problems;
mod reasons;
mod report;
pub(crate) mod schedule;
mod settle;
mod shortfall;
mod waits;

pub use crate::controllers::workloads::MAX_PODS;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::allocate::Limits;
use crate::api::claim::DeviceRequestAllocationResult;
use crate::api::quantity::Quantity;
use crate::cluster::{Cluster, Key};
use crate::finding::{Finding, ObjectRef};
pub(crate) use crate::scheduler::special;
use claims::Simulated;

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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", ts(optional_fields))]
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

/// One entry of a Pod's `spec.resourceClaims`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", ts(optional_fields))]
pub struct PodClaimReport {
    /// Name of the entry.
    pub name: String,
    /// Name of the claim; absent where it could not be made or found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
}

/// One claim.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", ts(optional_fields))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", ts(optional_fields))]
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
            consumed_capacity: result.consumed_capacity.iter().map(amount).collect(),
        }
    }
}

/// What became of a cluster's Pods.
pub(crate) struct Played {
    /// All Pods in the order in which they were scheduled.
    pub(crate) order: Vec<Key>,
    /// The claims of each Pod.
    pub(crate) entries: BTreeMap<Key, Vec<claims::Entry>>,
    /// What was decided about each Pod.
    pub(crate) verdicts: BTreeMap<Key, schedule::Verdict>,
    /// Pods that had a node before, where somebody looked.
    pub(crate) bound: BTreeSet<Key>,
    findings: Vec<Finding>,
}

/// Plays the cluster's controllers and scheduler until nothing changes.
///
/// The cluster afterwards holds the Pods and claims that were made. Where there are PodGroups, their Pods get their places in a
/// [`life::Simulation`]; Pods without one, where it left them, one after another here.
pub fn run(cluster: &mut Cluster, limits: &Limits) -> Report {
    let findings = prepare(cluster);
    settle::settle_groups(cluster, limits);
    let played = look(cluster, limits, Simulated::Groups, findings);
    report_of(cluster, played)
}

/// Gives every Pod its place on its own, those of PodGroups as well: how far each one comes.
pub(crate) fn play(cluster: &mut Cluster, limits: &Limits) -> Played {
    let findings = prepare(cluster);
    look(cluster, limits, Simulated::Nobody, findings)
}

fn prepare(cluster: &mut Cluster) -> Vec<Finding> {
    let mut findings = Vec::new();
    infer::infer_nodes(cluster, &mut findings);
    crate::controllers::workloads::expand(cluster, &mut findings);
    finish::release_finished(cluster);
    findings
}

/// What stands in a cluster whose life was played, and why Pods have no node. `findings` come first in the report.
pub(crate) fn explain(cluster: &mut Cluster, limits: &Limits, findings: Vec<Finding>) -> Report {
    let played = look(cluster, limits, Simulated::All, findings);
    report_of(cluster, played)
}

fn look(cluster: &mut Cluster, limits: &Limits, simulated: Simulated, mut findings: Vec<Finding>) -> Played {
    let order = order::scheduling_order(cluster);
    let entries = claims::make_claims(cluster, &order, simulated, &mut findings);
    let verdicts = schedule::schedule(cluster, limits, &order, simulated, &entries, &mut findings);
    Played { order, entries, verdicts, findings, bound: BTreeSet::new() }
}

fn report_of(cluster: &Cluster, played: Played) -> Report {
    let Played { order, entries, verdicts, findings, .. } = played;
    report::report(cluster, &order, &entries, verdicts, findings)
}
