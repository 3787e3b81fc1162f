//! Compiled selectors, kept because the same few expressions are asked again and again.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::slice::{AttributeValue, Device, ResourceSlice};
use crate::cel::{COST_LIMIT, CompileError, DeviceView, Environment, Program, compile, compile_derived};
use crate::profile::Profile;

/// How many different expressions are kept. Far more than real clusters have; it bounds what hostile ones can make it hold.
const MOST_KEPT: usize = 10_000;

/// Selectors by their text, those that do not compile included.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selectors {
    programs: BTreeMap<String, Compiled>,
    /// Expressions that compute attributes, by their text.
    derived: BTreeMap<String, Compiled>,
}

/// A program, or why there is none.
#[derive(Clone, Debug)]
enum Compiled {
    Program(Arc<Program>),
    Failed(Arc<str>),
}

/// Why a selector gives no answer.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum SelectorProblem {
    /// It does not compile.
    Compile(String),
    /// It fails on this device.
    Runtime(String),
}

impl Selectors {
    /// Whether an expression accepts a device.
    pub(crate) fn matches(
        &mut self,
        profile: &Profile,
        expression: &str,
        slice: &ResourceSlice,
        device: &Device,
    ) -> Result<bool, SelectorProblem> {
        let program = match self.program(profile, expression) {
            Compiled::Program(program) => program,
            Compiled::Failed(message) => return Err(SelectorProblem::Compile(message.as_ref().to_owned())),
        };
        match program.matches(&view(slice, device), COST_LIMIT) {
            Ok(evaluation) => Ok(evaluation.matched),
            Err(error) => Err(SelectorProblem::Runtime(error.message)),
        }
    }

    /// What an expression computes of a device.
    pub(crate) fn derive(
        &mut self,
        profile: &Profile,
        expression: &str,
        slice: &ResourceSlice,
        device: &Device,
    ) -> Result<AttributeValue, SelectorProblem> {
        if self.derived.len() >= MOST_KEPT {
            self.derived.clear();
        }
        let program = match self.derived.get(expression) {
            Some(known) => known.clone(),
            None => {
                let environment = Environment::stored(profile.version, &profile.features);
                let compiled = Compiled::from(compile_derived(expression, &environment));
                self.derived.insert(expression.to_owned(), compiled.clone());
                compiled
            }
        };
        match program {
            Compiled::Program(program) => program
                .derive(&view(slice, device), COST_LIMIT)
                .map_err(|error| SelectorProblem::Runtime(error.message)),
            Compiled::Failed(message) => Err(SelectorProblem::Compile(message.as_ref().to_owned())),
        }
    }

    fn program(&mut self, profile: &Profile, expression: &str) -> Compiled {
        if let Some(known) = self.programs.get(expression) {
            return known.clone();
        }
        let environment = Environment::stored(profile.version, &profile.features);
        let compiled = Compiled::from(compile(expression, &environment));
        if self.programs.len() >= MOST_KEPT {
            self.programs.clear();
        }
        self.programs.insert(expression.to_owned(), compiled.clone());
        compiled
    }
}

impl From<Result<Program, CompileError>> for Compiled {
    fn from(compiled: Result<Program, CompileError>) -> Self {
        match compiled {
            Ok(program) => Self::Program(Arc::new(program)),
            Err(error) => Self::Failed(error.message.into()),
        }
    }
}

/// A device as expressions see it.
fn view<'d>(slice: &'d ResourceSlice, device: &'d Device) -> DeviceView<'d> {
    DeviceView {
        driver: &slice.spec.driver,
        attributes: &device.attributes,
        capacity: &device.capacity,
        allow_multiple_allocations: device.allow_multiple_allocations == Some(true),
    }
}
