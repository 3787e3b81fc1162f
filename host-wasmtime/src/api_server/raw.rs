//! Objects of any kind, as the API server writes them.

use std::borrow::Cow;
use std::fmt;

use kube::api::Resource;
use kube::core::{ApiResource, DynamicResourceScope, ObjectMeta};
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

/// How deep an object may nest. The parser gives up at 128 levels, and with the object the list that it is in: then one user's parameters
/// for a device would keep all others from being seen.
const DEEPEST: usize = 100;

/// An object as it was read. Only a few of its fields are looked at.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    /// Of the metadata, what a watch goes on from.
    metadata: ObjectMeta,
    value: Value,
}

impl From<Value> for Raw {
    fn from(value: Value) -> Self {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let metadata = ObjectMeta {
            name: text("/metadata/name"),
            namespace: text("/metadata/namespace"),
            uid: text("/metadata/uid"),
            resource_version: text("/metadata/resourceVersion"),
            ..ObjectMeta::default()
        };
        Self { metadata, value }
    }
}

impl Raw {
    /// The object.
    pub(crate) fn into_value(self) -> Value {
        self.value
    }

    /// The object with its type, which objects in lists do not name.
    pub(crate) fn of_kind(self, kind: &ApiResource) -> Value {
        let mut value = self.value;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("apiVersion".to_owned(), json!(kind.api_version));
            fields.insert("kind".to_owned(), json!(kind.kind));
        }
        value
    }

    /// Whether it is being deleted.
    pub(crate) fn is_deleting(&self) -> bool {
        self.value.pointer("/metadata/deletionTimestamp").is_some_and(|time| !time.is_null())
    }
}

impl<'d> Deserialize<'d> for Raw {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        let mut is_cut = false;
        let mut value = Level { left: DEEPEST, is_cut: &mut is_cut }.deserialize(deserializer)?;
        if is_cut {
            unread(&mut value);
        }
        Ok(Self::from(value))
    }
}

/// Leaves of an object only what tells it from others, who uses it, and which devices it holds.
pub(crate) fn unread(object: &mut Value) {
    const IDENTITY: [&str; 6] = ["name", "namespace", "uid", "resourceVersion", "generation", "deletionTimestamp"];
    let Some(fields) = object.as_object_mut() else { return };
    let mut status = fields.remove("status").unwrap_or_default();
    fields.retain(|name, _| ["apiVersion", "kind", "metadata"].contains(&name.as_str()));
    fields.insert("spec".to_owned(), json!("not taken"));
    if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|name, _| IDENTITY.contains(&name.as_str()));
    }
    if let Some(status) = status.as_object_mut().filter(|status| status.contains_key("allocation")) {
        status.retain(|name, _| ["allocation", "reservedFor"].contains(&name.as_str()));
        fields.insert("status".to_owned(), json!(status));
    }
}

/// A value that may nest so many levels more. What nests deeper is left out, and that is noted.
struct Level<'c> {
    left: usize,
    is_cut: &'c mut bool,
}

impl Level<'_> {
    fn below(&mut self) -> Level<'_> {
        Level { left: self.left.saturating_sub(1), is_cut: &mut *self.is_cut }
    }
}

impl<'d> DeserializeSeed<'d> for Level<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'d>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.left == 0 {
            *self.is_cut = true;
            return deserializer.deserialize_ignored_any(IgnoredAny).map(|_| Value::Null);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'d> Visitor<'d> for Level<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'d>>(mut self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.below())? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'d>>(mut self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key()? {
            map.insert(key, entries.next_value_seed(self.below())?);
        }
        Ok(Value::Object(map))
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl Resource for Raw {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn group(kind: &ApiResource) -> Cow<'_, str> {
        kind.group.as_str().into()
    }

    fn version(kind: &ApiResource) -> Cow<'_, str> {
        kind.version.as_str().into()
    }

    fn kind(kind: &ApiResource) -> Cow<'_, str> {
        kind.kind.as_str().into()
    }

    fn api_version(kind: &ApiResource) -> Cow<'_, str> {
        kind.api_version.as_str().into()
    }

    fn plural(kind: &ApiResource) -> Cow<'_, str> {
        kind.plural.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[cfg(test)]
mod tests {
    use kube::core::{ObjectList, WatchEvent};

    use super::*;

    #[test]
    fn what_is_read_is_passed_on_as_it_is() {
        let text = r#"{"metadata":{"name":"x","resourceVersion":"7","other":1},"data":{"deep":[1,null]}}"#;
        let raw: Raw = serde_json::from_str(text).unwrap();
        assert_eq!((raw.meta().name.as_deref(), raw.meta().resource_version.as_deref()), (Some("x"), Some("7")));
        assert_eq!(serde_json::to_value(&raw).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        assert!(!raw.is_deleting());
    }

    /// JSON of an object in which something nests so deep.
    fn deep(levels: usize) -> String {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        let status = r#"{"allocation":{"devices":{"results":[{"device":"d"}]}},"devices":[],"reservedFor":[]}"#;
        format!(
            r#"{{"metadata":{{"name":"deep","uid":"u","labels":{{}}}},"spec":{{"x":{open}{close}}},"status":{status}}}"#
        )
    }

    #[test]
    fn what_nests_too_deep_keeps_nothing_else_from_being_read() {
        let other = r#"{"metadata":{"name":"x"},"spec":{"numbers":[1,-1,1.5,true,null,"a\n"]}}"#;
        for levels in [98, 99, 130, 5000] {
            let list =
                format!(r#"{{"kind":"L","apiVersion":"v1","metadata":{{}},"items":[{},{other}]}}"#, deep(levels));
            let list: ObjectList<Raw> = serde_json::from_str(&list).unwrap();
            let [first, second] = list.items.as_slice() else { panic!("{}", list.items.len()) };
            assert_eq!(second.value, serde_json::from_str::<Value>(other).unwrap());
            assert_eq!(first.meta().uid.as_deref(), Some("u"));
            assert_eq!(first.value["spec"] == "not taken", levels > 98, "{levels}");
            assert_eq!(first.value["status"]["allocation"]["devices"]["results"][0]["device"], "d");
            let event = format!(r#"{{"type":"ADDED","object":{}}}"#, deep(levels));
            let WatchEvent::Added(told) = serde_json::from_str::<WatchEvent<Raw>>(&event).unwrap() else { panic!() };
            assert_eq!(told.value, first.value);
        }
        let cut: Raw = serde_json::from_str(&deep(200)).unwrap();
        let (metadata, status) = (json!({ "name": "deep", "uid": "u" }), json!(["allocation", "reservedFor"]));
        let fields: Vec<&String> = cut.value["status"].as_object().unwrap().keys().collect();
        assert_eq!((&cut.value["metadata"], json!(fields)), (&metadata, status));
    }
}
