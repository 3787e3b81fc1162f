//! Many files through as many validators as there are processors.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;

use anyhow::{Result, bail};
use apportion::{HostLimits, NativeValidator, Runner, Validate};
use apportion_core::finding::{Code, Finding, ObjectRef, value_at};
use apportion_core::profile::{Mode, Profile};
use apportion_core::validate::{Operation, Submission, in_default_namespace};
use apportion_yaml::ProblemCode;
use serde_json::Value;

use super::args::KubernetesArguments;
use super::files::Source;
use super::input::{self, File, Input};
use super::progress::Progress;
use super::{ask, text};

/// Objects as they are stored, by group, kind, namespace and name.
pub(crate) type Stored = BTreeMap<(String, ObjectRef), Value>;

/// A file as it was read, and the findings per document.
type Looked = (File, Vec<Vec<Finding>>);

type Validator = dyn Validate + Send;

/// From how many bytes on a file is large.
const LARGE: usize = 256 << 10;

/// Batches that wait between reading and validation.
const WAITING: usize = 1;

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

    pub(crate) fn make(&self) -> Box<Validator> {
        match &self.runner {
            Some(runner) => Box::new(runner.validator(&self.profile, HostLimits::default())),
            None => Box::new(NativeValidator(self.profile.clone())),
        }
    }

    /// Reads and validates all files; findings come per document of the input.
    pub(crate) fn check(&self, sources: Vec<Source>, stored: &Stored, is_status: bool) -> (Input, Vec<Vec<Finding>>) {
        let next = AtomicUsize::new(0);
        let done: Mutex<BTreeMap<usize, Looked>> = Mutex::default();
        let progress = Progress::new(sources.len(), "files");
        let workers = thread::available_parallelism().map_or(1, usize::from).min(sources.len().max(1));
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    let mut validator = self.make();
                    while let Some((index, source)) = take(&next, &sources) {
                        let looked = look(validator.as_mut(), index, source, stored, is_status);
                        if let Ok(mut done) = done.lock() {
                            done.insert(index, looked);
                        }
                        progress.step();
                    }
                });
            }
        });
        drop(progress);
        let done = done.into_inner().unwrap_or_default();
        let (files, findings): (Vec<File>, Vec<Vec<Vec<Finding>>>) = done.into_values().unzip();
        (input::collect(sources, files), findings.into_iter().flatten().collect())
    }
}

fn take<'s>(next: &AtomicUsize, sources: &'s [Source]) -> Option<(usize, &'s Source)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, sources.get(index)?))
}

/// Reads and validates a file; a large one is read and validated at the same time.
fn look(validator: &mut Validator, index: usize, source: &Source, stored: &Stored, is_status: bool) -> Looked {
    let submit = |objects: Vec<Value>| -> Vec<Submission> {
        objects.into_iter().map(|object| submission(object, stored, is_status)).collect()
    };
    let mut all = Vec::new();
    let file = if source.text.len() < LARGE {
        File::read(index, &source.text, |batch| all.extend(validate(validator, submit(batch))))
    } else {
        let (give, take) = mpsc::sync_channel(WAITING);
        let mut documents = Vec::new();
        let mut file = thread::scope(|scope| {
            scope.spawn(|| {
                for batch in take {
                    all.extend(validate(validator, submit(input::take_in(index, batch, &mut documents))));
                }
            });
            // The other side takes until this one has no more to give.
            let file = File::read_batches(index, &source.text, |batch| drop(give.send(batch)));
            drop(give);
            file
        });
        file.documents = documents;
        file
    };
    if file.problems.iter().any(|problem| problem.code == ProblemCode::Template.text()) {
        for (findings, document) in all.iter_mut().zip(&file.documents) {
            if !findings.is_empty() {
                let value = document.value();
                findings.retain(|finding| !is_template(&value, &finding.path));
            }
        }
    }
    (file, all)
}

/// Findings per submission.
fn validate(validator: &mut Validator, submissions: Vec<Submission>) -> Vec<Vec<Finding>> {
    let count = submissions.len();
    validator.validate(submissions).unwrap_or_else(|error| {
        // Told once; everything else goes on with a fresh instance.
        let message = format!("these objects could not be validated: {error}");
        let mut findings = vec![Vec::new(); count];
        if let Some(first) = findings.first_mut() {
            first.push(Finding::new(Code::Internal, "", message));
        }
        findings
    })
}

/// Whether a field holds a template action: what is wrong with its text says nothing about what it expands to.
fn is_template(document: &Value, path: &str) -> bool {
    value_at(document, path).and_then(Value::as_str).is_some_and(|text| text.contains("{{"))
}

fn submission(value: Value, stored: &Stored, is_status: bool) -> Submission {
    let old = input::identity(&value).and_then(|identity| stored.get(&identity)).cloned().map(in_default_namespace);
    let operation = match (&old, is_status) {
        (None, _) => Operation::Create,
        (Some(_), false) => Operation::Update,
        (Some(_), true) => Operation::StatusUpdate,
    };
    Submission { old, operation, ..Submission::create(in_default_namespace(value)) }
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
    let identified = input.documents.iter().filter_map(|document| Some((document.identity()?, document.value())));
    Ok(identified.collect())
}
