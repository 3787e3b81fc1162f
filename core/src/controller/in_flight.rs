//! In-writes writes: what they take counts as taken before the API server says so.
//!
//! What is told of an object in the meantime is kept aside. It counts again once it is known what became of the writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::api::claim::ResourceClaim;
use crate::api::object::Object;
use crate::cluster::Cluster;
use crate::decision::{Action, CLAIM_FINALIZER, Decision, Time};
use crate::finding::ObjectRef;
use crate::scheduler::NodeCache;

/// Milliseconds after which a write that nobody answered cannot arrive any more. The API server gives a request up after this
/// time.
pub(super) const WRITE_TIMEOUT: i64 = 60_000;

/// The in-flight writes of a decision.
#[derive(Clone, Debug)]
struct Writes {
    decision: Decision,
    /// Objects that count as if everything had been written.
    taken: BTreeSet<ObjectRef>,
    /// When it was decided first.
    since: Time,
    /// When it was looked at first after nobody had answered: all its writes had been sent by then. `None` while they are carried out.
    sent: Option<Time>,
    /// Whether it is not known what became of a write.
    is_unanswered: bool,
}

/// What is to be done about a decision of which nobody knows what became.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Again {
    /// Everything arrived, or nothing can arrive any more.
    Over,
    /// What is left of it is to be written once more.
    Rest(Decision),
    /// Something else happened to an object; until then the writes may still arrive.
    Wait(Time),
}

/// All decisions that are being carried out, by what they are about.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight {
    decisions: BTreeMap<ObjectRef, Writes>,
    /// Objects as they were told of last, in place of which others count; `None` for those that are not there yet.
    aside: BTreeMap<ObjectRef, Option<Object>>,
}

impl InFlight {
    /// Lets what a decision takes count as taken.
    pub(super) fn start(
        &mut self,
        cluster: &mut Cluster,
        node_cache: &mut NodeCache,
        subject: &ObjectRef,
        decision: &Decision,
        now: Time,
    ) {
        let decision = decision.clone();
        // What is left of an earlier decision does not make its writes known.
        let mut writes = match self.decisions.remove(subject) {
            Some(earlier) => Writes { decision, sent: None, ..earlier },
            None => Writes { decision, taken: BTreeSet::new(), since: now, sent: None, is_unanswered: false },
        };
        for action in &writes.decision.actions {
            let Some(object) = outlook(cluster, action) else { continue };
            let key = object.reference();
            self.aside.entry(key.clone()).or_insert_with(|| cluster.get(&key));
            if let Object::Pod(pod) = &object {
                node_cache.place(pod);
            }
            cluster.apply(object);
            writes.taken.insert(key);
        }
        self.decisions.insert(subject.clone(), writes);
    }

    /// Keeps an object aside that something else counts for. False where it counts itself.
    pub(super) fn keep_aside(&mut self, object: &Object) -> bool {
        let key = object.reference();
        let Some(aside) = self.aside.get_mut(&key) else { return false };
        let is_same = aside.as_ref().is_none_or(|known| known.metadata().uid == object.metadata().uid);
        let is_bound = matches!(object, Object::Pod(pod) if !pod.spec.node_name.is_empty());
        let is_taken = self.decisions.values().any(|writes| writes.taken.contains(&key));
        if !is_same || (is_bound && !is_taken) {
            self.aside.remove(&key);
            return false;
        }
        *aside = Some(object.clone());
        true
    }

    /// An object is gone.
    pub(super) fn forget(&mut self, object: &ObjectRef) {
        self.aside.remove(object);
    }

    /// Whether another decision takes an object.
    pub(super) fn takes(&self, object: &ObjectRef, subject: &ObjectRef) -> bool {
        self.decisions.iter().any(|(other, writes)| other != subject && writes.taken.contains(object))
    }

    /// Whether a decision about this is not over.
    pub(super) fn is_about(&self, subject: &ObjectRef) -> bool {
        self.decisions.contains_key(subject)
    }

    /// Notes that it is not known what became of a decision. False where that does not matter, because it takes nothing.
    pub(super) fn lose_sight(&mut self, subject: &ObjectRef) -> bool {
        let writes = self.decisions.get_mut(subject).filter(|writes| !writes.taken.is_empty());
        writes.map(|writes| writes.is_unanswered = true).is_some()
    }

    /// Whether it is not known what became of a decision.
    pub(super) fn is_unanswered(&self, subject: &ObjectRef) -> bool {
        self.decisions.get(subject).is_some_and(|writes| writes.is_unanswered)
    }

    /// What to do about such a decision.
    ///
    /// Its writes may still arrive, so that nothing else may be decided meanwhile: devices could be given away twice. They are
    /// repeated as they were, and the API server takes each no more than once. A repetition is a write that may arrive late as well,
    /// therefore nothing is repeated for ever.
    pub(super) fn again(&mut self, cluster: &Cluster, subject: &ObjectRef, now: Time) -> Again {
        let Some(writes) = self.decisions.get_mut(subject) else { return Again::Over };
        let end = writes.sent.get_or_insert(now).plus_millis(WRITE_TIMEOUT);
        if now >= end {
            return Again::Over;
        }
        let Some(writes) = self.decisions.get(subject) else { return Again::Over };
        let mut rest = Decision::none();
        for action in &writes.decision.actions {
            match self.left_of(cluster, action) {
                Left::All(action) => rest.actions.push(*action),
                Left::Nothing => {}
                Left::Unclear => return Again::Wait(end),
            }
        }
        let is_write = |action: &Action| !matches!(action, Action::Record(_));
        match rest.actions.iter().any(is_write) {
            false => Again::Over,
            true if now >= writes.since.plus_millis(WRITE_TIMEOUT) => Again::Wait(end),
            true => Again::Rest(rest),
        }
    }

