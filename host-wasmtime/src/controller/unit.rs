//! One part at work: hears news, asks the component, has its decisions carried out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use apportion::Error;
use apportion_core::controller::{Conclusion, GIVEN_TWICE, Lane};
use apportion_core::decision::{Action, Cause, Decision, EventRecord, Time};
use apportion_core::finding::{Finding, ObjectRef, Severity};
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tracing::{Instrument, Span, debug, error, info, warn};

use super::ahead::{Ahead, Written};
use super::engine::Engine;
use super::leader::Fence;
use super::metrics::Metrics;
use super::parts::PartName;
use super::queue::{Due, Queue};
use super::runtime;
use super::serve::Health;
#[cfg(test)]
use super::simulation::{self, Defect};
use super::steps::{Feedback, Outcome};
use super::traces;
use super::watch::News;
use super::writer::Writer;
use apportion_core::api::source::SOURCE_KIND;

/// Decisions that are carried out at the same time.
const MOST_AT_ONCE: usize = 16;

/// News that are taken in together.
const BATCH: usize = 512;

/// How often a part shows that it lives.
const BEAT: Duration = Duration::from_secs(10);

/// How long decisions that are being carried out may take to end.
const GRACE: Duration = Duration::from_secs(3);

/// One part.
pub(super) struct Unit {
    /// Its position among the parts.
    pub(super) index: usize,
    pub(super) part: PartName,
    pub(super) engine: Engine,
    pub(super) writer: Arc<Writer>,
    pub(super) fence: Fence,
    pub(super) metrics: Arc<Metrics>,
    pub(super) health: Arc<Health>,
    pub(super) queue: Queue,
    /// By kind, the term in which it was listed last; `None` while it was not told yet as a whole.
    pub(super) listed: BTreeMap<&'static str, Option<u64>>,
    /// What this replica wrote itself, and has not heard of yet.
    pub(super) ahead: Ahead,
    /// The same of all parts, for whoever lists.
    pub(super) written: Arc<Written>,
    /// The latest term that was begun; 0 before the first.
    pub(super) term: u64,
    /// Whether the component was made anew and does not know of decisions that are being carried out.
    pub(super) is_forgetful: bool,
}

/// A decision that was carried out.
struct Finished {
    due: Due,
    plan_again: Option<Time>,
    cause: Cause,
    is_to_retry: bool,
    status: Option<(String, Value)>,
    outcome: Outcome,
    span: Span,
}

impl Unit {
    /// Works until `stop`.
    pub(super) async fn run(mut self, mut news: mpsc::UnboundedReceiver<News>, mut stop: watch::Receiver<bool>) {
        let (sender, mut finished) = mpsc::channel::<Finished>(MOST_AT_ONCE);
        let mut heard = Vec::with_capacity(BATCH);
        let mut fence = self.fence.clone();
        // Whether something was decided that led to nothing: then there may be more to hand out.
        let mut has_more = false;
        loop {
            self.health.beat(self.index);
            let next = match std::mem::take(&mut has_more) {
                true => runtime::now(),
                false => self.queue.next().filter(|_| self.may_start()).unwrap_or_else(|| far(runtime::now())),
            };
            let beat = runtime::now().checked_add(BEAT).map_or(next, |beat| beat.min(next));
            tokio::select! {
                biased;
                _ = stop.changed() => break,
                Some(finished) = finished.recv() => self.conclude(finished).await,
                count = news.recv_many(&mut heard, BATCH) => {
                    if count == 0 {
                        break;
                    }
                    self.hear(std::mem::take(&mut heard)).await;
                }
                () = fence.changed() => {}
                () = runtime::sleep_until(beat) => {}
            }
            self.begin().await;
            if self.is_current() {
                self.collect().await;
            }
            self.is_forgetful &= self.queue.running() > 0;
            if self.queue.running() == 0 {
                self.ahead.rest();
            }
            while self.may_start() {
                let Some(due) = self.queue.pop(runtime::now()) else { break };
                has_more |= self.start(due, &sender).await;
            }
            for (lane, name) in LANES {
                self.metrics.queued(self.part.text(), name, self.queue.depth(lane));
            }
        }
        let end = async {
            while self.queue.running() > 0 {
                let Some(finished) = finished.recv().await else { break };
                self.queue.finish(&finished.due.object);
            }
        };
        let told = async {
            end.await;
            self.writer.all_told().await;
        };
        if runtime::timeout(GRACE, told).await.is_err() {
            warn!(part = self.part.text(), "some writes have not ended");
        }
    }

