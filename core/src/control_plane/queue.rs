//! What is to be looked at, and when.

use std::collections::{BTreeMap, BTreeSet};

use crate::decision::Time;

/// What is looked at when, the earliest first, and how often in a row it failed.
#[derive(Clone, Debug)]
pub(super) struct Queue<K> {
    due: BTreeMap<K, Time>,
    /// The same in the order of the times.
    order: BTreeSet<(Time, K)>,
    failures: BTreeMap<K, u32>,
}

impl<K> Default for Queue<K> {
    fn default() -> Self {
        Self { due: BTreeMap::new(), order: BTreeSet::new(), failures: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> Queue<K> {
    /// When the next look is due.
    pub(super) fn next(&self) -> Option<Time> {
        self.order.first().map(|(time, _)| *time)
    }

    /// Has something looked at at a time, and not at the one planned before.
    pub(super) fn add(&mut self, key: K, at: Time) {
        match self.due.get_mut(&key) {
            Some(time) if *time == at => {}
            Some(time) => {
                let before = (std::mem::replace(time, at), key);
                self.order.remove(&before);
                self.order.insert((at, before.1));
            }
            None => {
                self.due.insert(key.clone(), at);
                self.order.insert((at, key));
            }
        }
    }

    /// Something that is due; it is not any more.
    pub(super) fn take(&mut self, now: Time) -> Option<K> {
        self.next().filter(|time| *time <= now)?;
        let (_, key) = self.order.pop_first()?;
        self.due.remove(&key);
        Some(key)
    }

    /// Takes the end of a look into account: after a failure there is another one, with growing pauses.
    pub(super) fn conclude(&mut self, key: K, is_done: bool, wake_up: Option<Time>, now: Time) {
        let mut next = wake_up;
        if is_done {
            self.failures.remove(&key);
        } else {
            let failures = self.failures.entry(key.clone()).or_default();
            let again = now.plus_millis(pause(*failures));
            *failures = failures.saturating_add(1);
            next = Some(next.map_or(again, |next| next.min(again)));
        }
        if let Some(next) = next {
            let planned = self.due.get(&key).map_or(next, |planned| next.min(*planned));
            self.add(key, planned);
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
