//! Parts that are off by default, in a control plane without their twins: the same settled states.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, TWINS};
use crate::deployment::install;
use crate::objects::{claim, class, namespace, node, pod, slice};
use crate::program::Running;
use crate::view::view;

/// How long nothing must change for a state to be settled.
const QUIET: Duration = Duration::from_secs(6);

/// How long a state may take to come.
const PATIENCE: Duration = Duration::from_secs(40);

/// What is done in one step.
type Step = (&'static str, fn(&ControlPlane));

const STEPS: [Step; 12] = [
    ("Pods with a claim of their own and with one that they share", |plane| {
        let requests = &plane.requests;
        requests.create(&namespace("ml", json!({})));
        requests.create(&class("gpu", "device.driver == \"gpu.example.com\""));
        let (bare, says) = node("node-a");
        requests.create(&bare);
        requests.set_status(&bare, says);
        let devices = json!([{ "name": "gpu-0" }, { "name": "gpu-1" }, { "name": "gpu-2" }, { "name": "gpu-3" }]);
        requests.create(&slice("node-a", "gpu.example.com", devices));
        requests.create(&template("gpu-template"));
        requests.create(&with_template("one", "gpu-template"));
        requests.create(&claim("ml", "shared", json!({ "requests": [request()] })));
        for name in ["shared-1", "shared-2"] {
            requests.create(&pod("ml", name, json!([{ "name": "gpu", "resourceClaimName": "shared" }])));
        }
    }),
    ("they run", |plane| {
        for name in ["one", "shared-1", "shared-2"] {
            phase(plane, name, "Running");
        }
    }),
    ("one of those who share is deleted", |plane| plane.requests.delete(&pod("ml", "shared-1", json!([])))),
    ("the other one ends", |plane| phase(plane, "shared-2", "Succeeded")),
    ("the Pod with its own claim ends", |plane| phase(plane, "one", "Succeeded")),
    ("a Pod whose template does not exist", |plane| {
        drop(plane.requests.create(&with_template("early", "late-template")))
    }),
    ("the template comes", |plane| drop(plane.requests.create(&template("late-template")))),
    ("a gang that shares a claim", |plane| {
        plane.requests.create(&json!({
            "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": { "name": "gang", "namespace": "ml" },
            "spec": {
                "schedulingPolicy": { "gang": { "minCount": 2 } },
                "resourceClaims": [{ "name": "gpu", "resourceClaimTemplateName": "gpu-template" }],
            },
        }));
        for name in ["g-1", "g-2"] {
            let mut member = with_template(name, "gpu-template");
            member["spec"]["schedulingGroup"] = json!({ "podGroupName": "gang" });
            plane.requests.create(&member);
        }
    }),
    ("the group is deleted while its Pods run", |plane| {
        phase(plane, "g-1", "Running");
        phase(plane, "g-2", "Running");
        plane.requests.delete(&group());
    }),
    ("its Pods end", |plane| {
        phase(plane, "g-1", "Succeeded");
        plane.requests.delete(&pod("ml", "g-2", json!([])));
    }),
    ("the devices are tainted", |plane| {
        phase(plane, "early", "Running");
        plane.requests.create(&json!({
            "apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": { "name": "broken" },
            "spec": {
                "taint": { "key": "example.com/broken", "value": "v", "effect": "NoExecute" },
                "deviceSelector": { "driver": "gpu.example.com", "pool": "node-a" },
            },
        }));
    }),
    ("the taint goes and the namespace is deleted", |plane| {
        let rule = json!({ "apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": { "name": "broken" } });
        plane.requests.delete(&rule);
        plane.requests.delete(&namespace("ml", json!({})));
    }),
];

fn request() -> Value {
    json!({ "name": "gpu", "exactly": { "deviceClassName": "gpu" } })
}

fn template(name: &str) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": { "name": name, "namespace": "ml" },
        "spec": { "metadata": { "labels": { "made": "here" } }, "spec": { "devices": { "requests": [request()] } } },
    })
}

