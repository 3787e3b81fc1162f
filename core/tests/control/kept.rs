//! Copies are kept while something is not understood, and many of them do not go at once.

use apportion_core::controller::{Part, Settings};
use apportion_core::decision::{Action, Cause};
use serde_json::{Value, json};

use crate::world::{HOME, World, namespace, settings, source, source_ref, spec, template};

/// Two namespaces with the copies of a source.
fn world(more: Value) -> World {
    let mut world = World::new(Part::TemplateSync);
    for (name, team) in [("a", "ml"), ("b", "ml"), ("c", "web"), (HOME, "ops")] {
        world.put(namespace(name, json!({ "team": team })));
    }
    world.put(source("h100", ml(), more));
    world.settle();
    assert_eq!(world.places("h100"), ["a", "b"]);
    world.writes.clear();
    world
}

fn ml() -> Value {
    json!([{ "namespaceSelector": { "matchLabels": { "team": "ml" } } }])
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// All writes but those of statuses.
fn touched(world: &World) -> Vec<&String> {
    world.writes.iter().filter(|write| !write.starts_with("status")).collect()
}

fn master(name: &str, annotations: Value) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "spec": spec("gpu"),
        "metadata": { "name": name, "namespace": HOME, "annotations": annotations },
    })
}

fn pod(name: &str, claims: Value) -> Value {
    let spec = json!({ "containers": [{ "name": "c", "image": "i" }], "resourceClaims": claims });
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "a" }, "spec": spec })
}

#[test]
fn a_source_that_is_not_understood_keeps_its_copies_over_restarts() {
    let exactly = "/spec/template/spec/devices/requests/0/exactly";
    for (place, field, value) in [
        (exactly, "count", json!("1")),
        (exactly, "share", json!(1)),
        ("/spec/template/spec/devices", "requests", json!({})),
        ("/spec", "targets", json!("everywhere")),
        ("/spec", "targets", json!([{ "namespaceQuery": "team = ml" }])),
        ("/spec", "targets", json!([{ "names": ["c"], "clusters": ["x"] }])),
        ("/spec", "targets", json!([{ "names": "c" }])),
        ("/spec", "zone", json!("x")),
        ("/spec/targets/0/namespaceSelector", "matchLabels", json!({ "team": 1 })),
        ("/spec/targets/0/namespaceSelector", "matchFields", json!({})),
        (
            "/spec/targets/0/namespaceSelector",
            "matchExpressions",
            json!([{ "key": "team", "operator": "Like", "values": ["m*"] }]),
        ),
        ("/spec", "paused", json!("no")),
        ("/spec", "updateStrategy", json!("InPlace")),
        ("/spec", "deletionPolicy", json!("Ask")),
        ("/spec", "templateName", json!(["h100"])),
    ] {
        let mut world = world(json!({}));
        let good = world.objects[&source_ref("h100")].clone();
        let mut bad = good.clone();
        bad.pointer_mut(place).unwrap()[field] = value;
        bad["metadata"]["generation"] = json!(2);
        world.offer(bad.clone());
        world.settle();
        for _ in 0..2 {
            assert_eq!(touched(&world), [""; 0], "{bad}");
            let text = ("True".to_owned(), "Invalid".to_owned());
            assert_eq!(world.condition("h100", "Degraded"), text, "{bad}");
            assert_eq!(world.condition("h100", "Ready"), ("False".to_owned(), "Invalid".to_owned()));
            let status = world.status("h100");
            assert_eq!(status["observedGeneration"], json!(2), "{bad}");
            let conditions = status["conditions"].as_array().unwrap();
            let message = conditions.iter().find(|one| one["type"] == "Degraded").unwrap()["message"].as_str().unwrap();
            assert!(message.contains(field) && message.ends_with("; 2 copies stay as they are"), "{message}");
            world.restart();
            world.settle();
        }
        let mut repaired = good.clone();
        repaired["status"] = world.status("h100");
        repaired["metadata"]["generation"] = json!(3);
        world.offer(repaired);
        world.settle();
        assert_eq!((touched(&world).len(), world.condition("h100", "Ready").0.as_str()), (0, "True"));
    }
}

