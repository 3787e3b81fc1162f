//! The requests: create, update, patch, delete, bind.

use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;

use super::{Happened, Server, apply, defaults, is_deleting, key_of, merge, now_text, set, text, unset};
use crate::decision::{Change, Patch, Time};
use crate::derive;
use crate::finding::ObjectRef;

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

    pub(super) fn invalid(key: &ObjectRef, group: &str, problem: &str) -> Self {
        let kind = if group.is_empty() { key.kind.clone() } else { format!("{}.{group}", key.kind) };
        let message = format!("{kind} \"{}\" is invalid: {problem}", key.name);
        Self { status: 422, reason: "Invalid", message }
    }

    pub(super) fn forbidden(key: &ObjectRef, group: &str, problem: &str) -> Self {
        let message = format!("{} \"{}\" is forbidden: {problem}", resource(key, group), key.name);
        Self { status: 403, reason: "Forbidden", message }
    }

    /// The kind is one of a feature that is off.
    pub(super) fn not_served() -> Self {
        let message = "the server could not find the requested resource".to_owned();
        Self { status: 404, reason: "NotFound", message }
    }

    fn not_found(key: &ObjectRef, group: &str) -> Self {
        let message = format!("{} \"{}\" not found", resource(key, group), key.name);
        Self { status: 404, reason: "NotFound", message }
    }

    fn exists(key: &ObjectRef, group: &str) -> Self {
        let message = format!("{} \"{}\" already exists", resource(key, group), key.name);
        Self { status: 409, reason: "AlreadyExists", message }
    }

    fn conflict(key: &ObjectRef, group: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} \"{}\": the object has been modified; please apply your changes to the latest version and try again",
            resource(key, group),
            key.name
        );
        Self { status: 409, reason: "Conflict", message }
    }
}

/// The resource of a kind, in plural with its group.
fn resource(key: &ObjectRef, group: &str) -> String {
    let kind = key.kind.to_lowercase();
    let plural = if kind.ends_with('s') { format!("{kind}es") } else { format!("{kind}s") };
    if group.is_empty() { plural } else { format!("{plural}.{group}") }
}

/// API group of an object.
pub(super) fn group_of(value: &Value) -> &str {
    text(value, &["apiVersion"]).split_once('/').map_or("", |(group, _)| group)
}

/// Group of a kind that is not at hand.
fn group_of_kind(kind: &str) -> &'static str {
    match kind {
        "PodGroup" | "Workload" => "scheduling.k8s.io",
        "Pod" | "Node" | "Namespace" => "",
        "Job" => "batch",
        _ => "resource.k8s.io",
    }
}

impl Server {
    /// Creates an object, and gives it as stored.
    ///
    /// # Errors
    ///
    /// [`Refused`] when the name is taken or the object breaks a rule.
    pub fn create(&mut self, mut value: Value, now: Time) -> Result<&Value, Refused> {
        let group = group_of(&value).to_owned();
        self.name(&mut value);
        let key = key_of(&value);
        if self.objects.contains_key(&key) {
            return Err(Refused::exists(&key, &group));
        }
        self.prepare_create(&mut value, now);
        let priority = self.give_priority(&key, &mut value);
        if let Err(refused) = priority.and_then(|()| self.admit_create(&key, &value)) {
            self.remember(Happened::Refused, &key, &value, now);
            return Err(refused);
        }
        let uid = self.new_uid(&key);
        set(&mut value, &["metadata", "uid"], json!(uid));
        set(&mut value, &["metadata", "creationTimestamp"], now_text(now));
        if key.kind == "Job" {
            defaults::job(&mut value);
        }
        self.commit(&key, value, now);
        self.objects.get(&key).map(|stored| &stored.value).ok_or_else(|| Refused::not_found(&key, &group))
    }

    /// Gives an object with `generateName` a name that is free.
    fn name(&self, value: &mut Value) {
        let prefix = text(value, &["metadata", "generateName"]).to_owned();
        if prefix.is_empty() || !text(value, &["metadata", "name"]).is_empty() {
            return;
        }
        let mut key = key_of(value);
        for attempt in 0..u16::MAX {
            let count = format!("{}-{attempt}", self.revision);
            key.name = derive::generated_name(&prefix, &[&key.kind, &key.namespace, &prefix, &count]);
            if !self.objects.contains_key(&key) {
                break;
            }
        }
        set(value, &["metadata", "name"], json!(key.name));
    }

    /// Replaces an object, or its status. A `resourceVersion` in the new object must be the current one.
    ///
    /// # Errors
    ///
    /// [`Refused`] when there is no such object, it has changed since, or the new one breaks a rule.
    pub fn update(&mut self, value: Value, status: bool, now: Time) -> Result<(), Refused> {
        let key = key_of(&value);
        self.current(&key, text(&value, &["metadata", "uid"]), text(&value, &["metadata", "resourceVersion"]))?;
        self.store(&key, value, status, now)
    }

    /// Changes some fields of an object.
    ///
    /// # Errors
    ///
    /// As [`Server::update`].
    pub fn patch(&mut self, patch: &Patch, now: Time) -> Result<(), Refused> {
        let key = &patch.object;
        let mut value = self.current(key, &patch.uid, &patch.resource_version)?.clone();
        match &patch.change {
            Change::Merge(fields) => merge::merge(&mut value, fields),
            Change::Strategic(fields) => merge::strategic(&mut value, fields),
            Change::Apply { manager, fields } => {
                let before =
                    self.objects.get_mut(key).and_then(|stored| stored.applied.insert(manager.clone(), fields.clone()));
                apply::apply(&mut value, before.as_ref(), fields);
            }
        }
        self.store(key, value, patch.status, now)
    }

