//! The canonical JSON of an answer. Engines are compared on it byte by byte.
//!
//! ```text
//! {"status": "allocated", "node": N, "allocations": [AllocationResult, ..], "findings": [..], "steps": S}
//! {"status": "none", "nodes": [{"node": N, "requests": [funnel, ..], "failure": {..}?}, ..], "findings": [..], "steps": S}
//! {"status": "error", "node": N, "code": C, "error": text, "reference": text, "nodeLocal": false, "finding": {..}, ..}
//! {"status": "gave-up", "node": N, "nodes": [..], "findings": [..], "steps": S}
//! ```
//!
//! A `failure` has the fields of an error with `nodeLocal` true. Keys are in the order of their names.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Answer, Failure, NodeRefusal, Outcome, RequestFunnel};
use crate::api::claim::AllocationResult;
use crate::api::read::Json;
use crate::finding::{Code, Finding};

/// The answer to a question that could be read.
#[derive(Serialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "Decision"))]
pub(crate) enum Written<'a> {
    /// The claims fit.
    Allocated(Allocated<'a>),
    /// The claims fit on none of the nodes.
    None(Unsatisfied<'a>),
    /// The input is wrong.
    Error(Failed<'a>),
    /// The step limit was reached.
    GaveUp(GaveUp<'a>),
}

/// The claims fit.
#[derive(Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) struct Allocated<'a> {
    /// The node.
    node: &'a str,
    /// For each claim, in the order of the question, what becomes its `status.allocation`.
    #[cfg_attr(feature = "types", ts(type = "Array<{ [field: string]: Json }>"))]
    allocations: Vec<Value>,
    /// Worth knowing beside the decision.
    findings: &'a [Finding],
    /// Search steps taken.
    steps: u64,
}

/// The claims fit on none of the nodes.
#[derive(Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) struct Unsatisfied<'a> {
    /// One entry per node tried, in the order of trying.
    nodes: Vec<Refusal<'a>>,
    /// Worth knowing beside the decision.
    findings: &'a [Finding],
    /// Search steps taken.
    steps: u64,
}

/// The input is wrong: kube-scheduler gives up the Pod, other nodes are not tried.
#[derive(Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) struct Failed<'a> {
    /// The node on which it was noticed.
    node: &'a str,
    #[serde(flatten)]
    failure: Refused<'a>,
    /// Worth knowing beside the decision.
    findings: &'a [Finding],
    /// Search steps taken.
    steps: u64,
}

/// The step limit was reached before an answer was found.
#[derive(Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) struct GaveUp<'a> {
    /// The node that was being searched.
    node: &'a str,
    /// Nodes that were refused before.
    nodes: Vec<Refusal<'a>>,
    /// Worth knowing beside the decision.
    findings: &'a [Finding],
    /// Search steps taken.
    steps: u64,
}

/// Why a node was refused.
#[derive(Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields, rename = "NodeRefusal"))]
pub(crate) struct Refusal<'a> {
    /// The node.
    node: &'a str,
    /// What each request found on the node, in the order of the claims and requests.
    requests: &'a [RequestFunnel],
    /// Set where the reference gives a reason of its own; otherwise the claims just do not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Refused<'a>>,
}

/// A refusal with a text of its own.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "Failure"))]
pub(crate) struct Refused<'a> {
    /// Code of the finding.
    #[cfg_attr(feature = "types", ts(type = "string"))]
    code: Code,
    /// Message of the finding.
    error: &'a str,
    /// The finding.
    finding: &'a Finding,
    /// Whether it concerns one node only, so that other nodes are tried.
    node_local: bool,
    /// The reference implementation's words, for comparison.
    reference: &'a str,
}

impl Answer {
    /// The answer as JSON; see the head of this module for its shape.
    pub fn to_json(&self) -> Value {
        let (findings, steps) = (self.findings.as_slice(), self.steps);
        let written = match &self.outcome {
            Outcome::Allocated { node, allocations } => {
                let allocations = allocations.iter().map(|allocation| allocation_json(allocation)).collect();
                Written::Allocated(Allocated { node, allocations, findings, steps })
            }
            Outcome::Unsatisfied { nodes } => Written::None(Unsatisfied { nodes: refusals(nodes), findings, steps }),
            Outcome::Failed { node, failure } => {
                Written::Error(Failed { node, failure: refused(failure, false), findings, steps })
            }
            Outcome::GaveUp { node, nodes } => {
                Written::GaveUp(GaveUp { node, nodes: refusals(nodes), findings, steps })
            }
        };
        // All keys are text, so writing cannot fail.
        serde_json::to_value(written).unwrap_or_default()
    }
}

/// With `devices` also where the claim asks for none.
fn allocation_json(allocation: &AllocationResult) -> Value {
    let mut value = allocation.write().unwrap_or_default();
    if let Some(map) = value.as_object_mut() {
        map.entry("devices").or_insert_with(|| Value::Object(Map::new()));
    }
    value
}

fn refusals(nodes: &[NodeRefusal]) -> Vec<Refusal<'_>> {
    nodes.iter().map(refusal).collect()
}

fn refusal(NodeRefusal { node, requests, failure }: &NodeRefusal) -> Refusal<'_> {
    Refusal { node, requests, failure: failure.as_ref().map(|failure| refused(failure, true)) }
}

pub(super) fn refused(Failure { finding, reference }: &Failure, node_local: bool) -> Refused<'_> {
    Refused { code: finding.code, error: &finding.message, finding, node_local, reference }
}
