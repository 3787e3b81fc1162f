//! What this replica wrote itself and has not heard of yet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use apportion_core::finding::ObjectRef;

#[cfg(test)]
use super::simulation::{Defect, has};
use super::steps::Feedback;
use super::watch::Seen;

/// Objects that this replica wrote and no watch has reported yet, with their UIDs. If such an object is deleted during a gap, no list and no
/// watch mentions it.
#[derive(Debug, Default)]
pub(super) struct Written(Mutex<BTreeMap<ObjectRef, String>>);

impl Written {
    /// The API server has it.
    pub(super) fn note(&self, seen: &Seen) {
        if let Ok(mut written) = self.0.lock() {
            written.insert(seen.object.clone(), seen.uid.clone());
        }
    }

    /// A watch has told of it, or of its end. One that has its name may have been written since.
    pub(super) fn told(&self, object: &ObjectRef, uid: &str) {
        if let Ok(mut written) = self.0.lock()
            && written.get(object).is_some_and(|written| written == uid)
        {
            written.remove(object);
        }
    }

    /// Those of a kind that are not among the ones that a watch has reported so far, by name and UID.
    pub(super) fn unreported(&self, kind: &str, known: &BTreeMap<ObjectRef, String>) -> BTreeSet<(ObjectRef, String)> {
        if let Ok(mut written) = self.0.lock() {
            // The news of a write may be faster than its answer.
            written.retain(|object, uid| object.kind != kind || known.get(object) != Some(uid));
        }
        self.of_kind(kind).into_iter().collect()
    }

    /// Those of a kind so far. What of them a list lacks that is asked for later is gone.
    pub(super) fn of_kind(&self, kind: &str) -> Vec<(ObjectRef, String)> {
        let Ok(written) = self.0.lock() else { return Vec::new() };
        written
            .iter()
            .filter(|(object, _)| object.kind == kind)
            .map(|(object, uid)| (object.clone(), uid.clone()))
            .collect()
    }
}

/// Objects as they are after own writes, until the news of them arrive: what was told before is older.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    versions: BTreeMap<ObjectRef, (String, u64)>,
    /// Versions that were told of while writes were being carried out: the news of a later write may be faster than an answer.
    newest: BTreeMap<ObjectRef, u64>,
    /// Objects that were deleted, and whose end was not told of yet, with their UIDs.
    lost: BTreeSet<(ObjectRef, String)>,
    /// Ends that were told of while writes were being carried out: the news of a deletion may be faster than its answer.
    ended: BTreeSet<(ObjectRef, String)>,
}

impl Ahead {
    /// An object was told of while writes are being carried out.
    pub(super) fn hear(&mut self, seen: &Seen) {
        self.newest.insert(seen.object.clone(), seen.version);
    }

    /// No write is being carried out.
    pub(super) fn rest(&mut self) {
        self.newest.clear();
        self.ended.clear();
    }

    /// Whether an answer to a write is older than what is known of its object by now: news or the answer to a later write were faster, or the
    /// object has ended.
    pub(super) fn is_outdated(&self, answer: &Seen) -> bool {
        let one = (answer.object.clone(), answer.uid.clone());
        if self.ended.contains(&one) || self.lost.contains(&one) {
            return true;
        }
        let heard = self.newest.get(&answer.object).copied();
        let written = self.versions.get(&answer.object).map(|(_, version)| *version);
        heard.max(written).is_some_and(|newest| answer.version > 0 && answer.version < newest)
    }

    pub(super) fn note(&mut self, feedback: &Feedback) {
        match feedback {
            Feedback::Has(seen) if seen.version > 0 => {
                self.versions.insert(seen.object.clone(), (seen.uid.clone(), seen.version));
            }
            Feedback::Has(_) => {}
            Feedback::Lost(object, uid) => {
                let one = (object.clone(), uid.clone());
                #[cfg(test)]
                if has(Defect::AnyEnd) {
                    self.ended.clear();
                }
                if !self.ended.contains(&one) {
                    self.versions.remove(object);
                    self.lost.insert(one);
                }
            }
        }
    }

    /// Whether an object that was seen is as it was before an own write.
    pub(super) fn is_old(&mut self, seen: &Seen) -> bool {
        if self.lost.contains(&(seen.object.clone(), seen.uid.clone())) {
            return true;
        }
        match self.versions.get(&seen.object) {
            Some((_, version)) if seen.version > 0 && seen.version < *version => true,
            Some(_) => {
                self.versions.remove(&seen.object);
                false
            }
            None => false,
        }
    }

