//! An API server's write rules around the facts: versions, finalizers, owners, defaults, admission.
//!
//! Objects are kept as the JSON that clients sent, with what the server fills in; the typed facts follow every write.
//!
//! Not modelled: authorisation, quota, conversion between served versions other than on entry, most of validation.

mod admit;
mod apply;
mod defaults;
mod garbage;
mod merge;
mod request;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::object::{Object, read_object};
use crate::api::source::{SOURCE_API_VERSION, SOURCE_KIND};
use crate::cluster::Cluster;
use crate::decision::{EventRecord, Time, Trigger};
use crate::derive;
use crate::finding::ObjectRef;
use crate::profile::Profile;

pub use request::Refused;

/// One stored object.
#[derive(Clone, Debug)]
struct Stored {
    value: Value,
    /// What each field manager applied last.
    applied: BTreeMap<String, Value>,
}

/// The store and its rules.
#[derive(Clone, Debug)]
pub struct Server {
    objects: BTreeMap<ObjectRef, Stored>,
    cluster: Cluster,
    revision: u64,
    changes: Vec<Trigger>,
    /// Objects by the UID of each of their owners.
    dependents: BTreeMap<String, BTreeSet<ObjectRef>>,
    /// UIDs of all objects.
    uids: BTreeSet<String>,
    /// Those of objects that are taken to exist and are not given.
    unseen: BTreeSet<String>,
    /// Objects whose owners may be gone.
    suspects: BTreeSet<ObjectRef>,
    events: Vec<(EventRecord, u64)>,
    /// Where each Event stands.
    places_of_events: BTreeMap<EventRecord, usize>,
    /// Everything that happened, if that is kept.
    history: Option<Vec<Entry>>,
}

/// What happened to an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Happened {
    /// It was created.
    Added,
    /// It was changed.
    Modified,
    /// It is gone.
    Deleted,
    /// It was not created, because it breaks a rule.
    Refused,
}

/// One line of the history.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// When.
    pub at: Time,
    /// What.
    pub happened: Happened,
    /// To which object.
    pub object: ObjectRef,
    /// The object after it, or as it was last.
    pub value: Value,
}

impl Server {
    /// A server without objects.
    pub fn new(profile: Profile) -> Self {
        Self {
            objects: BTreeMap::new(),
            cluster: Cluster::new(profile),
            revision: 0,
            changes: Vec::new(),
            dependents: BTreeMap::new(),
            uids: BTreeSet::new(),
            unseen: BTreeSet::new(),
            suspects: BTreeSet::new(),
            events: Vec::new(),
            places_of_events: BTreeMap::new(),
            history: None,
        }
    }

    /// Keeps everything that happens from now on.
    pub fn keep_history(&mut self) {
        self.history.get_or_insert_default();
    }

    /// What happened since it was kept, in order.
    pub fn history(&self) -> &[Entry] {
        self.history.as_deref().unwrap_or_default()
    }

    fn remember(&mut self, happened: Happened, object: &ObjectRef, value: &Value, at: Time) {
        if let Some(history) = &mut self.history {
            history.push(Entry { at, happened, object: object.clone(), value: value.clone() });
        }
    }

    /// The facts.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The facts, for questions that keep caches in them.
    pub(crate) fn cluster_mut(&mut self) -> &mut Cluster {
        &mut self.cluster
    }

    /// Makes the server one of another Kubernetes. Stored objects stay as they are.
    pub fn set_profile(&mut self, profile: Profile) {
        self.cluster.set_profile(profile);
    }

    /// An object as stored.
    pub fn get(&self, object: &ObjectRef) -> Option<&Value> {
        self.objects.get(object).map(|stored| &stored.value)
    }

