//! A controller as calls with JSON in and out, for doors that speak JSON.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::allocate::Limits;
use crate::controller::{Conclusion, Controller, Part, Settings};
use crate::decision::{Action, Cause, Change, Decision, EventRecord, Patch, Time};
use crate::finding::{Code, Finding, ObjectRef};
use crate::profile::Profile;

/// What a controller is told when it starts.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "ControllerSettings"))]
pub(crate) struct WireSettings {
    /// What it is for.
    part: Part,
    /// Its own namespace, where master templates are; `apportion-system` where it is left out.
    #[cfg_attr(feature = "types", ts(optional = nullable))]
    home: Option<String>,
    /// Whether cluster-wide claim templates may ask for admin access.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    allow_admin_access: bool,
}

/// What is to be decided about, and when.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Asked {
    object: ObjectRef,
    now_millis: i64,
}

/// What became of a decision.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Concluded {
    object: ObjectRef,
    conclusion: Conclusion,
}

/// What is to happen about one thing.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct Reconciliation {
    /// Writes, in order. When one fails, those after it must not happen. A later write to the same object carries the version
    /// that the earlier one gave.
    writes: Vec<Write>,
    /// When to ask again although nothing changed, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", ts(optional, type = "number"))]
    wake_up_millis: Option<i64>,
    /// Whether asking again with growing pauses makes sense.
    retry: bool,
    /// What to tell users, however often it was told before.
    events: Vec<EventRecord>,
    /// Objects that the writes take to be gone: whoever finds one still there writes nothing.
    gone: Vec<Identified>,
    /// Why, for whoever counts.
    cause: WireCause,
}

