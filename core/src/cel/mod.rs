//! The CEL environment of DRA device selectors: parser, checker, cost-metered evaluator.
//!
//! An expression is compiled once and evaluated for many devices. The device is borrowed; an evaluation allocates only
//! for values that the expression itself makes. Same expression, same device, same answer and same cost, always: maps are
//! walked in the order of their keys (the reference walks them in random order).
//!
//! Source: cel-go 0.26, the libraries of apiserver 1.36, `k8s.io/dynamic-resource-allocation/cel`.

mod advice;
mod ast;
mod call;
mod check;
pub(crate) mod clock;
mod comparisons;
mod cost;
mod decls;
mod derive;
mod device;
mod error;
mod estimate;
mod eval;
mod format;
mod format_names;
mod functions;
mod lexer;
mod lint;
mod macros;
mod mentions;
mod net;
mod number;
mod parser;
mod plan;
mod posix_zone;
mod reads;
mod regex;
mod semver;
mod time;
mod types;
mod url;
mod validators;
mod value;
mod whole;
mod work;
mod zones;

use std::fmt;

use thiserror::Error;

pub use advice::{Advice, Types};
pub use comparisons::{Comparison, Constant, Operator};
pub use derive::compile_derived;
pub use device::DeviceView;
pub(crate) use device::are_usable;
pub use lint::Lint;
pub use mentions::Mention;
pub use reads::{Field, Reads};
pub(crate) use whole::{Whole, evaluate_whole};
pub(crate) use zones::is_zone;

use crate::profile::{Features, Version};
use ast::{Ast, NodeId};
use check::Checked;
use decls::Includes;
use error::Report;
use eval::Machine;
use plan::{Code, Refusal};
use types::Type;
use value::{Fault, Value};

/// The cost limit of one evaluation, `CELSelectorExpressionMaxCost`.
pub const COST_LIMIT: u64 = 1_000_000;

/// The longest expression that the API server admits, in bytes, `CELSelectorExpressionMaxLength`.
pub const MOST_BYTES: usize = 10 * 1024;

/// What an expression may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Environment {
    /// Whether the expression is stored already: then everything that the version knows is declared, whatever the
    /// features. The allocator evaluates in this mode. Otherwise the expression is new, and only what the previous
    /// version knew and what features add is declared, as the API server admits expressions.
    pub stored: bool,
    /// Feature `DRAConsumableCapacity`: `device.allowMultipleAllocations`.
    pub consumable_capacity: bool,
    /// Feature `DRAListTypeAttributes`: lists as attributes, `includes`.
    pub list_type_attributes: bool,
    /// Which Kubernetes.
    pub version: Version,
}

impl Environment {
    /// The environment in which a scheduler of that version evaluates.
    pub fn stored(version: Version, features: &Features) -> Self {
        Self {
            stored: true,
            consumable_capacity: features.consumable_capacity,
            list_type_attributes: features.list_type_attributes,
            version,
        }
    }

    /// The environment in which an API server of that version admits expressions.
    pub fn new_expressions(version: Version, features: &Features) -> Self {
        Self { stored: false, ..Self::stored(version, features) }
    }

    fn is_after_1_36(&self) -> bool {
        self.version >= Version::V1_37
    }

    /// Attributes are of type `any` unless they may be lists. Versions after 1.36 always evaluate lists.
    fn has_list_attributes(&self) -> bool {
        self.list_type_attributes || (self.stored && self.is_after_1_36())
    }

    fn attribute_type(&self) -> Type {
        if self.has_list_attributes() { Type::Dyn } else { Type::Any }
    }

    fn has_multiple_allocations(&self) -> bool {
        self.stored || self.consumable_capacity
    }

    fn includes(&self) -> Includes {
        match self.version {
            Version::V1_34 | Version::V1_35 | Version::V1_36 if self.list_type_attributes => Includes::Device,
            Version::V1_36 if self.stored => Includes::Device,
            _ if self.is_after_1_36() && (self.stored || self.list_type_attributes) => Includes::Library,
            _ => Includes::Nowhere,
        }
    }

    /// Whether a device may have lists. After 1.36 they are converted whatever the features.
    pub(crate) fn converts_lists(&self) -> bool {
        self.list_type_attributes || self.is_after_1_36()
    }

    /// The list library came with 1.34, so that new expressions can use it one version later.
    fn has_lists(&self) -> bool {
        self.stored || self.version != Version::V1_34
    }
}

