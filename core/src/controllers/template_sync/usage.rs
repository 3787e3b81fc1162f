//! When a copy goes, and who uses it: Pods that have not ended, and PodGroups, by the templates that they name.

use std::sync::Arc;

use super::desired::{is_source, label_of};
use super::source::{Source, sources};
use super::{DELETION_POLICY, SOURCE_NAME, SOURCE_UID, Settings, is_copy, of_namespace};
use crate::api::claim::ResourceClaimTemplate;
use crate::api::class::DeviceClass;
use crate::api::group::PodGroup;
use crate::api::meta::ObjectMeta;
use crate::api::object::Object;
use crate::api::pod::{Pod, PodResourceClaim};
use crate::api::source::{DeletionPolicy, SOURCE_GROUP, SOURCE_KIND};
use crate::cluster::Cluster;
use crate::decision::Identified;
use crate::finding::ObjectRef;

/// Whether a template that no source wants in its namespace is a copy that must not stay. One that goes when it is unused stays
/// while it is used, whether its source is gone or selects the namespace no more.
pub(super) fn is_to_go(cluster: &Cluster, settings: &Settings, copy: &ResourceClaimTemplate) -> bool {
    if !is_copy(copy) || copy.metadata.is_deleting() {
        return false;
    }
    let policy = deletion_policy(copy);
    let is_own = |source: &Source<'_>| source_uids(copy).any(|uid| *uid == source.metadata.uid);
    let is_there = |source: &Source<'_>| is_own(source) && !source.metadata.is_deleting();
    let mut own = sources(cluster, &settings.home).filter(is_there).peekable();
    let goes = match own.peek() {
        Some(_) => own.all(|source| !source.is_paused() && source.flaw(settings).is_none()),
        // A later version may have policies that keep copies.
        None => matches!(policy, DeletionPolicy::Delete | DeletionPolicy::DeleteWhenUnused),
    };
    let is_read = settings.flaw_of(&copy.metadata).is_none();
    goes && is_read && !(policy == DeletionPolicy::DeleteWhenUnused && is_used(cluster, settings, copy))
}

/// UIDs of the sources that a copy names: its label and its owners. A user may have changed one of them.
pub(super) fn source_uids(copy: &ResourceClaimTemplate) -> impl Iterator<Item = &String> {
    let owners = copy.metadata.owner_references.iter().filter(|owner| is_source(owner)).map(|owner| &owner.uid);
    copy.metadata.labels.get(SOURCE_UID).into_iter().chain(owners)
}

/// The source that a copy names, if no such object is known. Before the copy is deleted the API server is asked for it.
pub(super) fn missing_source(
    cluster: &Cluster,
    settings: &Settings,
    copy: &ResourceClaimTemplate,
) -> Option<Identified> {
    let owner = copy.metadata.owner_references.iter().find(|owner| is_source(owner));
    let label = |name: &str| copy.metadata.labels.get(name).cloned().unwrap_or_default();
    let uid = owner.map_or_else(|| label(SOURCE_UID), |owner| owner.uid.clone());
    let custom = cluster.template_sources().values().map(|source| &source.metadata);
    let proposed = cluster.cluster_templates().values().map(|template| &template.metadata);
    let masters = of_namespace(cluster.templates(), &settings.home).map(|(_, template)| &template.metadata);
    if custom.chain(proposed).chain(masters).any(|metadata| metadata.uid == uid) {
        return None;
    }
    // A long name is cut in the label; mostly the copy has the name of its source.
    let (target, labelled) = (&copy.metadata.name, label(SOURCE_NAME));
    let labelled = if label_of(target) == labelled { target.clone() } else { labelled };
    let name = owner.map_or(labelled, |owner| owner.name.clone());
    // Only sources of `apportion.dev` have a policy; what has neither owner nor policy is of a master.
    let object = match owner {
        Some(owner) if !owner.api_version.starts_with(SOURCE_GROUP) => {
            ObjectRef::new("ClusterResourceClaimTemplate", "", name)
        }
        None if !copy.metadata.annotations.contains_key(DELETION_POLICY) => {
            ObjectRef::new("ResourceClaimTemplate", settings.home.clone(), name)
        }
        Some(_) | None => ObjectRef::new(SOURCE_KIND, "", name),
    };
    Some(Identified { object, uid })
}

/// What a copy says about its end.
pub(super) fn deletion_policy(copy: &ResourceClaimTemplate) -> DeletionPolicy {
    copy.metadata.annotations.get(DELETION_POLICY).map(|policy| DeletionPolicy::of(policy)).unwrap_or_default()
}

/// What of an object has to be known: of a class that it is there, of Pods and PodGroups little, and of those that name no template
/// nothing. Clusters have many of them.
/// One that cannot be read, which `is_read` says, may use any template.
pub fn needed(object: Object, is_read: bool) -> Option<Object> {
    let (is_user, slim) = match object {
        Object::Pod(pod) => {
            let mut slim = Pod { metadata: identity(&pod.metadata), ..Pod::default() };
            slim.spec.resource_claims.clone_from(&pod.spec.resource_claims);
            (!pod.is_finished(), Object::Pod(Arc::new(slim)))
        }
        Object::PodGroup(group) => {
            let (metadata, api_version) = (identity(&group.metadata), group.api_version.clone());
            let mut slim = PodGroup { metadata, api_version, ..PodGroup::default() };
            slim.spec.resource_claims.clone_from(&group.spec.resource_claims);
            (true, Object::PodGroup(Arc::new(slim)))
        }
        Object::DeviceClass(class) => {
            let slim = DeviceClass { metadata: identity(&class.metadata), ..DeviceClass::default() };
            return Some(Object::DeviceClass(Arc::new(slim)));
        }
        other => return Some(other),
    };
    (!is_read || is_user && templates(&slim).next().is_some()).then_some(slim)
}

fn identity(metadata: &ObjectMeta) -> ObjectMeta {
    ObjectMeta {
        name: metadata.name.clone(),
        namespace: metadata.namespace.clone(),
        uid: metadata.uid.clone(),
        ..ObjectMeta::default()
    }
}

/// Names of the templates that a Pod or PodGroup names.
pub(super) fn templates(object: &Object) -> impl Iterator<Item = &String> {
    let entries = match object {
        Object::Pod(pod) => pod.spec.resource_claims.as_slice(),
        Object::PodGroup(group) => group.spec.resource_claims.as_slice(),
        _ => &[],
    };
    entries.iter().filter_map(|entry| entry.resource_claim_template_name.as_ref())
}

/// Whether a Pod that has not ended or a PodGroup of its namespace names a template, as far as is known.
fn is_used(cluster: &Cluster, settings: &Settings, template: &ResourceClaimTemplate) -> bool {
    let (namespace, name) = (&template.metadata.namespace, &template.metadata.name);
    let names = |metadata: &ObjectMeta, entries: &[PodResourceClaim]| {
        settings.flaw_of(metadata).is_some()
            || entries.iter().any(|one| one.resource_claim_template_name.as_ref() == Some(name))
    };
    let mut pods = of_namespace(cluster.pods(), namespace);
    let mut groups = of_namespace(cluster.pod_groups(), namespace);
    pods.any(|(_, pod)| !pod.is_finished() && names(&pod.metadata, &pod.spec.resource_claims))
        || groups.any(|(_, group)| names(&group.metadata, &group.spec.resource_claims))
}