#[test]
fn a_user_may_delete_a_source_that_is_not_understood() {
    let mut world = world(json!({ "deletionPolicy": "DeleteWhenUnused" }));
    let mut bad = world.objects[&source_ref("h100")].clone();
    bad["spec"]["zone"] = json!("x");
    world.offer(bad);
    world.settle();
    world.remove(&source_ref("h100"));
    world.settle();
    assert_eq!(world.places("h100"), [""; 0]);
}

#[test]
fn another_source_of_the_name_leaves_such_copies_alone() {
    let mut world = world(json!({}));
    let mut bad = world.objects[&source_ref("h100")].clone();
    bad["spec"]["targets"] = json!([{ "namespaceQuery": "team = ml" }]);
    world.offer(bad);
    let other = json!({ "templateName": "h100", "template": spec("h200") });
    world.put(source("other", json!([{ "names": ["*"] }]), other));
    world.settle();
    assert_eq!(world.places("h100"), ["a", HOME, "b", "c"]);
    assert!(touched(&world).iter().all(|write| !write.contains("delete") && !write.contains("patch")));
    let failures = world.status("other")["failures"].clone();
    assert_eq!((&failures[0]["namespace"], &failures[0]["reason"]), (&json!("a"), &json!("Invalid")));
    assert_eq!(failures.as_array().unwrap().len(), 2);
}

#[test]
fn a_master_that_is_not_understood_keeps_its_copies() {
    for (place, field, value) in [
        ("/metadata/annotations", "apportion.dev/namespace-selector", json!("team in (ml, web)")),
        ("/metadata/annotations", "apportion.dev/namespaces", json!("team:ml")),
        ("/metadata/annotations", "apportion.dev/clusters", json!("x")),
        ("/spec/spec/devices/requests/0/exactly", "share", json!(1)),
        ("/spec/spec/devices/requests/0/exactly", "count", json!("1")),
        ("/spec/spec/devices", "requests", json!("none")),
    ] {
        let mut world = world(json!({}));
        world.put(master("a100", json!({ "apportion.dev/namespace-selector": "team=ml" })));
        world.put(master("named", json!({})));
        let mut by_name = source("l4", ml(), json!({ "source": { "name": "named" } }));
        by_name["spec"].as_object_mut().unwrap().remove("template");
        world.put(by_name);
        world.settle();
        assert_eq!((world.places("a100"), world.places("l4")), (names(&["a", HOME, "b"]), names(&["a", "b"])));
        world.writes.clear();
        for name in ["a100", "named"] {
            let mut bad = world.objects[&template(HOME, name)].clone();
            if let Some(part) = bad.pointer_mut(place)
                && (name == "a100" || !place.starts_with("/metadata"))
            {
                part[field] = value.clone();
            }
            world.offer(bad);
        }
        for _ in 0..2 {
            world.settle();
            assert_eq!(touched(&world), [""; 0], "{field}: {value}");
            world.restart();
        }
        world.settle();
        assert_eq!(touched(&world), [""; 0], "{field}: {value}");
        if place.starts_with("/spec") {
            assert_eq!(world.condition("l4", "Degraded"), ("True".to_owned(), "Invalid".to_owned()));
        }
    }
}

#[test]
fn what_has_the_marks_of_a_copy_and_was_made_by_somebody_else_is_a_users() {
    for (writer, is_ours) in [("kubectl-client-side-apply", false), ("velero-server", false), ("apportion", true)] {
        let mut world = world(json!({}));
        for (space, name) in [("c", "h100"), ("a", "mine")] {
            let mut copied = world.objects[&template("a", "h100")].clone();
            copied["metadata"]["namespace"] = json!(space);
            copied["metadata"]["name"] = json!(name);
            copied["metadata"]["managedFields"] = json!([{ "manager": writer, "operation": "Update" }]);
            world.put(copied);
        }
        world.settle();
        let kept: &[&str] = if is_ours { &["a", "b"] } else { &["a", "b", "c"] };
        assert_eq!((world.places("h100"), world.places("mine").len()), (names(kept), usize::from(!is_ours)));
    }
}

#[test]
fn a_label_alone_makes_no_copy() {
    let mut world = world(json!({}));
    let labels = json!({ "app.kubernetes.io/managed-by": "apportion-template-sync" });
    let mut users = master("h100", json!({}));
    users["metadata"] = json!({ "name": "h100", "namespace": "c", "labels": labels });
    world.put(users);
    world.put(namespace("c", json!({ "team": "ml" })));
    world.settle();
    assert_eq!((touched(&world), world.status("h100")["failures"][0]["reason"].clone()), (vec![], json!("Conflict")));
    world.remove(&source_ref("h100"));
    world.settle();
    assert_eq!(world.places("h100"), ["c"]);
}

