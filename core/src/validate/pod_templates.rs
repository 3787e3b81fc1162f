//! Where workload kinds keep their Pod templates.

use super::schema::{self, Type};

/// A kind of which a controller makes Pods.
pub(super) struct Row {
    group: &'static str,
    kind: &'static str,
    /// Whether it is the API server's own. What is wrong in a custom resource is refused by its webhook, or at the latest
    /// when its Pods are made; either way it comes to nothing.
    pub(super) by_server: bool,
    /// Its shape, the Pod templates apart, where it has rules.
    pub(super) schema: Option<&'static Type>,
    /// The paths of its Pod templates.
    pub(super) paths: &'static [&'static str],
}

macro_rules! kinds {
    ($($kind:literal in $group:literal, $by_server:literal, $schema:expr, [$($path:literal),*];)*) => {
        static KINDS: &[Row] = &[
            $(Row { group: $group, kind: $kind, by_server: $by_server, schema: $schema, paths: &[$($path),*] }),*
        ];
    };
}

kinds! {
    "Deployment" in "apps", true, Some(&schema::DEPLOYMENT), ["spec.template"];
    "ReplicaSet" in "apps", true, Some(&schema::REPLICA_SET), ["spec.template"];
    "StatefulSet" in "apps", true, Some(&schema::STATEFUL_SET), ["spec.template"];
    "DaemonSet" in "apps", true, Some(&schema::DAEMON_SET), ["spec.template"];
    "Job" in "batch", true, Some(&schema::JOB), ["spec.template"];
    "CronJob" in "batch", true, Some(&schema::CRON_JOB), ["spec.jobTemplate.spec.template"];
    "ReplicationController" in "", true, Some(&schema::REPLICATION_CONTROLLER), ["spec.template"];
    "PodTemplate" in "", true, None, ["template"];
    "JobSet" in "jobset.x-k8s.io", false, Some(&schema::JOB_SET), ["spec.replicatedJobs[].template.spec.template"];
    "LeaderWorkerSet" in "leaderworkerset.x-k8s.io", false, Some(&schema::LEADER_WORKER_SET),
        ["spec.leaderWorkerTemplate.leaderTemplate", "spec.leaderWorkerTemplate.workerTemplate"];
    "MPIJob" in "kubeflow.org", false, None, ["spec.mpiReplicaSpecs{}.template"];
    "PyTorchJob" in "kubeflow.org", false, None, ["spec.pytorchReplicaSpecs{}.template"];
    "RayCluster" in "ray.io", false, None, ["spec.headGroupSpec.template", "spec.workerGroupSpecs[].template"];
    "Service" in "serving.knative.dev", false, None, ["spec.template"];
}

/// The kind of a name in a group.
pub(super) fn of(group: &str, kind: &str) -> Option<&'static Row> {
    KINDS.iter().find(|row| row.group == group && row.kind == kind)
}

/// Whether a kind that is not known is taken to live in no namespace.
pub(super) fn is_cluster_wide(kind: &str) -> bool {
    kind.starts_with("Cluster")
}

/// Group, kind, shape and paths of Pod templates of every kind that has a shape.
#[cfg(test)]
pub(super) fn shapes() -> impl Iterator<Item = (&'static str, &'static str, &'static Type, &'static [&'static str])> {
    KINDS.iter().filter_map(|row| Some((row.group, row.kind, row.schema?, row.paths)))
}
