//! `apportion validate`.

mod choice;
mod fix;

use std::io;
use std::thread;

use anyhow::Result;
use apportion_core::finding::{Finding, Severity};
use clap::Args;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::cli::arguments::{
    FileArguments, KubernetesArguments, LookArguments, NamespaceArguments, Output, ReportOutput,
};
use crate::cli::diagnose::diagnose;
use crate::cli::files::Source;
use crate::cli::input::{Input, Places, no_manifests, refused};
use crate::cli::note::{Ignored, MachineIgnored, Note, numbers, order};
use crate::cli::pen::{Ink, Pen};
use crate::cli::report::{github, junit, sarif};
use crate::cli::shown::{Shown, Stdout, Verdict};
use crate::cli::validators::{self, Validators};
use crate::cli::{ask, machine, stage, text};

use choice::{Choice, ChoiceArguments};

const EXAMPLE: &str = "\
Example:
  apportion validate -f manifests/ --profile 1.35
  kubectl get resourceclaims,resourceslices -A -o yaml | apportion validate -f -";

/// Check manifests as the API server would, and find mistakes that otherwise show only in Pending Pods
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct ValidateArguments {
    #[command(flatten)]
    pub(super) input: FileArguments,
    #[command(flatten)]
    namespace: NamespaceArguments,
    /// Manifests as they are stored: an object that is among them is updated, not created; may be repeated
    #[arg(long, value_name = "PATH")]
    old: Vec<String>,
    /// The update is one of the status, through the subresource; needs `--old`
    #[arg(long, requires = "old")]
    status: bool,
    /// Correct what has one certain correction in the files
    #[arg(long)]
    fix: bool,
    /// With `--fix`: show the corrections as a unified diff and write nothing; exit code 1 where there are any
    #[arg(long, requires = "fix", conflicts_with = "output")]
    diff: bool,
    /// End with exit code 1 for warnings, too
    #[arg(long)]
    deny_warnings: bool,
    #[command(flatten)]
    choice: ChoiceArguments,
    #[command(flatten)]
    pub(super) kubernetes: KubernetesArguments,
    /// How the answer is written
    #[arg(long, short = 'o', value_enum, default_value_t = ReportOutput::Table, help_heading = "Output")]
    output: ReportOutput,
    #[command(flatten)]
    pub(super) view: LookArguments,
}

/// Rounds of corrections, each of which brought new ones to light.
const MOST_ROUNDS: usize = 8;

pub(super) fn validate(arguments: &ValidateArguments) -> Result<Shown> {
    let validators = Validators::new(&arguments.kubernetes)?;
    let stored = validators::stored(&arguments.old, arguments.namespace.name())?;
    let choice = Choice::of(&arguments.choice)?;
    let look = |sources: Vec<Source>| -> Result<Looked> {
        let (mut input, mut findings) =
            validators.check(sources, arguments.namespace.name(), &stored, arguments.status);
        if stage::is_interrupted() {
            // Of a part of the objects nobody knows what refers to nothing.
            let ignored = choice.take(&mut input, &mut findings, &mut Vec::new());
            return Ok(Looked { input, findings, repeated: Vec::new(), ignored });
        }
        let errors = findings.iter().flatten().filter(|finding| finding.severity == Severity::Error).count();
        let known = format!("{} in {}", text::count(errors, "error"), text::count(input.documents.len(), "object"));
        stage::wait("comparing objects", known);
        let refused = refused(&findings);
        let (of_set, repeated) = thread::scope(|scope| {
            let repeated = scope.spawn(|| input.repeated(&Places::new(&input), &refused));
            (validators.make().validate_set(&input.texts), repeated.join())
        });
        for (findings, more) in findings.iter_mut().zip(of_set?) {
            if findings.is_empty() { *findings = more } else { findings.extend(more) }
        }
        let mut repeated = repeated.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let ignored = choice.take(&mut input, &mut findings, &mut repeated);
        Ok(Looked { input, findings, repeated, ignored })
    };
    let Looked { mut input, mut findings, mut repeated, mut ignored } = look(choice.kept(arguments.input.read()?))?;
    let is_cut = stage::is_interrupted();
    let mut stderr = if is_cut { cut(&input) } else { String::new() };
    let mut diff = String::new();
    if arguments.fix && !is_cut {
        let mut fixed = fix::fix(&input, &findings, arguments.diff);
        let before: Vec<Source> = input.sources.iter().map(|source| source.with_text(source.text.clone())).collect();
        // A correction can bring mistakes to light, since nothing is said of the fields of an unknown kind.
        for _ in 0..MOST_ROUNDS {
            if !fixed.has_news() {
                break;
            }
            Looked { input, findings, repeated, ignored } = look(fixed.sources(&input))?;
            fixed.then(fix::fix(&input, &findings, arguments.diff));
        }
        stderr = fixed.sentence(arguments.diff);
        match arguments.diff {
            true => diff = fixed.diff(&before),
            false => fixed.write(&input)?,
        }
    }
    let mut notes = input.notes(findings, repeated);
    notes.sort_by_key(order);
    let (errors, warnings) = numbers(&notes);
    let is_refused = errors > 0 || ((arguments.deny_warnings || choice.deny_warnings) && warnings > 0);
    if arguments.diff {
        let verdict = Verdict::of(!is_refused && diff.is_empty());
        return Ok(Shown { stdout: diff.into(), stderr, verdict });
    }
    let report = Report { kubernetes: machine::kubernetes(&arguments.kubernetes), input, notes, ignored };
    let Report { input, notes, ignored, .. } = &report;
    let text = match arguments.output {
        ReportOutput::Json => None,
        ReportOutput::Table => {
            let pen = Pen::new(&arguments.view, &io::stdout());
            let summary = summary(input, errors, warnings, &ask::kubernetes_in_words(&arguments.kubernetes), pen);
            let passed_over = passed_over(ignored, &input.sources, arguments.view.verbose);
            Some(format!("{}{summary}{passed_over}", diagnose(notes, &input.sources, pen, arguments.view.verbose)))
        }
        ReportOutput::Yaml => Some(machine::text(&report.answer(), Output::Yaml)),
        ReportOutput::Sarif => Some(sarif::write(notes, ignored, &input.sources)),
        ReportOutput::Junit => Some(junit::write(notes, input)),
        ReportOutput::Github => Some(github::write(notes, &input.sources)),
    };
    let stdout = match text {
        Some(text) => {
            report.leave();
            text.into()
        }
        None => Stdout::Pieces(Box::new(move |out| {
            let written = machine::pretty(&report.answer(), out);
            report.leave();
            written
        })),
    };
    Ok(Shown { stdout, stderr, verdict: Verdict::of(!is_refused) })
}