#[test]
fn a_template_that_cannot_be_read_is_not_made_again() {
    let mut world = world(json!({}));
    let mut bad = world.objects[&template("a", "h100")].clone();
    bad["spec"]["spec"]["devices"]["requests"] = json!("none");
    world.offer(bad);
    world.settle();
    world.restart();
    world.settle();
    assert_eq!((touched(&world), world.status("h100")["refused"].clone()), (vec![], json!(1)));
}

#[test]
fn a_pod_that_cannot_be_read_may_use_any_template() {
    let mut world = world(json!({ "deletionPolicy": "DeleteWhenUnused" }));
    world.offer(pod("odd", json!("h100")));
    world.remove(&source_ref("h100"));
    world.settle();
    assert_eq!(world.places("h100"), ["a"]);
    world.restart();
    world.settle();
    assert_eq!(world.places("h100"), ["a"]);
    world.remove(&apportion_core::finding::ObjectRef::new("Pod", "a", "odd"));
    world.settle();
    assert_eq!(world.places("h100"), [""; 0]);
}

/// A list may lack a source that is there: the host asks the API server about it first.
#[test]
fn whoever_deletes_a_copy_makes_sure_that_its_source_is_gone() {
    for (deletion_policy, has_owner) in [("Delete", true), ("DeleteWhenUnused", false)] {
        let mut world = world(json!({ "deletionPolicy": deletion_policy }));
        let gone = world.objects.remove(&source_ref("h100")).unwrap();
        world.restart();
        let decision = world.controller.reconcile(&template("a", "h100"), world.now);
        assert!(matches!(decision.actions.as_slice(), [Action::Delete { .. }]));
        let [missing] = decision.gone.as_slice() else { panic!("{:?}", decision.gone) };
        assert_eq!((&missing.object, json!(missing.uid)), (&source_ref("h100"), gone["metadata"]["uid"].clone()));
        assert_eq!(world.objects[&template("a", "h100")]["metadata"]["ownerReferences"].is_array(), has_owner);
    }
    let mut world = world(json!({}));
    world.put(master("a100", json!({ "apportion.dev/namespaces": "a" })));
    world.settle();
    let unnamed = json!({ "metadata": { "annotations": { "apportion.dev/namespaces": null } } });
    world.patch(&template(HOME, "a100"), unnamed);
    let decision = world.controller.reconcile(&template("a", "a100"), world.now);
    assert_eq!((decision.actions.len(), decision.gone.len()), (1, 0), "it is there, and no source any more");
    world.objects.remove(&template(HOME, "a100"));
    world.restart();
    let decision = world.controller.reconcile(&template("a", "a100"), world.now);
    assert_eq!(decision.gone[0].object, template(HOME, "a100"));
}

#[test]
fn a_source_with_a_long_name_is_asked_for_by_its_whole_name() {
    let mut world = world(json!({}));
    let name = "h".repeat(70);
    world.put(source(&name, ml(), json!({ "deletionPolicy": "DeleteWhenUnused" })));
    world.settle();
    world.objects.remove(&source_ref(&name)).unwrap();
    world.restart();
    let decision = world.controller.reconcile(&template("a", &name), world.now);
    assert_eq!(decision.gone[0].object, source_ref(&name));
}

#[test]
fn a_copy_with_a_policy_of_a_later_version_stays_when_its_source_goes() {
    let mut world = world(json!({ "deletionPolicy": "DeleteWhenUnused" }));
    let copy = world.objects.get_mut(&template("a", "h100")).unwrap();
    copy["metadata"]["annotations"]["apportion.dev/deletion-policy"] = json!("Archive");
    world.objects.remove(&source_ref("h100")).unwrap();
    world.restart();
    world.settle();
    assert_eq!(world.places("h100"), ["a"]);
}

