//! How much an evaluation computes, in steps of this engine: it ends at the same place on every host.
//!
//! The reference's cost does not bound the time: a text that `replace` made long costs little, a pattern that repeats costs what its
//! text is long. So what calls look at is counted beside the cost.

use super::value::{Eval, Fault, List, Map, Value};

/// The most steps of one evaluation: about half a second.
const MOST: u64 = 50_000_000;

/// Bytes of text that a function looks at in one step.
const BYTES: usize = 64;

/// What an evaluation may take within the search step that asks for it, and beyond that for each further one.
const FREE: u64 = 1_000;
const OF_SEARCH: u64 = 16;

/// Steps that an evaluation has taken.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Work(u64);

impl Work {
    /// Takes steps.
    ///
    /// # Errors
    ///
    /// The end of the evaluation, beyond the limit.
    pub(super) fn take(&mut self, steps: usize) -> Eval<()> {
        self.0 = self.0.saturating_add(u64::try_from(steps).unwrap_or(u64::MAX));
        if self.0 > MOST {
            return Err(Fault::Abort("operation cancelled: the evaluation takes too many steps".into()));
        }
        Ok(())
    }

    /// The same in steps of a search, beyond the one that asks.
    pub(super) fn search_steps(self) -> u64 {
        self.0.saturating_sub(FREE) / OF_SEARCH
    }

    /// Takes the steps of looking at all of a value.
    ///
    /// # Errors
    ///
    /// As [`Work::take`]; a value that holds one list many times ends there, before somebody walks through it.
    pub(super) fn look(&mut self, value: &Value<'_>) -> Eval<()> {
        match value {
            Value::Str(text) => self.take(text.as_str().len() / BYTES),
            Value::Bytes(bytes) => self.take(bytes.len() / BYTES),
            Value::List(List::Values(values)) => {
                self.take(values.len() / BYTES)?;
                values.iter().try_for_each(|value| if is_flat(value) { Ok(()) } else { self.look_inside(value) })
            }
            Value::Map(Map::Entries(entries)) => {
                self.take(entries.len())?;
                entries.iter().try_for_each(|(_, value)| self.look_inside(value))
            }
            Value::Optional(Some(value)) => self.look_inside(value),
            _ => Ok(()),
        }
    }

    fn look_inside(&mut self, value: &Value<'_>) -> Eval<()> {
        self.take(1)?;
        self.look(value)
    }
}

fn is_flat(value: &Value<'_>) -> bool {
    matches!(value, Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_))
}
