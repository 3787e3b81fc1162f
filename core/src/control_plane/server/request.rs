//! The requests: create, update, patch, delete, bind.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;

use super::item::{Item, field};
use super::{Happened, Server, apply, defaults, merge};
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::api::read::Rest;
use crate::api::source::SOURCE_KIND;
use crate::decision::{Merging, Patch, Time};
use crate::derive;
use crate::finding::ObjectRef;
use crate::scheduler::volumes::Volumes;

/// A request that the server does not carry out.
#[derive(Clone, PartialEq, Eq, Debug, Error, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[error("{message}")]
pub struct Refused {
    /// HTTP status.
    pub status: u16,
    /// The reason for programs: `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`, `Forbidden`.
    pub reason: &'static str,
    /// The sentence for people.
    pub message: String,
}

impl Refused {
    /// Whether trying again on fresh facts may succeed.
    pub fn is_race(&self) -> bool {
        matches!(self.reason, "Conflict" | "NotFound" | "AlreadyExists")
    }

    pub(super) fn invalid(key: &ObjectRef, problem: &str) -> Self {
        let (kind, group) = (kind(key), group(key));
        let kind = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        let message = format!("{kind} \"{}\" is invalid: {problem}", key.name);
        Self { status: 422, reason: "Invalid", message }
    }

    pub(super) fn forbidden(key: &ObjectRef, problem: &str) -> Self {
        let message = format!("{} \"{}\" is forbidden: {problem}", resource(key), key.name);
        Self { status: 403, reason: "Forbidden", message }
    }

    /// The kind is one of a feature that is off.
    pub(super) fn not_served() -> Self {
        let message = "the server could not find the requested resource".to_owned();
        Self { status: 404, reason: "NotFound", message }
    }

    pub(super) fn not_found(key: &ObjectRef) -> Self {
        let message = format!("{} \"{}\" not found", resource(key), key.name);
        Self { status: 404, reason: "NotFound", message }
    }

    fn exists(key: &ObjectRef) -> Self {
        let message = format!("{} \"{}\" already exists", resource(key), key.name);
        Self { status: 409, reason: "AlreadyExists", message }
    }

    fn conflict(key: &ObjectRef) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} \"{}\": the object has been modified; please apply your changes to the latest version and try again",
            resource(key),
            key.name
        );
        Self { status: 409, reason: "Conflict", message }
    }
}

/// The kind as the server calls it.
pub(super) fn kind(key: &ObjectRef) -> &str {
    if key.kind == SOURCE_KIND { "ClusterResourceClaimTemplate" } else { &key.kind }
}

/// The resource of a kind, in plural with its group.
fn resource(key: &ObjectRef) -> String {
    let (kind, group) = (kind(key).to_lowercase(), group(key));
    let plural = if kind.ends_with('s') { format!("{kind}es") } else { format!("{kind}s") };
    if group.is_empty() { plural } else { format!("{plural}.{group}") }
}

/// API group of a kind.
fn group(key: &ObjectRef) -> &'static str {
    match key.kind.as_str() {
        "PodGroup" | "Workload" => "scheduling.k8s.io",
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" => "apps",
        "Job" | "CronJob" => "batch",
        "JobSet" => "jobset.x-k8s.io",
        "LeaderWorkerSet" => "leaderworkerset.x-k8s.io",
        "ResourceClaim"
        | "ResourceClaimTemplate"
        | "ClusterResourceClaimTemplate"
        | "DeviceClass"
        | "ResourceSlice"
        | "DeviceTaintRule"
        | "ResourcePoolStatusRequest" => "resource.k8s.io",
        SOURCE_KIND => "apportion.dev",
        _ => "",
    }
}

impl Server {
    /// Creates an object, and gives the key that it is stored under.
    ///
    /// # Errors
    ///
    /// [`Refused`] when the name is taken or the object breaks a rule.
    pub fn create(&mut self, value: Value, now: Time) -> Result<ObjectRef, Refused> {
        self.create_item(Item::read(value), now)
    }

