//! `apportion replay-trace`.

mod html;
mod measure;
mod objects;
mod play;
mod report;
mod trace;

use std::io;

use anyhow::Result;
use apportion::HostLimits;
use apportion_core::allocate::Limits;
use apportion_core::control_plane::Simulation;
use clap::Args;
use serde_json::Value;

use crate::cli::arguments::{EngineArguments, LookArguments, RunOutput};
use crate::cli::pen::Pen;
use crate::cli::shown::{Shown, Verdict};
use crate::cli::text::clean_painted;
use crate::cli::{ask, machine};
use report::Summary;
use trace::Trace;

const EXAMPLE: &str = "\
Example:
  apportion replay-trace --nodes openb_node_list_gpu_node.csv --pods openb_pod_list_default.csv
  apportion replay-trace --nodes nodes.csv --pods pods.ndjson --output html > trace.html

Columns are those of Alibaba's cluster-trace-gpu-v2023, or of our own form: name, cpu_milli, memory_mib, gpus, model for nodes; name, \
arrival, duration, cpu_milli, memory_mib, gpus, gpu_milli, models for Pods. docs/fleets.md describes them.";

/// Play a trace of Pods in virtual time: who gets a node, how long Pods wait, how GPUs are used and fragmented
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct ReplayTraceArguments {
    /// The nodes, as CSV or lines of JSON
    #[arg(long, value_name = "FILE")]
    nodes: String,
    /// The Pods with the times at which they come and end, as CSV or lines of JSON
    #[arg(long, value_name = "FILE")]
    pods: String,
    #[command(flatten)]
    engine: EngineArguments,
    /// How the answer is written
    #[arg(long, short = 'o', value_enum, default_value_t = RunOutput::Table, help_heading = "Output")]
    output: RunOutput,
    #[command(flatten)]
    look: LookArguments,
}

pub(super) fn replay_trace(arguments: &ReplayTraceArguments) -> Result<Shown> {
    let ReplayTraceArguments { nodes, pods, engine, output, look } = arguments;
    let profile = ask::profile_of(engine)?;
    let configuration = ask::scheduler_configuration(engine)?;
    let limits = Limits { max_steps: engine.max_steps };
    let trace = Trace::read(nodes, pods)?;
    let start = Simulation::start_of(std::iter::empty::<&Value>());
    let played = match engine.kubernetes.native {
        true => play::play(Simulation::new(profile, limits, start), &trace, &configuration)?,
        false => play::play(
            engine.kubernetes.runner()?.play(&profile, limits, HostLimits::default(), Some(start), &[])?,
            &trace,
            &configuration,
        )?,
    };
    let summary = Summary::new(&trace, &played);
    let words = ask::in_words(engine);
    let stdout = match output {
        RunOutput::Table => {
            let table = report::show(&trace, &played, &summary, &words, Pen::new(look, &io::stdout()));
            clean_painted(&table).into_owned()
        }
        RunOutput::Html => html::write(&trace, &played, &summary, &words),
        RunOutput::Json | RunOutput::Yaml => {
            let body = report::to_json(&trace, &played, &summary);
            machine::document("TraceReplay", &machine::kubernetes_in_mode(engine), body, output.plain())
        }
    };
    let stderr = report::problems(&trace, &played);
    let is_fine = stderr.is_empty() && summary.placed == trace.pods.len();
    Ok(Shown { stdout: stdout.into(), stderr, verdict: Verdict::of(is_fine) })
}
