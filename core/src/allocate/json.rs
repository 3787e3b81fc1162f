//! The canonical JSON of an answer. Engines are compared on it byte by byte.
//!
//! ```text
//! {"status": "allocated", "node": N, "allocations": [AllocationResult, ..], "findings": [..], "steps": S}
//! {"status": "none", "nodes": [{"node": N, "requests": [funnel, ..], "failure": {..}?}, ..], "findings": [..], "steps": S}
//! {"status": "error", "node": N, "code": C, "error": text, "reference": text, "nodeLocal": false, "finding": {..}, ..}
//! {"status": "gave-up", "node": N, "nodes": [..], "findings": [..], "steps": S}
//! ```
//!
//! A `failure` has the fields of an error with `nodeLocal` true. Keys are in the order of their names: what is written often has its fields
//! in that order, and is written without a tree.

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Answer, Failure, NodeRefusal, Outcome, RequestFunnel};
use crate::api::claim::AllocationResult;
use crate::api::read::Json;
use crate::finding::{Code, Finding};

/// The answer to a question that could be read.
#[derive(Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "Decision"))]
pub(crate) enum Written<'a> {
    /// The claims fit.
    Allocated(Allocated<'a>),
    /// The claims fit on none of the nodes.
    None(Unsatisfied<'a>),
    /// The input is wrong.
    #[serde(serialize_with = "sorted")]
    Error(Failed<'a>),
    /// The step limit was reached.
    GaveUp(GaveUp<'a>),
}

/// The claims fit.
#[derive(Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) struct Allocated<'a> {
    /// For each claim, in the order of the question, what becomes its `status.allocation`.
    #[cfg_attr(feature = "types", ts(type = "Array<{ [field: string]: Json }>"))]
    allocations: Vec<Value>,
    /// Worth knowing beside the decision.
    #[serde(serialize_with = "sorted")]
    findings: &'a [Finding],
    /// The node.
    node: &'a str,
    /// Tells it from other answers.
    #[cfg_attr(feature = "types", ts(type = "\"allocated\""))]
    status: &'static str,
    /// Search steps taken.
    steps: u64,
}

/// The claims fit on none of the nodes.
#[derive(Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) struct Unsatisfied<'a> {
    /// Worth knowing beside the decision.
    #[serde(serialize_with = "sorted")]
    findings: &'a [Finding],
    /// One entry per node tried, in the order of trying.
    nodes: Vec<Refusal<'a>>,
    /// Tells it from other answers.
    #[cfg_attr(feature = "types", ts(type = "\"none\""))]
    status: &'static str,
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
    /// Tells it from other answers.
    #[cfg_attr(feature = "types", ts(type = "\"error\""))]
    status: &'static str,
    /// Search steps taken.
    steps: u64,
}

/// The step limit was reached before an answer was found.
#[derive(Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) struct GaveUp<'a> {
    /// Worth knowing beside the decision.
    #[serde(serialize_with = "sorted")]
    findings: &'a [Finding],
    /// The node that was being searched.
    node: &'a str,
    /// Nodes that were refused before.
    nodes: Vec<Refusal<'a>>,
    /// Tells it from other answers.
    #[cfg_attr(feature = "types", ts(type = "\"gave-up\""))]
    status: &'static str,
    /// Search steps taken.
    steps: u64,
}

/// Why a node was refused.
#[derive(Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields, rename = "NodeRefusal"))]
pub(crate) struct Refusal<'a> {
    /// Set where the reference gives a reason of its own; otherwise the claims just do not fit.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "sorted")]
    failure: Option<Refused<'a>>,
    /// The node.
    node: &'a str,
    /// What each request found on the node, in the order of the claims and requests.
    #[serde(serialize_with = "sorted")]
    requests: &'a [RequestFunnel],
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
        // All keys are text, so writing cannot fail.
        serde_json::to_value(self.written()).unwrap_or_default()
    }

    /// The text of [`Answer::to_json`].
    pub fn to_text(&self) -> String {
        serde_json::to_string(&self.written()).unwrap_or_default()
    }

    fn written(&self) -> Written<'_> {
        let (findings, steps) = (self.findings.as_slice(), self.steps);
        match &self.outcome {
            Outcome::Allocated { node, allocations } => {
                let allocations = allocations.iter().map(|allocation| allocation_json(allocation)).collect();
                Written::Allocated(Allocated { allocations, findings, node, status: "allocated", steps })
            }
            Outcome::Unsatisfied { nodes } => {
                Written::None(Unsatisfied { findings, nodes: refusals(nodes), status: "none", steps })
            }
            Outcome::Failed { node, failure } => {
                let failure = refused(failure, false);
                Written::Error(Failed { node, failure, findings, status: "error", steps })
            }
            Outcome::GaveUp { node, nodes } => {
                Written::GaveUp(GaveUp { findings, node, nodes: refusals(nodes), status: "gave-up", steps })
            }
        }
    }
}

/// Writes keys in the order of their names.
fn sorted<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::to_value(value).map_err(S::Error::custom)?.serialize(serializer)
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn text_has_its_keys_in_the_order_of_their_names() {
        let finding = || Finding::new(Code::ReadWrongType, "spec", "a message").with_hint("a hint");
        let failure = || Failure { finding: finding(), reference: "its words".to_owned() };
        let funnel = RequestFunnel {
            claim: "claim".to_owned(),
            request: "request".to_owned(),
            needed: 2,
            devices: 9,
            matching: 8,
            able: 7,
            tolerated: 6,
            free: 1,
            unable: Vec::new(),
        };
        let nodes = || {
            let refusal = |failure| NodeRefusal { node: "n".to_owned(), requests: vec![funnel.clone()], failure };
            vec![refusal(None), refusal(Some(failure()))]
        };
        let node = || "n".to_owned();
        let outcomes = [
            Outcome::Allocated { node: node(), allocations: vec![Arc::default()] },
            Outcome::Unsatisfied { nodes: nodes() },
            Outcome::Failed { node: node(), failure: failure() },
            Outcome::GaveUp { node: node(), nodes: nodes() },
        ];
        for outcome in outcomes {
            let answer = Answer { outcome, findings: vec![finding()], steps: 3 };
            assert_eq!(answer.to_text(), answer.to_json().to_string());
        }
    }
}
