//! What a controller decides, and what it hears.

use serde::Serialize;
use serde_json::Value;

use super::Time;
use crate::api::object::Object;
use crate::finding::ObjectRef;

/// What a controller wants to happen, and when to ask it again.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Decision {
    /// Writes, in order. When one fails, those after it must not happen; only bindings that follow one another do not build on
    /// each other.
    pub actions: Vec<Action>,
    /// When to ask again although no fact has changed.
    pub wake_up: Option<Time>,
    /// Whether something is missing or was refused, so that asking again with growing pauses makes sense.
    pub retry: bool,
    /// What to tell users, however often it was told before: whoever records it counts repetitions.
    pub events: Vec<EventRecord>,
    /// Objects, each with its UID, that the writes take to be gone. Whoever decides on facts that may lag behind looks
    /// again before the first write, and writes nothing if one is there.
    pub gone: Vec<(ObjectRef, String)>,
    /// Why, for whoever counts.
    pub cause: Cause,
}

/// Why a decision was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cause {
    /// It is what the controller is for.
    #[default]
    Usual,
    /// Somebody else changed or deleted what the controller had made.
    Drift,
    /// What was taken away to be replaced is made again.
    Replacement {
        /// When it was decided to take it away.
        since: Time,
    },
}

impl Decision {
    /// Nothing to do.
    pub fn none() -> Self {
        Self::default()
    }

    /// These writes.
    pub fn of(actions: Vec<Action>) -> Self {
        Self { actions, ..Self::default() }
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
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// A new object. Its name is given: it is derived from what the object belongs to.
    Create {
        /// The object.
        object: Box<Object>,
        /// What to record when the server refuses the object, with the server's words at the end of the note. The writes
        /// after it do not build on the object and happen all the same.
        refused: Option<EventRecord>,
    },
    /// An object's metadata and spec.
    Update(Box<Object>),
    /// An object's status.
    UpdateStatus(Box<Object>),
    /// Some fields of an object.
    Patch(Patch),
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

/// Some fields of an object.
#[derive(Clone, PartialEq, Debug)]
pub struct Patch {
    /// The object.
    pub object: ObjectRef,
    /// Its UID, so that a later object of that name is spared.
    pub uid: String,
    /// Its `resourceVersion`.
    pub resource_version: String,
    /// Whether the status subresource is meant.
    pub status: bool,
    /// The fields.
    pub change: Change,
}

/// How the fields of a [`Patch`] are merged.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// RFC 7386: objects are merged, all else is replaced, `null` removes.
    Merge(Value),
    /// The same, and lists with a merge key (conditions, claim statuses, reservations, owners) are merged by it.
    Strategic(Value),
    /// Server-side apply: the manager owns exactly these fields, and what it owned before and leaves out now goes.
    Apply {
        /// The field manager.
        manager: String,
        /// The fields.
        fields: Value,
    },
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
