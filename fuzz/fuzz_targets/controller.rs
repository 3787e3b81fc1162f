//! Controllers: whatever watches tell and whatever becomes of decisions, no call stops one, and the same events lead to the same
//! decisions.
//!
//! The first line is a digit for the part; each further one is an event: an object as it is now, `-` and a reference to one that is gone,
//! or `.` and a letter for what becomes of the decisions that are due by then.

#![no_main]

use apportion_core::allocate::Limits;
use apportion_core::controller::Controller;
use apportion_core::profile::Profile;
use apportion_core::wire::controller::{call, controller};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const PARTS: [&str; 6] = ["template-sync", "explainer", "claims", "podgroup-protection", "taint-eviction", "scheduler"];

/// Most events, and most decisions for each: a run has to end soon.
const MOST: usize = 48;

fuzz_target!(|text: &str| {
    let (first, events) = text.split_once('\n').unwrap_or((text, ""));
    let Some(part) = first.trim().parse().ok().and_then(|digit: usize| PARTS.get(digit)) else { return };
    let settings = json!({ "part": part, "conditions": true, "allowAdminAccess": true });
    let limits = Limits { max_steps: 10_000 };
    let Ok(mut one) = controller(Profile::default(), limits.clone(), settings.clone()) else { return };
    let Ok(mut other) = controller(Profile::default(), limits, settings) else { return };
    let mut now = 1_700_000_000_000_i64;
    for event in events.lines().take(MOST) {
        now += 5_000;
        let heard = [&mut one, &mut other].map(|controller| hear(controller, event, now));
        assert_eq!(heard[0], heard[1]);
    }
});

/// Everything that is answered to an event.
fn hear(controller: &mut Controller, event: &str, now: i64) -> Vec<Value> {
    match event.as_bytes().first() {
        Some(b'.') => decide(controller, event.get(1..).unwrap_or_default(), now),
        Some(b'-') => match serde_json::from_str(event.get(1..).unwrap_or_default()) {
            Ok(reference) => vec![call(controller, "delete", reference)],
            Err(_) => Vec::new(),
        },
        _ => match serde_json::from_str::<Value>(event) {
            Ok(object) => vec![call(controller, "apply", json!([object]))],
            Err(_) => Vec::new(),
        },
    }
}

fn decide(controller: &mut Controller, end: &str, now: i64) -> Vec<Value> {
    let conclusion = match end {
        "f" => json!("failed"),
        "u" => json!("unanswered"),
        "r" => json!({ "refused": { "status": 403, "message": "no" } }),
        _ => json!("done"),
    };
    let mut answers = Vec::new();
    let due = call(controller, "due", Value::Null);
    for task in due.as_array().into_iter().flatten().take(MOST) {
        let object = &task["object"];
        let decision = call(controller, "reconcile", json!({ "object": object, "nowMillis": now }));
        if conclusion == "done" {
            carry_out(controller, &decision);
        }
        let concluded = call(controller, "conclude", json!({ "object": object, "conclusion": conclusion }));
        assert_eq!(concluded, json!({}));
        answers.push(decision);
    }
    answers.push(call(controller, "standings", Value::Null));
    answers
}

/// Objects that are written whole are there then.
fn carry_out(controller: &mut Controller, decision: &Value) {
    for write in decision["writes"].as_array().into_iter().flatten() {
        for object in [&write["create"]["object"], &write["update"], &write["updateStatus"]] {
            if object.is_object() {
                call(controller, "apply", json!([object]));
            }
        }
    }
}
