//! Who refers to whom: Pods by PodGroup, claim and controller, claims and workloads by owner. Kept up to date while objects come and go.

use super::Key;
use super::shared_map::SharedMap;
use crate::api::claim::ResourceClaim;
use crate::api::meta::ObjectMeta;
use crate::api::pod::Pod;
use crate::api::workload::Workload;

/// Names by what they refer to. Namespaces are those of the referring objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    pods_by_group: SharedMap<Key, Names<String>>,
    pods_by_claim: SharedMap<Key, Names<String>>,
    claims_by_owner: SharedMap<String, Names<Key>>,
    /// By kind, namespace and name of the controller.
    pods_by_controller: SharedMap<WorkloadKey, Names<String>>,
    workloads_by_controller: SharedMap<WorkloadKey, Names<WorkloadKey>>,
}

/// A set.
type Names<T> = SharedMap<T, ()>;

/// Kind, namespace and name.
type WorkloadKey = (String, String, String);

impl Links {
    /// Names of the Pods that say they are part of a PodGroup, scheduled or not.
    pub(crate) fn pods_of_group<'l>(&'l self, group: &Key) -> impl Iterator<Item = &'l String> + use<'l> {
        self.pods_by_group.get(group).into_iter().flat_map(Names::keys)
    }

    /// Names of the Pods that refer to a claim, in the spec or through their status.
    pub(crate) fn pods_of_claim<'l>(&'l self, claim: &Key) -> impl Iterator<Item = &'l String> + use<'l> {
        self.pods_by_claim.get(claim).into_iter().flat_map(Names::keys)
    }

    /// Claims that Pods refer to, whether there are such claims or not.
    pub(crate) fn claims_of_pods(&self) -> impl Iterator<Item = &Key> {
        self.pods_by_claim.keys()
    }

    /// Claims that the object with this UID controls.
    pub(crate) fn claims_of_owner(&self, uid: &str) -> impl Iterator<Item = &Key> {
        self.claims_by_owner.get(uid).into_iter().flat_map(Names::keys)
    }

    /// Names of the Pods whose managing owner has this kind, namespace and name.
    pub(crate) fn pods_of_controller<'l>(&'l self, owner: &WorkloadKey) -> impl Iterator<Item = &'l String> + use<'l> {
        self.pods_by_controller.get(owner).into_iter().flat_map(Names::keys)
    }

    /// Workload controllers whose managing owner has this kind, namespace and name.
    pub(crate) fn workloads_of_controller<'l>(
        &'l self,
        owner: &WorkloadKey,
    ) -> impl Iterator<Item = &'l WorkloadKey> + use<'l> {
        self.workloads_by_controller.get(owner).into_iter().flat_map(Names::keys)
    }

    pub(super) fn add_workload(&mut self, key: &WorkloadKey, workload: &Workload) {
        if let Some(owner) = controller_key(&workload.metadata) {
            insert(&mut self.workloads_by_controller, owner, key.clone());
        }
    }

    pub(super) fn remove_workload(&mut self, key: &WorkloadKey, workload: &Workload) {
        if let Some(owner) = controller_key(&workload.metadata) {
            remove(&mut self.workloads_by_controller, &owner, key);
        }
    }

    pub(super) fn add_pod(&mut self, key: &Key, pod: &Pod) {
        if let Some(group) = pod.group_name() {
            insert(&mut self.pods_by_group, (key.0.clone(), group.to_owned()), key.1.clone());
        }
        if let Some(owner) = controller_key(&pod.metadata) {
            insert(&mut self.pods_by_controller, owner, key.1.clone());
        }
        for claim in claim_names(pod) {
            insert(&mut self.pods_by_claim, (key.0.clone(), claim.clone()), key.1.clone());
        }
    }

    pub(super) fn remove_pod(&mut self, key: &Key, pod: &Pod) {
        if let Some(group) = pod.group_name() {
            remove(&mut self.pods_by_group, &(key.0.clone(), group.to_owned()), &key.1);
        }
        if let Some(owner) = controller_key(&pod.metadata) {
            remove(&mut self.pods_by_controller, &owner, &key.1);
        }
        for claim in claim_names(pod) {
            remove(&mut self.pods_by_claim, &(key.0.clone(), claim.clone()), &key.1);
        }
    }

    /// Whether two versions of a Pod refer to the same.
    pub(super) fn are_alike(before: &Pod, after: &Pod) -> bool {
        before.group_name() == after.group_name() && claim_names(before).eq(claim_names(after))
    }

    pub(super) fn add_claim(&mut self, key: &Key, claim: &ResourceClaim) {
        if let Some(owner) = claim.metadata.controller() {
            insert(&mut self.claims_by_owner, owner.uid.clone(), key.clone());
        }
    }

    pub(super) fn remove_claim(&mut self, key: &Key, claim: &ResourceClaim) {
        if let Some(owner) = claim.metadata.controller() {
            remove(&mut self.claims_by_owner, &owner.uid, key);
        }
    }
}

/// The managing owner of an object.
fn controller_key(metadata: &ObjectMeta) -> Option<WorkloadKey> {
    let owner = metadata.controller()?;
    Some((owner.kind.clone(), metadata.namespace.clone(), owner.name.clone()))
}

/// Names of claims that a Pod refers to.
fn claim_names(pod: &Pod) -> impl Iterator<Item = &String> {
    let named = pod.spec.resource_claims.iter().filter_map(|entry| entry.resource_claim_name.as_ref());
    let statuses = pod.status.resource_claim_statuses.iter();
    named.chain(statuses.filter_map(|status| status.resource_claim_name.as_ref())).chain(pod.extended_resource_claim())
}

fn insert<K: Ord + Clone, V: Ord + Clone>(map: &mut SharedMap<K, Names<V>>, key: K, value: V) {
    if let Some(values) = map.get_or_default(&key) {
        values.insert(value, ());
    }
}

fn remove<K: Ord + Clone, V: Ord + Clone>(map: &mut SharedMap<K, Names<V>>, key: &K, value: &V) {
    if let Some(values) = map.get_mut(key) {
        values.remove(value);
        if values.is_empty() {
            map.remove(key);
        }
    }
}
