//! What is counted: copies that somebody else changed, and copies that are missing while they are replaced.

use apportion_core::controller::Part;
use apportion_core::decision::{Action, Cause};
use apportion_core::finding::ObjectRef;
use serde_json::{Value, json};

use crate::world::{World, namespace, source, source_ref, spec, template};

fn source_of(class: &str) -> Value {
    source(
        "h100",
        json!([{ "namespaceSelector": { "matchLabels": { "team": "ml" } } }]),
        json!({ "template": spec(class) }),
    )
}

/// A namespace with its copy; nothing of that is unusual.
fn world() -> World {
    let mut world = World::new(Part::TemplateSync);
    world.put(namespace("a", json!({ "team": "ml" })));
    world.put(source_of("gpu"));
    world.settle();
    assert_eq!(world.causes, []);
    world
}

#[test]
fn what_somebody_else_did_to_a_copy_is_drift() {
    let mut world = world();
    let copy = template("a", "h100");
    world.patch(&copy, json!({ "metadata": { "labels": { "apportion.dev/source-name": "x" } } }));
    world.settle();
    assert_eq!(world.causes, [Cause::Drift]);
    world.remove(&copy);
    world.settle();
    assert_eq!(world.causes, [Cause::Drift; 2]);
    // A copy of another spec in its place is taken away, and made again.
    let mut other = world.objects[&copy].clone();
    world.remove(&copy);
    other["spec"] = spec("other");
    world.put(other);
    world.settle();
    assert_eq!(world.causes, [Cause::Drift; 3]);
}

/// The Events about drift: what they are about and what they say.
fn told(world: &World) -> Vec<String> {
    let of_drift = world.events.iter().filter(|event| event.reason == "DriftRepaired");
    of_drift.map(|event| format!("{} {}: {}", event.regarding, event.uid, event.note)).collect()
}

#[test]
fn drift_is_told_where_it_was_and_once_at_the_source() {
    let mut world = world();
    world.put(namespace("b", json!({ "team": "ml" })));
    world.settle();
    assert_eq!(told(&world), [""; 0], "copies that are new are nothing to tell");
    let [changed, deleted] = ["a", "b"].map(|namespace| template(namespace, "h100"));
    world.patch(&changed, json!({ "metadata": { "labels": { "apportion.dev/source-name": "x" } } }));
    world.settle();
    world.remove(&deleted);
    world.settle();
    let uid = |object: &ObjectRef| world.objects[object]["metadata"]["uid"].as_str().unwrap().to_owned();
    let source = format!("{} {}", source_ref("h100"), uid(&source_ref("h100")));
    let hint = "and it was put back: change the cluster-wide template h100";
    let expected = [
        format!("{changed} {}: somebody changed this template, {hint}", uid(&changed)),
        format!("{source}: a copy was changed by somebody else, and put back"),
        format!("{deleted} {}: somebody deleted this template, {hint}", uid(&deleted)),
        format!("{source}: a copy was deleted by somebody else, and put back"),
    ];
    assert_eq!(told(&world), expected);
    // A replacement is none.
    world.events.clear();
    world.put(source_of("other"));
    world.settle();
    assert_eq!(told(&world), [""; 0]);
}

#[test]
fn what_is_not_repaired_is_not_told() {
    let mut world = world();
    world.refuses = |_| Some((403, "exceeded quota: templates"));
    world.remove(&template("a", "h100"));
    world.settle();
    assert_eq!(told(&world), [""; 0]);
    // It is once it can be.
    world.refuses = |_| None;
    world.put(namespace("a", json!({ "team": "ml", "more": "quota" })));
    world.settle();
    assert_eq!(told(&world).len(), 2);
}

#[test]
fn what_the_controller_does_by_itself_is_no_drift() {
    let mut world = world();
    // The source says something else about its copies; a namespace is left, goes, and comes again.
    world.patch(&source_ref("h100"), json!({ "spec": { "deletionPolicy": "Orphan" } }));
    world.settle();
    world.put(namespace("a", json!({})));
    world.settle();
    assert_eq!(world.places("h100"), [""; 0]);
    world.put(namespace("a", json!({ "team": "ml" })));
    world.settle();
    world.patch(&template("a", "h100"), json!({ "metadata": { "labels": { "mine": "x" } } }));
    world.settle();
    world.put(source_of("gpu"));
    world.settle();
    world.remove(&source_ref("h100"));
    world.settle();
    assert_eq!(world.causes, []);
}

#[test]
fn a_replacement_says_since_when_the_copy_is_missing() {
    let mut world = world();
    let copy = template("a", "h100");
    world.put(source_of("h200"));
    let since = world.now;
    let removal = world.controller.reconcile(&copy, since);
    assert_eq!(removal.cause, Cause::Usual);
    assert!(matches!(removal.actions.as_slice(), [Action::Delete { .. }]));
    removal.actions.into_iter().for_each(|action| world.carry_out(action).unwrap());
    world.now = world.now.plus_seconds(3);
    world.settle();
    assert_eq!(world.causes, [Cause::Replacement { since }]);
    // After that it is a copy like any other.
    world.remove(&copy);
    world.settle();
    assert_eq!(world.causes[1..], [Cause::Drift]);
}

#[test]
fn a_replacement_that_is_refused_goes_on_from_its_beginning() {
    let mut world = world();
    world.refuses = |_| Some((403, "exceeded quota: templates"));
    let since = world.now;
    world.put(source_of("h200"));
    world.settle();
    world.causes.clear();
    world.refuses = |_| None;
    world.now = world.now.plus_seconds(60);
    world.put(namespace("a", json!({ "team": "ml", "more": "quota" })));
    world.settle();
    assert_eq!(world.causes, [Cause::Replacement { since }]);
}

/// The answer to a write and the watch tell the same.
#[test]
fn what_is_heard_of_twice_is_no_drift() {
    let mut world = world();
    let copy = template("a", "h100");
    world.tell(&copy);
    world.put(source_of("h200"));
    world.settle();
    assert!(matches!(world.causes.as_slice(), [Cause::Replacement { .. }]), "{:?}", world.causes);
}
