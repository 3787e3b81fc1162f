//! `apportion run`.

use std::io;

use anyhow::Result;
use apportion_core::finding::Severity;
use apportion_core::simulate::Report;
use serde_json::json;

use super::args::{Output, RunArguments};
use super::diagnose::diagnose;
use super::pen::Pen;
use super::{Shown, Verdict, ask, input, machine, show_run};

pub(crate) fn run(arguments: &RunArguments) -> Result<Shown> {
    let view = &arguments.view;
    let mut door = ask::cluster(&arguments.engine)?;
    let input = input::load(&arguments.input.files)?;
    let taken = input.apply(door.as_mut())?;
    let report = door.run()?;
    let stdout = match view.output {
        Output::Table => {
            let pen = Pen::new(&view.look, &io::stdout());
            show_run::show(&report, &input, &taken, &ask::in_words(&arguments.engine), pen, view.look.verbose)
        }
        Output::Json | Output::Yaml => {
            let body = json!({ "input": machine::input(&input, &taken), "report": report });
            machine::write("Run", &arguments.engine, body, view.output)
        }
    };
    let stderr = diagnose(&taken.notes, &input.sources, Pen::new(&view.look, &io::stderr()), view.look.verbose);
    let verdict = if taken.has_errors() || !is_satisfied(&report) { Verdict::No } else { Verdict::Yes };
    Ok(Shown { stdout, stderr, verdict })
}

fn is_satisfied(report: &Report) -> bool {
    report.pods.iter().all(|pod| pod.node.is_some())
        && report.findings.iter().all(|finding| finding.severity != Severity::Error)
}
