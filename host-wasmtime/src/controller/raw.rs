//! Objects of any kind, as the API server writes them.

use std::borrow::Cow;

use kube::api::Resource;
use kube::core::{ApiResource, DynamicResourceScope, ObjectMeta};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

/// An object that is passed on as it was read: most of it plays no part for whoever watches or writes.
#[derive(Clone, Debug)]
pub(super) struct Raw {
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
    pub(super) fn into_value(self) -> Value {
        self.value
    }

    /// The object with its type, which objects in lists do not name.
    pub(super) fn of_kind(self, kind: &ApiResource) -> Value {
        let mut value = self.value;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("apiVersion".to_owned(), json!(kind.api_version));
            fields.insert("kind".to_owned(), json!(kind.kind));
        }
        value
    }

    /// Whether it is being deleted.
    pub(super) fn is_deleting(&self) -> bool {
        self.value.pointer("/metadata/deletionTimestamp").is_some_and(|time| !time.is_null())
    }
}

impl<'d> Deserialize<'d> for Raw {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
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
    use super::*;

    #[test]
    fn what_is_read_is_passed_on_as_it_is() {
        let text = r#"{"metadata":{"name":"x","resourceVersion":"7","other":1},"data":{"deep":[1,null]}}"#;
        let raw: Raw = serde_json::from_str(text).unwrap();
        assert_eq!((raw.meta().name.as_deref(), raw.meta().resource_version.as_deref()), (Some("x"), Some("7")));
        assert_eq!(serde_json::to_value(&raw).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        assert!(!raw.is_deleting());
    }
}
