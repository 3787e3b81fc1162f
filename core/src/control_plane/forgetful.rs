//! The law of the scheduler's memory: one that forgets before every Pod which nodes refused which Pods decides the same.

use serde_json::{Value, json};

use super::{Component, Simulation};
use crate::allocate::Limits;
use crate::decision::Time;
use crate::finding::ObjectRef;
use crate::profile::{Mode, Profile, Version};

/// Requests of one history.
const STEPS: u64 = 60;

/// Numbers that look random, from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[usize::try_from(self.roll(list.len() as u64)).unwrap()].clone()
    }
}

#[test]
fn a_scheduler_that_forgets_refusals_decides_the_same() {
    let steps = 150;
    for seed in 0..steps {
        let mut profile = Profile::of([Version::All, Version::V1_37, Version::V1_36, Version::All][seed as usize % 4]);
        if seed % 8 == 3 {
            profile.mode = Mode::Reference;
        }
        play(seed, &profile);
    }
}

fn play(seed: u64, profile: &Profile) {
    let new = || Simulation::new(profile.clone(), Limits::default(), Time::from_seconds(1_750_000_000));
    let (mut one, mut other) = (new(), new());
    let mut dice = Dice(seed);
    let mut story = Vec::new();
    for object in world() {
        both(&mut one, &mut other, |simulation| request(simulation, &Request::Create(object.clone())));
    }
    for _ in 0..STEPS {
        let requests: Vec<Request> = (0..=dice.roll(4)).flat_map(|_| any(&mut dice)).collect();
        for wanted in &requests {
            both(&mut one, &mut other, |simulation| request(simulation, wanted));
        }
        story.push(format!("{requests:?}"));
        let until = one.now().plus_seconds(dice.roll(3).try_into().unwrap());
        one.run_until(until);
        run_forgetting(&mut other, until);
        let told = || format!("seed {seed}, {:?} {:?}:\n{}", profile.version, profile.mode, story.join("\n"));
        assert_eq!(places(&one), places(&other), "{}", told());
        assert_eq!(one.writes(), other.writes(), "{}", told());
    }
}

fn both(one: &mut Simulation, other: &mut Simulation, mut act: impl FnMut(&mut Simulation)) {
    act(one);
    act(other);
}

/// [`Simulation::run_until`] with a scheduler that forgets.
fn run_forgetting(simulation: &mut Simulation, until: Time) {
    for _ in 0..20_000 {
        simulation.hear();
        simulation.book.forget_refusals();
        if simulation.work_once() {
            continue;
        }
        let Some(next) = simulation.next_work().filter(|next| *next <= until) else { break };
        simulation.now = simulation.now.max(next);
    }
    simulation.now = simulation.now.max(until);
}

/// What each Pod and claim has.
fn places(simulation: &Simulation) -> Vec<String> {
    let cluster = simulation.server().cluster();
    let pods = cluster
        .pods()
        .iter()
        .map(|(key, pod)| format!("{key:?} {} {:?}", pod.spec.node_name, pod.status.nominated_node_name));
    let claims = cluster
        .claims()
        .iter()
        .map(|(key, claim)| format!("{key:?} {:?} {:?}", claim.status.allocation, claim.status.reserved_for));
    pods.chain(claims).collect()
}