/// Why an expression does not compile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompileErrorKind {
    /// It breaks the rules of CEL or of the environment.
    Invalid,
    /// It evaluates to something that cannot be a boolean.
    WrongResult,
    /// The reference accepts it; this implementation lacks what it uses, and says so instead of answering differently.
    NotSupportedHere,
}

/// An expression that does not compile.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct CompileError {
    /// The class of the error.
    pub kind: CompileErrorKind,
    /// The text that the API server would show.
    pub message: String,
    /// Where the first error is, in bytes from the start of the expression.
    pub offset: usize,
    /// The line of the first error, from 1; 0 if it has no place.
    pub line: u32,
    /// The column of the first error in code points, from 1; 0 if it has no place.
    pub column: u32,
    /// What to write instead, where that can be told.
    pub hint: Option<String>,
}

impl CompileError {
    /// The same with what to write instead.
    fn with_hint(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }
}

/// A compiled expression.
pub struct Program {
    code: Code,
    slots: usize,
    has_lists: bool,
    /// Whether it is evaluated as in 1.37.
    is_after_1_36: bool,
    max_cost: u64,
    reads: Reads,
}

/// The answer of an evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Evaluation {
    /// Whether the device matches.
    pub matched: bool,
    /// The cost in the reference's units.
    pub cost: u64,
}

/// An evaluation that failed, which fails the allocation.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct RuntimeError {
    /// The reference's text.
    pub message: String,
    /// The cost up to the failure; `None` if evaluation did not start because an attribute of the device is unusable.
    pub cost: Option<u64>,
}

/// Compiles a selector.
///
/// ```
/// use std::collections::BTreeMap;
/// use apportion_core::cel::{COST_LIMIT, DeviceView, Environment, compile};
/// use apportion_core::profile::{Features, Version};
///
/// let env = Environment::stored(Version::V1_36, &Features::of(Version::V1_36));
/// let program = compile(r#"device.driver == "gpu.example.com""#, &env)?;
/// let (attributes, capacity) = (BTreeMap::new(), BTreeMap::new());
/// let device = DeviceView {
///     driver: "gpu.example.com",
///     attributes: &attributes,
///     capacity: &capacity,
///     allow_multiple_allocations: false,
/// };
/// assert!(program.matches(&device, COST_LIMIT)?.matched);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`CompileError`] with the reference's message. The length limit and the limit on [`Program::max_cost`], which hold for
/// new expressions only, are left to the caller.
pub fn compile(source: &str, env: &Environment) -> Result<Program, CompileError> {
    compile_for(source, env, |result| wrong_selector(result, env))
}

/// Compiles a selector and looks for what its author is likely to have meant differently.
///
/// # Errors
///
/// As [`compile`].
pub fn compile_and_lint(source: &str, env: &Environment) -> Result<(Program, Vec<Lint>), CompileError> {
    let (ast, root, checked) = check_source(source, env, |result| wrong_selector(result, env))?;
    let program = assemble(source, env, &ast, root, &checked)?;
    Ok((program, lint::lint(&ast, root, &checked)))
}

/// What is wrong with constants of a selector, and with its comparisons of attributes whose types are known: `types` gives those of
/// an attribute by domain and name. What does not compile has the advice of its error.
pub fn advice(source: &str, env: &Environment, types: Types<'_>) -> Vec<Advice> {
    match check_source(source, env, |result| wrong_selector(result, env)) {
        Ok((ast, root, checked)) => advice::advice(&ast, root, &checked, types),
        Err(_) => Vec::new(),
    }
}

/// The first thing that is wrong with a selector that fails on a device with attributes of the given types.
pub(crate) fn failure_advice(source: &str, env: &Environment, types: Types<'_>) -> Option<Advice> {
    let (ast, root, checked) = check_source(source, env, |result| wrong_selector(result, env)).ok()?;
    failing(&ast, root, &checked, types)
}

fn failing(ast: &Ast, root: NodeId, checked: &Checked, types: Types<'_>) -> Option<Advice> {
    let is_failure = |advice: &Advice| !advice.is_never_equal;
    advice::advice(ast, root, checked, types).into_iter().find(is_failure).or_else(|| {
        let lints = lint::lint(ast, root, checked);
        let named = lints.iter().find(|lint| matches!(lint, Lint::Unqualified { .. } | Lint::WireMember { .. }))?;
        let (problem, remedy) = named.in_words();
        Some(Advice { problem, remedy, is_never_equal: false })
    })
}

