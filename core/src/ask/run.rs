//! The main question: manifests in, what DRA does with them out.
//!
//! The simulated control plane gets the objects and settles; the report is what stands then.

use super::report::{Report, report};
use crate::allocate::Limits;
use crate::cluster::Cluster;
use crate::control_plane::Simulation;
use crate::explain::settled::{look, settle};

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
