//! Compiled selectors, kept because the same few expressions are asked again and again.

use std::sync::Arc;

use super::inventory::SliceEntry;
use super::projections::{ProjectionIdx, Projections};
use super::shared_map::SharedMap;
use super::slots::SliceIdx;
use crate::api::slice::{AttributeValue, Device, ResourceSlice};
use crate::cel::{COST_LIMIT, CompileError, DeviceView, Environment, Program, Reads, compile, compile_derived};
use crate::profile::Profile;

/// How many different expressions are kept. Far more than real clusters have; it bounds what hostile ones can make it hold.
const MOST_KEPT: usize = 10_000;

/// Selectors by their text, those that do not compile included.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selectors {
    programs: SharedMap<String, Compiled>,
    /// Expressions that compute attributes, by their text.
    derived: SharedMap<String, Compiled>,
    projections: Projections,
    /// Evaluations so far, for tests that hold them down.
    pub(crate) evaluations: u64,
    /// What the evaluations of a question took in steps of a search, beyond those that asked.
    pub(crate) steps: u64,
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    /// The program, or why there is none.
    program: Result<Arc<Program>, Arc<str>>,
    /// On which projection of devices the answer depends; `None` where it can depend on anything.
    pub(crate) projection: Option<ProjectionIdx>,
}

/// Why a selector gives no answer.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum SelectorProblem {
    /// It does not compile.
    Compile(String),
    /// It fails on this device.
    Runtime(String),
}

impl Compiled {
    fn new(program: Result<Program, CompileError>, projections: &mut Projections) -> Self {
        match program {
            Ok(program) => {
                let projection = projections.of(program.reads());
                Self { program: Ok(Arc::new(program)), projection }
            }
            Err(error) => Self { program: Err(error.message.into()), projection: None },
        }
    }

    /// What the expression computes of a device.
    pub(crate) fn derive(
        &self,
        slice: &ResourceSlice,
        device: &Device,
        steps: &mut u64,
    ) -> Result<AttributeValue, SelectorProblem> {
        match &self.program {
            Ok(program) => program
                .derive_counted(&view(slice, device), COST_LIMIT, steps)
                .map_err(|error| SelectorProblem::Runtime(error.message)),
            Err(message) => Err(SelectorProblem::Compile(message.as_ref().to_owned())),
        }
    }

    /// What the expression reads; `None` where it does not compile.
    pub(crate) fn reads(&self) -> Option<&Reads> {
        self.program.as_ref().ok().map(|program| program.reads())
    }

    /// Whether the expression accepts a device. `is_usable` says that no attribute has a value that fails every expression. What it
    /// took in steps of a search, beyond the one that asks, is added to `steps`.
    pub(crate) fn matches(
        &self,
        slice: &ResourceSlice,
        device: &Device,
        is_usable: bool,
        steps: &mut u64,
    ) -> Result<bool, SelectorProblem> {
        let program = match &self.program {
            Ok(program) => program,
            Err(message) => return Err(SelectorProblem::Compile(message.as_ref().to_owned())),
        };
        let view = view(slice, device);
        let usable = if is_usable { Ok(()) } else { program.check_usable(&view) };
        let evaluation = usable.and_then(|()| program.matches_usable(&view, COST_LIMIT, steps));
        evaluation.map(|evaluation| evaluation.matched).map_err(|error| SelectorProblem::Runtime(error.message))
    }
}

impl Selectors {
    /// An expression, compiled now if it was not before.
    pub(crate) fn program(&mut self, profile: &Profile, expression: &str) -> Compiled {
        if let Some(known) = self.programs.get(expression) {
            return known.clone();
        }
        let environment = Environment::stored(profile.version, &profile.features);
        let compiled = Compiled::new(compile(expression, &environment), &mut self.projections);
        self.programs.insert(expression.to_owned(), compiled.clone());
        compiled
    }

    /// Whether an expression accepts a device.
    pub(crate) fn matches(
        &mut self,
        profile: &Profile,
        expression: &str,
        slice: &ResourceSlice,
        device: &Device,
    ) -> Result<bool, SelectorProblem> {
        self.program(profile, expression).matches(slice, device, false, &mut self.steps)
    }

    /// An expression that computes an attribute, compiled now if it was not before.
    pub(crate) fn derived(&mut self, profile: &Profile, expression: &str) -> Compiled {
        if let Some(known) = self.derived.get(expression) {
            return known.clone();
        }
        let environment = Environment::stored(profile.version, &profile.features);
        let compiled = Compiled::new(compile_derived(expression, &environment), &mut self.projections);
        self.derived.insert(expression.to_owned(), compiled.clone());
        compiled
    }

    /// The group of a device in a projection: devices of one group get the same answer, error included.
    pub(crate) fn group(&mut self, projection: ProjectionIdx, entry: &SliceEntry, position: usize) -> Option<u32> {
        self.projections.group(projection, entry, position)
    }

    /// The groups of all devices of a slice, in its order; `None` where none was asked for so far.
    pub(crate) fn known_groups(&self, projection: ProjectionIdx, entry: &SliceEntry) -> Option<&[u32]> {
        self.projections.known_groups(projection, entry)
    }

    /// Forgets a slice that is gone.
    pub(super) fn forget(&mut self, slice: SliceIdx) {
        self.projections.forget(slice);
    }

    /// Drops what is hardly of use any more, before a question is begun.
    pub(crate) fn tidy(&mut self) {
        if self.programs.len() > MOST_KEPT || self.derived.len() > MOST_KEPT {
            *self = Self::default();
        }
        self.projections.tidy();
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
