//! `apportion check`: what is wrong in a dump.

use std::io;

use anyhow::{Context, Result};
use apportion::{HostLimits, Runner};
use apportion_core::check as inspect;
use apportion_core::decision::Time;
use apportion_core::finding::{Finding, Severity};
use apportion_core::profile::Mode;
use serde_json::json;

use super::args::{CheckArguments, Output};
use super::diagnose::diagnose;
use super::input::{self, Input, order};
use super::note::{MachineNote, Note, Places};
use super::pen::{Ink, Pen};
use super::{Shown, Verdict, ask, machine, text};
use crate::api_server::READ;

pub(crate) fn check(arguments: &CheckArguments) -> Result<Shown> {
    let profile = ask::profile(&arguments.kubernetes, Mode::Sound)?;
    let now = match &arguments.now {
        Some(text) => {
            Some(Time::parse(text).with_context(|| format!("`--now {text}` is no time such as 2026-03-01T12:00:00Z"))?)
        }
        // A dump may be old; a live cluster is looked at now.
        None => arguments.input.cluster.from_cluster.then(ask::now),
    };
    let input = input::gather(&arguments.input.files, &arguments.input.cluster, &READ)?;
    let findings = if arguments.kubernetes.native {
        let objects = input.objects().collect();
        inspect::inspect(objects, &profile, now)
    } else {
        Runner::new()?.inspect(&input.texts, &profile, now, HostLimits::default())?
    };
    let notes = notes(&input, findings);
    let count = |severity| notes.iter().filter(|note| note.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let look = &arguments.view.look;
    let stdout = match arguments.view.output {
        Output::Table => {
            let pen = Pen::new(look, &io::stdout());
            let objects = text::count(input.documents.len().saturating_add(input.refused), "object");
            let verdict = match (errors, warnings) {
                (0, 0) => pen.paint(Ink::Good, "nothing is wrong"),
                _ => pen.paint(
                    if errors > 0 { Ink::Bad } else { Ink::Doubt },
                    &format!("{}, {}", text::count(errors, "error"), text::count(warnings, "warning")),
                ),
            };
            format!("{}{objects}: {verdict}\n", diagnose(&notes, &input.sources, pen, look.verbose))
        }
        output => {
            let files: Vec<&str> = input.sources.iter().map(|source| source.name.as_str()).collect();
            let findings: Vec<MachineNote<'_>> = notes.iter().map(|note| note.for_machines(&input.sources)).collect();
            let body = json!({ "files": files, "objects": input.documents.len(), "findings": findings });
            machine::text(&machine::document("Check", machine::kubernetes(&arguments.kubernetes), body), output)
        }
    };
    let verdict = if notes.is_empty() { Verdict::Yes } else { Verdict::No };
    Ok(Shown { stdout: stdout.into(), stderr: String::new(), verdict })
}

/// Everything there is to say, in the order of the text.
fn notes(input: &Input, findings: Vec<Finding>) -> Vec<Note> {
    let places = Places::new(input);
    let mut notes = input.problems.clone();
    notes.extend(findings.into_iter().map(|finding| {
        let place = places.find(&finding);
        Note::of_finding(finding, place)
    }));
    notes.sort_by_key(order);
    notes
}
