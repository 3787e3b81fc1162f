//! A controller that may write copies only where a RoleBinding lets it.

use std::time::Duration;

use serde_json::json;

use super::{status, until_synchronized, writes_at_rest};
use crate::control_plane::ControlPlane;
use crate::deployment::install_restricted;
use crate::objects::{copy, namespace, source};
use crate::program::{HOME, Running};

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn a_namespace_gets_its_copy_once_it_is_allowed() {
    let plane = ControlPlane::start("restricted");
    install_restricted(&plane);
    let allow = |name: &str| {
        plane.requests.create(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": { "name": "copies", "namespace": name },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "apportion-template-sync-copies" },
            "subjects": [{ "kind": "ServiceAccount", "name": "apportion", "namespace": HOME }],
        }));
    };
    for name in ["first", "later"] {
        plane.requests.create(&namespace(name, json!({ "team": "ml" })));
    }
    allow("first");
    let running = Running::start(&plane, "template-sync", &[]);
    plane.requests.apply(&source("h100"));
    let failure = plane.until("the refusal in the status", 30, |plane| {
        let status = status(plane);
        (status["current"] == 1 && status["refused"] == 1).then(|| status["failures"][0].clone())
    });
    assert_eq!((&failure["namespace"], &failure["reason"]), (&json!("later"), &json!("Forbidden")));
    assert!(plane.requests.get(&copy("first")).is_some() && plane.requests.get(&copy("later")).is_none());

    // It is tried again with pauses that double.
    let forbidden = || running.metric("apportion_writes_total", &["code=\"403\""]);
    let tried = forbidden();
    std::thread::sleep(Duration::from_secs(10));
    assert!(forbidden() - tried <= 5.0, "{tried} and then {} attempts", forbidden());
    writes_at_rest(&plane);

    // Another namespace does not wait for that, and a right that comes later is found without a restart.
    plane.requests.create(&namespace("new", json!({})));
    allow("new");
    plane.requests.merge(&namespace("new", json!({})), &json!({ "metadata": { "labels": { "team": "ml" } } }));
    plane.until("the copy in a new namespace", 10, |plane| plane.requests.get(&copy("new")));
    allow("later");
    until_synchronized(&plane, "h100", 3, 120);
}
