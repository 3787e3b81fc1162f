//! Controllers: calls by name, JSON texts in and out.

use apportion_core::wire as settings_wire;
use apportion_core::{controller::Controller as Core, wire::controller as wire};
use serde_json::json;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::question::parse;
use crate::text;

/// A controller of a real cluster: what happened goes in, what to look at and what to write come out.
#[wasm_bindgen]
#[derive(Clone, Debug)]
pub struct Controller(Core);

#[wasm_bindgen]
impl Controller {
    /// A controller that knows of no object. `controller` is the JSON text that `control::wire::controller` reads, `settings`
    /// the one that `wire::settings` reads.
    ///
    /// # Errors
    ///
    /// The findings as a JSON text, when a setting is not known.
    #[wasm_bindgen(constructor)]
    pub fn new(controller: &str, settings: &str) -> Result<Self, String> {
        let [controller, settings] = [controller, settings].map(parse);
        let made = settings.map_err(|finding| vec![finding]).and_then(|settings| {
            let (profile, limits) = settings_wire::settings(settings)?;
            wire::controller(profile, limits, controller.map_err(|finding| vec![finding])?)
        });
        made.map(Self).map_err(|findings| text(&findings))
    }

    /// Makes one call: see `control::wire::call`.
    pub fn call(&mut self, name: &str, argument: &str) -> String {
        match parse(argument) {
            Ok(argument) => wire::call(&mut self.0, name, argument).to_string(),
            Err(finding) => json!({ "status": "unreadable", "findings": [finding] }).to_string(),
        }
    }

    /// A controller that knows the same, to try something out.
    pub fn fork(&self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_is_called_by_name() {
        let mut controller = Controller::new(r#"{"part":"podgroup-protection"}"#, "{}").unwrap();
        assert_eq!(controller.call("apply", "[]"), "[]");
        assert_eq!(controller.call("due", "null"), "[]");
        assert!(controller.call("fly", "null").contains("there is no call `fly`"));
        assert!(controller.call("reconcile", "{}").contains("missing field `object`"));
        assert!(controller.call("reconcile", "{").contains("read/bad-json"));
    }

    #[test]
    fn what_it_is_for_must_be_known() {
        for settings in ["{", "{}", r#"{"part":"kitchen"}"#, r#"{"part":"claims","color":1}"#] {
            assert!(
                Controller::new(settings, "{}").is_err_and(|findings| findings.contains("read/bad-")),
                "{settings}"
            );
        }
        assert!(Controller::new(r#"{"part":"claims"}"#, r#"{"version":"2.0"}"#).is_err());
    }
}
