//! A decision becomes requests.

use std::collections::BTreeMap;

use serde_json::json;

use super::Simulation;
use crate::api::object::Object;
use crate::control_plane::server::Refused;
use crate::decision::{Action, Decision, Identified, Patch};
use crate::finding::ObjectRef;
use crate::profile::Mode;

impl Simulation {
    /// Carries out a decision. False when something was refused or lost: then what came after it did not happen.
    pub(super) fn carry_out(&mut self, decision: Decision) -> bool {
        let is_there = |Identified { object, uid }: &Identified| {
            self.server.metadata(object).is_some_and(|metadata| metadata.uid == *uid) || self.server.is_unseen(uid)
        };
        if decision.gone.iter().any(is_there) {
            return false;
        }
        let mut versions = Versions::default();
        let mut done = true;
        for action in decision.actions {
            if self.writes_left == Some(0) {
                self.writes_left = None;
                return false;
            }
            self.writes_left = self.writes_left.map(|left| left.saturating_sub(1));
            self.writes = self.writes.saturating_add(1);
            self.disturb(&action);
            let refused = match &action {
                Action::Create { object, refused: Some(event) } => Some((Object::clone(object), event.clone())),
                _ => None,
            };
            let written = written(&action);
            let answer = self.request(action, &mut versions);
            if let (Ok(()), Some(key), Some(seen)) = (&answer, written, self.seen.as_mut()) {
                match self.server.cluster().get(&key) {
                    Some(object) => seen.apply(object),
                    None => drop(seen.delete(&key)),
                }
            }
            self.refused = answer.as_ref().err().cloned();
            match (answer, refused) {
                (Ok(()), _) => {}
                (Err(error), Some((object, mut event))) if !error.is_race() => {
                    self.refusals.note(self.server.cluster(), &event.regarding, &object, &error);
                    event.note.push_str(&error.message);
                    self.server.record(event);
                    done = false;
                    if self.controllers.profile.mode == Mode::Reference {
                        break;
                    }
                }
                (Err(_), _) => {
                    done = false;
                    break;
                }
            }
        }
        for event in decision.events {
            self.server.record(event);
        }
        done
    }

    /// Lets somebody else be faster, if that is to happen now.
    fn disturb(&mut self, action: &Action) {
        let Some(left) = self.undisturbed else { return };
        self.undisturbed = left.checked_sub(1);
        let object = match action {
            Action::Update(object) | Action::UpdateStatus(object) => object.reference(),
            Action::Patch(patch) => patch.object.clone(),
            Action::Create { .. } | Action::Delete { .. } | Action::Bind { .. } | Action::Record(_) => return,
        };
        if left == 0 {
            let fields = json!({ "metadata": { "labels": { "touched": self.writes.to_string() } } });
            // Whether there is such an object does not matter to who disturbs.
            let _ = self.server.patch(&Patch::merge(object, false, fields), self.now);
        }
    }

    fn request(&mut self, action: Action, versions: &mut Versions) -> Result<(), Refused> {
        let now = self.now;
        match action {
            Action::Create { object, .. } => {
                let key = self.server.create_object(*object, now)?;
                versions.note(&key, self.version(&key));
                Ok(())
            }
            Action::Update(object) => self.update(*object, false, versions),
            Action::UpdateStatus(object) => self.update(*object, true, versions),
            Action::Patch(mut patch) => {
                patch.resource_version = versions.current(&patch.object, patch.resource_version);
                self.server.patch(&patch, now)?;
                versions.note(&patch.object, self.version(&patch.object));
                Ok(())
            }
            Action::Delete { object, uid, resource_version } => {
                self.server.delete_version(&object, &uid, &resource_version, None, now)
            }
            Action::Bind { pod, uid, node } => self.server.bind(&pod, &uid, &node, now),
            Action::Record(event) => {
                self.server.record(event);
                Ok(())
            }
        }
    }

    fn update(&mut self, mut object: Object, status: bool, versions: &mut Versions) -> Result<(), Refused> {
        let key = object.reference();
        let decided = std::mem::take(&mut object.metadata_mut().resource_version);
        object.metadata_mut().resource_version = versions.current(&key, decided);
        self.server.update_object(object, status, self.now)?;
        versions.note(&key, self.version(&key));
        Ok(())
    }

    fn version(&self, key: &ObjectRef) -> String {
        self.server.metadata(key).map(|metadata| metadata.resource_version.clone()).unwrap_or_default()
    }
}

/// The object that an action changes.
fn written(action: &Action) -> Option<ObjectRef> {
    match action {
        Action::Create { object, .. } | Action::Update(object) | Action::UpdateStatus(object) => {
            Some(object.reference())
        }
        Action::Patch(patch) => Some(patch.object.clone()),
        Action::Delete { object, .. } => Some(object.clone()),
        Action::Bind { pod, .. } => Some(pod.clone()),
        Action::Record(_) => None,
    }
}

/// Versions that objects got from earlier writes of the same decision.
#[derive(Default)]
struct Versions(BTreeMap<ObjectRef, String>);

impl Versions {
    fn current(&self, key: &ObjectRef, decided: String) -> String {
        self.0.get(key).cloned().unwrap_or(decided)
    }

    fn note(&mut self, key: &ObjectRef, version: String) {
        self.0.insert(key.clone(), version);
    }
}
