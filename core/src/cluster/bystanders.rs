//! Objects that are looked at only beside Pods and claims: budgets, Services, volumes and their classes.

use super::{Cluster, volumes};
use crate::api::others::Bystander;

/// Kind, namespace and name.
type KindKey = (String, String, String);

impl Cluster {
    pub(super) fn apply_bystander(&mut self, key: KindKey, object: Bystander) {
        if key.0 == volumes::KIND {
            self.bystanders.get(&key).into_iter().for_each(|old| self.free_volumes.count(old, false));
            self.free_volumes.count(&object, true);
        }
        self.bystanders.insert(key, object);
    }

    pub(super) fn delete_bystander(&mut self, key: &KindKey) -> bool {
        let removed = self.bystanders.remove(key);
        if let Some(old) = removed.as_ref().filter(|_| key.0 == volumes::KIND) {
            self.free_volumes.count(old, false);
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

    /// The Services of a namespace.
    pub(crate) fn services(&self, namespace: &str) -> impl Iterator<Item = &Bystander> {
        let first = ("Service".to_owned(), namespace.to_owned(), String::new());
        let own = move |(kind, of, _): &&(String, String, String)| kind == "Service" && of == namespace;
        self.bystanders.range_from(&first).take_while(move |(key, _)| own(key)).map(|(_, service)| service)
    }
}
