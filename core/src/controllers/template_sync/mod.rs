//! The synchronisation controller that KEP-5978 was withdrawn in favour of: namespaced copies of cluster-wide claim
//! templates, so that Pods and PodGroups of any namespace can use them by an ordinary name.
//!
//! A source is a ClusterResourceClaimTemplate of `apportion.dev`, or an object that says by annotation which namespaces it is
//! for: a ClusterResourceClaimTemplate as proposed for `resource.k8s.io`, or a ResourceClaimTemplate in the controller's
//! namespace. One decision is about one name in one namespace, so that a namespace where something is wrong delays no other.
//!
//! A copy is known by its marks and by who wrote it. Anything else of that name belongs to a user: it is never changed or
//! deleted, and the conflict is reported, unless the source explicitly takes such templates over.
//!
//! Nothing is deleted because something is not understood: a source that cannot be read, or has fields of a later version, keeps
//! its copies as they are, and a source counts as gone only where the API server says so.

mod brake;
mod desired;
mod memory;
mod rollout;
mod source;
mod standing;
mod status;
mod usage;
mod work;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::api::claim::{ResourceClaimTemplate, asks_for_admin_access};
use crate::api::meta::ObjectMeta;
use crate::api::object::Object;
use crate::api::pod::Namespace;
use crate::api::source::{ConflictPolicy, UpdateStrategy};
pub use crate::api::source::{EXCLUDED_NAMESPACES, MANAGED_BY, MANAGER, NAMESPACE_SELECTOR, NAMESPACES, TEMPLATE_NAME};
use crate::cluster::{Cluster, Key, SharedMap};
use crate::decision::{Action, Decision, EventRecord};
use crate::validate::{ADMIN_LABEL, allows_admin_access};
use desired::{Desired, is_managed_by_others, is_source, remove};
use source::{Source, sources};
use usage::{is_to_go, missing_source, source_uids};

pub(crate) use memory::Memory;
pub use standing::{Place, Stands, standings};
pub use status::{Counts, Refusal};
pub use usage::needed;
pub use work::{Work, affected, all_work, told_of};

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

/// What the controller is told when it starts, and what is wrong with sources.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Settings {
    /// The controller's namespace, whose templates may be masters.
    pub home: String,
    /// Whether cluster-wide sources may ask for admin access.
    pub allow_admin_access: bool,
    /// Objects that are not understood, by UID or else by namespace and name, with the reason. Of a source then nothing is made, changed or deleted.
    pub unusable: BTreeMap<String, String>,
}

impl Settings {
    /// Why an object is not understood.
    fn flaw_of(&self, metadata: &ObjectMeta) -> Option<&String> {
        self.unusable.get(&*known_by(metadata))
    }

    /// A namespace, where it is there and understood.
    fn namespace<'c>(&self, cluster: &'c Cluster, name: &str) -> Option<&'c Namespace> {
        cluster.namespaces().get(name).filter(|space| self.flaw_of(&space.metadata).is_none())
    }
}

/// What an object that is not understood is known by. One in a manifest has no UID yet.
fn known_by(metadata: &ObjectMeta) -> Cow<'_, str> {
    match metadata.uid.as_str() {
        "" => format!("{}/{}", metadata.namespace, metadata.name).into(),
        uid => uid.into(),
    }
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
    /// The source, what it is made of, or a template in the place of the copy breaks a rule or is not understood.
    Invalid,
    /// The namespace is going.
    Terminating,
    /// The master that the source names is not there.
    SourceMissing,
    /// The API server refuses for a reason without a name here.
    Refused,
}

impl Reason {
    /// All, each with the word for programs.
    const ALL: [(Self, &'static str); 9] = [
        (Self::Conflict, "Conflict"),
        (Self::Superseded, "Superseded"),
        (Self::AdminAccessNotAllowed, "AdminAccessNotAllowed"),
        (Self::QuotaExceeded, "QuotaExceeded"),
        (Self::Forbidden, "Forbidden"),
        (Self::Invalid, "Invalid"),
        (Self::Terminating, "Terminating"),
        (Self::SourceMissing, "SourceMissing"),
        (Self::Refused, "Refused"),
    ];

    /// The word for programs.
    pub fn text(self) -> &'static str {
        Self::ALL.iter().find(|(reason, _)| *reason == self).map_or("Refused", |(_, text)| text)
    }

    /// The reason that a word stands for.
    fn of_text(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, word)| *word == text).map(|(reason, _)| *reason)
    }

    /// Whether it may be what the API server answered, so that the facts need not say the same.
    const fn is_by_server(self) -> bool {
        !matches!(self, Self::Conflict | Self::Superseded | Self::SourceMissing)
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

/// Objects of one namespace.
fn of_namespace<'c, T>(all: &'c SharedMap<Key, T>, namespace: &'c str) -> impl Iterator<Item = (&'c Key, &'c T)> {
    all.range_from(&(namespace.to_owned(), String::new())).take_while(move |(key, _)| key.0 == namespace)
}

