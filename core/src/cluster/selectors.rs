//! Compiled selectors, kept because the same few expressions are asked again and again.

use crate::api::slice::{Device, ResourceSlice};

/// Selectors by their text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selectors {}

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
        expression: &str,
        slice: &ResourceSlice,
        _device: &Device,
    ) -> Result<bool, SelectorProblem> {
        let driver = expression.strip_prefix("device.driver == \"").and_then(|rest| rest.strip_suffix('"'));
        match driver {
            Some(driver) => Ok(driver == slice.spec.driver),
            None if expression.is_empty() => Err(SelectorProblem::Compile("the expression is empty".to_owned())),
            None => Err(SelectorProblem::Runtime("only comparisons of `device.driver` are understood yet".to_owned())),
        }
    }
}