    /// Whether another decision may be carried out.
    fn may_start(&self) -> bool {
        self.queue.running() < MOST_AT_ONCE && !self.is_forgetful && self.fence.is_open() && self.is_current()
    }

    /// Whether it leads, and everything was listed since it does. What is due is asked for only then, so that it comes in the
    /// component's order and not in that in which things were heard of.
    fn is_current(&self) -> bool {
        let term = self.fence.term();
        term > 0 && self.listed.values().all(|listed| listed.is_some_and(|listed| listed >= term))
    }

    /// Begins a term. What the component remembers of an earlier one may be wrong by now.
    async fn begin(&mut self) {
        let (term, is_first) = (self.fence.term(), self.term == 0);
        if term == 0 || term == self.term {
            return;
        }
        self.term = term;
        if !is_first {
            self.is_forgetful = true;
            self.queue.clear();
            let renew = |controller: &mut apportion::Controller| {
                controller.renew();
                Ok(())
            };
            if let Err(error) = self.engine.call(renew).await {
                self.stopped(&error);
            }
        }
    }

    async fn hear(&mut self, news: Vec<News>) {
        let mut texts = Vec::new();
        for one in news {
            match one {
                News::Applied(seen) => {
                    if !self.ahead.is_old(&seen) {
                        if self.queue.running() > 0 {
                            self.ahead.hear(&seen);
                        }
                        texts.push(seen.text);
                    }
                }
                News::Gone { object, uid } => {
                    if self.ahead.is_known_end(&object, &uid, self.queue.running() > 0) {
                        continue;
                    }
                    self.apply(std::mem::take(&mut texts)).await;
                    self.delete(object, uid).await;
                }
                News::Synced(kind, term) => {
                    self.apply(std::mem::take(&mut texts)).await;
                    self.synced(kind, term);
                }
            }
        }
        self.apply(texts).await;
    }

    /// A kind was told of as a whole.
    fn synced(&mut self, kind: &'static str, term: u64) {
        let is_new = self.listed.insert(kind, Some(term)) == Some(None);
        if is_new && self.listed.values().all(Option::is_some) {
            info!(part = self.part.text(), "everything is known");
            self.health.ready();
        }
    }

    /// Gives objects to the component. Where it stops they are given one by one, so that only the one that does it is missing.
    async fn apply(&mut self, texts: Vec<Arc<str>>) {
        #[cfg(test)]
        let texts = simulation::misread(texts);
        if texts.is_empty() {
            return;
        }
        let (copy, _span) = (texts.clone(), traces::hear(self.part.text(), texts.len()));
        match self.engine.call(move |controller| controller.apply(&copy)).await {
            Ok(findings) => self.report(&findings),
            Err(error) => {
                self.stopped(&error);
                for text in texts {
                    let copy = Arc::clone(&text);
                    match self.engine.call(move |controller| controller.apply(&[copy])).await {
                        Ok(findings) => self.report(&findings),
                        Err(error) => {
                            self.stopped(&error);
                            self.apply_unread(&text).await;
                        }
                    }
                }
            }
        }
    }

    /// Tells the component of an object that it cannot take: that it is there, and not what it says.
    async fn apply_unread(&mut self, text: &str) {
        let Some(text) = unread(text) else { return self.metrics.unreadable(self.part.text()) };
        match self.engine.call(move |controller| controller.apply(&[text])).await {
            Ok(findings) => self.report(&findings),
            Err(error) => self.stopped(&error),
        }
    }

    fn report(&self, findings: &[Vec<Finding>]) {
        for finding in findings.iter().flatten().filter(|finding| finding.severity == Severity::Error) {
            let object = finding.object.as_ref().map(ToString::to_string).unwrap_or_default();
            warn!(object, code = finding.code.text(), path = finding.path, message = finding.message, "not readable");
            self.metrics.unreadable(self.part.text());
        }
    }

