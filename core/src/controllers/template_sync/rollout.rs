//! Which copies are being replaced, so that not more of them are missing at a time than their source allows.

use std::collections::BTreeSet;

use crate::cluster::Key;

/// Copies by namespace and name.
#[derive(Clone, Debug, Default)]
pub(super) struct Rollout {
    /// Being replaced: removed, and not made again as far as is known.
    open: BTreeSet<Key>,
    /// To be replaced once others are back.
    waiting: BTreeSet<Key>,
    /// Of those that waited, the ones whose turn it is.
    next: BTreeSet<Key>,
}

impl Rollout {
    /// Whether a copy may be replaced while at most so many of its name are missing. One that may not waits for its turn.
    pub(super) fn admit(&mut self, key: &Key, most: usize) -> bool {
        self.next.remove(key);
        let others = self.open.iter().filter(|open| open.1 == key.1 && *open != key).count();
        if others >= most.max(1) {
            self.waiting.insert(key.clone());
            return false;
        }
        self.waiting.remove(key);
        self.open.insert(key.clone());
        true
    }

    /// A copy needs no replacement, or none any more. Gives the one whose turn it is instead.
    pub(super) fn close(&mut self, key: &Key) -> Option<Key> {
        self.waiting.remove(key);
        let was_open = self.open.remove(key);
        if !(self.next.remove(key) || was_open) {
            return None;
        }
        let turn = self.waiting.iter().find(|waiting| waiting.1 == key.1).cloned()?;
        self.waiting.remove(&turn);
        self.next.insert(turn.clone());
        Some(turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(namespace: &str, name: &str) -> Key {
        (namespace.to_owned(), name.to_owned())
    }

    #[test]
    fn whoever_does_not_need_its_turn_passes_it_on() {
        let mut rollout = Rollout::default();
        assert!(rollout.admit(&key("a", "x"), 1));
        assert!(!rollout.admit(&key("b", "x"), 1));
        assert!(!rollout.admit(&key("c", "x"), 1));
        assert_eq!(rollout.close(&key("a", "x")), Some(key("b", "x")));
        assert_eq!(rollout.close(&key("b", "x")), Some(key("c", "x")));
        assert_eq!(rollout.close(&key("c", "x")), None);
    }
}
