//! Expressions whose value becomes an attribute (KEP-6080).

use super::types::Type;
use super::value::{List, Value};
use super::{CompileError, DeviceView, Environment, Program, RuntimeError, compile_for, reported_type};
use crate::api::slice::AttributeValue;

/// Compiles an expression that computes an attribute: its type must be that of a single attribute value, or a list of such; lists
/// in new expressions only with the feature `DRAListTypeAttributes`.
///
/// # Errors
///
/// [`CompileError`] with the reference's message.
pub fn compile_derived(source: &str, env: &Environment) -> Result<Program, CompileError> {
    let allows_lists = env.list_type_attributes || env.stored;
    compile_for(source, env, |result| {
        let is_allowed = match result {
            Type::List(element) => allows_lists && is_single(element),
            single => is_single(single),
        };
        let or_list = if allows_lists { " or a list of these scalars" } else { "" };
        (!is_allowed).then(|| {
            let what = reported_type(result);
            format!("must evaluate to a primitive scalar (string, integer, boolean, semver){or_list}, not {what}")
        })
    })
}

fn is_single(result: &Type) -> bool {
    let is_version = matches!(result, Type::Opaque("kubernetes.Semver") | Type::Struct("kubernetes.Semver"));
    is_version || matches!(result, Type::Bool | Type::Int | Type::Str | Type::Any | Type::Dyn)
}

impl Program {
    /// Evaluates to the attribute that an expression of [`compile_derived`] computes for one device.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]: the expression failed, cost more than `cost_limit`, gave something that no attribute can hold, or
    /// the device has an unusable attribute.
    pub fn derive(&self, device: &DeviceView<'_>, cost_limit: u64) -> Result<AttributeValue, RuntimeError> {
        self.derive_counted(device, cost_limit, &mut 0)
    }

    /// The same; what it took in steps of a search, beyond the one that asks, is added to `steps`.
    pub(crate) fn derive_counted(
        &self,
        device: &DeviceView<'_>,
        cost_limit: u64,
        steps: &mut u64,
    ) -> Result<AttributeValue, RuntimeError> {
        self.check_usable(device)?;
        let (value, cost) = self.run(device, cost_limit, steps)?;
        attribute(&value).map_err(|message| RuntimeError { message, cost: Some(cost) })
    }
}

fn attribute(value: &Value<'_>) -> Result<AttributeValue, String> {
    Ok(match value {
        Value::Bool(value) => AttributeValue::Bool(*value),
        Value::Int(value) => AttributeValue::Int(*value),
        Value::Str(text) => AttributeValue::String(text.as_str().to_owned()),
        Value::Semver(version) => AttributeValue::Version(version.to_string()),
        Value::List(list) => return list_attribute(list),
        other => return Err(format!("unsupported CEL return type: {}", other.type_name())),
    })
}

/// A list of values of the first one's type; an empty one counts as a list of texts.
fn list_attribute(list: &List<'_>) -> Result<AttributeValue, String> {
    let wrong = |index: usize, wanted: &str, value: &Value<'_>| {
        format!("expected list element at index {index} to be {wanted}, got {}", value.type_name())
    };
    macro_rules! all {
        ($variant:ident, $wanted:literal, $pattern:pat => $item:expr) => {
            list.iter()
                .enumerate()
                .map(|(index, value)| match &value {
                    $pattern => Ok($item),
                    other => Err(wrong(index, $wanted, other)),
                })
                .collect::<Result<Vec<_>, _>>()
                .map(AttributeValue::$variant)
        };
    }
    match list.get(0) {
        None => Ok(AttributeValue::Strings(Vec::new())),
        Some(Value::Bool(_)) => all!(Bools, "bool", Value::Bool(value) => *value),
        Some(Value::Int(_)) => all!(Ints, "int", Value::Int(value) => *value),
        Some(Value::Str(_)) => all!(Strings, "string", Value::Str(text) => text.as_str().to_owned()),
        Some(Value::Semver(_)) => all!(Versions, "semver", Value::Semver(version) => version.to_string()),
        Some(other) => Err(format!("unsupported list element type: {}", other.type_name())),
    }
}
