//! Who refers to whom: Pods by PodGroup, claim and controller, claims and workloads by owner. Kept up to date while objects come and go.

use super::Key;
use super::entries::{Source, source};
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
    /// By kind, namespace and name of the template; a cluster-wide one has no namespace.
    pods_by_template: SharedMap<WorkloadKey, Names<Key>>,
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

    /// Pods with an entry for a template, by its kind, namespace and name. A cluster-wide template has no namespace.
    pub(crate) fn pods_of_template<'l>(&'l self, template: &WorkloadKey) -> impl Iterator<Item = &'l Key> + use<'l> {
        self.pods_by_template.get(template).into_iter().flat_map(Names::keys)
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
        for template in templates(pod) {
            insert(&mut self.pods_by_template, template, key.clone());
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
        for template in templates(pod) {
            remove(&mut self.pods_by_template, &template, key);
        }
    }

    /// Whether two versions of a Pod refer to the same.
    pub(super) fn are_alike(before: &Pod, after: &Pod) -> bool {
        let (old, new) = (&before.spec.resource_claims, &after.spec.resource_claims);
        before.group_name() == after.group_name()
            && claim_names(before).eq(claim_names(after))
            && old.iter().map(source).eq(new.iter().map(source))
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

/// Kind, namespace and name of the templates that a Pod has entries for.
fn templates(pod: &Pod) -> impl Iterator<Item = WorkloadKey> {
    pod.spec.resource_claims.iter().filter_map(|entry| template_key(source(entry)?, &pod.metadata.namespace))
}

/// Kind, namespace and name of a template that somebody in a namespace names.
pub(crate) fn template_key(source: Source<'_>, namespace: &str) -> Option<WorkloadKey> {
    let (kind, namespace, name) = match source {
        Source::Named(_) => return None,
        Source::Template(name) => ("ResourceClaimTemplate", namespace, name),
        Source::ClusterTemplate(name) => ("ClusterResourceClaimTemplate", "", name),
    };
    Some((kind.to_owned(), namespace.to_owned(), name.to_owned()))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Cluster;
    use super::*;
    use crate::api::object::read_object;
    use crate::finding::ObjectRef;
    use crate::profile::Profile;

    #[test]
    fn pods_are_found_by_the_templates_that_they_name_now() {
        let mut cluster = Cluster::new(Profile::default());
        let apply = |cluster: &mut Cluster, name: &str, field: &str, template: &str| {
            let value = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "ml" },
                "spec": { "resourceClaims": [{ "name": "gpu", field: template }] } });
            cluster.apply(read_object(value).object.unwrap());
        };
        let found = |cluster: &Cluster, source: Source<'_>| -> Vec<String> {
            let template = template_key(source, "ml").unwrap();
            cluster.links().pods_of_template(&template).map(|key| key.1.clone()).collect()
        };
        apply(&mut cluster, "a", "resourceClaimTemplateName", "one");
        apply(&mut cluster, "b", "resourceClaimTemplateName", "one");
        apply(&mut cluster, "c", "clusterResourceClaimTemplateName", "one");
        assert_eq!(found(&cluster, Source::Template("one")), ["a", "b"]);
        assert_eq!(found(&cluster, Source::ClusterTemplate("one")), ["c"]);
        apply(&mut cluster, "a", "resourceClaimTemplateName", "two");
        cluster.delete(&ObjectRef::new("Pod", "ml", "b"));
        assert!(found(&cluster, Source::Template("one")).is_empty());
        assert_eq!(found(&cluster, Source::Template("two")), ["a"]);
    }
}
