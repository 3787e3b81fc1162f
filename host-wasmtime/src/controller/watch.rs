//! What happens to the objects of one kind, told to all who want to know.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use apportion_core::finding::ObjectRef;
use futures::{Stream, StreamExt, TryStreamExt};
use kube::Client;
use kube::api::Api;
use kube::core::{ApiResource, DynamicObject, ObjectMeta, PartialObjectMeta};
use kube::runtime::watcher::{self, Event, watcher};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tracing::{debug, error, info, warn};

use super::ahead::Written;
use super::leader::Fence;
use super::metrics::Metrics;
use super::{rights, runtime};
use crate::api_server::{NAMESPACES, NODES, PODS, Raw, Resource, Served, TEMPLATES};

/// Pause before a kind that is not served is looked for again: one that is needed, and one that is not.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
const LOOK_AGAIN_OPTIONAL: Duration = Duration::from_secs(300);

/// Pause after the first failure of a watch, the longest one, and how long after a failure the next one counts as the first.
const FIRST_PAUSE: Duration = Duration::from_millis(800);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const FORGOTTEN: Duration = Duration::from_secs(120);

/// How often objects are looked for that were written and that the watch has not reported.
const LOOK_FOR_WRITTEN: Duration = Duration::from_secs(30);

/// Something that happened.
#[derive(Clone, Debug)]
pub(super) enum News {
    /// An object is as follows.
    Applied(Seen),
    /// An object with this UID is gone.
    Gone { object: ObjectRef, uid: String },
    /// Everything of this kind has been told, as it was in this term or later.
    Synced(&'static str, u64),
}

/// An object as it was seen.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) object: ObjectRef,
    pub(super) uid: String,
    /// 0 where it cannot be told.
    pub(super) version: u64,
    pub(super) text: Arc<str>,
}

impl Seen {
    /// An object as the API server gave it.
    pub(super) fn of(kind: &str, mut value: Value) -> Self {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
        let (uid, version) = (text("/metadata/uid"), text("/metadata/resourceVersion"));
        trim(kind, &mut value);
        let object = ObjectRef { kind: kind.to_owned(), namespace, name };
        Self { object, uid, version: version.parse().unwrap_or(0), text: value.to_string().into() }
    }
}

/// One kind, and who wants to know.
pub(super) struct Watch {
    pub(super) client: Client,
    pub(super) resource: Resource,
    pub(super) served: Arc<Served>,
    pub(super) metrics: Arc<Metrics>,
    /// They take what comes in their own time: one that is slow holds up no other.
    pub(super) listeners: Vec<mpsc::UnboundedSender<News>>,
    pub(super) fence: Fence,
    pub(super) written: Arc<Written>,
}

impl Watch {
    /// Watches until nobody listens. Everything is listed anew when this replica begins to lead: what a watch has told by then
    /// may be older than the last write of the one that led before.
    pub(super) async fn run(self) {
        let name = self.resource.full_name();
        let mut known = BTreeMap::new();
        while !self.listeners.iter().all(mpsc::UnboundedSender::is_closed) {
            let term = self.fence.term();
            match self.served.find(&self.client, &self.resource).await {
                Ok(Some(kind)) => {
                    info!(kind = name, version = kind.version, "watching");
                    tokio::select! {
                        biased;
                        () = self.watch(&kind, term, &mut known) => {}
                        () = self.term_after(term) => {}
                    }
                }
                Ok(None) if !self.resource.is_everywhere => {
                    info!(kind = name, "not served: taken to be none");
                    self.tell(&News::Synced(self.resource.plural, term));
                    tokio::select! {
                        biased;
                        () = runtime::sleep(LOOK_AGAIN_OPTIONAL) => {}
                        () = self.term_after(term) => {}
                    }
                }
                Ok(None) => {
                    error!(kind = name, "not served, and needed");
                    runtime::sleep(LOOK_AGAIN).await;
                }
                Err(error) => {
                    warn!(kind = name, %error, "cannot be listed");
                    self.metrics.watch_failed(self.resource.plural);
                    runtime::sleep(LOOK_AGAIN).await;
                }
            }
        }
    }

    /// Waits until this replica leads in another term.
    async fn term_after(&self, term: u64) {
        let mut fence = self.fence.clone();
        while fence.term() <= term {
            fence.changed().await;
        }
    }

