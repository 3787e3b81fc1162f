//! The synchronisation controller that KEP-5978 was withdrawn in favour of: namespaced copies of cluster-wide claim
//! templates, so that Pods and PodGroups of any namespace can use them by an ordinary name.
//!
//! A source is a ClusterResourceClaimTemplate, or a ResourceClaimTemplate in the controller's namespace, that says by
//! annotation which namespaces it is for. One decision is about one source and one namespace, so that a namespace where
//! something is wrong delays no other.
//!
//! A copy is known by its labels and by the source's UID. Anything else of that name belongs to a user: it is never changed or
//! deleted, and the conflict is reported.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::claim::{ResourceClaimTemplate, ResourceClaimTemplateSpec};
use crate::api::meta::{ObjectMeta, OwnerReference};
use crate::api::object::Object;
use crate::api::pod::Namespace;
use crate::api::read::Json;
use crate::cluster::Cluster;
use crate::derive;
use crate::finding::ObjectRef;
use crate::lifecycle::{Action, Decision, EventRecord};

/// Says that a copy is managed.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// The value of [`MANAGED_BY`], and who reports.
pub const MANAGER: &str = "apportion-template-sync";

/// Label of a copy: name of its source.
pub const SOURCE_NAME: &str = "apportion.dev/source-name";

/// Label of a copy: UID of its source.
pub const SOURCE_UID: &str = "apportion.dev/source-uid";

/// Annotation of a copy: what it was made from.
pub const CONTENT_HASH: &str = "apportion.dev/content-hash";

/// Annotation of a source: names of namespaces, separated by commas; `*` for all but system namespaces.
pub const NAMESPACES: &str = "apportion.dev/namespaces";

/// Annotation of a source: labels that a namespace must have, `key=value`, separated by commas.
pub const NAMESPACE_SELECTOR: &str = "apportion.dev/namespace-selector";

/// Annotation of a source: names of namespaces that get no copy, separated by commas.
pub const EXCLUDED_NAMESPACES: &str = "apportion.dev/excluded-namespaces";

/// Annotation of a source: name of the copies; the source's own where it is left out.
pub const TEMPLATE_NAME: &str = "apportion.dev/template-name";

/// Namespaces that only an explicit name selects.
const SYSTEM: &str = "kube-";

/// How the copy of one source in one namespace stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// The namespace is not selected, or is going.
    NotWanted,
    /// The copy is as it should be.
    Current,
    /// The copy is made, changed or removed.
    Changing,
    /// A template of that name belongs to a user.
    Conflict,
    /// Another source with the same target name came first.
    Superseded {
        /// That source.
        by: String,
    },
}

/// A source, of either kind.
#[derive(Clone, Copy, Debug)]
struct Source<'s> {
    kind: &'static str,
    template: &'s ResourceClaimTemplate,
}

impl<'s> Source<'s> {
    fn metadata(self) -> &'s ObjectMeta {
        &self.template.metadata
    }

    fn annotation(self, name: &str) -> &'s str {
        self.template.metadata.annotations.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Name of its copies.
    fn target(self) -> &'s str {
        let own = self.annotation(TEMPLATE_NAME);
        if own.is_empty() { &self.metadata().name } else { own }
    }

    /// Whether a namespace is to have a copy. A source that says nothing is for no namespace.
    fn selects(self, namespace: &Namespace) -> bool {
        let metadata = &namespace.metadata;
        if metadata.is_deleting() || self.metadata().is_deleting() {
            return false;
        }
        let name = metadata.name.as_str();
        let is_own = self.metadata().namespace == name;
        if is_own || words(self.annotation(EXCLUDED_NAMESPACES)).any(|excluded| excluded == name) {
            return false;
        }
        if words(self.annotation(NAMESPACES)).any(|wanted| wanted == name) {
            return true;
        }
        let is_system = name.starts_with(SYSTEM);
        let by_star = words(self.annotation(NAMESPACES)).any(|wanted| wanted == "*");
        let mut labels = words(self.annotation(NAMESPACE_SELECTOR)).peekable();
        let has_selector = labels.peek().is_some();
        let by_label = has_selector
            && labels.all(|pair| match pair.split_once('=') {
                Some((key, value)) => metadata.labels.get(key).is_some_and(|label| label == value),
                None => metadata.labels.contains_key(pair),
            });
        !is_system && (by_star || by_label)
    }

    /// The first source of a name wins: the oldest, then by name.
    fn rank(self) -> (&'s str, &'s str) {
        (&self.metadata().creation_timestamp, &self.metadata().name)
    }
}

