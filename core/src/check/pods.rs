//! Pods with a node that may not use their claims.

use super::{Facts, finding};
use crate::api::pod::Pod;
use crate::controllers::kubelet::{Permission, Refusal, may_use};
use crate::finding::{Code, Finding};

pub(super) fn inspect(facts: &Facts, findings: &mut Vec<Finding>) {
    for pod in facts.cluster.pods().values() {
        if pod.spec.node_name.is_empty() || pod.is_finished() {
            continue;
        }
        let nodes = facts.cluster.nodes();
        if !nodes.is_empty() && !nodes.contains_key(&pod.spec.node_name) {
            let object = pod.metadata.reference("Pod");
            let message = format!("the Pod is on node `{}`, which does not exist", pod.spec.node_name);
            let hint = "delete the Pod: nothing runs it, and its claims stay reserved";
            findings.push(finding(Code::CheckPodWithoutNode, object, "spec.nodeName", message, hint));
        }
        permissions(facts, pod, findings);
    }
}

fn permissions(facts: &Facts, pod: &Pod, findings: &mut Vec<Finding>) {
    let groups = facts.cluster.profile().features.workload_resource_claims;
    let object = || pod.metadata.reference("Pod");
    let is_running = pod.status.phase == "Running";
    let refused = |claim: &str| facts.cluster.refused("ResourceClaim", &pod.metadata.namespace, claim);
    for (index, permission) in may_use(&facts.cluster, pod, groups).into_iter().enumerate() {
        let path = format!("spec.resourceClaims[{index}]");
        match permission {
            Permission::Refused(Refusal::Missing(claim))
                if facts.cluster.is_not_given("ResourceClaim") && refused(&claim).is_none() => {}
            Permission::NotNeeded | Permission::Granted { .. } => {}
            Permission::Refused(Refusal::Elsewhere { claim, node }) => {
                let message =
                    format!("the Pod is on node `{node}`, which has no access to the devices of claim `{claim}`");
                let hint = "delete the Pod; where `nodeName` was given, leave it out so that the scheduler chooses";
                findings.push(finding(Code::CheckPodElsewhere, object(), &path, message, hint));
            }
            Permission::Refused(refusal) => {
                let what = match &refusal {
                    Refusal::Missing(claim) if refused(claim).is_some() => format!("claim `{claim}` was refused"),
                    refusal => what_is_wrong(refusal),
                };
                let (message, hint) = words(&what, is_running);
                findings.push(finding(Code::CheckPodWithoutClaim, object(), &path, message, hint));
            }
        }
    }
}

fn what_is_wrong(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NotCreated => "no claim was made for the entry".to_owned(),
        Refusal::Missing(claim) => format!("claim `{claim}` does not exist"),
        Refusal::Foreign(claim) => format!("claim `{claim}` was made for somebody else"),
        Refusal::NotReserved(claim) => format!("claim `{claim}` is not reserved for the Pod"),
        Refusal::NotAllocated(claim) | Refusal::Elsewhere { claim, .. } => {
            format!("claim `{claim}` has no devices there")
        }
    }
}

fn words(what: &str, is_running: bool) -> (String, &'static str) {
    match is_running {
        true => (
            format!("the Pod runs, and {what}: its devices may be given to others"),
            "end the Pod in an orderly way and let it be made again; do not restart its kubelet before, which would not admit it",
        ),
        false => (
            format!("the Pod has a node and cannot start: {what}"),
            "delete the Pod, so that one is made that the scheduler places; without `nodeName` where it was given",
        ),
    }
}