#[derive(Clone, Debug)]
enum Request {
    Create(Value),
    /// Replaces an object or creates it.
    Put(Value),
    Delete(&'static str, String),
    Restart,
}

fn request(simulation: &mut Simulation, request: &Request) {
    let now = simulation.now();
    let key = |kind: &str, name: &str| {
        let namespace = if matches!(kind, "Pod" | "ResourceClaim" | "PodGroup") { "ns" } else { "" };
        ObjectRef { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() }
    };
    match request {
        Request::Create(value) => drop(simulation.server_mut().create(value.clone(), now)),
        Request::Put(value) => {
            let known = key(value["kind"].as_str().unwrap(), value["metadata"]["name"].as_str().unwrap());
            match simulation.server().get(&known) {
                None => drop(simulation.server_mut().create(value.clone(), now)),
                Some(mut found) => {
                    for field in ["spec", "status"] {
                        if let Some(new) = value.get(field) {
                            found[field] = new.clone();
                        }
                    }
                    found["metadata"]["labels"] = value["metadata"]["labels"].clone();
                    for status in [false, true] {
                        // An update changes the version, which the next one must name.
                        let current = simulation.server().get(&known).unwrap()["metadata"]["resourceVersion"].clone();
                        found["metadata"]["resourceVersion"] = current;
                        drop(simulation.server_mut().update(found.clone(), status, now));
                    }
                }
            }
        }
        Request::Delete(kind, name) => drop(simulation.server_mut().delete(&key(kind, name), "", Some(0), now)),
        Request::Restart => {
            let profile = simulation.profile(Component::Scheduler).clone();
            simulation.restart(Component::Scheduler, profile);
        }
    }
}

/// Something that somebody may ask of the server.
fn any(dice: &mut Dice) -> Vec<Request> {
    let index = dice.roll(12);
    let node = format!("node-{}", dice.roll(6));
    match dice.roll(16) {
        0..=5 => {
            let name = format!("pod-{}", dice.roll(40));
            vec![Request::Create(pod(dice, &name, None))]
        }
        6..=8 => vec![Request::Delete("Pod", format!("pod-{}", dice.roll(40)))],
        9 => vec![Request::Put(self::node(dice, &node))],
        10 => vec![Request::Put(slice(dice, &node))],
        11 => match dice.roll(6) {
            0 => vec![Request::Delete("Node", node)],
            1 => vec![Request::Delete("ResourceSlice", format!("{node}-gpu"))],
            2 => vec![Request::Delete("ResourceSlice", "network".to_owned())],
            3 => vec![Request::Put(network(dice))],
            4 => vec![Request::Delete("DeviceClass", "gpu".to_owned())],
            _ => vec![Request::Restart],
        },
        12 => {
            let selector = dice.pick(&[json!({ "pool": node }), json!({ "device": "gpu-0" }), json!({})]);
            vec![Request::Put(json!({
                "apiVersion": "resource.k8s.io/v1alpha3", "kind": "DeviceTaintRule", "metadata": { "name": format!("rule-{}", index % 2) },
                "spec": { "deviceSelector": selector, "taint": { "key": "sick", "effect": dice.pick(&["NoSchedule", "NoExecute"]) } },
            }))]
        }
        13 => vec![
            Request::Delete("DeviceTaintRule", format!("rule-{}", index % 2)),
            Request::Put(class("gpu", dice.roll(2) == 0)),
        ],
        14 => {
            let group = format!("group-{}", index % 4);
            let members = dice.roll(4) + 1;
            let claims = if dice.roll(2) == 0 {
                json!([{ "name": "shared", "resourceClaimTemplateName": "one" }])
            } else {
                json!([])
            };
            let api = dice.pick(&["scheduling.k8s.io/v1alpha2", "scheduling.k8s.io/v1alpha3"]);
            let mut all = vec![Request::Create(json!({
                "apiVersion": api, "kind": "PodGroup", "metadata": { "name": group, "namespace": "ns" },
                "spec": { "schedulingPolicy": { "gang": { "minCount": members } }, "resourceClaims": claims },
            }))];
            all.extend(
                (0..members)
                    .map(|member| Request::Create(pod(dice, &format!("{group}-{member}"), Some((&group, &claims))))),
            );
            all
        }
        _ => (0..4).map(|member| Request::Delete("Pod", format!("group-{}-{member}", index % 4))).collect(),
    }
}

fn world() -> Vec<Value> {
    let mut dice = Dice(7);
    let exact = |fields: Value| {
        let mut exact = json!({ "deviceClassName": "gpu" });
        exact.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!({ "requests": [{ "name": "r", "exactly": exact }] })
    };
    let sub = |name: &str, count: u64| json!({ "name": name, "deviceClassName": "gpu", "count": count });
    let shapes = [
        ("one", exact(json!({}))),
        ("two", exact(json!({ "count": 2 }))),
        ("all", exact(json!({ "allocationMode": "All" }))),
        ("third", exact(json!({ "capacity": { "requests": { "milli": "300" } } }))),
        ("most", exact(json!({ "capacity": { "requests": { "milli": "700" } } }))),
        (
            "fast",
            exact(
                json!({ "selectors": [{ "cel": { "expression": "device.attributes['d.example.com'].model == 'fast'" } }] }),
            ),
        ),
        ("tolerant", exact(json!({ "tolerations": [{ "key": "sick", "operator": "Exists" }] }))),
        ("either", json!({ "requests": [{ "name": "r", "firstAvailable": [sub("many", 3), sub("few", 1)] }] })),
        (
            "same",
            json!({
                "requests": [{ "name": "r", "exactly": { "deviceClassName": "gpu", "count": 2 } }],
                "constraints": [{ "matchAttribute": "d.example.com/model" }],
            }),
        ),
        ("link", json!({ "requests": [{ "name": "r", "exactly": { "deviceClassName": "net" } }] })),
    ];
    let template = |(name, devices): &(&str, Value)| {
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": { "name": name, "namespace": "ns" },
            "spec": { "spec": { "devices": devices } },
        })
    };
    let mut objects: Vec<Value> = shapes.iter().map(template).collect();
    objects.extend([class("gpu", false), class("net", false), network(&mut dice)]);
    for index in 0..5 {
        let name = format!("node-{index}");
        objects.push(node(&mut dice, &name));
        objects.push(slice(&mut dice, &name));
    }
    objects
}

