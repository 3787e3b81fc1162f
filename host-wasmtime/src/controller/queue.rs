//! What is to be looked at: the urgent first, each thing once, and nothing twice at the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use apportion_core::controller::Lane;
use apportion_core::finding::ObjectRef;

use super::runtime;

/// Pause after the first failure; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// Longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Something that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    lane: Lane,
    /// Not before this.
    at: Instant,
    /// When it was asked for first.
    since: Instant,
    /// Its place among those of its lane.
    order: u64,
}

/// Something that is to be looked at now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Due {
    pub(super) object: ObjectRef,
    pub(super) lane: Lane,
    /// When it was asked for first.
    pub(super) since: Instant,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: BTreeMap<ObjectRef, Entry>,
    waiting: BTreeSet<(Instant, ObjectRef)>,
    ready: BTreeSet<(Lane, u64, ObjectRef)>,
    running: BTreeSet<ObjectRef>,
    failures: BTreeMap<ObjectRef, u32>,
    /// How many entries each lane has.
    depths: BTreeMap<Lane, usize>,
    next: u64,
}

impl Queue {
    /// Wants something to be looked at, not before a time. What is wanted already becomes earlier and more urgent, never less.
    pub(super) fn add(&mut self, object: ObjectRef, lane: Lane, at: Instant, now: Instant) {
        self.next = self.next.saturating_add(1);
        let mut entry = Entry { lane, at, since: now, order: self.next };
        if let Some(old) = self.take(&object) {
            entry = Entry { lane: old.lane.min(lane), at: old.at.min(at), since: old.since, order: old.order };
        }
        self.waiting.insert((entry.at, object.clone()));
        let depth = self.depths.entry(entry.lane).or_default();
        *depth = depth.saturating_add(1);
        self.entries.insert(object, entry);
    }

    /// Forgets what waits: everything is wanted anew.
    pub(super) fn clear(&mut self) {
        let running = std::mem::take(&mut self.running);
        *self = Self { running, next: self.next, ..Self::default() };
    }

    fn take(&mut self, object: &ObjectRef) -> Option<Entry> {
        let old = self.entries.remove(object)?;
        self.waiting.remove(&(old.at, object.clone()));
        self.ready.remove(&(old.lane, old.order, object.clone()));
        if let Some(depth) = self.depths.get_mut(&old.lane) {
            *depth = depth.saturating_sub(1);
        }
        Some(old)
    }

    /// What to look at now. It runs until [`Queue::finish`] is called for it.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Due> {
        while self.waiting.first().is_some_and(|(at, _)| *at <= now) {
            let Some((_, object)) = self.waiting.pop_first() else { break };
            if let Some(entry) = self.entries.get(&object) {
                self.ready.insert((entry.lane, entry.order, object));
            }
        }
        let found = self.ready.iter().find(|(_, _, object)| !self.running.contains(object)).cloned()?;
        let entry = self.take(&found.2)?;
        self.running.insert(found.2.clone());
        Some(Due { object: found.2, lane: entry.lane, since: entry.since })
    }

    /// When the next thing can be looked at, if nothing else happens before.
    pub(super) fn next(&self) -> Option<Instant> {
        self.waiting.first().map(|(at, _)| *at)
    }

    /// Something was looked at, with success.
    pub(super) fn finish(&mut self, object: &ObjectRef) {
        self.running.remove(object);
        self.failures.remove(object);
    }

    /// Something was looked at, and is to be looked at again after a pause that grows, or the one that is given.
    pub(super) fn fail(&mut self, due: Due, pause: Option<Duration>, now: Instant) {
        self.running.remove(&due.object);
        let failures = self.failures.entry(due.object.clone()).or_default();
        let grown = FIRST_PAUSE.saturating_mul(1_u32.checked_shl((*failures).min(20)).unwrap_or(u32::MAX));
        *failures = failures.saturating_add(1);
        let pause = pause.unwrap_or(grown).min(LONGEST_PAUSE).mul_f64(runtime::jitter());
        self.add(due.object, due.lane, now.checked_add(pause).unwrap_or(now), now);
    }

    /// How many things wait in a lane, ready or not.
    pub(super) fn depth(&self, lane: Lane) -> usize {
        self.depths.get(&lane).copied().unwrap_or(0)
    }

    /// How many things run.
    pub(super) fn running(&self) -> usize {
        self.running.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str) -> ObjectRef {
        ObjectRef { kind: "X".to_owned(), namespace: String::new(), name: name.to_owned() }
    }

    #[test]
    fn the_urgent_comes_first_and_then_the_older() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for (name, lane) in [("c", Lane::Rollout), ("b", Lane::Rollout), ("a", Lane::Urgent)] {
            queue.add(object(name), lane, now, now);
        }
        let order: Vec<String> = std::iter::from_fn(|| queue.pop(now)).map(|due| due.object.name).collect();
        assert_eq!(order, ["a", "c", "b"]);
    }

    #[test]
    fn nothing_runs_twice_at_a_time_and_nothing_is_forgotten() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        queue.add(object("a"), Lane::Repair, now, now);
        queue.add(object("a"), Lane::Urgent, now, now);
        let due = queue.pop(now).unwrap();
        assert_eq!((due.lane, queue.pop(now)), (Lane::Urgent, None), "wanted twice, looked at once");
        queue.add(object("a"), Lane::Repair, now, now);
        assert_eq!(queue.pop(now), None, "it runs");
        queue.finish(&due.object);
        assert_eq!(queue.pop(now).unwrap().lane, Lane::Repair);
    }

    #[test]
    fn pauses_grow_with_failures_and_end_with_success() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        queue.add(object("a"), Lane::Repair, now, now);
        let mut at = now;
        let mut pauses = Vec::new();
        for _ in 0..20 {
            let due = queue.pop(at).unwrap();
            queue.fail(due, None, at);
            assert_eq!(queue.pop(at), None);
            let next = queue.next().unwrap();
            pauses.push(next - at);
            at = next;
        }
        assert!(pauses.windows(2).all(|pair| pair[1] > pair[0] || pair[1] >= LONGEST_PAUSE), "{pauses:?}");
        assert!(pauses[19] <= LONGEST_PAUSE.mul_f64(1.25));
        let due = queue.pop(at).unwrap();
        queue.finish(&due.object);
        queue.add(object("a"), Lane::Repair, at, at);
        let due = queue.pop(at).unwrap();
        queue.fail(due, None, at);
        assert!(queue.next().unwrap() - at < FIRST_PAUSE.mul_f64(1.3));
    }

    #[test]
    fn an_earlier_wish_wins() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        let later = now + Duration::from_secs(9);
        queue.add(object("a"), Lane::Report, later, now);
        assert_eq!((queue.pop(now), queue.next()), (None, Some(later)));
        queue.add(object("a"), Lane::Report, now, now);
        assert!(queue.pop(now).is_some());
        assert_eq!((queue.next(), queue.depth(Lane::Report), queue.running()), (None, 0, 1));
    }
}
