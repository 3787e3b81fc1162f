//! The host's own copy of the facts, to fill a fresh instance from.

use std::collections::BTreeMap;
use std::sync::Arc;

use apportion_core::api::claim::AllocationResult;
use apportion_core::api::read::Json;
use apportion_core::api::source::{SOURCE_API_VERSION, SOURCE_KIND};
use apportion_core::cluster::Key;
use apportion_core::finding::ObjectRef;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Objects that were taken, as they were given.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// Each with its place in the order of first arrival.
    objects: BTreeMap<ObjectRef, (u64, String)>,
    arrivals: u64,
    /// Devices that claims took since they were given.
    taken: BTreeMap<ObjectRef, Arc<AllocationResult>>,
}

#[derive(Deserialize)]
struct Head {
    #[serde(default, rename = "apiVersion", deserialize_with = "or_empty")]
    api_version: String,
    kind: String,
    #[serde(default)]
    metadata: HeadMetadata,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct HeadMetadata {
    #[serde(deserialize_with = "or_empty")]
    name: String,
    #[serde(deserialize_with = "or_empty")]
    namespace: String,
}

fn or_empty<'d, D: serde::Deserializer<'d>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Cache {
    /// Keeps an object that the component took.
    pub(crate) fn insert(&mut self, text: &str) {
        let Some(key) = key_of(text) else { return };
        self.taken.remove(&key);
        let arrival = self.arrivals;
        self.arrivals = arrival.saturating_add(1);
        let entry = self.objects.entry(key).or_insert_with(|| (arrival, String::new()));
        text.clone_into(&mut entry.1);
    }

    /// Forgets what was known of an object that the component did not take.
    pub(crate) fn forget(&mut self, text: &str) {
        if let Some(key) = key_of(text) {
            self.taken.remove(&key);
            self.objects.remove(&key);
        }
    }

    pub(crate) fn remove(&mut self, object: &ObjectRef) {
        let key = key(object.kind.clone(), object.namespace.clone(), object.name.clone());
        self.taken.remove(&key);
        self.objects.remove(&key);
    }

    /// Keeps the devices that a claim of the cluster took.
    pub(crate) fn take(&mut self, (namespace, name): &Key, allocation: &Arc<AllocationResult>) {
        let key = key("ResourceClaim".to_owned(), namespace.clone(), name.clone());
        self.taken.insert(key, Arc::clone(allocation));
    }

    /// All objects in the order of first arrival, with what they took.
    pub(crate) fn objects(&self) -> Vec<String> {
        let mut objects: Vec<_> = self.objects.iter().collect();
        objects.sort_unstable_by_key(|(_, (arrival, _))| *arrival);
        let text = |(key, (_, text)): (&ObjectRef, &(u64, String))| match self.taken.get(key) {
            Some(allocation) => with_allocation(text, allocation).unwrap_or_else(|| text.clone()),
            None => text.clone(),
        };
        objects.into_iter().map(text).collect()
    }
}

/// A claim's text with an allocation in it.
fn with_allocation(text: &str, allocation: &AllocationResult) -> Option<String> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    let status = value.as_object_mut()?.entry("status").or_insert_with(|| Value::Object(Map::new()));
    if !status.is_object() {
        *status = Value::Object(Map::new());
    }
    status.as_object_mut()?.insert("allocation".to_owned(), allocation.write()?);
    Some(value.to_string())
}

/// What tells an object from others, as references name it.
fn key_of(text: &str) -> Option<ObjectRef> {
    let head = serde_json::from_str::<Head>(text).ok()?;
    let is_source = head.api_version == SOURCE_API_VERSION;
    let kind = if is_source { SOURCE_KIND.to_owned() } else { head.kind };
    Some(key(kind, head.metadata.namespace, head.metadata.name))
}

/// The same for an object with the namespace `default` and for one without: the component puts the latter there.
/// For cluster-scoped kinds the namespace is without meaning.
fn key(kind: String, namespace: String, name: String) -> ObjectRef {
    let namespace = if namespace == "default" { String::new() } else { namespace };
    ObjectRef { kind, namespace, name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(namespace: &str, name: &str, more: &str) -> String {
        format!(r#"{{"kind": "Pod", "metadata": {{"namespace": {namespace}, "name": "{name}"}}, "x": "{more}"}}"#)
    }

    #[test]
    fn a_replaced_object_keeps_its_place() {
        let mut cache = Cache::default();
        for text in [pod("\"a\"", "x", "1"), pod("\"a\"", "y", "1"), pod("\"a\"", "x", "2")] {
            cache.insert(&text);
        }
        assert_eq!(cache.objects(), [pod("\"a\"", "x", "2"), pod("\"a\"", "y", "1")]);
    }

    #[test]
    fn what_a_claim_took_is_in_its_text_until_it_is_given_again() {
        let mut cache = Cache::default();
        let text = r#"{"kind": "ResourceClaim", "metadata": {"namespace": "a", "name": "x"}}"#;
        cache.insert(text);
        let allocation_timestamp = "2025-01-01T00:00:00Z".to_owned();
        let allocation = AllocationResult { allocation_timestamp, ..AllocationResult::default() };
        cache.take(&("a".to_owned(), "x".to_owned()), &Arc::new(allocation));
        let objects = cache.objects();
        let taken: Value = serde_json::from_str(&objects[0]).unwrap();
        assert_eq!(taken["status"]["allocation"]["allocationTimestamp"], "2025-01-01T00:00:00Z");
        cache.insert(text);
        assert_eq!(cache.objects(), [text]);
    }

    #[test]
    fn a_missing_namespace_is_the_default_namespace() {
        let mut cache = Cache::default();
        cache.insert(&pod("null", "x", "1"));
        cache.insert(&pod("\"default\"", "x", "2"));
        assert_eq!(cache.objects().len(), 1);
        cache.remove(&ObjectRef { kind: "Pod".into(), namespace: "default".into(), name: "x".into() });
        assert!(cache.objects().is_empty());
    }
}
