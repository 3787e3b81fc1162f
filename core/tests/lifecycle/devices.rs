//! What the concept page says about claims, classes, slices and features.

use apportion_core::profile::{Mode, Profile, Version};
use serde_json::{Value, json};

use crate::play::{Play, TEMPLATE, documents, group, pod, profile};

fn named(name: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: {name}}}\nspec: {{devices: {{{spec}}}}}\n"
    )
}

/// A claim and the Pod that uses it, of the same name.
fn user(name: &str, spec: &str) -> String {
    format!("{}{}", named(name, spec), pod(name, &format!("resourceClaimName: {name}"), ""))
}

fn is_placed(play: &Play, name: &str) -> bool {
    !play.pod(name).spec.node_name.is_empty()
}

fn devices(play: &Play, claim: &str) -> Vec<String> {
    let allocation = play.named_claim(claim).status.allocation.as_ref();
    allocation.into_iter().flat_map(|all| &all.devices.results).map(|result| result.device.clone()).collect()
}

/// r_204 r_305 r_317 r_319: the quantity stands in the template, each Pod gets a claim of its own, allocated before the Pod is bound.
#[test]
fn r_317_a_template_makes_a_claim_for_each_pod() {
    let mut play = Play::new();
    play.apply(&pod("a", TEMPLATE, ""));
    play.apply(&pod("b", TEMPLATE, ""));
    let mut taken: Vec<String> = Vec::new();
    for name in ["a", "b"] {
        let claim = play.pod(name).status.resource_claim_statuses[0].resource_claim_name.clone().unwrap();
        taken.extend(devices(&play, &claim));
        assert_eq!(play.pod(name).spec.node_name, "node-1");
    }
    assert_eq!(taken, ["gpu-0", "gpu-1"]);
    let history = play.simulation.server().cluster().claims().len();
    assert_eq!(history, 2);
}

/// r_306: a class may match nothing, and then a Pod waits; or everything.
#[test]
fn r_306_a_class_matches_any_number_of_devices() {
    let mut play = Play::new();
    play.apply("{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: none}, spec: {selectors: [{cel: {expression: 'false'}}]}}");
    play.apply("{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: any}}");
    play.apply(&user("nobody", "requests: [{name: r, exactly: {deviceClassName: none}}]"));
    play.apply(&user("all", "requests: [{name: r, exactly: {deviceClassName: any, count: 4}}]"));
    assert!(!is_placed(&play, "nobody"));
    assert_eq!(devices(&play, "all").len(), 4);
}

/// r_012 r_009: whoever shares a claim goes where its devices are, and nothing else steers them.
#[test]
fn r_012_a_shared_claim_restricts_its_pods_to_its_nodes() {
    let mut play = Play::new();
    play.apply("{apiVersion: v1, kind: Node, metadata: {name: node-0, labels: {kubernetes.io/hostname: node-0}}, status: {allocatable: {cpu: '16', pods: '110'}}}");
    play.apply(&group("group", "basic: {}", TEMPLATE));
    play.apply(&pod("m-1", TEMPLATE, "group"));
    play.apply(&pod("m-2", TEMPLATE, "group"));
    assert_eq!(
        (play.pod("m-1").spec.node_name.as_str(), play.pod("m-2").spec.node_name.as_str()),
        ("node-1", "node-1")
    );
    let mut free = documents(&pod("m-3", TEMPLATE, "group")).remove(0);
    free["spec"]["resourceClaims"] = json!([]);
    free["spec"]["containers"] = json!([{ "name": "c" }]);
    play.create(free).unwrap();
    play.run(1);
    assert_eq!(play.pod("m-3").spec.node_name, "node-0", "a member that does not use the claim goes anywhere");
}

