//! Objects that are to go and cannot.

use std::sync::Arc;

use super::{Facts, Presence, finding};
use crate::api::meta::ObjectMeta;
use crate::api::object::Object;
use crate::decision::{CLAIM_FINALIZER, GROUP_FINALIZER, Time};
use crate::finding::{Code, Finding, ObjectRef};

/// Seconds after which somebody should have removed a finalizer.
const PATIENCE: i64 = 300;

/// Finalizers of the garbage collector and the Job controller, which are not for this to judge.
const OF_KUBERNETES: [&str; 3] = ["foregroundDeletion", "orphan", "batch.kubernetes.io/job-tracking"];

pub(super) fn inspect(facts: &Facts, findings: &mut Vec<Finding>) {
    let claims = facts.cluster.claims().values().cloned().map(Object::ResourceClaim);
    let groups = facts.cluster.pod_groups().values().map(|group| Object::PodGroup(Arc::new(group.clone())));
    let pods = facts.cluster.pods().values().cloned().map(Object::Pod);
    for object in claims.chain(groups).chain(pods) {
        let key = object.reference();
        if object.metadata().is_deleting() {
            for name in &object.metadata().finalizers {
                stuck(facts, &object, &key, name, findings);
            }
        } else if let Object::ResourceClaim(claim) = &object
            && claim.status.allocation.is_some()
            && !claim.metadata.has_finalizer(CLAIM_FINALIZER)
        {
            let message = format!("the claim has devices and lacks the finalizer `{CLAIM_FINALIZER}`");
            let hint = "until it has it again do not delete the claim: it would go while its devices are in use; add the finalizer with `kubectl patch`";
            findings.push(finding(Code::CheckUnprotected, key, "metadata.finalizers", message, hint));
        }
    }
}

/// Whether a finalizer of an object that is to go will be removed.
fn stuck(facts: &Facts, object: &Object, key: &ObjectRef, name: &str, findings: &mut Vec<Finding>) {
    let (message, hint) = match (object, name) {
        (Object::ResourceClaim(claim), CLAIM_FINALIZER) => {
            let namespace = &claim.metadata.namespace;
            let is_held = claim.status.reserved_for.iter().any(|consumer| {
                let presence = facts.presence(&consumer.resource, namespace, &consumer.name, &consumer.uid);
                matches!(presence, Presence::There | Presence::Unknown)
            });
            if is_held || !is_overdue(&claim.metadata, facts.now) {
                return;
            }
            (
                format!("the claim is to go, nobody uses it, and `{name}` is still there"),
                "kube-controller-manager removes it once `status.allocation` is gone: see whether it runs; only if it never will, remove both by hand, the allocation first",
            )
        }
        (Object::PodGroup(group), GROUP_FINALIZER) => {
            let own = (key.namespace.clone(), key.name.clone());
            let mut members = facts.cluster.pods_of_group(&own);
            if !facts.knows_pods || members.any(|pod| !pod.is_finished()) || !is_overdue(&group.metadata, facts.now) {
                return;
            }
            (
                format!("the PodGroup is to go, all its Pods have ended, and `{name}` is still there"),
                "kube-controller-manager removes it: see whether it runs with the feature gate `GenericWorkload`; if the gate was turned off, remove the finalizer by hand",
            )
        }
        _ => {
            if OF_KUBERNETES.contains(&name) || !is_overdue(object.metadata(), facts.now) {
                return;
            }
            (
                format!("the object is to go and waits for finalizer `{name}`, which no part of Kubernetes removes"),
                "find the controller that the finalizer's domain names and see whether it runs; remove the finalizer by hand only if that controller is gone for good",
            )
        }
    };
    findings.push(finding(Code::CheckFinalizerStuck, key.clone(), "metadata.finalizers", message, hint));
}

/// Whether deletion was asked for some time ago. A time that cannot be read was long ago.
fn is_overdue(metadata: &ObjectMeta, now: Time) -> bool {
    Time::parse(&metadata.deletion_timestamp).is_none_or(|asked| asked.plus_seconds(PATIENCE) <= now)
}
