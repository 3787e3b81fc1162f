//! Whether what has settled is what a fresh start would leave as it is.

use std::collections::BTreeSet;

use super::finding;
use crate::allocate::Limits;
use crate::controller::{Conclusion, Controller, Part, Settings};
use crate::decision::{Action, Time};
use crate::finding::{Code, Finding, ObjectRef};
use crate::profile::Profile;

/// What a controller that starts now, with objects as they are in the cluster, would still write: one finding for each write.
/// Nothing where its part has settled. Events are no writes: whoever starts anew may tell users again.
pub fn unsettled<'t>(
    objects: impl IntoIterator<Item = &'t str>,
    profile: &Profile,
    settings: Settings,
    now: Time,
) -> Vec<Finding> {
    let is_slow = settings.part == Part::TemplateSync;
    let mut fresh = Controller::new(profile.clone(), Limits::default(), settings);
    fresh.apply(objects);
    let (mut asked, mut findings) = (BTreeSet::new(), Vec::new());
    loop {
        let due: Vec<ObjectRef> =
            fresh.due().into_iter().map(|task| task.object).filter(|object| asked.insert(object.clone())).collect();
        if due.is_empty() {
            return findings;
        }
        for object in due {
            let mut decision = fresh.reconcile(&object, now);
            // What a brake delays counts as well.
            if let Some(later) = decision.wake_up.filter(|_| is_slow) {
                decision = fresh.reconcile(&object, later);
            }
            findings.extend(decision.actions.iter().filter_map(in_words));
            fresh.conclude(&object, Conclusion::Done);
        }
    }
}

fn in_words(action: &Action) -> Option<Finding> {
    let (object, what) = match action {
        Action::Create { object, .. } => (object.reference(), "create it"),
        Action::Update(object) => (object.reference(), "update it"),
        Action::UpdateStatus(object) => (object.reference(), "update its status"),
        Action::Patch(patch) => (patch.object.clone(), "change fields of it"),
        Action::Delete { object, .. } => (object.clone(), "delete it"),
        Action::Bind { pod, .. } => (pod.clone(), "bind it to a node"),
        Action::Record(_) => return None,
    };
    let message = format!("nothing is at rest: a controller that starts now would {what}");
    let hint = "if the cluster had time to settle, report this with the log";
    Some(finding(Code::CheckUnsettled, object, "", message, hint))
}
