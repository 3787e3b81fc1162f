//! Copies of cluster-wide claim templates: what the API server refused is remembered for the status.

use super::upkeep::Upkeep;
use super::{Conclusion, Lane, Task, lane_of};
use crate::api::object::Object;
use crate::api::source::SOURCE_KIND;
use crate::cluster::Cluster;
use crate::controllers::template_sync::{self, Memory, Stands, State, Work};
use crate::decision::{Decision, Time, Trigger};
use crate::finding::{Finding, ObjectRef, Severity};
use crate::profile::Profile;

/// Milliseconds that changes are collected before a status is written.
const STATUS_PAUSE: u64 = 500;

/// What the part knows beside the facts.
#[derive(Clone, Debug)]
pub(super) struct TemplateSync {
    memory: Memory,
    upkeep: Upkeep,
    /// What is due because something else was looked at.
    turn: Vec<Task>,
}

impl TemplateSync {
    pub(super) fn new(settings: super::Settings) -> Self {
        let super::Settings { home, allow_admin_access, .. } = settings;
        Self { memory: Memory::new(home, allow_admin_access), upkeep: Upkeep::default(), turn: Vec::new() }
    }

    /// What of an object is kept; nothing of one that plays no part here. One that cannot be read is kept as far as it can, and
    /// nothing that depends on it is changed until it can.
    pub(super) fn take(&mut self, object: Object, findings: &[Finding], profile: &Profile) -> Option<Object> {
        self.memory.judge(&object, findings, profile);
        template_sync::needed(object, findings.iter().all(|finding| finding.severity != Severity::Error))
    }

    pub(super) fn affected(&mut self, cluster: &Cluster, trigger: &Trigger) -> Vec<Task> {
        self.memory.note(trigger);
        self.upkeep.note(trigger);
        let lane = lane_of(trigger);
        let work = template_sync::affected(cluster, &self.memory.settings, trigger);
        work.into_iter().map(|work| task(work, lane)).collect()
    }

    pub(super) fn reconcile(&mut self, cluster: &Cluster, object: &ObjectRef, now: Time) -> Decision {
        if object.kind == SOURCE_KIND {
            return self.memory.status(cluster, &object.name, now);
        }
        let key = (object.namespace.clone(), object.name.clone());
        let Some((mut decision, state, next)) = self.memory.reconcile(cluster, &key, now) else {
            return Decision::none();
        };
        match state {
            State::Replacing { .. } => self.upkeep.takes_away(&key, now),
            // Removed, and not back yet.
            State::Changing => decision.cause = self.upkeep.cause(&key, &decision),
            State::Refused { .. } => {}
            State::NotWanted | State::Current | State::Outdated | State::Conflict | State::Superseded { .. } => {
                if let Some(was_gone) = self.upkeep.rests(&key).filter(|_| state == State::Current) {
                    let settings = &self.memory.settings;
                    decision.events.extend(template_sync::repaired(cluster, settings, &key, was_gone));
                }
            }
        }
        self.turn.extend(next.into_iter().map(|work| task(work, Lane::Rollout)));
        decision
    }

    /// How all sources stand by the facts.
    pub(super) fn standings(&self, cluster: &Cluster) -> Vec<Stands> {
        template_sync::standings(cluster, &self.memory.settings)
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
        let refused = match conclusion {
            Conclusion::Done => None,
            Conclusion::Failed | Conclusion::Unanswered => return Vec::new(),
            Conclusion::Refused { status, message } => Some((status, message)),
        };
        let work = self.memory.answered(cluster, &key, refused);
        work.into_iter().map(|work| task(work, Lane::Report)).collect()
    }
}

fn task(work: Work, lane: Lane) -> Task {
    match work {
        Work::Copy { namespace, name } => {
            Task { object: ObjectRef::new("ResourceClaimTemplate", namespace, name), lane, after_millis: 0 }
        }
        Work::Status(name) => {
            Task { object: ObjectRef::new(SOURCE_KIND, "", name), lane: Lane::Report, after_millis: STATUS_PAUSE }
        }
    }
}