/// One write to the API server.
#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) enum Write {
    /// A new object.
    Create {
        /// The object. Its name is given.
        #[cfg_attr(feature = "types", ts(type = "Json"))]
        object: Value,
        /// What to tell when the server refuses it, with the server's words at the end of the note; the writes after it do not
        /// build on the object and happen all the same.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "types", ts(optional))]
        refused: Option<EventRecord>,
    },
    /// An object's metadata and spec, with the version that it must still have.
    Update(#[cfg_attr(feature = "types", ts(type = "Json"))] Value),
    /// An object's status, likewise.
    UpdateStatus(#[cfg_attr(feature = "types", ts(type = "Json"))] Value),
    /// Fields of an object.
    Patch {
        /// The object.
        object: ObjectRef,
        /// Its UID, so that a later object of that name is spared; any where it is empty.
        uid: String,
        /// The version that it must still have; any where it is empty.
        resource_version: String,
        /// Whether the status subresource is meant.
        status: bool,
        /// How the fields are merged.
        merging: Merging,
        /// The fields.
        #[cfg_attr(feature = "types", ts(type = "Json"))]
        fields: Value,
    },
    /// Asks for an object to be deleted.
    Delete {
        /// The object.
        object: ObjectRef,
        /// The UID that it must have.
        uid: String,
        /// The `resourceVersion` that it must have; empty where any will do.
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

/// How fields are merged into an object.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) enum Merging {
    /// RFC 7386.
    Merge,
    /// The same, with lists merged by their keys.
    Strategic,
    /// Server-side apply by this field manager, which wins over others.
    Apply(String),
}

/// An object with the UID that it must have.
#[derive(Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) struct Identified {
    /// The object.
    object: ObjectRef,
    /// Its UID.
    uid: String,
}

/// Why a decision was made.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "Cause"))]
pub(crate) enum WireCause {
    /// It is what the controller is for.
    Usual,
    /// Somebody else changed or deleted what the controller had made.
    Drift,
    /// What was taken away to be replaced is made again.
    Replacement {
        /// When it was decided to take it away, in milliseconds since 1970.
        #[cfg_attr(feature = "types", ts(type = "number"))]
        since: i64,
    },
}

impl From<Decision> for Reconciliation {
    fn from(decision: Decision) -> Self {
        Self {
            writes: decision.actions.into_iter().map(Write::from).collect(),
            wake_up_millis: decision.wake_up.map(Time::millis),
            retry: decision.retry,
            events: decision.events,
            gone: decision.gone.into_iter().map(|(object, uid)| Identified { object, uid }).collect(),
            cause: match decision.cause {
                Cause::Usual => WireCause::Usual,
                Cause::Drift => WireCause::Drift,
                Cause::Replacement { since } => WireCause::Replacement { since: since.millis() },
            },
        }
    }
}

impl From<Action> for Write {
    fn from(action: Action) -> Self {
        match action {
            Action::Create { object, refused } => Self::Create { object: object.write(), refused },
            Action::Update(object) => Self::Update(object.write()),
            Action::UpdateStatus(object) => Self::UpdateStatus(object.write()),
            Action::Patch(Patch { object, uid, resource_version, status, change }) => {
                let (merging, fields) = match change {
                    Change::Merge(fields) => (Merging::Merge, fields),
                    Change::Strategic(fields) => (Merging::Strategic, fields),
                    Change::Apply { manager, fields } => (Merging::Apply(manager), fields),
                };
                Self::Patch { object, uid, resource_version, status, merging, fields }
            }
            Action::Delete { object, uid, resource_version } => Self::Delete { object, uid, resource_version },
            Action::Bind { pod, uid, node } => Self::Bind { pod, uid, node },
            Action::Record(event) => Self::Record(event),
        }
    }
}

/// A controller that knows of no object. `settings` is `{"part", "home", "allowAdminAccess"}`, all but the first optional.
///
/// # Errors
///
/// A finding when a setting is not known.
pub fn controller(profile: Profile, limits: Limits, settings: Value) -> Result<Controller, Vec<Finding>> {
    let WireSettings { part, home, allow_admin_access } =
        read(settings).map_err(|message| vec![Finding::new(Code::ReadBadSettings, "", message)])?;
    let home = home.unwrap_or_else(|| "apportion-system".to_owned());
    Ok(Controller::new(profile, limits, Settings { part, home, allow_admin_access }))
}

/// Makes one call by name; the answer of a call that cannot be read is `{"status": "unreadable", "findings": [..]}`.
///
/// | call | argument | answer |
/// |---|---|---|
/// | `apply` | a list of objects | a list of findings per object |
/// | `delete` | `{"kind", "namespace", "name"}` | whether there was one |
/// | `due` | `null` | a list of [`Task`](crate::controller::Task) |
/// | `standings` | `null` | see [`Controller::standings`] |
/// | `reconcile` | `{"object", "nowMillis"}` | `{"writes", "wakeUpMillis", "retry", "events", "gone", "cause"}` |
/// | `conclude` | `{"object", "conclusion"}` | `{}` |
pub fn call(controller: &mut Controller, name: &str, argument: Value) -> Value {
    let answer = match name {
        "apply" => read(argument).map(|objects: Vec<Value>| {
            let objects: Vec<String> = objects.iter().map(Value::to_string).collect();
            json!(controller.apply(objects.iter().map(String::as_str)))
        }),
        "delete" => read(argument).map(|object| json!(controller.delete(&object))),
        "due" => Ok(json!(controller.due())),
        "standings" => Ok(controller.standings()),
        "reconcile" => read(argument).map(|Asked { object, now_millis }| {
            json!(Reconciliation::from(controller.reconcile(&object, Time::from_millis(now_millis))))
        }),
        "conclude" => read(argument).map(|Concluded { object, conclusion }| {
            controller.conclude(&object, conclusion);
            json!({})
        }),
        _ => Err(format!("there is no call `{name}`")),
    };
    answer.unwrap_or_else(|message| {
        let finding = Finding::new(Code::ReadBadSettings, name, message);
        json!({ "status": "unreadable", "findings": [finding] })
    })
}

fn read<T: DeserializeOwned>(argument: Value) -> Result<T, String> {
    serde_json::from_value(argument).map_err(|error| error.to_string())
}
