//! PriorityClasses of Pods. Of those with a priority nothing is said: admission has given it.

use super::index::Index;
use super::json::{Json, field, inner, kind, text};
use super::pods::pod_specs;
use crate::finding::{Code, Finding, Severity};
use crate::validate::kind::split;
use crate::validate::pod_templates;
use crate::validate::priority::{Asked, admit, named, no_class, refusal, with_near_class};

/// What admission says to the Pods of an object because of their classes. Without any class among the objects a missing one is worth a note:
/// the cluster may have it.
pub(super) fn check(object: &Json<'_>, index: &Index<'_>, found: &mut Vec<Finding>) {
    let group = split(text(object, "apiVersion")).0;
    let is_pod = (group, kind(object)) == ("", "Pod");
    if !is_pod && pod_templates::of(group, kind(object)).is_none() || is_pod && was_taken(object) {
        return;
    }
    let classes = &index.priority_classes;
    for pod in pod_specs(object).into_iter().filter(|pod| field(pod.spec, "priority").is_none()) {
        let class = text(pod.spec, "priorityClassName");
        let asked = Asked { class, priority: None, policy: text(pod.spec, "preemptionPolicy") };
        let finding = match admit(classes, &asked) {
            Err(problem) if is_pod => refusal(super::json::name(object), &problem),
            Err(problem) => Finding::new(Code::RunRefused, "", format!("its Pods are refused: {problem}")),
            Ok(_) if class.is_empty() || named(classes, class).is_some() => continue,
            Ok(_) => {
                let message = format!("{}: the API server refuses the Pod if the cluster has none", no_class(class));
                Finding::new(Code::RunRefused, "", message).with_severity(Severity::Info)
            }
        };
        let path = format!("{}.priorityClassName", pod.at);
        found.push(Finding { path, ..with_near_class(classes, class, finding) });
    }
}

/// Whether an API server has taken the Pod: it has a node, or has ended.
fn was_taken(pod: &Json<'_>) -> bool {
    let has = |path: &str| inner(pod, path).and_then(Json::as_str).is_some_and(|text| !text.is_empty());
    let is_finished = matches!(inner(pod, "status.phase").and_then(Json::as_str), Some("Succeeded" | "Failed"));
    is_finished || has("metadata.uid") && has("spec.nodeName")
}
