//! Carries decisions out: one write after the other, Pods side by side, and none once the lease may be somebody else's.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use apportion_core::controller::Conclusion;
use apportion_core::decision::{Action, Decision, EventRecord, Identified, Merging, Patch};
use apportion_core::finding::ObjectRef;
use either::Either;
use futures::future::join_all;
use kube::api::{Api, DeleteParams, ListParams, Patch as Body, PatchParams, PostParams, Preconditions, Resource};
use kube::{Client, Error};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tracing::{debug, info, warn};

use super::events::Recorder;
use super::leader::Fence;
use super::limit::Limit;
use super::metrics::Metrics;
use super::rights;
use super::runtime::{self, Late};
#[cfg(test)]
use super::simulation::{Defect, has};
use super::steps::{Done, Failure, Feedback, Outcome, Step, turns};
use super::traces;
use super::watch::Seen;
use crate::api_server::{Raw, Served};

/// How long a write may take. Together with the time after which none is started it ends before the lease does.
const PATIENCE: Duration = Duration::from_secs(5);

/// Decisions whose Events are written at the same time: they must not take the API server's time from what somebody waits for.
pub(super) const TELLERS: u32 = 1;

/// Events that may wait to be written. More come only while the API server is far behind, and then are left out.
const MOST_UNTOLD: usize = 10_000;

/// How long the API server is left alone when it has no time and does not say how long.
const NO_TIME: Duration = Duration::from_secs(1);

/// Field manager of all writes.
const MANAGER: &str = "apportion";

/// Whoever writes for one part.
pub(super) struct Writer {
    pub(super) part: &'static str,
    pub(super) client: Client,
    pub(super) served: Arc<Served>,
    pub(super) recorder: Arc<Recorder>,
    pub(super) limit: Arc<Limit>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) fence: Fence,
    /// Events come after everything that matters more; who writes them waits for a place here.
    pub(super) tellers: Semaphore,
    /// How many Events wait.
    pub(super) untold: AtomicUsize,
}

impl Writer {
    /// Carries a plan out, but for the Events that come with it.
    /// `term` is that in which it was decided on.
    pub(super) async fn carry_out(&self, plan: Decision<Value>, term: u64) -> (Outcome, Vec<EventRecord>) {
        let mut outcome = Outcome::new();
        for Identified { object, uid } in &plan.gone {
            #[cfg(test)]
            if has(Defect::Unread) {
                break;
            }
            if self.is_there(object, uid).await {
                outcome.conclusion = Conclusion::Failed;
                return (outcome, Vec::new());
            }
        }
        let (turns, told) = turns(plan.actions);
        let mut events = plan.events;
        events.extend(told);
        for turn in turns {
            let before = &outcome.feedback;
            let answers = join_all(turn.into_iter().map(|step| self.take(step, before, term))).await;
            // Side by side, so that one that fails does not undo the others: all of them are heard.
            let goes_on: Vec<bool> = answers.into_iter().map(|done| outcome.hear(done, &mut events)).collect();
            if goes_on.contains(&false) {
                break;
            }
        }
        (outcome, events)
    }

    /// Carries one step out.
    async fn take(&self, step: Step, before: &[Feedback], term: u64) -> Done {
        let Step { write, told } = step;
        let refused = match &write {
            Action::Create { refused, .. } => refused.clone(),
            _ => None,
        };
        let (what, is_create) = (in_words(&write), matches!(write, Action::Create { .. }));
        let answer = self.write(write, before, term).await;
        match &answer {
            Ok(_) => info!(part = self.part, write = what, "written"),
            Err(Failure::Refused(status, message)) if rights::is_news(message) => {
                warn!(part = self.part, write = what, status, message, "refused");
            }
            Err(Failure::Refused(..)) => debug!(part = self.part, write = what, "refused, as is said once an hour"),
            Err(Failure::Again(why, _)) => info!(part = self.part, write = what, why, "to be tried again"),
            Err(Failure::Exists(_)) => info!(part = self.part, write = what, "is there already"),
            Err(Failure::Unanswered(why)) => info!(part = self.part, write = what, why, "not answered"),
            Err(Failure::Fenced) => info!(part = self.part, write = what, "not written without the lease"),
        }
        Done { answer, is_create, refused, told }
    }

