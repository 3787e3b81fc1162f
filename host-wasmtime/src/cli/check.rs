//! Many files through as many validators as there are processors.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use apportion::{HostLimits, NativeValidator, Runner, Validate};
use apportion_core::finding::{Code, Finding, ObjectRef};
use apportion_core::profile::{Mode, Profile};
use apportion_core::validate::{Operation, Submission, in_default_namespace};
use apportion_yaml::{Limits, Reading, read};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use super::args::KubernetesArguments;
use super::files::Source;
use super::input::{self, Input};
use super::{ask, text};

/// Objects as they are stored, by group, kind, namespace and name.
pub(crate) type Stored = BTreeMap<(String, ObjectRef), Value>;

/// A file as it was read, and the findings per document that is not refused.
type Looked = (Reading, Vec<Vec<Finding>>);

/// How long nothing is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// Validators for the Kubernetes that the arguments describe.
pub(crate) struct Validators {
    profile: Profile,
    /// `None` for the core outside of the component.
    runner: Option<Runner>,
}

impl Validators {
    pub(crate) fn new(arguments: &KubernetesArguments) -> Result<Self> {
        let profile = ask::profile(arguments, Mode::Sound)?;
        let runner = if arguments.native { None } else { Some(Runner::new()?) };
        Ok(Self { profile, runner })
    }

    pub(crate) fn make(&self) -> Box<dyn Validate> {
        match &self.runner {
            Some(runner) => Box::new(runner.validator(&self.profile, HostLimits::default())),
            None => Box::new(NativeValidator(self.profile.clone())),
        }
    }

    /// Reads and validates all files; findings come per document of the input.
    pub(crate) fn check(&self, sources: Vec<Source>, stored: &Stored, is_status: bool) -> (Input, Vec<Vec<Finding>>) {
        let next = AtomicUsize::new(0);
        let done: Mutex<BTreeMap<usize, Looked>> = Mutex::default();
        let progress = Progress::new(sources.len());
        let workers = thread::available_parallelism().map_or(1, usize::from).min(sources.len().max(1));
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    let mut validator = self.make();
                    while let Some((index, source)) = take(&next, &sources) {
                        let reading = read(&source.text, &Limits::default());
                        let findings = validate(validator.as_mut(), &reading, stored, is_status);
                        if let Ok(mut done) = done.lock() {
                            done.insert(index, (reading, findings));
                        }
                        progress.step();
                    }
                });
            }
        });
        progress.clear();
        let done = done.into_inner().unwrap_or_default();
        let (readings, findings): (Vec<Reading>, Vec<Vec<Vec<Finding>>>) = done.into_values().unzip();
        (input::collect(sources, readings), findings.into_iter().flatten().collect())
    }
}

fn take<'s>(next: &AtomicUsize, sources: &'s [Source]) -> Option<(usize, &'s Source)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, sources.get(index)?))
}

/// Findings per document that is not refused.
fn validate(validator: &mut dyn Validate, reading: &Reading, stored: &Stored, is_status: bool) -> Vec<Vec<Finding>> {
    let documents = reading.documents.iter().filter(|document| !document.is_refused);
    let submissions: Vec<Submission> =
        documents.map(|document| submission(&document.value, stored, is_status)).collect();
    let count = submissions.len();
    match validator.validate(submissions) {
        Ok(findings) => findings,
        // What is left of the file is told; the other files go on with a fresh instance.
        Err(error) => {
            let finding = Finding::new(Code::Internal, "", format!("this file could not be validated: {error}"));
            let mut findings = vec![Vec::new(); count];
            if let Some(first) = findings.first_mut() {
                first.push(finding);
            }
            findings
        }
    }
}

fn submission(value: &Value, stored: &Stored, is_status: bool) -> Submission {
    let old = input::identity(value).and_then(|identity| stored.get(&identity)).cloned().map(in_default_namespace);
    let operation = match (&old, is_status) {
        (None, _) => Operation::Create,
        (Some(_), false) => Operation::Update,
        (Some(_), true) => Operation::StatusUpdate,
    };
    Submission { old, operation, ..Submission::create(in_default_namespace(value.clone())) }
}

/// The objects of `--old`.
pub(crate) fn stored(paths: &[String]) -> Result<Stored> {
    if paths.is_empty() {
        return Ok(Stored::new());
    }
    let input = input::load(paths)?;
    if input.refused > 0 {
        bail!("{} of `--old` cannot be read; `apportion validate` says why", text::count(input.refused, "document"));
    }
    let identified = input.documents.into_iter().filter_map(|document| Some((document.identity()?, document.value)));
    Ok(identified.collect())
}

/// A bar on a terminal, when it takes long.
struct Progress {
    bar: ProgressBar,
    total: usize,
    done: AtomicUsize,
    start: Instant,
}

impl Progress {
    fn new(total: usize) -> Self {
        Self { bar: ProgressBar::hidden(), total, done: AtomicUsize::new(0), start: Instant::now() }
    }

    fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if self.start.elapsed() < PATIENCE {
            return;
        }
        if self.bar.is_hidden() {
            self.bar.set_length(u64::try_from(self.total).unwrap_or(u64::MAX));
            if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} files, {eta} left") {
                self.bar.set_style(style);
            }
            self.bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
        }
        self.bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
