//! What the scheduler writes about Pods and PodGroups.

use serde_json::{Value, json};

use super::NAME;
use super::attempt::Nomination;
use super::message::GROUP_UNSCHEDULABLE;
use crate::api::group::PodGroup;
use crate::api::meta::ObjectMeta;
use crate::api::pod::{NodeAllocatableClaimStatus, Pod, PodExtendedResourceClaimStatus};
use crate::api::read::Json;
use crate::decision::{Action, Decision, EventRecord, Merging, Patch, Time};
use crate::profile::{Profile, Version};

/// Why a Pod has to go for another one, as its condition says it.
pub(super) const PREEMPTED: &str = "PreemptionByScheduler";

fn patch(kind: &str, metadata: &ObjectMeta, fields: Value) -> Action {
    Action::Patch(Patch::of(metadata.reference(kind), metadata, true, Merging::Strategic, fields))
}

/// Says where a Pod is about to be placed, before its claims are written.
pub(super) fn nominate(pod: &Pod, node: &str, decision: &mut Decision) {
    if pod.status.nominated_node_name != node {
        decision.actions.push(patch("Pod", &pod.metadata, json!({ "status": { "nominatedNodeName": node } })));
    }
}

/// Says what a Pod's devices take of its node.
pub(super) fn node_allocatable(pod: &Pod, taken: &[NodeAllocatableClaimStatus], decision: &mut Decision) {
    if !taken.is_empty() && pod.status.node_allocatable_resource_claim_statuses != taken {
        let taken: Vec<Value> = taken.iter().filter_map(Json::write).collect();
        let status = json!({ "nodeAllocatableResourceClaimStatuses": taken });
        decision.actions.push(patch("Pod", &pod.metadata, json!({ "status": status })));
    }
}

/// Says which claim serves a Pod's extended resources.
pub(super) fn extended(pod: &Pod, status: PodExtendedResourceClaimStatus, decision: &mut Decision) {
    let status = Some(status);
    if pod.status.extended_resource_claim_status != status {
        let status = json!({ "extendedResourceClaimStatus": status.as_ref().and_then(Json::write) });
        decision.actions.push(patch("Pod", &pod.metadata, json!({ "status": status })));
    }
}

/// An Event about a Pod.
pub(super) fn event(pod: &Pod, is_warning: bool, reason: &str, action: &str, note: String) -> EventRecord {
    let warning = EventRecord::warning(NAME, pod.metadata.reference("Pod"), &pod.metadata, reason, note);
    EventRecord { is_warning, action: action.to_owned(), ..warning }
}

/// Nominates a Pod that got no node for another one, or for none.
pub(super) fn nominate_after(pod: &Pod, nomination: &Nomination, decision: &mut Decision) {
    match nomination {
        Nomination::AsItIs => {}
        Nomination::For(node) => nominate(pod, node, decision),
        Nomination::Nowhere => forget_nomination(pod, decision),
    }
}

/// Says that a Pod is nominated for no node any more.
pub(super) fn forget_nomination(pod: &Pod, decision: &mut Decision) {
    if !pod.status.nominated_node_name.is_empty() {
        let fields = json!({ "status": { "nominatedNodeName": null } });
        decision.actions.push(patch("Pod", &pod.metadata, fields));
    }
}

/// Has a Pod go so that another one gets its place.
pub(super) fn evict(victim: &Pod, pod: &Pod, node: &str, now: Time, decision: &mut Decision) {
    let scheduler = pod.scheduler();
    let condition = json!({
        "type": "DisruptionTarget",
        "observedGeneration": victim.metadata.rest.get("generation"),
        "status": "True",
        "lastProbeTime": null,
        "lastTransitionTime": now.to_string(),
        "reason": PREEMPTED,
        "message": format!("{scheduler}: preempting to accommodate a higher priority pod"),
    });
    decision.actions.push(patch("Pod", &victim.metadata, json!({ "status": { "conditions": [condition] } })));
    decision.actions.push(Action::delete(victim.metadata.reference("Pod"), &victim.metadata));
    let note = format!("Preempted by pod {} on node {node}", pod.metadata.uid);
    decision.actions.push(Action::Record(event(victim, false, "Preempted", "Preempting", note)));
}

