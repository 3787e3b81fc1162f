//! `apportion run`.

use std::io;

use anyhow::Result;
use apportion_core::ask::{PodReport, Report};
use apportion_core::finding::{Finding, Severity};
use serde_json::json;

use super::args::{RunArguments, RunOutput};
use super::diagnose::diagnose;
use super::pen::Pen;
use super::{Shown, ask, input, life, machine, show_run};
use crate::api_server::READ;

pub(crate) fn run(arguments: &RunArguments) -> Result<Shown> {
    if life::is_asked_for(arguments) {
        return life::run(arguments);
    }
    let look = &arguments.look;
    let mut door = ask::cluster(&arguments.engine)?;
    let input = input::gather(&arguments.input.files, &arguments.input.cluster, &READ)?;
    let taken = input.apply(door.as_mut())?;
    let report = door.run()?;
    let stdout = match arguments.output {
        RunOutput::Table => {
            let pen = Pen::new(look, &io::stdout());
            show_run::show(&report, &input, &taken, &ask::in_words(&arguments.engine), pen, look.verbose)
        }
        RunOutput::Json | RunOutput::Yaml | RunOutput::Html => {
            let body = json!({ "input": machine::input(&input, &taken), "report": report });
            machine::write("Run", &arguments.engine, body, arguments.output.plain())
        }
    };
    let stderr = diagnose(&taken.notes, &input.sources, Pen::new(look, &io::stderr()), look.verbose);
    let verdict = taken.verdict(is_satisfied(&report));
    // The process ends now and gives everything back at once.
    std::mem::forget((door, input, report));
    Ok(Shown { stdout: stdout.into(), stderr, verdict })
}

/// Whether every Pod has a node, nothing keeps it from running there, and nothing is wrong with the run as a whole.
pub(super) fn is_satisfied(report: &Report) -> bool {
    let is_fine = |findings: &[Finding]| findings.iter().all(|finding| finding.severity != Severity::Error);
    let is_placed = |pod: &PodReport| pod.node.is_some() && !pod.is_stuck() && is_fine(&pod.reasons);
    report.pods.iter().all(is_placed) && is_fine(&report.findings)
}
