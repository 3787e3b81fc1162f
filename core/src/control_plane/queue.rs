//! What is to be looked at, and when.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::decision::Time;

/// What is looked at when, the earliest first, and how often in a row it failed.
#[derive(Clone, Debug)]
pub(super) struct Queue<K: Ord> {
    known: BTreeMap<K, Entry>,
    /// The earliest plan first, of equal ones that of the least key. Plans that have changed since are in here, too, but never first.
    plans: BinaryHeap<Reverse<(Time, K)>>,
}

/// What is known of something: at least one of the two.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    due: Option<Time>,
    failures: u32,
}

impl<K: Ord> Default for Queue<K> {
    fn default() -> Self {
        Self { known: BTreeMap::new(), plans: BinaryHeap::new() }
    }
}

impl<K: Ord + Clone> Queue<K> {
    /// When the next look is due.
    pub(super) fn next(&self) -> Option<Time> {
        self.plans.peek().map(|Reverse((time, _))| *time)
    }

    /// Has something looked at at a time, and not at the one planned before.
    pub(super) fn add(&mut self, key: K, at: Time) {
        let failures = self.known.get(&key).map_or(0, |entry| entry.failures);
        self.plan(key, Entry { due: Some(at), failures });
    }

    /// Something that is due; it is not any more.
    pub(super) fn take(&mut self, now: Time) -> Option<K> {
        self.next().filter(|time| *time <= now)?;
        let Reverse((_, key)) = self.plans.pop()?;
        let failures = self.known.get(&key).map_or(0, |entry| entry.failures);
        self.plan(key.clone(), Entry { due: None, failures });
        Some(key)
    }

    /// Takes the end of a look into account: after a failure there is another one, with growing pauses.
    pub(super) fn conclude(&mut self, key: K, is_done: bool, wake_up: Option<Time>, now: Time) {
        let Entry { due, mut failures } = self.known.get(&key).copied().unwrap_or_default();
        let mut next = wake_up;
        if is_done {
            failures = 0;
        } else {
            let again = now.plus_millis(pause(failures));
            failures = failures.saturating_add(1);
            next = Some(next.map_or(again, |next| next.min(again)));
        }
        let due = [due, next].into_iter().flatten().min();
        self.plan(key, Entry { due, failures });
    }

    fn plan(&mut self, key: K, entry: Entry) {
        let before = if entry.due.is_none() && entry.failures == 0 {
            self.known.remove(&key)
        } else {
            self.known.insert(key.clone(), entry)
        };
        if let Some(due) = entry.due.filter(|due| before.and_then(|before| before.due) != Some(*due)) {
            self.plans.push(Reverse((due, key)));
        }
        while let Some(Reverse((time, key))) = self.plans.peek()
            && self.known.get(key).and_then(|entry| entry.due) != Some(*time)
        {
            self.plans.pop();
        }
    }
}

/// Milliseconds until something that failed is tried again: 5 ms, doubled each time, at most 1000 s.
fn pause(failures: u32) -> i64 {
    5i64.checked_shl(failures.min(18)).unwrap_or(1_000_000).min(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_first_is_looked_at_first() {
        let mut queue = Queue::default();
        queue.add("b", Time::from_seconds(1));
        queue.add("a", Time::from_seconds(5));
        queue.add("c", Time::from_seconds(5));
        queue.add("c", Time::from_seconds(2));
        assert_eq!(queue.next(), Some(Time::from_seconds(1)));
        let taken: Vec<_> = std::iter::from_fn(|| queue.take(Time::from_seconds(4))).collect();
        assert_eq!(taken, ["b", "c"]);
        assert_eq!(queue.next(), Some(Time::from_seconds(5)));
    }

    #[test]
    fn a_plan_that_came_back_is_looked_at_once() {
        let (mut queue, at) = (Queue::default(), Time::from_seconds);
        for seconds in [3, 1, 3, 2, 3] {
            queue.add("a", at(seconds));
        }
        assert_eq!((queue.next(), queue.take(at(2))), (Some(at(3)), None));
        assert_eq!((queue.take(at(3)), queue.next()), (Some("a"), None));
        // Sooner is possible, later is not.
        queue.add("b", at(2));
        queue.conclude("b", true, Some(at(4)), at(1));
        assert_eq!(queue.next(), Some(at(2)));
        queue.conclude("b", true, Some(at(1)), at(1));
        assert_eq!(queue.next(), Some(at(1)));
        assert_eq!((queue.take(at(9)), queue.take(at(9))), (Some("b"), None));
    }

    #[test]
    fn failures_are_tried_again_after_growing_pauses() {
        let mut queue = Queue::default();
        let now = Time::from_seconds(0);
        for pause in [5, 10, 20] {
            queue.conclude("a", false, None, now);
            assert_eq!(queue.next(), Some(now.plus_millis(pause)));
            queue.take(now.plus_millis(pause));
        }
        queue.conclude("a", true, None, now);
        assert_eq!(queue.next(), None);
    }
}
