//! Controllers of a real cluster: what happened goes in, what to look at and what to write come out.
//!
//! Whoever holds a [`Controller`] watches the API server, hands every event in, asks what is due, asks for a decision about each
//! such thing, carries it out, and says what became of it. Nothing is remembered that cannot be found out again from the
//! cluster: a controller that is made anew and given all objects goes on where the old one was.

mod explainer;
mod in_flight;
mod needed;
mod overlap;
mod scheduler;
mod stale_writes;
mod template_sync;
mod upkeep;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::allocate::Limits;
use crate::api::object::{Object, read_text};
use crate::cluster::Cluster;
use crate::controllers::claims::{self, Work};
use crate::finding::{Finding, ObjectRef};
use crate::profile::Profile;
use crate::{
    controllers::{podgroup_protection as protection, taint_eviction as eviction},
    decision::{Decision, Time, Trigger},
};
use explainer::Explainer;
pub use scheduler::GIVEN_TWICE;
use scheduler::Scheduler;
use template_sync::TemplateSync;

/// What a controller is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "ControllerPart"))]
pub enum Part {
    /// Keeps copies of cluster-wide claim templates.
    TemplateSync,
    /// Tells users why Pods wait for devices.
    Explainer,
    /// Makes claims and takes reservations away.
    Claims,
    /// Keeps PodGroups while Pods need them.
    #[serde(rename = "podgroup-protection")]
    PodGroupProtection,
    /// Deletes Pods whose devices are tainted.
    TaintEviction,
    /// Gives nodes and devices to Pods that name it as their scheduler.
    Scheduler,
}

/// What a controller is told when it starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// What it is for.
    pub part: Part,
    /// Its own namespace.
    pub home: String,
    /// Whether cluster-wide claim templates may ask for admin access.
    pub allow_admin_access: bool,
    /// Whether the explainer writes conditions where a Pod or PodGroup asks for them.
    pub conditions: bool,
}

/// How soon something is to be looked at, where not all can be at once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub enum Lane {
    /// Somebody waits for it.
    Urgent,
    /// Something differs from what was made.
    Repair,
    /// Something is changed everywhere.
    Rollout,
    /// Nobody waits for it.
    Report,
}

/// Something to look at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "ControllerTask"))]
pub struct Task {
    /// What the decision is to be about; without name where it is about the whole cluster.
    pub object: ObjectRef,
    /// How soon.
    pub lane: Lane,
    /// Milliseconds to wait first, so that several changes are looked at together.
    #[cfg_attr(feature = "types", ts(type = "number"))]
    pub after_millis: u64,
}

/// What became of a decision.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub enum Conclusion {
    /// Everything was carried out.
    Done,
    /// Something was not, and did not happen: somebody else was faster, or the API server has no time.
    Failed,
    /// Nobody answered: something happened or did not, or happens yet.
    Unanswered,
    /// The API server refused.
    Refused {
        /// HTTP status.
        status: u16,
        /// The server's words.
        message: String,
    },
}

/// A controller: facts, what is due, and what its part knows beside the facts.
#[derive(Clone, Debug)]
pub struct Controller {
    cluster: Cluster,
    profile: Profile,
    limits: Limits,
    state: State,
    due: BTreeMap<ObjectRef, (Lane, u64)>,
}

#[derive(Clone, Debug)]
enum State {
    TemplateSync(Box<TemplateSync>),
    Explainer(Explainer),
    Claims(claims::Memory),
    PodGroupProtection,
    Scheduler(Box<Scheduler>),
    TaintEviction {
        memory: eviction::Memory,
        /// What is remembered once the latest decision is carried out.
        next: eviction::Memory,
    },
}

impl Controller {
    /// A controller that knows of no object.
    pub fn new(profile: Profile, limits: Limits, settings: Settings) -> Self {
        let state = match settings.part {
            Part::TemplateSync => State::TemplateSync(Box::new(TemplateSync::new(settings))),
            Part::Explainer => State::Explainer(Explainer::new(settings.conditions)),
            Part::Claims => State::Claims(claims::Memory::default()),
            Part::PodGroupProtection => State::PodGroupProtection,
            Part::Scheduler => State::Scheduler(Box::new(Scheduler::new())),
            Part::TaintEviction => {
                State::TaintEviction { memory: eviction::Memory::default(), next: eviction::Memory::default() }
            }
        };
        Self { cluster: Cluster::new(profile.clone()), profile, limits, state, due: BTreeMap::new() }
    }

