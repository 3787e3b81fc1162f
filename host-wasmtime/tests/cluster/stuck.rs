//! Pods that wait for devices, next to a scheduler that leaves them waiting.

use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::objects::{claim, class, namespace, node, pod, slice};

/// Pods with a claim of their own, what it asks for, and what their user is to hear.
pub(crate) fn stuck() -> Vec<(&'static str, Value, &'static str)> {
    let of =
        |expression: &str| json!({ "deviceClassName": "gpu", "selectors": [{ "cel": { "expression": expression } }] });
    vec![
        ("many", json!({ "deviceClassName": "gpu", "count": 3 }), "needs 3 devices of class `gpu`"),
        ("two", json!({ "deviceClassName": "gpu", "count": 2 }), "in use"),
        ("model", of("device.attributes['gpu.example.com'].model == 'c'"), "fail `selectors[0]`"),
        ("typo", of("'modle' in device.attributes['gpu.example.com']"), "fail `selectors[0]`"),
        ("class", json!({ "deviceClassName": "none" }), "`none`"),
        ("all", json!({ "deviceClassName": "gpu", "allocationMode": "All" }), "in use"),
        ("error", of("device.attributes['other.example.com'].x == 'y'"), "selector"),
        ("capacity", of("device.capacity['gpu.example.com'].memory.compareTo(quantity('1Gi')) >= 0"), "selector"),
    ]
}

/// Pods that wait for what does not exist.
pub(crate) const WITHOUT: [&str; 2] = ["no-claim", "no-template"];

/// Makes a node with two devices, one Pod that takes one of them, and Pods that wait; the scheduler has said so of all.
pub(crate) fn make(plane: &ControlPlane) {
    let requests = &plane.requests;
    requests.create(&namespace("ml", json!({})));
    requests.create(&class("gpu", "device.driver == \"gpu.example.com\""));
    let (bare, says) = node("node-a");
    requests.create(&bare);
    requests.set_status(&bare, says);
    let devices = json!([
        { "name": "gpu-0", "attributes": { "model": { "string": "a" } } },
        { "name": "gpu-1", "attributes": { "model": { "string": "b" } } },
    ]);
    requests.create(&slice("node-a", "gpu.example.com", devices));
    requests.create(&claim(
        "ml",
        "fits",
        json!({ "requests": [{ "name": "gpu", "exactly": { "deviceClassName": "gpu" } }] }),
    ));
    let fits = pod("ml", "fits", json!([{ "name": "gpu", "resourceClaimName": "fits" }]));
    requests.create(&fits);
    let placed = plane.until("the Pod that fits", 60, |plane| {
        plane.requests.get(&fits)?["spec"]["nodeName"].as_str().map(str::to_owned)
    });
    assert_eq!(placed, "node-a");
    for (name, exactly, _) in stuck() {
        requests.create(&claim("ml", name, json!({ "requests": [{ "name": "gpu", "exactly": exactly }] })));
        let mut waiting = pod("ml", name, json!([{ "name": "gpu", "resourceClaimName": name }]));
        waiting["metadata"]["annotations"] = json!({ "apportion.dev/explain": (name != "model").to_string() });
        requests.create(&waiting);
    }
    requests.create(&pod("ml", WITHOUT[0], json!([{ "name": "gpu", "resourceClaimName": "nowhere" }])));
    requests.create(&pod("ml", WITHOUT[1], json!([{ "name": "gpu", "resourceClaimTemplateName": "nowhere" }])));
    // Of the last two it says nothing: what they name does not exist.
    let is_waiting = |pod: &Value| {
        let conditions = pod["status"]["conditions"].as_array();
        conditions.into_iter().flatten().any(|one| one["type"] == "PodScheduled" && one["status"] == "False")
    };
    plane.until("the scheduler to give up on all others", 60, |plane| {
        let pods = plane.requests.list("v1", "Pod");
        (pods.iter().filter(|pod| is_waiting(pod)).count() >= stuck().len()).then_some(())
    });
}
