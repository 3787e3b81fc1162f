//! An API server's write rules around the facts: versions, finalizers, owners, defaults, admission.
//!
//! The facts are the store. JSON is made where somebody asks for it; objects of kinds without a type are kept as they were sent.
//!
//! Not modelled: authorisation, quota, conversion between served versions other than on entry, most of validation.

mod admit;
mod apply;
mod defaults;
mod events;
mod garbage;
mod item;
mod judge;
mod merge;
mod request;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::meta::ObjectMeta;
use crate::api::object::Object;
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::decision::{Time, Trigger};
use crate::derive;
use crate::finding::ObjectRef;
use crate::profile::Profile;
use crate::validate::as_served;
use events::Events;
use item::{Item, Other};

pub use request::Refused;

/// The store and its rules.
#[derive(Clone, Debug)]
pub struct Server {
    cluster: Cluster,
    /// Objects that are no facts.
    others: BTreeMap<ObjectRef, Box<Other>>,
    /// What each field manager applied last.
    applied: BTreeMap<ObjectRef, BTreeMap<String, Value>>,
    revision: u64,
    changes: Vec<Trigger>,
    /// Objects by the UID of each of their owners.
    dependents: BTreeMap<String, BTreeSet<ObjectRef>>,
    /// UIDs of all objects.
    uids: BTreeSet<String>,
    /// Those of objects that are taken to exist and are not given.
    unseen: BTreeSet<String>,
    /// Names that objects had which are gone.
    reborn: BTreeSet<ObjectRef>,
    /// Objects whose owners may be gone.
    suspects: BTreeSet<ObjectRef>,
    events: Events,
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
            cluster: Cluster::new(profile),
            others: BTreeMap::new(),
            applied: BTreeMap::new(),
            revision: 0,
            changes: Vec::new(),
            dependents: BTreeMap::new(),
            uids: BTreeSet::new(),
            unseen: BTreeSet::new(),
            reborn: BTreeSet::new(),
            suspects: BTreeSet::new(),
            events: Events::default(),
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

