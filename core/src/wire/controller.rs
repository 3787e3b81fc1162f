//! A controller as calls with JSON in and out, for doors that speak JSON.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{no_call, read, texts, unreadable};
use crate::allocate::Limits;
use crate::controller::{Conclusion, Controller, Part, Settings};
use crate::decision::Time;
use crate::finding::{Finding, ObjectRef};
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
    /// Whether the explainer writes conditions where a Pod or PodGroup asks for them.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    conditions: bool,
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

/// A controller that knows of no object. `settings` is `{"part", "home", "allowAdminAccess", "conditions"}`, all but the first optional.
///
/// # Errors
///
/// A finding when a setting is not known.
pub fn controller(profile: Profile, limits: Limits, settings: Value) -> Result<Controller, Vec<Finding>> {
    let WireSettings { part, home, allow_admin_access, conditions } = read(settings, "")?;
    let home = home.unwrap_or_else(|| "apportion-system".to_owned());
    Ok(Controller::new(profile, limits, Settings { part, home, allow_admin_access, conditions }))
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
        "apply" => read(argument, name)
            .map(|objects: Vec<Value>| json!(controller.apply(texts(&objects).iter().map(String::as_str)))),
        "delete" => read(argument, name).map(|object| json!(controller.delete(&object))),
        "due" => Ok(json!(controller.due())),
        "standings" => Ok(controller.standings()),
        "reconcile" => read(argument, name)
            .map(|Asked { object, now_millis }| json!(controller.reconcile(&object, Time::from_millis(now_millis)))),
        "conclude" => read(argument, name).map(|Concluded { object, conclusion }| {
            controller.conclude(&object, conclusion);
            json!({})
        }),
        _ => Err(no_call(name)),
    };
    answer.unwrap_or_else(|findings| unreadable(&findings))
}
