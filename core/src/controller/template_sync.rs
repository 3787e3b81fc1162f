//! Copies of cluster-wide claim templates: what the API server refused is remembered for the status.

use std::collections::BTreeMap;

use super::rollout::Rollout;
use super::upkeep::Upkeep;
use super::{Conclusion, Lane, Task, lane_of};
use crate::api::object::Object;
use crate::api::source::{SOURCE_KIND, TemplateSource};
use crate::cluster::{Cluster, Key};
use crate::controllers::template_sync::{self, Reason, Refusal, Settings, Stands, State, Work};
use crate::decision::{Decision, Time, Trigger};
use crate::finding::{Finding, ObjectRef, Severity};
use crate::profile::Profile;
use crate::validate::{Submission, validate};

/// Milliseconds that changes are collected before a status is written.
const STATUS_PAUSE: u64 = 500;

/// What the part knows beside the facts.
#[derive(Clone, Debug)]
pub(super) struct TemplateSync {
    settings: Settings,
    /// The latest refusals, by namespace and name of the copy.
    refusals: BTreeMap<Key, Refusal>,
    rollout: Rollout,
    upkeep: Upkeep,
    /// What is due because something else was looked at.
    turn: Vec<Task>,
}

impl TemplateSync {
    pub(super) fn new(settings: super::Settings) -> Self {
        let super::Settings { home, allow_admin_access, .. } = settings;
        let settings = Settings { home, allow_admin_access, unusable: BTreeMap::new() };
        Self {
            settings,
            refusals: BTreeMap::new(),
            rollout: Rollout::default(),
            upkeep: Upkeep::default(),
            turn: Vec::new(),
        }
    }

    /// Holds a source against the rules of its kind.
    fn judge(&mut self, object: &Object, profile: &Profile) {
        let Object::TemplateSource(source) = object else { return };
        let uid = &source.metadata.uid;
        match flaw(object, profile) {
            Some(flaw) => drop(self.settings.unusable.insert(uid.clone(), flaw)),
            None => drop(self.settings.unusable.remove(uid)),
        }
    }

    /// What of an object is kept; nothing of one that plays no part here.
    pub(super) fn take(&mut self, object: Object, profile: &Profile) -> Option<Object> {
        self.judge(&object, profile);
        template_sync::needed(object)
    }

    /// A source that cannot be read: nothing is made of it until it can.
    pub(super) fn reject(&mut self, source: &TemplateSource, findings: &[Finding]) -> Vec<Task> {
        let error = findings.iter().find(|finding| finding.severity == Severity::Error);
        let text = error.map(|finding| format!("{}: {}", finding.path, finding.message)).unwrap_or_default();
        self.settings.unusable.insert(source.metadata.uid.clone(), text);
        vec![task(Work::Status(source.metadata.name.clone()), Lane::Report)]
    }

    pub(super) fn affected(&mut self, cluster: &Cluster, trigger: &Trigger) -> Vec<Task> {
        if let (Some(Object::TemplateSource(gone)), None) = (trigger.before.as_deref(), &trigger.after) {
            self.settings.unusable.remove(&gone.metadata.uid);
        }
        if let (Some(Object::Namespace(gone)), None) = (trigger.before.as_deref(), &trigger.after) {
            self.refusals.retain(|key, _| key.0 != gone.metadata.name);
        }
        self.upkeep.note(trigger);
        let lane = lane_of(trigger);
        let work = template_sync::affected(cluster, &self.settings, trigger);
        work.into_iter().map(|work| task(work, lane)).collect()
    }

    pub(super) fn reconcile(&mut self, cluster: &Cluster, object: &ObjectRef, now: Time) -> Decision {
        if object.kind == SOURCE_KIND {
            return template_sync::status(cluster, &self.settings, &self.refusals, &object.name, now);
        }
        let (mut decision, state) = template_sync::reconcile(cluster, &self.settings, &object.namespace, &object.name);
        let key = (object.namespace.clone(), object.name.clone());
        match state {
            State::Replacing { most } => {
                if most.is_some_and(|most| !self.rollout.admit(&key, most)) {
                    return Decision::none();
                }
                self.upkeep.takes_away(&key, now);
            }
            // Removed, and not back yet.
            State::Changing => decision.cause = self.upkeep.cause(&key, &decision),
            State::Refused { .. } => {}
            State::NotWanted | State::Current | State::Outdated | State::Conflict | State::Superseded { .. } => {
                if let Some(was_gone) = self.upkeep.rests(&key).filter(|_| state == State::Current) {
                    decision.events.extend(template_sync::repaired(cluster, &self.settings, &key, was_gone));
                }
                let next = self.rollout.close(&key).map(|(namespace, name)| Work::Copy { namespace, name });
                self.turn.extend(next.map(|work| task(work, Lane::Rollout)));
            }
        }
        decision
    }

    /// How all sources stand by the facts.
    pub(super) fn standings(&self, cluster: &Cluster) -> Vec<Stands> {
        template_sync::standings(cluster, &self.settings)
    }

    /// What is due because something else was looked at.
    pub(super) fn turn(&mut self) -> Vec<Task> {
        std::mem::take(&mut self.turn)
    }

    pub(super) fn conclude(&mut self, cluster: &Cluster, object: &ObjectRef, conclusion: Conclusion) -> Vec<Task> {
        if object.kind == SOURCE_KIND {
            return Vec::new();
        }
        let key = (object.namespace.clone(), object.name.clone());
        let changed = match conclusion {
            Conclusion::Done => self.refusals.remove(&key).is_some(),
            Conclusion::Failed | Conclusion::Unanswered => false,
            Conclusion::Refused { status, message } => {
                let refusal = Refusal { reason: Reason::of_answer(status, &message), message };
                self.refusals.insert(key, refusal.clone()) != Some(refusal)
            }
        };
        if !changed {
            return Vec::new();
        }
        let work = template_sync::told_of(cluster, &self.settings, &object.namespace, &object.name);
        work.into_iter().map(|work| task(work, Lane::Report)).collect()
    }
}

fn task(work: Work, lane: Lane) -> Task {
    match work {
        Work::Copy { namespace, name } => {
            let object = ObjectRef { kind: "ResourceClaimTemplate".to_owned(), namespace, name };
            Task { object, lane, after_millis: 0 }
        }
        Work::Status(name) => {
            let object = ObjectRef { kind: SOURCE_KIND.to_owned(), namespace: String::new(), name };
            Task { object, lane: Lane::Report, after_millis: STATUS_PAUSE }
        }
    }
}

/// The first rule that a source breaks, in the words of `validate`.
fn flaw(source: &Object, profile: &Profile) -> Option<String> {
    let mut object = source.write();
    // That is ours.
    object.as_object_mut()?.remove("status");
    let findings = validate(Submission::create(object), profile);
    let error = findings.into_iter().find(|finding| finding.kind.is_some() && finding.severity == Severity::Error)?;
    Some(format!("{}: {}", error.path, error.message))
}