    fn stopped(&mut self, error: &Error) {
        self.is_forgetful = true;
        error!(part = self.part.text(), %error, "the component is made anew");
        self.metrics.trapped(self.part.text());
    }

    /// Takes an object out, unless another one has its name by now.
    async fn delete(&mut self, object: ObjectRef, uid: String) {
        if object.kind == SOURCE_KIND {
            self.metrics.forget_copies(&object.name);
        }
        if let Err(error) = self.engine.call(move |controller| controller.delete_one(&object, &uid)).await {
            self.stopped(&error);
        }
    }

    /// What is due goes into the queue.
    async fn collect(&mut self) {
        match self.engine.call(|controller| controller.due()).await {
            Ok(tasks) => {
                let now = runtime::now();
                for task in tasks {
                    let at = now.checked_add(Duration::from_millis(task.after_millis)).unwrap_or(now);
                    self.queue.add(task.object, task.lane, at, now);
                }
            }
            Err(error) => self.stopped(&error),
        }
    }

    /// Asks for a decision and has it carried out beside everything else. True where there is nothing to carry out.
    async fn start(&mut self, due: Due, sender: &mpsc::Sender<Finished>) -> bool {
        let (object, start, now) = (due.object.clone(), runtime::now(), runtime::time());
        let span = traces::reconcile(self.part.text(), &due);
        let decide = traces::decide(&span);
        #[cfg(test)]
        if simulation::has(Defect::FreshBrake) {
            let _ = self.engine.call(simulation::begin_early).await;
        }
        let plan = self.engine.call(move |controller| controller.reconcile(&object, now)).await;
        drop(decide);
        let plan = match plan {
            Ok(plan) => plan,
            Err(error) => {
                self.stopped(&error);
                traces::reconciled(&span, "stopped");
                self.metrics.reconciled(self.part.text(), "stopped");
                self.tell_stop(due.object.clone(), &error).await;
                self.queue.fail(due, None, runtime::now());
                return false;
            }
        };
        self.metrics.decided(self.part.text(), runtime::since(start));
        if plan.cause == Cause::Held {
            self.metrics.held();
        }
        if plan.events.iter().any(|event| event.reason == GIVEN_TWICE) {
            self.metrics.given_twice();
        }
        let is_idle = plan.actions.is_empty() && plan.events.is_empty();
        span.record("writes", plan.actions.len());
        if is_idle && !plan.retry {
            traces::reconciled(&span, "nothing");
            self.wake(&due.object, plan.wake_up);
            self.queue.finish(&due.object);
            return true;
        }
        debug!(part = self.part.text(), object = %due.object, writes = plan.actions.len(), "decided");
        let (writer, sender, term) = (Arc::clone(&self.writer), sender.clone(), self.term);
        runtime::spawn(async move {
            let (plan_again, is_to_retry, cause, status) = (plan.wake_up, plan.retry, plan.cause, status_of(&plan));
            let (outcome, events) = writer.carry_out(plan, term).instrument(span.clone()).await;
            // A unit that has ended does not want to know.
            let _ = sender.send(Finished { due, plan_again, is_to_retry, cause, status, outcome, span }).await;
            writer.tell(events).await;
        });
        false
    }

    /// Says at an object that the component stopped when it was asked about it.
    async fn tell_stop(&self, regarding: ObjectRef, error: &Error) {
        warn!(part = self.part.text(), object = %regarding, "there is no decision about it");
        let uid = self.known_uid(&regarding).await;
        let event = EventRecord {
            regarding,
            uid,
            is_warning: true,
            reason: "NotDecided".to_owned(),
            note: error.to_string(),
            controller: self.part.text().to_owned(),
            action: "Reconcile".to_owned(),
        };
        let writer = Arc::clone(&self.writer);
        runtime::spawn(async move { writer.tell(vec![event]).await });
    }

    /// UID of an object as the component knows it; empty where it does not.
    async fn known_uid(&self, object: &ObjectRef) -> String {
        let object = object.clone();
        self.engine.call(move |controller| Ok(controller.uid(&object))).await.ok().flatten().unwrap_or_default()
    }

