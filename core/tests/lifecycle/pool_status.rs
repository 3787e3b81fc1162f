//! Questions about pools (KEP-5677): answered once, deleted later.

use apportion_core::profile::{Mode, Profile, Version};
use serde_json::{Value, json};

use crate::play::{Play, key, pod, profile};

fn request(name: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: resource.k8s.io/v1alpha3\nkind: ResourcePoolStatusRequest\nmetadata: {{name: {name}}}\nspec: {{driver: gpu.example.com{spec}}}\n"
    )
}

fn user(name: &str, more: &str) -> String {
    format!(
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: {name}}}\nspec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: gpu{more}}}}}]}}}}\n{}",
        pod(name, &format!("resourceClaimName: {name}"), "")
    )
}

fn slice(name: &str, generation: u32, count: u32, devices: &str) -> String {
    format!(
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: {name}}}\nspec: {{driver: gpu.example.com, nodeName: node-1, pool: {{name: second, generation: {generation}, resourceSliceCount: {count}}}, devices: [{devices}]}}\n"
    )
}

fn answer(play: &Play, name: &str) -> Option<Value> {
    let object = play.simulation.server().get(&key("ResourcePoolStatusRequest", name))?;
    object.get("status").cloned()
}

fn counts(pool: &Value) -> [&Value; 4] {
    ["totalDevices", "allocatedDevices", "availableDevices", "unavailableDevices"].map(|name| &pool[name])
}

#[test]
fn a_request_is_answered_once_from_the_facts_of_the_moment() {
    let mut play = Play::new();
    play.apply(&user("one", ""));
    play.apply(&request("ask", ""));
    let first = answer(&play, "ask").unwrap();
    assert_eq!(first["poolCount"], 1);
    assert_eq!(first["pools"][0]["nodeName"], "node-1");
    assert_eq!(counts(&first["pools"][0]), [4, 1, 3, 0]);
    assert_eq!(first["conditions"][0]["message"], "Calculated status for 1 pools");
    play.apply(&user("two", ""));
    assert_eq!(answer(&play, "ask").unwrap(), first);
    play.apply(&request("again", ", poolName: node-1"));
    assert_eq!(counts(&answer(&play, "again").unwrap()["pools"][0]), [4, 2, 2, 0]);
    play.apply(&request("nowhere", ", poolName: nowhere"));
    assert_eq!(answer(&play, "nowhere").unwrap()["poolCount"], 0);
}

#[test]
fn the_newest_generation_counts_and_at_most_the_limit_is_listed() {
    let mut play = Play::new();
    play.apply(&slice("old", 1, 1, "{name: a}, {name: b}, {name: c}"));
    play.apply(&slice("new-1", 2, 2, "{name: a}"));
    play.apply(&slice("new-2", 2, 2, "{name: b}"));
    play.apply(&request("ask", ", poolName: second"));
    let pool = answer(&play, "ask").unwrap()["pools"][0].clone();
    assert_eq!((&pool["generation"], &pool["resourceSliceCount"]), (&json!(2), &json!(2)));
    assert_eq!(counts(&pool), [2, 0, 2, 0]);
    play.apply(&request("one", ", limit: 1"));
    let status = answer(&play, "one").unwrap();
    assert_eq!(status["poolCount"], 2);
    assert_eq!(status["pools"].as_array().unwrap().len(), 1);
}

#[test]
fn an_incomplete_pool_is_waited_for_and_then_said_to_be_incomplete() {
    let mut play = Play::new();
    play.apply(&slice("first", 1, 2, "{name: a}"));
    play.apply(&request("patient", ""));
    assert_eq!(answer(&play, "patient"), None);
    play.apply(&slice("second", 1, 2, "{name: b}"));
    assert_eq!(counts(&answer(&play, "patient").unwrap()["pools"][1]), [2, 0, 2, 0]);
    play.delete("ResourceSlice", "second");
    play.apply(&request("late", ""));
    play.run(11);
    let status = answer(&play, "late").unwrap();
    let wanted = "PoolIncomplete: pool gpu.example.com/second is incomplete: observed 1/2 slices at generation 1";
    assert_eq!(status["pools"][1]["validationError"], wanted);
    assert_eq!(status["pools"][1].get("totalDevices"), None);
    assert_eq!(status["conditions"][0]["message"], "Calculated status for 2 pools (1 incomplete)");
}

