//! Ten thousand namespaces and two hundred sources.

use apportion_core::allocate::Limits;
use apportion_core::controller::{Conclusion, Controller, Part};
use apportion_core::decision::{Action, Time};
use apportion_core::profile::Profile;
use serde_json::{Value, json};

use crate::world::{namespace, settings, source};

const NAMESPACES: usize = 10_000;

const SOURCES: usize = 200;

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

/// Each source is for one team, and all have the same name for their copies. Whoever starts anew with all copies in place writes nothing
/// and looks at nothing twice, and a new namespace concerns nobody but the source that it is for.
#[test]
fn ten_thousand_namespaces_have_their_copies_and_a_restart_writes_nothing() {
    let mut objects = Vec::new();
    for number in 0..SOURCES {
        let targets = json!([{ "namespaceSelector": { "matchLabels": { "team": number.to_string() } } }]);
        let mut source = source(&format!("s-{number}"), targets, json!({ "templateName": "gpu" }));
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
    let mut controller = controller(stored);
    let due = controller.due();
    assert_eq!(due.len(), NAMESPACES + SOURCES, "each copy and each status, not each source in each namespace");
    for task in due {
        let decision = controller.reconcile(&task.object, Time::from_seconds(1_800_000_000));
        assert_eq!(decision.actions, [], "{}", task.object);
    }
    assert_eq!(settle(&mut controller), [Value::Null; 0]);

    controller.apply([namespace("new", json!({ "team": "7" })).to_string().as_str()]);
    let concerned = |controller: &mut Controller| -> Vec<String> {
        controller.due().into_iter().map(|task| task.object.to_string()).collect()
    };
    let source = "ClusterResourceClaimTemplate.apportion.dev s-7";
    assert_eq!(concerned(&mut controller), [source, "ResourceClaimTemplate new/gpu"]);
    controller.apply([copies[7].to_string().as_str()]);
    controller.apply([namespace("new", json!({ "team": "of nobody" })).to_string().as_str()]);
    assert_eq!(
        concerned(&mut controller),
        [source, "ResourceClaimTemplate n-00007/gpu", "ResourceClaimTemplate new/gpu"]
    );
}