/// r_314: a pool of two slices is used when both are there, of one generation.
#[test]
fn r_314_a_pool_may_span_slices() {
    let slice = |name: &str, device: &str, generation: i64| {
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": name },
            "spec": {
                "driver": "two.example.com", "nodeName": "node-1", "devices": [{ "name": device }],
                "pool": { "name": "p", "generation": generation, "resourceSliceCount": 2 },
            },
        })
    };
    let mut play = Play::new();
    play.apply("{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: two}, spec: {selectors: [{cel: {expression: device.driver == 'two.example.com'}}]}}");
    play.create(slice("s-1", "a", 1)).unwrap();
    play.apply(&user("both", "requests: [{name: r, exactly: {deviceClassName: two, allocationMode: All}}]"));
    assert!(!is_placed(&play, "both"), "half a pool is not all of it");
    play.create(slice("s-2", "b", 1)).unwrap();
    play.run(3);
    assert_eq!(devices(&play, "both"), ["a", "b"]);
}

/// r_324 r_325: a Pod that came to its node without the scheduler gets a reservation, and never an allocation.
#[test]
fn r_324_nothing_is_allocated_for_a_pod_that_has_a_node() {
    let mut play = Play::new();
    play.apply(&named("c", "requests: [{name: r, exactly: {deviceClassName: gpu}}]"));
    let placed = |name: &str| {
        let mut placed = documents(&pod(name, "resourceClaimName: c", "")).remove(0);
        placed["spec"]["nodeName"] = json!("node-1");
        placed
    };
    play.create(placed("early")).unwrap();
    play.run(5);
    assert!(play.named_claim("c").status.allocation.is_none());
    play.apply(&pod("usual", "resourceClaimName: c", ""));
    play.create(placed("late")).unwrap();
    play.run(5);
    let reserved = &play.named_claim("c").status.reserved_for;
    let mut names: Vec<&str> = reserved.iter().map(|consumer| consumer.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["early", "late", "usual"]);
}

/// r_332 r_333: one large or two small; without the gate lists are not looked at.
#[test]
fn r_332_a_list_falls_back_to_more_of_something_smaller() {
    let world = "apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: cats}
spec:
  driver: cat.example.com
  nodeName: node-1
  pool: {name: cats, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: white-0, attributes: {size: {string: small}}}
  - {name: white-1, attributes: {size: {string: small}}}
  - {name: black-0, attributes: {size: {string: large}}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: cat}
spec: {selectors: [{cel: {expression: device.driver == 'cat.example.com'}}]}
";
    let wanted = r#"requests: [{name: r, firstAvailable: [
        {name: large, deviceClassName: cat, selectors: [{cel: {expression: "device.attributes['cat.example.com'].size == 'large'"}}]},
        {name: small, deviceClassName: cat, count: 2, selectors: [{cel: {expression: "device.attributes['cat.example.com'].size == 'small'"}}]}]}]"#;
    let mut play = Play::new();
    play.apply(world);
    play.apply(&user("one", wanted));
    play.apply(&user("two", wanted));
    play.apply(&user("three", wanted));
    assert_eq!(devices(&play, "one"), ["black-0"]);
    assert_eq!(devices(&play, "two"), ["white-0", "white-1"]);
    assert!(!is_placed(&play, "three"));

    let mut old = profile();
    old.features.prioritized_list = false;
    let mut play = Play::with(old);
    play.apply(world);
    play.apply(&user("one", wanted));
    assert!(!is_placed(&play, "one"));
}

