//! Many Pods at once, from reading YAML to the report.

use std::env;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use apportion_core::profile::{Profile, Ranking};
use serde::{Deserialize, Serialize};

use super::scale::{door, peak_memory};

#[path = "../../../core/tests/scale/worlds.rs"]
mod worlds;

/// The clusters, by name; each with its Pods and what it may take natively and through the component, in seconds.
pub const WORLDS: [(&str, &str, f64, f64); 3] = [
    ("gangs", "10,000 Pods in 1,000 gangs, which ask for CPU, on 1,000 nodes with 8 devices", 5.0, 5.0),
    ("trace", "8,152 Pods on 1,213 nodes with 6,212 GPUs that can be shared, as in a published trace", 1.0, 1.6),
    ("batch", "50,000 Pods with a claim each, which ask for CPU, on 5,000 nodes with 16 devices", 15.0, 25.0),
];

/// What was measured; times in seconds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Life {
    /// Which cluster.
    pub world: String,
    /// Pods, and how many of them have a node.
    pub pods: (u64, u64),
    /// Reading YAML, in one thread.
    pub read: f64,
    /// Having the API server admit everything.
    pub admit: f64,
    /// Playing it.
    pub play: f64,
    /// Peak resident memory of the process after that, in bytes; 0 where the system does not tell.
    pub peak: u64,
}

/// Measures in a child process.
///
/// # Errors
///
/// When the process breaks.
pub fn in_child(engine: &str, world: &str) -> Result<Life> {
    let mut child = Command::new(env::current_exe()?);
    child.args(["--life", engine, "--world", world]);
    let output = child.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "playing the {world} through the {engine} failed");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Measures in this process.
///
/// # Errors
///
/// When the engine or the cluster is unknown, or the engine breaks.
pub fn measure(engine: &str, world: &str) -> Result<Life> {
    let mut door = door(engine, Profile { placement: Ranking::First, ..Profile::default() })?;
    let yaml = yaml(world)?;
    let mut start = Instant::now();
    let mut lap = || std::mem::replace(&mut start, Instant::now()).elapsed().as_secs_f64();
    let mut texts = Vec::new();
    apportion_yaml::read_each(yaml.as_bytes(), &apportion_yaml::Limits::default(), |document| {
        texts.push(document.value.to_string());
    });
    let read = lap();
    door.submit(&texts)?;
    let admit = lap();
    let report = door.run()?;
    let play = lap();
    let placed = report.pods.iter().filter(|pod| pod.node.is_some()).count() as u64;
    let pods = (report.pods.len() as u64, placed);
    Ok(Life { world: world.to_owned(), pods, read, admit, play, peak: peak_memory().unwrap_or(0) })
}

/// A cluster as one file; the same for the same name.
///
/// # Errors
///
/// When the cluster is unknown.
pub fn yaml(world: &str) -> Result<String> {
    let objects = match world {
        "gangs" => worlds::gangs(1_000, 1_000),
        "trace" => worlds::trace(1),
        "batch" => worlds::batch(50_000, 5_000),
        other => bail!("no cluster `{other}`: choose gangs, trace or batch"),
    };
    Ok(objects.iter().map(apportion_yaml::write).collect::<Vec<_>>().join("---\n"))
}
