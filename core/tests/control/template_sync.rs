//! Copies of ClusterResourceClaimTemplates of `apportion.dev`, and what their status says.

use apportion_core::controller::{Conclusion, Lane, Part, Settings};
use apportion_core::decision::Action;
use serde_json::{Value, json};

use crate::world::{HOME, World, namespace, settings, source, source_ref, spec, template};

/// Namespaces of two teams, a system namespace and the controller's.
fn world() -> World {
    let mut world = World::new(Part::TemplateSync);
    for (name, team) in [("a", "ml"), ("b", "ml"), ("c", "web"), ("kube-system", "ml"), (HOME, "ops")] {
        world.put(namespace(name, json!({ "team": team })));
    }
    world
}

fn team(team: &str) -> Value {
    json!([{ "namespaceSelector": { "matchLabels": { "team": team } } }])
}

/// The spec of a template as the API server stores it.
fn stored(mut spec: Value) -> Value {
    let request = &mut spec["spec"]["devices"]["requests"][0]["exactly"];
    request["allocationMode"] = json!("ExactCount");
    request["count"] = json!(1);
    spec
}

#[test]
fn targets_are_ored_and_an_empty_one_selects_nothing() {
    for (targets, places) in [
        (json!([]), vec![]),
        (json!([{}]), vec![]),
        (json!([{ "namespaceSelector": {} }]), vec![]),
        (team("ml"), vec!["a", "b"]),
        (json!([{ "names": ["*"] }]), vec!["a", HOME, "b", "c"]),
        (json!([{ "names": ["kube-system", "c"] }]), vec!["c", "kube-system"]),
        (json!([{ "names": ["*"], "excludeNames": ["a", HOME] }]), vec!["b", "c"]),
        (
            json!([{ "names": ["c"] }, { "namespaceSelector": { "matchLabels": { "team": "ml" } }, "excludeNames": ["b"] }]),
            vec!["a", "c"],
        ),
        (
            json!([{ "namespaceSelector": { "matchExpressions": [{ "key": "team", "operator": "NotIn", "values": ["ml", "ops"] }] } }]),
            vec!["c"],
        ),
    ] {
        let mut world = world();
        world.put(source("h100", targets.clone(), json!({})));
        world.settle();
        assert_eq!(world.places("h100"), places, "{targets}");
        let ready = if places.is_empty() { ("False", "NoMatchingNamespaces") } else { ("True", "Synchronized") };
        assert_eq!(world.condition("h100", "Ready"), (ready.0.to_owned(), ready.1.to_owned()), "{targets}");
    }
}