    fn wake(&mut self, object: &ObjectRef, at: Option<Time>) {
        let Some(at) = at else { return };
        let millis = u64::try_from(at.millis().saturating_sub(runtime::time().millis())).unwrap_or(0);
        let instant = runtime::now();
        let at = instant.checked_add(Duration::from_millis(millis)).unwrap_or(instant);
        self.queue.add(object.clone(), Lane::Report, at, instant);
    }

    /// Takes in what the answers to writes say. Of an object that was written more than once only the last counts.
    async fn learn(&mut self, feedback: &[Feedback]) {
        let mut texts: BTreeMap<&ObjectRef, &Arc<str>> = BTreeMap::new();
        for one in feedback {
            if matches!(one, Feedback::Has(seen) if self.ahead.is_outdated(seen)) {
                continue;
            }
            self.ahead.note(one);
            match one {
                Feedback::Has(seen) => {
                    self.written.note(seen);
                    texts.insert(&seen.object, &seen.text);
                }
                Feedback::Lost(object, uid) => {
                    texts.remove(object);
                    #[cfg(test)]
                    let uid = &match simulation::has(Defect::AnyUid) {
                        true => self.known_uid(object).await,
                        false => uid.clone(),
                    };
                    self.delete(object.clone(), uid.clone()).await;
                }
            }
        }
        self.apply(texts.into_values().cloned().collect()).await;
    }

    async fn conclude(&mut self, finished: Finished) {
        let Finished { due, plan_again, is_to_retry, cause, status, outcome, span } = finished;
        self.learn(&outcome.feedback).await;
        let (object, conclusion, _conclude) = (due.object.clone(), outcome.conclusion.clone(), traces::conclude(&span));
        if let Err(error) = self.engine.call(move |controller| controller.conclude(&object, conclusion)).await {
            self.stopped(&error);
        }
        let result = match outcome.conclusion {
            Conclusion::Done => "done",
            Conclusion::Failed => "failed",
            Conclusion::Unanswered => "unanswered",
            Conclusion::Refused { .. } => "refused",
        };
        self.metrics.reconciled(self.part.text(), result);
        traces::reconciled(&span, result);
        if outcome.conclusion == Conclusion::Done {
            if outcome.has_created && due.lane == Lane::Urgent && self.part == PartName::TemplateSync {
                self.metrics.copied(runtime::since(due.since));
            }
            match cause {
                Cause::Usual | Cause::Held => {}
                Cause::Drift => self.metrics.repaired(),
                Cause::Replacement { since } => self.metrics.replaced(Duration::from_millis(
                    u64::try_from(runtime::time().millis().saturating_sub(since.millis())).unwrap_or(0),
                )),
            }
            if let Some((source, status)) = status {
                self.metrics.copies(&source, &status);
            }
        }
        self.wake(&due.object, plan_again);
        match outcome.conclusion {
            Conclusion::Done if !is_to_retry => self.queue.finish(&due.object),
            // What somebody has to allow first keeps nobody else waiting.
            Conclusion::Refused { .. } => {
                self.queue.fail(Due { lane: Lane::Report, ..due }, outcome.pause, runtime::now());
            }
            Conclusion::Done | Conclusion::Failed | Conclusion::Unanswered => {
                self.queue.fail(due, outcome.pause, runtime::now());
            }
        }
    }
}

const LANES: [(Lane, &str); 4] =
    [(Lane::Urgent, "urgent"), (Lane::Repair, "repair"), (Lane::Rollout, "rollout"), (Lane::Report, "report")];

/// An object of which little is said but what tells it from others.
fn unread(text: &str) -> Option<Arc<str>> {
    let mut object: Value = serde_json::from_str(text).ok()?;
    crate::api_server::unread(&mut object);
    Some(object.to_string().into())
}

/// The status of a source that a plan writes.
fn status_of(plan: &Decision<Value>) -> Option<(String, Value)> {
    plan.actions.iter().find_map(|write| match write {
        Action::UpdateStatus(object) => {
            let name = object.pointer("/metadata/name")?.as_str()?.to_owned();
            Some((name, object.get("status")?.clone()))
        }
        _ => None,
    })
}

fn far(now: Instant) -> Instant {
    now.checked_add(Duration::from_secs(3600)).unwrap_or(now)
}
