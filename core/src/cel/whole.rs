//! Any expression against one device: its type, its value and its cost, whether or not it could be a selector.

use super::value::Value;
use super::{COST_LIMIT, CompileError, DeviceView, Environment, RuntimeError, assemble, check_source};

/// What an expression comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Whole {
    /// The type that the checker found.
    pub(crate) result_type: String,
    /// The value in words, or the error.
    pub(crate) value: Result<String, String>,
    /// Whether the value is a boolean, and which.
    pub(crate) is_true: Option<bool>,
    /// What the evaluation cost; absent where it did not start.
    pub(crate) cost: Option<u64>,
    /// The most that it can cost.
    pub(crate) max_cost: u64,
}

/// Compiles and evaluates an expression of any type.
///
/// # Errors
///
/// [`CompileError`] with the reference's message.
pub(crate) fn evaluate_whole(source: &str, env: &Environment, device: &DeviceView<'_>) -> Result<Whole, CompileError> {
    let (ast, root, checked) = check_source(source, env, |_| None)?;
    let result_type = checked.type_of(root).to_string();
    let program = assemble(source, env, &ast, root, &checked)?;
    let max_cost = program.max_cost();
    let result = program.check_usable(device).and_then(|()| program.run(device, COST_LIMIT, &mut 0));
    let (value, is_true, cost) = match result {
        Ok((value, cost)) => {
            let is_true = if let Value::Bool(value) = &value { Some(*value) } else { None };
            (Ok(in_words(&value)), is_true, Some(cost))
        }
        Err(RuntimeError { message, cost }) => (Err(message), None, cost),
    };
    Ok(Whole { result_type, value, is_true, cost, max_cost })
}

/// A value as an expression would write it, where it could.
fn in_words(value: &Value<'_>) -> String {
    match value {
        Value::Str(text) => format!("\"{}\"", text.as_str()),
        Value::Quantity(quantity) => format!("quantity(\"{}\")", quantity.get()),
        Value::Semver(version) => format!("semver(\"{version}\")"),
        Value::List(list) => {
            let items: Vec<String> = list.iter().map(|item| in_words(&item)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Optional(None) => "optional.none()".to_owned(),
        Value::Optional(Some(value)) => format!("optional.of({})", in_words(value)),
        Value::Map(map) => format!("a map with {} entries", map.len()),
        other => other.to_string(),
    }
}
