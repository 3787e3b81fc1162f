//! Device taints and tolerations (the concept page, KEP-5055): who gets a tainted device, and who loses it.

use apportion_core::allocate::Limits;
use apportion_core::control_plane::Simulation;
use apportion_core::control_plane::script::script;
use apportion_core::engine::Engine;
use apportion_core::profile::{Mode, Profile, Version};
use serde_json::{Value, json};

use crate::play::{Play, WORLD, documents, pod, profile};

/// A claim of its own for a Pod, with more fields in its request.
fn claim(name: &str, more: &str) -> String {
    format!(
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: {name}}}\nspec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: gpu{more}}}}}]}}}}\n"
    )
}

/// A claim and the Pod that uses it, of the same name.
fn user(name: &str, more: &str) -> String {
    format!("{}{}", claim(name, more), pod(name, &format!("resourceClaimName: {name}"), ""))
}

/// A rule with a selector in YAML; none where it is empty.
fn rule(name: &str, selector: &str, effect: &str) -> String {
    let selector = if selector.is_empty() { String::new() } else { format!("deviceSelector: {{{selector}}}, ") };
    format!(
        "---\napiVersion: resource.k8s.io/v1alpha3\nkind: DeviceTaintRule\nmetadata: {{name: {name}}}\nspec: {{{selector}taint: {{key: k, value: v, effect: {effect}}}}}\n"
    )
}

/// Gives devices of the slice a taint; takes it away from all others.
fn taint(play: &mut Play, devices: &[&str], effect: &str) {
    let all = ["gpu-0", "gpu-1", "gpu-2", "gpu-3"].map(|name| match devices.contains(&name) {
        true => json!({ "name": name, "taints": [{ "key": "k", "value": "v", "effect": effect }] }),
        false => json!({ "name": name }),
    });
    play.patch("ResourceSlice", "slice-1", false, json!({ "spec": { "devices": all } }));
}

const ALL: [&str; 4] = ["gpu-0", "gpu-1", "gpu-2", "gpu-3"];

fn is_placed(play: &Play, name: &str) -> bool {
    !play.pod(name).spec.node_name.is_empty()
}

fn devices(play: &Play, claim: &str) -> Vec<String> {
    let allocation = play.named_claim(claim).status.allocation.as_ref();
    allocation.into_iter().flat_map(|all| &all.devices.results).map(|result| result.device.clone()).collect()
}

fn is_there(play: &Play, name: &str) -> bool {
    let key = (crate::play::NS.to_owned(), name.to_owned());
    play.simulation.server().cluster().pods().get(&key).is_some_and(|pod| !pod.metadata.is_deleting())
}

/// r_339 r_340 r_347: a driver taints devices in its slice; they are left out until the taint goes.
#[test]
fn r_340_tainted_devices_are_not_given_out() {
    let mut play = Play::new();
    taint(&mut play, &["gpu-0", "gpu-1"], "NoSchedule");
    play.apply(&user("one", ""));
    assert_eq!(devices(&play, "one"), ["gpu-2"]);
    taint(&mut play, &ALL, "NoSchedule");
    assert!(is_there(&play, "one"), "NoSchedule evicts nobody");
    play.apply(&user("two", ""));
    assert!(!is_placed(&play, "two"));
    taint(&mut play, &["gpu-0"], "NoSchedule");
    assert_eq!(devices(&play, "two"), ["gpu-1"]);
}

/// r_021 r_341: NoExecute keeps new Pods off and has those deleted that use the device, found by the reservations.
#[test]
fn r_341_no_execute_evicts_and_keeps_off() {
    let mut play = Play::new();
    play.apply(&user("one", ""));
    play.apply(&user("two", ""));
    let lost = devices(&play, "one").remove(0);
    taint(&mut play, &[lost.as_str()], "NoExecute");
    assert!(!is_there(&play, "one") && is_there(&play, "two"));
    assert_eq!(play.notes("DeviceTaintManagerEviction").len(), 1);
    taint(&mut play, &ALL, "NoExecute");
    play.apply(&user("three", ""));
    assert!(!is_placed(&play, "three"));
}

