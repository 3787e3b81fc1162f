//! What users are told, and with which rights: `apportion controller` with the explainer.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "helpers of tests")]

use std::time::Duration;

use crate::api_server::ApiServer;
use crate::running::Running;
use serde_json::{Value, json};

const WAITING: &str = "
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {}}
---
{apiVersion: v1, kind: Node, metadata: {name: node-a}, status: {allocatable: {cpu: '4', pods: '10'}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: {name: node-a, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: two, namespace: ml}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 2}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: waits, namespace: ml}
spec: {containers: [{name: c}], resourceClaims: [{name: gpu, resourceClaimName: two}]}
";

#[test]
fn users_are_told_why_their_pod_waits() {
    let server = ApiServer::start("explainer");
    server.apply_yaml(WAITING);
    let running = Running::start(&server, &["--controllers", "explainer"]);
    let events = server.until("an Event", 30, |server| Some(server.list("events")).filter(|events| !events.is_empty()));
    assert_eq!(events[0]["regarding"]["name"], "waits");
    assert_eq!(events[0]["reason"], "DevicesUnavailable");
    let note = events[0]["note"].as_str().unwrap();
    assert!(note.contains("needs 2 devices") && note.contains("closest node: `node-a` (1 of 2)"), "{note}");
    assert_eq!(running.stop().status.code(), Some(0));
    // One that starts anew knows what was told.
    let _again = Running::start(&server, &["--controllers", "explainer"]);
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(server.list("events").len(), 1);
    assert_eq!(server.store().writes(), 0, "nothing but Events is written");
}

/// A Pod that asks for a condition.
fn asking(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": name, "namespace": "ml", "annotations": { "apportion.dev/explain": "true" } },
        "spec": { "containers": [{ "name": "c" }], "resourceClaims": [{ "name": "gpu", "resourceClaimName": "two" }] },
    })
}

/// Requests that would have changed the status of a Pod.
fn statuses(server: &ApiServer) -> usize {
    server.store().requests.iter().filter(|request| request.path.ends_with("/status")).count()
}

#[test]
fn statuses_of_pods_are_written_only_with_the_part_conditions() {
    let server = ApiServer::start("conditions");
    server.apply_yaml(WAITING);
    server.apply(&[asking("asks")]);
    let told = |server: &ApiServer| Some(server.list("events")).filter(|events| events.len() == 2).map(drop);
    let running = Running::start(&server, &["--controllers", "explainer"]);
    server.until("both Events", 30, told);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!((running.stop().status.code(), statuses(&server)), (Some(0), 0));
    let _running = Running::start(&server, &["--controllers", "explainer,conditions"]);
    let said = server.until("the condition", 30, |server| {
        server.get("pods", "ml", "asks")?["status"]["conditions"].as_array()?.first().cloned()
    });
    assert_eq!(
        (said["type"].as_str(), said["status"].as_str()),
        (Some("apportion.dev/DevicesAvailable"), Some("False"))
    );
    assert_eq!(server.get("pods", "ml", "waits").unwrap()["status"]["conditions"], json!(null), "it did not ask");
}

#[test]
fn conditions_need_the_explainer() {
    let server = ApiServer::start("conditions-alone");
    let output = Running::start(&server, &["--controllers", "conditions"]).ended();
    let says = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && says.contains("add `explainer` to `--controllers`"), "{says}");
}

/// The role was not installed, or was taken away: users are told as before, and the log has one line about it.
#[test]
fn a_missing_right_is_reported_once_and_the_rest_goes_on() {
    let server = ApiServer::start("missing-right");
    server.apply_yaml(WAITING);
    server.store().forbidden = vec!["pods/status"];
    server.apply(&[asking("first")]);
    let running = Running::start(&server, &["--controllers", "explainer,conditions"]);
    server.until("three attempts", 60, |server| (statuses(server) >= 3).then_some(()));
    server.apply(&[asking("second")]);
    server.until("all Events", 60, |server| (server.list("events").len() == 3).then_some(()));
    let code = "apportion_writes_total{part=\"explainer\",verb=\"patch\",code=\"403\"}";
    assert!(running.metric(code) >= 3.0);
    let output = running.stop();
    let says = String::from_utf8_lossy(&output.stderr);
    assert_eq!(says.matches("cannot patch resource \"pods/status\"").count(), 1, "{says}");
}
