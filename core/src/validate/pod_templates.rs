//! Where workload kinds keep their Pod templates.

/// The kinds: their group, their name, the paths of their Pod templates, and whether they are the API server's own. What is wrong in a
/// custom resource is refused by its webhook, or at the latest when its Pods are made; either way it comes to nothing.
static WORKLOADS: &[(&str, &str, &[&str], bool)] = &[
    ("apps", "Deployment", &["spec.template"], true),
    ("apps", "ReplicaSet", &["spec.template"], true),
    ("apps", "StatefulSet", &["spec.template"], true),
    ("apps", "DaemonSet", &["spec.template"], true),
    ("batch", "Job", &["spec.template"], true),
    ("batch", "CronJob", &["spec.jobTemplate.spec.template"], true),
    ("", "ReplicationController", &["spec.template"], true),
    ("", "PodTemplate", &["template"], true),
    ("jobset.x-k8s.io", "JobSet", &["spec.replicatedJobs[].template.spec.template"], false),
    (
        "leaderworkerset.x-k8s.io",
        "LeaderWorkerSet",
        &["spec.leaderWorkerTemplate.leaderTemplate", "spec.leaderWorkerTemplate.workerTemplate"],
        false,
    ),
    ("kubeflow.org", "MPIJob", &["spec.mpiReplicaSpecs{}.template"], false),
    ("kubeflow.org", "PyTorchJob", &["spec.pytorchReplicaSpecs{}.template"], false),
    ("ray.io", "RayCluster", &["spec.headGroupSpec.template", "spec.workerGroupSpecs[].template"], false),
    ("serving.knative.dev", "Service", &["spec.template"], false),
];

/// The paths of the Pod templates of a kind, and whether it is one of the API server's own.
pub(super) fn of(group: &str, kind: &str) -> Option<(&'static [&'static str], bool)> {
    let found = WORKLOADS.iter().find(|(of_group, of_kind, _, _)| *of_group == group && *of_kind == kind)?;
    Some((found.2, found.3))
}
