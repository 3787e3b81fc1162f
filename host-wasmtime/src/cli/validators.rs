//! Files through validators: one for each thread that reads.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use apportion::{HostLimits, NativeValidator, Runner, Validate, Written};
use apportion_core::finding::{Code, Finding, ObjectRef, Severity, value_at};
use apportion_core::profile::{Mode, Profile};
use apportion_core::validate::{Circumstances, Operation, as_stored, goes_to_default_namespace, in_default_namespace};
use apportion_yaml::ProblemCode;
use serde_json::Value;

use super::arguments::KubernetesArguments;
use super::files::{Network, Source};
use super::input::{Input, identity, put_into};
use super::note::Note;
use super::read::{load, read};
use super::{ask, stage, text};

/// Objects as they are stored, by group, kind, namespace and name.
pub(crate) type Stored = BTreeMap<(String, ObjectRef), Value>;

type Validator = dyn Validate + Send;

/// Validators for the Kubernetes that the arguments describe.
pub(crate) struct Validators {
    profile: Profile,
    /// `None` for the core outside of the component.
    runner: Option<Runner>,
}

impl Validators {
    pub(crate) fn new(arguments: &KubernetesArguments) -> Result<Self> {
        let profile = ask::profile(arguments, Mode::Sound)?;
        let runner = if arguments.native { None } else { Some(arguments.runner()?) };
        Ok(Self { profile, runner })
    }

    pub(crate) fn make(&self) -> Box<Validator> {
        match &self.runner {
            Some(runner) => Box::new(runner.validator(&self.profile, HostLimits::default())),
            None => Box::new(NativeValidator(self.profile.clone())),
        }
    }

    /// Reads and validates all files; findings come per document of the input. What names no namespace is put into `namespace`.
    pub(crate) fn check(
        &self,
        sources: Vec<Source>,
        namespace: &str,
        stored: &Stored,
        is_status: bool,
    ) -> (Input, Vec<Vec<Finding>>) {
        stage::read_in_parts();
        let (mut input, mut findings) = read(sources, || {
            let mut validator = self.make();
            move |objects: Vec<Value>, texts: &[String]| {
                let written = objects.into_iter().zip(texts);
                let submit = |(mut object, text): (Value, &String)| {
                    let text = if put_into(&mut object, namespace) { &object.to_string() } else { text };
                    submission(object, text, stored, is_status)
                };
                validate(validator.as_mut(), written.map(submit).collect())
            }
        });
        input.put_into(namespace);
        let is_template = |problem: &&Note| problem.code == ProblemCode::Template.text();
        let templates = input.problems.iter().filter(is_template).filter_map(|problem| problem.place.as_ref());
        let templates: BTreeSet<usize> = templates.map(|place| place.source).collect();
        for (index, (findings, document)) in findings.iter_mut().zip(&input.documents).enumerate() {
            if !findings.is_empty() && templates.contains(&document.source) {
                let value = input.object(index);
                findings.retain(|finding| !is_template_text(&value, &finding.path));
            }
        }
        (input, findings)
    }
}

/// Why the API server would not create objects of the input, for each.
pub(crate) fn refusals(validator: &mut Validator, input: &Input) -> Vec<Vec<Finding>> {
    let stored = Stored::new();
    let written = input.objects().zip(&input.texts).map(|(object, text)| submission(object, text, &stored, false));
    let mut found = validate(validator, written.collect());
    for (findings, document) in found.iter_mut().zip(&input.documents) {
        findings.retain(|finding| finding.severity == Severity::Error);
        for finding in findings {
            finding.object.get_or_insert_with(|| document.written_reference());
        }
    }
    found
}

/// Findings per submission.
fn validate(validator: &mut Validator, submissions: Vec<Written>) -> Vec<Vec<Finding>> {
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
fn is_template_text(document: &Value, path: &str) -> bool {
    value_at(document, path).and_then(Value::as_str).is_some_and(|text| text.contains("{{"))
}

/// An object as kubectl submits it, from the object and its text.
fn submission(value: Value, text: &str, stored: &Stored, is_status: bool) -> Written {
    let old = identity(&value).and_then(|identity| stored.get(&identity)).cloned();
    let old = old.map(|old| as_stored(with_identity_of(&value, old)));
    let operation = match (&old, is_status) {
        (None, _) => Operation::Create,
        (Some(_), false) => Operation::Update,
        (Some(_), true) => Operation::StatusUpdate,
    };
    let object = match goes_to_default_namespace(&value) {
        true => in_default_namespace(value).to_string(),
        false => text.to_owned(),
    };
    Written { object, old: old.map(|old| old.to_string()), operation, circumstances: Circumstances::default() }
}

/// What the API server sets when it creates an object. A manifest that was never stored has none of it, and is the same object as one that was.
const SET_ON_CREATION: [&str; 3] = ["creationTimestamp", "generation", "uid"];

/// The old object, with what tells stored objects apart taken from the new one where the old one is a manifest.
fn with_identity_of(new: &Value, mut old: Value) -> Value {
    if let (Some(new), Some(Value::Object(old))) = (new.get("metadata"), old.get_mut("metadata"))
        && !old.contains_key("uid")
    {
        for field in SET_ON_CREATION {
            if let Some(value) = new.get(field) {
                old.entry(field).or_insert_with(|| value.clone());
            }
        }
    }
    old
}

/// The objects of `--old`, those that name no namespace put into `namespace`.
pub(crate) fn stored(paths: &[String], namespace: &str) -> Result<Stored> {
    if paths.is_empty() {
        return Ok(Stored::new());
    }
    let mut input = load(paths, Network::Refused)?;
    input.put_into(namespace);
    if input.refused > 0 {
        bail!("{} of `--old` cannot be read; `apportion validate` says why", text::count(input.refused, "document"));
    }
    let identified = input
        .documents
        .iter()
        .zip(input.objects())
        .filter_map(|(document, object)| Some((document.identity()?, object)));
    Ok(identified.collect())
}
