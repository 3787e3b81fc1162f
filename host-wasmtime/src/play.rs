//! A simulation inside the component, or outside of it for comparison.

use std::fmt;

use apportion_core::allocate::Limits;
use apportion_core::ask::Report;
use apportion_core::control_plane::server::{Entry, Happened, Refused};
use apportion_core::control_plane::{Command, Component, DevicePath, Happening, Moment, Settled};
use apportion_core::decision::{EventRecord, Time};
use apportion_core::finding::{Finding, ObjectRef};
use apportion_core::profile::Profile;
use apportion_core::wire::simulation::Plays;
use serde_json::Value;
use wasmtime::Store;
use wasmtime::component::ResourceAny;

use crate::bindings::Dra;
use crate::bindings::exports::apportion::dra::decisions::{Gate, Limits as WitLimits};
use crate::bindings::exports::apportion::dra::life as wit;
use crate::cluster::batches;
use crate::error::{Error, Stop};
use crate::from_wit;
use crate::guard::{self, Guard, HostLimits};
use crate::runner::Runner;
use crate::to_wit;

/// A simulated cluster, kept in an instance of the component.
///
/// A call that makes the component stop fails, and so do all later ones: a history cannot be made again from its objects.
pub struct Play {
    store: Store<Guard>,
    instance: Dra,
    handle: ResourceAny,
    limits: HostLimits,
    is_over: bool,
}

impl fmt::Debug for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Play").field("limits", &self.limits).field("is_over", &self.is_over).finish_non_exhaustive()
    }
}

impl Runner {
    /// A simulated cluster without objects in an instance of its own. Without a time it starts when `objects` may, so that
    /// nothing in them lies in the future; they are only looked at.
    ///
    /// # Errors
    ///
    /// When an instance cannot be had within the limits.
    pub fn play(
        &self,
        profile: &Profile,
        limits: Limits,
        host_limits: HostLimits,
        now: Option<Time>,
        objects: &[String],
    ) -> Result<Play, Error> {
        let profile = to_wit::profile(profile);
        let limits = WitLimits { max_steps: limits.max_steps };
        let looked_at = if now.is_some() { &[] } else { objects };
        let created = self.instantiate(host_limits).and_then(|(mut store, instance)| {
            let simulation = instance.apportion_dra_life().simulation();
            let handle = simulation.call_create(&mut store, &profile, limits, now.map(Time::millis), looked_at)?;
            Ok((store, instance, handle))
        });
        let (store, instance, handle) = created.map_err(|error| Error::Stopped(Stop::of(&error, host_limits)))?;
        let handle = handle.map_err(|findings| Error::Refused(from_wit::findings(findings)))?;
        Ok(Play { store, instance, handle, limits: host_limits, is_over: false })
    }
}

impl Play {
    fn call<T>(
        &mut self,
        ask: impl FnOnce(wit::GuestSimulation<'_>, &mut Store<Guard>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        if self.is_over {
            return Err(Error::Stopped(Stop::Trap("the simulation ended when an earlier call stopped".to_owned())));
        }
        let simulation = self.instance.apportion_dra_life().simulation();
        guard::start(&mut self.store);
        let answer = ask(simulation, &mut self.store, self.handle);
        answer.map_err(|error| {
            self.is_over = true;
            Error::Stopped(Stop::of(&error, self.limits))
        })
    }
}

impl Plays for Play {
    type Error = Error;