    /// The same for an object that was read.
    ///
    /// # Errors
    ///
    /// As [`Server::create`].
    pub fn create_object(&mut self, object: Object, now: Time) -> Result<ObjectRef, Refused> {
        self.create_item(Item::Known(object), now)
    }

    pub(super) fn create_item(&mut self, mut item: Item, now: Time) -> Result<ObjectRef, Refused> {
        self.name(&mut item);
        let key = item.key();
        if self.metadata(&key).is_some() {
            return Err(Refused::exists(&key));
        }
        self.prepare_create(&mut item, now);
        let priority = self.give_priority(&key, &mut item);
        if let Err(refused) = priority.and_then(|()| self.admit_create(&key, &item)) {
            self.remember(Happened::Refused, &key, &item, now);
            return Err(refused);
        }
        let uid = self.new_uid(&key);
        let metadata = item.metadata_mut();
        metadata.uid = uid;
        metadata.creation_timestamp = now.to_string();
        if key.kind == "Job" {
            let mut value = item.write();
            defaults::job(&mut value);
            item = Item::read(value);
        }
        self.commit(&key, item, now);
        Ok(key)
    }

    /// Gives an object with `generateName` a name that is free.
    fn name(&self, item: &mut Item) {
        let prefix = item.metadata().generate_name.clone();
        if prefix.is_empty() || !item.metadata().name.is_empty() {
            return;
        }
        let mut key = item.key();
        for attempt in 0..u16::MAX {
            let count = format!("{}-{attempt}", self.revision);
            key.name = derive::generated_name(&prefix, &[&key.kind, &key.namespace, &prefix, &count]);
            if self.metadata(&key).is_none() {
                break;
            }
        }
        item.metadata_mut().name = key.name;
    }

    /// Replaces an object, or its status. A `resourceVersion` in the new object must be the current one.
    ///
    /// # Errors
    ///
    /// [`Refused`] when there is no such object, it has changed since, or the new one breaks a rule.
    pub fn update(&mut self, value: Value, status: bool, now: Time) -> Result<(), Refused> {
        self.update_item(Item::read(value), status, now)
    }

    /// The same for an object that was read.
    ///
    /// # Errors
    ///
    /// As [`Server::update`].
    pub fn update_object(&mut self, object: Object, status: bool, now: Time) -> Result<(), Refused> {
        self.update_item(Item::Known(object), status, now)
    }

    fn update_item(&mut self, item: Item, status: bool, now: Time) -> Result<(), Refused> {
        let key = item.key();
        let old = self.current(&key, &item.metadata().uid, &item.metadata().resource_version)?;
        if status {
            let mut changed = old.clone();
            changed.take_status(&item);
            self.store(&key, &old, changed, now)
        } else {
            self.store(&key, &old, with_what_stays(item, &old), now)
        }
    }

    /// Changes some fields of an object.
    ///
    /// # Errors
    ///
    /// As [`Server::update`].
    pub fn patch(&mut self, patch: &Patch, now: Time) -> Result<(), Refused> {
        let key = &patch.object;
        let old = self.current(key, &patch.uid, &patch.resource_version)?;
        let status = old.status().filter(|_| patch.status).map(|status| field("status", status));
        let is_status = status.is_some();
        let mut value = status.unwrap_or_else(|| old.write());
        let fields = &patch.fields;
        match &patch.merging {
            Merging::Merge => merge::merge(&mut value, fields),
            Merging::Strategic => merge::strategic(&mut value, fields),
            Merging::Apply(manager) => {
                let applied = self.applied.entry(key.clone()).or_default();
                let before = applied.insert(manager.clone(), fields.clone());
                apply::apply(&mut value, before.as_ref(), fields);
            }
        }
        let changed = if is_status || patch.status {
            let mut changed = old.clone();
            changed.set_status(value.get_mut("status").map(Value::take).unwrap_or_default());
            changed
        } else {
            with_what_stays(Item::read(value), &old)
        };
        self.store(key, &old, changed, now)
    }