/// Whether there is a source that says which namespaces it is for.
pub(crate) fn has_sources(cluster: &Cluster, home: &str) -> bool {
    sources(cluster, home).any(Source::is_for_some)
}

/// What to do about the template of one name in one namespace, and how it stands for the source that is in charge.
///
/// A changed source replaces its copies: their spec cannot be changed, so the copy is deleted now and made again in the next
/// decision. Consumers wait in between; claims that exist keep what they were made of.
pub fn reconcile(cluster: &Cluster, settings: &Settings, namespace: &str, name: &str) -> (Decision, State) {
    let space = settings.namespace(cluster, namespace);
    if let Some(source) = in_charge(&rivals(cluster, settings, name), space) {
        return decide_for(cluster, settings, source, Desired::of(source).as_ref(), namespace);
    }
    let found = cluster.templates().get(&(namespace.to_owned(), name.to_owned()));
    let is_here = space.is_some_and(|space| !space.metadata.is_deleting());
    match found.filter(|copy| is_here && is_to_go(cluster, settings, copy)) {
        Some(copy) => {
            let gone = missing_source(cluster, settings, copy).into_iter().collect();
            (Decision { gone, ..Decision::of(vec![remove(copy)]) }, State::Changing)
        }
        None => (Decision::none(), State::NotWanted),
    }
}

/// All sources of copies of one name.
fn rivals<'c>(cluster: &'c Cluster, settings: &'c Settings, target: &str) -> Vec<Source<'c>> {
    sources(cluster, &settings.home).filter(|source| source.target() == target).collect()
}

/// The source in charge of a namespace.
fn in_charge<'s>(rivals: &[Source<'s>], space: Option<&Namespace>) -> Option<Source<'s>> {
    let space = space?;
    let wanting = rivals.iter().filter(|source| source.selects(space));
    wanting.min_by(|left, right| left.rank().cmp(&right.rank())).copied()
}

/// The same where it is known which source is in charge, and what its copies are.
fn decide_for(
    cluster: &Cluster,
    settings: &Settings,
    source: Source<'_>,
    desired: Option<&Desired>,
    namespace: &str,
) -> (Decision, State) {
    if let Some((reason, message)) = obstacle(settings, source, cluster.namespaces().get(namespace)) {
        let event = report(source, reason.text(), &format!("namespace {namespace}: {message}"));
        let decision = Decision { events: vec![event], ..Decision::none() };
        return (decision, State::Refused { reason, message });
    }
    let Some(desired) = desired else { return (Decision::none(), State::NotWanted) };
    let found = cluster.templates().get(&(namespace.to_owned(), source.target().to_owned()));
    let (decision, state) = match found {
        None => {
            let refused = Some(report(source, "CopyRefused", &format!("namespace {namespace}: ")));
            let object = Box::new(Object::ResourceClaimTemplate(Arc::new(desired.copy(namespace))));
            (Decision::of(vec![Action::Create { object, refused }]), State::Changing)
        }
        Some(copy) if copy.metadata.is_deleting() => (Decision::none(), State::Changing),
        Some(template) if let Some(message) = flaw_in_place(settings, source, template) => {
            (Decision::none(), State::Refused { reason: Reason::Invalid, message })
        }
        Some(template) if !is_copy(template) => of_a_user(settings, source, desired, template),
        Some(copy) if !desired.is_spec_of(copy) => match source.update_strategy() {
            UpdateStrategy::OnlyNew => (Decision::none(), State::Outdated),
            UpdateStrategy::Recreate | UpdateStrategy::Unknown(_) => {
                (Decision::of(vec![remove(copy)]), State::Replacing { most: source.max_unavailable() })
            }
        },
        Some(copy) => match desired.repairs(copy) {
            actions if actions.is_empty() => (Decision::none(), State::Current),
            actions => (Decision::of(actions), State::Changing),
        },
    };
    match source.is_paused() && !decision.actions.is_empty() {
        true => (Decision::none(), State::Outdated),
        false => (decision, state),
    }
}

/// Somebody's template has the name: it is left alone, unless the source explicitly takes such ones over.
fn of_a_user(
    settings: &Settings,
    source: Source<'_>,
    desired: &Desired,
    template: &ResourceClaimTemplate,
) -> (Decision, State) {
    let is_adopted = match source.conflict_policy() {
        ConflictPolicy::Fail | ConflictPolicy::Unknown(_) => false,
        ConflictPolicy::AdoptIfEqual => desired.is_spec_of(template),
        ConflictPolicy::Adopt => true,
    };
    // In the controller's namespace it may be what others are copied from.
    let is_free = template.metadata.namespace != settings.home && !is_managed_by_others(template);
    match is_adopted && is_free {
        true => (adoption(source, desired, template), State::Changing),
        false => (conflict(source, template), State::Conflict),
    }
}