    fn apply(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Error> {
        let mut findings = Vec::with_capacity(objects.len());
        for batch in batches(objects) {
            let found = self.call(|play, store, handle| play.call_apply(store, handle, batch))?;
            findings.extend(found.into_iter().map(from_wit::findings));
        }
        Ok(findings)
    }

    fn submit(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Error> {
        let mut findings = Vec::with_capacity(objects.len());
        for batch in batches(objects) {
            let found = self.call(|play, store, handle| play.call_submit(store, handle, batch))?;
            findings.extend(found.into_iter().map(from_wit::findings));
        }
        Ok(findings)
    }

    fn begin(&mut self) -> Result<Vec<Finding>, Error> {
        self.call(|play, store, handle| play.call_begin(store, handle)).map(from_wit::findings)
    }

    fn perform(&mut self, command: Command) -> Result<Result<(), Refused>, Error> {
        let command = self::command(command);
        let answer = self.call(|play, store, handle| play.call_perform(store, handle, &command))?;
        Ok(answer.map_err(refused))
    }

    fn tell(&mut self, object: &ObjectRef, detail: &str) -> Result<(), Error> {
        let object = to_wit::object_ref(object);
        self.call(|play, store, handle| play.call_tell(store, handle, &object, detail))
    }

    fn run_until(&mut self, until: Time) -> Result<Settled, Error> {
        let settled = self.call(|play, store, handle| play.call_run_until(store, handle, until.millis()))?;
        Ok(match settled {
            wit::Settled::Quiet => Settled::Quiet,
            wit::Settled::Restless => Settled::Restless,
        })
    }

    fn step(&mut self) -> Result<bool, Error> {
        self.call(|play, store, handle| play.call_step(store, handle))
    }

    fn now(&mut self) -> Result<Time, Error> {
        self.call(|play, store, handle| play.call_now(store, handle)).map(Time::from_millis)
    }

    fn next_work(&mut self) -> Result<Option<Time>, Error> {
        let next = self.call(|play, store, handle| play.call_next_work(store, handle))?;
        Ok(next.map(Time::from_millis))
    }

    fn writes(&mut self) -> Result<u64, Error> {
        self.call(|play, store, handle| play.call_writes(store, handle))
    }

    fn timeline(&mut self, from: u64) -> Result<Vec<Moment>, Error> {
        let moments = self.call(|play, store, handle| play.call_timeline(store, handle, from))?;
        let moment = |moment: wit::Moment| Moment {
            at_millis: moment.at_millis,
            happened: happening(moment.happened),
            object: from_wit::object_ref(moment.object),
            detail: moment.detail,
        };
        Ok(moments.into_iter().map(moment).collect())
    }

    fn report(&mut self) -> Result<Report, Error> {
        self.call(|play, store, handle| play.call_report(store, handle)).map(from_wit::report)
    }

    fn get(&mut self, object: &ObjectRef) -> Result<Option<Value>, Error> {
        let object = to_wit::object_ref(object);
        let text = self.call(|play, store, handle| play.call_get(store, handle, &object))?;
        text.map(|text| json(&text)).transpose()
    }

    fn list(&mut self, kind: &str) -> Result<Vec<Value>, Error> {
        let texts = self.call(|play, store, handle| play.call_objects(store, handle, kind))?;
        texts.iter().map(|text| json(text)).collect()
    }

    fn events(&mut self) -> Result<Vec<(EventRecord, u64)>, Error> {
        let events = self.call(|play, store, handle| play.call_events(store, handle))?;
        let event = |event: wit::EventRecord| {
            let record = EventRecord {
                regarding: from_wit::object_ref(event.regarding),
                uid: event.uid,
                is_warning: event.is_warning,
                reason: event.reason,
                note: event.note,
                controller: event.controller,
                action: event.action,
            };
            (record, event.count)
        };
        Ok(events.into_iter().map(event).collect())
    }

    fn keep_history(&mut self) -> Result<(), Error> {
        self.call(|play, store, handle| play.call_keep_history(store, handle))
    }

    fn history(&mut self, from: u64) -> Result<Vec<Entry>, Error> {
        let entries = self.call(|play, store, handle| play.call_history(store, handle, from))?;
        let entry = |entry: wit::VersionEntry| {
            Ok(Entry {
                at: Time::from_millis(entry.at_millis),
                happened: match entry.happened {
                    wit::StoredChange::Added => Happened::Added,
                    wit::StoredChange::Modified => Happened::Modified,
                    wit::StoredChange::Deleted => Happened::Deleted,
                    wit::StoredChange::Refused => Happened::Refused,
                },
                object: from_wit::object_ref(entry.object),
                value: json(&entry.value)?,
            })
        };
        entries.into_iter().map(entry).collect()
    }
}

fn json(text: &str) -> Result<Value, Error> {
    from_wit::json(text).map_err(|finding| Error::Refused(vec![finding]))
}

fn command(command: Command) -> wit::Command {
    match command {
        Command::Create(object) => wit::Command::Create(object.to_string()),
        Command::Update(object) => wit::Command::Update(object.to_string()),
        Command::Apply(object) => wit::Command::Apply(object.to_string()),
        Command::UpdateStatus(object) => wit::Command::UpdateStatus(object.to_string()),
        Command::Patch { object, fields, status } => wit::Command::Patch(wit::FieldPatch {
            object: to_wit::object_ref(&object),
            fields: fields.to_string(),
            status,
        }),
        Command::Delete { object, grace_seconds } => {
            wit::Command::Delete(wit::Deletion { object: to_wit::object_ref(&object), grace_seconds })
        }
        Command::Finish { pod, succeeded } => {
            wit::Command::Finish(wit::PodEnd { pod: to_wit::object_ref(&pod), succeeded })
        }
        Command::Taint { device, taint } => wit::Command::Taint(wit::TaintChange {
            device: device_path(device),
            taint: Value::Object(taint).to_string(),
        }),
        Command::Untaint { device, key } => {
            wit::Command::Untaint(wit::UntaintChange { device: device_path(device), key })
        }
        Command::RemoveNode(node) => wit::Command::RemoveNode(node),
        Command::Drain(node) => wit::Command::Drain(node),
        Command::Restart { component, node, version, feature_gates } => wit::Command::Restart(wit::Restarting {
            component: component.map(program),
            node,
            version,
            gates: feature_gates.into_iter().map(|(name, enabled)| Gate { name, enabled }).collect(),
        }),
        Command::Toggle { component, gate, enabled } => wit::Command::Toggle(wit::Toggling {
            component: component.map(program),
            gate: Gate { name: gate, enabled },
        }),
        Command::Stop(component) => wit::Command::Stop(program(component)),
        Command::LoseWriteAfter(writes) => wit::Command::LoseWriteAfter(writes),
        Command::DisturbWriteAfter(writes) => wit::Command::DisturbWriteAfter(writes),
        Command::Lag(lags) => wit::Command::Lag(lags),
    }
}

fn device_path(device: DevicePath) -> wit::DevicePath {
    wit::DevicePath { driver: device.driver, pool: device.pool, device: device.device }
}

fn program(component: Component) -> wit::Component {
    match component {
        Component::Server => wit::Component::Server,
        Component::Controllers => wit::Component::Controllers,
        Component::Scheduler => wit::Component::Scheduler,
        Component::Kubelets => wit::Component::Kubelets,
    }
}

fn refused(refused: wit::Refused) -> Refused {
    let reason = match refused.reason {
        wit::RefusalReason::NotFound => "NotFound",
        wit::RefusalReason::AlreadyExists => "AlreadyExists",
        wit::RefusalReason::Conflict => "Conflict",
        wit::RefusalReason::Invalid => "Invalid",
        wit::RefusalReason::Forbidden => "Forbidden",
        wit::RefusalReason::BadRequest => "BadRequest",
    };
    Refused { status: refused.status, reason, message: refused.message }
}

fn happening(happening: wit::Happening) -> Happening {
    match happening {
        wit::Happening::Requested => Happening::Requested,
        wit::Happening::Created => Happening::Created,
        wit::Happening::Deleting => Happening::Deleting,
        wit::Happening::Deleted => Happening::Deleted,
        wit::Happening::Placed => Happening::Placed,
        wit::Happening::Pending => Happening::Pending,
        wit::Happening::Phase => Happening::Phase,
        wit::Happening::Recorded => Happening::Recorded,
        wit::Happening::Allocated => Happening::Allocated,
        wit::Happening::Deallocated => Happening::Deallocated,
        wit::Happening::Reserved => Happening::Reserved,
        wit::Happening::Released => Happening::Released,
        wit::Happening::Protected => Happening::Protected,
        wit::Happening::Unprotected => Happening::Unprotected,
        wit::Happening::Condition => Happening::Condition,
        wit::Happening::Taints => Happening::Taints,
        wit::Happening::Changed => Happening::Changed,
        wit::Happening::Event => Happening::Event,
    }
}
