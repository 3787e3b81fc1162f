//! The workloads of the input as they are shown: which they are, all their Pods at once, and what is said of them.

use std::collections::{BTreeMap, VecDeque};

use super::makers::{count, parallel, suspended};
use super::{MAX_PODS, WorkloadKey, children, key, pods, reconcile, reference, root_of};
use crate::api::object::Object;
use crate::api::workload::{Workload, WorkloadSpec};
use crate::cluster::Cluster;
use crate::controllers::jobs;
use crate::decision::{Action, Time};
use crate::derive::uid_of;
use crate::finding::{Code, Finding};

/// Most looks at one workload until it has what it wants.
const MAX_LOOKS: usize = 64;

/// Workloads that no other one manages, in the order of their arrival.
pub(crate) fn roots(cluster: &Cluster) -> Vec<WorkloadKey> {
    let is_root = |workload: &&Workload| {
        let owner = super::owner_key(&workload.metadata);
        // The workers of a LeaderWorkerSet belong to the leader, a Pod.
        !owner.is_some_and(|owner| owner.0 == "Pod" || cluster.workloads().contains_key(&owner))
    };
    let mut roots: Vec<WorkloadKey> = cluster.workloads().values().filter(is_root).map(key).collect();
    roots.sort_by_key(|key| cluster.arrival(&key.0, &key.1, &key.2));
    roots
}

/// Lets every workload of the cluster make its Pods, in the order in which the workloads arrived.
pub(crate) fn expand(cluster: &mut Cluster, findings: &mut Vec<Finding>) {
    for root in roots(cluster) {
        let mut open: VecDeque<WorkloadKey> = VecDeque::from([root.clone()]);
        while let Some(key) = open.pop_front() {
            let is_made_before = cluster.workloads().get(&key).map(|own| children(cluster, own));
            open.extend(is_made_before.into_iter().flatten().map(super::key));
            for _ in 0..MAX_LOOKS {
                let job = (key.1.clone(), key.2.clone());
                let decision = match key.0.as_str() {
                    "Job" => jobs::reconcile(cluster, cluster.profile(), &job, Some(MAX_PODS), Time::default()),
                    _ => reconcile(cluster, &key, MAX_PODS).decision,
                };
                let made = decision.actions.into_iter().filter_map(|action| match action {
                    Action::Create { object, .. } => Some(*object),
                    _ => None,
                });
                let made: Vec<Object> = made.collect();
                if made.is_empty() {
                    break;
                }
                let above = cluster.workloads().get(&key).and_then(|own| super::owner_key(&own.metadata));
                if made.iter().any(|object| matches!(object, Object::Pod(_))) {
                    // The workers of a LeaderWorkerSet come after their leaders.
                    open.extend(above.filter(|above| above.0 == "LeaderWorkerSet"));
                }
                for mut object in made {
                    let uid = uid_of(object.kind(), object.metadata());
                    object.metadata_mut().uid = uid;
                    if let Object::Workload(workload) = &object {
                        open.push_back(super::key(workload));
                    }
                    cluster.apply(object);
                }
            }
        }
    }
    findings.extend(notes(cluster));
}

/// What is worth knowing about the workloads of the input: those that wait, and those of which not all Pods are shown.
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
            let message = format!("{at_a_time} of {all} Pods run at a time; the first are shown");
            findings.push(Finding::new(Code::RunReplicasCapped, "spec.completions", message).about(reference(root)));
        }
        let (shown, wanted) = (shown.get(&key(root)).copied().unwrap_or_default(), wanted(cluster, root));
        if shown >= MAX_PODS && shown < wanted {
            let message = format!("{shown} of {wanted} Pods are shown");
            let finding = Finding::new(Code::RunReplicasCapped, "", message)
                .with_hint(format!("a workload is shown with at most {MAX_PODS} Pods, or one gang of them"));
            findings.push(finding.about(reference(root)));
        }
    }
    findings
}

/// Whether a workload waits to be resumed, in words.
fn note(workload: &Workload) -> Option<Finding> {
    match &workload.spec {
        WorkloadSpec::Job(spec) => suspended(workload, spec.suspend).1,
        WorkloadSpec::JobSet(spec) => suspended(workload, spec.suspend).1,
        WorkloadSpec::CronJob(spec) => Some(suspended(workload, spec.suspend)).filter(|(waits, _)| *waits)?.1,
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
