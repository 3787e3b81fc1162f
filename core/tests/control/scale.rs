//! Ten thousand namespaces.

use apportion_core::allocate::Limits;
use apportion_core::control::{Conclusion, Controller, Part};
use apportion_core::lifecycle::{Action, Time};
use apportion_core::profile::Profile;
use serde_json::{Value, json};

use crate::world::{namespace, settings, source};

const NAMESPACES: usize = 10_000;

const SOURCES: usize = 10;

fn controller<'t>(objects: impl IntoIterator<Item = &'t Value>) -> Controller {
    let mut controller = Controller::new(Profile::default(), Limits::default(), settings(Part::TemplateSync));
    let texts: Vec<String> = objects.into_iter().map(Value::to_string).collect();
    controller.apply(texts.iter().map(String::as_str));
    controller
}

/// Carries everything out; gives what was written.
fn settle(controller: &mut Controller) -> Vec<Value> {
    let mut written: Vec<Value> = Vec::new();
    loop {
        let mut due = controller.due();
        due.sort_by_key(|task| task.after_millis);
        if due.is_empty() {
            return written;
        }
        for task in due {
            for action in controller.reconcile(&task.object, Time::from_seconds(1_800_000_000)).actions {
                let mut value = match action {
                    Action::Create { object, .. } => object.write(),
                    Action::UpdateStatus(object) => object.write(),
                    other => panic!("{other:?}"),
                };
                value["metadata"]["uid"] = json!(format!("uid of {}", task.object));
                controller.apply([value.to_string().as_str()]);
                written.push(value);
            }
            controller.conclude(&task.object, Conclusion::Done);
        }
    }
}

/// Each source is for a tenth of them. Whoever starts anew with all copies in place writes nothing.
#[test]
fn ten_thousand_namespaces_have_their_copies_and_a_restart_writes_nothing() {
    let mut objects = Vec::new();
    for number in 0..SOURCES {
        let selector = json!({ "matchLabels": { "team": number.to_string() } });
        let mut source = source(&format!("s-{number}"), json!([{ "namespaceSelector": selector }]), json!({}));
        source["metadata"]["uid"] = json!(format!("uid of ClusterResourceClaimTemplate.apportion.dev s-{number}"));
        objects.push(source);
    }
    for number in 0..NAMESPACES {
        objects.push(namespace(&format!("n-{number:05}"), json!({ "team": (number % SOURCES).to_string() })));
    }
    let written = settle(&mut controller(&objects));
    let (copies, statuses): (Vec<_>, Vec<_>) =
        written.into_iter().partition(|one| one["kind"] == "ResourceClaimTemplate");
    assert_eq!(copies.len(), NAMESPACES);
    let last: Vec<Value> = statuses.into_iter().rev().take(SOURCES).collect();
    assert!(last.iter().all(|one| one["status"]["current"] == NAMESPACES / SOURCES), "{last:?}");
    let stored: Vec<&Value> = last.iter().chain(&objects[SOURCES..]).chain(&copies).collect();
    assert_eq!(settle(&mut controller(stored)), [Value::Null; 0]);
}
