//! A JobSet makes groups of Jobs: all at once, or once the Jobs that a group depends on are ready or complete.
//!
//! Source: `pkg/controllers/jobset_controller.go`, `depends_on.go` and `startup_policy.go` of kubernetes-sigs/jobset.

use serde_json::Value;

use super::makers::{count, job, parallel, suspended};
use super::{Look, MAX_PODS, children, is_available, key, pods_of};
use crate::api::condition::{conditions, holds, text};
use crate::api::workload::{JobSetSpec, ReplicatedJob, Workload, WorkloadSpec};
use crate::cluster::Cluster;
use crate::finding::{Code, Finding};

/// Label with the group of Jobs that a Pod of a JobSet belongs to.
pub(super) const GROUP: &str = "jobset.sigs.k8s.io/replicatedjob-name";

/// A JobSet gets as many Jobs as there is room for their Pods.
pub(super) fn job_set(cluster: &Cluster, workload: &Workload, spec: &JobSetSpec) -> Look {
    if suspended(workload, spec.suspend).0 {
        return Look::default();
    }
    let existing = children(cluster, workload);
    let (mut actions, mut waits, mut global) = (Vec::new(), false, 0u64);
    for (position, (group, number)) in groups(spec).enumerate() {
        let replicas = count(group.replicas);
        let is_held = awaited(cluster, &existing, spec, position).is_some();
        waits |= is_held;
        for index in 0..if is_held { 0 } else { number } {
            let name = format!("{}-{}-{index}", workload.metadata.name, group.name);
            if existing.iter().any(|child| child.metadata.name == name) {
                continue;
            }
            let labels = [
                ("jobset.sigs.k8s.io/jobset-name", workload.metadata.name.clone()),
                (GROUP, group.name.clone()),
                ("jobset.sigs.k8s.io/replicatedjob-replicas", replicas.to_string()),
                ("jobset.sigs.k8s.io/job-index", index.to_string()),
                ("jobset.sigs.k8s.io/job-global-index", global.saturating_add(index).to_string()),
                ("jobset.sigs.k8s.io/restart-attempt", "0".to_owned()),
            ];
            let mut spec = group.template.spec.clone();
            if spec.completion_mode.is_empty() {
                spec.completion_mode = "Indexed".to_owned();
            }
            let labels = labels.map(|(key, value)| (key.to_owned(), value));
            spec.template.metadata.labels.extend(labels.clone());
            // The JobSet resumes its Jobs itself.
            spec.suspend = None;
            actions.push(job(workload, name, &group.template.metadata, spec, labels));
        }
        global = global.saturating_add(replicas);
    }
    Look::of(actions, waits)
}

/// Says which Jobs are not made yet because of those that they depend on.
pub(super) fn waits(cluster: &Cluster, workload: &Workload, spec: &JobSetSpec) -> Vec<Finding> {
    if suspended(workload, spec.suspend).0 {
        return Vec::new();
    }
    let existing = children(cluster, workload);
    let note = |(position, group): (usize, &ReplicatedJob)| {
        let (path, what) = awaited(cluster, &existing, spec, position)?;
        let there = existing.iter().filter(|job| job.metadata.labels.get(GROUP) == Some(&group.name)).count();
        let which = match count(group.replicas).saturating_sub(there as u64) {
            0 => return None,
            1 => format!("1 Job of `{}` is", group.name),
            number => format!("{number} Jobs of `{}` are", group.name),
        };
        let finding = Finding::new(Code::RunReplicasCapped, path, format!("{which} not made before those of {what}"));
        Some(finding.with_hint("what they need is not counted here"))
    };
    spec.replicated_jobs.iter().enumerate().filter_map(note).collect()
}

/// The groups, each with the number of its Jobs that there is room for.
fn groups(spec: &JobSetSpec) -> impl Iterator<Item = (&ReplicatedJob, u64)> {
    let mut shown = 0u64;
    spec.replicated_jobs.iter().map(move |group| {
        let mut number = 0u64;
        while number < count(group.replicas) && number < MAX_PODS && shown < MAX_PODS {
            shown = shown.saturating_add(parallel(&group.template.spec));
            number = number.saturating_add(1);
        }
        (group, number)
    })
}

/// What a group of Jobs waits for: the field that says it, and what in words.
fn awaited(cluster: &Cluster, jobs: &[&Workload], spec: &JobSetSpec, position: usize) -> Option<(String, String)> {
    let startup = spec.rest.get("startupPolicy").map(|policy| text(policy, "startupPolicyOrder"));
    let named = |name: &str| groups(spec).find(|(group, _)| group.name == name);
    let depends = spec.replicated_jobs.get(position)?.rest.get("dependsOn").and_then(Value::as_array);
    for dependency in depends.into_iter().flatten() {
        let Some((group, number)) = named(text(dependency, "name")) else { continue };
        let (started, complete) = standing(cluster, jobs, group);
        let path = || format!("spec.replicatedJobs[{position}].dependsOn");
        match text(dependency, "status") {
            "Complete" if complete < number => return Some((path(), format!("`{}` complete", group.name))),
            "Ready" if started < number => return Some((path(), format!("`{}` are ready", group.name))),
            _ => {}
        }
    }
    let mut before = groups(spec).take(if startup == Some("InOrder") { position } else { 0 });
    let (group, _) = before.find(|(group, number)| standing(cluster, jobs, group).0 < *number)?;
    Some(("spec.startupPolicy".to_owned(), format!("`{}` are ready", group.name)))
}

/// How many Jobs of a group have all their Pods ready or have ended, and how many are complete.
fn standing(cluster: &Cluster, jobs: &[&Workload], group: &ReplicatedJob) -> (u64, u64) {
    let (mut started, mut complete) = (0u64, 0u64);
    for job in jobs.iter().filter(|job| job.metadata.labels.get(GROUP) == Some(&group.name)) {
        let WorkloadSpec::Job(spec) = &job.spec else { continue };
        let says = |condition: &str| holds(conditions(&job.status), condition);
        let succeeded = job.status.get("succeeded").and_then(Value::as_u64).unwrap_or_default();
        let serving = pods_of(cluster, &key(job)).filter(|pod| is_available(pod)).count() as u64;
        let serving = serving.saturating_add(succeeded);
        let is_complete = says("Complete");
        let is_started = is_complete || says("Failed") || serving >= parallel(spec).min(MAX_PODS);
        started = started.saturating_add(u64::from(is_started));
        complete = complete.saturating_add(u64::from(is_complete));
    }
    (started, complete)
}
