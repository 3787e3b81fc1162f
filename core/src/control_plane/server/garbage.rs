//! Garbage collection: objects whose owners are all gone.

use super::Server;
use crate::decision::Time;

impl Server {
    /// Whether objects may have lost their owners.
    pub fn has_garbage(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// Asks for the deletion of one object whose owners are all gone. False when there is none.
    pub fn collect_garbage(&mut self, now: Time) -> bool {
        while let Some(key) = self.suspects.pop_first() {
            let Some(metadata) = self.metadata(&key) else { continue };
            let owners = &metadata.owner_references;
            let is_orphan = !owners.is_empty() && owners.iter().all(|owner| !self.uids.contains(&owner.uid));
            if is_orphan && !metadata.is_deleting() {
                return self.delete(&key, "", None, now).is_ok();
            }
        }
        false
    }
}
