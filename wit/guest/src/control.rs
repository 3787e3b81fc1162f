//! Controllers through the contract.

use std::cell::RefCell;

use apportion_core::controller::{Conclusion, Controller, Lane, Part, Settings};
use apportion_core::decision::{Action, Cause, Decision, EventRecord, Merging, Patch, Time};

use crate::bindings::exports::apportion::dra::control as wit;
use crate::bindings::exports::apportion::dra::decisions::{Limits, Profile};
use crate::bindings::exports::apportion::dra::types;
use crate::{Component, from_wire, to_wire};

/// One controller; the host calls its methods one at a time.
pub(crate) struct Controlled(RefCell<Controller>);

impl wit::Guest for Component {
    type Controller = Controlled;
}

impl wit::GuestController for Controlled {
    fn create(
        profile: Profile,
        limits: Limits,
        settings: wit::Settings,
    ) -> Result<wit::Controller, Vec<types::Finding>> {
        let profile = from_wire::profile(&profile).map_err(to_wire::findings)?;
        let limits = apportion_core::allocate::Limits { max_steps: limits.max_steps };
        let part = match settings.part {
            wit::Part::TemplateSync => Part::TemplateSync,
            wit::Part::Explainer => Part::Explainer,
            wit::Part::Claims => Part::Claims,
            wit::Part::PodGroupProtection => Part::PodGroupProtection,
            wit::Part::TaintEviction => Part::TaintEviction,
            wit::Part::Scheduler => Part::Scheduler,
        };
        let wit::Settings { home, allow_admin_access, conditions, .. } = settings;
        let settings = Settings { part, home, allow_admin_access, conditions };
        Ok(wit::Controller::new(Self(RefCell::new(Controller::new(profile, limits, settings)))))
    }

    fn apply(&self, objects: Vec<String>) -> Vec<Vec<types::Finding>> {
        let findings = self.0.borrow_mut().apply(objects.iter().map(String::as_str));
        findings.into_iter().map(to_wire::findings).collect()
    }

    fn delete(&self, object: types::ObjectRef) -> bool {
        self.0.borrow_mut().delete(&from_wire::object_ref(object))
    }

    fn due(&self) -> Vec<wit::Task> {
        let due = self.0.borrow_mut().due();
        due.into_iter()
            .map(|task| wit::Task {
                object: to_wire::object_ref(task.object),
                lane: match task.lane {
                    Lane::Urgent => wit::Lane::Urgent,
                    Lane::Repair => wit::Lane::Repair,
                    Lane::Rollout => wit::Lane::Rollout,
                    Lane::Report => wit::Lane::Report,
                },
                after_millis: task.after_millis,
            })
            .collect()
    }

    fn standings(&self) -> String {
        self.0.borrow().standings().to_string()
    }

    fn reconcile(&self, object: types::ObjectRef, now_millis: i64) -> wit::Decision {
        let object = from_wire::object_ref(object);
        decision(self.0.borrow_mut().reconcile(&object, Time::from_millis(now_millis)))
    }

    fn conclude(&self, object: types::ObjectRef, conclusion: wit::Conclusion) {
        let conclusion = match conclusion {
            wit::Conclusion::Done => Conclusion::Done,
            wit::Conclusion::Failed => Conclusion::Failed,
            wit::Conclusion::Unanswered => Conclusion::Unanswered,
            wit::Conclusion::Refused(denial) => Conclusion::Refused { status: denial.status, message: denial.message },
        };
        self.0.borrow_mut().conclude(&from_wire::object_ref(object), conclusion);
    }
}

fn decision(decision: Decision) -> wit::Decision {
    let gone = decision.gone.into_iter();
    wit::Decision {
        writes: decision.actions.into_iter().map(write).collect(),
        wake_up_millis: decision.wake_up.map(Time::millis),
        retry: decision.retry,
        announcements: decision.events.into_iter().map(announcement).collect(),
        gone: gone.map(|one| wit::Identified { object: to_wire::object_ref(one.object), uid: one.uid }).collect(),
        cause: match decision.cause {
            Cause::Usual => wit::Cause::Usual,
            Cause::Drift => wit::Cause::Drift,
            Cause::Held => wit::Cause::Held,
            Cause::Replacement { since } => wit::Cause::Replacement(since.millis()),
        },
    }
}

fn write(action: Action) -> wit::Write {
    match action {
        Action::Create { object, refused } => {
            wit::Write::Create(wit::Creation { object: object.write().to_string(), refused: refused.map(announcement) })
        }
        Action::Update(object) => wit::Write::Update(object.write().to_string()),
        Action::UpdateStatus(object) => wit::Write::UpdateStatus(object.write().to_string()),
        Action::Patch(patch) => wit::Write::Patch(fields(patch)),
        Action::Delete { object, uid, resource_version } => {
            wit::Write::Delete(wit::Removal { object: to_wire::object_ref(object), uid, resource_version })
        }
        Action::Bind { pod, uid, node } => wit::Write::Bind(wit::Binding { pod: to_wire::object_ref(pod), uid, node }),
        Action::Record(event) => wit::Write::Announce(announcement(event)),
    }
}

fn fields(patch: Patch) -> wit::FieldsWrite {
    let merging = match patch.merging {
        Merging::Merge => wit::Merging::Merge,
        Merging::Strategic => wit::Merging::Strategic,
        Merging::Apply(manager) => wit::Merging::Apply(manager),
    };
    wit::FieldsWrite {
        object: to_wire::object_ref(patch.object),
        uid: patch.uid,
        resource_version: patch.resource_version,
        status: patch.status,
        merging,
        fields: patch.fields.to_string(),
    }
}

fn announcement(event: EventRecord) -> wit::Announcement {
    wit::Announcement {
        regarding: to_wire::object_ref(event.regarding),
        uid: event.uid,
        is_warning: event.is_warning,
        reason: event.reason,
        note: event.note,
        controller: event.controller,
        action: event.action,
    }
}