/// What a selector reads under fixed names; nothing where it does not compile.
pub fn mentions(source: &str, env: &Environment) -> Vec<Mention> {
    match check_source(source, env, |result| wrong_selector(result, env)) {
        Ok((ast, root, checked)) => mentions::mentions(&ast, root, &checked),
        Err(_) => Vec::new(),
    }
}

/// What a selector wants of single fields, where it says so plainly: comparisons with constants that must hold together.
pub fn comparisons(source: &str, env: &Environment) -> Option<Vec<Comparison>> {
    let (ast, root, checked) = check_source(source, env, |result| wrong_selector(result, env)).ok()?;
    comparisons::comparisons(&ast, root, &checked)
}

/// What is wrong with the type of a selector's result.
fn wrong_selector(result: &Type, env: &Environment) -> Option<String> {
    let is_unknown = matches!(result, Type::Any) || (env.has_list_attributes() && matches!(result, Type::Dyn));
    let is_wrong = !is_unknown && *result != Type::Bool;
    is_wrong.then(|| format!("must evaluate to bool or the unknown type, not {}", reported_type(result)))
}

/// Compiles; `wrong_result` says what is wrong with the type of the result.
fn compile_for(
    source: &str,
    env: &Environment,
    wrong_result: impl Fn(&Type) -> Option<String>,
) -> Result<Program, CompileError> {
    let (ast, root, checked) = check_source(source, env, wrong_result)?;
    assemble(source, env, &ast, root, &checked)
}

fn check_source(
    source: &str,
    env: &Environment,
    wrong_result: impl Fn(&Type) -> Option<String>,
) -> Result<(Ast, NodeId, Checked), CompileError> {
    let mut report = Report::new(source);
    let Some((mut ast, root)) = parser::parse(source, env, &mut report) else {
        return Err(spelled(source, invalid(&report)));
    };
    let checked = check::check(&mut ast, root, env, &mut report);
    if let Some((offset, what)) = checked.unsupported {
        return Err(not_supported(source, Some(offset), &what));
    }
    if !report.is_empty() {
        let error = spelled(source, invalid(&report));
        let hint = error.hint.clone().or_else(|| Some(failing(&ast, root, &checked, &|_, _| Vec::new())?.in_words()));
        return Err(error.with_hint(hint));
    }
    validators::validate(&ast, root, &checked, &mut report);
    if !report.is_empty() {
        return Err(invalid(&report));
    }
    if let Some(message) = wrong_result(checked.type_of(root)) {
        let hint = Some("a selector must be true or false: compare the value, for instance with `==`".to_owned());
        return Err(CompileError { kind: CompileErrorKind::WrongResult, message, offset: 0, line: 0, column: 0, hint });
    }
    Ok((ast, root, checked))
}

fn assemble(
    source: &str,
    env: &Environment,
    ast: &Ast,
    root: NodeId,
    checked: &Checked,
) -> Result<Program, CompileError> {
    let (code, slots) = plan::plan(ast, root, checked).map_err(|refusal| match refusal {
        Refusal::Invalid(message) => CompileError {
            kind: CompileErrorKind::Invalid,
            message: format!("program instantiation failed: {message}"),
            offset: 0,
            line: 0,
            column: 0,
            hint: None,
        },
        Refusal::Unsupported(what) => not_supported(source, None, &what),
    })?;
    let reads = reads::reads(&code);
    let max_cost = estimate::max_cost(ast, root, checked);
    let (has_lists, is_after_1_36) = (env.converts_lists(), env.is_after_1_36());
    Ok(Program { code, slots, has_lists, is_after_1_36, max_cost, reads })
}

fn invalid(report: &Report<'_>) -> CompileError {
    let (offset, line, column) = report.first_place().unwrap_or_default();
    let message = format!("compilation failed: {}", report.render());
    CompileError { kind: CompileErrorKind::Invalid, message, offset, line, column, hint: None }
}

/// The error with what to write instead of a word that there is not.
fn spelled(source: &str, error: CompileError) -> CompileError {
    let hint = advice::of_message(source, &error.message, error.offset);
    error.with_hint(hint)
}

fn not_supported(source: &str, offset: Option<u32>, what: &str) -> CompileError {
    let mut report = Report::new(source);
    report.add(offset.unwrap_or(error::NOWHERE), format!("{what} is not supported here"));
    CompileError { kind: CompileErrorKind::NotSupportedHere, ..invalid(&report) }
}

