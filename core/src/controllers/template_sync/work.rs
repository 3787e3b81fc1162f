//! Which copies and statuses to look at after something happened.

use std::collections::BTreeSet;

use super::source::{Source, sources};
use super::usage::{deletion_policy, templates};
use super::{Settings, is_copy, of_namespace};
use crate::api::claim::ResourceClaimTemplate;
use crate::api::object::Object;
use crate::api::pod::Namespace;
use crate::api::source::{DeletionPolicy, TemplateSource};
use crate::cluster::{Cluster, Key};
use crate::decision::Trigger;
use crate::gather::Gather;

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
    for (name, namespace) in cluster.namespaces() {
        work.extend(wanted(cluster, settings, namespace).into_iter().map(|target| copy(name, target)));
    }
    work.extend(cluster.template_sources().keys().cloned().map(Work::Status));
    work
}

/// What a change concerns. The facts are those after it.
pub fn affected(cluster: &Cluster, settings: &Settings, trigger: &Trigger) -> BTreeSet<Work> {
    let mut work = BTreeSet::new();
    match (trigger.before.as_deref(), trigger.after.as_deref()) {
        (Some(Object::Namespace(before)), Some(Object::Namespace(after))) if is_alike(before, after) => {}
        // Of a class only matters whether it is there.
        (Some(Object::DeviceClass(_)), Some(Object::DeviceClass(_))) => {}
        // The status was written, by whomever.
        (Some(Object::TemplateSource(before)), Some(Object::TemplateSource(after))) if asks_the_same(before, after) => {
            work.insert(Work::Status(after.metadata.name.clone()));
        }
        (before, after) => {
            for object in [before, after].into_iter().flatten() {
                of_object(cluster, settings, object, &mut work);
            }
        }
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
            for target in wanted(cluster, settings, namespace) {
                work.insert(copy(name, target));
                statuses_in(cluster, settings, Some(namespace), target, work);
            }
            statuses(cluster, work, |source| Source::custom(source, cluster, &settings.home).skips(namespace));
        }
        Object::TemplateSource(source) => {
            of_source(cluster, Source::custom(source, cluster, &settings.home), work);
            work.insert(Work::Status(source.metadata.name.clone()));
        }
        Object::ClusterResourceClaimTemplate(template) => of_source(cluster, Source::proposed(template), work),
        Object::ResourceClaimTemplate(template) => of_template(cluster, settings, template, work),
        // A class that came or went: it is told of in the status of who names it.
        Object::DeviceClass(class) => statuses(cluster, work, |source| {
            let mut classes = Source::custom(source, cluster, &settings.home).classes();
            classes.any(|named| named == class.metadata.name)
        }),
        Object::Pod(pod) => of_user(cluster, object, &pod.metadata.namespace, work),
        Object::PodGroup(group) => of_user(cluster, object, &group.metadata.namespace, work),
        _ => {}
    }
}

/// Names of the templates that matter in a namespace: those that sources want there, and copies that are there. There may be many
/// more sources that are for other namespaces.
pub(super) fn wanted<'c>(cluster: &'c Cluster, settings: &'c Settings, namespace: &Namespace) -> BTreeSet<&'c str> {
    let here = cluster.namespaces().get_key_value(&namespace.metadata.name);
    let copies = here.into_iter().flat_map(|(name, _)| of_namespace(cluster.templates(), name));
    let copies = copies.filter(|(_, template)| is_copy(template)).map(|(key, _)| key.1.as_str());
    let selecting = sources(cluster, &settings.home).filter(|source| source.selects(namespace));
    selecting.map(|source| source.target()).chain(copies).gather()
}

/// A source: its copies where it wants them, and where there are any.
fn of_source(cluster: &Cluster, source: Source<'_>, work: &mut BTreeSet<Work>) {
    let target = source.target();
    for (name, namespace) in cluster.namespaces() {
        let has_copy = || cluster.templates().get(&(name.clone(), target.to_owned())).is_some_and(is_copy);
        if source.selects(namespace) || has_copy() {
            work.insert(copy(name, target));
        }
    }
    statuses(cluster, work, |source| source.target() == target);
}

fn of_template(cluster: &Cluster, settings: &Settings, template: &ResourceClaimTemplate, work: &mut BTreeSet<Work>) {
    let metadata = &template.metadata;
    if metadata.namespace == settings.home && !is_copy(template) {
        of_source(cluster, Source::master(template), work);
        let names = |source: &&TemplateSource| source.spec.source.as_ref().is_some_and(|one| one.name == metadata.name);
        for source in cluster.template_sources().values().filter(names) {
            of_source(cluster, Source::custom(source, cluster, &settings.home), work);
        }
    }
    let is_target = |source: Source<'_>| source.target() == metadata.name;
    if is_copy(template) || sources(cluster, &settings.home).any(is_target) {
        work.insert(copy(&metadata.namespace, &metadata.name));
        statuses_in(cluster, settings, cluster.namespaces().get(&metadata.namespace), &metadata.name, work);
    }
}

/// A Pod or PodGroup: it matters to copies that go when nobody uses them.
fn of_user(cluster: &Cluster, user: &Object, namespace: &str, work: &mut BTreeSet<Work>) {
    let goes = |template: &ResourceClaimTemplate| {
        is_copy(template) && deletion_policy(template) == DeletionPolicy::DeleteWhenUnused
    };
    let named: Vec<Key> = templates(user).map(|name| (namespace.to_owned(), name.clone())).collect();
    let here = named.iter().filter_map(|key| cluster.templates().get_key_value(key));
    // One of which it is not known what it names may use any.
    let all = named.is_empty().then(|| of_namespace(cluster.templates(), namespace));
    for ((_, name), template) in here.chain(all.into_iter().flatten()) {
        if goes(template) {
            work.insert(copy(namespace, name));
        }
    }
}

/// The statuses of those sources of one target that a namespace matters to. There may be many that are for other namespaces. One that
/// is not understood counts its copies wherever they are.
fn statuses_in(
    cluster: &Cluster,
    settings: &Settings,
    namespace: Option<&Namespace>,
    target: &str,
    work: &mut BTreeSet<Work>,
) {
    let is_for = |source: Source<'_>| {
        source.flaw(settings).is_some() || namespace.is_some_and(|namespace| source.selects(namespace))
    };
    statuses(cluster, work, |source| {
        source.target() == target && is_for(Source::custom(source, cluster, &settings.home))
    });
}

/// What an answer to a write about a copy matters to.
pub fn told_of(cluster: &Cluster, settings: &Settings, namespace: &str, target: &str) -> BTreeSet<Work> {
    let mut work = BTreeSet::new();
    statuses_in(cluster, settings, cluster.namespaces().get(namespace), target, &mut work);
    work
}

/// The statuses of some sources.
fn statuses<'c>(cluster: &'c Cluster, work: &mut BTreeSet<Work>, is_meant: impl Fn(&'c TemplateSource) -> bool) {
    let own = cluster.template_sources().values().filter(|source| is_meant(source));
    work.extend(own.map(|source| Work::Status(source.metadata.name.clone())));
}