    /// The stored object, if it is the one meant.
    fn current(&self, key: &ObjectRef, uid: &str, version: &str) -> Result<&Value, Refused> {
        let group = group_of_kind(&key.kind);
        let Some(stored) = self.objects.get(key) else { return Err(Refused::not_found(key, group)) };
        let differs =
            |wanted: &str, field: &str| !wanted.is_empty() && wanted != text(&stored.value, &["metadata", field]);
        if differs(uid, "uid") || differs(version, "resourceVersion") {
            return Err(Refused::conflict(key, group));
        }
        Ok(&stored.value)
    }

    /// Keeps what the request may not change, and stores the rest.
    fn store(&mut self, key: &ObjectRef, mut value: Value, status: bool, now: Time) -> Result<(), Refused> {
        let old = self.current(key, "", "")?;
        if status {
            keep_all_but_status(&mut value, old);
        } else {
            for name in ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"] {
                match old.pointer(&format!("/metadata/{name}")) {
                    Some(kept) => set(&mut value, &["metadata", name], kept.clone()),
                    None => unset(&mut value, &["metadata", name]),
                }
            }
            if let Some(kept) = old.get("status").filter(|_| key.kind != "Node") {
                set(&mut value, &["status"], kept.clone());
            }
        }
        self.prepare_update(key, old, &mut value, now);
        self.admit_update(key, old, &value)?;
        set(
            &mut value,
            &["metadata", "resourceVersion"],
            old.pointer("/metadata/resourceVersion").cloned().unwrap_or_default(),
        );
        if value == *old {
            return Ok(());
        }
        let is_free = value.pointer("/metadata/finalizers").and_then(Value::as_array).is_none_or(Vec::is_empty);
        let ends = is_deleting(&value) && is_free && !keeps_running(&value);
        if ends {
            self.remove(key, now)
        } else {
            self.commit(key, value, now)
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
        let mut value = self.current(key, uid, version)?.clone();
        let has_finalizers =
            value.pointer("/metadata/finalizers").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        let grace = if key.kind == "Pod" { grace_of(&value, grace) } else { 0 };
        if grace == 0 && !has_finalizers {
            self.remove(key, now);
            return Ok(());
        }
        let was_deleting = is_deleting(&value);
        if was_deleting && grace != 0 {
            return Ok(());
        }
        set(&mut value, &["metadata", "deletionTimestamp"], now_text(now.plus_seconds(grace)));
        set(&mut value, &["metadata", "deletionGracePeriodSeconds"], json!(grace));
        if let Some(generation) =
            value.pointer("/metadata/generation").and_then(Value::as_i64).filter(|_| !was_deleting)
        {
            set(&mut value, &["metadata", "generation"], json!(generation.saturating_add(1)));
        }
        self.commit(key, value, now);
        Ok(())
    }

    /// Places a Pod on a node: sets `nodeName` and the condition, and forgets the nomination.
    ///
    /// # Errors
    ///
    /// [`Refused`] when there is no such Pod, or it has a node, or is being deleted.
    pub fn bind(&mut self, pod: &ObjectRef, uid: &str, node: &str, now: Time) -> Result<(), Refused> {
        let mut value = self.current(pod, uid, "")?.clone();
        if !text(&value, &["spec", "nodeName"]).is_empty() || is_deleting(&value) {
            return Err(Refused::conflict(pod, ""));
        }
        set(&mut value, &["spec", "nodeName"], json!(node));
        unset(&mut value, &["status", "nominatedNodeName"]);
        let condition = json!({
            "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now.to_string(),
            "reason": null, "message": null, "observedGeneration": null,
        });
        merge::strategic(&mut value, &json!({ "status": { "conditions": [condition] } }));
        self.commit(pod, value, now);
        Ok(())
    }
}

/// A request for the status changes nothing else.
fn keep_all_but_status(value: &mut Value, old: &Value) {
    let (Some(map), Some(old)) = (value.as_object_mut(), old.as_object()) else { return };
    map.retain(|name, _| name == "status" || old.contains_key(name));
    for (name, kept) in old.iter().filter(|(name, _)| *name != "status") {
        if map.get(name) != Some(kept) {
            map.insert(name.clone(), kept.clone());
        }
    }
    map.entry("status").or_insert_with(|| json!({}));
}

/// Seconds that a Pod gets to end.
fn grace_of(pod: &Value, asked: Option<i64>) -> i64 {
    if !keeps_running_on_node(pod) {
        return 0;
    }
    let own = || pod.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_i64).unwrap_or(30);
    asked.unwrap_or_else(own).max(0)
}

fn keeps_running_on_node(pod: &Value) -> bool {
    let has_ended = matches!(text(pod, &["status", "phase"]), "Succeeded" | "Failed");
    !text(pod, &["spec", "nodeName"]).is_empty() && !has_ended
}

/// Whether a terminating object waits for more than finalizers: a Pod waits for its kubelet.
fn keeps_running(value: &Value) -> bool {
    let grace = value.pointer("/metadata/deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
    text(value, &["kind"]) == "Pod" && grace > 0
}
