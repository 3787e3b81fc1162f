//! The synchronisation controller that KEP-5978 was withdrawn in favour of: namespaced copies of cluster-wide claim
//! templates, so that Pods and PodGroups of any namespace can use them by an ordinary name.
//!
//! A source is a ClusterResourceClaimTemplate of `apportion.dev`, or an object that says by annotation which namespaces it is
//! for: a ClusterResourceClaimTemplate as proposed for `resource.k8s.io`, or a ResourceClaimTemplate in the controller's
//! namespace. One decision is about one name in one namespace, so that a namespace where something is wrong delays no other.
//!
//! A copy is known by its labels. Anything else of that name belongs to a user: it is never changed or deleted, and the
//! conflict is reported.

mod source;
mod status;
mod usage;
mod work;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::api::claim::{ResourceClaimTemplate, ResourceClaimTemplateSpec};
use crate::api::meta::OwnerReference;
use crate::api::object::Object;
use crate::api::pod::Namespace;
use crate::api::read::Json;
use crate::api::source::{ConflictPolicy, DeletionPolicy, UpdateStrategy};
use crate::cluster::{Cluster, Key};
use crate::derive;
use crate::finding::ObjectRef;
use crate::lifecycle::{Action, Change, Decision, EventRecord, Patch};
use source::{Source, sources};
use usage::is_to_go;

pub use source::{EXCLUDED_NAMESPACES, NAMESPACE_SELECTOR, NAMESPACES, TEMPLATE_NAME};
pub use status::{Refusal, status};
pub use usage::needed;
pub use work::{Work, affected, all_work};

/// Says that a copy is managed.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// The value of [`MANAGED_BY`], and who reports.
pub const MANAGER: &str = "apportion-template-sync";

/// Field manager of all writes.
const FIELD_MANAGER: &str = "apportion";

/// Label of a copy: name of its source.
pub const SOURCE_NAME: &str = "apportion.dev/source-name";

/// Label of a copy: UID of its source.
pub const SOURCE_UID: &str = "apportion.dev/source-uid";

/// Annotation of a copy: what it was made from.
pub const CONTENT_HASH: &str = "apportion.dev/content-hash";

/// Annotation of a copy: what happens to it when its source is deleted; left out where it goes.
pub const DELETION_POLICY: &str = "apportion.dev/deletion-policy";

/// Label of a namespace in which admin access is allowed.
const ADMIN_LABEL: &str = "resource.kubernetes.io/admin-access";

/// Longest value of a label.
const MAX_LABEL: usize = 63;

/// What the controller is told when it starts, and what is wrong with sources.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Settings {
    /// The controller's namespace, whose templates may be masters.
    pub home: String,
    /// Whether cluster-wide sources may ask for admin access.
    pub allow_admin_access: bool,
    /// Sources that nothing can be made of, by UID, with the reason.
    pub unusable: BTreeMap<String, String>,
}

/// Why a namespace does not get its copy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// A template of that name belongs to a user.
    Conflict,
    /// Another source with the same target name came first.
    Superseded,
    /// The namespace does not allow admin access, or the source may not ask for it.
    AdminAccessNotAllowed,
    /// A quota of the namespace is used up.
    QuotaExceeded,
    /// The controller lacks a right there.
    Forbidden,
    /// The template breaks a rule.
    Invalid,
    /// The namespace is going.
    Terminating,
    /// The master that the source names is not there.
    SourceMissing,
    /// The API server refuses for a reason without a name here.
    Refused,
}

impl Reason {
    /// The word for programs.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Conflict => "Conflict",
            Self::Superseded => "Superseded",
            Self::AdminAccessNotAllowed => "AdminAccessNotAllowed",
            Self::QuotaExceeded => "QuotaExceeded",
            Self::Forbidden => "Forbidden",
            Self::Invalid => "Invalid",
            Self::Terminating => "Terminating",
            Self::SourceMissing => "SourceMissing",
            Self::Refused => "Refused",
        }
    }

    /// What an answer of the API server to a write means.
    pub fn of_answer(status: u16, message: &str) -> Self {
        let says = |text: &str| message.contains(text);
        match status {
            _ if says("adminAccess") => Self::AdminAccessNotAllowed,
            403 if says("exceeded quota") => Self::QuotaExceeded,
            403 | 404 if says("being terminated") || says("namespaces") && says("not found") => Self::Terminating,
            403 => Self::Forbidden,
            400 | 422 => Self::Invalid,
            _ => Self::Refused,
        }
    }
}