#[test]
fn tainted_devices_are_unavailable_and_admin_access_takes_none() {
    let mut play = Play::new();
    let allowed = "{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {resource.kubernetes.io/admin-access: 'true'}}}";
    play.apply(allowed);
    play.apply(&user("admin", ", adminAccess: true"));
    play.apply(&user("one", ""));
    play.apply("{apiVersion: resource.k8s.io/v1alpha3, kind: DeviceTaintRule, metadata: {name: r}, spec: {deviceSelector: {device: gpu-3}, taint: {key: k, effect: NoSchedule}}}");
    // A device that is in use is not unavailable, too.
    play.apply("{apiVersion: resource.k8s.io/v1alpha3, kind: DeviceTaintRule, metadata: {name: s}, spec: {deviceSelector: {device: gpu-0}, taint: {key: k, effect: NoSchedule}}}");
    play.apply(&request("ask", ""));
    assert_eq!(counts(&answer(&play, "ask").unwrap()["pools"][0]), [4, 1, 2, 1]);
}

#[test]
fn the_release_counts_in_its_own_way() {
    for (version, wanted) in [(Version::V1_36, [4, 2, 2, 0]), (Version::V1_37, [4, 1, 2, 1])] {
        let mut play = Play::with(Profile { version, mode: Mode::Reference, ..profile() });
        let allowed = "{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {resource.kubernetes.io/admin-access: 'true'}}}";
        play.apply(allowed);
        play.apply(&user("admin", ", adminAccess: true"));
        play.apply(&user("one", ""));
        play.apply("{apiVersion: resource.k8s.io/v1alpha3, kind: DeviceTaintRule, metadata: {name: r}, spec: {deviceSelector: {device: gpu-3}, taint: {key: k, effect: NoSchedule}}}");
        play.apply(&request("ask", ""));
        assert_eq!(counts(&answer(&play, "ask").unwrap()["pools"][0]), wanted, "{version:?}");
    }
}

#[test]
fn requests_go_after_an_hour_and_unanswered_ones_after_a_day() {
    let mut play = Play::new();
    play.apply(&request("ask", ""));
    play.run(3599);
    assert!(answer(&play, "ask").is_some());
    play.run(2);
    assert!(play.simulation.server().get(&key("ResourcePoolStatusRequest", "ask")).is_none());
    let mut play = Play::with(Profile { version: Version::V1_36, mode: Mode::Reference, ..profile() });
    play.apply(&slice("first", 1, 2, "{name: a}"));
    play.apply(&request("never", ""));
    play.run(24 * 3600 - 1);
    let object = play.simulation.server().get(&key("ResourcePoolStatusRequest", "never")).unwrap();
    assert_eq!(object.get("status"), None, "the reference gives up");
    play.run(2);
    assert!(play.simulation.server().get(&key("ResourcePoolStatusRequest", "never")).is_none());
}

#[test]
fn without_the_feature_there_is_no_such_kind() {
    let mut without = profile();
    without.features.resource_pool_status = false;
    let mut play = Play::with(without);
    let object = crate::play::documents(&request("ask", "")).remove(0);
    assert_eq!(play.create(object), Err("the server could not find the requested resource".to_owned()));
}

#[test]
fn the_answer_can_not_be_changed() {
    let mut play = Play::new();
    play.apply(&request("ask", ""));
    let mut object = play.simulation.server().get(&key("ResourcePoolStatusRequest", "ask")).unwrap().clone();
    object["status"]["poolCount"] = json!(7);
    let now = play.simulation.now();
    let refused = play.simulation.server_mut().update(object, true, now).unwrap_err();
    assert_eq!(refused.status, 422);
}