    /// Whether an object that was taken to be gone is there. One that cannot be seen counts as there, and so does one of a kind that
    /// is not served for now.
    async fn is_there(&self, object: &ObjectRef, uid: &str) -> bool {
        let Some(api) = self.api(object) else { return true };
        let is_gone = async {
            match api.get_opt(&object.name).await? {
                Some(found) => Ok(found.meta().uid.as_deref() != Some(uid)),
                None => api.list_metadata(&ListParams::default().limit(1)).await.map(|_| true),
            }
        };
        let answer: Result<Result<bool, Error>, Late> = runtime::timeout(PATIENCE, is_gone).await;
        !matches!(answer, Ok(Ok(true)))
    }

    /// Writes Events. One that does not come through is no reason not to go on.
    pub(super) async fn tell(&self, events: Vec<EventRecord>) {
        if events.is_empty() {
            return;
        }
        if self.untold.fetch_add(events.len(), Ordering::Relaxed) > MOST_UNTOLD {
            self.metrics.left_out(self.part, events.len());
        } else if let Ok(_place) = self.tellers.acquire().await {
            for event in &events {
                self.tell_one(event).await;
            }
        }
        self.untold.fetch_sub(events.len(), Ordering::Relaxed);
    }

    /// Waits until all Events are written.
    pub(super) async fn all_told(&self) {
        drop(self.tellers.acquire_many(TELLERS).await);
    }

    async fn tell_one(&self, event: &EventRecord) {
        let Some(repetition) = self.recorder.note(event) else { return };
        self.limit.take().await;
        if !self.fence.is_open() {
            return;
        }
        let (start, span) = (runtime::now(), traces::write(self.part, "event", || Some(event.regarding.clone())));
        let code = match runtime::timeout(PATIENCE, self.recorder.record(event, &repetition, &self.served)).await {
            Ok(Ok(())) => 200,
            Ok(Err(error)) => {
                if rights::is_news(&error.to_string()) {
                    warn!(part = self.part, reason = event.reason, %error, "an Event was not written");
                }
                code(&error)
            }
            Err(_) => 0,
        };
        self.metrics.wrote(self.part, "event", code, runtime::since(start));
        traces::written(&span, code);
    }

    fn api(&self, object: &ObjectRef) -> Option<Api<Raw>> {
        let kind = self.served.of_kind(&object.kind)?;
        Some(match object.namespace.as_str() {
            "" => Api::all_with(self.client.clone(), &kind),
            namespace => Api::namespaced_with(self.client.clone(), namespace, &kind),
        })
    }

    async fn write(&self, write: Action<Value>, before: &[Feedback], term: u64) -> Result<Option<Feedback>, Failure> {
        let verb = verb(&write);
        self.limit.take().await;
        let may = match gives_devices(&write) {
            true => runtime::timeout(PATIENCE, self.fence.is_confirmed_in(term)).await,
            false => Ok(Ok(self.fence.is_open_in(term))),
        };
        if !matches!(may, Ok(Ok(true))) {
            return Err(Failure::Fenced);
        }
        let (start, span) = (runtime::now(), traces::write(self.part, verb, || target(&write)));
        let created = target(&write);
        let answer = runtime::timeout(PATIENCE, self.request(write, before)).await;
        let code = match &answer {
            Ok(Ok(_)) => 200,
            Ok(Err(error)) => code(error),
            Err(_) => 0,
        };
        self.metrics.wrote(self.part, verb, code, runtime::since(start));
        traces::written(&span, code);
        if let Ok(Err(error)) = &answer
            && let Some(pause) = wish(error)
        {
            self.limit.pause(pause);
        }
        match answer {
            Ok(Ok(feedback)) => Ok(feedback),
            #[cfg(test)]
            Ok(Err(Error::Api(status))) if has(Defect::AnyUid) => Err(failure(Error::Api(status))),
            Ok(Err(Error::Api(status))) if status.is_already_exists() => match self.found(created).await {
                Some(found) => Err(Failure::Exists(found)),
                None => Err(failure(Error::Api(status))),
            },
            Ok(Err(error)) => Err(failure(error)),
            Err(_) => Err(Failure::Unanswered("no answer in time".to_owned())),
        }
    }

