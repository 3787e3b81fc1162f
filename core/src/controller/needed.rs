//! What of a Pod a part keeps: a cluster has many, and most of them neither wait nor hold devices.

use std::sync::Arc;

use super::State;
use super::explainer::CONDITION;
use crate::api::condition::condition;
use crate::api::meta::ObjectMeta;
use crate::api::object::Object;
use crate::api::pod::{Container, Pod, PodSpec, PodStatus};

/// Fields of which the type of a Pod knows nothing, and that say which ports of its node it takes.
const HOST_NETWORK: &str = "hostNetwork";
const PORTS: &str = "ports";

/// What is kept of an object that cannot be read as a whole, as far as it can be read. What it takes is not given to others, and
/// what needs it stays.
pub(super) fn unread(state: &State, object: Object) -> Option<Object> {
    match (state, &object) {
        (State::Scheduler(_) | State::Explainer(_), Object::ResourceClaim(claim)) => {
            claim.status.allocation.as_ref()?
        }
        (State::Scheduler(_), Object::Pod(pod)) if !pod.spec.node_name.is_empty() => return needed(state, object),
        (State::PodGroupProtection, Object::Pod(_)) => return needed(state, object),
        _ => return None,
    };
    Some(object)
}

/// What of an object is kept; nothing of one that plays no part. Pods are never written as a whole, so nothing is lost.
///
/// A part that looks Pods up by the names that claims have of them must know of every Pod, or it takes some to be gone.
pub(super) fn needed(state: &State, object: Object) -> Option<Object> {
    let Object::Pod(pod) = object else { return Some(object) };
    let has_node = !pod.spec.node_name.is_empty();
    let kept = match state {
        State::PodGroupProtection if pod.group_name().is_none() => return None,
        State::PodGroupProtection | State::Claims(_) | State::TaintEviction { .. } => slim(&pod, false),
        State::Scheduler(_) if has_node => slim(&pod, true),
        State::Explainer(_) if has_node => {
            let mut kept = slim(&pod, true);
            kept.status.conditions.extend(condition(&pod.status.conditions, CONDITION).cloned());
            kept
        }
        State::Explainer(_) | State::Scheduler(_) | State::TemplateSync(_) => return Some(Object::Pod(pod)),
    };
    Some(Object::Pod(Arc::new(kept)))
}

/// Of a Pod who it is, where it stands, its group and its claims; where asked for, what it takes of its node.
fn slim(pod: &Pod, has_room: bool) -> Pod {
    let mut metadata = ObjectMeta {
        name: pod.metadata.name.clone(),
        namespace: pod.metadata.namespace.clone(),
        uid: pod.metadata.uid.clone(),
        resource_version: pod.metadata.resource_version.clone(),
        creation_timestamp: pod.metadata.creation_timestamp.clone(),
        deletion_timestamp: pod.metadata.deletion_timestamp.clone(),
        ..ObjectMeta::default()
    };
    let mut spec = PodSpec {
        node_name: pod.spec.node_name.clone(),
        resource_claims: pod.spec.resource_claims.clone(),
        scheduler_name: pod.spec.scheduler_name.clone(),
        priority: pod.spec.priority,
        scheduling_group: pod.spec.scheduling_group.clone(),
        workload_ref: pod.spec.workload_ref.clone(),
        ..PodSpec::default()
    };
    if has_room {
        // What other Pods may ask of it.
        metadata.labels.clone_from(&pod.metadata.labels);
        spec.affinity.clone_from(&pod.spec.affinity);
        if let Some(on_host) = pod.spec.rest.get(HOST_NETWORK) {
            spec.rest.set(HOST_NETWORK, on_host.clone());
        }
        let resources = |container: &Container| {
            let mut kept = Container {
                name: container.name.clone(),
                resources: container.resources.clone(),
                restart_policy: container.restart_policy.clone(),
                ..Container::default()
            };
            if let Some(ports) = container.rest.get(PORTS) {
                kept.rest.set(PORTS, ports.clone());
            }
            kept
        };
        spec.containers = pod.spec.containers.iter().map(resources).collect();
        spec.init_containers = pod.spec.init_containers.iter().map(resources).collect();
        spec.overhead.clone_from(&pod.spec.overhead);
        spec.resources.clone_from(&pod.spec.resources);
    }
    let status = PodStatus {
        phase: pod.status.phase.clone(),
        nominated_node_name: pod.status.nominated_node_name.clone(),
        resource_claim_statuses: pod.status.resource_claim_statuses.clone(),
        extended_resource_claim_status: pod.status.extended_resource_claim_status.clone(),
        node_allocatable_resource_claim_statuses: pod.status.node_allocatable_resource_claim_statuses.clone(),
        ..PodStatus::default()
    };
    Pod { metadata, spec, status, ..Pod::default() }
}