    /// Whether the end of an object is that of one that was deleted here; there may be another one of its name by now. `is_writing`
    /// says that writes are being carried out.
    pub(super) fn is_known_end(&mut self, object: &ObjectRef, uid: &str, is_writing: bool) -> bool {
        let one = (object.clone(), uid.to_owned());
        #[cfg(test)]
        if has(Defect::AnyEnd) && self.lost.iter().any(|(lost, _)| lost == object) {
            self.lost.retain(|(lost, _)| lost != object);
            return true;
        }
        if self.lost.remove(&one) {
            return true;
        }
        if self.versions.get(object).is_some_and(|(written, _)| written == uid) {
            self.versions.remove(object);
        }
        if is_writing {
            self.ended.insert(one);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seen(uid: &str, version: u64) -> Seen {
        let metadata = json!({ "name": "x", "uid": uid, "resourceVersion": version.to_string() });
        Seen::of("Thing", json!({ "metadata": metadata }))
    }

    #[test]
    fn what_was_told_before_an_own_write_is_old() {
        let mut ahead = Ahead::default();
        assert!(!ahead.is_old(&seen("a", 3)));
        ahead.note(&Feedback::Has(seen("a", 7)));
        assert!(ahead.is_old(&seen("a", 5)));
        assert!(!ahead.is_old(&seen("a", 7)), "the news of the write");
        assert!(!ahead.is_old(&seen("a", 9)));
    }

    #[test]
    fn an_answer_does_not_replace_what_was_told_later() {
        let mut ahead = Ahead::default();
        ahead.hear(&seen("a", 5));
        ahead.hear(&seen("a", 6));
        assert!(ahead.is_outdated(&seen("a", 5)), "somebody wrote after it");
        assert!(!ahead.is_outdated(&seen("a", 6)) && !ahead.is_outdated(&seen("a", 7)));
        ahead.rest();
        assert!(!ahead.is_outdated(&seen("a", 5)));
    }

    /// The claim would lose its devices, and another one would get them.
    #[test]
    fn an_answer_does_not_replace_that_to_a_later_write() {
        let mut ahead = Ahead::default();
        ahead.hear(&seen("a", 5));
        ahead.note(&Feedback::Has(seen("a", 8)));
        assert!(ahead.is_outdated(&seen("a", 5)), "heard of already, and written once more");
        assert!(!ahead.is_outdated(&seen("a", 8)) && !ahead.is_outdated(&seen("a", 9)));
        ahead.note(&Feedback::Lost(seen("a", 1).object, "a".to_owned()));
        assert!(ahead.is_outdated(&seen("a", 8)), "deleted since");
        assert!(!ahead.is_outdated(&seen("b", 9)), "the successor");
    }

    /// Of two writes the first is answered; the second one ends the object, and the news of that are faster.
    #[test]
    fn an_answer_does_not_bring_back_what_has_ended() {
        let (mut ahead, object) = (Ahead::default(), seen("a", 1).object);
        assert!(!ahead.is_known_end(&object, "a", true));
        assert!(ahead.is_outdated(&seen("a", 7)));
        assert!(!ahead.is_outdated(&seen("b", 8)), "the successor");
    }

    #[test]
    fn the_end_of_an_object_that_was_replaced_is_not_that_of_its_successor() {
        let (mut ahead, object) = (Ahead::default(), seen("a", 1).object);
        ahead.note(&Feedback::Lost(object.clone(), "a".to_owned()));
        ahead.note(&Feedback::Has(seen("b", 8)));
        assert!(ahead.is_old(&seen("a", 6)), "it is gone");
        assert!(ahead.is_known_end(&object, "a", true));
        assert!(!ahead.is_known_end(&object, "b", true), "the successor ends, too");
    }

    /// The news of a write may be faster than its answer.
    #[test]
    fn an_end_that_was_missed_counts_whatever_was_written_before() {
        let (mut ahead, object) = (Ahead::default(), seen("a", 1).object);
        assert!(!ahead.is_old(&seen("a", 7)));
        ahead.note(&Feedback::Has(seen("a", 7)));
        assert!(!ahead.is_known_end(&object, "a", false));
        assert!(!ahead.is_old(&seen("b", 3)), "nothing is left of it");
    }

    /// The copy was replaced, and its successor deleted in a gap of the watch.
    #[test]
    fn an_end_that_was_missed_is_that_of_the_last_one_that_was_told() {
        let (mut ahead, object) = (Ahead::default(), seen("a", 1).object);
        ahead.note(&Feedback::Lost(object.clone(), "a".to_owned()));
        ahead.note(&Feedback::Has(seen("b", 8)));
        assert!(!ahead.is_old(&seen("b", 8)));
        assert!(!ahead.is_known_end(&object, "b", false), "the list lacks it");
    }

    #[test]
    fn an_end_that_is_told_before_the_answer_leaves_nothing_behind() {
        let (mut ahead, object) = (Ahead::default(), seen("a", 1).object);
        assert!(!ahead.is_known_end(&object, "a", true));
        ahead.note(&Feedback::Lost(object.clone(), "a".to_owned()));
        assert!(ahead.lost.is_empty());
        ahead.rest();
        assert!(ahead.ended.is_empty() && !ahead.is_old(&seen("b", 3)));
    }
}
