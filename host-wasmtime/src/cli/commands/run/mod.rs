//! `apportion run`.

mod html;
mod lanes;
mod pending;
mod report;
mod table;
mod timeline;

pub(super) use html::page_head;

use anyhow::{Result, bail};
use apportion_core::ask::{Inquiry, PodScores, ScoresRequest};
use apportion_core::control_plane::Settled;
use clap::Args;
use serde_json::{Value, json};

use crate::cli::arguments::{
    EngineArguments, InputArguments, LookArguments, NamespaceArguments, RankingChoice, RunOutput,
};
use crate::cli::ask::{self, Asked};
use crate::cli::machine;
use crate::cli::scores;
use crate::cli::shown::Shown;
use crate::cli::text::{self, clean};

const EXAMPLE: &str = "\
Example:
  apportion run -f examples/gpu-sharing/
  kubectl get resourceslices,deviceclasses -o yaml | apportion run -f - -f my-job.yaml --kubernetes-version 1.36
  apportion run -f examples/life/cluster.yaml --script examples/life/script.yaml --until 10m --output html > life.html";

/// Show what DRA does with manifests: Pods, their claims, the devices they get, and why the rest is Pending
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(super) input: InputArguments,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    time: TimeArguments,
    #[command(flatten)]
    pub(super) engine: EngineArguments,
    /// How the answer is written
    #[arg(long, short = 'o', value_enum, default_value_t = RunOutput::Table, help_heading = "Output")]
    output: RunOutput,
    /// Each Pod's chosen node with its score, and how many nodes had the same; not with `--placement first`
    #[arg(long, help_heading = "Output")]
    scores: bool,
    #[command(flatten)]
    pub(super) look: LookArguments,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Time")]
struct TimeArguments {
    /// Let so much virtual time pass, for instance 10m, and show what happens in it
    #[arg(long, value_name = "DURATION")]
    until: Option<String>,
    /// What is done to the cluster and when: a YAML list of steps such as `at: 30s, delete: pod/x`
    #[arg(long, value_name = "FILE")]
    script: Option<String>,
    /// Show the Events that users would see
    #[arg(long)]
    events: bool,
    /// Show how things stand after each step of the script
    #[arg(long)]
    step: bool,
}

pub(super) fn run(arguments: &RunArguments) -> Result<Shown> {
    let RunArguments { input, namespace, time, engine, output, scores: has_scores, look } = arguments;
    let words = ask::in_words(engine);
    if *has_scores && engine.placement() == RankingChoice::First {
        bail!("`--scores` needs scores: with `--placement first`, Pods get the first node by name that fits");
    }
    if time.until.is_some() || time.script.is_some() || time.events || time.step || *output == RunOutput::Html {
        if *has_scores {
            bail!(
                "`--scores` is about where everything lands: use it without `--until`, `--script`, `--events`, `--step` and HTML"
            );
        }
        return in_time(arguments, &words);
    }
    let mut asked = ask::cluster(engine, look, &input.files(), &input.cluster, namespace)?;
    // Before the Pods have their nodes.
    let scored: Option<(Value, Vec<PodScores>)> = match has_scores {
        true => Some(asked.inquire(&Inquiry::Scores(ScoresRequest { brief: true, ..ScoresRequest::default() }))?),
        false => None,
    };
    let mut report = asked.door.run()?;
    let is_meant = |of: &str| namespace.name().is_empty() || of == namespace.name();
    report.pods.retain(|pod| is_meant(&pod.namespace));
    report.claims.retain(|claim| is_meant(&claim.namespace));
    let table = |pen| {
        let mut shown = report::show(&report, &asked.input, &asked.taken, &words, pen, (look, namespace.name()));
        if let Some((_, scored)) = &scored {
            shown.push_str(&text::lines(scores::of_pods(scored, pen)));
        }
        shown
    };
    let body = || match &scored {
        Some((answer, _)) => json!({ "report": report, "scores": answer }),
        None => json!({ "report": report }),
    };
    let is_satisfied = report.is_satisfied();
    let shown = asked.show(output.plain(), "Run", body, table, is_satisfied);
    if engine.kubernetes.runner.is_none() {
        // The process ends now and gives everything back at once.
        std::mem::forget((asked, report));
    }
    Ok(shown)
}

/// What happens in virtual time, and not only where everything lands.
fn in_time(arguments: &RunArguments, words: &str) -> Result<Shown> {
    let RunArguments { input, namespace, time, engine, output, look, .. } = arguments;
    let steps = timeline::Steps::new(time.script.as_deref(), time.until.as_deref(), time.step)?;
    let input = ask::read(engine, &input.files(), &input.cluster, namespace)?;
    let (taken, played) = steps.play(engine, &input)?;
    let asked = Asked { door: (), input, taken, look, kubernetes: machine::kubernetes_in_mode(engine) };
    let text = |pen| match output {
        RunOutput::Html => html::write(&played, words),
        _ => {
            let timeline = table::show(&played, pen, time.events, look.verbose, time.step);
            let report = report::show(&played.report, &asked.input, &asked.taken, words, pen, (look, ""));
            format!("{timeline}\n{report}")
        }
    };
    let is_satisfied = played.settled == Settled::Quiet && played.refused.is_empty() && played.report.is_satisfied();
    let mut shown = asked.show(output.plain(), "Run", || played.to_json(), text, is_satisfied);
    shown.stderr.push_str(&clean(&played.remarks()));
    Ok(shown)
}
