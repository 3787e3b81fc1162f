//! Templates of users that have the name of a copy: they are left alone, but where a source explicitly takes them over.

use apportion_core::controller::Part;
use serde_json::{Value, json};

use crate::world::{HOME, World, namespace, source, source_ref, spec, template};

/// A namespace in which somebody has a template `h100`.
fn world(class: &str) -> World {
    let mut world = World::new(Part::TemplateSync);
    for name in ["a", HOME] {
        world.put(namespace(name, json!({ "team": "ml" })));
    }
    world.put(users("a", class));
    world
}

fn users(place: &str, class: &str) -> Value {
    let metadata = json!({ "name": "h100", "namespace": place, "labels": { "mine": "yes" } });
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": spec(class),
    })
}

fn team(more: Value) -> Value {
    source("h100", json!([{ "namespaceSelector": { "matchLabels": { "team": "ml" } } }]), more)
}

fn class(world: &World, place: &str) -> String {
    let request = &world.objects[&template(place, "h100")]["spec"]["spec"]["devices"]["requests"][0];
    request["exactly"]["deviceClassName"].as_str().unwrap().to_owned()
}

fn is_ours(world: &World, place: &str) -> bool {
    world.objects[&template(place, "h100")]["metadata"]["labels"].get("apportion.dev/source-name").is_some()
}

#[test]
fn each_policy_takes_over_what_it_says_and_nothing_else() {
    for (policy, users, is_taken) in [
        (None, "gpu", false),
        (Some("Fail"), "gpu", false),
        (Some("AdoptIfEqual"), "gpu", true),
        (Some("AdoptIfEqual"), "other", false),
        (Some("Adopt"), "gpu", true),
        (Some("Adopt"), "other", true),
    ] {
        let mut world = world(users);
        let before = world.objects[&template("a", "h100")].clone();
        let more = policy.map_or(json!({}), |policy| json!({ "conflictPolicy": policy }));
        world.put(team(more));
        world.settle();
        assert_eq!(is_ours(&world, "a"), is_taken, "{policy:?} of {users}");
        match is_taken {
            true => assert_eq!(class(&world, "a"), "gpu", "{policy:?} of {users}"),
            false => assert_eq!(world.objects[&template("a", "h100")], before, "{policy:?} of {users}: not touched"),
        }
    }
}

#[test]
fn a_policy_that_is_not_known_takes_nothing_over() {
    let mut world = world("gpu");
    world.controller.apply([team(json!({ "conflictPolicy": "TakeAll" })).to_string().as_str()]);
    let decision = world.controller.reconcile(&template("a", "h100"), world.now);
    assert_eq!((decision.actions.len(), decision.events[0].reason.as_str()), (0, "Invalid"));
}

#[test]
fn what_is_taken_over_keeps_what_else_it_has_and_its_author_is_told() {
    let mut world = world("gpu");
    let before = world.objects[&template("a", "h100")]["metadata"]["uid"].clone();
    world.put(team(json!({ "conflictPolicy": "Adopt" })));
    world.settle();
    let metadata = &world.objects[&template("a", "h100")]["metadata"];
    assert_eq!(
        (&metadata["labels"]["mine"], &metadata["uid"]),
        (&json!("yes"), &before),
        "an equal one is not replaced"
    );
    let told: Vec<_> = world.events.iter().filter(|event| event.reason == "Adopted").collect();
    assert_eq!(told.len(), 1);
    assert_eq!((&told[0].regarding, told[0].is_warning), (&template("a", "h100"), false));
    assert_eq!(world.condition("h100", "Ready").0, "True");
    world.restart();
    assert_eq!(world.settle(), 0);
}

#[test]
fn another_spec_stays_where_copies_are_not_replaced() {
    let mut world = world("other");
    world.put(team(json!({ "conflictPolicy": "Adopt", "updateStrategy": "OnlyNew" })));
    world.settle();
    assert!(is_ours(&world, "a"));
    assert_eq!(class(&world, "a"), "other");
    let (adopted, made) = (template("a", "h100"), template(HOME, "h100"));
    let hash =
        |world: &World, object| world.objects[object]["metadata"]["annotations"]["apportion.dev/content-hash"].clone();
    assert_ne!(hash(&world, &adopted), hash(&world, &made), "its marks say that it is another one");
    world.put(team(json!({ "conflictPolicy": "Adopt" })));
    world.settle();
    assert_eq!(class(&world, "a"), "gpu");
    assert_eq!(hash(&world, &template("a", "h100")), hash(&world, &made));
}

#[test]
fn what_somebody_else_manages_is_never_taken_over() {
    for policy in ["Adopt", "AdoptIfEqual"] {
        let mut world = world("gpu");
        let owner =
            json!({ "apiVersion": "apps/v1", "kind": "Thing", "name": "x", "uid": "uid-x", "controller": true });
        world.patch(&template("a", "h100"), json!({ "metadata": { "ownerReferences": [owner] } }));
        world.put(team(json!({ "conflictPolicy": policy })));
        world.settle();
        assert!(!is_ours(&world, "a"), "{policy}");
        assert_eq!(world.condition("h100", "Conflicts").0, "True");
    }
}

/// What others are copied from would end with its mark.
#[test]
fn masters_are_never_taken_over() {
    for policy in ["Adopt", "AdoptIfEqual"] {
        let mut world = world("gpu");
        let mut master = users(HOME, "gpu");
        master["metadata"]["annotations"] =
            json!({ "apportion.dev/namespaces": "b", "apportion.dev/template-name": "other" });
        world.put(master);
        world.put(namespace("b", json!({})));
        world.put(team(json!({ "conflictPolicy": policy })));
        world.settle();
        assert!(!is_ours(&world, HOME), "{policy}");
        assert_eq!(world.places("other"), ["b"]);
    }
}

#[test]
fn a_source_does_not_copy_its_master_onto_itself() {
    let mut world = world("gpu");
    world.put(users(HOME, "gpu"));
    let mut by_name = team(json!({ "conflictPolicy": "Adopt", "source": { "name": "h100" } }));
    by_name["spec"].as_object_mut().unwrap().remove("template");
    world.put(by_name);
    world.settle();
    assert!(is_ours(&world, "a") && !is_ours(&world, HOME));
    assert_eq!(world.status("h100")["matched"], 1);
    world.remove(&source_ref("h100"));
    world.settle();
    assert_eq!(world.places("h100"), [HOME]);
}

#[test]
fn a_paused_source_takes_nothing_over() {
    let mut world = world("gpu");
    world.put(team(json!({ "conflictPolicy": "Adopt", "paused": true })));
    world.settle();
    assert!(!is_ours(&world, "a"));
}
