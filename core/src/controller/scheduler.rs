//! A scheduler for Pods that ask for it by name: who is tried when, one decision for each Pod or PodGroup.
//!
//! Several decisions are carried out at a time. What they take counts as taken meanwhile ([`super::in_flight`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::in_flight::{Again, InFlight};
use super::overlap::overlap;
use super::stale_writes::{self, StaleWrites};
use super::{Conclusion, Lane, Task};
use crate::allocate::Limits;
use crate::api::object::Object;
use crate::api::pod::{OWN_SCHEDULER, Pod};
use crate::cluster::entries::{Resolved, group_of, key_of, resolve};
use crate::cluster::{Cluster, Key};
use crate::decision::{Action, Decision, EventRecord, Time, Trigger};
use crate::finding::ObjectRef;
use crate::gather::Gather;
use crate::profile::Profile;
use crate::scheduler::{self, Concern, NodeCache, Settings, Verdict, asks_others, concern, volumes};

/// Who tells, in Events.
const TELLER: &str = "apportion-scheduler";

/// Reason of the Event at a Pod of which another claim has a device, too.
pub const GIVEN_TWICE: &str = "DeviceGivenTwice";

/// Milliseconds between two attempts for one Pod that did not fit: the first pause, which doubles, and the longest.
const FIRST_PAUSE: i64 = 1_000;
const LONGEST_PAUSE: i64 = 10_000;

/// Most Pods and PodGroups that are handed out at a time. The others wait here, where one of higher priority overtakes them.
const MOST_OUT: usize = 24;

/// Priority, the highest first, and then the order of arrival.
type Rank = (i64, u64);

/// Where a Pod or PodGroup stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    /// Nothing has changed for it.
    #[default]
    Idle,
    /// To be tried.
    Ready,
    /// Handed out.
    Out,
    /// Asked for again after a pause, whatever happens meanwhile.
    Asleep,
}

/// A Pod that waits on its own, or a PodGroup with such Pods.
#[derive(Clone, Debug, Default)]
struct Entry {
    state: State,
    rank: Rank,
    attempts: u32,
    /// Not tried before this.
    pause_ends: Option<Time>,
    /// Whether something changed while it was out.
    has_news: bool,
    /// Whether it is asked for again after its latest decision.
    sleeps_next: bool,
    /// Whether it asks something of placed Pods.
    asks_others: bool,
    /// What the API server said against the latest decision.
    refusal: Option<String>,
}

/// What the part knows beside the facts.
#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    node_cache: NodeCache,
    pub(super) in_flight: InFlight,
    stale_writes: StaleWrites,
    entries: BTreeMap<ObjectRef, Entry>,
    ready: BTreeSet<(Rank, ObjectRef)>,
    /// Those that ask something of placed Pods and do not know of the next change anyway.
    neighbours: BTreeSet<ObjectRef>,
    out: usize,
    /// Claims that cannot be read as a whole: their devices are theirs, and no Pod gets them.
    unread: BTreeSet<ObjectRef>,
}

impl Scheduler {
    pub(super) fn new() -> Self {
        Self {
            node_cache: NodeCache::of(OWN_SCHEDULER),
            in_flight: InFlight::default(),
            stale_writes: StaleWrites::default(),
            entries: BTreeMap::new(),
            ready: BTreeSet::new(),
            neighbours: BTreeSet::new(),
            out: 0,
            unread: BTreeSet::new(),
        }
    }

    /// Takes down whether a claim could be read as a whole, or is gone.
    pub(super) fn mark(&mut self, object: &ObjectRef, is_read: bool) {
        match is_read {
            true => drop(self.unread.remove(object)),
            false if object.kind == "ResourceClaim" => drop(self.unread.insert(object.clone())),
            false => {}
        }
    }

    /// Takes a change into account.
    pub(super) fn note(&mut self, cluster: &Cluster, trigger: &Trigger) {
        self.node_cache.note(trigger);
        if self.stale_writes.note(trigger) {
            self.wake_all();
        }
        if let Some(Object::Pod(pod)) = trigger.latest()
            && trigger.after.is_some()
            && self.node_cache.serves(cluster, pod)
            && is_news(trigger)
        {
            let subject = subject(cluster, pod);
            let rank = rank(cluster, pod);
            let entry = self.entries.entry(subject.clone()).or_insert_with(|| Entry { rank, ..Entry::default() });
            if trigger.before.is_none() {
                entry.pause_ends = None;
            }
            entry.asks_others |= asks_others(pod);
            self.wake(&subject);
        }
        if matches!(trigger.latest(), Some(Object::PersistentVolume(_) | Object::PersistentVolumeClaim(_))) {
            self.wake_all();
        }
        match concern(trigger) {
            Concern::Nobody => {}
            Concern::Everybody => self.wake_all(),
            Concern::UsersOf(claim) => self.wake_users(cluster, &claim),
            Concern::MembersOf((namespace, name)) => {
                self.wake(&ObjectRef::new("PodGroup", namespace, name));
            }
            Concern::Neighbours => self.neighbours.clone().iter().for_each(|one| self.wake(one)),
        }
    }

