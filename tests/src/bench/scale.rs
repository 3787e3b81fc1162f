//! A large cluster: read, filled claim by claim, changed. Runs in a process of its own, so that its peak memory is that
//! of the engine and of nothing else.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use anyhow::{Result, bail, ensure};
use apportion::{Door, HostLimits, Native, Runner};
use apportion_core::allocate::{ClaimNames, KnownQuestion, Limits, Outcome};
use apportion_core::finding::Severity;
use apportion_core::profile::{Profile, Version};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::forks::{self, Forks};
use super::shapes;

/// Texts handed over in one call while the cluster is read.
const BATCH: usize = 500;

/// Claims stop after this long, and the rate is that of the claims placed by then.
const PATIENCE: Duration = Duration::from_secs(120);

/// How large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Nodes, with two slices of eight devices each.
    pub nodes: u64,
    /// One-device claims.
    pub claims: u64,
}

/// What was measured; times in seconds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Scale {
    /// Nodes.
    pub nodes: u64,
    /// Slices.
    pub slices: u64,
    /// Length of all texts, in bytes.
    pub bytes: u64,
    /// Reading and indexing everything.
    pub read: f64,
    /// Peak resident memory of the process after that, in bytes; 0 where the system does not tell.
    pub peak: u64,
    /// The first question, with everything cold.
    pub first_question: f64,
    /// Claims placed.
    pub placed: u64,
    /// All questions together.
    pub asking: f64,
    /// All events that put a claim into the cluster together.
    pub taking: f64,
    /// Claims per second in ten equal parts of the run.
    pub rates: Vec<f64>,
    /// Taking in a slice with a changed device, on average.
    pub changed_slice: f64,
    /// The question after such a change, on average.
    pub question_after: f64,
    /// The same question without a change before it, on average.
    pub question_warm: f64,
    /// Forks of it, of the native core.
    pub forks: Option<Forks>,
}

impl Scale {
    /// Claims per second.
    pub fn rate(&self) -> f64 {
        self.placed as f64 / (self.asking + self.taking)
    }
}

/// Measures in a child process.
///
/// # Errors
///
/// When the process breaks.
pub fn in_child(engine: &str, size: Size) -> Result<Scale> {
    let output = Command::new(env::current_exe()?)
        .args(["--scale", engine, "--nodes", &size.nodes.to_string(), "--claims", &size.claims.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "measuring {} nodes through the {engine} failed", size.nodes);
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// An engine by its name in reports, with an empty cluster.
pub(super) fn door(engine: &str, profile: Profile) -> Result<Box<dyn Door>> {
    let runner = match engine {
        "native" => return Ok(Box::new(Native::new(profile, Limits::default()))),
        "component" => Runner::new()?,
        "limited component" => Runner::timed()?,
        other => bail!("no engine `{other}`: choose native, component or limited component"),
    };
    Ok(Box::new(runner.cluster(&profile, Limits::default(), HostLimits::default())?))
}

/// Measures in this process.
///
/// # Errors
///
/// When the engine is unknown or breaks, or when a claim that fits is not placed where it must be.
pub fn measure(engine: &str, size: Size) -> Result<Scale> {
    let profile = Profile::of(Version::V1_36);
    let mut door = door(engine, profile)?;
    let mut scale = Scale {
        nodes: size.nodes,
        slices: size.nodes * 2,
        bytes: 0,
        read: 0.0,
        peak: 0,
        first_question: 0.0,
        placed: 0,
        asking: 0.0,
        taking: 0.0,
        rates: Vec::new(),
        changed_slice: 0.0,
        question_after: 0.0,
        question_warm: 0.0,
        forks: None,
    };
    read(door.as_mut(), &mut scale)?;
    scale.peak = peak_memory().unwrap_or(0);
    place(door.as_mut(), size, &mut scale)?;
    change(door.as_mut(), &mut scale)?;
    drop(door);
    if engine == "native" {
        scale.forks = Some(forks::measure(size.nodes)?);
    }
    Ok(scale)
}

fn read(door: &mut dyn Door, scale: &mut Scale) -> Result<()> {
    let template = split_template();
    let class = template.class.clone();
    let mut batch = vec![class];
    for index in 0..scale.nodes {
        batch.push(template.node(index));
        batch.extend((0..2).map(|half| template.slice(index, half, 0)));
        if batch.len() >= BATCH || index + 1 == scale.nodes {
            scale.bytes += batch.iter().map(|text| text.len() as u64).sum::<u64>();
            let start = Instant::now();
            let findings = door.apply(&batch)?;
            scale.read += start.elapsed().as_secs_f64();
            let error = findings.iter().flatten().find(|finding| finding.severity == Severity::Error);
            ensure!(error.is_none(), "an object is refused: {error:?}");
            batch.clear();
        }
    }
    Ok(())
}

fn place(door: &mut dyn Door, size: Size, scale: &mut Scale) -> Result<()> {
    let (mut part_start, mut part_time) = (0, 0.0);
    for number in 0..size.claims {
        let (text, question) = pending(number, true)?;
        let start = Instant::now();
        door.apply(&text)?;
        let took = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let answer = door.allocate_known(&question)?;
        let asked = start.elapsed().as_secs_f64();
        let Outcome::Allocated { node, allocations } = answer.outcome else {
            bail!("claim {number} is not placed");
        };
        let (expected, device) = (node_name(number / 16), format!("gpu-{}", number % 16));
        let first = allocations.first().and_then(|allocation| allocation.devices.results.first());
        let got = first.map_or("", |result| result.device.as_str());
        ensure!(node == expected && got == device, "claim {number} is on {node}, not on {expected}; gets {got}");
        if number == 0 {
            scale.first_question = asked;
        }
        scale.asking += asked;
        scale.taking += took;
        scale.placed += 1;
        part_time += asked + took;
        if scale.placed - part_start >= size.claims.div_ceil(10) {
            scale.rates.push((scale.placed - part_start) as f64 / part_time);
            (part_start, part_time) = (scale.placed, 0.0);
        }
        if scale.asking + scale.taking > PATIENCE.as_secs_f64() {
            break;
        }
    }
    Ok(())
}

fn change(door: &mut dyn Door, scale: &mut Scale) -> Result<()> {
    const CHANGES: u64 = 200;
    let template = split_template();
    let (text, question) = pending(u64::from(u32::MAX), false)?;
    door.apply(&text)?;
    for turn in 0..CHANGES {
        // Anywhere in the cluster, in an order without a pattern.
        let index = (turn * 7919) % scale.nodes;
        let text = [template.slice(index, turn % 2, turn + 1)];
        let start = Instant::now();
        door.apply(&text)?;
        scale.changed_slice += start.elapsed().as_secs_f64() / CHANGES as f64;
        let start = Instant::now();
        door.allocate_known(&question)?;
        scale.question_after += start.elapsed().as_secs_f64() / CHANGES as f64;
        let start = Instant::now();
        door.allocate_known(&question)?;
        scale.question_warm += start.elapsed().as_secs_f64() / CHANGES as f64;
    }
    Ok(())
}

fn node_name(index: u64) -> String {
    format!("node-{index:05}")
}

/// A claim as an event brings it, and the question for it.
pub(super) fn pending(number: u64, take: bool) -> Result<([String; 1], KnownQuestion)> {
    let selector = json!({ "cel": { "expression": r#"device.attributes["gpu.example.com"].model == "a100""# } });
    let name = format!("claim-{number}");
    let value = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": {
            "allocationMode": "ExactCount", "count": 1, "deviceClassName": "gpu", "selectors": [selector],
        } }] } },
    });
    let question =
        KnownQuestion { claims: ClaimNames::of([("default".to_owned(), name)]), take, ..KnownQuestion::default() };
    Ok(([value.to_string()], question))
}

