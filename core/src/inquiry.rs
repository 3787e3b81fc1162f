//! Questions about a cluster that change nothing, as JSON: every door hands them through as they are.
//!
//! An inquiry is a JSON object with a `kind`; the other fields are those of the request of that kind, for instance
//! `{"kind": "explain", "subject": {"kind": "Pod", "namespace": "ml", "name": "training"}, "nodes": ["node-a"]}`. The answer is
//! the JSON form of what the function behind it returns.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::allocate::Limits;
use crate::cluster::Cluster;
use crate::explain;
use crate::finding::{Code, Finding};

/// What is asked.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Inquiry {
    /// Why something is Pending; the answer is a list of [`explain::Explanation`].
    Explain(explain::Request),
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
    }
}

/// The JSON of an answer. All keys of our maps are text, so writing cannot fail.
fn json<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
