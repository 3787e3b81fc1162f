//! Paths: a root and the fields, keys and indices behind it, with what each step costs.

use super::equality::go_type;
use super::{Machine, settle};
use crate::cel::plan::{Code, Key, Path, Root, Step};
use crate::cel::value::{Eval, Fault, Map, Value, fail, no_overload, to_i64};

impl<'a> Machine<'a> {
    /// The value of a path. `is_charged`: with the price of the path itself, which conditional branches and keys do not pay.
    pub(super) fn path(&mut self, path: &'a Path, is_charged: bool) -> Eval<Value<'a>> {
        let value = settle(self.walk(path))?;
        if is_charged && !path.is_test && !matches!(path.root, Root::Choice(_)) {
            self.charge(1)?;
        }
        value
    }

    #[inline(never)]
    fn walk(&mut self, path: &'a Path) -> Eval<Value<'a>> {
        let before = self.cost;
        let value = self.walk_along(path);
        if path.is_free {
            self.cost = before;
        }
        value
    }

    fn walk_along(&mut self, path: &'a Path) -> Eval<Value<'a>> {
        if let (Some(direct), Some(device)) = (&path.direct, self.device) {
            let count = direct.steps();
            for _ in 0..count {
                self.charge(1)?;
            }
            let value = direct.find(device)?;
            return self.steps(path, value, path.steps.get(count..).unwrap_or_default());
        }
        let value = match &path.root {
            Root::Device => match self.device {
                Some(device) => Value::Map(Map::Device(device)),
                None => return fail("no such attribute(s): device"),
            },
            Root::Slot(slot) => self.variable(*slot)?,
            Root::Value(code) => self.eval(code)?,
            Root::Choice(parts) => {
                let [condition, yes, no] = &**parts;
                match self.eval(condition)? {
                    Value::Bool(true) => self.branch(yes)?,
                    Value::Bool(false) => self.branch(no)?,
                    _ => return no_overload(),
                }
            }
        };
        self.steps(path, value, &path.steps)
    }

    fn steps(&mut self, path: &'a Path, mut value: Value<'a>, steps: &'a [Step]) -> Eval<Value<'a>> {
        // The branches of a conditional have done so already, each for itself.
        let passes_on = self.passes_through_go && !matches!(path.root, Root::Choice(_));
        if steps.is_empty() {
            return Ok(if passes_on { through_go(value) } else { value });
        }
        let mut is_optional = false;
        if let Value::Optional(inner) = value {
            let Some(inner) = inner else {
                return Ok(if path.is_test { Value::Bool(false) } else { Value::Optional(None) });
            };
            is_optional = true;
            value = if passes_on { inner.through_go().sound()? } else { (*inner).clone().sound()? };
        }
        for (position, step) in steps.iter().enumerate() {
            is_optional |= step.is_optional;
            let is_test = path.is_test && position.saturating_add(1) == steps.len();
            match self.step(&value, step, is_optional, is_test)? {
                Some(next) => value = next,
                None if path.is_test => return Ok(Value::Bool(false)),
                None => return Ok(Value::Optional(None)),
            }
        }
        if path.is_test {
            return Ok(if is_optional { Value::Bool(true) } else { value });
        }
        Ok(if is_optional { Value::some(value) } else { value })
    }

    /// A branch of a conditional: a path is not charged for itself.
    fn branch(&mut self, code: &'a Code) -> Eval<Value<'a>> {
        match code {
            Code::Path(path) => self.path(path, false),
            other => {
                let value = self.eval(other)?;
                Ok(if self.passes_through_go { through_go(value) } else { value })
            }
        }
    }

    /// One selection. `None` if it is optional and not there; a test gives whether it is there.
    #[inline(never)]
    fn step(&mut self, value: &Value<'a>, step: &'a Step, is_optional: bool, is_test: bool) -> Eval<Option<Value<'a>>> {
        let key = match &step.key {
            Key::Const(key) => Ok(key.clone()),
            Key::Path(path) => settle(self.path(path, false))?,
            Key::Value(code) => settle(self.eval(code))?,
        };
        let found = key.and_then(|key| match select(value, &key)? {
            Found::Value(found) => found.sound().map(Found::Value),
            missing @ Found::Missing(_) => Ok(missing),
        });
        match found {
            Ok(Found::Value(found)) if is_test && !is_optional => {
                self.charge(1)?;
                drop(found);
                Ok(Some(Value::Bool(true)))
            }
            Ok(Found::Value(found)) => {
                self.charge(1)?;
                Ok(Some(found))
            }
            Ok(Found::Missing(_)) if is_optional => Ok(None),
            Ok(Found::Missing(_)) if is_test => {
                self.charge(1)?;
                Ok(Some(Value::Bool(false)))
            }
            Ok(Found::Missing(fault)) => {
                self.charge(1)?;
                Err(fault)
            }
            Err(fault) => {
                if !is_optional {
                    self.charge(1)?;
                }
                Err(fault)
            }
        }
    }
}

/// What becomes of a value that is the whole of a path.
fn through_go(value: Value<'_>) -> Value<'_> {
    match &value {
        Value::Optional(Some(inner)) => Value::some(inner.through_go()),
        _ => value,
    }
}

enum Found<'a> {
    Value(Value<'a>),
    /// With the error for those who insist.
    Missing(Fault),
}

fn select<'a>(value: &Value<'a>, key: &Value<'_>) -> Eval<Found<'a>> {
    let missing_key = || Found::Missing(Fault::Error(format!("no such key: {key}").into()));
    if !matches!(key, Value::Str(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_)) {
        return fail(format!("invalid qualifier type: {}", go_type(key)));
    }
    match value {
        Value::Map(map) => Ok(map.find(key).map_or_else(missing_key, Found::Value)),
        Value::List(list) => {
            let index = list_index(key)?;
            let found = usize::try_from(index).ok().and_then(|index| list.get(index));
            let missing = || Found::Missing(Fault::Error(format!("index out of bounds: {key}").into()));
            Ok(found.map_or_else(missing, Found::Value))
        }
        _ => Ok(missing_key()),
    }
}

fn list_index(key: &Value<'_>) -> Eval<i64> {
    let index = match key {
        Value::Int(index) => Some(*index),
        Value::Uint(index) => i64::try_from(*index).ok(),
        Value::Double(index) => to_i64(*index),
        other => return fail(format!("unsupported index type '{}' in list", other.type_name())),
    };
    index.map_or_else(|| fail(format!("unsupported index value {key} in list")), Ok)
}