    async fn watch(&self, kind: &ApiResource, term: u64, known: &mut BTreeMap<ObjectRef, String>) {
        // Of a namespace nothing but its metadata matters.
        if self.resource == NAMESPACES {
            let api: Api<PartialObjectMeta<DynamicObject>> = Api::all_with(self.client.clone(), kind);
            let events = watcher(api, watcher::Config::default());
            let events = events.map_ok(|event| map(event, |one: PartialObjectMeta<DynamicObject>| one.metadata));
            let bare = |metadata: ObjectMeta| json!({ "apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata });
            self.follow(events, bare, term, known).await;
        } else {
            let api: Api<Raw> = Api::all_with(self.client.clone(), kind);
            let events = watcher(api, watcher::Config::default());
            let whole = |object: Raw| object.of_kind(kind);
            self.follow(events, whole, term, known).await;
        }
    }

    /// `known` are the objects that were told of, with their UIDs; it stays right wherever this is given up.
    async fn follow<K>(
        &self,
        events: impl Stream<Item = Result<Event<K>, watcher::Error>>,
        write: impl Fn(K) -> Value,
        term: u64,
        known: &mut BTreeMap<ObjectRef, String>,
    ) {
        let kind = self.resource.reference_kind();
        let mut events = pin!(events);
        // What was written before a list was asked for, while it is being read.
        let (mut listed, mut written) = (BTreeMap::new(), None);
        let (mut unreported, mut look) = (BTreeSet::new(), far(LOOK_FOR_WRITTEN));
        let mut pauses = Pauses::default();
        loop {
            let event = tokio::select! {
                biased;
                event = events.next() => event,
                () = runtime::sleep_until(look), if written.is_none() => {
                    let since = std::mem::replace(&mut unreported, self.written.unreported(kind, known));
                    if !since.is_disjoint(&unreported) {
                        // An answer that came after a list which lacks its object: no watch reports the end of that.
                        info!(kind, "listed again: the watch does not report what was written");
                        return;
                    }
                    look = far(LOOK_FOR_WRITTEN);
                    continue;
                }
            };
            let Some(event) = event else { return };
            match event {
                Ok(Event::Init) => {
                    listed.clear();
                    written = Some(self.written.of_kind(kind));
                }
                Ok(Event::InitApply(object)) => {
                    let seen = Seen::of(kind, write(object));
                    listed.insert(seen.object.clone(), seen.uid.clone());
                    self.tell_of(seen, known);
                }
                Ok(Event::InitDone) => {
                    // What is not in the list was deleted while nobody looked.
                    for (object, uid) in missing(known, written.take().unwrap_or_default(), &listed) {
                        self.written.told(&object, &uid);
                        self.tell(&News::Gone { object, uid });
                    }
                    *known = std::mem::take(&mut listed);
                    debug!(kind, objects = known.len(), "listed");
                    self.metrics.watch_listed(self.resource.plural);
                    self.tell(&News::Synced(self.resource.plural, term));
                }
                Ok(Event::Apply(object)) => {
                    self.tell_of(Seen::of(kind, write(object)), known);
                }
                Ok(Event::Delete(object)) => {
                    let Seen { object, uid, .. } = Seen::of(kind, write(object));
                    known.remove(&object);
                    self.written.told(&object, &uid);
                    self.tell(&News::Gone { object, uid });
                }
                Err(error) => {
                    if rights::is_news(&error.to_string()) {
                        warn!(kind, %error, "the watch is begun again");
                    }
                    self.metrics.watch_failed(self.resource.plural);
                    runtime::sleep(pauses.next(runtime::now())).await;
                }
            }
            if self.listeners.iter().all(mpsc::UnboundedSender::is_closed) {
                return;
            }
        }
    }

    /// Tells of an object, and before that of the end of another one that had its name.
    fn tell_of(&self, seen: Seen, known: &mut BTreeMap<ObjectRef, String>) {
        let before = known.insert(seen.object.clone(), seen.uid.clone());
        if let Some(uid) = before.filter(|uid| *uid != seen.uid) {
            self.tell(&News::Gone { object: seen.object.clone(), uid });
        }
        self.written.told(&seen.object, &seen.uid);
        self.tell(&News::Applied(seen));
    }

    fn tell(&self, news: &News) {
        for listener in &self.listeners {
            // One that ended does not listen any more.
            let _ = listener.send(news.clone());
        }
    }
}

fn far(pause: Duration) -> Instant {
    let now = runtime::now();
    now.checked_add(pause).unwrap_or(now)
}

/// Objects that were told of or written, and that a list asked for later lacks; each with its UID. An object that was written and is gone may
/// have had the name of one that was told of.
fn missing(
    known: &BTreeMap<ObjectRef, String>,
    written: Vec<(ObjectRef, String)>,
    listed: &BTreeMap<ObjectRef, String>,
) -> BTreeSet<(ObjectRef, String)> {
    let is_missing = |(object, uid): &(&ObjectRef, &String)| listed.get(*object) != Some(*uid);
    let written = written.iter().map(|(object, uid)| (object, uid));
    known.iter().chain(written).filter(is_missing).map(|(object, uid)| (object.clone(), uid.clone())).collect()
}

/// Pauses that grow with each failure, so that a server that cannot keep up is not asked for more.
#[derive(Default)]
struct Pauses(Option<(Instant, Duration)>);

impl Pauses {
    fn next(&mut self, now: Instant) -> Duration {
        let last = self.0.filter(|(last, _)| now.saturating_duration_since(*last) < FORGOTTEN);
        let pause = last.map_or(FIRST_PAUSE, |(_, pause)| pause.saturating_mul(2).min(LONGEST_PAUSE));
        self.0 = Some((now, pause));
        pause.mul_f64(runtime::jitter())
    }
}

fn map<A, B>(event: Event<A>, change: impl Fn(A) -> B) -> Event<B> {
    match event {
        Event::Apply(object) => Event::Apply(change(object)),
        Event::Delete(object) => Event::Delete(change(object)),
        Event::InitApply(object) => Event::InitApply(change(object)),
        Event::Init => Event::Init,
        Event::InitDone => Event::InitDone,
    }
}

/// Fields of containers on which something may depend.
const CONTAINER: [&str; 4] = ["name", "ports", "resources", "restartPolicy"];

/// Ways in which a volume of a Pod has a PersistentVolumeClaim.
const VOLUME: [&str; 2] = ["persistentVolumeClaim", "ephemeral"];

/// Leaves out what plays no part and is large. Pods and Nodes are never written as a whole, so nothing is lost.
fn trim(kind: &str, value: &mut Value) {
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        match metadata.get_mut("managedFields").and_then(Value::as_array_mut) {
            // Who wrote a template says whether it is a copy.
            Some(managers) if kind == TEMPLATES.kind => {
                let managers = managers.iter_mut().filter_map(Value::as_object_mut);
                managers.for_each(|one| one.retain(|field, _| field == "manager"));
            }
            _ => drop(metadata.remove("managedFields")),
        }
    }
    if kind == PODS.kind {
        if let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) {
            if let Some(volumes) = spec.get_mut("volumes").and_then(Value::as_array_mut) {
                // Whose claims are bound decides about nodes; the claim of a volume that is the Pod's own has its name.
                volumes.retain(|volume| VOLUME.iter().any(|way| volume.get(way).is_some()));
                volumes.iter_mut().filter_map(|volume| volume.get_mut("ephemeral")).for_each(|own| *own = json!({}));
            }
            for list in ["containers", "initContainers", "ephemeralContainers"] {
                let containers = spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
                for container in containers.filter_map(Value::as_object_mut) {
                    container.retain(|field, _| CONTAINER.contains(&field.as_str()));
                }
            }
        }
        if let Some(status) = value.get_mut("status").and_then(Value::as_object_mut) {
            status.retain(|field, _| !field.ends_with("ontainerStatuses"));
        }
    } else if kind == NODES.kind
        && let Some(status) = value.get_mut("status").and_then(Value::as_object_mut)
    {
        status.remove("images");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_a_watch_holds() {
        let (mut pauses, start) = (Pauses::default(), Instant::now());
        let grown: Vec<Duration> = (0..9).map(|_| pauses.next(start)).collect();
        assert!(grown[0] < Duration::from_secs(1) && grown[2] > grown[1] && grown[8] >= LONGEST_PAUSE, "{grown:?}");
        assert!(pauses.next(start + FORGOTTEN) < Duration::from_secs(1), "it held for a while");
    }

    /// The end of one would be taken for the end of the other.
    #[test]
    fn an_object_that_was_written_does_not_hide_its_successor() {
        let object = |name: &str| ObjectRef::new("Thing", "ml", name);
        let one = |name: &str, uid: &str| (object(name), uid.to_owned());
        let known = BTreeMap::from([one("replaced", "b"), one("here", "c"), one("gone", "d")]);
        let written = vec![one("replaced", "a"), one("here", "c"), one("unheard", "e")];
        let listed = BTreeMap::from([one("here", "c")]);
        let expected = [one("replaced", "a"), one("replaced", "b"), one("gone", "d"), one("unheard", "e")];
        assert_eq!(missing(&known, written, &listed), BTreeSet::from(expected));
    }

    #[test]
    fn what_decides_is_kept_and_what_is_large_is_not() {
        let pod = json!({
            "metadata": { "name": "p", "uid": "u", "resourceVersion": "7", "managedFields": [{}] },
            "spec": {
                "volumes": [{}, { "name": "v", "ephemeral": { "volumeClaimTemplate": {} } }], "resourceClaims": [{ "name": "gpu" }],
                "containers": [{ "name": "c", "env": [{}], "ports": [{}], "resources": { "claims": [] } }],
            },
            "status": { "phase": "Pending", "containerStatuses": [], "initContainerStatuses": [] },
        });
        let seen = Seen::of("Pod", pod);
        assert_eq!((seen.uid.as_str(), seen.version), ("u", 7));
        let left = json!({
            "metadata": { "name": "p", "uid": "u", "resourceVersion": "7" },
            "spec": {
                "volumes": [{ "name": "v", "ephemeral": {} }], "resourceClaims": [{ "name": "gpu" }],
                "containers": [{ "name": "c", "ports": [{}], "resources": { "claims": [] } }],
            },
            "status": { "phase": "Pending" },
        });
        assert_eq!(serde_json::from_str::<Value>(&seen.text).unwrap(), left);
    }
}
