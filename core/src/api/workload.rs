//! Workload controllers: kinds whose controllers make Pods.
//!
//! Only the fields that decide which Pods there are and what they need are typed; the rest is kept.

use serde_json::{Map, Value};

use super::meta::ObjectMeta;
pub use super::other_workload::{OtherSpec, PodPart};
use super::pod::PodTemplateSpec;
use super::read::{Json, Path, api_struct};
use crate::finding::Finding;

/// Label by which Kueue is asked to admit a workload.
pub(crate) const KUEUE_QUEUE: &str = "kueue.x-k8s.io/queue-name";

/// A Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, JobSet or LeaderWorkerSet, or one of a kind that is not known and
/// has Pod templates.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Workload {
    /// API version as in the manifest.
    pub api_version: String,
    /// Kind as in the manifest.
    pub kind: String,
    /// Metadata.
    pub metadata: ObjectMeta,
    /// Spec, of the type that belongs to the kind.
    pub spec: WorkloadSpec,
    /// Status, as written.
    pub status: Value,
}

macro_rules! workloads {
    ($($(#[$doc:meta])* $variant:ident($ty:ty) = $kind:literal in $group:literal;)*) => {
        /// Group and name of each kind.
        pub(super) static KINDS: &[(&str, &str)] = &[$(($group, $kind)),*];

        /// The spec of a [`Workload`].
        #[derive(Clone, PartialEq, Debug)]
        pub enum WorkloadSpec {
            $($(#[$doc])* $variant(Box<$ty>),)*
            /// Of a kind that is not known, with Pod templates.
            Other(Box<OtherSpec>),
        }

        impl WorkloadSpec {
            fn read(
                kind: &str,
                group: &str,
                value: Value,
                at: &Path<'_>,
                findings: &mut Vec<Finding>,
            ) -> Option<Result<Self, Value>> {
                match kind {
                    $($kind if group == $group => {
                        Some(<$ty>::read(value, at, findings).map(|spec| Self::$variant(Box::new(spec))))
                    })*
                    _ => OtherSpec::read(kind, group, value, findings).map(|spec| Ok(Self::Other(Box::new(spec)))),
                }
            }

            fn write(&self) -> Option<Value> {
                match self {
                    $(Self::$variant(spec) => spec.write(),)*
                    Self::Other(spec) => Some(spec.raw.clone()),
                }
            }
        }
    };
}

workloads! {
    /// Of a Deployment.
    Deployment(ReplicaSetSpec) = "Deployment" in "apps";
    /// Of a ReplicaSet.
    ReplicaSet(ReplicaSetSpec) = "ReplicaSet" in "apps";
    /// Of a StatefulSet.
    StatefulSet(StatefulSetSpec) = "StatefulSet" in "apps";
    /// Of a DaemonSet.
    DaemonSet(DaemonSetSpec) = "DaemonSet" in "apps";
    /// Of a Job.
    Job(JobSpec) = "Job" in "batch";
    /// Of a CronJob.
    CronJob(CronJobSpec) = "CronJob" in "batch";
    /// Of a JobSet.
    JobSet(JobSetSpec) = "JobSet" in "jobset.x-k8s.io";
    /// Of a LeaderWorkerSet.
    LeaderWorkerSet(LeaderWorkerSetSpec) = "LeaderWorkerSet" in "leaderworkerset.x-k8s.io";
}

impl Default for WorkloadSpec {
    fn default() -> Self {
        Self::Deployment(Box::default())
    }
}

api_struct! {
    /// What Deployments and ReplicaSets have in common.
    open ReplicaSetSpec {
        /// Number of Pods; 1 where left out.
        "replicas" replicas: Option<i64>,
        /// What the Pods look like.
        "template" template: PodTemplateSpec,
    }

    /// `StatefulSetSpec`.
    open StatefulSetSpec {
        /// Number of Pods; 1 where left out.
        "replicas" replicas: Option<i64>,
        /// Where the numbering starts.
        "ordinals" ordinals: Option<StatefulSetOrdinals>,
        /// What the Pods look like.
        "template" template: PodTemplateSpec,
    }

    /// `StatefulSetOrdinals`.
    open StatefulSetOrdinals {
        /// Number of the first Pod.
        "start" start: i64,
    }

    /// `DaemonSetSpec`.
    open DaemonSetSpec {
        /// What the Pods look like.
        "template" template: PodTemplateSpec,
    }

    /// `JobSpec`.
    open JobSpec {
        /// How many Pods run at a time; 1 where left out.
        "parallelism" parallelism: Option<i64>,
        /// How many Pods must succeed; where left out, as many as run at a time.
        "completions" completions: Option<i64>,
        /// `Indexed` numbers the Pods.
        "completionMode" completion_mode: String,
        /// Whether the Job waits to be resumed.
        "suspend" suspend: Option<bool>,
        /// What the Pods look like.
        "template" template: PodTemplateSpec,
    }

    /// `JobTemplateSpec`.
    open JobTemplateSpec {
        /// Metadata of the Jobs.
        "metadata" metadata: ObjectMeta,
        /// Spec of the Jobs.
        "spec" spec: JobSpec,
    }

    /// `CronJobSpec`.
    open CronJobSpec {
        /// Whether no more Jobs are started.
        "suspend" suspend: Option<bool>,
        /// What the Jobs look like.
        "jobTemplate" job_template: JobTemplateSpec,
    }

    /// `JobSetSpec`.
    open JobSetSpec {
        /// The groups of Jobs.
        "replicatedJobs" replicated_jobs: Vec<ReplicatedJob>,
        /// Whether the JobSet waits to be resumed.
        "suspend" suspend: Option<bool>,
    }

    /// One group of equal Jobs of a JobSet.
    open ReplicatedJob {
        /// Name, unique in the JobSet.
        "name" name: String,
        /// Number of Jobs; 1 where left out.
        "replicas" replicas: Option<i64>,
        /// What the Jobs look like.
        "template" template: JobTemplateSpec,
    }

    /// `LeaderWorkerSetSpec`.
    open LeaderWorkerSetSpec {
        /// Number of groups, each a leader with its workers; 1 where left out.
        "replicas" replicas: Option<i64>,
        /// What a group looks like.
        "leaderWorkerTemplate" leader_worker_template: LeaderWorkerTemplate,
    }

    /// `LeaderWorkerTemplate`.
    open LeaderWorkerTemplate {
        /// What leaders look like; as workers where left out.
        "leaderTemplate" leader_template: Option<PodTemplateSpec>,
        /// What workers look like.
        "workerTemplate" worker_template: PodTemplateSpec,
        /// Number of Pods of a group, the leader included; 1 where left out.
        "size" size: Option<i64>,
    }
}

impl Workload {
    /// Reads a workload controller; `None` for other kinds, and with a finding for a spec that is no object.
    pub fn read(kind: &str, api_version: &str, mut value: Value, findings: &mut Vec<Finding>) -> Option<Self> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let mut part = |name: &str| value.get_mut(name).map(Value::take).unwrap_or_default();
        let (metadata, spec, status) = (part("metadata"), part("spec"), part("status"));
        let mut of_spec = Vec::new();
        let spec = WorkloadSpec::read(kind, group, spec, &Path::ROOT.field("spec"), &mut of_spec)?;
        let metadata = ObjectMeta::read(metadata, &Path::ROOT.field("metadata"), findings).ok()?;
        findings.append(&mut of_spec);
        let spec = spec.ok()?;
        Some(Self { api_version: api_version.to_owned(), kind: kind.to_owned(), metadata, spec, status })
    }

    /// The object as JSON, without `apiVersion` and `kind`.
    pub fn write(&self) -> Value {
        let mut map = Map::new();
        map.insert("metadata".to_owned(), self.metadata.write().unwrap_or_default());
        map.insert("spec".to_owned(), self.spec.write().unwrap_or_default());
        if !self.status.is_null() {
            map.insert("status".to_owned(), self.status.clone());
        }
        Value::Object(map)
    }
}