/// Tenants can remove the label. The owner reference still names the source.
#[test]
fn a_copy_without_the_label_of_its_source_is_still_its_copy() {
    for fields in [json!({ "targets": [{ "namespaceQuery": "team = ml" }] }), json!({ "targets": [], "paused": true })]
    {
        for label in [json!(null), json!("x")] {
            let mut world = world(json!({}));
            let copy = world.objects.get_mut(&template("a", "h100")).unwrap();
            copy["metadata"]["labels"]["apportion.dev/source-uid"] = label.clone();
            if label.is_null() {
                copy["metadata"]["labels"].as_object_mut().unwrap().remove("apportion.dev/source-uid");
            }
            for (field, value) in fields.as_object().unwrap() {
                world.objects.get_mut(&source_ref("h100")).unwrap()["spec"][field] = value.clone();
            }
            world.restart();
            world.settle();
            assert_eq!(world.places("h100"), ["a", "b"], "{fields}, {label}");
        }
    }
}

/// Many namespaces with copies.
fn many(count: usize) -> World {
    let mut world = World::new(Part::TemplateSync);
    for number in 0..count {
        world.put(namespace(&format!("n{number:03}"), json!({ "team": "ml" })));
    }
    world.put(source("h100", ml(), json!({})));
    world.settle();
    assert_eq!(world.places("h100").len(), count);
    world
}

#[test]
fn many_copies_go_slowly_unless_a_user_changed_their_source() {
    for (count, most) in [(15, 10), (300, 30)] {
        let mut world = many(count);
        for number in 0..count {
            world.put(namespace(&format!("n{number:03}"), json!({ "team": "web" })));
        }
        world.settle();
        assert_eq!(world.places("h100").len(), count - most);
        assert_eq!(world.condition("h100", "DeletionsHeld"), ("True".to_owned(), "TooManyAtOnce".to_owned()));
        assert_eq!(world.status("h100")["held"], json!(count - most));
        assert!(world.causes.contains(&Cause::Held));
        assert!(world.events.iter().any(|event| event.reason == "DeletionHeld"));
        let held = template(&world.places("h100")[0], "h100");
        let decision = world.controller.reconcile(&held, world.now);
        let next = decision.wake_up.expect("it is looked at again");
        world.now = next;
        for name in world.places("h100") {
            let decision = world.controller.reconcile(&template(&name, "h100"), world.now);
            decision.actions.into_iter().for_each(|action| world.carry_out(action).unwrap());
        }
        assert_eq!(world.places("h100").len(), count - most - (count - most).min(10.max((count - most) / 10)));
        let mut changed = world.objects[&source_ref("h100")].clone();
        changed["spec"]["targets"] = json!([{ "names": ["other"] }]);
        world.put(changed);
        world.settle();
        assert_eq!(world.places("h100").len(), 0, "that is what the user wants");
        assert_eq!(world.condition("h100", "DeletionsHeld").0, "False");
    }
}

/// Whatever lets controllers start again and again, no more copies go for it.
#[test]
fn nothing_goes_in_the_minute_after_a_start_unless_a_user_changed_its_source() {
    let mut world = many(15);
    for number in 0..15 {
        world.put(namespace(&format!("n{number:03}"), json!({ "team": "web" })));
    }
    world.events.clear();
    for _ in 0..5 {
        world.start();
        world.settle();
        world.now = world.now.plus_millis(59_000);
    }
    assert_eq!(world.places("h100").len(), 15);
    let decision = world.controller.reconcile(&template("n000", "h100"), world.now);
    assert_eq!(decision.wake_up, Some(world.now.plus_millis(1000)));
    assert_eq!((world.events.len(), &world.status("h100")["held"]), (0, &Value::Null), "they may well go soon");
    world.now = world.now.plus_millis(1000);
    let actions =
        |world: &mut World, name: &str| world.controller.reconcile(&template(name, "h100"), world.now).actions;
    let going = (0..15).filter(|number| !actions(&mut world, &format!("n{number:03}")).is_empty());
    assert_eq!(going.count(), 10);

    let mut world = many(15);
    world.start();
    let mut changed = world.objects[&source_ref("h100")].clone();
    changed["spec"]["targets"] = json!([{ "names": ["other"] }]);
    world.put(changed);
    world.settle();
    assert_eq!(world.places("h100").len(), 0);
}

#[test]
fn a_change_of_long_ago_explains_no_deletion_of_today() {
    for (minutes, left) in [(9, 0), (11, 30)] {
        let mut world = many(40);
        world.patch(&source_ref("h100"), json!({ "spec": { "maxUnavailable": 5 }, "metadata": { "generation": 2 } }));
        world.settle();
        world.now = world.now.plus_millis(minutes * 60_000);
        for number in 0..40 {
            world.put(namespace(&format!("n{number:03}"), json!({ "team": "web" })));
        }
        world.settle();
        assert_eq!(world.places("h100").len(), left, "after {minutes} minutes");
    }
}

