//! The workloads of the input as they are shown: which they are, and what is said of them.

use std::collections::BTreeMap;

use super::deployment::is_paused;
use super::makers::{count, parallel, suspended};
use super::{MAX_PODS, WorkloadKey, children, job_set, key, pods, reference, root_of, stateful_set};
use crate::api::workload::{Workload, WorkloadSpec};
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::finding::{Code, Finding};

/// Workloads that no other one manages, in the order of their arrival.
pub(crate) fn roots(cluster: &Cluster) -> Vec<WorkloadKey> {
    let is_root = |workload: &&Workload| {
        let owner = super::owner_key(&workload.metadata);
        // The workers of a LeaderWorkerSet belong to the leader, a Pod.
        !owner.is_some_and(|owner| owner.0 == "Pod" || cluster.workloads().contains_key(&owner))
    };
    let mut roots: Vec<WorkloadKey> = cluster.workloads().values().filter(is_root).map(key).collect();
    roots.arrange_by_key(|key| cluster.arrival(&key.0, &key.1, &key.2));
    roots
}

/// What is worth knowing about the workloads of the input: those that wait, and those that do not get all Pods.
pub(crate) fn notes(cluster: &Cluster) -> Vec<Finding> {
    let mut shown: BTreeMap<WorkloadKey, u64> = BTreeMap::new();
    for pod in cluster.pods().values().filter(|pod| pod.status.phase != "Failed") {
        if let Some(root) = root_of(cluster, pod) {
            let number = shown.entry(key(root)).or_default();
            *number = number.saturating_add(1);
        }
    }
    let mut findings = Vec::new();
    for root in roots(cluster).iter().filter_map(|key| cluster.workloads().get(key)) {
        findings.extend(note(root).map(|note| note.about(reference(root))));
        if let WorkloadSpec::Job(spec) = &root.spec
            && let at_a_time = parallel(spec)
            && let Some(all) = spec.completions.map(|all| count(Some(all))).filter(|all| *all > at_a_time)
        {
            let finding = match at_a_time {
                0 => Finding::new(Code::RunSuspended, "spec.parallelism", "`parallelism` is 0, makes no Pods"),
                _ => {
                    let message = format!("{at_a_time} of {all} Pods run at a time; the first are shown");
                    Finding::new(Code::RunReplicasCapped, "spec.completions", message)
                }
            };
            findings.push(finding.about(reference(root)));
        }
        let is_paused = matches!(&root.spec, WorkloadSpec::Deployment(spec) if is_paused(spec));
        if is_paused && !shown.contains_key(&key(root)) {
            let finding = Finding::new(Code::RunSuspended, "spec.paused", "paused, makes no Pods")
                .with_hint("set `paused: false` to see its Pods");
            findings.push(finding.about(reference(root)));
        }
        let (shown, wanted) = (shown.get(&key(root)).copied().unwrap_or_default(), wanted(cluster, root));
        if shown >= MAX_PODS && shown < wanted {
            let message = format!("{shown} of {wanted} Pods are made");
            let finding = Finding::new(Code::RunReplicasCapped, "", message).with_hint(format!(
                "a workload gets at most {MAX_PODS} Pods here, or one gang of them; the others are not counted"
            ));
            findings.push(finding.about(reference(root)));
        }
    }
    findings
}

/// What is not made yet because what comes before it does not serve.
pub(crate) fn waits(cluster: &Cluster) -> Vec<Finding> {
    let roots = roots(cluster);
    let workloads = roots.iter().filter_map(|key| cluster.workloads().get(key));
    let waits = |workload: &Workload| {
        let findings = match &workload.spec {
            WorkloadSpec::StatefulSet(spec) => stateful_set::waits(cluster, workload, spec).into_iter().collect(),
            WorkloadSpec::JobSet(spec) => job_set::waits(cluster, workload, spec),
            _ => Vec::new(),
        };
        findings.into_iter().map(|finding| finding.about(reference(workload))).collect::<Vec<_>>()
    };
    workloads.flat_map(waits).collect()
}

/// Whether a workload waits to be resumed, in words.
fn note(workload: &Workload) -> Option<Finding> {
    match &workload.spec {
        WorkloadSpec::Job(spec) => suspended(workload, spec.suspend).1,
        WorkloadSpec::JobSet(spec) => suspended(workload, spec.suspend).1,
        WorkloadSpec::CronJob(spec) => {
            let note = |suspend| Some(suspended(workload, suspend)).filter(|(waits, _)| *waits)?.1;
            let path = "spec.jobTemplate.spec.suspend".to_owned();
            note(spec.suspend).or_else(|| Some(Finding { path, ..note(spec.job_template.spec.suspend)? }))
        }
        _ => None,
    }
}

/// How many Pods a workload would have.
fn wanted(cluster: &Cluster, workload: &Workload) -> u64 {
    let below = || {
        let children = children(cluster, workload);
        children.into_iter().fold(0u64, |sum, child| sum.saturating_add(wanted(cluster, child)))
    };
    match &workload.spec {
        WorkloadSpec::Deployment(_) | WorkloadSpec::CronJob(_) => below(),
        WorkloadSpec::ReplicaSet(spec) => count(spec.replicas),
        WorkloadSpec::StatefulSet(spec) => count(spec.replicas),
        WorkloadSpec::DaemonSet(spec) => pods::nodes_for(cluster, spec).len() as u64,
        WorkloadSpec::Job(spec) => parallel(spec),
        WorkloadSpec::JobSet(spec) => spec.replicated_jobs.iter().fold(0u64, |sum, group| {
            sum.saturating_add(count(group.replicas).saturating_mul(parallel(&group.template.spec)))
        }),
        WorkloadSpec::LeaderWorkerSet(spec) => {
            count(spec.replicas).saturating_mul(count(spec.leader_worker_template.size))
        }
        WorkloadSpec::Other(spec) => spec.parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.count)),
    }
}
