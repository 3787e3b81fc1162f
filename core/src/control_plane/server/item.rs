//! One stored object, of a kind with a type or without.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::meta::ObjectMeta;
use crate::api::object::{Object, read_object};
use crate::api::read::{Json, Path, Rest, api_struct};
use crate::finding::ObjectRef;
use crate::gather::Gather;

api_struct! {
    /// An object of a kind that has no type here.
    #[expect(unreachable_pub, reason = "types of the API are public where they are declared")]
    open Other {
        /// API version as sent.
        "apiVersion" api_version: String,
        /// Kind.
        "kind" kind: String,
        /// Metadata.
        "metadata" metadata: ObjectMeta,
        /// Status.
        "status" status: Value,
    }
}

/// One object.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Item {
    /// A fact.
    Known(Object),
    /// An object of a kind that decisions do not use. It is stored and can be read back.
    Other(Box<Other>),
}

macro_rules! statuses {
    ($($variant:ident,)*) => {
        /// The status of a kind whose status has a type.
        fn status(object: &Object) -> Option<Value> {
            match object {
                $(Object::$variant(object) => object.status.write(),)*
                _ => None,
            }
        }

        fn has_status(object: &Object) -> bool {
            matches!(object, $(Object::$variant(_))|*)
        }

        fn set_status(object: &mut Object, status: Value) {
            match object {
                $(Object::$variant(object) => {
                    Arc::make_mut(object).status = Json::read(status, &Path::ROOT, &mut Vec::new()).unwrap_or_default();
                })*
                _ => {}
            }
        }

        fn take_status(object: &mut Object, old: &Object) {
            match (object, old) {
                $((Object::$variant(object), Object::$variant(old)) => Arc::make_mut(object).status.clone_from(&old.status),)*
                (Object::Namespace(object), Object::Namespace(old)) => keep(&mut Arc::make_mut(object).rest, &old.rest),
                (Object::SchedulingWorkload(object), Object::SchedulingWorkload(old)) => keep(&mut Arc::make_mut(object).rest, &old.rest),
                _ => {}
            }
        }
    };
}

statuses! {
    Node,
    Pod,
    ResourceClaim,
    PodGroup,
    DeviceTaintRule,
    ResourcePoolStatusRequest,
    TemplateSource,
    Workload,
}

fn keep(rest: &mut Rest, old: &Rest) {
    match old.get("status") {
        Some(status) => rest.set("status", status.clone()),
        None => rest.remove("status"),
    }
}

impl Item {
    pub(super) fn read(value: Value) -> Self {
        match read_object(value.clone()).object {
            Some(mut object) => {
                // The type is that of all versions: the one that was sent is kept beside it.
                if let (Object::DeviceTaintRule(rule), Some(version)) = (&mut object, value.get("apiVersion")) {
                    Arc::make_mut(rule).rest.set("apiVersion", version.clone());
                }
                Self::Known(object)
            }
            None => Self::Other(Json::read(value, &Path::ROOT, &mut Vec::new()).unwrap_or_default()),
        }
    }

    pub(super) fn write(&self) -> Value {
        match self {
            Self::Known(object) => object.write(),
            Self::Other(other) => other.write().unwrap_or_default(),
        }
    }

    pub(super) fn metadata(&self) -> &ObjectMeta {
        match self {
            Self::Known(object) => object.metadata(),
            Self::Other(other) => &other.metadata,
        }
    }

    pub(super) fn metadata_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Known(object) => object.metadata_mut(),
            Self::Other(other) => &mut other.metadata,
        }
    }

    pub(super) fn key(&self) -> ObjectRef {
        match self {
            Self::Known(object) => object.metadata().reference(&object.reference().kind),
            Self::Other(other) => other.metadata.reference(&other.kind),
        }
    }

    /// The status, of a kind where a request for it can change nothing else; `Null` where there is none.
    pub(super) fn status(&self) -> Option<Value> {
        match self {
            Self::Known(object) => has_status(object).then(|| status(object).unwrap_or_default()),
            Self::Other(_) => None,
        }
    }

    pub(super) fn set_status(&mut self, status: Value) {
        match self {
            Self::Known(object) => set_status(object, status),
            Self::Other(other) => other.status = status,
        }
    }

    /// Whether somebody wrote a status.
    pub(super) fn has_status(&self) -> bool {
        let says = |status: &Value| status.as_object().map_or(!status.is_null(), |fields| !fields.is_empty());
        match self {
            Self::Known(object) => status(object).is_some_and(|status| says(&status)),
            Self::Other(other) => says(&other.status),
        }
    }

    /// Takes the status of another version of the object.
    pub(super) fn take_status(&mut self, old: &Self) {
        match (self, old) {
            (Self::Known(object), Self::Known(old)) => take_status(object, old),
            (Self::Other(object), Self::Other(old)) => object.status.clone_from(&old.status),
            _ => {}
        }
    }

    /// A whole number in the metadata; 0 where it is left out.
    pub(super) fn number(&self, field: &str) -> i64 {
        self.metadata().rest.get(field).and_then(Value::as_i64).unwrap_or_default()
    }

    pub(super) fn set_number(&mut self, field: &str, to: i64) {
        self.metadata_mut().rest.set(field, json!(to));
    }

    /// Whether a terminating object waits for more than finalizers: a Pod waits for its kubelet.
    pub(super) fn keeps_running(&self) -> bool {
        matches!(self, Self::Known(Object::Pod(_))) && self.number("deletionGracePeriodSeconds") > 0
    }
}

/// A JSON object with one field.
pub(super) fn field(name: &str, value: Value) -> Value {
    Value::Object([(name.to_owned(), value)].into_iter().gather())
}
