//! Device classes that a source names: copies are made without them, and the status says which are missing.

use apportion_core::controller::Part;
use apportion_core::finding::ObjectRef;
use serde_json::{Value, json};

use crate::world::{World, namespace, reference, source, source_ref};

fn class(name: &str) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": name },
        "spec": { "selectors": [{ "cel": { "expression": "device.driver == \"x\"" } }] },
    })
}

/// A source that names three classes, one of them as an alternative.
fn three() -> Value {
    let requests = json!([
        { "name": "one", "exactly": { "deviceClassName": "a" } },
        { "name": "two", "firstAvailable": [
            { "name": "x", "deviceClassName": "b" }, { "name": "y", "deviceClassName": "c" },
        ] },
    ]);
    source(
        "h100",
        json!([{ "names": ["n"] }]),
        json!({ "template": { "spec": { "devices": { "requests": requests } } } }),
    )
}

fn world(classes: &[&str]) -> World {
    let mut world = World::new(Part::TemplateSync);
    world.put(namespace("n", json!({})));
    classes.iter().for_each(|name| world.put(class(name)));
    world.put(three());
    world.settle();
    world
}

fn message(world: &World) -> String {
    let conditions = world.status("h100")["conditions"].as_array().unwrap().clone();
    let one = conditions.iter().find(|one| one["type"] == "ClassMissing").unwrap();
    one["message"].as_str().unwrap().to_owned()
}

fn condition(world: &World) -> (String, String) {
    world.condition("h100", "ClassMissing")
}

#[test]
fn a_class_that_is_not_there_is_named_and_copies_are_made_all_the_same() {
    let world = world(&["b"]);
    assert_eq!(condition(&world), ("True".to_owned(), "NotFound".to_owned()));
    assert_eq!(message(&world), "there is no DeviceClass `a`, `c`");
    assert_eq!(world.places("h100"), ["n"]);
    assert_eq!(world.condition("h100", "Ready").0, "True", "claims wait for the class, not for their template");
}

#[test]
fn classes_come_and_go() {
    let mut world = world(&["a", "b"]);
    world.put(class("c"));
    world.settle();
    assert_eq!(condition(&world).0, "False");
    assert_eq!(message(&world), "");
    world.remove(&reference(&class("b")));
    world.settle();
    assert_eq!(message(&world), "there is no DeviceClass `b`");
    world.restart();
    assert_eq!(world.settle(), 0);
}

#[test]
fn only_whether_a_class_is_there_matters_and_only_to_who_names_it() {
    let mut world = world(&["a", "b", "c"]);
    world.put(source("other", json!([{ "names": ["n"] }]), json!({})));
    world.settle();
    let due =
        |world: &mut World| -> Vec<ObjectRef> { world.controller.due().into_iter().map(|task| task.object).collect() };
    world.patch(&reference(&class("a")), json!({ "spec": { "selectors": [] } }));
    world.put(class("of-nobody"));
    assert_eq!(due(&mut world), []);
    world.remove(&reference(&class("a")));
    assert_eq!(due(&mut world), [source_ref("h100")]);
    let kept = world.controller.cluster().classes().get("b").unwrap();
    assert!(kept.spec.selectors.is_empty(), "nothing else is kept of it");
}
