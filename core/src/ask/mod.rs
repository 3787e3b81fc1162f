//! Questions about a cluster that change nothing, as JSON: every door hands them through as they are.
//!
//! An inquiry is a JSON object with a `kind`; the other fields are those of the request of that kind, for instance
//! `{"kind": "explain", "subject": {"kind": "Pod", "namespace": "ml", "name": "training"}, "nodes": ["node-a"]}`. The answer is
//! the JSON form of what the function behind it returns.

mod anonymize;
mod expression;
mod fit;
mod nodes_needed;
mod report;
mod scores;
pub(crate) mod snapshot;
mod taint;
mod usage;
mod what_if;

pub use expression::{ExpressionAnswer, ExpressionRequest, Part, expression};
pub use fit::{Bounds, DeviceAsk, Fit, FitRequest, FitRow, Largest, NamespaceDevices, Per, Remainder, fit};
pub use nodes_needed::{NewNode, NodesNeeded, NodesNeededRequest, PodLeft, ShapeNeeded, ShapeNodes, nodes_needed};
pub use report::{AllocatedDevice, ClaimReport, NodeReport, PodClaimReport, PodReport, Report, report_of, run};
pub use scores::{NodeScore, PodScores, ScoresRequest, scores};
pub use snapshot::{FORMAT as SNAPSHOT_FORMAT, snapshot};
pub use taint::{Eviction, NodesOfTaint, TaintSpec, preview};
pub use usage::{AmountUsage, Devices, StrandedBy, Usage, UsageOf, UsageRow, usage};
pub use what_if::{
    ClaimDifference, DeviceLost, Difference, Place, Placing, PodDifference, Supposition, Totals, compare_with, what_if,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::allocate::Limits;
use crate::api::pod::Pod;
use crate::cluster::Cluster;
use crate::control_plane::infer::infer_nodes;
use crate::control_plane::{note_not_given, unmodelled};
use crate::explain::{self, settled::settle};
use crate::finding::{Code, Finding};

/// What is asked.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Inquiry {
    /// Why something is Pending; the answer is a list of [`explain::Explanation`].
    Explain(explain::Request),
    /// What would be if some things were changed; the answer is an [`Difference`].
    WhatIf(Supposition),
    /// What a cluster of other objects does otherwise; the answer is an [`Difference`].
    Compare {
        /// The other objects.
        objects: Vec<Value>,
    },
    /// How many more of a claim fit; the answer is an [`Fit`].
    Fit(FitRequest),
    /// How many nodes that do not exist yet make Pods fit; the answer is a [`NodesNeeded`].
    NodesNeeded(NodesNeededRequest),
    /// How nodes compare for Pods; the answer is a list of [`PodScores`].
    Scores(ScoresRequest),
    /// How much is used, free and stranded; the answer is a [`Usage`].
    Usage,
    /// Who would be evicted; the answer is a list of [`Eviction`]. A cluster in which no claim has devices is played first.
    Evictions {
        /// Taints that devices get first.
        #[serde(default)]
        taints: Vec<TaintSpec>,
        /// The time, as RFC 3339.
        #[serde(default)]
        now: String,
    },
    /// What an expression comes to on devices; the answer is a list of [`ExpressionAnswer`].
    Expression(ExpressionRequest),
    /// What matters to where Pods land and is not looked at; the answer is a list of [`Finding`].
    Unmodelled,
    /// The cluster in one file; see [`snapshot()`] for its shape.
    Snapshot {
        /// Whether nodes, namespaces and objects get other names.
        #[serde(default)]
        anonymize: bool,
    },
}

/// Answers an inquiry on a copy of the cluster.
///
/// # Errors
///
/// The findings, when the inquiry cannot be read or names what is not there.
pub fn inquire(cluster: &Cluster, inquiry: Value, limits: &Limits) -> Result<Value, Vec<Finding>> {
    let inquiry: Inquiry = serde_json::from_value(inquiry)
        .map_err(|error| vec![Finding::new(Code::ReadBadSettings, "inquiry", error.to_string())])?;
    let mut copy = cluster.clone();
    match inquiry {
        Inquiry::Explain(request) => explain::explain(&mut copy, &request, limits).map(|found| json(&found)),
        Inquiry::WhatIf(request) => what_if(cluster, &request, limits).map(|found| json(&found)),
        Inquiry::Compare { objects } => Ok(json(&compare_with(cluster, &objects, limits))),
        Inquiry::Usage => Ok(json(&usage(&mut copy, limits))),
        Inquiry::Fit(request) => fit(&mut copy, &request, limits).map(|found| json(&found)),
        Inquiry::NodesNeeded(request) => nodes_needed(cluster, &request, limits).map(|found| json(&found)),
        Inquiry::Scores(request) => scores(cluster, &request, limits).map(|found| json(&found)),
        Inquiry::Evictions { taints, now } => preview(&mut copy, &taints, &now, limits).map(|found| json(&found)),
        Inquiry::Expression(request) => expression(cluster, &request).map(|found| json(&found)),
        Inquiry::Unmodelled => Ok(json(&not_looked_at(copy, limits))),
        Inquiry::Snapshot { anonymize } => Ok(snapshot(cluster, limits, anonymize)),
    }
}

/// What is not looked at, as [`run()`] says it. Only what workloads make, what priorities decide and which waiting Pods get nodes takes a
/// settled cluster to tell.
fn not_looked_at(mut cluster: Cluster, limits: &Limits) -> Vec<Finding> {
    let is_open = |pod: &Pod| {
        pod.spec.priority.is_some() || pod.spec.rest.get("priorityClassName").is_some() || pod.last_refusal().is_some()
    };
    if cluster.workloads().is_empty() && !cluster.pods().values().any(|pod| is_open(pod)) {
        infer_nodes(&mut cluster, &mut Vec::new());
        let mut findings: Vec<Finding> = note_not_given(&mut cluster).into_iter().collect();
        findings.extend(unmodelled(&cluster, &|pod| !pod.spec.node_name.is_empty()));
        return findings;
    }
    let mut findings = settle(&mut cluster, limits).findings;
    findings.retain(|finding| {
        let codes = [Code::RunNotGiven, Code::RunNotModelled, Code::RunNotExpanded, Code::RunRefused];
        codes.contains(&finding.code)
    });
    findings
}

/// The JSON of an answer. All keys of our maps are text, so writing cannot fail.
fn json<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
