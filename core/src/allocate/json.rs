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

use serde_json::{Map, Value, json};

use super::{Answer, Failure, NodeRefusal, Outcome};
use crate::api::claim::AllocationResult;
use crate::api::read::Json;

impl Answer {
    /// The answer as JSON; see the head of this module for its shape.
    pub fn to_json(&self) -> Value {
        let mut map = match &self.outcome {
            Outcome::Allocated { node, allocations } => {
                let allocations: Vec<Value> =
                    allocations.iter().map(|allocation| allocation_json(allocation)).collect();
                object([("status", json!("allocated")), ("node", json!(node)), ("allocations", json!(allocations))])
            }
            Outcome::Unsatisfied { nodes } => object([("status", json!("none")), ("nodes", refusals(nodes))]),
            Outcome::Failed { node, failure } => {
                let mut map = failure_map(failure, false);
                map.extend(object([("status", json!("error")), ("node", json!(node))]));
                map
            }
            Outcome::GaveUp { node, nodes } => {
                object([("status", json!("gave-up")), ("node", json!(node)), ("nodes", refusals(nodes))])
            }
        };
        map.insert("steps".to_owned(), json!(self.steps));
        map.insert("findings".to_owned(), json!(self.findings));
        Value::Object(map)
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

fn object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn refusals(nodes: &[NodeRefusal]) -> Value {
    let refusal = |refusal: &NodeRefusal| {
        let mut map = object([("node", json!(refusal.node)), ("requests", json!(refusal.requests))]);
        if let Some(failure) = &refusal.failure {
            map.insert("failure".to_owned(), Value::Object(failure_map(failure, true)));
        }
        Value::Object(map)
    };
    Value::Array(nodes.iter().map(refusal).collect())
}

fn failure_map(failure: &Failure, is_local: bool) -> Map<String, Value> {
    object([
        ("code", json!(failure.finding.code)),
        ("error", json!(failure.finding.message)),
        ("finding", json!(failure.finding)),
        ("nodeLocal", json!(is_local)),
        ("reference", json!(failure.reference)),
    ])
}
