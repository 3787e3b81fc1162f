//! A controller inside the component.

use std::sync::Arc;

use apportion_core::allocate::Limits;
use apportion_core::controller::{Conclusion, Lane, Part, Settings, Task};
use apportion_core::decision::{Action, Cause, Decision, EventRecord, Identified, Merging, Patch, Time};
use apportion_core::finding::{Finding, ObjectRef};
use apportion_core::profile::Profile;
use serde_json::Value;
use wasmtime::Store;
use wasmtime::component::ResourceAny;

use crate::bindings::Dra;
use crate::bindings::exports::apportion::dra::control as wit;
use crate::bindings::exports::apportion::dra::decisions::{Limits as WitLimits, Profile as WitProfile};
use crate::cache::Cache;
use crate::cluster::batches;
use crate::error::Error;
use crate::from_wit;
use crate::guard::{self, Guard, HostLimits};
use crate::runner::Runner;
use crate::session::Session;
use crate::to_wit;

/// A controller of a real cluster, kept in an instance of the component: what happened goes in, what to look at and what to
/// write come out. See [`apportion_core::controller`].
///
/// A call that makes the component stop fails, and the instance is dropped. The next call finds a fresh one with all objects
/// that were applied, and everything is due again.
#[derive(Debug)]
pub struct Controller {
    session: Session,
    profile: WitProfile,
    limits: WitLimits,
    settings: wit::Settings,
    cache: Cache,
}

impl Runner {
    /// A controller without objects in an instance of its own.
    ///
    /// # Errors
    ///
    /// When an instance cannot be had within the limits.
    pub fn controller(
        &self,
        profile: &Profile,
        limits: Limits,
        host_limits: HostLimits,
        settings: Settings,
    ) -> Result<Controller, Error> {
        let part = match settings.part {
            Part::TemplateSync => wit::Part::TemplateSync,
            Part::Explainer => wit::Part::Explainer,
            Part::Claims => wit::Part::Claims,
            Part::PodGroupProtection => wit::Part::PodGroupProtection,
            Part::TaintEviction => wit::Part::TaintEviction,
            Part::Scheduler => wit::Part::Scheduler,
        };
        let Settings { home, allow_admin_access, conditions, .. } = settings;
        let mut controller = Controller {
            session: Session::new(self.clone(), host_limits),
            profile: to_wit::profile(profile),
            limits: WitLimits { max_steps: limits.max_steps },
            settings: wit::Settings { part, home, allow_admin_access, conditions },
            cache: Cache::default(),
        };
        controller.call(|_, _, _| Ok(()))?;
        Ok(controller)
    }
}

impl Controller {
    /// How often the component stopped in the middle of a call.
    pub fn stops(&self) -> u64 {
        self.session.stops
    }

