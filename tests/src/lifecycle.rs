//! Recorded histories of a control plane, played through the simulated cluster behind a door.

use serde_json::{Value, json};

use crate::door::Door;

mod replay;

/// Whether a case is a history.
pub fn is_case(content: &Value) -> bool {
    content.get("steps").is_some_and(Value::is_array)
}

/// Plays a history as the reference does, its defects included. Gives all that the door answered, a line each, and whether it is
/// what was recorded.
pub fn check(content: &Value, door: &mut dyn Door) -> (String, Result<(), String>) {
    let mut asked = Asked { door, answers: String::new(), error: None };
    let differences = replay::replay(content, &mut asked);
    let result = match asked.error {
        Some(error) => Err(error),
        None if differences.is_empty() => Ok(()),
        None => Err(differences.join("\n")),
    };
    (asked.answers, result)
}

struct Asked<'d> {
    door: &'d mut dyn Door,
    answers: String,
    error: Option<String>,
}

impl Asked<'_> {
    fn ask(&mut self, question: &Value) -> Value {
        if self.error.is_some() {
            return Value::Null;
        }
        let answer = self.door.life(question).and_then(|answer| {
            self.answers.push_str(&answer);
            self.answers.push('\n');
            Ok(serde_json::from_str(&answer)?)
        });
        answer.unwrap_or_else(|error| {
            self.error = Some(error.to_string());
            Value::Null
        })
    }
}

impl replay::Answers for Asked<'_> {
    fn create(&mut self, settings: Value, now_millis: i64) {
        self.ask(&json!({ "settings": settings, "nowMillis": now_millis }));
    }

    fn call(&mut self, name: &str, argument: Value) -> Value {
        self.ask(&json!({ "call": name, "argument": argument }))
    }
}