/// The condition and the Event of a Pod that has no node. Nothing is written where the Pod says so already.
pub(super) fn failed(
    pod: &Pod,
    (message, is_error): (&str, bool),
    nomination: &Nomination,
    now: Time,
    decision: &mut Decision,
) {
    let reason = if is_error { "SchedulerError" } else { "Unschedulable" };
    decision.events.push(event(pod, true, "FailedScheduling", "Scheduling", message.to_owned()));
    let known = condition(&pod.status.conditions, "PodScheduled");
    let says = |name: &str| known.and_then(|known| known.get(name)).and_then(Value::as_str).unwrap_or_default();
    let is_same = says("status") == "False" && says("reason") == reason && says("message") == message;
    let nominated = match nomination {
        Nomination::AsItIs => pod.status.nominated_node_name.as_str(),
        Nomination::Nowhere => "",
        Nomination::For(node) => node,
    };
    let changes = nominated != pod.status.nominated_node_name;
    if is_same && !changes {
        return;
    }
    let since = if says("status") == "False" { json!(says("lastTransitionTime")) } else { json!(now.to_string()) };
    let mut status = json!({
        "conditions": [{
            "type": "PodScheduled",
            "observedGeneration": pod.metadata.rest.get("generation"),
            "status": "False",
            "lastProbeTime": null,
            "lastTransitionTime": since,
            "reason": reason,
            "message": message,
        }],
    });
    if let Some(map) = status.as_object_mut().filter(|_| changes) {
        let node = if nominated.is_empty() { Value::Null } else { json!(nominated) };
        map.insert("nominatedNodeName".to_owned(), node);
    }
    decision.actions.push(patch("Pod", &pod.metadata, json!({ "status": status })));
}

/// Whether a Pod says that it was tried and has no node.
pub(super) fn is_unscheduled(pod: &Pod) -> bool {
    let known = condition(&pod.status.conditions, "PodScheduled");
    known.and_then(|known| known.get("status")).and_then(Value::as_str) == Some("False")
}

/// How a group cycle ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome<'m> {
    Scheduled,
    Unschedulable,
    Error(&'m str),
}

/// The condition of a PodGroup. Once it is true it stays.
pub(super) fn group_condition(
    group: &PodGroup,
    profile: &Profile,
    outcome: Outcome<'_>,
    now: Time,
    decision: &mut Decision,
) {
    let is_newer = profile.version >= Version::V1_37 && !group.api_version.ends_with("/v1alpha2");
    let kind = if is_newer { "PodGroupInitiallyScheduled" } else { "PodGroupScheduled" };
    let placements = profile.features.topology_aware_scheduling && profile.features.workload_aware_preemption;
    let unschedulable = if placements {
        format!(
            "0/1 placements are available, first placement status: {GROUP_UNSCHEDULABLE}, No preemption victims found for incoming preemptor"
        )
    } else {
        GROUP_UNSCHEDULABLE.to_owned()
    };
    let (status, reason, message) = match outcome {
        Outcome::Scheduled => ("True", "Scheduled", ""),
        Outcome::Unschedulable => ("False", "Unschedulable", unschedulable.as_str()),
        Outcome::Error(message) => ("False", "SchedulerError", message),
    };
    let known = condition(&group.status.conditions, kind);
    let says = |name: &str| known.and_then(|known| known.get(name)).and_then(Value::as_str).unwrap_or_default();
    let is_same = says("status") == status && says("reason") == reason && says("message") == message;
    if says("status") == "True" || is_same {
        return;
    }
    let since = if says("status") == status { json!(says("lastTransitionTime")) } else { json!(now.to_string()) };
    let condition =
        json!({ "type": kind, "status": status, "lastTransitionTime": since, "reason": reason, "message": message });
    decision.actions.push(patch("PodGroup", &group.metadata, json!({ "status": { "conditions": [condition] } })));
}

fn condition<'c>(conditions: &'c [Value], kind: &str) -> Option<&'c Value> {
    conditions.iter().find(|condition| condition.get("type").and_then(Value::as_str) == Some(kind))
}