/// The type as this one message names it.
fn reported_type(result: &Type) -> String {
    match result {
        Type::Duration => "google.protobuf.Duration".to_owned(),
        Type::Timestamp => "google.protobuf.Timestamp".to_owned(),
        Type::Null => "null_type".to_owned(),
        Type::Any => "google.protobuf.Any".to_owned(),
        Type::List(inner) => format!("list({})", reported_type(inner)),
        Type::Optional(inner) => format!("optional_type({})", reported_type(inner)),
        Type::Meta(inner) => format!("type({})", reported_type(inner)),
        Type::Map(key, value) => format!("map({}, {})", reported_type(key), reported_type(value)),
        other => other.to_string(),
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("reads", &self.reads).finish_non_exhaustive()
    }
}

impl Program {
    /// Evaluates for one device.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]: the expression failed, cost more than `cost_limit`, did not give a boolean, or the device has an
    /// unusable attribute.
    pub fn matches(&self, device: &DeviceView<'_>, cost_limit: u64) -> Result<Evaluation, RuntimeError> {
        self.check_usable(device)?;
        self.matches_usable(device, cost_limit, &mut 0)
    }

    /// Whether a device has no attribute that fails every evaluation.
    pub(crate) fn check_usable(&self, device: &DeviceView<'_>) -> Result<(), RuntimeError> {
        device.problem(self.has_lists).map_or(Ok(()), |message| Err(RuntimeError { message, cost: None }))
    }

    /// The same for a device of which it is known that all attributes are usable. What it took in steps of a search, beyond the one
    /// that asks, is added to `steps`.
    pub(crate) fn matches_usable(
        &self,
        device: &DeviceView<'_>,
        cost_limit: u64,
        steps: &mut u64,
    ) -> Result<Evaluation, RuntimeError> {
        match self.run(device, cost_limit, steps)? {
            (Value::Bool(matched), cost) => Ok(Evaluation { matched, cost }),
            (other, cost) => Err(RuntimeError { message: not_bool(&other), cost: Some(cost) }),
        }
    }

    /// The value of any type for a usable device, and its cost.
    fn run<'a>(
        &'a self,
        device: &'a DeviceView<'a>,
        cost_limit: u64,
        steps: &mut u64,
    ) -> Result<(Value<'a>, u64), RuntimeError> {
        let mut machine = Machine::new(device, self.slots, cost_limit, self.is_after_1_36);
        let result = machine.eval(&self.code);
        *steps = steps.saturating_add(machine.work.search_steps());
        match result {
            Ok(value) => Ok((value, machine.cost)),
            Err(Fault::Error(message) | Fault::Abort(message)) => {
                Err(RuntimeError { message: message.into_owned(), cost: Some(machine.cost) })
            }
        }
    }

    /// The reference's estimate of what the expression can cost at most. The API server refuses new expressions above
    /// [`COST_LIMIT`].
    pub fn max_cost(&self) -> u64 {
        self.max_cost
    }

    /// What of a device the answer can depend on: devices that agree on all of it get the same answer at the same cost.
    ///
    /// Every evaluation also looks at all attributes for values that cannot be used at all.
    pub fn reads(&self) -> &Reads {
        &self.reads
    }
}

fn not_bool(value: &Value<'_>) -> String {
    let name = value.type_name();
    let reason = match value {
        Value::Int(_) => "unsupported type conversion from 'int' to bool".to_owned(),
        Value::Uint(_) => "unsupported type conversion from 'uint' to bool".to_owned(),
        Value::Str(_) => "unsupported native conversion from string to 'bool'".to_owned(),
        Value::Semver(_) => "type conversion error from 'Semver' to 'bool'".to_owned(),
        Value::Quantity(_) => "type conversion error from 'Quantity' to 'bool'".to_owned(),
        Value::List(_) => "type conversion error from list to 'bool'".to_owned(),
        Value::Map(_) => "type conversion error from map to 'bool'".to_owned(),
        Value::Type(_) => "type conversion not supported for 'type'".to_owned(),
        Value::Null
        | Value::Bool(_)
        | Value::Double(_)
        | Value::Bytes(_)
        | Value::Duration(_)
        | Value::Timestamp(_)
        | Value::Optional(_)
        | Value::Ip(_)
        | Value::Cidr(_)
        | Value::Url(_)
        | Value::Format(_)
        | Value::Broken(_) => format!("type conversion error from '{name}' to 'bool'"),
    };
    format!("CEL result of type {name} could not be converted to bool: {reason}")
}