/// r_334 r_335 r_336 r_337: counters limit which devices exist together; what is given back can be drawn again.
#[test]
fn r_336_two_devices_of_six_share_eight() {
    let world = "apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: counters}
spec:
  driver: part.example.com
  nodeName: node-1
  pool: {name: parts, generation: 1, resourceSliceCount: 2}
  sharedCounters: [{name: set, counters: {memory: {value: 8Gi}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: parts}
spec:
  driver: part.example.com
  nodeName: node-1
  pool: {name: parts, generation: 1, resourceSliceCount: 2}
  devices:
  - {name: a, consumesCounters: [{counterSet: set, counters: {memory: {value: 6Gi}}}]}
  - {name: b, consumesCounters: [{counterSet: set, counters: {memory: {value: 6Gi}}}]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: part}
spec: {selectors: [{cel: {expression: device.driver == 'part.example.com'}}]}
";
    let wanted = "requests: [{name: r, exactly: {deviceClassName: part}}]";
    let mut play = Play::new();
    play.apply(world);
    play.apply(&user("one", wanted));
    play.apply(&user("two", wanted));
    assert!(is_placed(&play, "one") && !is_placed(&play, "two"));
    play.delete("Pod", "one");
    play.delete("ResourceClaim", "one");
    play.run(15);
    assert!(is_placed(&play, "two"), "what was drawn is given back");

    let mut old = profile();
    old.features.partitionable_devices = false;
    let mut play = Play::with(old);
    play.apply(world);
    play.apply(&user("one", wanted));
    assert!(!is_placed(&play, "one"), "without the gate such devices are not given out");
}

/// r_310 r_017 r_064: the reservation of a Pod that ended or went is taken out, the user's claim is given back and stays.
#[test]
fn r_310_a_users_claim_outlives_its_pods() {
    let mut play = Play::new();
    play.apply(&user("c", "requests: [{name: r, exactly: {deviceClassName: gpu}}]"));
    play.apply(&pod("second", "resourceClaimName: c", ""));
    assert_eq!(play.named_claim("c").status.reserved_for.len(), 2);
    play.patch("Pod", "second", true, json!({ "status": { "phase": "Succeeded" } }));
    assert_eq!(play.named_claim("c").status.reserved_for.len(), 1);
    play.delete("Pod", "c");
    let claim = play.named_claim("c");
    assert!(claim.status.reserved_for.is_empty() && claim.status.allocation.is_none());
    assert!(!claim.metadata.is_deleting());
}

/// r_320: a driver reports on devices of a claim, and the report is kept while the devices are.
#[test]
fn r_320_drivers_report_in_the_claims_status() {
    let mut play = Play::new();
    play.apply(&user("c", "requests: [{name: r, exactly: {deviceClassName: gpu}}]"));
    let device = devices(&play, "c").remove(0);
    let report = json!([{
        "driver": "gpu.example.com", "pool": "node-1", "device": device, "conditions": [{ "type": "Ready", "status": "True" }],
    }]);
    play.patch("ResourceClaim", "c", true, json!({ "status": { "devices": report } }));
    assert_eq!(play.named_claim("c").status.devices.len(), 1);
    play.delete("Pod", "c");
    assert!(play.named_claim("c").status.devices.is_empty());
}

/// r_076: PostFilter gives up claims that nobody but the failing Pod uses; one of a PodGroup it leaves alone.
#[test]
fn r_076_a_claim_of_a_pod_group_is_never_given_up_for_a_pod() {
    let claims = |play: &Play| play.claim().status.allocation.is_some();
    let mut play = Play::new();
    play.apply(&group("group", "basic: {}", TEMPLATE));
    play.apply(&pod("m-1", TEMPLATE, "group"));
    let before = play.claim().status.clone();
    let mut elsewhere = documents(&pod("m-2", TEMPLATE, "group")).remove(0);
    elsewhere["spec"]["nodeSelector"] = json!({ "kubernetes.io/hostname": "node-9" });
    play.create(elsewhere).unwrap();
    play.run(30);
    assert!(claims(&play) && play.claim().status == before);
}

/// r_100 r_181 r_233: with the features on and unused, Pods get what they got without.
#[test]
fn r_100_unused_features_change_nothing() {
    let outcome = |profile: Profile| -> (String, Value) {
        let mut play = Play::with(profile);
        play.apply(&pod("a", TEMPLATE, ""));
        let claim = play.claim();
        let allocation = claim.status.allocation.as_ref().map(|all| all.devices.results[0].device.clone());
        let reserved: Vec<String> = claim.status.reserved_for.iter().map(|consumer| consumer.name.clone()).collect();
        (
            play.pod("a").spec.node_name.clone(),
            json!({ "name": claim.metadata.name, "device": allocation, "for": reserved }),
        )
    };
    let without = Profile::of(Version::V1_36);
    let mut with = without.clone();
    with.features.generic_workload = true;
    with.features.workload_resource_claims = true;
    with.features.gang_scheduling = true;
    with.features.cluster_resource_claim_templates = true;
    assert_eq!(outcome(without), outcome(with));
}

/// r_020: devices that the failing Pod cannot use are given back if nobody uses the claim, or this Pod alone; not if another Pod does.
#[test]
fn r_020_an_unusable_allocation_is_given_back_where_nobody_else_uses_it() {
    for (others, is_given_back) in [(0, true), (1, false)] {
        let mut play = Play::new();
        play.apply("{apiVersion: v1, kind: Node, metadata: {name: node-2, labels: {kubernetes.io/hostname: node-2}}}");
        play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: slice-2}, spec: {driver: gpu.example.com, nodeName: node-2, pool: {name: node-2, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}");
        play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: shared}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}");
        let on = |node: &str, name: &str| {
            let mut object = documents(&pod(name, "resourceClaimName: shared", "")).remove(0);
            object["spec"]["nodeSelector"] = json!({ "kubernetes.io/hostname": node });
            object
        };
        if others > 0 {
            play.create(on("node-1", "user")).unwrap();
            play.run(1);
        } else {
            // Allocated by hand, for nobody.
            let allocation = json!({
                "devices": { "results": [{ "request": "r", "driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0" }] },
                "nodeSelector": { "nodeSelectorTerms": [{ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": ["node-1"] }] }] },
            });
            play.patch("ResourceClaim", "shared", true, json!({ "status": { "allocation": allocation } }));
        }
        play.create(on("node-2", "failing")).unwrap();
        play.run(15);
        let pool = play.named_claim("shared").status.allocation.as_ref().unwrap().devices.results[0].pool.clone();
        assert_eq!(pool, if is_given_back { "node-2" } else { "node-1" });
        assert_eq!(play.pod("failing").spec.node_name.is_empty(), !is_given_back);
    }
}

/// A device on another node that a selector cannot read does not matter to a Pod that can only go elsewhere; to the reference it does.
#[test]
fn an_error_on_a_node_that_another_claim_rules_out_does_not_matter() {
    for (mode, node) in [(Mode::Sound, "node-1"), (Mode::Reference, "")] {
        let mut play = Play::with(Profile { mode, ..profile() });
        play.apply("{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: nic}, spec: {selectors: [{cel: {expression: device.driver == 'nic.example.com'}}]}}");
        play.apply("{apiVersion: v1, kind: Node, metadata: {name: node-2}}");
        for (node, attributes) in [("node-1", "{model: {string: a}}"), ("node-2", "{}")] {
            play.apply(&format!("{{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {{name: nic-{node}}}, spec: {{driver: nic.example.com, nodeName: {node}, pool: {{name: {node}, generation: 1, resourceSliceCount: 1}}, devices: [{{name: nic, attributes: {attributes}}}]}}}}"));
        }
        play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: held}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}");
        play.apply(&pod("first", "resourceClaimName: held", ""));
        play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: own}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: nic, selectors: [{cel: {expression: 'device.attributes[\"nic.example.com\"].model == \"a\"'}}]}}]}}}");
        let both = pod("second", "resourceClaimName: held", "")
            .replace("resourceClaims: [", "resourceClaims: [{name: nic, resourceClaimName: own}, ");
        play.apply(&both);
        assert_eq!(play.pod("second").spec.node_name, node, "{mode:?}");
    }
}
