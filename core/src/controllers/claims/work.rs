//! Which objects to look at after something happened.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::api::group::PodGroup;
use crate::api::object::Object;
use crate::api::pod::{Pod, PodResourceClaim};
use crate::cluster::entries::{Source, key_of, source};
use crate::cluster::{Cluster, Key, template_key};
use crate::decision::Trigger;

/// An object to look at.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Work {
    /// A PodGroup: its claims are made and recorded.
    PodGroup(Key),
    /// A Pod, likewise; those of its PodGroup are recorded, too.
    Pod(Key),
    /// A claim: its reservations are looked at.
    Claim(Key),
}

/// Everything, as after a start.
pub fn all_work(cluster: &Cluster) -> BTreeSet<Work> {
    let mut work = BTreeSet::new();
    work.extend(cluster.pods().iter().filter(|(_, pod)| has_claims(pod)).map(|(key, _)| Work::Pod(key.clone())));
    work.extend(cluster.pod_groups().keys().cloned().map(Work::PodGroup));
    work.extend(cluster.claims().keys().cloned().map(Work::Claim));
    work
}

/// What a change concerns. The facts are those after it.
pub fn affected(cluster: &Cluster, trigger: &Trigger) -> BTreeSet<Work> {
    let mut work = BTreeSet::new();
    match trigger.latest() {
        Some(Object::Pod(pod)) => of_pod(pod, trigger.after.is_none(), &mut work),
        Some(Object::PodGroup(group)) => of_group(cluster, group, &mut work),
        Some(Object::ResourceClaim(claim)) => {
            let key = key_of(&claim.metadata);
            work.extend(cluster.pods_of_claim(&key).map(of));
            if let Some(owner) = claim.metadata.controller() {
                let owner_key = (key.0.clone(), owner.name.clone());
                match owner.kind.as_str() {
                    "PodGroup" => {
                        work.extend(cluster.pods_of_group(&owner_key).map(of));
                        work.insert(Work::PodGroup(owner_key));
                    }
                    "Pod" => drop(work.insert(Work::Pod(owner_key))),
                    _ => {}
                }
            }
            work.insert(Work::Claim(key));
        }
        Some(Object::ResourceClaimTemplate(template)) => {
            let name = template.metadata.name.as_str();
            of_template(cluster, Some(&template.metadata.namespace), Source::Template(name), &mut work);
        }
        Some(Object::ClusterResourceClaimTemplate(template)) => {
            of_template(cluster, None, Source::ClusterTemplate(&template.metadata.name), &mut work);
        }
        _ => {}
    }
    work
}

fn of(pod: &Arc<Pod>) -> Work {
    Work::Pod(key_of(&pod.metadata))
}

fn has_claims(pod: &Pod) -> bool {
    !pod.spec.resource_claims.is_empty() || pod.extended_resource_claim().is_some()
}

fn of_pod(pod: &Pod, is_gone: bool, work: &mut BTreeSet<Work>) {
    if !has_claims(pod) {
        return;
    }
    let namespace = &pod.metadata.namespace;
    let named = pod.spec.resource_claims.iter().filter_map(|entry| entry.resource_claim_name.as_ref());
    let recorded = pod.status.resource_claim_statuses.iter().filter_map(|status| status.resource_claim_name.as_ref());
    let claims = named.chain(recorded).chain(pod.extended_resource_claim());
    work.extend(claims.map(|name| Work::Claim((namespace.clone(), name.clone()))));
    if !is_gone {
        work.insert(Work::Pod(key_of(&pod.metadata)));
    }
}

/// A PodGroup that comes, changes or goes concerns its claims and every member.
fn of_group(cluster: &Cluster, group: &PodGroup, work: &mut BTreeSet<Work>) {
    let key = key_of(&group.metadata);
    work.extend(cluster.pods_of_group(&key).map(of));
    let named = group.spec.resource_claims.iter().filter_map(|entry| entry.resource_claim_name.as_ref());
    let recorded = group.status.resource_claim_statuses.iter().filter_map(|status| status.resource_claim_name.as_ref());
    work.extend(named.chain(recorded).map(|name| Work::Claim((key.0.clone(), name.clone()))));
    // Reservations may be on claims that the group's entries do not name, for instance after a downgrade.
    if group.metadata.is_deleting() || !cluster.pod_groups().contains_key(&key) {
        let here =
            cluster.claims().range_from(&(key.0.clone(), String::new())).take_while(|(claim, _)| claim.0 == key.0);
        let reserved = here
            .filter(|(_, claim)| claim.status.reserved_for.iter().any(|consumer| consumer.uid == group.metadata.uid));
        work.extend(reserved.map(|(claim, _)| Work::Claim(claim.clone())));
    }
    work.insert(Work::PodGroup(key));
}

fn of_template(cluster: &Cluster, namespace: Option<&str>, wanted: Source<'_>, work: &mut BTreeSet<Work>) {
    let template = template_key(wanted, namespace.unwrap_or_default());
    let pods = template.iter().flat_map(|template| cluster.links().pods_of_template(template));
    work.extend(pods.cloned().map(Work::Pod));
    let names = |entries: &[PodResourceClaim]| entries.iter().any(|entry| source(entry) == Some(wanted));
    let is_here = |key: &&Key| namespace.is_none_or(|namespace| key.0 == namespace);
    let groups = cluster.pod_groups().iter().filter(|(key, _)| is_here(key));
    work.extend(
        groups.filter(|(_, group)| names(&group.spec.resource_claims)).map(|(key, _)| Work::PodGroup(key.clone())),
    );
}
