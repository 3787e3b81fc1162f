//! A controller as calls with JSON in and out, for doors that speak JSON.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::allocate::Limits;
use crate::controller::{Conclusion, Controller, Part, Settings};
use crate::decision::Time;
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
        "reconcile" => read(argument)
            .map(|Asked { object, now_millis }| json!(controller.reconcile(&object, Time::from_millis(now_millis)))),
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