/// System namespaces that the status says are skipped, and what it says to people.
fn skipped(world: &World) -> (Value, String) {
    let status = world.status("h100");
    let conditions = status["conditions"].as_array().unwrap();
    let ready = conditions.iter().find(|one| one["type"] == "Ready").unwrap();
    (status["skipped"].clone(), ready["message"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn system_namespaces_that_a_selector_skips_are_told() {
    let mut world = world();
    world.put(source("h100", team("ml"), json!({})));
    world.settle();
    let (names, message) = skipped(&world);
    assert_eq!(names, json!(["kube-system"]));
    assert!(message.ends_with("only `names` selects system namespaces: skipped kube-system"), "{message}");
    assert_eq!(world.controller.standings()[0]["skipped"], json!(["kube-system"]));
    // Only while it is so.
    world.put(namespace("kube-system", json!({ "team": "ops" })));
    world.settle();
    assert_eq!(skipped(&world), (Value::Null, "2 of 2 namespaces have the current copy".to_owned()));
    world.put(namespace("kube-public", json!({ "team": "ml" })));
    world.settle();
    assert_eq!(skipped(&world).0, json!(["kube-public"]));
    for targets in [json!([{ "names": ["*"] }]), json!([{ "names": ["a", "kube-public"] }]), team("web")] {
        world.put(source("h100", targets.clone(), json!({})));
        world.settle();
        assert_eq!(skipped(&world).0, Value::Null, "{targets}");
    }
}

#[test]
fn a_source_that_validate_refuses_makes_no_copies_and_says_why() {
    for (more, says) in [
        (json!({ "conflictPolicy": "Overwrite" }), "spec.conflictPolicy: `Overwrite` is not a known value"),
        (json!({ "source": { "name": "x" } }), "spec: `template` and `source` exclude each other"),
        (json!({ "templateName": "Not A Name" }), "spec.templateName: `Not A Name` is not a DNS subdomain"),
        (json!({ "maxUnavailable": 0 }), "spec.maxUnavailable: must be at least 1"),
    ] {
        let mut world = world();
        let copy = template("a", more["templateName"].as_str().unwrap_or("h100"));
        world.controller.apply([source("h100", json!([{ "names": ["a"] }]), more).to_string().as_str()]);
        let decision = world.controller.reconcile(&copy, world.now);
        assert_eq!((decision.actions.len(), decision.events[0].reason.as_str()), (0, "Invalid"));
        let note = &decision.events[0].note;
        assert!(note.starts_with(&format!("namespace a: {says}")), "{note}");
    }
}

#[test]
fn a_copy_says_where_it_comes_from() {
    let mut world = world();
    world.put(source("h100", json!([{ "names": ["a"] }]), json!({ "templateName": "gpu" })));
    world.settle();
    let copy = &world.objects[&template("a", "gpu")];
    let uid = &world.objects[&source_ref("h100")]["metadata"]["uid"];
    assert_eq!(copy["spec"], stored(spec("gpu")));
    assert_eq!(copy["metadata"]["labels"]["app.kubernetes.io/managed-by"], "apportion-template-sync");
    assert_eq!(copy["metadata"]["labels"]["apportion.dev/source-uid"], *uid);
    let owner = &copy["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["apiVersion"], &owner["uid"], &owner["controller"]),
        (&json!("apportion.dev/v1alpha1"), uid, &json!(true))
    );
}

#[test]
fn nothing_is_written_when_nothing_changed() {
    let mut world = world();
    world.put(source("h100", team("ml"), json!({})));
    assert!(world.settle() > 0);
    assert_eq!(world.settle(), 0);
    world.restart();
    assert_eq!(world.settle(), 0, "a controller that starts anew finds everything as it should be");
    world.patch(&source_ref("h100"), json!({ "metadata": { "annotations": { "x": "y" } } }));
    world.patch(
        &crate::world::reference(&namespace("a", json!({}))),
        json!({ "metadata": { "annotations": { "x": "y" } } }),
    );
    assert_eq!(world.settle(), 0, "other people's annotations change nothing");
}

/// What happens in any order ends the same way.
#[test]
fn the_order_of_events_does_not_matter() {
    let mut users = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": { "name": "h100", "namespace": "b" } });
    users["spec"] = spec("other");
    let happenings = [
        namespace("a", json!({ "team": "ml" })),
        namespace("b", json!({ "team": "ml" })),
        namespace("c", json!({})),
        source("h100", team("ml"), json!({})),
        users,
    ];
    let mut ends = Vec::new();
    for number in 0..120_usize {
        let (mut left, mut rest) = (happenings.to_vec(), number);
        let mut world = World::new(Part::TemplateSync);
        while !left.is_empty() {
            let index = rest % left.len();
            rest /= left.len();
            world.put(left.remove(index));
            // Now and then the controller works between two events.
            if number % 2 == 0 {
                world.settle();
            }
        }
        world.settle();
        let is_users = world.objects[&template("b", "h100")]["spec"] == stored(spec("other"));
        let status = world.status("h100");
        let numbers = ["matched", "current", "conflicting"].map(|name| status[name].clone());
        ends.push((world.places("h100"), is_users, numbers.to_vec()));
    }
    // Whose template is first in a namespace stays there; all else is equal.
    let kept: Vec<_> = ends.iter().filter(|end| end.1).collect();
    assert!(kept.len() >= 60, "{}", kept.len());
    assert!(
        kept.iter()
            .all(|end| **end == (vec!["a".to_owned(), "b".to_owned()], true, vec![json!(2), json!(1), json!(1)]))
    );
}

#[test]
fn a_namespace_comes_changes_and_goes() {
    let mut world = world();
    world.put(source("h100", team("ml"), json!({})));
    world.settle();
    world.put(namespace("new", json!({ "team": "ml" })));
    let due = world.controller.due();
    let copies: Vec<_> = due.iter().filter(|task| task.object == template("new", "h100")).collect();
    assert_eq!((copies.len(), copies[0].lane, copies[0].after_millis), (1, Lane::Urgent, 0), "somebody may wait in it");
    world.restart();
    world.settle();
    assert_eq!(world.places("h100"), ["a", "b", "new"]);
    world.put(namespace("a", json!({ "team": "web" })));
    world.settle();
    assert_eq!(world.places("h100"), ["b", "new"]);
    world.patch(
        &crate::world::reference(&namespace("b", json!({}))),
        json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" } }),
    );
    let before = world.writes.len();
    world.settle();
    assert!(
        world.writes[before..].iter().all(|write| write.starts_with("status")),
        "nothing is done in a namespace that goes"
    );
    assert_eq!(world.status("h100")["matched"], 1);
}

#[test]
fn a_changed_template_replaces_its_copies() {
    let mut world = world();
    world.put(source("h100", team("ml"), json!({})));
    world.settle();
    let old = world.objects[&template("a", "h100")]["metadata"]["uid"].clone();
    let mut changed = source("h100", team("ml"), json!({ "template": spec("h200") }));
    changed["status"] = world.status("h100");
    world.put(changed);
    world.settle();
    for place in ["a", "b"] {
        assert_eq!(world.objects[&template(place, "h100")]["spec"], stored(spec("h200")));
    }
    assert_ne!(
        world.objects[&template("a", "h100")]["metadata"]["uid"],
        old,
        "the spec of a template cannot be changed"
    );
    assert_eq!(world.condition("h100", "Ready").0, "True");
}

/// Copies that a name has in all namespaces.
fn count(world: &World, name: &str) -> usize {
    world.objects.keys().filter(|key| key.kind == "ResourceClaimTemplate" && key.name == name).count()
}

#[test]
fn no_more_copies_are_missing_than_the_source_allows() {
    for (most, least) in [(json!(1), 19), (json!(3), 17), (Value::Null, 0)] {
        let mut world = World::new(Part::TemplateSync);
        for number in 0..20 {
            world.put(namespace(&format!("n-{number:02}"), json!({ "team": "ml" })));
        }
        world.put(source("h100", team("ml"), json!({ "maxUnavailable": most })));
        world.settle();
        world.put(source("h100", team("ml"), json!({ "maxUnavailable": most, "template": spec("h200") })));
        // What was due is decided and carried out at the same time, before anything that follows from it.
        let (mut fewest, mut rounds) = (20, 0);
        loop {
            let due: Vec<_> = world.controller.due().into_iter().map(|task| task.object).collect();
            let copies: Vec<_> = due.into_iter().filter(|object| object.kind == "ResourceClaimTemplate").collect();
            if copies.is_empty() {
                break;
            }
            let decided: Vec<_> =
                copies.iter().map(|copy| (copy, world.controller.reconcile(copy, world.now).actions)).collect();
            for (copy, actions) in decided {
                actions.into_iter().for_each(|action| world.carry_out(action).unwrap());
                world.controller.conclude(copy, Conclusion::Done);
            }
            (fewest, rounds) = (fewest.min(count(&world, "h100")), rounds + 1);
            assert!(rounds < 200, "it ends");
        }
        assert_eq!((fewest, count(&world, "h100")), (least, 20), "{most}");
        for number in 0..20 {
            assert_eq!(world.objects[&template(&format!("n-{number:02}"), "h100")]["spec"], stored(spec("h200")));
        }
    }
}

/// A namespace that refuses its copy keeps its place: a change that cannot be carried out stops before it is everywhere.
#[test]
fn a_replacement_that_is_refused_holds_the_others_up() {
    let mut world = world();
    world.put(source("h100", team("ml"), json!({ "maxUnavailable": 1 })));
    world.settle();
    world.refuses = |_| Some((403, "exceeded quota: templates"));
    world.put(source("h100", team("ml"), json!({ "maxUnavailable": 1, "template": spec("h200") })));
    world.settle();
    assert_eq!(count(&world, "h100"), 1, "one is missing, the other one is still there");
    world.refuses = |_| None;
    world.put(source("h100", team("ml"), json!({ "maxUnavailable": 1, "template": spec("h300") })));
    world.settle();
    for place in ["a", "b"] {
        assert_eq!(world.objects[&template(place, "h100")]["spec"], stored(spec("h300")));
    }
}

#[test]
fn only_new_copies_follow_where_that_is_wanted() {
    let mut world = world();
    world.put(source("h100", team("ml"), json!({ "updateStrategy": "OnlyNew" })));
    world.settle();
    world.put(source("h100", team("ml"), json!({ "updateStrategy": "OnlyNew", "template": spec("h200") })));
    world.put(namespace("new", json!({ "team": "ml" })));
    world.settle();
    let class = |place: &str| world.objects[&template(place, "h100")]["spec"].clone();
    assert_eq!((class("a"), class("new")), (stored(spec("gpu")), stored(spec("h200"))));
    assert_eq!((&world.status("h100")["updating"], &world.status("h100")["current"]), (&json!(2), &json!(1)));
}

#[test]
fn copies_go_with_their_source_or_stay() {
    for (policy, places) in [("Delete", vec![]), ("Orphan", vec!["a", "b"])] {
        let mut world = world();
        world.put(source("h100", team("ml"), json!({ "deletionPolicy": policy })));
        world.settle();
        world.remove(&source_ref("h100"));
        world.settle();
        world.restart();
        world.settle();
        assert_eq!(world.places("h100"), places, "{policy}");
    }
}

#[test]
fn a_copy_follows_a_changed_deletion_policy() {
    let mut world = world();
    world.put(source("h100", team("ml"), json!({})));
    world.settle();
    world.put(source("h100", team("ml"), json!({ "deletionPolicy": "Orphan" })));
    world.settle();
    world.remove(&source_ref("h100"));
    world.settle();
    assert_eq!(world.places("h100"), ["a", "b"]);
}

#[test]
fn a_users_template_is_never_touched() {
    let mut world = world();
    let users = |class: &str| {
        let mut users = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": { "name": "h100", "namespace": "a" } });
        users["spec"] = spec(class);
        users
    };
    world.put(users("other"));
    world.put(source("h100", team("ml"), json!({ "conflictPolicy": "AdoptIfEqual" })));
    world.settle();
    assert_eq!(world.objects[&template("a", "h100")]["metadata"].get("labels"), None);
    assert_eq!(world.condition("h100", "Conflicts"), ("True".to_owned(), "NamesTaken".to_owned()));
    assert_eq!(world.status("h100")["failures"][0]["reason"], "Conflict");
    let told: Vec<&str> = world.events.iter().map(|event| event.regarding.kind.as_str()).collect();
    assert!(told.contains(&"ResourceClaimTemplate"), "its author is told: {told:?}");
    // Their template goes: the copy takes its place.
    world.remove(&template("a", "h100"));
    world.settle();
    assert_eq!(world.condition("h100", "Ready").0, "True");
    // The same template, not of the controller: taken over only where that is asked for.
    for (policy, is_ours) in [("Fail", false), ("AdoptIfEqual", true)] {
        let mut world = self::world();
        world.put(users("gpu"));
        world.put(source("h100", team("ml"), json!({ "conflictPolicy": policy })));
        world.settle();
        let labels = &world.objects[&template("a", "h100")]["metadata"]["labels"];
        assert_eq!(labels.get("apportion.dev/source-name").is_some(), is_ours, "{policy}");
    }
}

/// The deletion was decided on a copy that was a copy then.
#[test]
fn a_copy_that_a_user_takes_over_meanwhile_is_spared() {
    let mut world = world();
    world.put(source("h100", team("ml"), json!({})));
    world.settle();
    world.put(source("h100", team("ml"), json!({ "template": spec("h200") })));
    let copy = template("a", "h100");
    let mut decision = world.controller.reconcile(&copy, world.now);
    world.patch(&copy, json!({ "metadata": { "labels": null } }));
    let action = decision.actions.remove(0);
    assert!(matches!(action, Action::Delete { .. }), "{action:?}");
    assert_eq!(world.carry_out(action).unwrap_err().0, 409);
    world.controller.conclude(&copy, Conclusion::Failed);
    world.settle();
    assert_eq!(world.objects[&copy]["spec"], stored(spec("gpu")));
    assert_eq!(world.status("h100")["conflicting"], 1);
}

#[test]
fn drift_is_repaired_and_nothing_else_is_lost() {
    let mut world = world();
    world.put(source("h100", team("ml"), json!({})));
    world.settle();
    let copy = template("a", "h100");
    world.patch(
        &copy,
        json!({ "metadata": { "labels": { "apportion.dev/source-name": "x", "mine": "y" }, "annotations": null } }),
    );
    assert_eq!(world.settle(), 1);
    let labels = &world.objects[&copy]["metadata"]["labels"];
    assert_eq!((&labels["apportion.dev/source-name"], &labels["mine"]), (&json!("h100"), &json!("y")));
    world.remove(&copy);
    world.settle();
    assert_eq!(world.places("h100"), ["a", "b"], "a copy that was deleted is made again");
    // Whoever takes the mark away takes the template over.
    world.patch(&copy, json!({ "metadata": { "labels": null } }));
    world.settle();
    assert_eq!(world.status("h100")["conflicting"], 1);
}

#[test]
fn of_two_sources_with_one_target_the_older_wins() {
    let mut world = world();
    world.put(source("older", team("ml"), json!({ "templateName": "gpu" })));
    world.now = world.now.plus_seconds(10);
    world.put(source("a-younger", team("ml"), json!({ "templateName": "gpu", "template": spec("h200") })));
    world.settle();
    assert_eq!(world.objects[&template("a", "gpu")]["spec"], stored(spec("gpu")));
    assert_eq!(world.condition("older", "Ready").0, "True");
    assert_eq!(world.status("a-younger")["failures"][0]["reason"], "Superseded");
    world.remove(&source_ref("older"));
    world.settle();
    assert_eq!(world.objects[&template("a", "gpu")]["spec"], stored(spec("h200")), "the next one follows");
    assert_eq!(world.condition("a-younger", "Ready").0, "True");
}

#[test]
fn admin_access_needs_the_flag_and_the_label() {
    let mut admin = spec("gpu");
    admin["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] = json!(true);
    let label = json!({ "team": "ml", "resource.kubernetes.io/admin-access": "true" });
    for (allow_admin_access, places) in [(false, vec![]), (true, vec!["b"])] {
        let mut world = World::with(Settings { allow_admin_access, ..settings(Part::TemplateSync) });
        world.put(namespace("a", json!({ "team": "ml" })));
        world.put(namespace("b", label.clone()));
        world.put(source("h100", team("ml"), json!({ "template": admin })));
        world.settle();
        assert_eq!(world.places("h100"), places);
        let failures = world.status("h100")["failures"].clone();
        assert_eq!(failures[0]["reason"], "AdminAccessNotAllowed");
        assert_eq!(failures.as_array().unwrap().len(), 2 - places.len());
        if allow_admin_access {
            world.put(namespace("a", label.clone()));
            world.settle();
            assert_eq!(world.places("h100"), ["a", "b"], "the label that appears is seen");
        }
    }
}

#[test]
fn a_template_that_breaks_a_rule_is_not_copied() {
    let mut world = world();
    let mut broken = spec("gpu");
    broken["spec"]["devices"]["requests"][0]["exactly"]["selectors"] =
        json!([{ "cel": { "expression": "device.nothing +" } }]);
    world.put(source("h100", team("ml"), json!({ "template": broken })));
    world.settle();
    assert_eq!(world.places("h100"), [""; 0]);
    assert_eq!(world.condition("h100", "Degraded"), ("True".to_owned(), "Invalid".to_owned()));
    let message = world.status("h100")["failures"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("spec.template.spec.devices.requests[0].exactly.selectors[0]"), "{message}");
    let mut repaired = source("h100", team("ml"), json!({}));
    repaired["status"] = world.status("h100");
    world.put(repaired);
    world.settle();
    assert_eq!(world.places("h100"), ["a", "b"]);
}

#[test]
fn what_one_namespace_refuses_the_others_get() {
    let mut world = world();
    world.refuses = |object| (object["metadata"]["namespace"] == "a").then_some((403, "exceeded quota: templates"));
    world.put(source("h100", team("ml"), json!({})));
    world.settle();
    assert_eq!(world.places("h100"), ["b"]);
    let status = world.status("h100");
    assert_eq!((&status["refused"], &status["failures"][0]["reason"]), (&json!(1), &json!("QuotaExceeded")));
    assert_eq!(world.condition("h100", "Degraded").1, "QuotaExceeded");
    world.refuses = |_| None;
    world.put(namespace("a", json!({ "team": "ml", "more": "quota" })));
    world.settle();
    assert_eq!(world.condition("h100", "Degraded").0, "False");
}

#[test]
fn a_paused_source_writes_nothing() {
    let mut world = world();
    world.put(source("h100", team("ml"), json!({ "paused": true })));
    world.settle();
    assert_eq!(world.places("h100"), [""; 0]);
    assert_eq!(world.condition("h100", "Ready").1, "Paused");
    world.put(source("h100", team("ml"), json!({})));
    world.settle();
    world.put(source("h100", team("web"), json!({ "paused": true })));
    world.settle();
    assert_eq!(world.places("h100"), ["a", "b"], "nothing is removed either");
}

#[test]
fn a_source_may_name_a_master_template() {
    let mut world = world();
    let mut by_name = source("h100", team("ml"), json!({ "source": { "name": "master" } }));
    by_name["spec"].as_object_mut().unwrap().remove("template");
    world.put(by_name);
    world.settle();
    assert_eq!(world.status("h100")["failures"][0]["reason"], "SourceMissing");
    let mut master = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": { "name": "master", "namespace": HOME } });
    master["spec"] = spec("h200");
    world.put(master);
    world.settle();
    assert_eq!(world.objects[&template("a", "h100")]["spec"], stored(spec("h200")));
    assert_eq!(world.places("master"), [HOME]);
}

#[test]
fn a_status_names_fifty_failures_and_counts_all() {
    let mut world = World::new(Part::TemplateSync);
    world.refuses = |_| Some((403, "no"));
    for number in 0..70 {
        world.put(namespace(&format!("n-{number:02}"), json!({ "team": "ml" })));
    }
    world.put(source("h100", team("ml"), json!({})));
    world.settle();
    let status = world.status("h100");
    assert_eq!((&status["refused"], &status["failing"]), (&json!(70), &json!(70)));
    assert_eq!(status["failures"].as_array().unwrap().len(), 50);
}

#[test]
fn an_object_that_cannot_be_read_is_told_and_left_out() {
    let mut world = world();
    world.put(source("h100", team("ml"), json!({})));
    world.settle();
    let mut unreadable = world.objects[&source_ref("h100")].clone();
    unreadable["spec"]["targets"] = json!("everywhere");
    let findings = world.controller.apply([unreadable.to_string().as_str()]);
    assert!(findings[0].iter().any(|finding| finding.path == "spec.targets"), "{findings:?}");
    let of_copy = world.controller.reconcile(&template("a", "h100"), world.now);
    assert!(of_copy.actions.is_empty(), "copies do not go because of a field that is not understood");
    let of_source = world.controller.reconcile(&source_ref("h100"), world.now);
    let [Action::UpdateStatus(written)] = of_source.actions.as_slice() else { panic!("{:?}", of_source.actions) };
    assert_eq!(written.write()["status"]["failures"][0]["reason"], "Invalid");
}