    fn remember(&mut self, happened: Happened, object: &ObjectRef, item: &Item, at: Time) {
        if let Some(history) = &mut self.history {
            history.push(Entry { at, happened, object: object.clone(), value: item.write() });
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
    pub fn get(&self, object: &ObjectRef) -> Option<Value> {
        let version = self.cluster.profile().version;
        self.item(object).map(|item| as_served(item.write(), version))
    }

    /// All objects of a kind, by namespace and name.
    pub fn list(&self, kind: &str) -> impl Iterator<Item = Value> {
        let start = ObjectRef { kind: kind.to_owned(), ..ObjectRef::default() };
        let others = self.others.range(&start..).map(|(key, _)| key.clone()).take_while(|key| key.kind == start.kind);
        let mut keys: Vec<ObjectRef> = self.cluster.keys(kind).chain(others).collect();
        keys.arrange();
        keys.into_iter().filter_map(|key| self.get(&key))
    }

    /// All objects in a namespace.
    pub(crate) fn keys_in(&self, namespace: &str) -> Vec<ObjectRef> {
        let facts = self.cluster.objects();
        let all = facts.iter().map(Object::reference).chain(self.others.keys().cloned());
        all.filter(|key| key.namespace == namespace).collect()
    }

    /// An object's metadata.
    pub fn metadata(&self, object: &ObjectRef) -> Option<&ObjectMeta> {
        self.cluster.metadata(object).or_else(|| Some(&self.others.get(object)?.metadata))
    }

    fn item(&self, object: &ObjectRef) -> Option<Item> {
        let fact = self.cluster.get(object).map(Item::Known);
        fact.or_else(|| self.others.get(object).cloned().map(Item::Other))
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
    pub fn seed(&mut self, value: Value, now: Time) {
        self.take_in(Item::read(value), now);
    }

    /// The same for an object that was read.
    pub fn seed_object(&mut self, object: Object, now: Time) {
        self.take_in(Item::Known(object), now);
    }

    fn take_in(&mut self, mut item: Item, now: Time) {
        if item.metadata().uid.is_empty() && !item.has_status() {
            self.prepare_create(&mut item, now);
        }
        let key = item.key();
        // What is shared with those who gave it stays shared where it is complete.
        if item.metadata().uid.is_empty() {
            item.metadata_mut().uid = derive::uid(&key.kind, &key.namespace, &key.name);
        }
        if item.metadata().creation_timestamp.is_empty() {
            item.metadata_mut().creation_timestamp = now.to_string();
        }
        let given = item.metadata().resource_version.parse().ok();
        let owners = item.metadata().owner_references.iter();
        let others = owners.filter(|owner| !matches!(owner.kind.as_str(), "Pod" | "PodGroup"));
        self.uids.extend(others.map(|owner| owner.uid.clone()));
        match given {
            Some(version) => {
                self.revision = self.revision.saturating_add(1).max(version);
                self.keep(&key, item, now);
            }
            None => self.commit(&key, item, now),
        }
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
        self.cluster.delete(key);
    }

    /// Stores an object as it is to be, whatever the rules.
    fn commit(&mut self, key: &ObjectRef, mut item: Item, now: Time) {
        self.revision = self.revision.saturating_add(1);
        item.metadata_mut().resource_version = self.revision.to_string();
        self.keep(key, item, now);
    }

    /// Stores an object with the version that it has.
    fn keep(&mut self, key: &ObjectRef, item: Item, now: Time) {
        if self.history.is_some() {
            let happened = if self.metadata(key).is_some() { Happened::Modified } else { Happened::Added };
            self.remember(happened, key, &item, now);
        }
        self.index(key, item.metadata());
        match item {
            Item::Known(object) => {
                let after = Some(Box::new(object.clone()));
                let before = self.cluster.replace(object).map(Box::new);
                self.changes.push(Trigger { before, after });
            }
            Item::Other(other) => drop(self.others.insert(key.clone(), other)),
        }
    }

    /// Takes an object out of the store.
    fn remove(&mut self, key: &ObjectRef, now: Time) {
        let fact = self.cluster.take(key).map(Item::Known);
        let Some(item) = fact.or_else(|| self.others.remove(key).map(Item::Other)) else { return };
        self.reborn.insert(key.clone());
        self.remember(Happened::Deleted, key, &item, now);
        self.applied.remove(key);
        self.revision = self.revision.saturating_add(1);
        let metadata = item.metadata();
        self.disown(key, metadata.owner_references.iter().map(|owner| owner.uid.as_str()));
        self.uids.remove(&metadata.uid);
        self.suspects.extend(self.dependents.remove(&metadata.uid).unwrap_or_default());
        if let Item::Known(object) = item {
            self.changes.push(Trigger { before: Some(Box::new(object)), after: None });
        }
    }

    /// Keeps track of UIDs and owners.
    fn index(&mut self, key: &ObjectRef, metadata: &ObjectMeta) {
        let before = self.metadata(key);
        if before
            .is_some_and(|before| before.uid == metadata.uid && before.owner_references == metadata.owner_references)
        {
            return;
        }
        let owners: Vec<String> =
            before.into_iter().flat_map(|before| &before.owner_references).map(|owner| owner.uid.clone()).collect();
        self.disown(key, owners.iter().map(String::as_str));
        self.uids.insert(metadata.uid.clone());
        for owner in &metadata.owner_references {
            if !self.uids.contains(&owner.uid) {
                self.suspects.insert(key.clone());
            }
            self.dependents.entry(owner.uid.clone()).or_default().insert(key.clone());
        }
    }

    fn disown<'o>(&mut self, key: &ObjectRef, owners: impl Iterator<Item = &'o str>) {
        for uid in owners {
            if let Some(objects) = self.dependents.get_mut(uid) {
                objects.remove(key);
                if objects.is_empty() {
                    self.dependents.remove(uid);
                }
            }
        }
    }

    /// A UID that no object had before: the one that follows from the name, if that is the first of its name.
    fn new_uid(&self, key: &ObjectRef) -> String {
        let first = derive::uid(&key.kind, &key.namespace, &key.name);
        if !self.reborn.contains(key) && !self.uids.contains(&first) && !self.dependents.contains_key(&first) {
            return first;
        }
        derive::uid(&key.kind, &key.namespace, &format!("{}@{}", key.name, self.revision))
    }
}
