//! Who gives devices away, and in which order, when the Lease changes hands.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "helpers of tests")]

use std::time::Duration;

use crate::api_server::{ApiServer, Request};
use crate::running::{HOME, Running};
use serde_json::{Value, json};

const SCHEDULER: &[&str] = &["--controllers", "scheduler"];

const DEVICES: &str = "
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
  devices: [{name: gpu-0}, {name: gpu-1}]
";

/// A Pod for our scheduler, and its claim.
fn with_claim(name: &str) -> [Value; 2] {
    let spec = json!({ "devices": { "requests": [{
        "name": "gpu", "exactly": { "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1 },
    }] } });
    let pod = json!({
        "schedulerName": "apportion", "containers": [{ "name": "c" }],
        "resourceClaims": [{ "name": "gpu", "resourceClaimName": name }],
    });
    let metadata = json!({ "name": name, "namespace": "ml" });
    [
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": spec }),
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod }),
    ]
}

fn has_devices(server: &ApiServer, claim: &str) -> bool {
    server.get("resourceclaims", "ml", claim).unwrap()["status"]["allocation"].is_object()
}

/// A scheduler that leads and has given a claim its device.
fn scheduling(name: &str) -> (ApiServer, Running) {
    let server = ApiServer::start(name);
    server.apply_yaml(DEVICES);
    server.apply(&with_claim("early"));
    let running = Running::start(&server, SCHEDULER);
    server.until("devices in the first term", 30, |_| has_devices(&server, "early").then_some(()));
    (server, running)
}

/// Each term begins by making late writes fail: one of the leader before may still be under way.
#[test]
fn late_writes_are_shut_out_before_a_later_term_gives_devices_away() {
    let (server, running) = scheduling("later-term");
    // Another replica takes over, begins with a claim, and is gone.
    let mut lease = server.get("leases", HOME, "apportion-controller").unwrap();
    lease["spec"]["holderIdentity"] = json!("other");
    lease["spec"]["leaseDurationSeconds"] = json!(4);
    server.apply(&[lease]);
    server.until("the end of the term", 30, |_| (running.metric("apportion_leader") == 0.0).then_some(()));
    let [mut begun, _] = with_claim("begun");
    begun["metadata"]["finalizers"] = json!(["resource.kubernetes.io/delete-protection"]);
    server.apply(&[begun]);
    server.apply(&with_claim("late"));
    server.until("devices in the second term", 30, |_| has_devices(&server, "late").then_some(()));
    let store = server.store();
    let put = |end: &str| {
        let is_it = |request: &Request| request.method == "PUT" && request.path.ends_with(end);
        store.requests.iter().position(is_it).unwrap_or_else(|| panic!("{end} was not written"))
    };
    assert!(put("/resourceclaims/begun") < put("/resourceclaims/late/status"));
    let finalizers = store.get("resourceclaims", "ml", "begun").unwrap()["metadata"]["finalizers"].clone();
    assert!(finalizers.as_array().is_none_or(Vec::is_empty), "{finalizers}");
}

/// The clocks of a machine that stood still say that it leads; the Lease says who does.
#[test]
fn devices_are_given_only_by_whom_the_lease_names() {
    let (server, running) = scheduling("named");
    let mut lease = server.get("leases", HOME, "apportion-controller").unwrap();
    lease["spec"]["holderIdentity"] = json!("other");
    server.apply(&[lease]);
    server.apply(&with_claim("late"));
    std::thread::sleep(Duration::from_secs(1));
    assert!(!has_devices(&server, "late"), "its term is not over by its own clock");
    server.until("the end of the term", 30, |_| (running.metric("apportion_leader") == 0.0).then_some(()));
    assert!(!has_devices(&server, "late"));
}

/// What came while another replica led is handed out by priority, not as it was heard of.
#[test]
fn whoever_takes_over_begins_with_the_highest_priority() {
    let server = ApiServer::start("priority");
    server.apply_yaml(DEVICES);
    let renewed = "2026-01-01T00:00:00.000000Z";
    server.apply(&[json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": { "name": "apportion-controller", "namespace": HOME },
        "spec": { "holderIdentity": "other", "leaseDurationSeconds": 5, "renewTime": renewed },
    })]);
    let running = Running::start(&server, SCHEDULER);
    server.until("readiness", 30, |_| running.get("/readyz").filter(|answer| answer.0 == 200));
    for (name, priority) in [("low-a", 0), ("low-b", 0), ("low-c", 0), ("high", 100)] {
        let [claim, mut pod] = with_claim(name);
        pod["spec"]["priority"] = json!(priority);
        server.apply(&[claim, pod]);
        std::thread::sleep(Duration::from_millis(100));
    }
    let given = || ["low-a", "low-b", "low-c", "high"].map(|name| has_devices(&server, name));
    server.until("both devices", 30, |_| (given().into_iter().filter(|has| *has).count() == 2).then_some(()));
    assert_eq!(given(), [true, false, false, true]);
}
