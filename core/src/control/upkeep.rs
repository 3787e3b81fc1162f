//! Which copies somebody else changed, and which are missing because they are being replaced: for whoever counts.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::claim::ResourceClaimTemplate;
use crate::api::object::Object;
use crate::cluster::Key;
use crate::lifecycle::template_sync::is_copy;
use crate::lifecycle::{Action, Cause, Decision, Time, Trigger};

/// Copies by namespace and name.
#[derive(Clone, Debug, Default)]
pub(super) struct Upkeep {
    /// Changed or gone since they were as they should be, and not because that was decided.
    touched: BTreeSet<Key>,
    /// To be replaced, with the time of that decision.
    replaced: BTreeMap<Key, Time>,
}

impl Upkeep {
    /// Something happened.
    pub(super) fn note(&mut self, trigger: &Trigger) {
        let Some(Object::ResourceClaimTemplate(before)) = trigger.before.as_deref() else { return };
        // The same is heard of twice: from the answer to a write, and from the watch.
        if matches!(trigger.after.as_deref(), Some(Object::ResourceClaimTemplate(after)) if is_alike(before, after)) {
            return;
        }
        let key = (before.metadata.namespace.clone(), before.metadata.name.clone());
        if is_copy(before) && !self.replaced.contains_key(&key) {
            self.touched.insert(key);
        }
    }

    /// A copy is taken away to be made again. One that somebody else put in its place is drift.
    pub(super) fn takes_away(&mut self, key: &Key, now: Time) {
        if !self.touched.contains(key) {
            self.replaced.insert(key.clone(), now);
        }
    }

    /// Why a copy is made or changed.
    pub(super) fn cause(&self, key: &Key, decision: &Decision) -> Cause {
        let makes = |action: &Action| matches!(action, Action::Create { .. } | Action::Patch(_));
        match (decision.actions.iter().any(makes), self.replaced.get(key)) {
            (false, _) => Cause::Usual,
            (true, Some(&since)) => Cause::Replacement { since },
            (true, None) if self.touched.contains(key) => Cause::Drift,
            (true, None) => Cause::Usual,
        }
    }

    /// A copy is as it should be, or nobody wants one.
    pub(super) fn rests(&mut self, key: &Key) {
        self.touched.remove(key);
        self.replaced.remove(key);
    }
}

fn is_alike(before: &ResourceClaimTemplate, after: &ResourceClaimTemplate) -> bool {
    let (one, other) = (&before.metadata, &after.metadata);
    (&one.uid, &one.labels, &one.annotations, &one.owner_references)
        == (&other.uid, &other.labels, &other.annotations, &other.owner_references)
        && before.spec == after.spec
}
