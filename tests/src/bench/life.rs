//! Many gangs at once: the life of their claims and Pods from the first write until nothing changes any more.

use std::env;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use apportion::{Door, HostLimits, Native, Runner};
use apportion_core::allocate::Limits;
use apportion_core::profile::Profile;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Members of a gang, which share a claim for one device.
const MEMBERS: u64 = 10;

/// Gangs, and nodes with eight devices each.
const GANGS: u64 = 1_000;
const NODES: u64 = 1_000;

/// What was measured; times in seconds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Life {
    /// Pods.
    pub pods: u64,
    /// PodGroups.
    pub gangs: u64,
    /// Nodes.
    pub nodes: u64,
    /// Whether Pods ask for CPU, of which six gangs leave too little on a node for a seventh, but enough for some of its members.
    pub has_cpu: bool,
    /// Reading everything.
    pub read: f64,
    /// Playing it.
    pub play: f64,
}

/// Measures in a child process.
///
/// # Errors
///
/// When the process breaks.
pub fn in_child(engine: &str, has_cpu: bool) -> Result<Life> {
    let mut child = Command::new(env::current_exe()?);
    child.args(["--life", engine]).args(has_cpu.then_some("--cpu"));
    let output = child.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "playing gangs through the {engine} failed");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Measures in this process.
///
/// # Errors
///
/// When the engine is unknown or breaks, or when a Pod has no node in the end.
pub fn measure(engine: &str, has_cpu: bool) -> Result<Life> {
    let (profile, limits) = (Profile::default(), Limits::default());
    let mut door: Box<dyn Door> = match engine {
        "native" => Box::new(Native::new(profile, limits)),
        "component" => Box::new(Runner::new()?.cluster(&profile, limits, HostLimits::default())?),
        other => bail!("no engine `{other}`: choose native or component"),
    };
    let texts: Vec<String> = objects(has_cpu).iter().map(Value::to_string).collect();
    let start = Instant::now();
    door.apply(&texts)?;
    let read = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let report = door.run()?;
    let play = start.elapsed().as_secs_f64();
    let placed = report.pods.iter().filter(|pod| pod.node.is_some()).count() as u64;
    ensure!(placed == GANGS * MEMBERS, "{placed} Pods have a node");
    Ok(Life { pods: placed, gangs: GANGS, nodes: NODES, has_cpu, read, play })
}

fn objects(has_cpu: bool) -> Vec<Value> {
    let gpu = json!({ "name": "gpu", "resourceClaimTemplateName": "one" });
    let mut objects = vec![
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" },
            "spec": { "selectors": [{ "cel": { "expression": "device.driver == 'gpu.example.com'" } }] },
        }),
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": { "name": "one", "namespace": "ml" },
            "spec": { "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": "gpu" } }] } } },
        }),
    ];
    for index in 0..NODES {
        let name = format!("node-{index:04}");
        let devices: Vec<Value> = (0..8).map(|device| json!({ "name": format!("gpu-{device}") })).collect();
        objects.push(json!({
            "apiVersion": "v1", "kind": "Node", "metadata": { "name": name },
            "status": { "allocatable": { "cpu": "64", "memory": "512Gi", "pods": "110" } },
        }));
        objects.push(json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": format!("{name}-gpu") },
            "spec": {
                "driver": "gpu.example.com", "nodeName": name, "devices": devices,
                "pool": { "name": name, "generation": 1, "resourceSliceCount": 1 },
            },
        }));
    }
    for index in 0..GANGS {
        let name = format!("gang-{index:04}");
        objects.push(json!({
            "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
            "metadata": { "name": name, "namespace": "ml" },
            "spec": { "schedulingPolicy": { "gang": { "minCount": MEMBERS } }, "resourceClaims": [gpu] },
        }));
        for member in 0..MEMBERS {
            let requests = if has_cpu { json!({ "cpu": "1" }) } else { json!({}) };
            let resources = json!({ "claims": [{ "name": "gpu" }], "requests": requests });
            objects.push(json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": { "name": format!("{name}-{member}"), "namespace": "ml" },
                "spec": {
                    "schedulingGroup": { "podGroupName": name }, "resourceClaims": [gpu],
                    "containers": [{ "name": "main", "image": "registry.example/train:1", "resources": resources }],
                },
            }));
        }
    }
    objects
}
