//! Pods that wait for a node, and when each is tried next.

use std::collections::{BTreeMap, BTreeSet};

use super::order::{Rank, rank};
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cluster::entries::key_of;
use crate::cluster::{Cluster, Key};
use crate::decision::{Time, Trigger};
use crate::scheduler::{Concern, Verdict, asks_others, concern, helps, is_waiting};

/// Shortest and longest pause between two attempts, in seconds; doubled each time.
const FIRST_PAUSE: i64 = 1;
const LAST_PAUSE: i64 = 10;

/// Most attempts for one Pod without time passing.
const MOST_AT_ONCE: u32 = 8;

/// One waiting Pod.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// When it is tried next, and its rank among those of the same time; absent while nothing has changed for it.
    ready: Option<(Time, Rank)>,
    /// Not before this time.
    pause_ends: Option<Time>,
    attempts: u32,
    /// Whether it asks something of placed Pods.
    asks_others: bool,
    /// The state of the server when the last attempt ended with an error.
    failed_at: Option<u64>,
    /// Attempts at one moment, and that moment.
    at_once: (Time, u32),
}

/// All waiting Pods.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    entries: BTreeMap<Key, Entry>,
    /// Those with a time, in the order of trying.
    ready: BTreeSet<(Time, Rank, Key)>,
    /// Those without one.
    asleep: BTreeSet<Key>,
    /// Those of them that ask something of placed Pods.
    neighbours: BTreeSet<Key>,
    /// PodGroups of which a change may help all members.
    groups: BTreeSet<Key>,
    /// Whether a change may help all of them.
    has_hope: bool,
}

impl Waiting {
    /// The waiting Pods of a cluster, all to be tried now.
    pub(super) fn of(cluster: &Cluster, now: Time) -> Self {
        let mut waiting = Self::default();
        for (key, pod) in cluster.pods().iter().filter(|(_, pod)| is_waiting(cluster, pod)) {
            let entry = Entry { asks_others: asks_others(pod), ..Entry::default() };
            waiting.entries.insert(key.clone(), entry);
            waiting.wake(cluster, pod, key, now);
        }
        waiting
    }

    /// When the next Pod is tried.
    pub(super) fn next(&self) -> Option<Time> {
        self.ready.first().map(|(time, ..)| *time)
    }

