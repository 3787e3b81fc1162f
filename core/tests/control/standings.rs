//! How sources stand by the facts, for the command line.

use apportion_core::controller::Part;
use serde_json::{Value, json};

use crate::world::{HOME, World, namespace, source, source_ref, spec, template};

fn team(more: Value) -> Value {
    source("h100", json!([{ "namespaceSelector": { "matchLabels": { "team": "ml" } } }]), more)
}

fn world(places: &[&str]) -> World {
    let mut world = World::new(Part::TemplateSync);
    places.iter().for_each(|name| world.put(namespace(name, json!({ "team": "ml" }))));
    world
}

fn stands(world: &World) -> Value {
    world.controller.standings()[0].clone()
}

/// State and reason by namespace.
fn places(world: &World) -> Vec<String> {
    let words = |place: &Value| ["namespace", "state", "reason"].map(|field| place[field].as_str().unwrap()).join(" ");
    stands(world)["places"].as_array().unwrap().iter().map(words).collect()
}

#[test]
fn each_namespace_has_a_state_and_a_reason() {
    let mut world = world(&["a", "b", "c", "d", "e"]);
    world.put(team(json!({})));
    assert_eq!(places(&world)[0], "a Updating Missing");
    world.refuses = |object| (object["metadata"]["namespace"] == "d").then_some((403, "exceeded quota: templates"));
    world.settle();
    world.patch(&template("b", "h100"), json!({ "metadata": { "annotations": null } }));
    let mut users = world.objects[&template("c", "h100")].clone();
    users["metadata"] = json!({ "name": "h100", "namespace": "c" });
    world.put(users);
    let expected =
        ["a Current ", "b Updating Drifted", "c Conflicting Conflict", "d Refused QuotaExceeded", "e Current "];
    assert_eq!(places(&world), expected, "the refusal is that of the last status");
    let found = stands(&world);
    let numbers = json!({ "matched": 5, "current": 2, "updating": 1, "conflicting": 1, "refused": 1 });
    assert_eq!((&found["counts"], &found["isReady"]), (&numbers, &json!(false)));
    assert_eq!(found["missingClasses"], json!(["gpu"]));
}

#[test]
fn numbers_are_those_of_the_status() {
    let mut world = world(&["a", "b"]);
    world.put(team(json!({})));
    world.settle();
    let status = world.status("h100");
    let found = stands(&world);
    for number in ["matched", "current", "updating", "conflicting", "refused"] {
        assert_eq!(found["counts"][number], status[number], "{number}");
    }
    assert_eq!((&found["isReady"], &found["isObserved"]), (&json!(true), &json!(true)));
    assert_eq!(found["templateHash"], status["templateHash"]);
    world.patch(&source_ref("h100"), json!({ "metadata": { "generation": 2 } }));
    assert_eq!(stands(&world)["isObserved"], false);
}

#[test]
fn outdated_copies_are_to_be_replaced_or_stay() {
    let mut world = world(&["a"]);
    world.put(team(json!({})));
    world.settle();
    let mut changed = team(json!({ "template": spec("h200") }));
    world.put(changed.clone());
    assert_eq!(places(&world), ["a Updating Outdated"]);
    for (field, value) in [("updateStrategy", json!("OnlyNew")), ("paused", json!(true))] {
        changed["spec"][field] = value;
        world.put(changed.clone());
        let message = stands(&world)["places"][0]["message"].as_str().unwrap().to_owned();
        assert_eq!((places(&world)[0].as_str(), message.as_str()), ("a Updating Outdated", "it stays as it is"));
    }
    world.put(namespace("new", json!({ "team": "ml" })));
    assert_eq!(places(&world)[1], "new Updating Paused");
}

#[test]
fn copies_in_namespaces_that_are_not_selected_any_more_are_told() {
    let mut world = world(&["a", "b"]);
    world.put(team(json!({ "deletionPolicy": "DeleteWhenUnused" })));
    world.settle();
    world.put(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "a" },
        "spec": { "containers": [{ "name": "c" }], "resourceClaims": [{ "name": "gpu", "resourceClaimTemplateName": "h100" }] },
    }));
    for name in ["a", "b"] {
        world.put(namespace(name, json!({})));
    }
    let messages = |world: &World| -> Vec<String> {
        let found = stands(world);
        found["places"].as_array().unwrap().iter().map(|place| place["message"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(places(&world), ["a Leftover NotSelected", "b Leftover NotSelected"]);
    assert_eq!(messages(&world), ["it stays while it is used, or while the source is paused", "it is to be deleted"]);
    world.settle();
    assert_eq!(places(&world), ["a Leftover NotSelected"]);
}

#[test]
fn two_sources_of_one_name_know_of_each_other() {
    let mut world = world(&["a"]);
    world.put(team(json!({ "templateName": "gpu" })));
    world.now = world.now.plus_seconds(1);
    world.put(source("a-younger", json!([{ "names": ["a"] }]), json!({ "templateName": "gpu" })));
    world.settle();
    let all = world.controller.standings();
    let of = |name: &str| all.as_array().unwrap().iter().find(|one| one["name"] == name).unwrap().clone();
    assert_eq!((&of("h100")["isReady"], &of("a-younger")["isReady"]), (&json!(true), &json!(false)));
    assert_eq!(of("a-younger")["places"][0]["reason"], "Superseded");
}

#[test]
fn other_parts_know_of_no_sources() {
    let world = World::new(Part::Claims);
    assert_eq!(world.controller.standings(), json!([]));
}

/// A template in the controller's namespace is a source where it says for which namespaces.
#[test]
fn a_template_that_is_for_no_namespace_is_no_source() {
    let mut world = world(&["a"]);
    let template = |name: &str, annotations: Value| {
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "spec": spec("gpu"),
            "metadata": { "name": name, "namespace": HOME, "annotations": annotations },
        })
    };
    world.put(template("named", json!({})));
    world.put(template("annotated", json!({ "apportion.dev/namespaces": "a" })));
    world.put(source("h100", json!([{ "names": ["a"] }]), json!({ "template": null, "source": { "name": "named" } })));
    let standings = world.controller.standings();
    let seen = |one: &Value| ["kind", "name", "master"].map(|field| one[field].as_str().unwrap().to_owned()).join(" ");
    let seen: Vec<String> = standings.as_array().unwrap().iter().map(seen).collect();
    assert_eq!(seen, ["ClusterResourceClaimTemplate.apportion.dev h100 named", "ResourceClaimTemplate annotated "]);
}

/// Of two sources for one name the older one comes first, whichever namespaces they are for.
#[test]
fn sources_for_one_name_have_an_order() {
    let mut world = world(&[]);
    for (name, seconds) in [("b", 0), ("c", 0), ("a", 1)] {
        world.now = world.now.plus_seconds(seconds);
        world.put(source(name, json!([{ "names": ["x"] }]), json!({ "templateName": "gpu" })));
    }
    let standings = world.controller.standings();
    let ranks: Vec<(&str, u64)> = standings
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["rank"].as_u64().unwrap()))
        .collect();
    assert_eq!(ranks, [("a", 2), ("b", 0), ("c", 1)]);
}
