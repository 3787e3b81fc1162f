//! Which copies somebody else changed, and which are missing because they are being replaced: for whoever counts.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::claim::ResourceClaimTemplate;
use crate::api::object::Object;
use crate::cluster::Key;
use crate::controllers::template_sync::is_copy;
use crate::decision::{Action, Cause, Decision, Time, Trigger};

/// Copies by namespace and name.
#[derive(Clone, Debug, Default)]
pub(super) struct Upkeep {
    /// Changed or gone since they were as they should be, and not because that was decided.
    touched: BTreeSet<Key>,
    /// To be replaced, with the time of that decision.
    replaced: BTreeMap<Key, Time>,
    /// To be put back because somebody else touched them; whether they were gone.
    repaired: BTreeMap<Key, bool>,
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
    pub(super) fn cause(&mut self, key: &Key, decision: &Decision) -> Cause {
        let creates = decision.actions.iter().any(|action| matches!(action, Action::Create { .. }));
        let patches = decision.actions.iter().any(|action| matches!(action, Action::Patch(_)));
        match (creates || patches, self.replaced.get(key)) {
            (false, _) => Cause::Usual,
            (true, Some(&since)) => Cause::Replacement { since },
            (true, None) if self.touched.contains(key) => {
                self.repaired.insert(key.clone(), creates);
                Cause::Drift
            }
            (true, None) => Cause::Usual,
        }
    }

    /// A copy is as it should be, or nobody wants one. Gives whether it was gone, where it was put back.
    pub(super) fn rests(&mut self, key: &Key) -> Option<bool> {
        self.touched.remove(key);
        self.replaced.remove(key);
        self.repaired.remove(key)
    }
}

fn is_alike(before: &ResourceClaimTemplate, after: &ResourceClaimTemplate) -> bool {
    let (one, other) = (&before.metadata, &after.metadata);
    (&one.uid, &one.labels, &one.annotations, &one.owner_references)
        == (&other.uid, &other.labels, &other.annotations, &other.owner_references)
        && before.spec == after.spec
}