    /// What is left of a write, by what is known of its object.
    fn left_of(&self, cluster: &Cluster, action: &Action) -> Left {
        let aside = |key: &ObjectRef| self.aside.get(key).and_then(Option::as_ref);
        match action {
            Action::Bind { pod, uid, node } => match aside(pod) {
                Some(Object::Pod(known)) if known.metadata.uid == *uid && !known.metadata.is_deleting() => {
                    match known.spec.node_name.as_str() {
                        "" => Left::All(Box::new(action.clone())),
                        name if name == node => Left::Nothing,
                        _ => Left::Unclear,
                    }
                }
                _ => Left::Unclear,
            },
            Action::Update(object) | Action::UpdateStatus(object) => {
                let Object::ResourceClaim(wanted) = &**object else { return Left::Nothing };
                if wanted.status.allocation.is_none() {
                    return Left::Nothing;
                }
                match aside(&object.reference()) {
                    Some(Object::ResourceClaim(known)) if known.metadata.is_deleting() => Left::Unclear,
                    Some(Object::ResourceClaim(known)) => left_of_claim(action, wanted, known),
                    _ => Left::Unclear,
                }
            }
            Action::Patch(patch) => {
                // Written twice it says the same.
                let known = aside(&patch.object).cloned().or_else(|| cluster.get(&patch.object));
                let Some(known) = known else { return Left::Nothing };
                let mut patch = patch.clone();
                patch.resource_version.clone_from(&known.metadata().resource_version);
                Left::All(Box::new(Action::Patch(patch)))
            }
            Action::Record(_) => Left::All(Box::new(action.clone())),
            Action::Create { .. } | Action::Delete { .. } => Left::Nothing,
        }
    }

    /// Ends a decision: objects count as they are known. Gives those, and what counted for them before.
    ///
    /// A Pod that was placed counts as placed until it is told of, because nothing is told of it by the answer to that write.
    pub(super) fn end(&mut self, subject: &ObjectRef, was_done: bool) -> Vec<(ObjectRef, Option<Object>)> {
        let Some(writes) = self.decisions.remove(subject) else { return Vec::new() };
        let is_bound = |key: &ObjectRef| {
            let binds = |action: &Action| matches!(action, Action::Bind { pod, .. } if pod == key);
            was_done && writes.decision.actions.iter().any(binds)
        };
        let is_awaited =
            |known: &Option<Object>| !matches!(known, Some(Object::Pod(pod)) if !pod.spec.node_name.is_empty());
        let mut over = Vec::new();
        for key in &writes.taken {
            if !self.aside.get(key).is_some_and(|known| is_bound(key) && is_awaited(known)) {
                over.extend(self.aside.remove(key).map(|known| (key.clone(), known)));
            }
        }
        over
    }
}

/// What is left of a write.
enum Left {
    All(Box<Action>),
    Nothing,
    /// Its object is not what it was, in a way that the write does not explain.
    Unclear,
}

fn left_of_claim(action: &Action, wanted: &ResourceClaim, known: &ResourceClaim) -> Left {
    let mut next = known.clone();
    if let Action::Update(_) = action {
        if known.metadata.has_finalizer(CLAIM_FINALIZER) {
            return Left::Nothing;
        }
        next.metadata.finalizers.clone_from(&wanted.metadata.finalizers);
        return Left::All(Box::new(Action::Update(Box::new(Object::ResourceClaim(Arc::new(next))))));
    }
    let devices = |claim: &ResourceClaim| claim.status.allocation.as_ref().map(|one| one.devices.results.clone());
    let has_all = wanted.status.reserved_for.iter().all(|consumer| known.status.reserved_for.contains(consumer));
    match devices(known) {
        found if found == devices(wanted) && has_all => return Left::Nothing,
        None if known.status.reserved_for.is_empty() => next.status.clone_from(&wanted.status),
        found if found == devices(wanted) => next.status.reserved_for.clone_from(&wanted.status.reserved_for),
        _ => return Left::Unclear,
    }
    Left::All(Box::new(Action::UpdateStatus(Box::new(Object::ResourceClaim(Arc::new(next))))))
}

/// What an object is after a write that takes something; `None` for a write that does not.
fn outlook(cluster: &Cluster, action: &Action) -> Option<Object> {
    match action {
        Action::Create { object, .. } | Action::Update(object) | Action::UpdateStatus(object) => match &**object {
            Object::ResourceClaim(claim) if claim.status.allocation.is_some() => Some(Object::clone(object)),
            _ => None,
        },
        Action::Bind { pod, node, .. } => {
            let Object::Pod(mut pod) = cluster.get(pod)? else { return None };
            Arc::make_mut(&mut pod).spec.node_name.clone_from(node);
            Some(Object::Pod(pod))
        }
        Action::Patch(patch) => {
            let node = patch.fields.pointer("/status/nominatedNodeName").and_then(Value::as_str)?;
            let Object::Pod(mut pod) = cluster.get(&patch.object)? else { return None };
            node.clone_into(&mut Arc::make_mut(&mut pod).status.nominated_node_name);
            Some(Object::Pod(pod))
        }
        Action::Delete { .. } | Action::Record(_) => None,
    }
}
