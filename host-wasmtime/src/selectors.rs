//! One selector against one device, asked of an instance of its own.

use apportion_core::api::read::Json;
use apportion_core::cel::{CompileError, CompileErrorKind, Environment};
use apportion_core::evaluate::{DeviceSample, Evaluation, Verdict};

use crate::bindings::exports::apportion::dra::selectors as wit;
use crate::error::{Error, Stop};
use crate::from_wit;
use crate::guard::HostLimits;
use crate::runner::Runner;
use crate::to_wit;

impl Runner {
    /// Compiles an expression and evaluates it for one device, in a fresh instance.
    ///
    /// # Errors
    ///
    /// When the component stops in the middle of it.
    pub fn evaluate(
        &self,
        expression: &str,
        device: &DeviceSample,
        environment: &Environment,
    ) -> Result<Evaluation, Error> {
        let stopped = |error: wasmtime::Error| Error::Stopped(Stop::of(&error, HostLimits::default()));
        let (mut store, instance) = self.instantiate(HostLimits::default()).map_err(stopped)?;
        let device = device.write().unwrap_or_default().to_string();
        let selectors = instance.apportion_dra_selectors();
        let which = if environment.stored { wit::Environment::Stored } else { wit::Environment::NewExpressions };
        let features = wit::Features {
            consumable_capacity: environment.consumable_capacity,
            list_type_attributes: environment.list_type_attributes,
        };
        let version = to_wit::version(environment.version);
        let answer = selectors
            .call_evaluate(&mut store, expression, &device, which, version, features)
            .map_err(stopped)?
            .map_err(|findings| Error::Refused(from_wit::findings(findings)))?;
        Ok(Evaluation { verdict: verdict(answer.verdict), actual_cost: answer.actual_cost, max_cost: answer.max_cost })
    }
}

fn verdict(verdict: wit::Verdict) -> Verdict {
    match verdict {
        wit::Verdict::Match => Verdict::Match,
        wit::Verdict::NoMatch => Verdict::NoMatch,
        wit::Verdict::RuntimeError(message) => Verdict::RuntimeError(message),
        wit::Verdict::CompileError(error) => Verdict::CompileError(CompileError {
            kind: match error.kind {
                wit::CompileErrorKind::Invalid => CompileErrorKind::Invalid,
                wit::CompileErrorKind::WrongResult => CompileErrorKind::WrongResult,
                wit::CompileErrorKind::NotSupportedHere => CompileErrorKind::NotSupportedHere,
            },
            message: error.message,
            offset: usize::try_from(error.offset).unwrap_or(usize::MAX),
            line: error.line,
            column: error.column,
            hint: None,
        }),
    }
}
