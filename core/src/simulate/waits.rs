//! Why a Pod that would find a place has none.

use serde_json::Value;

use super::claims::Origin;
use crate::api::pod::Pod;
use crate::cluster::Cluster;
use crate::finding::{Code, Finding};

/// The reasons of a Pod that fits, most important first; the last one is what the scheduler said when it tried it, if it did.
pub(crate) fn reasons(cluster: &Cluster, pod: &Pod, origin: &Origin) -> Vec<Finding> {
    let features = &cluster.profile().features;
    let path = "spec.schedulingGroup.podGroupName";
    let group = pod.group_name().filter(|_| features.generic_workload);
    let mut reasons = match group {
        Some(name) => vec![origin.finding(Code::RunGroupWaits, path, of_group(cluster, pod, name))],
        None => vec![origin.finding(Code::RunWaits, "", "the Pod fits now and is waiting to be tried again")],
    };
    let is_it =
        |condition: &&Value| field(condition, "type") == "PodScheduled" && field(condition, "status") == "False";
    if let Some(condition) = pod.status.conditions.iter().find(is_it) {
        reasons.push(Finding::new(Code::RunSchedulerMessage, "", field(condition, "message")));
    }
    reasons
}

fn of_group(cluster: &Cluster, pod: &Pod, name: &str) -> String {
    let key = (pod.metadata.namespace.clone(), name.to_owned());
    let Some(group) = cluster.pod_groups().get(&key) else {
        return format!("the Pod waits for PodGroup `{name}`, which does not exist");
    };
    let Some(min_count) = group.min_count() else {
        return format!("the Pod fits on its own and waits for PodGroup `{name}` to be tried again");
    };
    let members = cluster.links().pods_of_group(&key).count();
    match u64::try_from(min_count).unwrap_or_default() > members as u64 {
        true => format!("the gang of PodGroup `{name}` needs {min_count} Pods, and there are {members}"),
        false => format!(
            "the Pod fits on its own, but the {min_count} Pods that the gang of PodGroup `{name}` needs do not fit together"
        ),
    }
}

fn field<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
