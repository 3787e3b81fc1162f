//! Laws over what happens in a cluster.

use apportion_core::check::History as Core;
use apportion_core::finding::{Code, Finding};
use apportion_core::wire;
use serde_json::{Value, json};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::question::parse;
use crate::text;

/// What has happened in a cluster so far, held to laws.
#[wasm_bindgen]
#[derive(Clone, Debug)]
pub struct History(Core);

#[wasm_bindgen]
impl History {
    /// Nothing has happened yet. `settings` is the JSON text that `wire::settings` reads.
    ///
    /// # Errors
    ///
    /// The findings as a JSON text, when a setting is not known.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str) -> Result<Self, String> {
        let settings = parse(settings).map_err(|finding| text(&[finding]))?;
        let (profile, _) = wire::settings(settings).map_err(|findings| text(&findings))?;
        Ok(Self(Core::new(profile)))
    }

    /// Takes events of watches in, a JSON list. Returns `{"findings": [..]}` with a list of findings per event.
    pub fn note(&mut self, events: &str) -> String {
        let refused = |finding: Finding| json!({ "status": "unreadable", "findings": [finding] });
        let answer = match parse(events) {
            Ok(Value::Array(events)) => {
                let findings: Vec<_> = events.into_iter().map(|event| self.0.note(event)).collect();
                json!({ "findings": findings })
            }
            Ok(_) => refused(Finding::new(Code::ReadBadSettings, "", "the events are not a list")),
            Err(finding) => refused(finding),
        };
        answer.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_noted_one_after_another() {
        let mut history = History::new("{}").unwrap();
        let told = history.note(r#"[{"type":"BOOKMARK"},{"type":"FLOWN"}]"#);
        assert!(told.starts_with(r#"{"findings":[[],[{"code":"read/bad-settings""#), "{told}");
        assert!(history.note("{").contains("read/bad-json") && history.note("{}").contains("unreadable"));
        assert!(History::new(r#"{"version":"2.0"}"#).is_err());
    }
}
