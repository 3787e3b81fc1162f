//! What must hold after each change: the laws over any history, and that nothing of a user goes.

use std::collections::BTreeMap;
use std::time::Duration;

use apportion_core::check::History;
use apportion_core::profile::Profile;
use serde_json::{Value, json};
use tracing::info;

use super::api_server::{Change, Store};
use super::defect::is_not_understood;
use super::processor::elapsed;

/// How long something decided before may still arrive.
const LATE: Duration = Duration::from_secs(180);

/// What has happened so far.
pub(super) struct Laws {
    history: History,
    noted: u64,
    /// Whether nothing is under way.
    pub(super) is_at_rest: bool,
    /// Sources by UID, and from when on no copy of one may go, because it is not understood.
    sources: BTreeMap<String, Option<Duration>>,
    /// Until when a rule was there that evicts Pods.
    tainted: Option<Duration>,
    /// All changes, in one number.
    pub(super) hash: u64,
    pub(super) broken: Vec<String>,
}

fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

impl Laws {
    pub(super) fn new() -> Self {
        Self {
            history: History::new(Profile::default()),
            noted: 0,
            is_at_rest: false,
            sources: BTreeMap::new(),
            tainted: None,
            hash: 0xcbf2_9ce4_8422_2325,
            broken: Vec::new(),
        }
    }

    /// Takes in what has changed since this was asked last.
    pub(super) fn note(&mut self, store: &Store) {
        let known = store.changes.partition_point(|change| change.version <= self.noted);
        for change in &store.changes[known..] {
            self.noted = change.version;
            for byte in format!("{} {} {}", change.version, change.kind, change.object).bytes() {
                self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            self.judge(change);
        }
        if store.of("devicetaintrules").next().is_some() {
            self.tainted = Some(elapsed() + LATE);
        }
    }

    fn judge(&mut self, change: &Change) {
        let (object, is_end) = (&change.object, change.kind == "DELETED");
        if matches!(change.plural.as_str(), "leases" | "events") {
            return;
        }
        if change.plural == "clusterresourceclaimtemplates" {
            let uid = text(object, "/metadata/uid").to_owned();
            match (is_end, is_not_understood(object)) {
                (true, _) => drop(self.sources.remove(&uid)),
                (false, true) => {
                    let kept = if self.is_at_rest { elapsed() } else { elapsed() + LATE };
                    self.sources.entry(uid).or_default().get_or_insert(kept);
                }
                (false, false) => drop(self.sources.insert(uid, None)),
            }
        }
        info!(change.version, change.kind, change.is_given, object = %object, "changed");
        let found = self.history.note(json!({ "type": change.kind, "object": object }));
        if change.is_given {
            return;
        }
        let mut broken: Vec<String> =
            found.iter().filter(|one| one.code.text().starts_with("check/")).map(|one| format!("{one:?}")).collect();
        if is_end {
            broken.extend(self.wrongly_gone(change).map(str::to_owned));
        }
        let what =
            format!("{} {}/{}", change.plural, text(object, "/metadata/namespace"), text(object, "/metadata/name"));
        self.broken.extend(
            broken.into_iter().map(|why| format!("{:?}, version {}: {what}: {why}", elapsed(), change.version)),
        );
    }

    /// Why an object should not have been deleted by the controller.
    fn wrongly_gone(&self, change: &Change) -> Option<&'static str> {
        let object = &change.object;
        match change.plural.as_str() {
            "resourceclaimtemplates" if text(object, "/metadata/labels/app.kubernetes.io~1managed-by").is_empty() => {
                Some("a user's template was deleted")
            }
            "resourceclaimtemplates" => {
                let source = self.sources.get(text(object, "/metadata/labels/apportion.dev~1source-uid"));
                let kept = source.copied().flatten()?;
                (elapsed() >= kept).then_some("a copy was deleted whose source is not understood")
            }
            "resourceclaims" => {
                let is_users = object["metadata"]["ownerReferences"].as_array().is_none_or(Vec::is_empty);
                let is_going = object["metadata"]["deletionTimestamp"].is_string();
                (is_users && !is_going).then_some("a user's claim was deleted")
            }
            "pods" => self.tainted.is_none_or(|until| elapsed() > until).then_some("a Pod was deleted"),
            "podgroups" if object["metadata"]["deletionTimestamp"].is_string() => None,
            _ => Some("it was deleted"),
        }
    }
}
