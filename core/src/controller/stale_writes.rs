//! Fencing against stale writes of a previous leader: none may give devices away that are given to somebody else meanwhile.
//!
//! A claim gets its finalizer first, and its devices only once that is known to be written. So a write that gives devices and has
//! not arrived yet is about a claim with the finalizer and without devices, and carries the version that this claim has. A new
//! leader takes the finalizer of all such claims away before anything else: that changes their version, and the stale write is
//! refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::in_flight::WRITE_TIMEOUT;
use super::{Lane, Task};
use crate::api::claim::ResourceClaim;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cluster::entries::key_of;
use crate::cluster::{Cluster, Key};
use crate::decision::{Action, CLAIM_FINALIZER, Decision, Time, Trigger};
use crate::finding::ObjectRef;

/// The kind that such writes are about.
pub(super) const KIND: &str = "ResourceClaim";

/// Claims that a stale write may still give devices to, each with the version that the write would carry.
#[derive(Clone, Debug, Default)]
pub(super) struct StaleWrites {
    versions: BTreeMap<Key, String>,
    /// After this no write can arrive any more; `None` before anything was decided.
    end: Option<Time>,
    /// Whether the claims are to be handed out.
    is_news: bool,
}

impl StaleWrites {
    /// Looks for such claims, the first time that something is to be decided. Claims that only other schedulers' Pods use are
    /// theirs.
    pub(super) fn begin(&mut self, cluster: &Cluster, now: Time, is_ours: impl Fn(&Pod) -> bool) {
        if self.end.is_some() {
            return;
        }
        self.end = Some(now.plus_millis(WRITE_TIMEOUT));
        for (key, claim) in cluster.claims() {
            let mut users = cluster.pods_of_claim(key).peekable();
            let is_free = users.peek().is_none();
            if may_get_devices(claim) && (is_free || users.any(|pod| is_ours(pod))) {
                self.versions.insert(key.clone(), claim.metadata.resource_version.clone());
            }
        }
        self.is_news = !self.versions.is_empty();
    }

    /// Whether devices must not be given away yet.
    pub(super) fn are_awaited(&self) -> bool {
        !self.versions.is_empty()
    }

    /// The claims, once.
    pub(super) fn due(&mut self) -> Vec<Task> {
        if !std::mem::take(&mut self.is_news) {
            return Vec::new();
        }
        let task = |(namespace, name): &Key| Task {
            object: ObjectRef::new(KIND, &**namespace, &**name),
            lane: Lane::Urgent,
            after_millis: 0,
        };
        self.versions.keys().map(task).collect()
    }

    /// What keeps a stale write from being taken.
    pub(super) fn reconcile(&mut self, cluster: &Cluster, key: &Key, now: Time) -> Decision {
        if self.end.is_some_and(|end| now >= end) {
            self.versions.clear();
        }
        let known = cluster.claims().get(key).filter(|_| self.versions.contains_key(key));
        let Some(known) = known else { return Decision::none() };
        let mut claim = ResourceClaim::clone(known);
        claim.metadata.finalizers.retain(|finalizer| finalizer != CLAIM_FINALIZER);
        let action = Action::Update(Box::new(Object::ResourceClaim(Arc::new(claim))));
        Decision { wake_up: self.end, ..Decision::of(vec![action]) }
    }

    /// Takes a change into account: a claim with another version is out of a stale write's reach. True with the last one.
    pub(super) fn note(&mut self, trigger: &Trigger) -> bool {
        let Some(Object::ResourceClaim(claim)) = trigger.latest() else { return false };
        let key = key_of(&claim.metadata);
        let is_same = trigger.after.is_some() && self.versions.get(&key) == Some(&claim.metadata.resource_version);
        !is_same && self.versions.remove(&key).is_some() && self.versions.is_empty()
    }
}

fn may_get_devices(claim: &ResourceClaim) -> bool {
    claim.status.allocation.is_none() && claim.metadata.has_finalizer(CLAIM_FINALIZER)
}
