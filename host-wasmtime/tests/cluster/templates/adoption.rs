//! Templates of users that are taken over on request, classes that are missing, and what the command line says about all that.

use serde_json::{Value, json};

use super::{status, until_synchronized};
use crate::control_plane::{ADMIN, ControlPlane};
use crate::deployment::install;
use crate::objects::{class, copy, namespace, source};
use crate::program::{Running, ask, json as read};

fn condition(plane: &ControlPlane, kind: &str) -> Value {
    let status = status(plane);
    let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    conditions.into_iter().find(|one| one["type"] == *kind).unwrap_or_default()
}

/// Exit code, and what is said about the source.
fn told(plane: &ControlPlane) -> (Option<i32>, Value) {
    let output = ask(plane, ADMIN, &["crct", "status", "--from-cluster", "-o", "json"]);
    (output.status.code(), read(&output)["sources"][0].clone())
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn a_users_template_is_taken_over_on_request_only() {
    let plane = ControlPlane::start("adoption");
    install(&plane);
    for name in ["equal", "other", "empty"] {
        plane.requests.create(&namespace(name, json!({ "team": "ml" })));
    }
    let users = |place: &str, class: &str| {
        let mut template = copy(place);
        template["spec"] = json!({ "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": class } }] } } });
        template
    };
    let other = plane.requests.create(&users("other", "mine"));
    plane.requests.create(&users("equal", "h100"));
    let running = Running::start(&plane, "template-sync", &[]);
    let of = |policy: &str| {
        let mut source = source("h100");
        source["spec"]["conflictPolicy"] = json!(policy);
        source
    };
    plane.requests.apply(&of("Fail"));
    plane.until("two conflicts", 30, |plane| (status(plane)["conflicting"] == 2).then_some(()));
    plane.requests.apply(&of("AdoptIfEqual"));
    plane.until("one conflict", 30, |plane| (status(plane)["conflicting"] == 1).then_some(()));
    let is_as_it_was = |plane: &ControlPlane| {
        plane.requests.get(&copy("other")).unwrap()["metadata"]["resourceVersion"]
            == other["metadata"]["resourceVersion"]
    };
    assert!(is_as_it_was(&plane));

    // The command line finds the same by itself.
    let (code, found) = told(&plane);
    let numbers = json!({ "matched": 3, "current": 2, "updating": 0, "conflicting": 1, "refused": 0 });
    assert_eq!((code, &found["counts"]), (Some(1), &numbers));
    let stuck = found["places"].as_array().unwrap().iter().find(|place| place["namespace"] == "other").unwrap();
    assert_eq!(stuck["reason"], "Conflict");

    plane.requests.apply(&of("Adopt"));
    until_synchronized(&plane, "h100", 3, 30);
    plane.until("the Event", 20, |plane| {
        let events = plane.requests.list("events.k8s.io/v1", "Event");
        events.into_iter().find(|event| event["reason"] == "Adopted" && event["regarding"]["namespace"] == "other")
    });
    assert_eq!(running.metric("apportion_drift_repairs_total", &[]), 0.0, "taking over is no repair");

    // Nobody has defined the class so far.
    assert_eq!(condition(&plane, "ClassMissing")["message"], "there is no DeviceClass `h100`");
    let (code, found) = told(&plane);
    assert_eq!((code, &found["isReady"], &found["missingClasses"]), (Some(1), &json!(true), &json!(["h100"])));
    plane.requests.create(&class("h100", "true"));
    plane.until("the class to be seen", 30, |plane| {
        (condition(plane, "ClassMissing")["status"] == "False").then_some(())
    });
    let (code, found) = told(&plane);
    assert_eq!((code, &found["isObserved"]), (Some(0), &json!(true)));
    plane.requests.delete(&class("h100", "true"));
    plane.until("the class to be missed", 30, |plane| {
        (condition(plane, "ClassMissing")["status"] == "True").then_some(())
    });
    assert_eq!(running.metric("apportion_writes_total", &["code=\"403\""]), 0.0, "the roles are enough");
}
