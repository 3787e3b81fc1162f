//! One expression against one device: its value and cost, and the values of its parts, which say why it is false.

use serde::{Deserialize, Serialize};

use crate::allocate::DeviceId;
use crate::cel::{DeviceView, Environment, Whole, compile, evaluate_whole};
use crate::cluster::Cluster;
use crate::explain::ReadValue;
use crate::explain::statistics::{Subject, fields, value, written};
use crate::explain::unknown::unknown_device;
use crate::finding::{Code, Finding};

/// Most parts, and how deep they nest.
const MOST_PARTS: usize = 64;
const DEEPEST: usize = 8;

/// The question.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExpressionRequest {
    /// A CEL expression over `device`.
    pub expression: String,
    /// `device`, `pool/device` or `driver/pool/device`; empty for every device.
    pub device: String,
}

/// What the expression comes to on one device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ExpressionAnswer {
    /// The device.
    pub device: DeviceId,
    /// The expression as a whole, then its parts in the order of the text.
    pub parts: Vec<Part>,
    /// What it reads, and what the device has for it.
    pub reads: Vec<ReadValue>,
    /// What the evaluation cost, of at most 1,000,000 units; absent where it did not start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// The reference's estimate of the most it can cost on any device.
    pub max_cost: u64,
}

/// One part of an expression.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "ExpressionPart"))]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// How deep it stands: 0 for the whole.
    pub depth: u64,
    /// Its text.
    pub text: String,
    /// Its type.
    pub result_type: String,
    /// Its value, or the error in which it ends.
    pub value: String,
    /// Whether it ends in an error.
    pub is_error: bool,
    /// Whether it is what makes the whole false: false itself, or an error.
    pub is_cause: bool,
}

/// Evaluates an expression on devices.
///
/// # Errors
///
/// A finding, when the expression does not compile, or there is no such device.
pub fn expression(cluster: &Cluster, request: &ExpressionRequest) -> Result<Vec<ExpressionAnswer>, Vec<Finding>> {
    let profile = cluster.profile();
    let env = Environment::stored(profile.version, &profile.features);
    let mut answers = Vec::new();
    for slice in cluster.slices().values() {
        for device in &slice.spec.devices {
            let id = DeviceId::of(slice, device);
            if !request.device.is_empty() && !crate::explain::detail::is_meant(&request.device, &id) {
                continue;
            }
            let view = DeviceView {
                driver: &slice.spec.driver,
                attributes: &device.attributes,
                capacity: &device.capacity,
                allow_multiple_allocations: device.allow_multiple_allocations == Some(true),
            };
            let whole = evaluate_whole(&request.expression, &env, &view).map_err(|error| {
                let hint = error.hint;
                vec![Finding { hint, ..Finding::new(Code::AllocSelectorCompile, "expression", error.message) }]
            })?;
            let subject = Subject { driver: &slice.spec.driver, device };
            let reads = compile(&request.expression, &env).map(|program| {
                let read = |field| ReadValue { name: written(field), value: value(subject, field) };
                fields(program.reads()).into_iter().map(read).collect()
            });
            let (cost, max_cost) = (whole.cost, whole.max_cost);
            let mut parts = Vec::new();
            descend(&request.expression, 0, &mut { MOST_PARTS }, &mut |text, depth| {
                parts.extend(evaluate_whole(text, &env, &view).map(|whole| part(text, depth, whole)));
            });
            answers.push(ExpressionAnswer { device: id, parts, reads: reads.unwrap_or_default(), cost, max_cost });
        }
    }
    if answers.is_empty() {
        return Err(vec![unknown_device(cluster, &request.device)]);
    }
    Ok(answers)
}

fn part(text: &str, depth: usize, whole: Whole) -> Part {
    let is_error = whole.value.is_err();
    let is_cause = is_error || whole.is_true == Some(false);
    Part {
        depth: u64::try_from(depth).unwrap_or(u64::MAX),
        text: text.trim().to_owned(),
        result_type: whole.result_type,
        value: whole.value.unwrap_or_else(|error| error),
        is_error,
        is_cause,
    }
}

/// Tells an expression and the sides of its `&&` and `||` and of comparisons below them, each with its depth; at most `left` texts.
fn descend(text: &str, depth: usize, left: &mut usize, tell: &mut dyn FnMut(&str, usize)) {
    let text = text.trim();
    if *left == 0 || text.is_empty() {
        return;
    }
    *left = left.saturating_sub(1);
    tell(text, depth);
    if depth >= DEEPEST {
        return;
    }
    let inner = unwrapped(text);
    for operator in ["||", "&&", "==", "!=", ">=", "<=", ">", "<"] {
        let sides = sides(inner, operator);
        if sides.len() > 1 {
            for side in sides {
                // Constants explain nothing.
                let is_constant = side.trim().chars().all(|letter| letter.is_ascii_digit())
                    || (side.trim().starts_with(['"', '\'']) && !side.contains('('))
                    || matches!(side.trim(), "true" | "false");
                if !is_constant {
                    descend(side, depth.saturating_add(1), left, tell);
                }
            }
            return;
        }
    }
}

/// The text without parentheses around all of it.
fn unwrapped(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else { return text };
    let is_whole = depths(inner).into_iter().all(|(_, depth)| depth >= 0);
    if is_whole { inner } else { text }
}

/// Byte positions outside of quotes with the depth of brackets there.
fn depths(text: &str) -> Vec<(usize, i32)> {
    let mut depth = 0i32;
    let mut quote: Option<char> = None;
    let mut escaped = false;
    let mut found = Vec::new();
    for (at, letter) in text.char_indices() {
        if let Some(open) = quote {
            if escaped {
                escaped = false;
            } else if letter == '\\' {
                escaped = true;
            } else if letter == open {
                quote = None;
            }
            continue;
        }
        match letter {
            '"' | '\'' => quote = Some(letter),
            '(' | '[' | '{' => depth = depth.saturating_add(1),
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        found.push((at, depth));
    }
    found
}

/// The text cut at an operator outside of all brackets and quotes.
fn sides<'t>(text: &'t str, operator: &str) -> Vec<&'t str> {
    let mut sides = Vec::new();
    let mut start = 0;
    for (at, depth) in depths(text) {
        let is_here = depth == 0 && at >= start && text.get(at..).is_some_and(|rest| rest.starts_with(operator));
        // `>` is not the beginning of `>=`, nor `?` part of an operator.
        let longer = text.get(at.saturating_add(operator.len())..).is_some_and(|rest| rest.starts_with('='));
        if is_here && !(longer && matches!(operator, ">" | "<")) {
            sides.extend(text.get(start..at));
            start = at.saturating_add(operator.len());
        }
    }
    sides.extend(text.get(start..));
    sides
}
