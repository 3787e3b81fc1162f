//! The host's own copy of the facts, to fill a fresh instance from.

use std::collections::BTreeMap;

use apportion_core::finding::ObjectRef;
use serde::Deserialize;

/// Objects that were taken, as they were given.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// Each with its place in the order of first arrival.
    objects: BTreeMap<ObjectRef, (u64, String)>,
    arrivals: u64,
}

#[derive(Deserialize)]
struct Head {
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
        let Ok(head) = serde_json::from_str::<Head>(text) else { return };
        let key = key(head.kind, head.metadata.namespace, head.metadata.name);
        let arrival = self.arrivals;
        self.arrivals = arrival.saturating_add(1);
        let entry = self.objects.entry(key).or_insert_with(|| (arrival, String::new()));
        text.clone_into(&mut entry.1);
    }

    pub(crate) fn remove(&mut self, object: &ObjectRef) {
        self.objects.remove(&key(object.kind.clone(), object.namespace.clone(), object.name.clone()));
    }

    /// All objects in the order of first arrival.
    pub(crate) fn objects(&self) -> Vec<&str> {
        let mut objects: Vec<_> = self.objects.values().collect();
        objects.sort_unstable_by_key(|(arrival, _)| *arrival);
        objects.into_iter().map(|(_, text)| text.as_str()).collect()
    }
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
    fn a_missing_namespace_is_the_default_namespace() {
        let mut cache = Cache::default();
        cache.insert(&pod("null", "x", "1"));
        cache.insert(&pod("\"default\"", "x", "2"));
        assert_eq!(cache.objects().len(), 1);
        cache.remove(&ObjectRef { kind: "Pod".into(), namespace: "default".into(), name: "x".into() });
        assert!(cache.objects().is_empty());
    }
}