/// A change takes as long as its deletions do: each explains those of the next ten minutes.
#[test]
fn a_deletion_that_a_change_explains_lets_it_explain_more() {
    let mut world = many(40);
    world.patch(&source_ref("h100"), json!({ "spec": { "maxUnavailable": 5 }, "metadata": { "generation": 2 } }));
    world.settle();
    for (from, to) in [(0, 1), (1, 40)] {
        world.now = world.now.plus_millis(9 * 60_000);
        for number in from..to {
            world.put(namespace(&format!("n{number:03}"), json!({ "team": "web" })));
        }
        world.settle();
        assert_eq!(world.places("h100").len(), 40 - to);
    }
}

/// A list that lacked it told of its end.
#[test]
fn a_source_that_is_there_again_was_not_deleted() {
    let mut world = many(40);
    let source = world.objects[&source_ref("h100")].clone();
    world.controller.delete(&source_ref("h100"));
    world.controller.apply([source.to_string().as_str()]);
    for number in 0..40 {
        world.put(namespace(&format!("n{number:03}"), json!({ "team": "web" })));
    }
    world.settle();
    assert_eq!(world.places("h100").len(), 30);
}

#[test]
fn what_a_user_changes_is_followed_at_once() {
    let mut world = many(40);
    let other = json!({ "spec": { "template": spec("h200") }, "metadata": { "generation": 2 } });
    world.patch(&source_ref("h100"), other);
    world.settle();
    let changed = |world: &World| {
        let class = |name: &String| world.objects[&template(name, "h100")]["spec"].to_string().contains("h200");
        world.places("h100").iter().filter(|name| class(name)).count()
    };
    assert_eq!(changed(&world), 40);
    // While nobody looked: the status is about an earlier generation.
    let mut world = many(40);
    let mut source = world.objects[&source_ref("h100")].clone();
    source["spec"]["template"] = spec("h200");
    source["metadata"]["generation"] = json!(2);
    world.objects.insert(source_ref("h100"), source);
    world.restart();
    world.settle();
    assert_eq!(changed(&world), 40);
}

/// The right to write templates in the controller's namespace is not the right to admin access.
#[test]
fn an_annotated_template_needs_the_flag_for_admin_access_as_well() {
    for allow_admin_access in [false, true] {
        let settings = Settings { allow_admin_access, ..settings(Part::TemplateSync) };
        let mut world = World::with(settings);
        world.put(namespace("a", json!({ "resource.kubernetes.io/admin-access": "true" })));
        let mut admin = master("gpu", json!({ "apportion.dev/namespaces": "a" }));
        admin["spec"]["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] = json!(true);
        world.put(admin);
        world.settle();
        assert_eq!(world.places("gpu").contains(&"a".to_owned()), allow_admin_access);
    }
}

#[test]
fn without_uids_only_the_object_itself_is_not_understood() {
    let mut world = World::new(Part::TemplateSync);
    let mut objects =
        [namespace("a", json!({ "team": "ml" })), namespace("b", json!({ "team": 1 })), pod("odd", json!("x"))];
    objects[2]["metadata"]["namespace"] = json!("b");
    let source = source("h100", ml(), json!({}));
    world
        .controller
        .apply(objects.iter().chain([&source]).map(Value::to_string).collect::<Vec<_>>().iter().map(String::as_str));
    let creates =
        |world: &mut World, space| world.controller.reconcile(&template(space, "h100"), world.now).actions.len();
    assert_eq!((creates(&mut world, "a"), creates(&mut world, "b")), (1, 0));
}

#[test]
fn the_status_of_a_source_that_is_not_understood_tells_of_copies_that_went() {
    let mut world = world(json!({}));
    let mut later = world.objects[&source_ref("h100")].clone();
    later["spec"]["targets"] = json!([{ "namespaceQuery": "team = ml" }]);
    later["metadata"]["generation"] = json!(2);
    world.offer(later);
    world.settle();
    let before = world.status("h100");
    world.remove(&template("a", "h100"));
    world.settle();
    assert_ne!(world.status("h100"), before);
}