    /// An object that has the name of one that was to be made; the watch may be late with it.
    async fn found(&self, object: Option<ObjectRef>) -> Option<Feedback> {
        let object = object?;
        let found = runtime::timeout(PATIENCE, self.api(&object)?.get_opt(&object.name)).await.ok()?.ok()??;
        Some(Feedback::Has(Seen::of(&object.kind, found.into_value())))
    }

    async fn request(&self, write: Action<Value>, before: &[Feedback]) -> Result<Option<Feedback>, Error> {
        let parameters = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
        let object = target(&write);
        let Some(api) = object.as_ref().and_then(|object| self.api(object)) else { return Ok(None) };
        let Some(object) = object else { return Ok(None) };
        let written = match write {
            Action::Create { object: value, .. } => api.create(&parameters, &Raw::from(value)).await?,
            Action::Update(value) => {
                api.replace(&object.name, &parameters, &Raw::from(with_version(value, &object, before))).await?
            }
            Action::UpdateStatus(value) => {
                api.replace_status(&object.name, &parameters, &Raw::from(with_version(value, &object, before))).await?
            }
            Action::Patch(patch) => self.patch(&api, patch, before).await?,
            Action::Delete { uid, resource_version, .. } => {
                let resource_version = Some(resource_version).filter(|version| !version.is_empty());
                let preconditions = Some(Preconditions { uid: Some(uid.clone()), resource_version });
                let parameters = DeleteParams { preconditions, ..DeleteParams::default() };
                match api.delete(&object.name, &parameters).await {
                    Ok(Either::Left(going)) if going.is_deleting() => going,
                    Ok(_) => return Ok(Some(Feedback::Lost(object, uid))),
                    Err(Error::Api(status)) if status.code == 404 => return Ok(Some(Feedback::Lost(object, uid))),
                    Err(error) => return Err(error),
                }
            }
            Action::Bind { pod, uid, node } => {
                let binding = json!({
                    "apiVersion": "v1", "kind": "Binding",
                    "metadata": { "name": pod.name, "namespace": pod.namespace, "uid": uid },
                    "target": { "apiVersion": "v1", "kind": "Node", "name": node },
                });
                let _: Value = api.create_subresource("binding", &pod.name, &parameters, &binding).await?;
                return Ok(None);
            }
            Action::Record(_) => return Ok(None),
        };
        Ok(Some(Feedback::Has(Seen::of(&object.kind, written.into_value()))))
    }

    async fn patch(&self, api: &Api<Raw>, patch: Patch, before: &[Feedback]) -> Result<Raw, Error> {
        let Patch { object, uid, resource_version, status, merging, fields } = patch;
        let mut precondition = serde_json::Map::new();
        let version = version(&object, before).unwrap_or(resource_version);
        for (field, value) in [("uid", uid), ("resourceVersion", version)] {
            if !value.is_empty() {
                precondition.insert(field.to_owned(), json!(value));
            }
        }
        let (body, manager) = match merging {
            Merging::Merge => (Body::Merge(with_metadata(fields, precondition)), None),
            Merging::Strategic => (Body::Strategic(with_metadata(fields, precondition)), None),
            Merging::Apply(manager) => {
                precondition.insert("name".to_owned(), json!(object.name));
                let mut fields = with_metadata(fields, precondition);
                if let (Some(kind), Some(map)) = (self.served.of_kind(&object.kind), fields.as_object_mut()) {
                    map.insert("apiVersion".to_owned(), json!(kind.api_version));
                    map.insert("kind".to_owned(), json!(kind.kind));
                }
                (Body::Apply(fields), Some(manager))
            }
        };
        let parameters = PatchParams {
            force: manager.is_some(),
            field_manager: Some(manager.unwrap_or_else(|| MANAGER.to_owned())),
            ..PatchParams::default()
        };
        match status {
            true => api.patch_status(&object.name, &parameters, &body).await,
            false => api.patch(&object.name, &parameters, &body).await,
        }
    }
}