/// How the copy of one source in one namespace stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// The namespace is not selected, or is going.
    NotWanted,
    /// The copy is as it should be.
    Current,
    /// The copy is made, changed or removed.
    Changing,
    /// The copy is of an earlier form of its source, and is removed to be made again.
    Replacing {
        /// How many copies of the source may be missing at a time.
        most: Option<usize>,
    },
    /// The copy is of an earlier form of its source, and is to stay.
    Outdated,
    /// A template of that name belongs to a user.
    Conflict,
    /// Another source with the same target name came first.
    Superseded {
        /// That source.
        by: String,
    },
    /// No copy can be made.
    Refused {
        /// Why.
        reason: Reason,
        /// The same for people.
        message: String,
    },
}

/// Templates of one namespace.
fn of_namespace<'c>(
    cluster: &'c Cluster,
    namespace: &'c str,
) -> impl Iterator<Item = (&'c Key, &'c ResourceClaimTemplate)> + 'c {
    let from = (namespace.to_owned(), String::new());
    cluster.templates().range(from..).take_while(move |(key, _)| key.0 == namespace)
}

/// Names of all target templates that a namespace may be concerned with: those that sources want, and those that are there.
pub fn targets(cluster: &Cluster, settings: &Settings, namespace: &str) -> Vec<String> {
    let mut names: Vec<String> = sources(cluster, &settings.home).map(|source| source.target().to_owned()).collect();
    let here = of_namespace(cluster, namespace).filter(|(_, template)| is_copy(template));
    names.extend(here.map(|(key, _)| key.1.clone()));
    names.sort();
    names.dedup();
    names
}

/// What to do about the template of one name in one namespace, and how it stands for the source that is in charge.
///
/// A changed source replaces its copies: their spec cannot be changed, so the copy is deleted now and made again in the next
/// decision. Consumers wait in between; claims that exist keep what they were made of.
pub fn reconcile(cluster: &Cluster, settings: &Settings, namespace: &str, name: &str) -> (Decision, State) {
    let rivals: Vec<Source<'_>> = sources(cluster, &settings.home).filter(|source| source.target() == name).collect();
    decide(cluster, settings, &rivals, namespace, name)
}

/// The source in charge of a namespace.
fn in_charge<'s>(rivals: &[Source<'s>], space: Option<&Namespace>) -> Option<Source<'s>> {
    let space = space?;
    let wanting = rivals.iter().filter(|source| source.selects(space));
    wanting.min_by(|left, right| left.rank().cmp(&right.rank())).copied()
}

