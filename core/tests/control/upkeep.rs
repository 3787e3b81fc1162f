//! What is counted: copies that somebody else changed, and copies that are missing while they are replaced.

use apportion_core::control::Part;
use apportion_core::lifecycle::{Action, Cause};
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