fn class(name: &str, is_strict: bool) -> Value {
    let extra = if is_strict { " && device.attributes['d.example.com'].model == 'slow'" } else { "" };
    let driver = if name == "gpu" { "d.example.com" } else { "n.example.com" };
    let resource = (name == "gpu").then_some("example.com/gpu");
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": name },
        "spec": { "extendedResourceName": resource, "selectors": [{ "cel": { "expression": format!("device.driver == '{driver}'{extra}") } }] },
    })
}

fn node(dice: &mut Dice, name: &str) -> Value {
    let taints =
        if dice.roll(6) == 0 { json!([{ "key": "no", "value": "", "effect": "NoSchedule" }]) } else { json!([]) };
    let cpu = (dice.roll(3) * 2 + 2).to_string();
    let mut allocatable = json!({ "cpu": cpu, "memory": "16Gi", "pods": "6" });
    if dice.roll(4) == 0 {
        allocatable["example.com/gpu"] = json!("2");
    }
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": { "name": name, "labels": { "zone": dice.pick(&["a", "b"]), "link": dice.pick(&["yes", "no"]) } },
        "spec": { "taints": taints }, "status": { "allocatable": allocatable },
    })
}

fn slice(dice: &mut Dice, node: &str) -> Value {
    let shares = dice.roll(2) == 0;
    let devices: Vec<Value> = (0..dice.roll(3) + 1)
        .map(|index| {
            let taints = if dice.roll(8) == 0 { json!([{ "key": "sick", "effect": "NoSchedule" }]) } else { json!([]) };
            json!({
                "name": format!("gpu-{index}"), "allowMultipleAllocations": shares, "taints": taints,
                "attributes": { "model": { "string": dice.pick(&["fast", "slow"]) } }, "capacity": { "milli": { "value": "1000" } },
            })
        })
        .collect();
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": format!("{node}-gpu") },
        "spec": { "driver": "d.example.com", "nodeName": node, "devices": devices,
            "pool": { "name": node, "generation": 1, "resourceSliceCount": 1 } },
    })
}

/// Devices for some nodes, or for all of them.
fn network(dice: &mut Dice) -> Value {
    let devices: Vec<Value> = (0..dice.roll(3) + 1).map(|index| json!({ "name": format!("net-{index}") })).collect();
    let mut spec = json!({ "driver": "n.example.com", "devices": devices, "pool": { "name": "net", "generation": 1, "resourceSliceCount": 1 } });
    if dice.roll(2) == 0 {
        spec["allNodes"] = json!(true);
    } else {
        spec["nodeSelector"] = json!({ "nodeSelectorTerms": [{ "matchExpressions": [{ "key": "link", "operator": "In", "values": ["yes"] }] }] });
    }
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "network" }, "spec": spec })
}

fn pod(dice: &mut Dice, name: &str, group: Option<(&str, &Value)>) -> Value {
    let mut claims = Vec::new();
    let shapes = ["one", "two", "all", "third", "most", "fast", "tolerant", "either", "same", "link"];
    for index in 0..dice.pick(&[0, 1, 1, 1, 2]) {
        claims.push(json!({ "name": format!("c{index}"), "resourceClaimTemplateName": dice.pick(&shapes) }));
    }
    claims.extend(group.into_iter().flat_map(|(_, shared)| shared.as_array().unwrap().clone()));
    let used: Vec<Value> = claims.iter().map(|claim| json!({ "name": claim["name"] })).collect();
    let mut requests =
        json!({ "cpu": dice.pick(&["100m", "1", "1", "1500m", "2"]), "memory": dice.pick(&["1Gi", "4Gi"]) });
    if dice.roll(6) == 0 {
        requests["example.com/gpu"] = json!("1");
    }
    let limits = requests.clone();
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "ns" },
        "spec": { "resourceClaims": claims, "priority": dice.roll(2), "containers": [{ "name": "main", "image": "i",
            "resources": { "claims": used, "requests": requests, "limits": limits } }] },
    });
    if dice.roll(5) == 0 {
        pod["spec"]["nodeSelector"] = json!({ "zone": dice.pick(&["a", "b"]) });
    }
    if dice.roll(5) == 0 {
        pod["spec"]["tolerations"] = json!([{ "key": "no", "operator": "Exists" }]);
    }
    if let Some((group, _)) = group {
        pod["spec"]["schedulingGroup"] = json!({ "podGroupName": group });
    }
    pod
}
