//! Which copies and statuses to look at after something happened.

use std::collections::BTreeSet;

use super::source::{Source, sources};
use super::usage::{deletion_policy, templates};
use super::{Settings, is_copy, targets};
use crate::api::claim::ResourceClaimTemplate;
use crate::api::object::Object;
use crate::api::pod::Namespace;
use crate::api::source::{DeletionPolicy, TemplateSource};
use crate::cluster::Cluster;
use crate::lifecycle::Trigger;

/// Something to look at.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Work {
    /// The template of one name in one namespace.
    Copy {
        /// The namespace.
        namespace: String,
        /// The name.
        name: String,
    },
    /// The status of a ClusterResourceClaimTemplate of `apportion.dev`, by name.
    Status(String),
}

fn copy(namespace: &str, name: &str) -> Work {
    Work::Copy { namespace: namespace.to_owned(), name: name.to_owned() }
}

/// Everything, as after a start.
pub fn all_work(cluster: &Cluster, settings: &Settings) -> BTreeSet<Work> {
    let mut work = BTreeSet::new();
    for namespace in cluster.namespaces().keys() {
        work.extend(targets(cluster, settings, namespace).iter().map(|name| copy(namespace, name)));
    }
    work.extend(cluster.template_sources().keys().cloned().map(Work::Status));
    work
}

/// What a change concerns. The facts are those after it.
pub fn affected(cluster: &Cluster, settings: &Settings, trigger: &Trigger) -> BTreeSet<Work> {
    let mut work = BTreeSet::new();
    match (trigger.before.as_deref(), trigger.after.as_deref()) {
        (Some(Object::Namespace(before)), Some(Object::Namespace(after))) if is_alike(before, after) => {}
        (before, after) => {
            for object in [before, after].into_iter().flatten() {
                of_object(cluster, settings, object, &mut work);
            }
        }
    }
    if let (Some(Object::TemplateSource(before)), Some(Object::TemplateSource(after))) =
        (trigger.before.as_deref(), trigger.after.as_deref())
        && asks_the_same(before, after)
    {
        // The status was written, by whomever.
        work.retain(|work| matches!(work, Work::Status(_)));
    }
    work
}

fn is_alike(before: &Namespace, after: &Namespace) -> bool {
    before.metadata.labels == after.metadata.labels
        && before.metadata.is_deleting() == after.metadata.is_deleting()
        && before.metadata.uid == after.metadata.uid
}

fn asks_the_same(before: &TemplateSource, after: &TemplateSource) -> bool {
    let (one, other) = (&before.metadata, &after.metadata);
    before.spec == after.spec && one.uid == other.uid && one.is_deleting() == other.is_deleting()
}

fn of_object(cluster: &Cluster, settings: &Settings, object: &Object, work: &mut BTreeSet<Work>) {
    match object {
        Object::Namespace(namespace) => {
            let name = &namespace.metadata.name;
            for target in targets(cluster, settings, name) {
                work.insert(copy(name, &target));
                statuses(cluster, &target, work);
            }
        }
        Object::TemplateSource(source) => {
            let target = source.target();
            everywhere(cluster, target, work);
            statuses(cluster, target, work);
            work.insert(Work::Status(source.metadata.name.clone()));
        }
        Object::ClusterResourceClaimTemplate(template) => of_annotated(cluster, template, work),
        Object::ResourceClaimTemplate(template) => {
            let metadata = &template.metadata;
            if metadata.namespace == settings.home && !is_copy(template) {
                of_annotated(cluster, template, work);
                for source in cluster.template_sources().values() {
                    let named = source.spec.source.as_ref().map(|master| &master.name);
                    if named == Some(&metadata.name) {
                        of_object(cluster, settings, &Object::TemplateSource(Box::new(source.clone())), work);
                    }
                }
            }
            let is_target = |source: Source<'_>| source.target() == metadata.name;
            if is_copy(template) || sources(cluster, &settings.home).any(is_target) {
                work.insert(copy(&metadata.namespace, &metadata.name));
                statuses(cluster, &metadata.name, work);
            }
        }
        Object::Pod(pod) => of_user(cluster, object, &pod.metadata.namespace, work),
        Object::PodGroup(group) => of_user(cluster, object, &group.metadata.namespace, work),
        _ => {}
    }
}

/// A Pod or PodGroup: it matters to copies that go when nobody uses them.
fn of_user(cluster: &Cluster, user: &Object, namespace: &str, work: &mut BTreeSet<Work>) {
    for name in templates(user) {
        let found = cluster.templates().get(&(namespace.to_owned(), name.clone()));
        let goes = |template: &ResourceClaimTemplate| {
            is_copy(template) && deletion_policy(template) == DeletionPolicy::DeleteWhenUnused
        };
        if found.is_some_and(goes) {
            work.insert(copy(namespace, name));
        }
    }
}

/// A source that speaks by annotation.
fn of_annotated(cluster: &Cluster, template: &ResourceClaimTemplate, work: &mut BTreeSet<Work>) {
    let target = template.metadata.annotations.get(super::TEMPLATE_NAME).unwrap_or(&template.metadata.name);
    everywhere(cluster, target, work);
    statuses(cluster, target, work);
}

/// The template of one name in every namespace.
fn everywhere(cluster: &Cluster, name: &str, work: &mut BTreeSet<Work>) {
    work.extend(cluster.namespaces().keys().map(|namespace| copy(namespace, name)));
}

/// The statuses of all sources of one target.
fn statuses(cluster: &Cluster, target: &str, work: &mut BTreeSet<Work>) {
    let own = cluster.template_sources().values().filter(|source| source.target() == target);
    work.extend(own.map(|source| Work::Status(source.metadata.name.clone())));
}
