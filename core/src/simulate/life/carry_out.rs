//! A decision becomes requests.

use serde_json::{Value, json};

use super::Simulation;
use crate::finding::ObjectRef;
use crate::lifecycle::{Action, Decision};
use crate::profile::Mode;
use crate::simulate::server::Refused;

impl Simulation {
    /// Carries out a decision. False when something was refused or lost: then what came after it did not happen.
    pub(super) fn carry_out(&mut self, decision: Decision) -> bool {
        let is_there = |(object, uid): &(ObjectRef, String)| {
            let found = self.server.get(object).and_then(|value| value.pointer("/metadata/uid"));
            found.and_then(Value::as_str) == Some(uid)
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
            let refused = match &action {
                Action::Create { refused, .. } => refused.clone(),
                _ => None,
            };
            match (self.request(action, &mut versions), refused) {
                (Ok(()), _) => {}
                (Err(error), Some(mut event)) if !error.is_race() => {
                    event.note.push_str(&error.message);
                    self.server.record(event);
                    done = false;
                    if self.controllers.mode == Mode::Reference {
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

    fn request(&mut self, action: Action, versions: &mut Versions) -> Result<(), Refused> {
        let now = self.now;
        match action {
            Action::Create { object, .. } => self.server.create(object.write(), now).map(|_| ()),
            Action::Update(object) => self.update(object.reference(), object.write(), false, versions),
            Action::UpdateStatus(object) => self.update(object.reference(), object.write(), true, versions),
            Action::Patch(mut patch) => {
                patch.resource_version = versions.current(&patch.object, patch.resource_version);
                self.server.patch(&patch, now)?;
                versions.note(&patch.object, self.version(&patch.object));
                Ok(())
            }
            Action::Delete { object, uid } => self.server.delete(&object, &uid, None, now),
            Action::Bind { pod, uid, node } => self.server.bind(&pod, &uid, &node, now),
            Action::Record(event) => {
                self.server.record(event);
                Ok(())
            }
        }
    }

    fn update(
        &mut self,
        key: ObjectRef,
        mut value: Value,
        status: bool,
        versions: &mut Versions,
    ) -> Result<(), Refused> {
        let decided = value.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
        let current = versions.current(&key, decided);
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("resourceVersion".to_owned(), json!(current));
        }
        self.server.update(value, status, self.now)?;
        versions.note(&key, self.version(&key));
        Ok(())
    }

    fn version(&self, key: &ObjectRef) -> String {
        let version = self.server.get(key).and_then(|value| value.pointer("/metadata/resourceVersion"));
        version.and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

/// Versions that objects got from earlier writes of the same decision.
#[derive(Default)]
struct Versions(Vec<(ObjectRef, String)>);

impl Versions {
    fn current(&self, key: &ObjectRef, decided: String) -> String {
        self.0.iter().rev().find(|(known, _)| known == key).map_or(decided, |(_, version)| version.clone())
    }

    fn note(&mut self, key: &ObjectRef, version: String) {
        self.0.push((key.clone(), version));
    }
}
