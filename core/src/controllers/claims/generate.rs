//! Claims for the entries of Pods and PodGroups, and their names in the status.
//!
//! A name is recorded once its claim is there. So a claim is made in one step and recorded in the next, and whoever is
//! stopped between the two finds the claim again by owner and annotation.

use std::sync::Arc;

use serde_json::{Value, json};

use super::template::{self, Owner};
use super::{MANAGER, Memory};
use crate::api::claim::ResourceClaim;
use crate::api::group::PodGroup;
use crate::api::meta::ObjectMeta;
use crate::api::object::Object;
use crate::api::pod::{Pod, PodResourceClaim, PodResourceClaimStatus};
use crate::cluster::entries::{self, Resolved, Source};
use crate::cluster::{Cluster, Key};
use crate::decision::{Action, Decision, EventRecord, Merging, Patch};
use crate::derive;
use crate::profile::{Mode, Profile, Version};

/// Claims of a Pod.
pub(super) fn for_pod(cluster: &Cluster, profile: &Profile, memory: &Memory, key: &Key) -> Decision {
    let Some(pod) = cluster.pods().get(key).filter(|pod| !pod.metadata.is_deleting()) else { return Decision::none() };
    let groups = profile.features.workload_resource_claims;
    let group = entries::group_of(cluster, pod).filter(|_| groups);
    if groups && pod.group_name().is_some() && group.is_none() {
        // Which entries belong to the group is known only with the group; its arrival asks again.
        return Decision::none();
    }
    let owner = Owner { api_version: "v1", kind: "Pod", metadata: &pod.metadata };
    let (before, found, decision) = (&*pod.status.resource_claim_statuses, Vec::new(), Decision::none());
    let mut maker = Maker { cluster, profile, memory, owner, before, found, decision };
    for entry in &pod.spec.resource_claims {
        maker.pod_entry(pod, entry, group);
        if maker.gives_up() {
            return maker.decision;
        }
    }
    maker.finish("Pod")
}

/// Claims of a PodGroup: made when it appears, whether or not there are Pods.
pub(super) fn for_group(cluster: &Cluster, profile: &Profile, memory: &Memory, key: &Key) -> Decision {
    let group = cluster.pod_groups().get(key).filter(|group| !group.metadata.is_deleting());
    let Some(group) = group.filter(|_| profile.features.workload_resource_claims) else { return Decision::none() };
    let owner = Owner { api_version: &group.api_version, kind: "PodGroup", metadata: &group.metadata };
    let (before, found, decision) = (&*group.status.resource_claim_statuses, Vec::new(), Decision::none());
    let mut maker = Maker { cluster, profile, memory, owner, before, found, decision };
    for entry in &group.spec.resource_claims {
        if let Some(source) = entries::source(entry).filter(|source| !matches!(source, Source::Named(_))) {
            maker.own_entry(entry, source, entries::resolve_for_group(group, entry), true);
        }
        if maker.gives_up() {
            return maker.decision;
        }
    }
    maker.finish("PodGroup")
}

/// The claims of one owner while they are made.
struct Maker<'m> {
    cluster: &'m Cluster,
    profile: &'m Profile,
    memory: &'m Memory,
    owner: Owner<'m>,
    before: &'m [PodResourceClaimStatus],
    /// Entries whose claim is known now and was not before.
    found: Vec<(String, String)>,
    decision: Decision,
}

impl<'m> Maker<'m> {
    fn pod_entry(&mut self, pod: &Pod, entry: &PodResourceClaim, group: Option<&PodGroup>) {
        if let (Some(group), Some(of_group)) = (group, entries::group_entry(entry, group)) {
            return self.shared_entry(pod, entry, group, of_group);
        }
        let Some(source) = entries::source(entry).filter(|source| !matches!(source, Source::Named(_))) else { return };
        let resolved = entries::resolve(pod, entry, group);
        self.own_entry(entry, source, resolved, !pod.is_finished());
    }

    /// An entry whose claim belongs to the PodGroup: its name is recorded once the group has it.
    fn shared_entry(&mut self, pod: &Pod, entry: &PodResourceClaim, group: &PodGroup, of_group: &PodResourceClaim) {
        let recorded = self.before.iter().find(|status| status.name == entry.name);
        if recorded.is_some_and(|status| status.resource_claim_name.is_none()) {
            return;
        }
        let name = match entries::source(of_group) {
            // A shipped entry says the name itself; a proposed one refers to the group, so that the status tells the kubelet.
            Some(Source::Named(name)) => entry.pod_group_resource_claim.as_ref().map(|_| name.to_owned()),
            Some(_) => {
                let current = recorded.and_then(|status| status.resource_claim_name.as_ref());
                if current.and_then(|name| self.claim(name)).is_some_and(|claim| entries::is_for_pod(pod, claim, true))
                {
                    return;
                }
                let made = self.generated_for(&group.metadata, &of_group.name);
                // DIFFERENCE: the reference leaves members with the name of a claim that is gone.
                let keeps = self.profile.mode == Mode::Reference && current.is_some();
                made.filter(|_| !keeps).map(|claim| claim.metadata.name.clone())
            }
            None => None,
        };
        if let Some(name) = name {
            self.found.push((entry.name.clone(), name));
        }
    }