    fn wake_all(&mut self) {
        self.entries.keys().cloned().collect::<Vec<_>>().iter().for_each(|one| self.wake(one));
    }

    fn wake_users(&mut self, cluster: &Cluster, claim: &Key) {
        let subjects: BTreeSet<ObjectRef> = cluster.pods_of_claim(claim).map(|pod| subject(cluster, pod)).gather();
        subjects.iter().for_each(|subject| self.wake(subject));
    }

    /// Has something tried.
    fn wake(&mut self, subject: &ObjectRef) {
        let Some(entry) = self.entries.get_mut(subject) else { return };
        match entry.state {
            State::Idle => {
                entry.state = State::Ready;
                self.neighbours.remove(subject);
                self.ready.insert((entry.rank, subject.clone()));
            }
            State::Out => entry.has_news = true,
            State::Ready | State::Asleep => {}
        }
    }

    /// What is tried next, the first of it first.
    pub(super) fn due(&mut self) -> Vec<Task> {
        let mut due = self.stale_writes.due();
        while self.out < MOST_OUT {
            let Some((_, object)) = self.ready.pop_first() else { break };
            self.set(&object, State::Out);
            due.push(Task { object, lane: Lane::Urgent, after_millis: 0 });
        }
        due
    }

    fn set(&mut self, subject: &ObjectRef, state: State) {
        let Some(entry) = self.entries.get_mut(subject) else { return };
        let (was, is) = (entry.state == State::Out, state == State::Out);
        self.out = self.out.saturating_sub(usize::from(was)).saturating_add(usize::from(is));
        if entry.state == State::Ready {
            self.ready.remove(&(entry.rank, subject.clone()));
        }
        entry.state = state;
        if entry.asks_others && matches!(state, State::Idle | State::Out) {
            self.neighbours.insert(subject.clone());
        } else {
            self.neighbours.remove(subject);
        }
    }

    /// Decides about a Pod or PodGroup.
    pub(super) fn reconcile(
        &mut self,
        cluster: &mut Cluster,
        profile: &Profile,
        limits: &Limits,
        subject: &ObjectRef,
        now: Time,
    ) -> Decision {
        if subject.kind == stale_writes::KIND {
            return self.fence(cluster, subject, now);
        }
        self.stale_writes.begin(cluster, now, |pod| pod.spec.scheduler_name == OWN_SCHEDULER);
        if self.stale_writes.are_awaited() {
            // Woken when there are none left.
            self.set(subject, State::Idle);
            return Decision::none();
        }
        self.set(subject, State::Out);
        if self.in_flight.is_unanswered(subject) {
            match self.in_flight.again(cluster, subject, now) {
                Again::Over => self.end(cluster, subject, false),
                Again::Rest(rest) => {
                    self.in_flight.start(cluster, &mut self.node_cache, subject, &rest, now);
                    return rest;
                }
                Again::Wait(until) => return self.sleep(subject, until),
            }
        }
        let Some(pod) = self.members(cluster, subject).next().map(|pod| key_of(&pod.metadata)) else {
            self.set(subject, State::Idle);
            if !self.in_flight.is_about(subject) {
                self.entries.remove(subject);
                self.neighbours.remove(subject);
            }
            return Decision::none();
        };
        if let Some(end) = self.entries.get(subject).and_then(|entry| entry.pause_ends).filter(|end| *end > now) {
            return self.sleep(subject, end);
        }
        if let Some(entry) = self.entries.get_mut(subject) {
            entry.has_news = false;
        }
        if self.is_blocked(cluster, subject) {
            self.set(subject, State::Idle);
            return Decision::none();
        }
        if let Some(event) = self.unbound(cluster, subject) {
            // A claim that changes all the time must not make an Event each time.
            if let Some(entry) = self.entries.get_mut(subject) {
                entry.pause_ends = Some(now.plus_millis(LONGEST_PAUSE));
            }
            return Decision { events: vec![event], ..Decision::none() };
        }
        if let Some(event) = self.overlap(cluster, subject).or_else(|| self.unread(cluster, subject)) {
            if let Some(entry) = self.entries.get_mut(subject) {
                entry.sleeps_next = true;
            }
            let wake_up = Some(now.plus_millis(LONGEST_PAUSE));
            return Decision { events: vec![event], wake_up, ..Decision::none() };
        }
        let settings =
            Settings { profile, limits, now, records_failures: true, records_scores: false, preempts: false };
        let scheduled = scheduler::schedule(cluster, &mut self.node_cache, settings, &pod);
        let mut decision = scheduled.decision;
        let verdicts: Vec<Verdict> = scheduled.verdicts.into_iter().map(|(_, verdict)| verdict).collect();
        self.judge(subject, &verdicts, &mut decision, now);
        sign(&mut decision);
        if decision.actions.is_empty() && decision.events.is_empty() {
            // An empty decision is never concluded.
            self.rest(subject);
        } else {
            self.in_flight.start(cluster, &mut self.node_cache, subject, &decision, now);
        }
        decision
    }

