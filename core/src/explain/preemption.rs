//! Who had to go for whom, in words.

use super::words::list;
use crate::cluster::Key;
use crate::control_plane::Preempted;
use crate::finding::{Code, Finding, ObjectRef};

/// That a Pod had to go.
pub(crate) fn finding(preempted: &Preempted) -> Finding {
    let Preempted { pod, priority, is_controlled, by, by_priority, node } = preempted;
    let message = format!(
        "Pod {} (priority {priority}) is evicted from node `{node}` to make room for Pod {} (priority {by_priority})",
        name(pod),
        name(by)
    );
    let hint = match is_controlled {
        true => "its controller makes another Pod, which needs room elsewhere",
        false => "no controller makes it again",
    };
    let finding = Finding::new(Code::RunPreempted, "spec.priority", message);
    finding.about(ObjectRef::new("Pod", &*pod.0, &*pod.1)).with_hint(hint)
}

/// Pods that went for a Pod, behind what else is said of it; empty where none did.
pub(crate) fn went_for(all: &[Preempted], by: &Key) -> String {
    let victims = all.iter().filter(|one| one.by == *by);
    let names: Vec<String> =
        victims.map(|one| format!("{}/{} (priority {})", one.pod.0, one.pod.1, one.priority)).collect();
    match names.len() {
        0 => String::new(),
        1 => format!("; {} is evicted to make room for it", list(names.iter())),
        _ => format!("; {} are evicted to make room for it", list(names.iter())),
    }
}

/// That a Pod had to go, where it did.
pub(crate) fn of_pod(all: &[Preempted], pod: &Key) -> Option<Finding> {
    all.iter().rfind(|one| one.pod == *pod).map(finding)
}

fn name(key: &Key) -> String {
    format!("`{}/{}`", key.0, key.1)
}
