//! Pods with a node that may not use their claims.

use super::{Facts, finding};
use crate::api::pod::Pod;
use crate::controllers::kubelet::{Permission, Refusal, may_use};
use crate::finding::{Code, Finding};
use crate::scheduler::node_fit::selects;

pub(super) fn inspect(facts: &Facts, findings: &mut Vec<Finding>) {
    for pod in facts.cluster.pods().values() {
        if !pod.spec.node_name.is_empty() && !pod.is_finished() {
            permissions(facts, pod, findings);
        }
    }
}

fn permissions(facts: &Facts, pod: &Pod, findings: &mut Vec<Finding>) {
    let groups = facts.cluster.profile().features.workload_resource_claims;
    let object = || pod.metadata.reference("Pod");
    let is_running = pod.status.phase == "Running";
    for (index, permission) in may_use(&facts.cluster, pod, groups).into_iter().enumerate() {
        let path = format!("spec.resourceClaims[{index}]");
        match permission {
            Permission::NotNeeded => {}
            Permission::Refused(Refusal::Missing { .. }) if facts.cluster.is_not_given("ResourceClaim") => {}
            Permission::Granted { claim, .. } => {
                if let Some(finding) = elsewhere(facts, pod, &claim, &path) {
                    findings.push(finding);
                }
            }
            Permission::Refused(refusal) => {
                let (message, hint) = words(&refusal, is_running);
                findings.push(finding(Code::CheckPodWithoutClaim, object(), &path, message, hint));
            }
        }
    }
}

/// A Pod on a node that has no access to the devices of its claim.
fn elsewhere(facts: &Facts, pod: &Pod, claim: &str, path: &str) -> Option<Finding> {
    let found = facts.cluster.claims().get(&(pod.metadata.namespace.clone(), claim.to_owned()))?;
    let selector = found.status.allocation.as_ref()?.node_selector.as_ref()?;
    let node = facts.cluster.nodes().get(&pod.spec.node_name)?;
    if selects(selector, node) {
        return None;
    }
    let message =
        format!("the Pod is on node `{}`, which has no access to the devices of claim `{claim}`", pod.spec.node_name);
    let hint = "delete the Pod; where `nodeName` was given, leave it out so that the scheduler chooses".to_owned();
    let object = pod.metadata.reference("Pod");
    Some(finding(Code::CheckPodElsewhere, object, path, message, hint))
}

fn words(refusal: &Refusal, is_running: bool) -> (String, String) {
    let what = match refusal {
        Refusal::NotCreated { .. } => "no claim was made for the entry".to_owned(),
        Refusal::Missing { claim, .. } => format!("claim `{claim}` does not exist"),
        Refusal::Foreign { claim, .. } => format!("claim `{claim}` was made for somebody else"),
        Refusal::NotReserved { claim, .. } => format!("claim `{claim}` is not reserved for the Pod"),
        Refusal::NotAllocated { claim } => format!("claim `{claim}` has no devices"),
    };
    match is_running {
        true => (
            format!("the Pod runs, and {what}: its devices may be given to others"),
            "end the Pod in an orderly way and let it be made again; do not restart its kubelet before, which would not admit it".to_owned(),
        ),
        false => (
            format!("the Pod has a node and cannot start: {what}"),
            "delete the Pod, so that one is made that the scheduler places; without `nodeName` where it was given".to_owned(),
        ),
    }
}
