//! The Pods that a Job makes.

use std::collections::BTreeSet;

use serde_json::json;

use super::count::Count;
use super::{Job, TRACKING};
use crate::api::condition::text;
use crate::api::pod::{Container, Pod, PodSchedulingGroup};
use crate::api::read::Rest;
use crate::cluster::Cluster;
use crate::controllers::workloads;
use crate::derive;
use crate::gather::Gather;

/// Label and annotation with the number of a Pod of an Indexed Job.
const COMPLETION_INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// Most Pods made at once.
const MAX_AT_ONCE: usize = 500;

/// The number of a Pod of an Indexed Job.
pub(super) fn index(pod: &Pod) -> Option<u64> {
    pod.metadata.annotations.get(COMPLETION_INDEX)?.parse().ok()
}

/// So many Pods more. Members of the PodGroup, if there is one.
pub(super) fn missing(
    cluster: &Cluster,
    job: &Job<'_>,
    pods: &[&Pod],
    count: &Count,
    number: u64,
    group: Option<&String>,
) -> Vec<Pod> {
    let number = usize::try_from(number).unwrap_or(usize::MAX).min(MAX_AT_ONCE);
    let mut names = BTreeSet::new();
    let active = pods.iter().filter(|pod| workloads::is_active(pod));
    let taken: BTreeSet<u64> = active.filter_map(|pod| index(pod)).chain(count.completed.iter().copied()).gather();
    let free = (0..job.completions().unwrap_or_default()).filter(|index| !taken.contains(index));
    let numbers: Vec<u64> = match job.is_indexed() {
        true => free.take(number).collect(),
        false => (count.active..).take(number).collect(),
    };
    numbers.into_iter().map(|number| made(cluster, job, number, group, &mut names)).collect()
}

fn made(cluster: &Cluster, job: &Job<'_>, number: u64, group: Option<&String>, names: &mut BTreeSet<String>) -> Pod {
    let (owner, uid) = (&job.workload.metadata, job.uid());
    let index = job.is_indexed().then_some(number);
    let base = match index {
        Some(index) => {
            let number = format!("-{index}");
            format!("{}{number}", derive::cut(&owner.name, 57usize.saturating_sub(number.len())))
        }
        None => owner.name.clone(),
    };
    let Pod { mut metadata, mut spec, .. } = workloads::pod_of(job.workload, &job.spec.template);
    metadata.generate_name = format!("{base}-");
    metadata.finalizers.push(TRACKING.to_owned());
    for (label, value) in [("controller-uid", &uid), ("job-name", &owner.name)] {
        metadata.labels.insert(label.to_owned(), value.clone());
        metadata.labels.insert(format!("batch.kubernetes.io/{label}"), value.clone());
    }
    metadata.name = derive::free_name(&metadata.generate_name, &[&uid, &number.to_string()], |name| {
        cluster.pods().contains_key(&(metadata.namespace.clone(), name.to_owned())) || !names.insert(name.to_owned())
    });
    if let Some(index) = index {
        metadata.labels.insert(COMPLETION_INDEX.to_owned(), index.to_string());
        metadata.annotations.insert(COMPLETION_INDEX.to_owned(), index.to_string());
        spec.init_containers.iter_mut().chain(&mut spec.containers).for_each(tell_index);
        let mut rest = spec.rest.to_map();
        rest.entry("hostname").or_insert_with(|| json!(base));
        spec.rest = Rest::new(rest);
    }
    if let Some(group) = group {
        spec.scheduling_group =
            Some(PodSchedulingGroup { pod_group_name: group.clone(), ..PodSchedulingGroup::default() });
    }
    Pod { metadata, spec, ..Pod::default() }
}

/// Tells a container the Pod's number, unless the template does.
fn tell_index(container: &mut Container) {
    const NAME: &str = "JOB_COMPLETION_INDEX";
    let mut rest = container.rest.to_map();
    let variables = rest.entry("env").or_insert_with(|| json!([]));
    if let Some(variables) = variables.as_array_mut() {
        if variables.iter().any(|variable| text(variable, "name") == NAME) {
            return;
        }
        let field = json!({ "apiVersion": "v1", "fieldPath": format!("metadata.labels['{COMPLETION_INDEX}']") });
        variables.push(json!({ "name": NAME, "valueFrom": { "fieldRef": field } }));
    }
    container.rest = Rest::new(rest);
}
