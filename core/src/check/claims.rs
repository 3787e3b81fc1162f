//! Claims whose consumers or owners are gone, and claims that were made twice.

use std::collections::BTreeMap;

use super::{Facts, Presence, kind_of, of_claim, spare};
use crate::api::claim::ResourceClaim;
use crate::cluster::entries::{ENTRY_ANNOTATION, Resolved, is_for_pod, key_of, resolve};
use crate::finding::{Code, Finding};

pub(super) fn inspect(facts: &Facts, findings: &mut Vec<Finding>) {
    for claim in facts.cluster.claims().values() {
        reservations(facts, claim, findings);
        idle(facts, claim, findings);
        owner(facts, claim, findings);
    }
    duplicates(facts, findings);
}

/// Reservations of consumers that are not there or have ended.
fn reservations(facts: &Facts, claim: &ResourceClaim, findings: &mut Vec<Finding>) {
    let namespace = &claim.metadata.namespace;
    for (index, consumer) in claim.status.reserved_for.iter().enumerate() {
        let (code, what) = match facts.presence(&consumer.resource, namespace, &consumer.name, &consumer.uid) {
            Presence::Gone => (Code::CheckConsumerGone, "does not exist"),
            Presence::Replaced => (Code::CheckConsumerGone, "is another object of that name by now"),
            Presence::Ended => (Code::CheckConsumerEnded, "has ended"),
            Presence::There | Presence::Unknown => continue,
        };
        let message = format!(
            "the claim is reserved for {} `{namespace}/{}`, which {what}",
            kind_of(&consumer.resource),
            consumer.name
        );
        let hint = "kube-controller-manager takes the entry out within minutes; if it does not, see whether it runs, then remove this entry from `status.reservedFor` with `kubectl edit --subresource=status`";
        findings.push(of_claim(claim, code, &format!("status.reservedFor[{index}]"), message, hint));
    }
}

/// Devices that nobody uses and nobody can use: those of a claim that was made for somebody, without a reservation.
fn idle(facts: &Facts, claim: &ResourceClaim, findings: &mut Vec<Finding>) {
    if claim.status.allocation.is_none() || !claim.status.reserved_for.is_empty() {
        return;
    }
    let mut users = facts.cluster.pods_of_claim(&key_of(&claim.metadata));
    if users.any(|pod| !pod.is_finished()) || !facts.knows_pods {
        return;
    }
    let message = "the claim has devices, and no Pod uses it or is about to";
    let hint = "kube-controller-manager gives the devices back when the last reservation goes; a claim that missed that is freed by deleting it, where it was made for one Pod, or by `kubectl edit --subresource=status` without `status.allocation`";
    findings.push(of_claim(claim, Code::CheckIdleDevices, "status.allocation", message, hint));
}

/// Generated claims whose owner is not there, or does not know them.
fn owner(facts: &Facts, claim: &ResourceClaim, findings: &mut Vec<Finding>) {
    let Some(owner) = claim.metadata.controller() else { return };
    if claim.metadata.is_deleting() {
        return;
    }
    let namespace = &claim.metadata.namespace;
    match facts.presence(&owner.kind, namespace, &owner.name, &owner.uid) {
        Presence::Gone | Presence::Replaced => {
            let message = format!("{} `{namespace}/{}`, which the claim was made for, is gone", owner.kind, owner.name);
            let hint = "the garbage collector deletes the claim within minutes; if it does not, delete the claim: nothing else uses it";
            findings.push(of_claim(claim, Code::CheckOwnerGone, "metadata.ownerReferences", message, hint));
        }
        Presence::There if owner.kind == "Pod" => unrecorded(facts, claim, &owner.name, findings),
        Presence::There | Presence::Ended | Presence::Unknown => {}
    }
}

/// A claim that was made for a Pod whose status names another one, or none.
fn unrecorded(facts: &Facts, claim: &ResourceClaim, pod: &str, findings: &mut Vec<Finding>) {
    let key = (claim.metadata.namespace.clone(), pod.to_owned());
    let Some(pod) = facts.cluster.pods().get(&key).filter(|pod| is_for_pod(pod, claim, false)) else { return };
    let Some(entry) = claim.metadata.annotations.get(ENTRY_ANNOTATION) else { return };
    let Some(entry) = pod.spec.resource_claims.iter().find(|known| known.name == *entry) else { return };
    let recorded = match resolve(pod, entry, None) {
        Resolved::Claim { name, .. } if name == claim.metadata.name => return,
        Resolved::Claim { name, .. } => format!("records claim `{name}`"),
        Resolved::NotNeeded => "records that it needs none".to_owned(),
        Resolved::NotCreated | Resolved::NoSource => "records none".to_owned(),
    };
    let message = format!("the claim was made for entry `{}` of Pod `{}`, whose status {recorded}", entry.name, key.1);
    let hint = "kube-controller-manager records the claim when it sees the Pod again; where another one is recorded, delete this one";
    findings.push(of_claim(claim, Code::CheckClaimUnrecorded, "metadata.annotations", message, hint));
}

/// Claims that were made for the same entry of the same owner.
fn duplicates(facts: &Facts, findings: &mut Vec<Finding>) {
    let mut known: BTreeMap<(&str, &str), &ResourceClaim> = BTreeMap::new();
    for claim in facts.cluster.claims().values().filter(|claim| !claim.metadata.is_deleting()) {
        let (Some(owner), Some(entry)) =
            (claim.metadata.controller(), claim.metadata.annotations.get(ENTRY_ANNOTATION))
        else {
            continue;
        };
        let Some(first) = known.insert((&owner.uid, entry), claim) else { continue };
        let message =
            format!("entry `{entry}` of {} `{}` has claim `{}`, too", owner.kind, owner.name, first.metadata.name);
        let hint = match spare(claim, first) {
            Some(spare) => format!("nobody uses `{}`: delete it", spare.metadata.name),
            None => format!("delete the one that the status of {} `{}` does not name", owner.kind, owner.name),
        };
        findings.push(of_claim(claim, Code::CheckDuplicateClaim, "metadata.annotations", message, hint));
    }
}
