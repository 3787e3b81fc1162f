//! One selector against one device: the question of somebody who writes selectors.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::api::read::{Json, Path, api_struct};
use crate::api::slice::{Attribute, DeviceCapacity};
use crate::cel::{COST_LIMIT, CompileError, DeviceView, Environment, compile};
use crate::finding::{Finding, Severity};

api_struct! { closed
    /// A device as selectors see it.
    DeviceSample {
        /// DNS name of the driver; the domain of names without one.
        "driver" driver: String,
        /// Attributes by qualified name.
        "attributes" attributes: BTreeMap<String, Attribute>,
        /// Capacities by qualified name.
        "capacity" capacity: BTreeMap<String, DeviceCapacity>,
        /// Whether several claims may share the device.
        "allowMultipleAllocations" allow_multiple_allocations: Option<bool>,
    }
}

/// Reads a [`DeviceSample`].
///
/// # Errors
///
/// The findings, when one of them is an error.
pub fn read_device(value: Value) -> Result<DeviceSample, Vec<Finding>> {
    let mut findings = Vec::new();
    let read = DeviceSample::read(value, &Path::ROOT.field("device"), &mut findings);
    match read {
        Ok(device) if findings.iter().all(|finding| finding.severity != Severity::Error) => Ok(device),
        _ => Err(findings),
    }
}

/// What became of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evaluation {
    /// The result.
    pub verdict: Verdict,
    /// What the evaluation cost in the reference's units; absent where it did not start.
    pub actual_cost: Option<u64>,
    /// The reference's estimate of the most it can cost; absent where it does not compile. The API server refuses new
    /// expressions above [`COST_LIMIT`].
    pub max_cost: Option<u64>,
}

/// Whether a device matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It does.
    Match,
    /// It does not.
    NoMatch,
    /// The expression does not compile.
    CompileError(CompileError),
    /// The evaluation failed; a Pod whose claim does that is not scheduled at all.
    RuntimeError(String),
}

/// Compiles an expression and evaluates it for one device.
pub fn evaluate(expression: &str, device: &DeviceSample, environment: &Environment) -> Evaluation {
    let program = match compile(expression, environment) {
        Ok(program) => program,
        Err(error) => {
            return Evaluation { verdict: Verdict::CompileError(error), actual_cost: None, max_cost: None };
        }
    };
    let view = DeviceView {
        driver: &device.driver,
        attributes: &device.attributes,
        capacity: &device.capacity,
        allow_multiple_allocations: device.allow_multiple_allocations == Some(true),
    };
    let max_cost = Some(program.max_cost());
    match program.matches(&view, COST_LIMIT) {
        Ok(result) => {
            let verdict = if result.matched { Verdict::Match } else { Verdict::NoMatch };
            Evaluation { verdict, actual_cost: Some(result.cost), max_cost }
        }
        Err(error) => Evaluation { verdict: Verdict::RuntimeError(error.message), actual_cost: error.cost, max_cost },
    }
}

impl Evaluation {
    /// The canonical JSON: `{"status": "match" | "noMatch" | "compileError" | "runtimeError", "error", "line", "column",
    /// "actualCost", "maxCost"}`, without what is absent.
    pub fn to_json(&self) -> Value {
        let mut value = match &self.verdict {
            Verdict::Match => json!({ "status": "match" }),
            Verdict::NoMatch => json!({ "status": "noMatch" }),
            Verdict::CompileError(error) => json!({
                "status": "compileError", "error": error.message, "line": error.line, "column": error.column,
            }),
            Verdict::RuntimeError(message) => json!({ "status": "runtimeError", "error": message }),
        };
        if let Some(map) = value.as_object_mut() {
            map.extend(self.actual_cost.map(|cost| ("actualCost".to_owned(), Value::from(cost))));
            map.extend(self.max_cost.map(|cost| ("maxCost".to_owned(), Value::from(cost))));
        }
        value
    }
}