/// Takes a template over, and tells its author, who may look for it.
fn adoption(source: Source<'_>, desired: &Desired, template: &ResourceClaimTemplate) -> Decision {
    let text = format!("this template belongs to the cluster-wide template {} from now on", source.metadata.name);
    let event = EventRecord { is_warning: false, ..report_at(template, source, "Adopted", &text) };
    Decision::of(vec![desired.adoption(template), Action::Record(event)])
}

/// What keeps a source from having a copy in a namespace, as far as that shows without asking the API server.
fn obstacle(settings: &Settings, source: Source<'_>, space: Option<&Namespace>) -> Option<(Reason, String)> {
    if let Some(message) = source.flaw(settings) {
        return Some((Reason::Invalid, message.clone()));
    }
    let Some(spec) = source.spec else {
        return Some((Reason::SourceMissing, format!("there is no such template in namespace {}", settings.home)));
    };
    if !asks_for_admin_access(&spec.spec.devices.requests) {
        return None;
    }
    if !settings.allow_admin_access {
        let message = "the controller does not allow admin access in what it copies".to_owned();
        return Some((Reason::AdminAccessNotAllowed, message));
    }
    let is_allowed = space.is_some_and(|space| allows_admin_access(&space.metadata.labels));
    (!is_allowed).then(|| (Reason::AdminAccessNotAllowed, format!("it lacks the label {ADMIN_LABEL}: \"true\"")))
}

/// Why what is in the place of a copy must stay: it is not understood, or another source is whose copy it is.
fn flaw_in_place(settings: &Settings, own: Source<'_>, template: &ResourceClaimTemplate) -> Option<String> {
    if let Some(flaw) = settings.flaw_of(&template.metadata) {
        return Some(format!("the template there is not understood: {flaw}"));
    }
    let mut others = source_uids(template).filter(|uid| **uid != own.metadata.uid && is_copy(template));
    let flaw = others.find_map(|uid| settings.unusable.get(uid))?;
    Some(format!("the copy there is of another source, which is not understood: {flaw}"))
}

/// Whether the controller made a template: it is marked, says of which source it is, and was written by the controller. One whose
/// mark a user took away is the user's, and so is one that somebody made with the marks of a copy.
pub fn is_copy(template: &ResourceClaimTemplate) -> bool {
    let metadata = &template.metadata;
    let is_marked = metadata.labels.get(MANAGED_BY).is_some_and(|manager| manager == MANAGER);
    let has_source = metadata.labels.contains_key(SOURCE_UID) || metadata.owner_references.iter().any(is_source);
    is_marked && has_source && is_written_by(FIELD_MANAGER, metadata)
}

/// Whether a field manager wrote something of an object. Manifests that do not say who wrote them are taken at their word.
fn is_written_by(name: &str, metadata: &ObjectMeta) -> bool {
    let managers = metadata.rest.get("managedFields").and_then(Value::as_array);
    managers.is_none_or(|all| all.iter().any(|one| one.get("manager").and_then(Value::as_str) == Some(name)))
}

/// A user's template is in the way: the authors of both are told.
fn conflict(source: Source<'_>, template: &ResourceClaimTemplate) -> Decision {
    let (namespace, name) = (&template.metadata.namespace, &template.metadata.name);
    let note = format!("namespace {namespace} has a ResourceClaimTemplate {name} of its own");
    let by_users =
        format!("the cluster-wide template {} is not copied here, because this one has its name", source.metadata.name);
    let events = vec![report(source, "Conflict", &note), report_at(template, source, "Conflict", &by_users)];
    Decision { events, ..Decision::none() }
}

/// What to tell whoever looks at a copy, and at its source, when it is back as somebody else changed or deleted it.
pub fn repaired(cluster: &Cluster, settings: &Settings, key: &Key, was_gone: bool) -> Vec<EventRecord> {
    let source = in_charge(&rivals(cluster, settings, &key.1), cluster.namespaces().get(&key.0));
    let (Some(source), Some(copy)) = (source, cluster.templates().get(key)) else { return Vec::new() };
    let happened = if was_gone { "deleted" } else { "changed" };
    let name = &source.metadata.name;
    let by_users =
        format!("somebody {happened} this template, and it was put back: change the cluster-wide template {name}");
    let of_copy = EventRecord { is_warning: false, ..report_at(copy, source, "DriftRepaired", &by_users) };
    // Without a namespace: one Event counts the copies, however many they are.
    let of_source = report(source, "DriftRepaired", &format!("a copy was {happened} by somebody else, and put back"));
    vec![of_copy, of_source]
}

fn report(source: Source<'_>, reason: &str, note: &str) -> EventRecord {
    let warning = EventRecord::warning(MANAGER, source.reference(), source.metadata, reason, note.to_owned());
    EventRecord { action: "Synchronize".to_owned(), ..warning }
}

/// The same at a template.
fn report_at(template: &ResourceClaimTemplate, source: Source<'_>, reason: &str, note: &str) -> EventRecord {
    let (regarding, uid) = (desired::reference(template), template.metadata.uid.clone());
    EventRecord { regarding, uid, ..report(source, reason, note) }
}