fn with_metadata(mut fields: Value, more: serde_json::Map<String, Value>) -> Value {
    if let Some(map) = fields.as_object_mut() {
        let metadata = map.entry("metadata").or_insert_with(|| json!({}));
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.extend(more);
        }
    }
    fields
}

/// The version that an earlier write of the same plan gave to an object.
fn version(object: &ObjectRef, before: &[Feedback]) -> Option<String> {
    before.iter().rev().find_map(|feedback| match feedback {
        Feedback::Has(seen) if seen.object == *object && seen.version > 0 => Some(seen.version.to_string()),
        Feedback::Has(_) | Feedback::Lost(..) => None,
    })
}

fn with_version(mut value: Value, object: &ObjectRef, before: &[Feedback]) -> Value {
    #[cfg(test)]
    if has(Defect::OneClock) {
        value["metadata"]["resourceVersion"] = Value::Null;
        return value;
    }
    if let (Some(version), Some(metadata)) =
        (version(object, before), value.get_mut("metadata").and_then(Value::as_object_mut))
    {
        metadata.insert("resourceVersion".to_owned(), json!(version));
    }
    value
}

/// Whether a write gives devices to a claim. Whoever leads later has to see it, or to make it fail.
fn gives_devices(write: &Action<Value>) -> bool {
    matches!(write, Action::UpdateStatus(object) if object.pointer("/status/allocation").is_some_and(|one| !one.is_null()))
}

/// The object that a write is about; `None` for Events.
fn target(write: &Action<Value>) -> Option<ObjectRef> {
    match write {
        Action::Create { object, .. } | Action::Update(object) | Action::UpdateStatus(object) => {
            let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
            let is_source = text("/apiVersion") == apportion_core::api::source::SOURCE_API_VERSION;
            let kind = match is_source {
                true => apportion_core::api::source::SOURCE_KIND.to_owned(),
                false => text("/kind"),
            };
            Some(ObjectRef { kind, namespace: text("/metadata/namespace"), name: text("/metadata/name") })
        }
        Action::Patch(patch) => Some(patch.object.clone()),
        Action::Delete { object, .. } => Some(object.clone()),
        Action::Bind { pod, .. } => Some(pod.clone()),
        Action::Record(_) => None,
    }
}

fn verb(write: &Action<Value>) -> &'static str {
    match write {
        Action::Create { .. } => "create",
        Action::Update(_) => "update",
        Action::UpdateStatus(_) => "update-status",
        Action::Patch(_) => "patch",
        Action::Delete { .. } => "delete",
        Action::Bind { .. } => "bind",
        Action::Record(_) => "event",
    }
}

fn in_words(write: &Action<Value>) -> String {
    target(write).map_or_else(|| verb(write).to_owned(), |object| format!("{} {object}", verb(write)))
}

/// HTTP status of an answer; 0 where there was none.
fn code(error: &Error) -> u16 {
    match error {
        Error::Api(status) => status.code,
        _ => 0,
    }
}

/// How long the server wants to be left alone.
fn wish(error: &Error) -> Option<Duration> {
    let Error::Api(status) = error else { return None };
    let wish = status.details.as_ref().map(|details| details.retry_after_seconds).filter(|wish| *wish > 0);
    let wish = wish.map(|wish| Duration::from_secs(u64::from(wish)));
    wish.or_else(|| (status.code == 429).then_some(NO_TIME)).filter(|_| status.code == 429 || status.code == 503)
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Api(status) => match status.code {
            400 | 403 | 404 | 405 | 413 | 422 => Failure::Refused(status.code, status.message.clone()),
            500.. => Failure::Unanswered(status.message.clone()),
            _ => Failure::Again(status.message.clone(), wish(&Error::Api(status))),
        },
        error => Failure::Unanswered(error.to_string()),
    }
}