    /// Keeps stale writes of a previous leader from being taken.
    fn fence(&mut self, cluster: &Cluster, claim: &ObjectRef, now: Time) -> Decision {
        let were_awaited = self.stale_writes.are_awaited();
        let decision = self.stale_writes.reconcile(cluster, &(claim.namespace.clone(), claim.name.clone()), now);
        if were_awaited && !self.stale_writes.are_awaited() {
            self.wake_all();
        }
        decision
    }

    /// When a Pod that got no place is tried again.
    fn judge(&mut self, subject: &ObjectRef, verdicts: &[Verdict], decision: &mut Decision, now: Time) {
        let Some(entry) = self.entries.get_mut(subject) else { return };
        if let Some(refusal) = entry.refusal.take()
            && let Some(event) = decision.actions.iter().find_map(|action| match action {
                Action::Record(event) => Some(event),
                _ => None,
            })
        {
            let told = EventRecord {
                is_warning: true,
                reason: "FailedScheduling".to_owned(),
                note: refusal,
                action: "Scheduling".to_owned(),
                ..event.clone()
            };
            decision.events.push(told);
        }
        let is_error = verdicts.contains(&Verdict::Error);
        entry.pause_ends = None;
        if is_error || verdicts.contains(&Verdict::Unschedulable) {
            let pause = FIRST_PAUSE.checked_shl(entry.attempts.min(8)).unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE);
            entry.attempts = entry.attempts.saturating_add(1);
            let end = now.plus_millis(pause);
            entry.pause_ends = Some(end);
            if is_error {
                decision.wake_at(end);
            }
        } else {
            entry.attempts = 0;
        }
        entry.sleeps_next = decision.wake_up.is_some();
    }

    /// Leaves something alone until a time.
    fn sleep(&mut self, subject: &ObjectRef, until: Time) -> Decision {
        self.set(subject, State::Asleep);
        Decision { wake_up: Some(until), ..Decision::none() }
    }

    /// After a decision: asked for again by itself, at once if something changed meanwhile, or when something changes.
    fn rest(&mut self, subject: &ObjectRef) {
        let Some(entry) = self.entries.get_mut(subject) else { return };
        let (sleeps, has_news) = (std::mem::take(&mut entry.sleeps_next), std::mem::take(&mut entry.has_news));
        self.set(subject, if sleeps && !has_news { State::Asleep } else { State::Idle });
        if has_news {
            self.wake(subject);
        }
    }

    /// Hears what became of the latest decision.
    pub(super) fn conclude(&mut self, cluster: &mut Cluster, subject: &ObjectRef, conclusion: Conclusion) {
        let is_lost = conclusion == Conclusion::Unanswered && self.in_flight.lose_sight(subject);
        // What was written again tells nothing about what may still arrive, unless it was taken.
        if is_lost || (conclusion != Conclusion::Done && self.in_flight.is_unanswered(subject)) {
            self.set(subject, State::Asleep);
            return;
        }
        let is_done = conclusion == Conclusion::Done;
        self.end(cluster, subject, is_done);
        if is_done {
            self.rest(subject);
            return;
        }
        // It is asked for again after a pause.
        self.set(subject, State::Asleep);
        if let Some(entry) = self.entries.get_mut(subject) {
            entry.pause_ends = None;
            if let Conclusion::Refused { message, .. } = conclusion {
                entry.refusal = Some(message);
            }
        }
    }

    /// A decision is over: what is known counts again.
    fn end(&mut self, cluster: &mut Cluster, subject: &ObjectRef, was_done: bool) {
        for (key, known) in self.in_flight.end(subject, was_done) {
            let before = cluster.get(&key).map(Box::new);
            match &known {
                Some(object) => cluster.apply(object.clone()),
                None => drop(cluster.delete(&key)),
            }
            self.note(cluster, &Trigger { before, after: known.map(Box::new) });
            if key.kind == "ResourceClaim" {
                self.wake_users(cluster, &(key.namespace, key.name));
            }
        }
    }

    /// The Pods that wait, of those that something is about.
    fn members<'c>(&'c self, cluster: &'c Cluster, subject: &ObjectRef) -> impl Iterator<Item = &'c Arc<Pod>> {
        let key = (subject.namespace.clone(), subject.name.clone());
        let pods: Vec<&Arc<Pod>> = match subject.kind.as_str() {
            "Pod" => cluster.pods().get(&key).into_iter().collect(),
            _ => cluster.pods_of_group(&key).collect(),
        };
        pods.into_iter().filter(|pod| self.node_cache.serves(cluster, pod))
    }

    /// Warns of a Pod with a device that another claim has, too. Another scheduler may have given it away a second time.
    fn overlap(&self, cluster: &Cluster, subject: &ObjectRef) -> Option<EventRecord> {
        self.members(cluster, subject).find_map(|pod| {
            let (regarding, note) = (pod.metadata.reference("Pod"), overlap(cluster, pod)?);
            let event = EventRecord::warning(TELLER, regarding, &pod.metadata, GIVEN_TWICE, note);
            Some(EventRecord { action: "Binding".to_owned(), ..event })
        })
    }

    /// Warns of a Pod with a claim that cannot be read: writing it could take something away that is not understood.
    fn unread(&self, cluster: &Cluster, subject: &ObjectRef) -> Option<EventRecord> {
        self.members(cluster, subject).find_map(|pod| {
            let claim = claims_of(cluster, pod).find(|claim| self.unread.contains(claim))?;
            let (regarding, note) = (pod.metadata.reference("Pod"), format!("{claim} cannot be read by this version"));
            let event = EventRecord::warning(TELLER, regarding, &pod.metadata, "FailedScheduling", note);
            Some(EventRecord { action: "Scheduling".to_owned(), ..event })
        })
    }

    /// Warns of a Pod with a PersistentVolumeClaim that has no volume: none is found or made for it here.
    fn unbound(&self, cluster: &Cluster, subject: &ObjectRef) -> Option<EventRecord> {
        self.members(cluster, subject).find_map(|pod| {
            let claim = volumes::unbound(cluster, pod)?;
            let note = format!(
                "PersistentVolumeClaim {claim} has no volume, and this scheduler finds none for it; Pods whose volumes are chosen with \
                 their node need kube-scheduler"
            );
            let event = EventRecord::warning(TELLER, pod.metadata.reference("Pod"), &pod.metadata, "FailedScheduling", note);
            Some(EventRecord { action: "Scheduling".to_owned(), ..event })
        })
    }

    /// Whether a claim is being allocated or reserved by another decision: what is not written yet must not be relied on.
    fn is_blocked(&self, cluster: &Cluster, subject: &ObjectRef) -> bool {
        let is_taken = |pod: &Pod| claims_of(cluster, pod).any(|claim| self.in_flight.takes(&claim, subject));
        self.members(cluster, subject).any(|pod| is_taken(pod))
    }
}

