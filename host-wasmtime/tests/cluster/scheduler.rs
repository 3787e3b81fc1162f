//! Side by side with kube-scheduler: for the same state, the same devices.

use std::time::{Duration, Instant};

use apportion::{Cluster, Door, HostLimits, Runner};
use apportion_core::allocate::{Limits, Question};
use apportion_core::engine::read_claim_value;
use apportion_core::finding::ObjectRef;
use apportion_core::profile::{Mode, Profile, Version};
use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, GATES};
use crate::objects::{claim, namespace, node, pod};
use crate::world::{Dice, classes, devices, slices};

/// Pods that are made one after the other.
const PODS: usize = 300;

const NODES: [&str; 4] = ["node-a", "node-b", "node-c", "node-d"];

/// Ours, of the version that runs, with its defects.
fn ours() -> Cluster {
    let mut profile = Profile { mode: Mode::Reference, ..Profile::of(Version::V1_36) };
    for gate in GATES {
        let (name, on) = gate.split_once('=').map_or((gate, true), |(name, on)| (name, on == "true"));
        profile.features.set(name, on);
    }
    Runner::new().unwrap().cluster(&profile, Limits::default(), HostLimits::default()).unwrap()
}

fn take(ours: &mut Cluster, objects: &[Value]) {
    let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
    let findings = ours.apply(&texts).unwrap().concat();
    assert!(findings.is_empty(), "{findings:?}");
}

/// A Pod that was placed, with its claims.
struct Placed {
    pod: Value,
    claims: Vec<Value>,
}

fn remove(plane: &ControlPlane, pod: &Value, claims: &[Value]) {
    plane.requests.delete(pod);
    for claim in claims {
        plane.requests.delete(claim);
    }
    for claim in claims {
        plane.until("the claim to go", 60, |plane| plane.requests.get(claim).is_none().then_some(()));
    }
    // The scheduler hears of it a moment later than whoever asks.
    std::thread::sleep(Duration::from_millis(50));
}

/// What the scheduler made of a Pod.
enum Verdict {
    Node(String),
    Unschedulable,
    /// An error, in its words: on some node it could not be decided.
    Error(String),
}

fn scheduled(plane: &ControlPlane, pod: &Value) -> Verdict {
    plane.until("the scheduler", 60, |plane| {
        let found = plane.requests.get(pod)?;
        if let Some(node) = found["spec"]["nodeName"].as_str() {
            return Some(Verdict::Node(node.to_owned()));
        }
        let condition = found["status"]["conditions"].as_array()?.iter().find(|one| one["type"] == "PodScheduled")?;
        match condition["reason"].as_str()? {
            "Unschedulable" => Some(Verdict::Unschedulable),
            "SchedulerError" => Some(Verdict::Error(condition["message"].as_str()?.to_owned())),
            _ => None,
        }
    })
}

/// What two allocations of the same devices agree on: ids of shares are drawn at random.
fn comparable(allocation: &Value) -> Value {
    let mut allocation = allocation.clone();
    if let Some(map) = allocation.as_object_mut() {
        map.remove("allocationTimestamp");
    }
    let results = allocation.pointer_mut("/devices/results").and_then(Value::as_array_mut);
    for result in results.into_iter().flatten().filter_map(Value::as_object_mut) {
        if result.remove("shareID").is_some() {
            result.insert("shareID".to_owned(), json!("some"));
        }
    }
    allocation
}

/// A Pod that both were asked about.
struct Round {
    placed: Placed,
    theirs: Verdict,
    /// How ours answers otherwise.
    difference: Option<String>,
}