    /// The stored object, if it is the one meant.
    pub(super) fn current(&self, key: &ObjectRef, uid: &str, version: &str) -> Result<Item, Refused> {
        let Some(item) = self.item(key) else { return Err(Refused::not_found(key)) };
        let metadata = item.metadata();
        let differs = |wanted: &str, is: &str| !wanted.is_empty() && wanted != is;
        if differs(uid, &metadata.uid) || differs(version, &metadata.resource_version) {
            return Err(Refused::conflict(key));
        }
        Ok(item)
    }

    /// Stores another version of an object, if the rules allow it.
    pub(super) fn store(&mut self, key: &ObjectRef, old: &Item, mut item: Item, now: Time) -> Result<(), Refused> {
        self.prepare_update(old, &mut item, now);
        self.admit_update(key, old, &item)?;
        item.metadata_mut().resource_version.clone_from(&old.metadata().resource_version);
        if item == *old {
            return Ok(());
        }
        let metadata = item.metadata();
        let ends = metadata.is_deleting() && metadata.finalizers.is_empty() && !item.keeps_running();
        if ends {
            self.remove(key, now)
        } else {
            self.commit(key, item, now)
        }
        Ok(())
    }

    /// Asks for an object to be deleted, with background propagation. A Pod with a node stays until its kubelet has ended it,
    /// which a deletion with a grace period of 0 says.
    ///
    /// # Errors
    ///
    /// [`Refused`] when there is no such object, or another UID is meant.
    pub fn delete(&mut self, key: &ObjectRef, uid: &str, grace: Option<i64>, now: Time) -> Result<(), Refused> {
        self.delete_version(key, uid, "", grace, now)
    }

    /// The same for an object that must have this version; an empty one is any.
    ///
    /// # Errors
    ///
    /// [`Refused`] when there is no such object, or another UID or version is meant.
    pub fn delete_version(
        &mut self,
        key: &ObjectRef,
        uid: &str,
        version: &str,
        grace: Option<i64>,
        now: Time,
    ) -> Result<(), Refused> {
        let mut item = self.current(key, uid, version)?;
        let grace = match &item {
            Item::Known(Object::Pod(pod)) => grace_of(pod, grace),
            Item::Known(_) | Item::Other(_) => 0,
        };
        if grace == 0 && item.metadata().finalizers.is_empty() {
            self.remove(key, now);
            return Ok(());
        }
        let was_deleting = item.metadata().is_deleting();
        if was_deleting && grace != 0 {
            return Ok(());
        }
        item.metadata_mut().deletion_timestamp = now.plus_seconds(grace).to_string();
        item.set_number("deletionGracePeriodSeconds", grace);
        let generation = item.number("generation");
        if generation > 0 && !was_deleting {
            item.set_number("generation", generation.saturating_add(1));
        }
        self.commit(key, item, now);
        Ok(())
    }

    /// Places a Pod on a node: sets `nodeName` and the condition, and forgets the nomination.
    ///
    /// # Errors
    ///
    /// [`Refused`] when there is no such Pod, or it has a node, or is being deleted.
    pub fn bind(&mut self, key: &ObjectRef, uid: &str, node: &str, now: Time) -> Result<(), Refused> {
        let mut item = self.current(key, uid, "")?;
        let Item::Known(Object::Pod(pod)) = &mut item else { return Err(Refused::not_found(key)) };
        if !pod.spec.node_name.is_empty() || pod.metadata.is_deleting() {
            return Err(Refused::conflict(key));
        }
        let pod = Arc::make_mut(pod);
        let volumes = self.volumes_of(pod, node);
        let namespace = pod.metadata.namespace.clone();
        node.clone_into(&mut pod.spec.node_name);
        pod.status.nominated_node_name.clear();
        let condition = json!({
            "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now.to_string(),
            "reason": null, "message": null, "observedGeneration": null,
        });
        merge::merge_list(&mut pod.status.conditions, &[condition], "type");
        self.commit(key, item, now);
        for (claim, volume) in volumes {
            self.bind_volume(&namespace, &claim, &volume, now);
        }
        Ok(())
    }

