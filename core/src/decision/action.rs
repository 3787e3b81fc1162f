//! What a controller decides, and what it hears.

use serde::Serialize;
use serde_json::Value;

use super::Time;
use crate::api::meta::ObjectMeta;
use crate::api::object::Object;
use crate::finding::ObjectRef;

/// What a controller wants to happen, and when to ask it again. Across a border `O`, an object, is JSON.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "Reconciliation", concrete(O = Value)))]
pub struct Decision<O = Box<Object>> {
    /// Writes, in order. When one fails, those after it must not happen; only bindings that follow one another do not build on
    /// each other. A later write to the same object carries the version that the earlier one gave.
    #[serde(rename = "writes")]
    pub actions: Vec<Action<O>>,
    /// When to ask again although no fact has changed, in milliseconds since 1970.
    #[serde(rename = "wakeUpMillis", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<f64>"))]
    pub wake_up: Option<Time>,
    /// Whether something is missing or was refused, so that asking again with growing pauses makes sense.
    pub retry: bool,
    /// What to tell users, however often it was told before: whoever records it counts repetitions.
    pub events: Vec<EventRecord>,
    /// Objects that the writes take to be gone. A host whose facts may lag behind looks again before the first write, and
    /// writes nothing if one is there.
    pub gone: Vec<Identified>,
    /// Why, for metrics.
    pub cause: Cause,
}

/// An object with the UID that it must have.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Identified {
    /// The object.
    pub object: ObjectRef,
    /// Its UID.
    pub uid: String,
}

/// Why a decision was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub enum Cause {
    /// It is what the controller is for.
    #[default]
    Usual,
    /// Somebody else changed or deleted what the controller had made.
    Drift,
    /// Nothing is done for now, because too much would be deleted at once.
    Held,
    /// What was taken away to be replaced is made again.
    Replacement {
        /// When it was decided to take it away, in milliseconds since 1970.
        #[cfg_attr(feature = "types", ts(type = "number"))]
        since: Time,
    },
}

impl<O> Default for Decision<O> {
    fn default() -> Self {
        Self::of(Vec::new())
    }
}

impl<O> Decision<O> {
    /// Nothing to do.
    pub fn none() -> Self {
        Self::default()
    }

    /// These writes.
    pub fn of(actions: Vec<Action<O>>) -> Self {
        Self { actions, wake_up: None, retry: false, events: Vec::new(), gone: Vec::new(), cause: Cause::default() }
    }

    /// Asks to be asked again at a time, or earlier where that was asked for before.
    pub fn wake_at(&mut self, time: Time) {
        self.wake_up = Some(self.wake_up.map_or(time, |earlier| earlier.min(time)));
    }
}

/// One write to the API server.
///
/// Updates and patches, and deletions that depend on what the object says, carry the `resourceVersion` of the facts that they were decided on, in their object or beside it:
/// when somebody else was faster they must fail. A later write of the same decision to the same object builds on the
/// earlier one and carries the version that this gave.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "Write", concrete(O = Value)))]
pub enum Action<O = Box<Object>> {
    /// A new object.
    Create {
        /// The object. Its name is given: it is derived from what the object belongs to.
        #[cfg_attr(feature = "types", ts(type = "Json"))]
        object: O,
        /// What to record when the server refuses the object, with the server's words at the end of the note. The writes
        /// after it do not build on the object and happen all the same.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "types", ts(optional))]
        refused: Option<EventRecord>,
    },
    /// An object's metadata and spec, with the version that it must still have.
    Update(#[cfg_attr(feature = "types", ts(type = "Json"))] O),
    /// An object's status, with the version that the object must still have.
    UpdateStatus(#[cfg_attr(feature = "types", ts(type = "Json"))] O),
    /// Some fields of an object.
    Patch(#[cfg_attr(feature = "types", ts(inline))] Patch),
    /// Asks for an object to be deleted.
    Delete {
        /// The object.
        object: ObjectRef,
        /// Its UID, so that a later object of that name is spared.
        uid: String,
        /// Its `resourceVersion`, where it is to be spared as well if somebody changed it meanwhile; else empty.
        resource_version: String,
    },
    /// Places a Pod on a node.
    Bind {
        /// The Pod.
        pod: ObjectRef,
        /// Its UID.
        uid: String,
        /// Name of the node.
        node: String,
    },
    /// Tells users what happened.
    Record(EventRecord),
}

impl<O> Action<O> {
    /// Asks for the object with this metadata to be deleted, whatever has changed in it.
    pub fn delete(object: ObjectRef, metadata: &ObjectMeta) -> Self {
        Self::Delete { object, uid: metadata.uid.clone(), resource_version: String::new() }
    }
}

/// Some fields of an object.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Patch {
    /// The object.
    pub object: ObjectRef,
    /// Its UID, so that a later object of that name is spared; any where it is empty.
    pub uid: String,
    /// The version that it must still have; any where it is empty.
    pub resource_version: String,
    /// Whether the status subresource is meant.
    pub status: bool,
    /// How the fields are merged.
    pub merging: Merging,
    /// The fields.
    #[cfg_attr(feature = "types", ts(type = "Json"))]
    pub fields: Value,
}

impl Patch {
    /// A patch of the object with this metadata, as it is now.
    pub fn of(object: ObjectRef, metadata: &ObjectMeta, status: bool, merging: Merging, fields: Value) -> Self {
        let (uid, resource_version) = (metadata.uid.clone(), metadata.resource_version.clone());
        Self { object, uid, resource_version, status, merging, fields }
    }

    /// A merge patch of whichever object has this name.
    pub fn merge(object: ObjectRef, status: bool, fields: Value) -> Self {
        Self::of(object, &ObjectMeta::default(), status, Merging::Merge, fields)
    }
}

/// How the fields of a [`Patch`] are merged into the object.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub enum Merging {
    /// RFC 7386: objects are merged, all else is replaced, `null` removes.
    Merge,
    /// The same, and lists with a merge key (conditions, claim statuses, reservations, owners) are merged by it.
    Strategic,
    /// Server-side apply: this manager owns exactly these fields, wins over others, and what it owned before and leaves out now goes.
    Apply(String),
}

/// A Kubernetes Event.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct EventRecord {
    /// The object that it is about.
    pub regarding: ObjectRef,
    /// UID of that object.
    pub uid: String,
    /// Whether it warns.
    pub is_warning: bool,
    /// A word for programs.
    pub reason: String,
    /// A sentence for people.
    pub note: String,
    /// Who says it.
    pub controller: String,
    /// What was being done; may be empty.
    pub action: String,
}

impl EventRecord {
    /// A warning about the object with this metadata.
    pub fn warning(controller: &str, regarding: ObjectRef, metadata: &ObjectMeta, reason: &str, note: String) -> Self {
        let (uid, reason, controller) = (metadata.uid.clone(), reason.to_owned(), controller.to_owned());
        Self { regarding, uid, is_warning: true, reason, note, controller, action: String::new() }
    }
}

/// Something that happened to an object.
#[derive(Clone, PartialEq, Debug)]
pub struct Trigger {
    /// The object before; absent for a new one.
    pub before: Option<Box<Object>>,
    /// The object now; absent for a removed one.
    pub after: Option<Box<Object>>,
}

impl Trigger {
    /// The object now, or as it was last.
    pub fn latest(&self) -> Option<&Object> {
        self.after.as_deref().or(self.before.as_deref())
    }
}
