//! `apportion validate`.

use std::io;
use std::thread;

use anyhow::Result;
use apportion_core::finding::{Finding, Severity};
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::{Output, ReportOutput, ValidateArguments};
use super::check::{self, Validators};
use super::diagnose::diagnose;
use super::input::{Input, order};
use super::note::{MachineNote, Note, Places};
use super::pen::{Ink, Pen};
use super::report::{github, junit, sarif};
use super::{Shown, Verdict, ask, files, fix, machine, text};

/// Rounds of corrections, each of which brought new ones to light.
const MOST_ROUNDS: usize = 8;

/// Bytes of a note as JSON, more than most have: room that is not used costs nothing, a text that grows is copied.
const NOTE: usize = 1000;

pub(crate) fn validate(arguments: &ValidateArguments) -> Result<Shown> {
    let validators = Validators::new(&arguments.kubernetes)?;
    let stored = check::stored(&arguments.old)?;
    let look = || -> Result<Looked> {
        let sources = files::read(&arguments.input.files)?;
        let (input, mut findings) = validators.check(sources, &stored, arguments.status);
        let (of_set, repeated) = thread::scope(|scope| {
            let repeated = scope.spawn(|| input.repeated(&Places::new(&input)));
            (validators.make().validate_set(&input.texts), repeated.join())
        });
        for (findings, more) in findings.iter_mut().zip(of_set?) {
            if findings.is_empty() { *findings = more } else { findings.extend(more) }
        }
        let repeated = repeated.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(Looked { input, findings, repeated })
    };
    let Looked { mut input, mut findings, mut repeated } = look()?;
    let mut stderr = String::new();
    if arguments.fix {
        let mut fixed = fix::fix(&input, &findings)?;
        // A correction can bring mistakes to light, since nothing is said of the fields of an unknown kind.
        for _ in 0..MOST_ROUNDS {
            if !fixed.has_news() {
                break;
            }
            Looked { input, findings, repeated } = look()?;
            fixed.then(fix::fix(&input, &findings)?);
        }
        stderr = fixed.sentence();
    }
    let notes = notes(&input, findings, repeated);
    let count = |severity| notes.iter().filter(|note| note.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let stdout = match arguments.output {
        ReportOutput::Table => {
            let pen = Pen::new(&arguments.view, &io::stdout());
            let summary = summary(&input, errors, warnings, &ask::kubernetes_in_words(&arguments.kubernetes), pen);
            format!("{}{summary}", diagnose(&notes, &input.sources, pen, arguments.view.verbose))
        }
        ReportOutput::Json => machine(arguments, &input, &notes, Output::Json),
        ReportOutput::Yaml => machine(arguments, &input, &notes, Output::Yaml),
        ReportOutput::Sarif => sarif::write(&notes, &input.sources),
        ReportOutput::Junit => junit::write(&notes, &input),
        ReportOutput::Github => github::write(&notes, &input.sources),
    };
    let is_refused = errors > 0 || (arguments.deny_warnings && warnings > 0);
    // Nobody waits until a million small pieces are given back.
    thread::spawn(move || drop((input, notes)));
    Ok(Shown { stdout, stderr, verdict: if is_refused { Verdict::No } else { Verdict::Yes } })
}

/// What was read and found.
struct Looked {
    input: Input,
    /// By document.
    findings: Vec<Vec<Finding>>,
    /// Objects that replace an earlier one.
    repeated: Vec<Note>,
}

/// Everything there is to say, in the order of the text.
fn notes(input: &Input, findings: Vec<Vec<Finding>>, repeated: Vec<Note>) -> Vec<Note> {
    let places = Places::new(input);
    let number = findings.iter().map(Vec::len).fold(repeated.len(), usize::saturating_add);
    let mut notes = input.problems.clone();
    notes.reserve_exact(number);
    for (index, findings) in findings.into_iter().enumerate() {
        let object = || input.documents.get(index).map(|document| document.written_reference());
        notes.extend(findings.into_iter().map(|mut finding| {
            let place = places.of_document(index, &finding);
            finding.object = finding.object.or_else(object);
            Note::of_finding(finding, place)
        }));
    }
    notes.extend(repeated);
    notes.sort_by_key(order);
    notes
}

fn summary(input: &Input, errors: usize, warnings: usize, kubernetes: &str, pen: Pen) -> String {
    let objects = input.documents.len().saturating_add(input.refused);
    let what = format!("{} in {}", text::count(objects, "object"), text::count(input.sources.len(), "file"));
    let verdict = match (errors, warnings) {
        (0, 0) => pen.paint(Ink::Good, "no error, no warning"),
        (0, _) => pen.paint(Ink::Doubt, &format!("no error, {}", text::count(warnings, "warning"))),
        _ => pen.paint(Ink::Bad, &format!("{}, {}", text::count(errors, "error"), text::count(warnings, "warning"))),
    };
    format!("{what}: {verdict}\nAnswered as {kubernetes} would.\n")
}

fn machine(arguments: &ValidateArguments, input: &Input, notes: &[Note], output: Output) -> String {
    let files: Vec<&str> = input.sources.iter().map(|source| source.name.as_str()).collect();
    let answer = Answer {
        files,
        findings: notes.iter().map(|note| note.for_machines(&input.sources)).collect(),
        format: machine::FORMAT,
        kind: "Validation",
        kubernetes: machine::kubernetes(&arguments.kubernetes),
        objects: input.documents.len(),
        refused: input.refused,
    };
    machine::long_text(&answer, output, notes.len().saturating_mul(NOTE))
}

/// The answer for programs. Fields in the order of their names.
#[derive(Serialize)]
struct Answer<'n> {
    files: Vec<&'n str>,
    findings: Vec<MachineNote<'n>>,
    format: &'static str,
    kind: &'static str,
    kubernetes: Map<String, Value>,
    objects: usize,
    refused: usize,
}
