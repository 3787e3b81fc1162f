//! What the controller remembers between two looks: what the API server refused, and which copies are being replaced.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::rollout::Rollout;
use super::{Reason, Refusal, Settings, State, Work, reconcile, told_of};
use crate::api::object::Object;
use crate::api::source::TemplateSource;
use crate::cluster::{Cluster, Key};
use crate::decision::{Decision, Trigger};
use crate::finding::Severity;
use crate::profile::Profile;
use crate::validate::{Submission, validate};

/// Settings and memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) settings: Settings,
    /// The latest refusals, by namespace and name of the copy.
    pub(crate) refusals: BTreeMap<Key, Refusal>,
    rollout: Rollout,
}

impl Memory {
    pub(crate) fn new(home: String, allow_admin_access: bool) -> Self {
        let settings = Settings { home, allow_admin_access, unusable: BTreeMap::new() };
        Self { settings, ..Self::default() }
    }

    /// Judges a source by the rules of its kind.
    pub(crate) fn judge(&mut self, source: &TemplateSource, profile: &Profile) {
        let uid = &source.metadata.uid;
        match flaw(source, profile) {
            Some(flaw) => drop(self.settings.unusable.insert(uid.clone(), flaw)),
            None => drop(self.settings.unusable.remove(uid)),
        }
    }

    /// Forgets what is gone.
    pub(crate) fn note(&mut self, trigger: &Trigger) {
        match (trigger.before.as_deref(), &trigger.after) {
            (Some(Object::TemplateSource(gone)), None) => drop(self.settings.unusable.remove(&gone.metadata.uid)),
            (Some(Object::Namespace(gone)), None) => self.refusals.retain(|key, _| key.0 != gone.metadata.name),
            _ => {}
        }
    }

    /// What to do about one copy, how it stands, and the copy whose turn it is now. `None` where it has to wait for its turn.
    pub(crate) fn reconcile(&mut self, cluster: &Cluster, key: &Key) -> Option<(Decision, State, Option<Work>)> {
        let (decision, state) = reconcile(cluster, &self.settings, &key.0, &key.1);
        let next = match state {
            State::Replacing { most: Some(most) } if !self.rollout.admit(key, most) => return None,
            State::Replacing { .. } | State::Changing | State::Refused { .. } => None,
            State::NotWanted | State::Current | State::Outdated | State::Conflict | State::Superseded { .. } => {
                self.rollout.close(key).map(|(namespace, name)| Work::Copy { namespace, name })
            }
        };
        Some((decision, state, next))
    }

    /// Takes into account how the writes about a copy ended: with a refusal, or well. Gives what that matters to.
    pub(crate) fn answered(&mut self, cluster: &Cluster, key: &Key, refused: Option<(u16, String)>) -> BTreeSet<Work> {
        let changed = match refused {
            None => self.refusals.remove(key).is_some(),
            Some((status, message)) => {
                let refusal = Refusal { reason: Reason::of_answer(status, &message), message };
                self.refusals.insert(key.clone(), refusal.clone()) != Some(refusal)
            }
        };
        if changed { told_of(cluster, &self.settings, &key.0, &key.1) } else { BTreeSet::new() }
    }
}

/// The first rule that a source breaks, in the words of `validate`.
fn flaw(source: &TemplateSource, profile: &Profile) -> Option<String> {
    let mut object = Object::TemplateSource(Arc::new(source.clone())).write();
    // That is ours.
    object.as_object_mut()?.remove("status");
    // A claim that asks for nothing is written as nothing.
    if let Some(template) = object.pointer_mut("/spec/template").and_then(Value::as_object_mut) {
        template.entry("spec").or_insert_with(|| json!({}));
    }
    let findings = validate(Submission::create(object), profile);
    let error = findings.into_iter().find(|finding| finding.kind.is_some() && finding.severity == Severity::Error)?;
    Some(format!("{}: {}", error.path, error.message))
}
