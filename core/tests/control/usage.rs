//! Copies that go once nobody uses them.

use apportion_core::controller::Part;
use apportion_core::finding::ObjectRef;
use serde_json::{Value, json};

use crate::world::{World, namespace, reference, source, source_ref, template};

/// Two namespaces of a team with a copy each.
fn world() -> World {
    let mut world = World::new(Part::TemplateSync);
    for name in ["a", "b"] {
        world.put(namespace(name, json!({ "team": "ml" })));
    }
    world.put(when_unused());
    world.settle();
    world
}

fn when_unused() -> Value {
    let targets = json!([{ "namespaceSelector": { "matchLabels": { "team": "ml" } } }]);
    source("h100", targets, json!({ "deletionPolicy": "DeleteWhenUnused" }))
}

/// A Pod that names a template.
fn pod(name: &str, template: &str) -> Value {
    let entry = json!({ "name": "gpu", "resourceClaimTemplateName": template });
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "a" },
        "spec": { "containers": [{ "name": "c" }], "resourceClaims": [entry] }, "status": { "phase": "Running" },
    })
}

fn group(namespace: &str) -> Value {
    let entry = json!({ "name": "gpu", "resourceClaimTemplateName": "h100" });
    json!({
        "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
        "metadata": { "name": "group", "namespace": namespace },
        "spec": { "schedulingPolicy": { "basic": {} }, "resourceClaims": [entry] },
    })
}

fn leave(world: &mut World) {
    world.remove(&source_ref("h100"));
    world.settle();
}

fn places(world: &mut World) -> Vec<String> {
    world.settle();
    world.places("h100")
}

#[test]
fn a_copy_without_its_source_stays_until_the_last_pod_has_ended() {
    let mut world = world();
    world.put(pod("one", "h100"));
    world.put(pod("two", "h100"));
    leave(&mut world);
    assert_eq!(places(&mut world), ["a"], "nobody uses the other one");
    world.restart();
    assert_eq!(places(&mut world), ["a"], "a controller that starts anew sees the Pods, too");
    world.patch(&reference(&pod("one", "")), json!({ "status": { "phase": "Succeeded" } }));
    assert_eq!(places(&mut world), ["a"]);
    world.remove(&reference(&pod("two", "")));
    assert_eq!(places(&mut world), [""; 0]);
}

#[test]
fn a_pod_group_keeps_the_copy_of_its_namespace() {
    let mut world = world();
    world.put(group("b"));
    leave(&mut world);
    assert_eq!(places(&mut world), ["b"]);
    world.remove(&reference(&group("b")));
    assert_eq!(places(&mut world), [""; 0]);
}

#[test]
fn a_namespace_that_is_selected_no_more_keeps_a_copy_in_use() {
    let mut world = world();
    world.put(pod("one", "h100"));
    for name in ["a", "b"] {
        world.put(namespace(name, json!({})));
    }
    assert_eq!(places(&mut world), ["a"]);
    world.patch(&reference(&pod("one", "")), json!({ "status": { "phase": "Failed" } }));
    assert_eq!(places(&mut world), [""; 0]);
}

#[test]
fn a_source_that_comes_back_takes_a_copy_in_use_over_again() {
    let mut world = world();
    let copy = template("a", "h100");
    world.put(pod("one", "h100"));
    leave(&mut world);
    let before = world.objects[&copy]["metadata"]["uid"].clone();
    world.put(when_unused());
    assert_eq!(places(&mut world), ["a", "b"]);
    let metadata = &world.objects[&copy]["metadata"];
    assert_eq!((&metadata["uid"], world.condition("h100", "Ready").0), (&before, "True".to_owned()));
}

/// The garbage collector would not ask who uses them.
#[test]
fn such_copies_have_no_owner() {
    let mut world = world();
    let copy = template("a", "h100");
    assert_eq!(world.objects[&copy]["metadata"]["ownerReferences"], Value::Null);
    let policy = &world.objects[&copy]["metadata"]["annotations"]["apportion.dev/deletion-policy"];
    assert_eq!(*policy, "DeleteWhenUnused");
    world.patch(&source_ref("h100"), json!({ "spec": { "deletionPolicy": "Delete" } }));
    world.settle();
    assert_eq!(world.objects[&copy]["metadata"]["ownerReferences"][0]["name"], "h100");
    world.patch(&source_ref("h100"), json!({ "spec": { "deletionPolicy": "DeleteWhenUnused" } }));
    world.settle();
    assert_eq!(world.objects[&copy]["metadata"]["ownerReferences"], json!([]), "it is taken off again");
}

#[test]
fn little_is_kept_of_pods_and_nothing_of_those_without_a_template() {
    let mut world = world();
    world.put(pod("one", "h100"));
    let mut plain = pod("plain", "h100");
    plain["spec"]["resourceClaims"] = json!([{ "name": "gpu", "resourceClaimName": "mine" }]);
    world.put(plain);
    let names: Vec<&str> = world.controller.cluster().pods().keys().map(|key| key.1.as_str()).collect();
    assert_eq!(names, ["one"]);
    let kept = world.controller.cluster().pods().get(&("a".to_owned(), "one".to_owned())).unwrap();
    assert_eq!((kept.spec.containers.len(), kept.spec.resource_claims.len()), (0, 1));
    world.patch(&reference(&pod("one", "")), json!({ "status": { "phase": "Succeeded" } }));
    assert!(world.controller.cluster().pods().is_empty());
    let due: Vec<ObjectRef> = world.controller.due().into_iter().map(|task| task.object).collect();
    assert_eq!(due, [template("a", "h100")], "its copy is looked at, and nothing else");
}