/// The texts of a node and its slices, with places for what differs.
pub(super) struct Template {
    pub(super) class: String,
    node: String,
    slices: Vec<String>,
}

pub(super) fn split_template() -> Template {
    let source = shapes::nodes(&[]);
    let text = |pointer: &str| source.pointer(pointer).map(Value::to_string).unwrap_or_default();
    let slices = (0..2).map(|half| {
        let mut slice = source.pointer("/sliceTemplate").cloned().unwrap_or_default();
        if let Some(name) = slice.pointer_mut("/metadata") {
            *name = json!({
                "name": format!("${{node}}-gpu-{half}"), "uid": "00000000-0000-4000-8000-${index}", "generation": 1,
                "resourceVersion": "${version}", "creationTimestamp": "2025-01-01T00:00:00Z",
                "ownerReferences": [{ "apiVersion": "v1", "kind": "Node", "name": "${node}", "controller": true,
                    "uid": "00000000-0000-4000-9000-${index}" }],
            });
        }
        if let Some(spec) = slice.pointer_mut("/spec").and_then(Value::as_object_mut) {
            spec.insert("devices".to_owned(), (half * 8..half * 8 + 8).map(device).collect());
            spec.insert("pool".to_owned(), json!({ "name": "${node}", "generation": 1, "resourceSliceCount": 2 }));
        }
        slice.to_string()
    });
    Template { class: text("/classes/0"), node: text("/nodeTemplate"), slices: slices.collect() }
}

/// A device with about as many attributes as drivers publish.
fn device(index: u64) -> Value {
    let mut device = shapes::gpu(index);
    if let Some(Value::Object(attributes)) = device.get_mut("attributes") {
        attributes.insert(
            "uuid".to_owned(),
            json!({ "string": format!("GPU-${{index}}-{index:04x}-4a5b-8c6d-0123456789ab") }),
        );
        attributes.insert("productName".to_owned(), json!({ "string": "Example A100 SXM4 80GB" }));
        attributes.insert("brand".to_owned(), json!({ "string": "Example" }));
        attributes.insert("architecture".to_owned(), json!({ "string": "Ampere" }));
        attributes.insert("driverVersion".to_owned(), json!({ "version": "575.57.8" }));
        attributes.insert("cudaDriverVersion".to_owned(), json!({ "version": "12.9.0" }));
        attributes.insert("cudaComputeCapability".to_owned(), json!({ "version": "8.0.0" }));
        attributes.insert("pciBusID".to_owned(), json!({ "string": format!("0000:{index:02x}:00.0") }));
        attributes.insert("health".to_owned(), json!({ "int": "${version}" }));
    }
    if let Some(Value::Object(capacity)) = device.get_mut("capacity") {
        capacity.insert("multiprocessors".to_owned(), json!({ "value": "108" }));
    }
    device
}

impl Template {
    pub(super) fn node(&self, index: u64) -> String {
        self.node.replace("${node}", &node_name(index))
    }

    /// A slice; each version has another value of one attribute of every device.
    pub(super) fn slice(&self, index: u64, half: u64, version: u64) -> String {
        let text = self.slices.get(usize::try_from(half).unwrap_or(0)).map_or("", String::as_str);
        let text = text.replace("${node}", &node_name(index)).replace("${index}", &format!("{index:012}"));
        // A number where the template has a text.
        text.replace("{\"int\":\"${version}\"}", &format!("{{\"int\":{version}}}"))
            .replace("${version}", &version.to_string())
    }
}

/// The most memory that this process ever had, in bytes.
pub(super) fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string(Path::new("/proc/self/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}