    /// The claims of a Pod that get a volume that there is with a node, and which.
    fn volumes_of(&self, pod: &Pod, node: &str) -> Vec<(String, String)> {
        let Some(node) = self.cluster.nodes().get(node) else { return Vec::new() };
        let volumes = Volumes::of(&self.cluster, pod);
        let chosen = volumes.chosen(node).unwrap_or_default();
        chosen.into_iter().map(|(claim, volume)| (claim.to_owned(), volume.to_owned())).collect()
    }

    /// Writes into a claim and a volume that they are each other's.
    fn bind_volume(&mut self, namespace: &str, claim: &str, volume: &str, now: Time) {
        let claim = ObjectRef::new("PersistentVolumeClaim", namespace, claim);
        let Some(Object::PersistentVolumeClaim(mut object)) = self.cluster.get(&claim) else { return };
        let own = Arc::make_mut(&mut object);
        let uid = own.metadata.uid.clone();
        own.metadata.annotations.insert("pv.kubernetes.io/bind-completed".to_owned(), "yes".to_owned());
        set(&mut own.rest, ("spec", "volumeName"), json!(volume));
        set(&mut own.rest, ("status", "phase"), json!("Bound"));
        let volume = ObjectRef::new("PersistentVolume", "", volume);
        if let Some(Object::PersistentVolume(mut object)) = self.cluster.get(&volume) {
            let own = Arc::make_mut(&mut object);
            let owner = json!({ "apiVersion": "v1", "kind": claim.kind, "namespace": namespace, "name": claim.name, "uid": uid });
            set(&mut own.rest, ("spec", "claimRef"), owner);
            set(&mut own.rest, ("status", "phase"), json!("Bound"));
            self.commit(&volume, Item::Known(Object::PersistentVolume(object)), now);
        }
        self.commit(&claim, Item::Known(Object::PersistentVolumeClaim(object)), now);
    }
}

/// Sets a field of a part of an object that is kept as it was written.
fn set(rest: &mut Rest, (part, name): (&str, &str), value: Value) {
    let mut fields = rest.get(part).and_then(Value::as_object).cloned().unwrap_or_default();
    fields.insert(name.to_owned(), value);
    rest.set(part, Value::Object(fields));
}

/// The new version of an object, apart from what no request for the object itself may change.
pub(super) fn with_what_stays(mut item: Item, old: &Item) -> Item {
    let (metadata, kept) = (item.metadata_mut(), old.metadata());
    metadata.uid.clone_from(&kept.uid);
    metadata.creation_timestamp.clone_from(&kept.creation_timestamp);
    metadata.deletion_timestamp.clone_from(&kept.deletion_timestamp);
    for name in ["deletionGracePeriodSeconds", "generation"] {
        match kept.rest.get(name) {
            Some(value) => metadata.rest.set(name, value.clone()),
            None => metadata.rest.remove(name),
        }
    }
    if !matches!(item, Item::Known(Object::Node(_))) {
        item.take_status(old);
    }
    item
}

/// Seconds that a Pod gets to end.
fn grace_of(pod: &Pod, asked: Option<i64>) -> i64 {
    if pod.spec.node_name.is_empty() || pod.is_finished() {
        return 0;
    }
    let own = || pod.spec.rest.get("terminationGracePeriodSeconds").and_then(Value::as_i64).unwrap_or(30);
    asked.unwrap_or_else(own).max(0)
}