/// Makes a Pod with claims, and asks kube-scheduler and ours.
fn ask_both(plane: &ControlPlane, ours: &mut Cluster, number: usize, specs: &[Value]) -> Round {
    let claims: Vec<Value> = specs.iter().map(|claim| plane.requests.create(claim)).collect();
    let entry = |(index, claim): (usize, &Value)| json!({ "name": format!("e-{index}"), "resourceClaimName": claim["metadata"]["name"] });
    let entries: Vec<Value> = claims.iter().enumerate().map(entry).collect();
    let made = plane.requests.create(&pod("ml", &format!("p-{number}"), json!(entries)));
    let theirs = scheduled(plane, &made);
    let mut of_node = |node: &str| {
        let claims = claims.iter().map(|claim| read_claim_value(claim.clone()).unwrap()).collect();
        ours.allocate(&Question { claims, nodes: vec![node.to_owned()], ..Question::default() }).unwrap().to_json()
    };
    let difference = match &theirs {
        Verdict::Node(node) => {
            let own = of_node(node);
            let given: Vec<Value> = claims
                .iter()
                .map(|claim| comparable(&plane.requests.get(claim).unwrap()["status"]["allocation"]))
                .collect();
            let allocations: Vec<Value> = own["allocations"].as_array().into_iter().flatten().map(comparable).collect();
            let text = || format!(" on {node}: {}\n  theirs {}\n  ours {own}", json!(claims), json!(given));
            (given != allocations).then(text)
        }
        Verdict::Unschedulable => {
            let own = NODES.map(&mut of_node);
            let is_same = own.iter().all(|own| own["status"] == "none");
            (!is_same).then(|| format!(": {}\n  theirs unschedulable\n  ours {}", json!(claims), json!(own)))
        }
        Verdict::Error(message) => {
            let own = NODES.map(&mut of_node);
            let says =
                |own: &Value| own["reference"].as_str().is_some_and(|text| !text.is_empty() && message.contains(text));
            (!own.iter().any(says)).then(|| format!(": {}\n  theirs {message}\n  ours {}", json!(claims), json!(own)))
        }
    };
    Round { placed: Placed { pod: made, claims }, theirs, difference }
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn the_scheduler_takes_the_devices_that_we_would() {
    // Nobody evicts Pods from the devices that were given to them.
    let plane = ControlPlane::with("scheduler", &["resourceclaim-controller", "podgroup-protection-controller"]);
    let mut ours = ours();
    let mut dice = Dice::new(20_260_901);
    plane.requests.create(&namespace("ml", json!({})));
    for name in NODES {
        let (bare, says) = node(name);
        plane.requests.create(&bare);
        plane.requests.set_status(&bare, says);
        take(&mut ours, &[plane.requests.get(&bare).unwrap()]);
    }
    let mut facts = classes();
    facts.extend(NODES.iter().flat_map(|node| slices(node, &mut dice)));
    for object in &facts {
        take(&mut ours, &[plane.requests.create(object)]);
    }
    std::thread::sleep(Duration::from_secs(2));

    let mut placed: Vec<Placed> = Vec::new();
    let (mut fitted, mut unfitted, mut errors, mut requests) = (0, 0, 0, 0);
    let mut differences = Vec::new();
    let start = Instant::now();
    for number in 0..PODS {
        while placed.len() > 12 || (!placed.is_empty() && dice.chance(35)) {
            let old = placed.swap_remove(dice.below(placed.len()));
            remove(&plane, &old.pod, &old.claims);
            for claim in &old.claims {
                let name = claim["metadata"]["name"].as_str().unwrap().to_owned();
                let namespace = "ml".to_owned();
                assert!(ours.delete(&ObjectRef { kind: "ResourceClaim".to_owned(), namespace, name }).unwrap());
            }
        }
        let count = 1 + dice.below(2);
        let specs: Vec<Value> =
            (0..count).map(|index| claim("ml", &format!("c-{number}-{index}"), devices(&mut dice))).collect();
        requests +=
            specs.iter().map(|claim| claim["spec"]["devices"]["requests"].as_array().unwrap().len()).sum::<usize>();
        let mut round = ask_both(&plane, &mut ours, number, &specs);
        if round.difference.is_some() {
            // Perhaps the scheduler had not heard yet that devices are free.
            remove(&plane, &round.placed.pod, &round.placed.claims);
            std::thread::sleep(Duration::from_secs(3));
            round = ask_both(&plane, &mut ours, number, &specs);
        }
        differences.extend(round.difference.map(|text| format!("p-{number}{text}")));
        match round.theirs {
            Verdict::Node(_) => {
                fitted += 1;
                let after: Vec<Value> =
                    round.placed.claims.iter().map(|claim| plane.requests.get(claim).unwrap()).collect();
                take(&mut ours, &after);
                placed.push(round.placed);
                continue;
            }
            Verdict::Unschedulable => unfitted += 1,
            Verdict::Error(_) => errors += 1,
        }
        remove(&plane, &round.placed.pod, &round.placed.claims);
    }
    println!(
        "{PODS} Pods with {requests} requests: {fitted} placed, {unfitted} not, {errors} errors, {} differences, {:.0} s",
        differences.len(),
        start.elapsed().as_secs_f64()
    );
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(fitted > PODS / 3 && unfitted > PODS / 30, "the mixture tells something");
}