/// r_342: an empty key and effect match all; else effect, key, that the key is there, and the value must match.
#[test]
fn r_342_tolerations_match_by_effect_key_and_value() {
    let tolerations = [
        ("{operator: Exists}", true),
        ("{operator: Exists, effect: NoSchedule}", true),
        ("{operator: Exists, effect: NoExecute}", false),
        ("{key: k, operator: Exists}", true),
        ("{key: other, operator: Exists}", false),
        ("{key: k, value: v, effect: NoSchedule}", true),
        ("{key: k, operator: Equal, value: v}", true),
        ("{key: k, value: w}", false),
        ("{key: k}", false),
    ];
    for (toleration, tolerates) in tolerations {
        let mut play = Play::new();
        taint(&mut play, &ALL, "NoSchedule");
        play.apply(&user("one", &format!(", tolerations: [{toleration}]")));
        assert_eq!(is_placed(&play, "one"), tolerates, "{toleration}");
    }
}

/// r_343: the toleration's seconds are counted from the time at which the taint was added.
#[test]
fn r_343_toleration_seconds_delay_the_eviction() {
    let mut play = Play::new();
    play.apply(&user("one", ", tolerations: [{operator: Exists, tolerationSeconds: 30}]"));
    let added = play.simulation.now().plus_seconds(-10).to_string();
    let tainted = json!([{
        "name": "gpu-0", "taints": [{ "key": "k", "effect": "NoExecute", "timeAdded": added }],
    }]);
    play.patch("ResourceSlice", "slice-1", false, json!({ "spec": { "devices": tainted } }));
    assert!(is_there(&play, "one"));
    play.run(14);
    assert!(is_there(&play, "one"), "27 of 30 seconds");
    play.run(5);
    assert!(!is_there(&play, "one"), "32 of 30 seconds");
}

/// A toleration for every effect keeps nobody where the reference answers, up to 1.37.
#[test]
fn the_reference_lets_tolerations_for_every_effect_count_since_1_38() {
    for (version, stays) in [(Version::V1_37, false), (Version::V1_38, true)] {
        let mut play = Play::with(Profile { mode: Mode::Reference, ..Profile::of(version) });
        play.apply(&user("one", ", tolerations: [{operator: Exists}]"));
        taint(&mut play, &ALL, "NoExecute");
        assert_eq!(is_there(&play, "one"), stays, "{version}");
    }
}

/// r_344: of all devices none may have a taint that is not tolerated.
#[test]
fn r_344_all_devices_must_be_untainted_or_tolerated() {
    let mut play = Play::new();
    taint(&mut play, &["gpu-3"], "NoSchedule");
    play.apply(&user("strict", ", allocationMode: All"));
    assert!(!is_placed(&play, "strict"));
    play.delete("Pod", "strict");
    play.apply(&user("lenient", ", allocationMode: All, tolerations: [{operator: Exists}]"));
    assert_eq!(devices(&play, "lenient").len(), 4);
}

/// r_345: admin access is no toleration.
#[test]
fn r_345_admin_access_is_not_exempt_from_taints() {
    let mut play = Play::new();
    play.apply("{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {resource.kubernetes.io/admin-access: 'true'}}}");
    taint(&mut play, &ALL, "NoSchedule");
    play.apply(&user("admin", ", adminAccess: true"));
    assert!(!is_placed(&play, "admin"));
    play.apply(&user("tolerant", ", adminAccess: true, tolerations: [{operator: Exists}]"));
    assert!(is_placed(&play, "tolerant"));
}

/// r_346: without the gate taints are not looked at.
#[test]
fn r_346_without_the_gate_taints_mean_nothing() {
    let mut play = Play::with(Profile {
        features: {
            let mut features = profile().features;
            features.device_taints = false;
            features
        },
        ..profile()
    });
    taint(&mut play, &ALL, "NoExecute");
    play.apply(&user("one", ""));
    assert!(is_placed(&play, "one") && is_there(&play, "one"));
}

/// r_301 r_348 r_350 r_353: a rule taints the devices that its selector names: by driver, pool and device in any combination.
#[test]
fn r_350_rules_select_by_driver_pool_and_device() {
    let selections = [
        ("driver: gpu.example.com", 4),
        ("pool: node-1", 4),
        ("driver: gpu.example.com, pool: node-1", 4),
        ("driver: gpu.example.com, pool: node-1, device: gpu-2", 1),
        ("device: gpu-1", 1),
        ("driver: other.example.com", 0),
        ("pool: node-2", 0),
        ("driver: gpu.example.com, device: gpu-9", 0),
    ];
    for (selector, count) in selections {
        let mut play = Play::new();
        play.apply(&rule("r", selector, "NoSchedule"));
        for name in ["a", "b", "c", "d"] {
            play.apply(&user(name, ""));
        }
        let placed = ["a", "b", "c", "d"].iter().filter(|name| is_placed(&play, name)).count();
        assert_eq!(4 - placed, count, "{selector}");
    }
}