    fn call<T>(
        &mut self,
        ask: impl FnOnce(wit::GuestController<'_>, &mut Store<Guard>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        let Self { session, profile, limits, settings, cache } = self;
        let make = |instance: &Dra, store: &mut Store<Guard>| {
            let controller = instance.apportion_dra_control().controller();
            let handle = match controller.call_create(&mut *store, profile, *limits, settings)? {
                Ok(handle) => handle,
                refused => return Ok(refused),
            };
            for batch in batches(&cache.objects()) {
                guard::start(store);
                controller.call_apply(&mut *store, handle, batch)?;
            }
            Ok(Ok(handle))
        };
        session.call(make, |instance, store, handle| ask(instance.apportion_dra_control().controller(), store, handle))
    }

    /// Drops the instance: the next call finds a fresh one, which remembers nothing but objects.
    pub fn renew(&mut self) {
        self.session.renew();
    }

    /// Takes objects in as they are now, each one JSON text. Findings come per object, in order.
    ///
    /// # Errors
    ///
    /// When the component stops; what was taken in before that is kept.
    pub fn apply<T>(&mut self, objects: &[T]) -> Result<Vec<Vec<Finding>>, Error>
    where
        T: AsRef<str> + Clone + Into<Arc<str>>,
    {
        let mut findings = Vec::with_capacity(objects.len());
        for batch in batches(objects) {
            let texts: Vec<String> = batch.iter().map(|text| text.as_ref().to_owned()).collect();
            let found = self.call(|controller, store, handle| controller.call_apply(store, handle, &texts))?;
            for (text, found) in batch.iter().zip(found) {
                // One that cannot be read, too: a fresh instance has to know that it is there.
                self.cache.insert(text.clone());
                findings.push(from_wit::findings(found));
            }
        }
        Ok(findings)
    }

    /// UID of an object as it was applied last.
    pub fn uid(&self, object: &ObjectRef) -> Option<String> {
        self.cache.uid(object)
    }

    /// Takes out an object that is gone. False when there is none.
    ///
    /// # Errors
    ///
    /// When the component stops.
    pub fn delete(&mut self, object: &ObjectRef) -> Result<bool, Error> {
        self.cache.remove(object);
        let object = to_wit::object_ref(object);
        self.call(|controller, store, handle| controller.call_delete(store, handle, &object))
    }

    /// Takes out an object that is gone, unless another one has its name by now. False when there is none with the UID.
    ///
    /// # Errors
    ///
    /// When the component stops.
    pub fn delete_one(&mut self, object: &ObjectRef, uid: &str) -> Result<bool, Error> {
        if self.cache.uid(object).is_some_and(|known| known != uid) {
            return Ok(false);
        }
        self.delete(object)
    }

    /// What is to be looked at because of what happened since this was asked last.
    ///
    /// # Errors
    ///
    /// When the component stops.
    pub fn due(&mut self) -> Result<Vec<Task>, Error> {
        let due = self.call(|controller, store, handle| controller.call_due(store, handle))?;
        let task = |task: wit::Task| Task {
            object: from_wit::object_ref(task.object),
            lane: match task.lane {
                wit::Lane::Urgent => Lane::Urgent,
                wit::Lane::Repair => Lane::Repair,
                wit::Lane::Rollout => Lane::Rollout,
                wit::Lane::Report => Lane::Report,
            },
            after_millis: task.after_millis,
        };
        Ok(due.into_iter().map(task).collect())
    }

    /// How all sources of copies stand by the facts: a list with an object for each; see
    /// [`apportion_core::controllers::template_sync::Stands`].
    ///
    /// # Errors
    ///
    /// When the component stops.
    pub fn standings(&mut self) -> Result<Value, Error> {
        let text = self.call(|controller, store, handle| controller.call_standings(store, handle))?;
        from_wit::json(&text).map_err(|finding| Error::Refused(vec![finding]))
    }

    /// What to do about one thing.
    ///
    /// # Errors
    ///
    /// When the component stops.
    pub fn reconcile(&mut self, object: &ObjectRef, now: Time) -> Result<Decision<Value>, Error> {
        let object = to_wit::object_ref(object);
        let decision =
            self.call(|controller, store, handle| controller.call_reconcile(store, handle, &object, now.millis()))?;
        self::decision(decision).map_err(|finding| Error::Refused(vec![finding]))
    }

    /// Says what became of the latest decision about one thing.
    ///
    /// # Errors
    ///
    /// When the component stops.
    pub fn conclude(&mut self, object: &ObjectRef, conclusion: Conclusion) -> Result<(), Error> {
        let object = to_wit::object_ref(object);
        let conclusion = match conclusion {
            Conclusion::Done => wit::Conclusion::Done,
            Conclusion::Failed => wit::Conclusion::Failed,
            Conclusion::Unanswered => wit::Conclusion::Unanswered,
            Conclusion::Refused { status, message } => wit::Conclusion::Refused(wit::Denial { status, message }),
        };
        self.call(|controller, store, handle| controller.call_conclude(store, handle, &object, &conclusion))
    }
}

fn decision(decision: wit::Decision) -> Result<Decision<Value>, Finding> {
    let identified = |wit::Identified { object, uid }| Identified { object: from_wit::object_ref(object), uid };
    Ok(Decision {
        actions: decision.writes.into_iter().map(write).collect::<Result<_, _>>()?,
        wake_up: decision.wake_up_millis.map(Time::from_millis),
        retry: decision.retry,
        events: decision.announcements.into_iter().map(event).collect(),
        gone: decision.gone.into_iter().map(identified).collect(),
        cause: match decision.cause {
            wit::Cause::Usual => Cause::Usual,
            wit::Cause::Drift => Cause::Drift,
            wit::Cause::Held => Cause::Held,
            wit::Cause::Replacement(since) => Cause::Replacement { since: Time::from_millis(since) },
        },
    })
}

fn write(write: wit::Write) -> Result<Action<Value>, Finding> {
    Ok(match write {
        wit::Write::Create(creation) => {
            Action::Create { object: from_wit::json(&creation.object)?, refused: creation.refused.map(event) }
        }
        wit::Write::Update(object) => Action::Update(from_wit::json(&object)?),
        wit::Write::UpdateStatus(object) => Action::UpdateStatus(from_wit::json(&object)?),
        wit::Write::Patch(wit::FieldsWrite { object, uid, resource_version, status, merging, fields }) => {
            let (object, fields) = (from_wit::object_ref(object), from_wit::json(&fields)?);
            let merging = match merging {
                wit::Merging::Merge => Merging::Merge,
                wit::Merging::Strategic => Merging::Strategic,
                wit::Merging::Apply(manager) => Merging::Apply(manager),
            };
            Action::Patch(Patch { object, uid, resource_version, status, merging, fields })
        }
        wit::Write::Delete(wit::Removal { object, uid, resource_version }) => {
            Action::Delete { object: from_wit::object_ref(object), uid, resource_version }
        }
        wit::Write::Bind(wit::Binding { pod, uid, node }) => Action::Bind { pod: from_wit::object_ref(pod), uid, node },
        wit::Write::Announce(announcement) => Action::Record(event(announcement)),
    })
}

fn event(announcement: wit::Announcement) -> EventRecord {
    let wit::Announcement { regarding, uid, is_warning, reason, note, controller, action } = announcement;
    EventRecord { regarding: from_wit::object_ref(regarding), uid, is_warning, reason, note, controller, action }
}