fn with_template(name: &str, template: &str) -> Value {
    pod("ml", name, json!([{ "name": "gpu", "resourceClaimTemplateName": template }]))
}

fn group() -> Value {
    json!({ "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": { "name": "gang", "namespace": "ml" } })
}

/// What a kubelet would say. A Pod must have a node for that.
fn phase(plane: &ControlPlane, name: &str, phase: &str) {
    plane.until("the Pod to be placed", 60, |plane| {
        plane.requests.get(&pod("ml", name, json!([])))?["spec"]["nodeName"].as_str().map(|_| ())
    });
    plane.requests.set_status(&pod("ml", name, json!([])), json!({ "phase": phase }));
}

fn texts(list: &Value, pointer: &str) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    let mut texts: Vec<String> = items.filter_map(|one| Some(one.pointer(pointer)?.as_str()?.to_owned())).collect();
    texts.sort();
    texts
}

fn state(plane: &ControlPlane) -> Value {
    let mut state = view(&|api_version, kind| plane.requests.list(api_version, kind));
    state["namespace"] = json!(plane.requests.get(&namespace("ml", json!({}))).is_some());
    state
}

/// The state once nothing changes any more.
fn settled(plane: &ControlPlane) -> Value {
    let mut last = (state(plane), Instant::now());
    plane.until("a settled state", 60, |plane| {
        let now = state(plane);
        if now != last.0 {
            last = (now, Instant::now());
        }
        (last.1.elapsed() > QUIET).then(|| last.0.clone())
    })
}

/// Waits for a state; the difference if it does not come.
fn differs(plane: &ControlPlane, wanted: &Value) -> Option<Value> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if state(plane) == *wanted {
            return None;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Some(state(plane))
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn parts_that_are_off_by_default_do_what_their_twins_do() {
    let theirs: Vec<Value> = {
        let plane = ControlPlane::with("with-twins", &TWINS);
        let settle = |(_, step): &Step| {
            step(&plane);
            settled(&plane)
        };
        STEPS.iter().map(settle).collect()
    };
    let plane = ControlPlane::with("without-twins", &[]);
    install(&plane);
    let running = Running::start(&plane, "claims,podgroup-protection,taint-eviction", &[]);
    plane.until("the lease", 30, |_| running.leads().then_some(()));
    for ((title, step), theirs) in STEPS.iter().zip(&theirs) {
        step(&plane);
        let ours = differs(&plane, theirs);
        assert!(ours.is_none(), "{title}\n  ours {:#}\n  theirs {theirs:#}", ours.unwrap_or_default());
    }
    assert_eq!(running.metric("apportion_writes_total", &["code=\"403\""]), 0.0, "the roles are enough");
    assert_eq!(running.metric("apportion_component_traps_total", &[]), 0.0);
    println!("{} steps, {} writes, {} MiB", STEPS.len(), running.writes(), running.memory());
}

/// Upstream's controller takes such a reservation away and gives it back without end.
#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn a_pod_that_ends_gives_its_reservation_up_for_good() {
    let plane = ControlPlane::with("shares", &[]);
    install(&plane);
    let running = Running::start(&plane, "claims", &[]);
    let (_, make) = STEPS[0];
    make(&plane);
    phase(&plane, "shared-1", "Running");
    phase(&plane, "shared-2", "Running");
    phase(&plane, "shared-1", "Succeeded");
    let reserved = |plane: &ControlPlane| {
        let claim = plane.requests.get(&claim("ml", "shared", json!({})))?;
        Some(texts(&claim["status"]["reservedFor"], "/name"))
    };
    plane.until("the reservation to go", 30, |plane| (reserved(plane)? == ["shared-2"]).then_some(()));
    let before = running.writes();
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!((running.writes(), reserved(&plane).unwrap()), (before, vec!["shared-2".to_owned()]));
}
