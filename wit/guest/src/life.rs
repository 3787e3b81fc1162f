//! Simulations through the contract.

use std::cell::RefCell;

use apportion_core::control_plane::server::{Happened, Refused};
use apportion_core::control_plane::{Command, Component as Program, DevicePath, Happening, Settled, Simulation};
use apportion_core::decision::Time;
use apportion_core::engine::parse;
use apportion_core::finding::Finding as CoreFinding;

use crate::bindings::exports::apportion::dra::decisions::{Limits, Profile, Report};
use crate::bindings::exports::apportion::dra::life as wit;
use crate::bindings::exports::apportion::dra::types;
use crate::{Component, from_wire, to_wire};

/// One simulation; the host calls its methods one at a time.
pub(crate) struct Played(RefCell<Simulation>);

impl wit::Guest for Component {
    type Simulation = Played;
}

impl wit::GuestSimulation for Played {
    fn create(
        profile: Profile,
        limits: Limits,
        now_millis: Option<i64>,
        objects: Vec<String>,
    ) -> Result<wit::Simulation, Vec<types::Finding>> {
        let profile = from_wire::profile(&profile).map_err(to_wire::findings)?;
        let limits = apportion_core::allocate::Limits { max_steps: limits.max_steps };
        let now = match now_millis {
            Some(millis) => Time::from_millis(millis),
            None => {
                let values: Vec<_> = objects.iter().filter_map(|text| parse(text).ok()).collect();
                Simulation::start_of(&values)
            }
        };
        Ok(wit::Simulation::new(Self(RefCell::new(Simulation::new(profile, limits, now)))))
    }

    fn apply(&self, objects: Vec<String>) -> Vec<Vec<types::Finding>> {
        let findings = self.0.borrow_mut().apply(objects.iter().map(String::as_str));
        findings.into_iter().map(to_wire::findings).collect()
    }

    fn submit(&self, objects: Vec<String>) -> Vec<Vec<types::Finding>> {
        let findings = self.0.borrow_mut().submit(objects.iter().map(String::as_str));
        findings.into_iter().map(to_wire::findings).collect()
    }

    fn begin(&self) -> Vec<types::Finding> {
        to_wire::findings(self.0.borrow_mut().begin())
    }

    fn perform(&self, command: wit::Command) -> Result<(), wit::Refused> {
        let command = self::command(command).map_err(|finding| bad(finding.message))?;
        self.0.borrow_mut().perform(command).map_err(refused)
    }

    fn tell(&self, object: types::ObjectRef, detail: String) {
        self.0.borrow_mut().tell(from_wire::object_ref(object), &detail);
    }

    fn run_until(&self, until_millis: i64) -> wit::Settled {
        match self.0.borrow_mut().run_until(Time::from_millis(until_millis)) {
            Settled::Quiet => wit::Settled::Quiet,
            Settled::Restless => wit::Settled::Restless,
        }
    }

    fn step(&self) -> bool {
        self.0.borrow_mut().step()
    }

    fn now(&self) -> i64 {
        self.0.borrow().now().millis()
    }

    fn next_work(&self) -> Option<i64> {
        self.0.borrow().next_work().map(Time::millis)
    }

    fn writes(&self) -> u64 {
        self.0.borrow().writes()
    }

    fn timeline(&self, start: u64) -> Vec<wit::Moment> {
        let simulation = self.0.borrow();
        let moments = simulation.timeline().iter().skip(usize::try_from(start).unwrap_or(usize::MAX));
        let moment = |moment: &apportion_core::control_plane::Moment| wit::Moment {
            at_millis: moment.at_millis,
            happened: happening(moment.happened),
            object: to_wire::object_ref(moment.object.clone()),
            detail: moment.detail.clone(),
        };
        moments.map(moment).collect()
    }

    fn report(&self) -> Report {
        to_wire::report(apportion_core::ask::report_of(&mut self.0.borrow_mut()))
    }

    fn get(&self, object: types::ObjectRef) -> Option<String> {
        self.0.borrow().server().get(&from_wire::object_ref(object)).map(|value| value.to_string())
    }

    fn objects(&self, kind: String) -> Vec<String> {
        self.0.borrow().server().list(&kind).map(|value| value.to_string()).collect()
    }

    fn events(&self) -> Vec<wit::EventRecord> {
        let simulation = self.0.borrow();
        let events = simulation.server().events().iter().cloned();
        events
            .map(|(event, count)| wit::EventRecord {
                regarding: to_wire::object_ref(event.regarding),
                uid: event.uid,
                is_warning: event.is_warning,
                reason: event.reason,
                note: event.note,
                controller: event.controller,
                action: event.action,
                count,
            })
            .collect()
    }

    fn keep_history(&self) {
        self.0.borrow_mut().server_mut().keep_history();
    }