    /// All objects of a kind, by namespace and name.
    pub fn list<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = &'s Value> {
        let start = ObjectRef { kind: kind.to_owned(), ..ObjectRef::default() };
        self.objects.range(start..).take_while(move |(key, _)| key.kind == kind).map(|(_, stored)| &stored.value)
    }

    /// Events recorded so far, each with how often, in the order of their first occurrence.
    pub fn events(&self) -> &[(EventRecord, u64)] {
        &self.events
    }

    /// Records an Event; one that is equal to an earlier one is counted there.
    pub fn record(&mut self, event: EventRecord) {
        let known = self.places_of_events.get(&event).and_then(|place| self.events.get_mut(*place));
        match known {
            Some((_, count)) => *count = count.saturating_add(1),
            None => {
                self.places_of_events.insert(event.clone(), self.events.len());
                self.events.push((event, 1));
            }
        }
    }

    /// How many writes there were.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// What changed since this was asked last, in order.
    pub fn take_changes(&mut self) -> Vec<Trigger> {
        std::mem::take(&mut self.changes)
    }

    /// Stores an object as it was found in some cluster, whatever the rules. One without a UID gets the one that references
    /// to it are made with; without a status, too, it is a new one and gets its defaults. Owners that are not given are
    /// taken to exist, other than Pods and PodGroups.
    pub fn seed(&mut self, mut value: Value, now: Time) {
        let key = key_of(&value);
        if text(&value, &["metadata", "uid"]).is_empty() && value.get("status").is_none_or(Value::is_null) {
            self.prepare_create(&mut value, now);
        }
        if text(&value, &["metadata", "uid"]).is_empty() {
            set(&mut value, &["metadata", "uid"], json!(derive::uid(&key.kind, &key.namespace, &key.name)));
        }
        if text(&value, &["metadata", "creationTimestamp"]).is_empty() {
            set(&mut value, &["metadata", "creationTimestamp"], now_text(now));
        }
        let references = value.pointer("/metadata/ownerReferences").and_then(Value::as_array);
        for owner in references.into_iter().flatten() {
            if !matches!(text(owner, &["kind"]), "Pod" | "PodGroup") {
                self.uids.insert(text(owner, &["uid"]).to_owned());
            }
        }
        self.commit(&key, value, now);
    }

    /// Takes UIDs to be those of objects that exist and are not given.
    pub(crate) fn take_as_given(&mut self, uids: impl IntoIterator<Item = String>) {
        for uid in uids {
            self.unseen.insert(uid.clone());
            self.uids.insert(uid);
        }
    }

    /// Whether an object of a UID is taken to exist without being given.
    pub(crate) fn is_unseen(&self, uid: &str) -> bool {
        self.unseen.contains(uid)
    }

    /// Takes an object out of the store as if it had never been there.
    pub(crate) fn forget(&mut self, key: &ObjectRef) {
        self.objects.remove(key);
        self.cluster.delete(key);
    }

    /// Stores an object as it is to be, whatever the rules.
    fn commit(&mut self, key: &ObjectRef, mut value: Value, now: Time) {
        let happened = if self.objects.contains_key(key) { Happened::Modified } else { Happened::Added };
        self.remember(happened, key, &value, now);
        self.revision = self.revision.saturating_add(1);
        set(&mut value, &["metadata", "resourceVersion"], json!(self.revision.to_string()));
        self.index(key, &value);
        let before = self.cluster.get(key).map(Box::new);
        let after = typed(&value);
        if let Some(object) = after.clone() {
            self.cluster.apply(object);
        }
        let stored = self.objects.entry(key.clone()).or_insert(Stored { value: Value::Null, applied: BTreeMap::new() });
        stored.value = value;
        if before.is_some() || after.is_some() {
            self.changes.push(Trigger { before, after: after.map(Box::new) });
        }
    }

    /// Takes an object out of the store.
    fn remove(&mut self, key: &ObjectRef, now: Time) {
        let Some(stored) = self.objects.remove(key) else { return };
        self.remember(Happened::Deleted, key, &stored.value, now);
        self.revision = self.revision.saturating_add(1);
        for uid in owners(&stored.value) {
            if let Some(objects) = self.dependents.get_mut(&uid) {
                objects.remove(key);
            }
        }
        let uid = text(&stored.value, &["metadata", "uid"]).to_owned();
        self.uids.remove(&uid);
        self.suspects.extend(self.dependents.remove(&uid).unwrap_or_default());
        let before = self.cluster.get(key).map(Box::new);
        self.cluster.delete(key);
        if before.is_some() {
            self.changes.push(Trigger { before, after: None });
        }
    }

    fn index(&mut self, key: &ObjectRef, value: &Value) {
        self.uids.insert(text(value, &["metadata", "uid"]).to_owned());
        if let Some(stored) = self.objects.get(key) {
            for uid in owners(&stored.value) {
                if let Some(objects) = self.dependents.get_mut(&uid) {
                    objects.remove(key);
                }
            }
        }
        for uid in owners(value) {
            if !self.uids.contains(&uid) {
                self.suspects.insert(key.clone());
            }
            self.dependents.entry(uid).or_default().insert(key.clone());
        }
    }

    /// A UID that no object had before.
    fn new_uid(&self, key: &ObjectRef) -> String {
        derive::uid(&key.kind, &key.namespace, &format!("{}@{}", key.name, self.revision))
    }
}

/// The typed form, where the kind has one.
fn typed(value: &Value) -> Option<Object> {
    read_object(value.clone()).object
}

/// UIDs of an object's owners.
fn owners(value: &Value) -> Vec<String> {
    let references = value.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    references.into_iter().flatten().map(|owner| text(owner, &["uid"]).to_owned()).collect()
}

/// A text in an object; empty where there is none.
fn text<'v>(value: &'v Value, path: &[&str]) -> &'v str {
    let found = path.iter().try_fold(value, |value, name| value.get(*name));
    found.and_then(Value::as_str).unwrap_or_default()
}

/// Sets a field, making the objects on the way.
fn set(value: &mut Value, path: &[&str], to: Value) {
    let mut place = value;
    for name in path {
        if !place.is_object() {
            *place = json!({});
        }
        let Some(map) = place.as_object_mut() else { return };
        place = map.entry(*name).or_insert(Value::Null);
    }
    *place = to;
}

/// Removes a field.
fn unset(value: &mut Value, path: &[&str]) {
    let Some((last, parents)) = path.split_last() else { return };
    let parent = parents.iter().try_fold(value, |value, name| value.get_mut(*name));
    if let Some(map) = parent.and_then(Value::as_object_mut) {
        map.remove(*last);
    }
}

/// The key of an object in JSON.
fn key_of(value: &Value) -> ObjectRef {
    let is_source = text(value, &["apiVersion"]) == SOURCE_API_VERSION;
    ObjectRef {
        kind: if is_source { SOURCE_KIND } else { text(value, &["kind"]) }.to_owned(),
        namespace: text(value, &["metadata", "namespace"]).to_owned(),
        name: text(value, &["metadata", "name"]).to_owned(),
    }
}

/// Whether somebody asked for the object to be deleted.
fn is_deleting(value: &Value) -> bool {
    !text(value, &["metadata", "deletionTimestamp"]).is_empty()
}

/// Whether the server writes times as it does.
fn now_text(now: Time) -> Value {
    Value::String(now.to_string())
}