/// All sources, by name; those of the controller's namespace after the cluster-wide ones of the same name.
fn sources<'c>(cluster: &'c Cluster, home: &'c str) -> impl Iterator<Item = Source<'c>> + 'c {
    let cluster_wide = cluster.cluster_templates().values();
    let cluster_wide = cluster_wide.map(|template| Source { kind: "ClusterResourceClaimTemplate", template });
    let masters = cluster.templates().iter().filter(move |(key, _)| key.0 == home).map(|(_, template)| template);
    let masters = masters.filter(|template| !is_copy(template));
    cluster_wide.chain(masters.map(|template| Source { kind: "ResourceClaimTemplate", template }))
}

/// Names of all target templates that a namespace may be concerned with: those that sources want, and those that are there.
pub fn targets(cluster: &Cluster, home: &str, namespace: &str) -> Vec<String> {
    let mut names: Vec<String> = sources(cluster, home).map(|source| source.target().to_owned()).collect();
    let here = cluster.templates().iter().filter(|(key, template)| key.0 == namespace && is_copy(template));
    names.extend(here.map(|(key, _)| key.1.clone()));
    names.sort();
    names.dedup();
    names
}

/// What to do about the template of one name in one namespace, and how it stands for the source that is in charge.
///
/// `home` is the controller's namespace. A changed source replaces its copies: their spec cannot be changed, so the copy is
/// deleted now and made again in the next decision. Consumers wait in between; claims that exist keep what they were made of.
pub fn reconcile(cluster: &Cluster, home: &str, namespace: &str, name: &str) -> (Decision, State) {
    let found = cluster.templates().get(&(namespace.to_owned(), name.to_owned()));
    let space = cluster.namespaces().get(namespace);
    let wanting = sources(cluster, home)
        .filter(|source| source.target() == name && space.is_some_and(|space| source.selects(space)))
        .min_by(|left, right| left.rank().cmp(&right.rank()));
    let Some(source) = wanting else {
        let is_going = space.is_none_or(|space| space.metadata.is_deleting());
        return match found.filter(|copy| is_copy(copy) && !copy.metadata.is_deleting() && !is_going) {
            Some(copy) => (Decision::of(vec![remove(copy)]), State::Changing),
            None => (Decision::none(), State::NotWanted),
        };
    };
    let wanted = copy_of(source, namespace);
    match found {
        None => {
            let refused = Some(report(source, "CopyRefused", &format!("namespace {namespace}: ")));
            let object = Box::new(Object::ResourceClaimTemplate(Box::new(wanted)));
            let mut decision = Decision::of(vec![Action::Create { object, refused }]);
            // What the namespace does not allow today, for instance admin access, it may allow later.
            decision.retry = false;
            (decision, State::Changing)
        }
        Some(copy) if !is_copy(copy) => {
            let note = format!("namespace {namespace} has a ResourceClaimTemplate {name} of its own");
            let mut decision = Decision::none();
            decision.events.push(report(source, "Conflict", &note));
            (decision, State::Conflict)
        }
        Some(copy) if copy.metadata.is_deleting() => (Decision::none(), State::Changing),
        Some(copy) if copy.spec != wanted.spec => (Decision::of(vec![remove(copy)]), State::Changing),
        Some(copy) => {
            let mut repaired = copy.clone();
            repaired.metadata.labels.extend(wanted.metadata.labels);
            repaired.metadata.annotations.extend(wanted.metadata.annotations);
            repaired.metadata.owner_references = wanted.metadata.owner_references;
            if repaired == *copy {
                return (Decision::none(), State::Current);
            }
            let object = Box::new(Object::ResourceClaimTemplate(Box::new(repaired)));
            (Decision::of(vec![Action::Update(object)]), State::Changing)
        }
    }
}

