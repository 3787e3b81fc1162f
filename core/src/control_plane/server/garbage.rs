//! Garbage collection: objects whose owners are all gone.

use super::{Server, owners};
use crate::decision::Time;

impl Server {
    /// Whether objects may have lost their owners.
    pub fn has_garbage(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// Asks for the deletion of one object whose owners are all gone. False when there is none.
    pub fn collect_garbage(&mut self, now: Time) -> bool {
        while let Some(key) = self.suspects.pop_first() {
            let Some(stored) = self.objects.get(&key) else { continue };
            let owners = owners(&stored.value);
            let is_orphan = !owners.is_empty() && owners.iter().all(|uid| !self.uids.contains(uid));
            if is_orphan && !super::is_deleting(&stored.value) {
                return self.delete(&key, "", None, now).is_ok();
            }
        }
        false
    }
}
