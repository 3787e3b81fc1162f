//! Pods with a node that may not use their claims.

use super::{Facts, finding};
use crate::api::pod::Pod;
use crate::controllers::kubelet::{Permission, Refusal, may_use};
use crate::finding::{Code, Finding, Severity};

pub(super) fn inspect(facts: &Facts, findings: &mut Vec<Finding>) {
    for pod in facts.cluster.pods().values() {
        if pod.spec.node_name.is_empty() || pod.is_finished() {
            continue;
        }
        let nodes = facts.cluster.nodes();
        let name = &pod.spec.node_name;
        // A node that runs a Pod and has slices is missing from the dump, not from the cluster.
        let is_alive = pod.status.phase == "Running" && facts.cluster.inventory().node_names().any(|node| node == name);
        if !nodes.is_empty() && !nodes.contains_key(name) && !facts.is_refused("Node", "", name) && !is_alive {
            let object = pod.metadata.reference("Pod");
            let message = format!("the Pod is on node `{name}`, which does not exist");
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
    let is_refused = |claim: &str| facts.is_refused("ResourceClaim", &pod.metadata.namespace, claim);
    for (index, permission) in may_use(&facts.cluster, pod, groups).into_iter().enumerate() {
        let path = format!("spec.resourceClaims[{index}]");
        match permission {
            Permission::Refused(Refusal::Missing(claim)) if is_refused(&claim) => {
                let message = format!("whether the Pod may use claim `{claim}` is not known: the claim was refused");
                let hint = "correct the claim, as its own finding says, and look again; leave the Pod alone until then";
                let unknown = finding(Code::CheckPodWithoutClaim, object(), &path, message, hint);
                findings.push(unknown.with_severity(Severity::Warning));
            }
            Permission::Refused(Refusal::Missing(_)) if facts.cluster.is_not_given("ResourceClaim") => {}
            Permission::NotNeeded | Permission::Granted { .. } => {}
            Permission::Refused(Refusal::Elsewhere { claim, node }) => {
                let message =
                    format!("the Pod is on node `{node}`, which has no access to the devices of claim `{claim}`");
                let hint = "delete the Pod; where `nodeName` was given, leave it out so that the scheduler chooses";
                findings.push(finding(Code::CheckPodElsewhere, object(), &path, message, hint));
            }
            Permission::Refused(refusal) => {
                let (message, hint) = words(&what_is_wrong(&refusal), is_running);
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
