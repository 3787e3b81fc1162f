//! Objects that are looked at only beside Pods and claims: budgets, Services, and what says where volumes are.

use super::{Cluster, attachments, volumes};
use crate::api::others::Bystander;

/// Kind, namespace and name.
pub(super) type KindKey = (String, String, String);

impl Cluster {
    pub(super) fn apply_bystander(&mut self, key: KindKey, object: Bystander) {
        self.delete_bystander(&key);
        self.count_volume(&key.0, &object, true);
        self.bystanders.insert(key, object);
    }

    /// Takes a volume or where one is attached into account, or no longer.
    fn count_volume(&mut self, kind: &str, object: &Bystander, is_added: bool) {
        match kind {
            volumes::KIND => self.free_volumes.count(object, is_added),
            volumes::SPACE => self.space.count_space(object, is_added),
            attachments::KIND => attachments::count(&mut self.attachments, object, is_added),
            _ => {}
        }
    }

    pub(super) fn delete_bystander(&mut self, key: &KindKey) -> bool {
        let removed = self.bystanders.remove(key);
        if let Some(old) = &removed {
            self.count_volume(&key.0, old, false);
        }
        removed.is_some()
    }

    /// Whether there are any of a kind.
    pub(crate) fn has_bystanders(&self, kind: &str) -> bool {
        let first = (kind.to_owned(), String::new(), String::new());
        self.bystanders.range_from(&first).next().is_some_and(|((of, ..), _)| of == kind)
    }

    /// PersistentVolumes that no claim has.
    pub(crate) fn free_volumes(&self) -> &volumes::FreeVolumes {
        &self.free_volumes
    }

    /// Where volumes can be made, and how large.
    pub(crate) fn space(&self) -> &volumes::FreeVolumes {
        &self.space
    }

    /// The Services of a namespace.
    pub(crate) fn services(&self, namespace: &str) -> impl Iterator<Item = &Bystander> {
        let first = ("Service".to_owned(), namespace.to_owned(), String::new());
        let own = move |(kind, of, _): &&(String, String, String)| kind == "Service" && of == namespace;
        self.bystanders.range_from(&first).take_while(move |(key, _)| own(key)).map(|(_, service)| service)
    }
}