fn decide(
    cluster: &Cluster,
    settings: &Settings,
    rivals: &[Source<'_>],
    namespace: &str,
    name: &str,
) -> (Decision, State) {
    let found = cluster.templates().get(&(namespace.to_owned(), name.to_owned()));
    let space = cluster.namespaces().get(namespace);
    let Some(source) = in_charge(rivals, space) else {
        let is_here = space.is_some_and(|space| !space.metadata.is_deleting());
        return match found.filter(|copy| is_here && is_to_go(cluster, settings, copy)) {
            Some(copy) => (Decision::of(vec![remove(copy)]), State::Changing),
            None => (Decision::none(), State::NotWanted),
        };
    };
    if let Some((reason, message)) = obstacle(settings, source, space) {
        let event = report(source, reason.text(), &format!("namespace {namespace}: {message}"));
        let decision = Decision { events: vec![event], ..Decision::none() };
        return (decision, State::Refused { reason, message });
    }
    let Some(wanted) = copy_of(source, namespace) else { return (Decision::none(), State::NotWanted) };
    let (decision, state) = match found {
        None => {
            let refused = Some(report(source, "CopyRefused", &format!("namespace {namespace}: ")));
            let object = Box::new(Object::ResourceClaimTemplate(Box::new(wanted)));
            (Decision::of(vec![Action::Create { object, refused }]), State::Changing)
        }
        Some(copy) if copy.metadata.is_deleting() => (Decision::none(), State::Changing),
        Some(copy) if !is_copy(copy) => {
            let adopts = source.conflict_policy() == ConflictPolicy::AdoptIfEqual && is_of(copy, &wanted);
            match adopts {
                true => (repair(copy, &wanted), State::Changing),
                false => (conflict(source, copy), State::Conflict),
            }
        }
        Some(copy) if !is_of(copy, &wanted) => match source.update_strategy() {
            UpdateStrategy::OnlyNew => (Decision::none(), State::Outdated),
            UpdateStrategy::Recreate | UpdateStrategy::Unknown(_) => {
                (Decision::of(vec![remove(copy)]), State::Replacing { most: source.max_unavailable() })
            }
        },
        Some(copy) => match repair(copy, &wanted) {
            decision if decision.actions.is_empty() => (decision, State::Current),
            decision => (decision, State::Changing),
        },
    };
    match source.is_paused() && !decision.actions.is_empty() {
        true => (Decision::none(), State::Outdated),
        false => (decision, state),
    }
}

/// What keeps a source from having a copy in a namespace, as far as that shows without asking the API server.
fn obstacle(settings: &Settings, source: Source<'_>, space: Option<&Namespace>) -> Option<(Reason, String)> {
    let Some(spec) = source.spec else {
        return Some((Reason::SourceMissing, format!("there is no such template in namespace {}", settings.home)));
    };
    if let Some(message) = settings.unusable.get(&source.metadata.uid) {
        return Some((Reason::Invalid, message.clone()));
    }
    if !asks_for_admin_access(spec) {
        return None;
    }
    if source.is_cluster_wide() && !settings.allow_admin_access {
        let message = "the controller does not allow admin access in cluster-wide templates".to_owned();
        return Some((Reason::AdminAccessNotAllowed, message));
    }
    let is_allowed = space.is_some_and(|space| space.metadata.labels.get(ADMIN_LABEL).is_some_and(|on| on == "true"));
    (!is_allowed).then(|| (Reason::AdminAccessNotAllowed, format!("it lacks the label {ADMIN_LABEL}: \"true\"")))
}

fn asks_for_admin_access(spec: &ResourceClaimTemplateSpec) -> bool {
    let requests = spec.spec.devices.requests.iter().filter_map(|request| request.exactly.as_ref());
    requests.into_iter().any(|request| request.admin_access == Some(true))
}

/// How one source stands in one namespace.
pub fn state(cluster: &Cluster, settings: &Settings, source: &ObjectRef, namespace: &str) -> State {
    let Some(own) = sources(cluster, &settings.home).find(|known| known.reference() == *source) else {
        return State::NotWanted;
    };
    let rivals: Vec<Source<'_>> =
        sources(cluster, &settings.home).filter(|other| other.target() == own.target()).collect();
    state_of(cluster, settings, own, &rivals, namespace)
}

fn state_of(cluster: &Cluster, settings: &Settings, own: Source<'_>, rivals: &[Source<'_>], namespace: &str) -> State {
    let space = cluster.namespaces().get(namespace);
    if !space.is_some_and(|space| own.selects(space)) {
        return State::NotWanted;
    }
    match in_charge(rivals, space).filter(|first| first.metadata.uid != own.metadata.uid) {
        Some(first) => State::Superseded { by: first.metadata.name.clone() },
        None => decide(cluster, settings, rivals, namespace, own.target()).1,
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

/// The copy of a source for a namespace; `None` where there is nothing to copy.
fn copy_of(source: Source<'_>, namespace: &str) -> Option<ResourceClaimTemplate> {
    let spec = source.spec?;
    let mut copy = ResourceClaimTemplate { spec: spec.with_defaults(), ..ResourceClaimTemplate::default() };
    let metadata = &mut copy.metadata;
    metadata.name = source.target().to_owned();
    metadata.namespace = namespace.to_owned();
    metadata.labels.extend([
        (MANAGED_BY.to_owned(), MANAGER.to_owned()),
        (SOURCE_NAME.to_owned(), label(&source.metadata.name)),
        (SOURCE_UID.to_owned(), source.metadata.uid.clone()),
    ]);
    metadata.annotations.insert(CONTENT_HASH.to_owned(), hash(spec));
    match source.deletion_policy() {
        DeletionPolicy::Delete | DeletionPolicy::Unknown(_) => {}
        policy @ (DeletionPolicy::Orphan | DeletionPolicy::DeleteWhenUnused) => {
            metadata.annotations.insert(DELETION_POLICY.to_owned(), policy.text().to_owned());
        }
    }
    metadata.owner_references.extend(source.owner());
    Some(copy)
}

/// A name as the value of a label, which is shorter; the UID beside it tells apart what is cut alike.
fn label(name: &str) -> String {
    name.get(..MAX_LABEL).unwrap_or(name).trim_end_matches(['-', '.']).to_owned()
}

/// Whether a template has the spec of a copy, which the API server completes and writes in its own way.
fn is_of(template: &ResourceClaimTemplate, copy: &ResourceClaimTemplate) -> bool {
    template.spec.with_defaults() == copy.spec
}

fn hash(spec: &ResourceClaimTemplateSpec) -> String {
    derive::letters(12, &["template", &spec.with_defaults().write().unwrap_or(Value::Null).to_string()])
}

/// Gives a template the marks that it lacks; what else it has stays.
fn repair(copy: &ResourceClaimTemplate, wanted: &ResourceClaimTemplate) -> Decision {
    let (is, should) = (&copy.metadata, &wanted.metadata);
    let has_labels = should.labels.iter().all(|(key, value)| is.labels.get(key) == Some(value));
    let has_notes = should.annotations.iter().all(|(key, value)| is.annotations.get(key) == Some(value));
    let is_ours = |owner: &OwnerReference| owner.kind == "ClusterResourceClaimTemplate";
    let has_owner = should.owner_references.iter().all(|owner| is.owner_references.contains(owner));
    let stays = should.owner_references.is_empty() && is.owner_references.iter().any(is_ours);
    let patch = |change: Change| Patch {
        object: copy_ref(copy),
        uid: is.uid.clone(),
        resource_version: is.resource_version.clone(),
        status: false,
        change,
    };
    let mut decision = Decision::none();
    if !(has_labels && has_notes && has_owner) {
        let mut metadata = Map::new();
        metadata.insert("labels".to_owned(), json!(should.labels));
        metadata.insert("annotations".to_owned(), json!(should.annotations));
        if let Some(owners) = should.owner_references.write_field() {
            metadata.insert("ownerReferences".to_owned(), owners);
        }
        let fields = json!({ "metadata": metadata });
        decision.actions.push(Action::Patch(patch(Change::Apply { manager: FIELD_MANAGER.to_owned(), fields })));
    }
    if stays {
        // The source no longer takes its copies with it: an owner that is left out of what is applied may stay.
        let others: Vec<Value> =
            is.owner_references.iter().filter(|owner| !is_ours(owner)).filter_map(Json::write).collect();
        let fields = json!({ "metadata": { "ownerReferences": others } });
        decision.actions.push(Action::Patch(patch(Change::Merge(fields))));
    }
    decision
}

/// A user's template is in the way: the authors of both are told.
fn conflict(source: Source<'_>, template: &ResourceClaimTemplate) -> Decision {
    let (namespace, name) = (&template.metadata.namespace, &template.metadata.name);
    let note = format!("namespace {namespace} has a ResourceClaimTemplate {name} of its own");
    let by_users =
        format!("the cluster-wide template {} is not copied here, because this one has its name", source.metadata.name);
    let theirs = EventRecord {
        regarding: copy_ref(template),
        uid: template.metadata.uid.clone(),
        ..report(source, "Conflict", &by_users)
    };
    Decision { events: vec![report(source, "Conflict", &note), theirs], ..Decision::none() }
}

fn copy_ref(copy: &ResourceClaimTemplate) -> ObjectRef {
    let (namespace, name) = (copy.metadata.namespace.clone(), copy.metadata.name.clone());
    ObjectRef { kind: "ResourceClaimTemplate".to_owned(), namespace, name }
}

/// Whoever takes the mark off a copy makes it a template of their own: then it must not go.
fn remove(copy: &ResourceClaimTemplate) -> Action {
    let (uid, resource_version) = (copy.metadata.uid.clone(), copy.metadata.resource_version.clone());
    Action::Delete { object: copy_ref(copy), uid, resource_version }
}

fn report(source: Source<'_>, reason: &str, note: &str) -> EventRecord {
    EventRecord {
        regarding: source.reference(),
        uid: source.metadata.uid.clone(),
        is_warning: true,
        reason: reason.to_owned(),
        note: note.to_owned(),
        controller: MANAGER.to_owned(),
        action: "Synchronize".to_owned(),
    }
}
