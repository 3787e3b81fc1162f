//! Simulations and inspections: calls by name, JSON texts in and out.

use apportion_core::check as inspect;
use apportion_core::control_plane::script::{self, Step};
use apportion_core::decision::Time;
use apportion_core::finding::{Code, Finding, ObjectRef};
use apportion_core::wire as settings_wire;
use apportion_core::{
    control_plane::{Command, Simulation as Core},
    wire::simulation as wire,
};
use serde::Serialize;
use serde_json::{Value, json};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::question::parse;
use crate::text;

/// A simulated cluster in virtual time.
#[wasm_bindgen]
#[derive(Clone, Debug)]
pub struct Simulation(Core);

#[wasm_bindgen]
impl Simulation {
    /// A cluster without objects. `settings` is the JSON text that `wire::settings` reads. Without a time in milliseconds
    /// (a decimal text, empty for none) it starts when the objects of the JSON list `objects` may; they are only looked at.
    ///
    /// # Errors
    ///
    /// The findings as a JSON text, when a setting is not known.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str, now_millis: &str, objects: &str) -> Result<Self, String> {
        let settings = parse(settings).map_err(|finding| text(&[finding]))?;
        let (profile, limits) = settings_wire::settings(settings).map_err(|findings| text(&findings))?;
        let objects = parse(objects).map_err(|finding| text(&[finding]))?;
        let now = match now_millis.parse() {
            Ok(millis) => Time::from_millis(millis),
            Err(_) => Core::start_of(objects.as_array().into_iter().flatten()),
        };
        Ok(Self(Core::new(profile, limits, now)))
    }

    /// Makes one call: see `simulate::life::wire::call`.
    pub fn call(&mut self, name: &str, argument: &str) -> String {
        match parse(argument) {
            Ok(argument) => {
                let Ok(answer) = wire::call(&mut self.0, name, argument);
                answer.to_string()
            }
            Err(finding) => json!({ "status": "unreadable", "findings": [finding] }).to_string(),
        }
    }

    /// A simulation with the same past, to try something out.
    pub fn fork(&self) -> Self {
        self.clone()
    }
}

/// A step of a script.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ScriptStep {
    /// Milliseconds after the start.
    #[cfg_attr(test, ts(type = "number"))]
    at_millis: i64,
    /// What is done.
    command: Command,
    /// What it is done to; a namespace that is empty is the one that has such an object.
    object: ObjectRef,
    /// The step in a few words.
    says: String,
}

/// Reads a script, a JSON text: `{"steps": [{"atMillis", "command", "object", "says"}]}`, the commands as texts to be passed to
/// `perform`; or findings.
#[wasm_bindgen(js_name = readScript)]
#[must_use]
pub fn read_script(script: &str) -> String {
    let read = parse(script).map_err(|finding| vec![finding]).and_then(|value| {
        // The steps are asked for by their place, so that each keeps the form in which it was written.
        script::script(&value).map(|steps| {
            let steps = steps.into_iter().map(|Step { at_millis, command, object, says, .. }| {
                json!(ScriptStep { at_millis, command, object, says })
            });
            steps.collect::<Vec<Value>>()
        })
    });
    match read {
        Ok(steps) => json!({ "steps": steps }),
        Err(findings) => json!({ "status": "unreadable", "findings": findings }),
    }
    .to_string()
}

/// What is wrong in a dump: `{"settings": .., "objects": [..], "nowMillis": ..}` gives `{"findings": [..]}`.
#[wasm_bindgen]
#[must_use]
pub fn inspect(asked: &str) -> String {
    match parse(asked).map_err(|finding| vec![finding]).and_then(answer) {
        Ok(findings) => json!({ "findings": findings }),
        Err(findings) => json!({ "status": "unreadable", "findings": findings }),
    }
    .to_string()
}

fn answer(mut asked: Value) -> Result<Vec<Finding>, Vec<Finding>> {
    let now = asked.get("nowMillis").and_then(Value::as_i64).map(Time::from_millis);
    let mut part = |name: &str| asked.get_mut(name).map(Value::take);
    let (profile, _) = settings_wire::settings(part("settings").unwrap_or_else(|| json!({})))?;
    let Some(Value::Array(objects)) = part("objects") else {
        return Err(vec![Finding::new(Code::ReadBadSettings, "objects", "`objects` is not a list")]);
    };
    Ok(inspect::inspect(objects, &profile, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simulation_is_called_by_name() {
        let mut simulation = Simulation::new("{}", "0", "[]").unwrap();
        let node = r#"[{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}]"#;
        assert_eq!(simulation.call("apply", node), "[[]]");
        assert!(simulation.call("fly", "null").contains("there is no call `fly`"));
        assert_eq!(simulation.call("runUntil", "1000"), r#""quiet""#);
        assert_eq!(simulation.call("now", "null"), "1000");
    }

    #[test]
    fn a_script_is_read_and_its_commands_are_those_of_perform() {
        let read: Value = serde_json::from_str(&read_script(r#"[{"at":"1s","removeNode":"a"}]"#)).unwrap();
        assert_eq!(read["steps"][0]["command"], json!({ "removeNode": "a" }));
        assert!(read_script("[{}]").contains("read/bad-script"));
    }

    #[test]
    fn a_dump_is_inspected() {
        assert_eq!(inspect(r#"{"objects":[]}"#), r#"{"findings":[]}"#);
        assert!(inspect("{}").contains("read/bad-settings"));
    }
}