    /// The facts.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Takes objects in as they are now, each one JSON text. Findings come per object, in order.
    ///
    /// An object that cannot be read is left out, and so is what was known of it before, which is wrong now. As much of it as can be
    /// read is kept where something would be deleted or given away without it: by template-sync, devices of claims, Pods of groups.
    pub fn apply<'t>(&mut self, objects: impl IntoIterator<Item = &'t str>) -> Vec<Vec<Finding>> {
        objects.into_iter().map(|text| self.apply_one(text)).collect()
    }

    fn apply_one(&mut self, text: &str) -> Vec<Finding> {
        let reading = read_text(text);
        let is_usable = reading.is_usable();
        let Some(object) = reading.object else { return reading.findings };
        let key = object.reference();
        let before = self.cluster.get(&key).map(Box::new);
        let needed = match &mut self.state {
            State::TemplateSync(sync) => sync.take(object, &reading.findings, &self.profile),
            state if !is_usable => needed::unread(state, object),
            state => needed::needed(state, object),
        };
        let Some(object) = needed else {
            self.delete(&key);
            return reading.findings;
        };
        if let State::Scheduler(scheduler) = &mut self.state {
            scheduler.mark(&key, is_usable);
            if scheduler.in_flight.keep_aside(&object) {
                return reading.findings;
            }
        }
        self.cluster.apply(object.clone());
        self.note(&Trigger { before, after: Some(Box::new(object)) });
        reading.findings
    }

    /// Takes out an object that is gone. False when there is none.
    pub fn delete(&mut self, object: &ObjectRef) -> bool {
        if let State::Scheduler(scheduler) = &mut self.state {
            scheduler.in_flight.forget(object);
            scheduler.mark(object, true);
        }
        let before = self.cluster.get(object).map(Box::new);
        let is_known = self.cluster.delete(object);
        if before.is_some() {
            self.note(&Trigger { before, after: None });
        }
        is_known
    }

    fn note(&mut self, trigger: &Trigger) {
        let cluster = &self.cluster;
        match &mut self.state {
            State::TemplateSync(sync) => {
                for task in sync.affected(cluster, trigger) {
                    add(&mut self.due, task);
                }
            }
            State::Explainer(explainer) => {
                if explainer.is_affected(trigger) {
                    add(&mut self.due, Task { object: ObjectRef::default(), lane: Lane::Report, after_millis: 1000 });
                }
            }
            State::Claims(_) => {
                for work in claims::affected(cluster, trigger) {
                    add(&mut self.due, urgent(object_of(work)));
                }
            }
            State::PodGroupProtection => {
                if let Some((namespace, name)) = protection::affected(trigger) {
                    add(&mut self.due, urgent(ObjectRef::new("PodGroup", namespace, name)));
                }
            }
            State::Scheduler(scheduler) => scheduler.note(cluster, trigger),
            State::TaintEviction { .. } => {
                if eviction::is_affected(cluster, trigger) {
                    add(&mut self.due, urgent(ObjectRef::default()));
                }
            }
        }
    }

    /// What is to be looked at because of what happened since this was asked last, by object.
    pub fn due(&mut self) -> Vec<Task> {
        if let State::Scheduler(scheduler) = &mut self.state {
            return scheduler.due();
        }
        let due = std::mem::take(&mut self.due);
        due.into_iter().map(|(object, (lane, after_millis))| Task { object, lane, after_millis }).collect()
    }

    /// How all sources of copies stand by the facts, as JSON: a list of [`Stands`](crate::controllers::template_sync::Stands). Parts
    /// other than [`Part::TemplateSync`] know of none.
    pub fn standings(&self) -> Value {
        let State::TemplateSync(sync) = &self.state else { return json!([]) };
        json!(sync.standings(&self.cluster))
    }

    /// What to do about one thing.
    pub fn reconcile(&mut self, object: &ObjectRef, now: Time) -> Decision {
        match &mut self.state {
            State::TemplateSync(sync) => {
                let decision = sync.reconcile(&self.cluster, object, now);
                sync.turn().into_iter().for_each(|task| add(&mut self.due, task));
                decision
            }
            State::Explainer(explainer) => explainer.reconcile(&self.cluster, &self.limits, now),
            State::Claims(memory) => match work_of(object) {
                Some(work) => claims::reconcile(&self.cluster, &self.profile, memory, &work),
                None => Decision::none(),
            },
            State::PodGroupProtection => {
                let key = (object.namespace.clone(), object.name.clone());
                protection::reconcile(&self.cluster, &self.profile, &key)
            }
            State::Scheduler(scheduler) => {
                scheduler.reconcile(&mut self.cluster, &self.profile, &self.limits, object, now)
            }
            State::TaintEviction { memory, next } => {
                next.clone_from(memory);
                eviction::reconcile(&self.cluster, &self.profile, next, now)
            }
        }
    }

    /// Hears what became of the latest decision about one thing.
    pub fn conclude(&mut self, object: &ObjectRef, conclusion: Conclusion) {
        match &mut self.state {
            State::TemplateSync(sync) => {
                for task in sync.conclude(&self.cluster, object, conclusion) {
                    add(&mut self.due, task);
                }
            }
            State::Scheduler(scheduler) => scheduler.conclude(&mut self.cluster, object, conclusion),
            State::Explainer(explainer) => explainer.conclude(&conclusion),
            State::TaintEviction { memory, next } if conclusion == Conclusion::Done => memory.clone_from(next),
            State::TaintEviction { .. } | State::Claims(_) | State::PodGroupProtection => {}
        }
    }
}

/// What is due anyway becomes more urgent, never less.
fn add(due: &mut BTreeMap<ObjectRef, (Lane, u64)>, task: Task) {
    let entry = due.entry(task.object).or_insert((task.lane, task.after_millis));
    *entry = (entry.0.min(task.lane), entry.1.min(task.after_millis));
}

fn urgent(object: ObjectRef) -> Task {
    Task { object, lane: Lane::Urgent, after_millis: 0 }
}

fn object_of(work: Work) -> ObjectRef {
    let (kind, (namespace, name)) = match work {
        Work::PodGroup(key) => ("PodGroup", key),
        Work::Pod(key) => ("Pod", key),
        Work::Claim(key) => ("ResourceClaim", key),
    };
    ObjectRef::new(kind, namespace, name)
}

fn work_of(object: &ObjectRef) -> Option<Work> {
    let key = (object.namespace.clone(), object.name.clone());
    match object.kind.as_str() {
        "PodGroup" => Some(Work::PodGroup(key)),
        "Pod" => Some(Work::Pod(key)),
        "ResourceClaim" => Some(Work::Claim(key)),
        _ => None,
    }
}

/// The object that a trigger is about, if it is a copy or a namespace somebody may wait in.
fn lane_of(trigger: &Trigger) -> Lane {
    match trigger.latest() {
        Some(Object::Namespace(_)) => Lane::Urgent,
        Some(Object::ResourceClaimTemplate(_)) => Lane::Repair,
        _ => Lane::Rollout,
    }
}