/// The claims that a Pod refers to, made or not.
fn claims_of<'c>(cluster: &'c Cluster, pod: &'c Pod) -> impl Iterator<Item = ObjectRef> + 'c {
    let group = group_of(cluster, pod);
    pod.spec.resource_claims.iter().filter_map(move |entry| match resolve(pod, entry, group) {
        Resolved::Claim { name, .. } => Some(ObjectRef::new("ResourceClaim", &*pod.metadata.namespace, name)),
        Resolved::NotNeeded | Resolved::NotCreated | Resolved::NoSource => None,
    })
}

/// What is decided about as one: the PodGroup of a Pod, or the Pod.
fn subject(cluster: &Cluster, pod: &Pod) -> ObjectRef {
    let group = pod.group_name().filter(|_| cluster.profile().features.generic_workload);
    match group {
        Some(group) => ObjectRef::new("PodGroup", &*pod.metadata.namespace, group),
        None => pod.metadata.reference("Pod"),
    }
}

fn rank(cluster: &Cluster, pod: &Pod) -> Rank {
    let arrival = cluster.arrival("Pod", &pod.metadata.namespace, &pod.metadata.name);
    (pod.spec.priority.unwrap_or_default().saturating_neg(), arrival)
}

/// Whether a Pod's change is one that another attempt may follow from; what the scheduler says about it is none.
fn is_news(trigger: &Trigger) -> bool {
    let (Some(Object::Pod(before)), Some(Object::Pod(after))) = (trigger.before.as_deref(), trigger.after.as_deref())
    else {
        return true;
    };
    before.spec != after.spec
        || before.status.resource_claim_statuses != after.status.resource_claim_statuses
        || before.metadata.uid != after.metadata.uid
}

/// Says who decided.
fn sign(decision: &mut Decision) {
    let records = decision.actions.iter_mut().filter_map(|action| match action {
        Action::Record(event) => Some(event),
        _ => None,
    });
    for event in records.chain(&mut decision.events) {
        TELLER.clone_into(&mut event.controller);
    }
}