    fn history(&self, start: u64) -> Vec<wit::VersionEntry> {
        let simulation = self.0.borrow();
        let entries = simulation.server().history().iter().skip(usize::try_from(start).unwrap_or(usize::MAX));
        entries
            .map(|entry| wit::VersionEntry {
                at_millis: entry.at.millis(),
                happened: match entry.happened {
                    Happened::Added => wit::StoredChange::Added,
                    Happened::Modified => wit::StoredChange::Modified,
                    Happened::Deleted => wit::StoredChange::Deleted,
                    Happened::Refused => wit::StoredChange::Refused,
                },
                object: to_wire::object_ref(entry.object.clone()),
                value: entry.value.to_string(),
            })
            .collect()
    }
}

fn command(command: wit::Command) -> Result<Command, CoreFinding> {
    Ok(match command {
        wit::Command::Create(object) => Command::Create(parse(&object)?),
        wit::Command::Update(object) => Command::Update(parse(&object)?),
        wit::Command::Apply(object) => Command::Apply(parse(&object)?),
        wit::Command::UpdateStatus(object) => Command::UpdateStatus(parse(&object)?),
        wit::Command::Patch(patch) => Command::Patch {
            object: from_wire::object_ref(patch.object),
            fields: parse(&patch.fields)?,
            status: patch.status,
        },
        wit::Command::Delete(deletion) => {
            Command::Delete { object: from_wire::object_ref(deletion.object), grace_seconds: deletion.grace_seconds }
        }
        wit::Command::Finish(end) => Command::Finish { pod: from_wire::object_ref(end.pod), succeeded: end.succeeded },
        wit::Command::Taint(change) => {
            let taint = parse(&change.taint)?.as_object().cloned().unwrap_or_default();
            Command::Taint { device: device(change.device), taint }
        }
        wit::Command::Untaint(change) => Command::Untaint { device: device(change.device), key: change.key },
        wit::Command::RemoveNode(node) => Command::RemoveNode(node),
        wit::Command::Drain(node) => Command::Drain(node),
        wit::Command::Restart(restarting) => Command::Restart {
            component: restarting.component.map(program),
            node: restarting.node,
            version: restarting.version,
            feature_gates: restarting.gates.into_iter().map(|gate| (gate.name, gate.enabled)).collect(),
        },
        wit::Command::Toggle(toggling) => Command::Toggle {
            component: toggling.component.map(program),
            gate: toggling.gate.name,
            enabled: toggling.gate.enabled,
        },
        wit::Command::Stop(component) => Command::Stop(program(component)),
        wit::Command::LoseWriteAfter(writes) => Command::LoseWriteAfter(writes),
        wit::Command::DisturbWriteAfter(writes) => Command::DisturbWriteAfter(writes),
        wit::Command::Lag(lags) => Command::Lag(lags),
    })
}

fn device(device: wit::DevicePath) -> DevicePath {
    DevicePath { driver: device.driver, pool: device.pool, device: device.device }
}

fn program(component: wit::Component) -> Program {
    match component {
        wit::Component::Server => Program::Server,
        wit::Component::Controllers => Program::Controllers,
        wit::Component::Scheduler => Program::Scheduler,
        wit::Component::Kubelets => Program::Kubelets,
    }
}

fn bad(message: String) -> wit::Refused {
    wit::Refused { status: 400, reason: wit::RefusalReason::BadRequest, message }
}

fn refused(refused: Refused) -> wit::Refused {
    let reason = match refused.reason {
        "NotFound" => wit::RefusalReason::NotFound,
        "AlreadyExists" => wit::RefusalReason::AlreadyExists,
        "Conflict" => wit::RefusalReason::Conflict,
        "Invalid" => wit::RefusalReason::Invalid,
        "Forbidden" => wit::RefusalReason::Forbidden,
        _ => wit::RefusalReason::BadRequest,
    };
    wit::Refused { status: refused.status, reason, message: refused.message }
}

fn happening(happening: Happening) -> wit::Happening {
    match happening {
        Happening::Requested => wit::Happening::Requested,
        Happening::Created => wit::Happening::Created,
        Happening::Deleting => wit::Happening::Deleting,
        Happening::Deleted => wit::Happening::Deleted,
        Happening::Placed => wit::Happening::Placed,
        Happening::Pending => wit::Happening::Pending,
        Happening::Phase => wit::Happening::Phase,
        Happening::Recorded => wit::Happening::Recorded,
        Happening::Allocated => wit::Happening::Allocated,
        Happening::Deallocated => wit::Happening::Deallocated,
        Happening::Reserved => wit::Happening::Reserved,
        Happening::Released => wit::Happening::Released,
        Happening::Protected => wit::Happening::Protected,
        Happening::Unprotected => wit::Happening::Unprotected,
        Happening::Condition => wit::Happening::Condition,
        Happening::Taints => wit::Happening::Taints,
        Happening::Changed => wit::Happening::Changed,
        Happening::Event => wit::Happening::Event,
    }
}
