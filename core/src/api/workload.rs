//! Workload controllers: kinds whose controllers make Pods.

use serde_json::{Map, Value};

use super::meta::ObjectMeta;
use super::read::{Json, Path};
use crate::finding::Finding;

/// A Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, JobSet or LeaderWorkerSet, with its spec as JSON.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Workload {
    /// API version as in the manifest.
    pub api_version: String,
    /// Kind as in the manifest.
    pub kind: String,
    /// Metadata.
    pub metadata: ObjectMeta,
    /// Spec; what Pods come of it is decided where Pods are made.
    pub spec: Value,
}

/// Kinds that make Pods.
const KINDS: [&str; 8] =
    ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "JobSet", "LeaderWorkerSet"];

impl Workload {
    /// Reads a workload controller; `None` for other kinds.
    pub fn read(kind: &str, api_version: &str, mut value: Value, findings: &mut Vec<Finding>) -> Option<Self> {
        if !KINDS.contains(&kind) {
            return None;
        }
        let mut part = |name: &str| value.get_mut(name).map(Value::take).unwrap_or_default();
        let spec = part("spec");
        let metadata = ObjectMeta::read(part("metadata"), &Path::ROOT.field("metadata"), findings).ok()?;
        Some(Self { api_version: api_version.to_owned(), kind: kind.to_owned(), metadata, spec })
    }

    /// The object as JSON, without `apiVersion` and `kind`.
    pub fn write(&self) -> Value {
        let mut map = Map::new();
        map.insert("metadata".to_owned(), self.metadata.write().unwrap_or_default());
        map.insert("spec".to_owned(), self.spec.clone());
        Value::Object(map)
    }
}