/// How one source stands in one namespace.
pub fn state(cluster: &Cluster, home: &str, source: &ObjectRef, namespace: &str) -> State {
    let own = sources(cluster, home).find(|known| {
        known.kind == source.kind
            && known.metadata().name == source.name
            && known.metadata().namespace == source.namespace
    });
    let space = cluster.namespaces().get(namespace);
    let Some(own) = own.filter(|own| space.is_some_and(|space| own.selects(space))) else { return State::NotWanted };
    let first = sources(cluster, home)
        .filter(|other| other.target() == own.target() && space.is_some_and(|space| other.selects(space)))
        .min_by(|left, right| left.rank().cmp(&right.rank()));
    match first.filter(|first| first.metadata().uid != own.metadata().uid) {
        Some(first) => State::Superseded { by: first.metadata().name.clone() },
        None => reconcile(cluster, home, namespace, own.target()).1,
    }
}

/// How many copies there are, by name of their source: what the controller costs.
pub fn copies(cluster: &Cluster) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for copy in cluster.templates().values().filter(|template| is_copy(template)) {
        let source = copy.metadata.labels.get(SOURCE_NAME).cloned().unwrap_or_default();
        let count: &mut u64 = counts.entry(source).or_default();
        *count = count.saturating_add(1);
    }
    counts
}

/// Whether the controller made a template. One whose label a user took away is the user's.
pub fn is_copy(template: &ResourceClaimTemplate) -> bool {
    template.metadata.labels.get(MANAGED_BY).is_some_and(|manager| manager == MANAGER)
}

fn copy_of(source: Source<'_>, namespace: &str) -> ResourceClaimTemplate {
    let mut copy = ResourceClaimTemplate { spec: source.template.spec.clone(), ..ResourceClaimTemplate::default() };
    let metadata = &mut copy.metadata;
    metadata.name = source.target().to_owned();
    metadata.namespace = namespace.to_owned();
    metadata.labels.extend([
        (MANAGED_BY.to_owned(), MANAGER.to_owned()),
        (SOURCE_NAME.to_owned(), source.metadata().name.clone()),
        (SOURCE_UID.to_owned(), source.metadata().uid.clone()),
    ]);
    metadata.annotations.insert(CONTENT_HASH.to_owned(), hash(&source.template.spec));
    // An owner must be cluster-wide or in the same namespace.
    if source.kind == "ClusterResourceClaimTemplate" {
        metadata.owner_references.push(OwnerReference {
            api_version: "resource.k8s.io/v1".to_owned(),
            kind: source.kind.to_owned(),
            name: source.metadata().name.clone(),
            uid: source.metadata().uid.clone(),
            controller: Some(true),
            ..OwnerReference::default()
        });
    }
    copy
}

fn hash(spec: &ResourceClaimTemplateSpec) -> String {
    derive::letters(12, &["template", &spec.write().unwrap_or(Value::Null).to_string()])
}

fn remove(copy: &ResourceClaimTemplate) -> Action {
    let (namespace, name) = (copy.metadata.namespace.clone(), copy.metadata.name.clone());
    let object = ObjectRef { kind: "ResourceClaimTemplate".to_owned(), namespace, name };
    Action::Delete { object, uid: copy.metadata.uid.clone() }
}

fn report(source: Source<'_>, reason: &str, note: &str) -> EventRecord {
    let metadata = source.metadata();
    EventRecord {
        regarding: ObjectRef {
            kind: source.kind.to_owned(),
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
        },
        uid: metadata.uid.clone(),
        is_warning: true,
        reason: reason.to_owned(),
        note: note.to_owned(),
        controller: MANAGER.to_owned(),
        action: String::new(),
    }
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty())
}