/// What was read and found.
struct Looked {
    input: Input,
    /// By document.
    findings: Vec<Vec<Finding>>,
    /// Objects that replace an earlier one.
    repeated: Vec<Note>,
    ignored: Vec<Ignored>,
}

/// How many findings are ignored, and with `--verbose` each with its reason.
fn passed_over(ignored: &[Ignored], sources: &[Source], is_verbose: bool) -> String {
    if ignored.is_empty() {
        return String::new();
    }
    let told = if is_verbose { ":" } else { "; `--verbose` lists them." };
    let number = text::count(ignored.len(), "finding");
    let mut lines = vec![format!("{number} ignored for reasons that are given{told}")];
    if is_verbose {
        lines.extend(ignored.iter().map(|Ignored { note, reason, .. }| {
            let place = note.region(sources).map(|region| format!("{}:{}: ", region.file, region.line));
            format!("  {}{}: {reason}", place.unwrap_or_default(), note.code)
        }));
    }
    text::lines(lines)
}

/// That somebody interrupted, and what was looked at.
fn cut(input: &Input) -> String {
    let objects = text::count(input.documents.len(), "object");
    let whole = if input.is_cut { "the files were not read to the end, and " } else { "" };
    format!("interrupted: {objects} looked at, each by itself; {whole}objects were not compared with each other\n")
}

fn summary(input: &Input, errors: usize, warnings: usize, kubernetes: &str, pen: Pen) -> String {
    let objects = input.documents.len().saturating_add(input.refused);
    let what = format!(
        "{} in {}",
        text::count(objects, "object"),
        text::count(input.sources.len().saturating_sub(input.skipped.len()), "file")
    );
    let verdict = match (errors, warnings) {
        (0, 0) => pen.paint(Ink::Good, "no error, no warning"),
        (0, _) => pen.paint(Ink::Doubt, &format!("no error, {}", text::count(warnings, "warning"))),
        _ => pen.paint(Ink::Bad, &format!("{}, {}", text::count(errors, "error"), text::count(warnings, "warning"))),
    };
    let skipped = no_manifests(&input.skipped).map(|skipped| format!("{skipped}.\n")).unwrap_or_default();
    format!("{what}: {verdict}\n{skipped}Answered for {kubernetes}.\n")
}

/// Everything that is told.
struct Report {
    kubernetes: Map<String, Value>,
    input: Input,
    notes: Vec<Note>,
    ignored: Vec<Ignored>,
}

impl Report {
    /// The answer for programs.
    fn answer(&self) -> Answer<'_> {
        Answer {
            files: machine::files(&self.input),
            findings: Findings(self),
            format: machine::FORMAT,
            ignored: self.ignored.iter().map(|ignored| ignored.for_machines(&self.input.sources)).collect(),
            kind: "Validation",
            kubernetes: &self.kubernetes,
            objects: self.input.documents.len(),
            refused: self.input.refused,
        }
    }

    /// Nobody waits until a million small pieces are given back.
    fn leave(self) {
        thread::spawn(move || drop(self));
    }
}

/// The answer for programs. Fields in the order of their names.
#[derive(Serialize)]
struct Answer<'n> {
    files: Vec<&'n str>,
    findings: Findings<'n>,
    format: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<MachineIgnored<'n>>,
    kind: &'static str,
    kubernetes: &'n Map<String, Value>,
    objects: usize,
    refused: usize,
}

/// The notes for programs, each made when it is written.
struct Findings<'n>(&'n Report);

impl Serialize for Findings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Report { input, notes, .. } = self.0;
        serializer.collect_seq(notes.iter().map(|note| note.for_machines(&input.sources)))
    }
}
