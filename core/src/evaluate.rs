//! One selector against one device: the question of somebody who writes selectors.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::api::read::{Json, Path, api_struct};
use crate::api::slice::{Attribute, DeviceCapacity};
use crate::cel::{COST_LIMIT, CompileError, DeviceView, Environment, compile};
use crate::finding::{Finding, Severity};

api_struct! {
    /// A device as selectors see it.
    closed DeviceSample {
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

/// What became of an expression.
#[derive(Serialize)]
#[serde(tag = "status", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "Verdict"))]
pub(crate) enum Written<'a> {
    /// The device matches.
    Match(Costs),
    /// The device does not match.
    NoMatch(Costs),
    /// The expression does not compile.
    CompileError {
        /// Why.
        error: &'a str,
        /// Line, from 1 on; 0 if it has no place.
        line: u32,
        /// Column in code points, from 1 on; 0 if it has no place.
        column: u32,
    },
    /// The evaluation failed.
    RuntimeError {
        /// Why.
        error: &'a str,
        #[serde(flatten)]
        costs: Costs,
    },
}

/// What an evaluation costs, in Kubernetes' units.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct Costs {
    /// What it cost; absent where it did not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    actual_cost: Option<u64>,
    /// The estimate of the most it can cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_cost: Option<u64>,
}

impl Evaluation {
    /// The canonical JSON: `{"status": "match" | "noMatch" | "compileError" | "runtimeError", "error", "line", "column",
    /// "actualCost", "maxCost"}`, without what is absent.
    pub fn to_json(&self) -> Value {
        let costs = Costs { actual_cost: self.actual_cost, max_cost: self.max_cost };
        let written = match &self.verdict {
            Verdict::Match => Written::Match(costs),
            Verdict::NoMatch => Written::NoMatch(costs),
            Verdict::CompileError(CompileError { message, line, column, .. }) => {
                Written::CompileError { error: message, line: *line, column: *column }
            }
            Verdict::RuntimeError(message) => Written::RuntimeError { error: message, costs },
        };
        // All keys are text, so writing cannot fail.
        serde_json::to_value(written).unwrap_or_default()
    }
}
