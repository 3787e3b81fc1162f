//! Questions without state: everything in one JSON text, the answer in another.

use apportion_core::engine::Engine;
use apportion_core::evaluate;
use apportion_core::finding::{Code, Finding};
use apportion_core::validate;
use apportion_core::wire;
use serde::Serialize;
use serde_json::{Value, json};
use wasm_bindgen::prelude::wasm_bindgen;

/// Answers `{"settings": .., "objects": [..], "question": ..}`, all but `question` optional, with an answer as
/// `Engine.allocate` gives it. What is found in the objects is not told; ask an engine for that.
#[wasm_bindgen]
#[must_use]
pub fn answer(asked: &str) -> String {
    parse(asked)
        .map_err(|finding| vec![finding])
        .and_then(answer_value)
        .unwrap_or_else(|findings| unreadable(&findings).to_string())
}

fn answer_value(mut asked: Value) -> Result<String, Vec<Finding>> {
    let mut part = |name: &str| asked.get_mut(name).map(Value::take);
    let (profile, limits) = wire::settings(part("settings").unwrap_or_else(|| json!({})))?;
    let objects = match part("objects") {
        None => Vec::new(),
        Some(Value::Array(objects)) => objects,
        Some(_) => return Err(bad("objects", "`objects` is not a list")),
    };
    let question = part("question").ok_or_else(|| bad("question", "there is no `question`"))?;
    let mut engine = Engine::new(profile, limits);
    let objects: Vec<String> = objects.iter().map(Value::to_string).collect();
    engine.apply(objects.iter().map(String::as_str));
    wire::allocate(&mut engine, &question.to_string())
}

/// The answer to a JSON text; the findings where it cannot be read.
pub(crate) fn answered(text: &str, ask: impl FnOnce(Value) -> Result<Value, Vec<Finding>>) -> String {
    let answer = parse(text).map_err(|finding| vec![finding]).and_then(ask);
    answer.unwrap_or_else(|findings| unreadable(&findings)).to_string()
}

/// An answer that is a text already; the findings where the question cannot be read.
pub(crate) fn text(answer: Result<String, Vec<Finding>>) -> String {
    answer.unwrap_or_else(|findings| unreadable(&findings).to_string())
}

/// Evaluates one selector for one device, as `wire::selector` reads the question; both are JSON texts.
#[wasm_bindgen]
#[must_use]
pub fn evaluate(question: &str) -> String {
    match parse(question).map_err(|finding| vec![finding]).and_then(wire::selector) {
        Ok(question) => evaluate::evaluate(&question.expression, &question.device, &question.environment).to_json(),
        Err(findings) => unreadable(&findings),
    }
    .to_string()
}

/// Answers `{"settings": .., "submission": ..}`, the latter as `wire::submission` reads it, with `{"findings": [..]}`; or
/// `{"settings": .., "objects": [..]}` with `{"findings": [[..], ..]}`, what only shows when objects are seen together.
#[wasm_bindgen]
#[must_use]
pub fn validate(asked: &str) -> String {
    match parse(asked).map_err(|finding| vec![finding]).and_then(wire::validation) {
        Ok(question) => question.answer().to_string(),
        Err(findings) => unreadable(&findings).to_string(),
    }
}

/// The object of a JSON text in another version of its API group, as `{"object": ..}`.
#[wasm_bindgen]
#[must_use]
pub fn convert(object: &str, version: &str) -> String {
    let converted =
        parse(object).map_err(|finding| vec![finding]).and_then(|object| validate::convert(object, version));
    match converted {
        Ok(object) => json!({ "object": object }),
        Err(findings) => unreadable(&findings),
    }
    .to_string()
}

/// The question itself cannot be read.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Unreadable<'f> {
    /// Tells it from an answer.
    #[cfg_attr(test, ts(type = "\"unreadable\""))]
    status: &'static str,
    /// Why.
    findings: &'f [Finding],
}

fn unreadable(findings: &[Finding]) -> Value {
    json!(Unreadable { status: "unreadable", findings })
}

fn bad(path: &str, message: &str) -> Vec<Finding> {
    vec![Finding::new(Code::ReadBadSettings, path, message)]
}

pub(crate) fn parse(text: &str) -> Result<Value, Finding> {
    serde_json::from_str(text).map_err(|error| Finding::new(Code::ReadBadJson, "", format!("not valid JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_said() {
        for (asked, code) in [
            ("", "read/bad-json"),
            ("[]", "read/bad-settings"),
            (r#"{"settings":{"version":"x"},"question":{}}"#, "read/bad-settings"),
            (r#"{"objects":1,"question":{}}"#, "read/bad-settings"),
            (r#"{"question":{"claims":[{}]}}"#, "read/no-kind"),
        ] {
            let answer = answer(asked);
            assert!(answer.contains(r#""status":"unreadable""#) && answer.contains(code), "{asked}: {answer}");
        }
        assert!(evaluate("{}").contains("read/bad-settings") && evaluate("{").contains("read/bad-json"));
    }

    #[test]
    fn a_selector_is_evaluated() {
        let answer = evaluate(r#"{"expression":"device.driver == 'd'","device":{"driver":"d"}}"#);
        assert!(answer.contains(r#""status":"match""#), "{answer}");
    }
}
