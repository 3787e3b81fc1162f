//! The host's own copy of the facts, to fill a fresh instance from.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use apportion_core::api::claim::AllocationResult;
use apportion_core::api::read::Json;
use apportion_core::api::source::{SOURCE_API_VERSION, SOURCE_KIND};
use apportion_core::finding::ObjectRef;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Objects that were taken, as they were given.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// By kind, namespace and name.
    objects: BTreeMap<String, BTreeMap<String, BTreeMap<String, Entry>>>,
    arrivals: u64,
}

#[derive(Debug)]
struct Entry {
    /// Place in the order of first arrival.
    arrival: u64,
    /// Shared between the parts of a controller, which mostly hear of the same objects.
    text: Arc<str>,
    /// The allocation that the claim took since it was given.
    taken: Option<Arc<AllocationResult>>,
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
    #[serde(deserialize_with = "or_empty")]
    uid: String,
}

fn or_empty<'d, D: serde::Deserializer<'d>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Cache {
    /// Keeps an object that the component took.
    pub(crate) fn insert(&mut self, text: impl Into<Arc<str>>) {
        let text = text.into();
        let Some(key) = key_of(&text) else { return };
        if let Some(entry) = self.entry(&key.kind, &key.namespace, &key.name) {
            (entry.text, entry.taken) = (text, None);
            return;
        }
        let entry = Entry { arrival: self.arrivals, text, taken: None };
        self.arrivals = self.arrivals.saturating_add(1);
        let namespace = stored_namespace(&key.namespace).to_owned();
        self.objects.entry(key.kind).or_default().entry(namespace).or_default().insert(key.name, entry);
    }

    /// UID of an object that is known.
    pub(crate) fn uid(&self, object: &ObjectRef) -> Option<String> {
        let names = self.objects.get(&object.kind)?.get(stored_namespace(&object.namespace))?;
        let head: Head = serde_json::from_str(&names.get(&object.name)?.text).ok()?;
        Some(head.metadata.uid)
    }

    pub(crate) fn remove(&mut self, object: &ObjectRef) {
        let Some(namespaces) = self.objects.get_mut(&object.kind) else { return };
        let namespace = stored_namespace(&object.namespace);
        let Some(names) = namespaces.get_mut(namespace) else { return };
        names.remove(&object.name);
        if names.is_empty() {
            namespaces.remove(namespace);
        }
    }

    /// Keeps the allocations that claims of the cluster took. Claims in order are found from one to the next.
    pub(crate) fn take<'k>(&mut self, taken: impl Iterator<Item = ((&'k str, &'k str), &'k Arc<AllocationResult>)>) {
        let Some(namespaces) = self.objects.get_mut("ResourceClaim") else { return };
        let mut taken = taken.peekable();
        while let Some(&((namespace, _), _)) = taken.peek() {
            let mut none = BTreeMap::new();
            let names = namespaces.get_mut(stored_namespace(namespace)).unwrap_or(&mut none);
            let mut following = names.range_mut::<str, _>((Bound::Unbounded, Bound::Unbounded));
            while let Some(((_, name), allocation)) = taken.next_if(|((other, _), _)| *other == namespace) {
                let entry = match following.next() {
                    Some((next, entry)) if *next == *name => Some(entry),
                    _ => {
                        following = names.range_mut::<str, _>((Bound::Included(name), Bound::Unbounded));
                        following.next().filter(|(first, _)| *first == name).map(|(_, entry)| entry)
                    }
                };
                if let Some(entry) = entry {
                    entry.taken = Some(Arc::clone(allocation));
                }
            }
        }
    }

    /// All objects in the order of first arrival, with what they took.
    pub(crate) fn objects(&self) -> Vec<String> {
        let mut entries: Vec<&Entry> =
            self.objects.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values).collect();
        entries.sort_unstable_by_key(|entry| entry.arrival);
        let text = |entry: &Entry| match &entry.taken {
            Some(allocation) => with_allocation(&entry.text, allocation).unwrap_or_else(|| entry.text.to_string()),
            None => entry.text.to_string(),
        };
        entries.into_iter().map(text).collect()
    }

    fn entry(&mut self, kind: &str, namespace: &str, name: &str) -> Option<&mut Entry> {
        self.objects.get_mut(kind)?.get_mut(stored_namespace(namespace))?.get_mut(name)
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
    Some(ObjectRef { kind, namespace: head.metadata.namespace, name: head.metadata.name })
}

/// The same for the namespace `default` and for none: the component puts objects without one there. For cluster-scoped kinds the namespace
/// is without meaning.
fn stored_namespace(namespace: &str) -> &str {
    if namespace == "default" { "" } else { namespace }
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
            cache.insert(text);
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
        cache.take([(("a", "x"), &Arc::new(allocation))].into_iter());
        let objects = cache.objects();
        let taken: Value = serde_json::from_str(&objects[0]).unwrap();
        assert_eq!(taken["status"]["allocation"]["allocationTimestamp"], "2025-01-01T00:00:00Z");
        cache.insert(text);
        assert_eq!(cache.objects(), [text]);
    }

    #[test]
    fn a_missing_namespace_is_the_default_namespace() {
        let mut cache = Cache::default();
        cache.insert(pod("null", "x", "1"));
        cache.insert(pod("\"default\"", "x", "2"));
        assert_eq!(cache.objects().len(), 1);
        cache.remove(&ObjectRef { kind: "Pod".into(), namespace: "default".into(), name: "x".into() });
        assert!(cache.objects().is_empty());
    }
}
