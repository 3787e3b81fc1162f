//! A brake on deletions: many copies at once go only because a user changed or deleted their source.
//!
//! What was deleted before a start is not known. Therefore nothing is admitted in the first minute: however often the controller starts,
//! and whichever replica leads, no more is deleted than in a single run.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::Key;
use crate::decision::Time;

/// Copies that may be deleted in a minute, however few there are.
pub(super) const LEAST: usize = 10;

/// One of so many copies may be deleted in a minute.
pub(super) const SHARE: usize = 10;

/// Milliseconds in which deletions are counted together.
pub(super) const MINUTE: i64 = 60_000;

/// Milliseconds after which a user's change explains no further deletion, counted from the last one that it explained.
const EXPLAINS: i64 = 10 * MINUTE;

/// Until when a user's change explains deletions.
#[derive(Clone, Copy, Debug)]
enum Release {
    /// Nothing that it concerns was looked at yet.
    New,
    /// It explains what is deleted soon after.
    Since(Time),
    /// The object is gone, and what it was copied to goes whenever that may go.
    Gone,
}

/// Deletions of the last minute, and those that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Brake {
    /// When the minute began, and how many copies may be deleted in it: none in the first one.
    minute: Option<(Time, usize)>,
    /// Those that were to be deleted in it.
    admitted: BTreeSet<Key>,
    /// Copies that wait, with the UID of their source.
    held: BTreeMap<Key, String>,
    /// Sources, and what they are made of, that a user changed or deleted while the controller looked on, by UID.
    changed: BTreeMap<String, Release>,
}

impl Brake {
    /// A user changed or deleted a source, or what it is made of.
    pub(super) fn release(&mut self, uid: &str, is_gone: bool) {
        self.changed.insert(uid.to_owned(), if is_gone { Release::Gone } else { Release::New });
    }

    /// Whether a user changed one of these while the controller looked on, and not long before. `deletes` says whether a copy is to
    /// be deleted for that.
    pub(super) fn is_released<'u>(&mut self, uids: impl Iterator<Item = &'u str>, deletes: bool, now: Time) -> bool {
        let mut is_released = false;
        if self.changed.is_empty() {
            return false;
        }
        for uid in uids {
            is_released |= match self.changed.get_mut(uid) {
                Some(release @ Release::New) => {
                    *release = Release::Since(now);
                    true
                }
                Some(Release::Since(since)) => {
                    let explains = now.millis().saturating_sub(since.millis()) < EXPLAINS;
                    if explains && deletes {
                        *since = now;
                    }
                    explains
                }
                Some(Release::Gone) => true,
                None => false,
            };
        }
        is_released
    }

    /// An object is there that was taken to be gone.
    pub(super) fn is_back(&mut self, uid: &str) {
        self.changed.remove(uid);
    }

    /// Something is looked at, which may be the first thing since the start.
    pub(super) fn begin(&mut self, now: Time) {
        self.minute.get_or_insert((now, 0));
    }

    /// Whether nothing is admitted yet, because it is not known what was deleted before.
    pub(super) fn is_starting(&self) -> bool {
        self.minute.is_none_or(|(_, most)| most == 0)
    }

    /// Whether a copy may be deleted now, of so many that there are.
    ///
    /// # Errors
    ///
    /// When to ask again.
    pub(super) fn admit(&mut self, key: &Key, copies: impl FnOnce() -> usize, now: Time) -> Result<(), Time> {
        let age = self.minute.map(|(since, _)| now.millis().saturating_sub(since.millis()));
        let (since, most) = match (self.minute, age) {
            (Some(minute), Some(0..MINUTE)) => minute,
            (_, age) => {
                self.admitted.clear();
                // After a clock has gone back nobody knows what was deleted in the last minute.
                let is_known = age.is_some_and(|age| age >= MINUTE);
                (now, if is_known { LEAST.max(copies() / SHARE) } else { 0 })
            }
        };
        self.minute = Some((since, most));
        if self.admitted.len() < most {
            self.admitted.insert(key.clone());
        }
        if self.admitted.contains(key) { Ok(()) } else { Err(since.plus_millis(MINUTE)) }
    }

    /// A copy waits. True where it did not before.
    pub(super) fn hold(&mut self, key: &Key, source: &str) -> bool {
        self.held.insert(key.clone(), source.to_owned()).is_none()
    }

    /// A copy does not wait any more. Gives the UID of its source where it did.
    pub(super) fn let_go(&mut self, key: &Key) -> Option<String> {
        self.held.remove(key)
    }

    /// How many copies of a source wait.
    pub(super) fn held(&self, source: &str) -> usize {
        self.held.values().filter(|held| *held == source).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> Key {
        (format!("n{number:04}"), "x".to_owned())
    }

    #[test]
    fn a_tenth_goes_each_minute_and_whoever_was_admitted_stays_so() {
        for (copies, most) in [(0, 10), (15, 10), (1000, 100)] {
            let (mut brake, start) = (Brake::default(), Time::from_seconds(1_800_000_000));
            brake.begin(start.plus_millis(-MINUTE));
            let mut admitted = |from: usize, now: Time| {
                let mut all = (from..copies.max(20)).map(|number| brake.admit(&key(number), || copies, now));
                (all.by_ref().take_while(Result::is_ok).count(), all.next())
            };
            let next = start.plus_millis(MINUTE);
            assert_eq!(admitted(0, start), (most, Some(Err(next))));
            assert_eq!(admitted(0, start.plus_millis(MINUTE - 1)), (most, Some(Err(next))), "the same ones");
            assert_eq!(admitted(most, start.plus_millis(1)).0, 0);
            assert_eq!(admitted(most, next).0, most.min(copies.max(20) - most));
        }
    }

    #[test]
    fn a_clock_that_goes_back_and_a_start_admit_nothing_for_a_minute() {
        let (mut brake, now) = (Brake::default(), Time::from_seconds(1_800_000_000));
        brake.begin(now);
        brake.begin(now.plus_millis(MINUTE / 2));
        let mut admit = |number: usize, millis: i64| brake.admit(&key(number), || 0, now.plus_millis(millis));
        assert_eq!(admit(0, MINUTE - 1), Err(now.plus_millis(MINUTE)));
        assert_eq!((0..11).filter(|number| admit(*number, MINUTE).is_ok()).count(), 10);
        assert_eq!(admit(0, MINUTE - 1), Err(now.plus_millis(2 * MINUTE - 1)), "it was admitted by another clock");
        assert_eq!(admit(11, 2 * MINUTE - 1), Ok(()));
        assert_eq!(Brake::default().admit(&key(0), || 0, now), Err(now.plus_millis(MINUTE)));
    }
}
