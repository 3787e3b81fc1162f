//! Validation inside the component.

use std::fmt;

use apportion_core::finding::Finding;
use apportion_core::profile::Profile;
use apportion_core::validate::{self, Circumstances, Operation, Submission};
use serde_json::Value;
use wasmtime::Store;

use crate::bindings::Dra;
use crate::bindings::exports::apportion::dra::decisions::Profile as WitProfile;
use crate::bindings::exports::apportion::dra::validation as wit;
use crate::error::{Error, Stop};
use crate::from_wit;
use crate::guard::{self, Guard, HostLimits};
use crate::runner::Runner;
use crate::to_wit;

/// A [`Submission`] whose objects are JSON texts.
#[derive(Clone, PartialEq, Debug)]
pub struct Written {
    /// The object.
    pub object: String,
    /// What is stored, for updates.
    pub old: Option<String>,
    /// What is asked of the API server.
    pub operation: Operation,
    /// What else matters.
    pub circumstances: Circumstances,
}

impl From<Submission> for Written {
    fn from(submission: Submission) -> Self {
        let Submission { object, old, operation, circumstances } = submission;
        Self { object: object.to_string(), old: old.map(|old| old.to_string()), operation, circumstances }
    }
}

impl Written {
    /// The submission; null for what is not JSON.
    fn read(&self) -> Submission {
        let value = |text: &String| serde_json::from_str(text).unwrap_or_default();
        Submission {
            object: value(&self.object),
            old: self.old.as_ref().map(value),
            operation: self.operation,
            circumstances: self.circumstances,
        }
    }
}

/// Questions about manifests, answered by the component or by the core linked natively. A call fails when the component traps.
pub trait Validate {
    /// What the API server answers, per submission in the order given.
    fn validate(&mut self, submissions: Vec<Written>) -> Result<Vec<Vec<Finding>>, Error>;

    /// What only shows when objects (as JSON texts) are seen together, per object in the order given.
    fn validate_set(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Error>;

    /// The same object in another version of its API group.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when there is no way.
    fn convert(&mut self, object: Value, version: &str) -> Result<Value, Error>;
}

/// The core linked into this program, for comparison with the component. Never stops.
#[derive(Debug)]
pub struct NativeValidator(pub Profile);

impl Validate for NativeValidator {
    fn validate(&mut self, submissions: Vec<Written>) -> Result<Vec<Vec<Finding>>, Error> {
        Ok(submissions.iter().map(|submission| validate::validate(submission.read(), &self.0)).collect())
    }

    fn validate_set(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Error> {
        Ok(validate::validate_set(objects, &self.0))
    }

    fn convert(&mut self, object: Value, version: &str) -> Result<Value, Error> {
        validate::convert(object, version).map_err(Error::Refused)
    }
}

/// An instance of the component that validates for one Kubernetes. It keeps nothing between calls; after a stop the
/// next call finds a fresh one.
pub struct Validator {
    runner: Runner,
    profile: WitProfile,
    limits: HostLimits,
    live: Option<(Store<Guard>, Dra)>,
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Runner {
    /// A validator for a given Kubernetes in an instance of its own.
    pub fn validator(&self, profile: &Profile, limits: HostLimits) -> Validator {
        Validator { runner: self.clone(), profile: to_wit::profile(profile), limits, live: None }
    }
}

impl Validator {
    fn call<T>(
        &mut self,
        ask: impl FnOnce(&wit::Guest, &mut Store<Guard>, &WitProfile) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        let limits = self.limits;
        let live = match self.live.take() {
            Some(live) => Ok(live),
            None => self.runner.instantiate(limits),
        };
        let answer = live.and_then(|(mut store, instance)| {
            guard::start(&mut store);
            let answer = ask(instance.apportion_dra_validation(), &mut store, &self.profile)?;
            Ok((answer, (store, instance)))
        });
        match answer {
            Ok((answer, live)) => {
                self.live = Some(live);
                Ok(answer)
            }
            Err(error) => Err(Error::Stopped(Stop::of(&error, limits))),
        }
    }
}

impl Validate for Validator {
    fn validate(&mut self, submissions: Vec<Written>) -> Result<Vec<Vec<Finding>>, Error> {
        let submissions: Vec<wit::Submission> = submissions.into_iter().map(submission).collect();
        let answer = self.call(|guest, store, profile| guest.call_validate(store, &submissions, profile))?;
        lists(answer)
    }

    fn validate_set(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Error> {
        let answer = self.call(|guest, store, profile| guest.call_validate_set(store, objects, profile))?;
        // A set may be large, and memory of an instance never shrinks.
        self.live = None;
        lists(answer)
    }

    fn convert(&mut self, object: Value, version: &str) -> Result<Value, Error> {
        let object = object.to_string();
        let answer = self.call(|guest, store, _| guest.call_convert(store, &object, version))?;
        let text = answer.map_err(|findings| Error::Refused(from_wit::findings(findings)))?;
        from_wit::json(&text).map_err(|finding| Error::Refused(vec![finding]))
    }
}

fn lists(answer: Result<Vec<Vec<wit::Finding>>, Vec<wit::Finding>>) -> Result<Vec<Vec<Finding>>, Error> {
    match answer {
        Ok(lists) => Ok(lists.into_iter().map(from_wit::findings).collect()),
        Err(findings) => Err(Error::Refused(from_wit::findings(findings))),
    }
}

fn submission(submission: Written) -> wit::Submission {
    wit::Submission {
        object: submission.object,
        old: submission.old,
        operation: match submission.operation {
            Operation::Create => wit::Operation::Create,
            Operation::Update => wit::Operation::Update,
            Operation::StatusUpdate => wit::Operation::StatusUpdate,
        },
        circumstances: wit::Circumstances {
            admin_namespace: submission.circumstances.admin_namespace,
            authorized: submission.circumstances.authorized,
        },
    }
}