    /// An entry whose claim belongs to the owner alone.
    fn own_entry(&mut self, entry: &PodResourceClaim, source: Source<'_>, resolved: Resolved<'_>, may_make: bool) {
        let before = match resolved {
            Resolved::NotNeeded | Resolved::NoSource => return,
            Resolved::NotCreated => "",
            Resolved::Claim { name, .. } => {
                if self.claim(name).is_some_and(|claim| entries::is_controlled_by(claim, self.owner.metadata)) {
                    return;
                }
                name
            }
        };
        if let Some(claim) = self.generated_for(self.owner.metadata, &entry.name) {
            self.found.push((entry.name.clone(), claim.metadata.name.clone()));
        } else if may_make && !self.may_be_there(before) {
            self.make(&entry.name, source, before);
        }
    }

    /// Whether a claim that the status names may exist: a dump without claims does not say that it is gone.
    fn may_be_there(&self, claim: &str) -> bool {
        let is_of_dump = derive::is_foreign(&self.owner.metadata.uid);
        !claim.is_empty() && is_of_dump && self.cluster.is_not_given("ResourceClaim") && self.claim(claim).is_none()
    }

    fn make(&mut self, entry: &str, source: Source<'_>, before: &str) {
        let owner = self.owner.metadata;
        match template::find(self.cluster, &self.profile.features, &owner.namespace, source) {
            Ok(template) => {
                let prefix = match self.profile.mode {
                    Mode::Sound => derive::claim_prefix(&owner.name, entry),
                    Mode::Reference => derive::claim_prefix_of_reference(&owner.name, entry),
                };
                let claim = template::instantiate(self.cluster, template, &self.owner, entry, before, prefix);
                let refused = Some(self.failed(entry, "create ResourceClaim : "));
                if self.profile.mode == Mode::Reference {
                    // The reference does not wait for its claim to appear.
                    self.found.push((entry.to_owned(), claim.metadata.name.clone()));
                }
                let object = Box::new(Object::ResourceClaim(Arc::new(claim)));
                self.decision.actions.push(Action::Create { object, refused });
            }
            Err(cause) => {
                self.decision.events.push(self.failed(entry, &cause));
                self.decision.retry = true;
            }
        }
    }

    fn failed(&self, entry: &str, cause: &str) -> EventRecord {
        let kind = self.owner.kind;
        let (owner, note) = (self.owner.metadata, format!("{kind}ResourceClaim {entry}: {cause}"));
        EventRecord::warning("resource_claim", owner.reference(kind), owner, "FailedResourceClaimCreation", note)
    }

    fn claim(&self, name: &str) -> Option<&'m ResourceClaim> {
        self.cluster.claims().get(&(self.owner.metadata.namespace.clone(), name.to_owned())).map(Arc::as_ref)
    }

    fn generated_for(&self, owner: &ObjectMeta, entry: &str) -> Option<&'m ResourceClaim> {
        let is_it =
            |claim: &&ResourceClaim| entries::is_controlled_by(claim, owner) && entries::entry_of(claim) == Some(entry);
        let found = entries::generated_for(self.cluster, owner, entry);
        found.or_else(|| self.memory.made.values().find(is_it))
    }

    /// Whether the other entries are left for later, and nothing is recorded.
    ///
    /// DIFFERENCE: the reference stops at the first entry for which it can make no claim.
    fn gives_up(&self) -> bool {
        self.decision.retry && self.profile.mode == Mode::Reference
    }

    /// Records what was found.
    fn finish(mut self, kind: &str) -> Decision {
        let recorded = |entry: &str| {
            let status = self.before.iter().find(|status| status.name == entry);
            status.and_then(|status| status.resource_claim_name.as_deref())
        };
        let is_sound = self.profile.mode == Mode::Sound;
        let is_known = self.found.iter().all(|(entry, name)| recorded(entry) == Some(name));
        if self.found.is_empty() || (is_known && is_sound) {
            return self.decision;
        }
        // DIFFERENCE: the reference applies only what is new; its other entries then go, come back, and so on for ever. From 1.37 on
        // that is so for PodGroups only.
        let keeps = is_sound || (kind == "Pod" && self.profile.version >= Version::V1_37);
        let is_kept = |status: &&PodResourceClaimStatus| self.found.iter().all(|(entry, _)| *entry != status.name);
        let kept =
            self.before.iter().filter(|_| keeps).filter(is_kept).map(|status| match &status.resource_claim_name {
                Some(claim) => json!({ "name": status.name, "resourceClaimName": claim }),
                None => json!({ "name": status.name }),
            });
        let found = self.found.iter().map(|(entry, name)| json!({ "name": entry, "resourceClaimName": name }));
        let statuses: Vec<Value> = kept.chain(found).collect();
        let (owner, manager) = (self.owner.metadata, Merging::Apply(MANAGER.to_owned()));
        let fields = json!({ "status": { "resourceClaimStatuses": statuses } });
        self.decision.actions.push(Action::Patch(Patch::of(owner.reference(kind), owner, true, manager, fields)));
        self.decision
    }
}