/// r_349: as the page says, for the scheduler and for eviction.
#[test]
fn r_349_a_rule_without_selector_taints_nothing() {
    let mut play = Play::new();
    play.apply(&user("one", ""));
    play.apply(&rule("r", "", "NoExecute"));
    play.apply(&user("two", ""));
    assert!(is_there(&play, "one") && is_placed(&play, "two"));
}

/// r_351 r_352: by an expression, and by a class, which stands for the devices that its selectors match. 1.34 has both.
#[test]
fn r_351_rules_of_1_34_select_by_expression_and_class() {
    let selectors = [
        ("selectors: [{cel: {expression: device.driver == 'gpu.example.com'}}]", true),
        ("selectors: [{cel: {expression: device.driver == 'nic.example.com'}}]", false),
        ("deviceClassName: gpu", true),
        ("deviceClassName: nic", false),
    ];
    for (selector, taints) in selectors {
        let mut profile = Profile::of(Version::V1_34);
        profile.features.device_taints = true;
        profile.features.device_taint_rules = true;
        let mut play = Play::with(profile);
        play.apply("{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: nic}, spec: {selectors: [{cel: {expression: device.driver == 'nic.example.com'}}]}}");
        play.apply(&rule("r", selector, "NoSchedule"));
        play.apply(&user("one", ""));
        assert_eq!(!is_placed(&play, "one"), taints, "{selector}");
    }
}

/// r_351 r_352: such a rule evicts, too, and says whom; it follows the class.
#[test]
fn r_352_rules_of_1_34_evict_by_expression_and_class() {
    let selectors = [
        ("selectors: [{cel: {expression: device.driver == 'gpu.example.com'}}]", true),
        ("selectors: [{cel: {expression: device.driver == 'nic.example.com'}}]", false),
        ("selectors: [{cel: {expression: 'device.attributes[\"gpu.example.com\"].missing == 1'}}]", false),
        ("deviceClassName: gpu", true),
        ("deviceClassName: nic", false),
        ("deviceClassName: missing", false),
        ("deviceClassName: gpu, device: gpu-1", false),
    ];
    let nic = |driver: &str| {
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "nic" },
            "spec": { "selectors": [{ "cel": { "expression": format!("device.driver == '{driver}'") } }] },
        })
    };
    for (selector, evicts) in selectors {
        let mut profile = Profile::of(Version::V1_34);
        profile.features.device_taints = true;
        profile.features.device_taint_rules = true;
        let mut play = Play::with(profile);
        play.create(nic("nic.example.com")).unwrap();
        play.apply(&user("one", ""));
        play.apply(&rule("preview", selector, "None"));
        let rule_status = play.simulation.server().get(&crate::play::key("DeviceTaintRule", "preview")).unwrap();
        let message = rule_status["status"]["conditions"][0]["message"].as_str().unwrap().to_owned();
        assert_eq!(message.contains(" 1 pod would be evicted in 1 namespace "), evicts, "{selector}: {message}");
        play.apply(&rule("r", selector, "NoExecute"));
        assert_eq!(is_there(&play, "one"), !evicts, "{selector}");
        if selector == "deviceClassName: nic" {
            play.patch("DeviceClass", "nic", false, json!({ "spec": nic("gpu.example.com")["spec"] }));
            assert!(!is_there(&play, "one"), "the class selects the device now");
        }
    }
}

/// r_354: a rule can be changed and removed at any time, and that counts at once.
#[test]
fn r_354_a_rule_holds_as_long_as_it_exists() {
    let mut play = Play::new();
    play.apply(&rule("r", "driver: gpu.example.com", "NoSchedule"));
    play.apply(&user("one", ""));
    assert!(!is_placed(&play, "one"));
    play.patch("DeviceTaintRule", "r", false, json!({ "spec": { "deviceSelector": { "driver": "other" } } }));
    assert!(is_placed(&play, "one"));
    let selector = json!({ "spec": { "deviceSelector": { "driver": "gpu.example.com" } } });
    play.patch("DeviceTaintRule", "r", false, selector);
    play.apply(&user("two", ""));
    assert!(!is_placed(&play, "two"));
    play.delete("DeviceTaintRule", "r");
    assert!(is_placed(&play, "two"));
}

