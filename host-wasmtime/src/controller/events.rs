//! Kubernetes Events: the same one is not written twice, its repetitions are counted.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use apportion_core::decision::EventRecord;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::core::ObjectMeta;
use kube::{Client, Error};
use serde_json::json;

use super::{rights, runtime};
use crate::api_server::Served;

/// How long nothing is written about a repetition.
const QUIET: Duration = Duration::from_secs(300);

/// How long the API server keeps Events.
const KEPT: Duration = Duration::from_secs(3600);

/// Longest note that the API takes, in bytes.
const MOST_NOTE: usize = 1024;

/// Longest part of an object's name in an Event's name.
const MOST_NAME: usize = 200;

/// An Event that is to be written: its name, and how often it has happened.
pub(super) struct Repetition {
    name: String,
    count: i32,
}

/// Whoever writes Events.
pub(super) struct Recorder {
    client: Client,
    /// This replica.
    instance: String,
    /// Events that were written: when last, and how often they happened.
    known: Mutex<BTreeMap<String, (Instant, i32)>>,
}

impl Recorder {
    pub(super) fn new(client: Client, instance: &str) -> Self {
        Self { client, instance: instance.to_owned(), known: Mutex::default() }
    }

    /// That an Event happens; `None` while nothing is to be written about it.
    pub(super) fn note(&self, record: &EventRecord) -> Option<Repetition> {
        let name = name(record);
        let now = runtime::now();
        let mut known = self.known.lock().ok()?;
        known.retain(|_, (last, _)| now.duration_since(*last) < KEPT);
        let (last, count) = known.entry(name.clone()).or_insert((now, 0));
        *count = count.saturating_add(1);
        if *count > 1 && now.duration_since(*last) < QUIET {
            return None;
        }
        *last = now;
        Some(Repetition { name, count: *count })
    }

    /// Writes an Event, or counts it.
    pub(super) async fn record(
        &self,
        record: &EventRecord,
        repetition: &Repetition,
        served: &Served,
    ) -> Result<(), Error> {
        let Repetition { name, count } = repetition;
        // Events about cluster-wide objects are kept in `default`, as the API demands.
        let namespace = match record.regarding.namespace.as_str() {
            "" => "default",
            namespace => namespace,
        };
        let api: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        match api.create(&PostParams::default(), &self.event(name, namespace, record, served)).await {
            Err(Error::Api(status)) if status.code == 409 => {
                let series = json!({ "count": count.max(&2), "lastObservedTime": runtime::micro_time() });
                let patch = Patch::Merge(json!({ "series": series }));
                api.patch(name, &PatchParams::default(), &patch).await.map(|_| ())
            }
            // A namespace that goes takes no Events, and nobody misses them.
            Err(Error::Api(status))
                if matches!(status.code, 403 | 404) && rights::missing(&status.message).is_none() =>
            {
                Ok(())
            }
            answer => answer.map(|_| ()),
        }
    }

    fn event(&self, name: &str, namespace: &str, record: &EventRecord, served: &Served) -> Event {
        let regarding = &record.regarding;
        let kind = served.of_kind(&regarding.kind);
        let optional = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Event {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                namespace: Some(namespace.to_owned()),
                ..ObjectMeta::default()
            },
            action: Some(optional(&record.action).unwrap_or_else(|| record.reason.clone())),
            event_time: Some(runtime::micro_time()),
            note: Some(cut(&record.note, MOST_NOTE).to_owned()),
            reason: Some(record.reason.clone()),
            regarding: Some(ObjectReference {
                api_version: kind.as_ref().map(|kind| kind.api_version.clone()),
                kind: Some(kind.map_or_else(|| regarding.kind.clone(), |kind| kind.kind)),
                name: optional(&regarding.name),
                namespace: optional(&regarding.namespace),
                uid: optional(&record.uid),
                ..ObjectReference::default()
            }),
            reporting_controller: Some(format!("apportion.dev/{}", record.controller)),
            reporting_instance: Some(self.instance.clone()),
            type_: Some(if record.is_warning { "Warning" } else { "Normal" }.to_owned()),
            ..Event::default()
        }
    }
}

/// A name derived from what the Event says, so that a controller that starts anew finds what it wrote before.
fn name(record: &EventRecord) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in [&record.uid, &record.reason, &record.note, &record.controller] {
        for byte in part.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    let start = cut(&record.regarding.name, MOST_NAME).trim_end_matches(['-', '.']);
    format!("{start}.{hash:016x}")
}

fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}