    /// The next Pod to be tried now: higher priority first, then in the order of arrival.
    pub(super) fn pop(&mut self, cluster: &Cluster, now: Time) -> Option<Key> {
        while self.next().is_some_and(|time| time <= now) {
            let (_, _, key) = self.ready.pop_first()?;
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.ready = None;
                self.asleep.insert(key.clone());
                if cluster.pods().get(&key).is_some_and(|pod| is_waiting(cluster, pod)) {
                    return Some(key);
                }
            }
        }
        None
    }

    /// Takes a change into account.
    pub(super) fn note(&mut self, cluster: &Cluster, trigger: &Trigger, now: Time) {
        if let Some(Object::Pod(pod)) = trigger.latest() {
            let key = (pod.metadata.namespace.clone(), pod.metadata.name.clone());
            let waits = trigger.after.is_some() && is_waiting(cluster, pod);
            if !waits {
                self.forget(&key);
            } else if has_news(trigger) {
                if trigger.before.is_none() {
                    self.forget(&key);
                }
                self.entries.entry(key.clone()).or_default().asks_others = asks_others(pod);
                self.wake(cluster, pod, &key, now);
            }
        }
        let keys: Vec<Key> = match concern(trigger) {
            Concern::Nobody => return,
            Concern::Everybody => {
                self.has_hope = true;
                return;
            }
            Concern::UsersOf(claim) => {
                cluster.links().pods_of_claim(&claim).map(|name| (claim.0.clone(), name.clone())).collect()
            }
            Concern::MembersOf(group) => {
                self.groups.insert(group);
                return;
            }
            Concern::Neighbours => {
                let is_helped = |key: &&Key| cluster.pods().get(*key).is_some_and(|pod| helps(trigger, pod));
                self.neighbours.iter().filter(is_helped).cloned().collect()
            }
        };
        for key in keys {
            if let Some(pod) = cluster.pods().get(&key) {
                self.wake(cluster, pod, &key, now);
            }
        }
    }

    /// The state of the server when the last attempt ended with an error; nothing where it ended otherwise.
    pub(super) fn failed_at(&self, key: &Key) -> Option<u64> {
        self.entries.get(key)?.failed_at
    }

    /// Notes in which state of the server an attempt ended with an error.
    pub(super) fn note_failure(&mut self, key: &Key, revision: u64) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.failed_at = Some(revision);
        }
    }

    /// Has all of them tried again, or all members of PodGroups, if a change that was noted may help all. For after the last of several
    /// changes.
    pub(super) fn wake_all(&mut self, cluster: &Cluster, now: Time) {
        for group in std::mem::take(&mut self.groups) {
            for pod in cluster.pods_of_group(&group) {
                self.wake(cluster, pod, &key_of(&pod.metadata), now);
            }
        }
        if !std::mem::take(&mut self.has_hope) {
            return;
        }
        let later = self.ready.iter().rev().take_while(|(time, ..)| *time > now);
        let keys = self.asleep.iter().chain(later.map(|(.., key)| key)).cloned();
        for key in keys.collect::<Vec<Key>>() {
            if let Some(pod) = cluster.pods().get(&key) {
                self.wake(cluster, pod, &key, now);
            }
        }
    }

    /// Takes the end of an attempt into account. `done` says whether its writes were all carried out.
    pub(super) fn concluded(&mut self, key: &Key, verdict: Verdict, done: bool, wake_up: Option<Time>, now: Time) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        let verdict = if done { verdict } else { Verdict::Error };
        let at = match verdict {
            Verdict::Held | Verdict::Bound => None,
            Verdict::Binding => wake_up,
            Verdict::Unschedulable | Verdict::Error => {
                let pause = FIRST_PAUSE.checked_shl(entry.attempts.min(4)).unwrap_or(LAST_PAUSE).min(LAST_PAUSE);
                entry.attempts = entry.attempts.saturating_add(1);
                let moment = if entry.at_once.0 == now { entry.at_once.1.saturating_add(1) } else { 0 };
                entry.at_once = (now, moment);
                // A Pod that does not fit waits for a change, not for a pause: the scheduler has nothing else to do. Only one
                // that is tried again and again without time passing has to pause.
                let pauses = verdict == Verdict::Error || moment > MOST_AT_ONCE;
                entry.pause_ends = pauses.then(|| next_second(now.plus_seconds(pause)));
                entry.pause_ends.filter(|_| verdict == Verdict::Error)
            }
        };
        let before = entry.ready.take();
        entry.ready = at.map(|at| (at, Rank::default()));
        self.requeue(key, before, at.map(|at| (at, Rank::default())));
    }

    /// Moves a Pod in the order of trying.
    fn requeue(&mut self, key: &Key, before: Option<(Time, Rank)>, after: Option<(Time, Rank)>) {
        if let Some((time, rank)) = before {
            self.ready.remove(&(time, rank, key.clone()));
        }
        match after {
            Some((time, rank)) => {
                self.ready.insert((time, rank, key.clone()));
                self.asleep.remove(key);
                self.neighbours.remove(key);
            }
            None => {
                if self.entries.get(key).is_some_and(|entry| entry.asks_others) {
                    self.neighbours.insert(key.clone());
                }
                self.asleep.insert(key.clone());
            }
        }
    }

    /// Has a Pod tried again, after its pause.
    fn wake(&mut self, cluster: &Cluster, pod: &Pod, key: &Key, now: Time) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        let at = entry.pause_ends.map_or(now, |end| end.max(now));
        let rank = rank(cluster, pod);
        if entry.ready.is_some_and(|(ready, known)| ready <= at && known == rank) {
            return;
        }
        let after = (entry.ready.map_or(at, |(ready, _)| ready.min(at)), rank);
        let before = entry.ready.replace(after);
        self.requeue(key, before, Some(after));
    }

    fn forget(&mut self, key: &Key) {
        let before = self.entries.remove(key).and_then(|entry| entry.ready);
        self.requeue(key, before, None);
        self.asleep.remove(key);
        self.neighbours.remove(key);
    }
}

/// The scheduler looks once a second at whose pause is over.
fn next_second(time: Time) -> Time {
    Time::from_seconds(time.millis().div_euclid(1000).saturating_add(1))
}

/// Whether a Pod's change is one that the scheduler did not make itself.
fn has_news(trigger: &Trigger) -> bool {
    let (Some(Object::Pod(before)), Some(Object::Pod(after))) = (trigger.before.as_deref(), trigger.after.as_deref())
    else {
        return true;
    };
    let claims = |pod: &Pod| pod.status.resource_claim_statuses.clone();
    before.spec != after.spec || claims(before) != claims(after) || before.metadata.uid != after.metadata.uid
}