/// r_355: the page's example.
#[test]
fn r_355_a_rule_for_a_driver_evicts_all_its_pods() {
    let mut play = Play::new();
    play.apply(&user("one", ""));
    play.apply(&user("two", ""));
    play.apply(&pod("none", "resourceClaimName: nothing", ""));
    play.apply(&rule("r", "driver: gpu.example.com", "NoExecute"));
    play.run(5);
    assert!(!is_there(&play, "one") && !is_there(&play, "two") && is_there(&play, "none"));
    play.apply(&user("three", ""));
    assert!(!is_placed(&play, "three"));
}

/// r_013 r_023 r_074 r_077 r_140: all Pods of the PodGroup that a claim is reserved for go, found through the name that they carry.
#[test]
fn r_077_all_pods_of_the_reserved_pod_group_are_evicted() {
    let mut play = Play::new();
    play.apply(&crate::play::group("group", "basic: {}", crate::play::TEMPLATE));
    for name in ["m-1", "m-2", "m-3"] {
        play.apply(&pod(name, crate::play::TEMPLATE, "group"));
    }
    play.apply(&pod("stranger", crate::play::TEMPLATE, ""));
    let shared = play
        .simulation
        .server()
        .cluster()
        .claims()
        .values()
        .find(|claim| claim.metadata.controller().is_some_and(|owner| owner.kind == "PodGroup"));
    let device = shared.unwrap().status.allocation.as_ref().unwrap().devices.results[0].device.clone();
    taint(&mut play, &[device.as_str()], "NoExecute");
    play.run(5);
    for name in ["m-1", "m-2", "m-3"] {
        assert!(!is_there(&play, name), "{name}");
    }
    assert!(is_there(&play, "stranger"));
}

/// r_075: a member without a node stands in the index, too, and nobody stumbles over it.
#[test]
fn r_075_members_without_a_node_do_no_harm() {
    let mut play = Play::new();
    play.apply(&crate::play::group("group", "basic: {}", crate::play::TEMPLATE));
    play.apply(&pod("m-1", crate::play::TEMPLATE, "group"));
    let gated: Value = json!([{ "name": "example.com/wait" }]);
    let mut waiting = crate::play::documents(&pod("m-2", crate::play::TEMPLATE, "group")).remove(0);
    waiting["spec"]["schedulingGates"] = gated;
    play.create(waiting).unwrap();
    play.run(1);
    assert!(!is_placed(&play, "m-2"));
    taint(&mut play, &ALL, "NoExecute");
    play.run(5);
    assert!(!is_there(&play, "m-1"));
}

/// Where the feature is off the taint is dropped: that is said, and not that nobody would be evicted.
#[test]
fn a_taint_without_effect_is_told() {
    for (version, is_off) in [(Version::V1_35, true), (Version::V1_36, false)] {
        let mut engine = Engine::new(Profile::of(version), Limits::default());
        engine.apply(documents(WORLD).iter().map(Value::to_string).collect::<Vec<_>>().iter().map(String::as_str));
        let taints = json!([{ "devices": "gpu.example.com", "taint": "broken:NoExecute" }]);
        for inquiry in [json!({ "kind": "evictions", "taints": taints }), json!({ "kind": "whatIf", "taints": taints })]
        {
            let findings = engine.inquire(inquiry).err().unwrap_or_default();
            assert_eq!(
                findings.iter().any(|one| one.message.contains("`DRADeviceTaints` is off")),
                is_off,
                "{version}"
            );
        }
        let mut simulation = Simulation::of(engine.cluster(), Limits::default());
        let step = script(&json!([{ "taint": "gpu.example.com/node-1/gpu-0" }])).unwrap().remove(0);
        assert_eq!(simulation.perform(step.command).is_err(), is_off, "{version}");
        assert!(engine.inquire(json!({ "kind": "evictions" })).is_ok());
    }
}
