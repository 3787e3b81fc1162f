//! Evaluation of instructions with a cost meter.

mod equality;
mod path;

use std::iter;
use std::sync::Arc;

use super::call::Func;
use super::cost::Rule;
use super::decls::{Binding, Overload};
use super::device::DeviceView;
use super::functions;
use super::plan::{Bind, Call, Code, ListItem, Loop, MapItem, insert};
use super::value::{Entries, Eval, Fault, List, Map, Str, Value, fail, no_overload};
use super::work::Work;
use equality::is_member;
pub(super) use equality::{equality, equals, go_type};

/// One evaluation.
pub(super) struct Machine<'a> {
    device: Option<&'a DeviceView<'a>>,
    slots: Vec<Slot<'a>>,
    pub(super) cost: u64,
    pub(super) work: Work,
    limit: u64,
    /// Whether optionals that are passed on go through Go, as up to 1.36.
    passes_through_go: bool,
}

/// A variable of a macro.
enum Slot<'a> {
    Empty,
    /// Not computed yet.
    Lazy(&'a Code),
    Known(Eval<Value<'a>>),
}

/// The largest text or list that a function may build, in bytes or elements. The reference has no such bound and would
/// run out of memory.
pub(super) const LARGEST: usize = 16 << 20;

/// The most arguments of a function.
const MOST_ARGS: usize = 4;

pub(super) fn too_large<X>() -> Eval<X> {
    Err(Fault::Abort("operation cancelled: value is too large".into()))
}

/// The value of a call of constants.
pub(super) fn constant(call: &Call) -> Eval<Value<'static>> {
    dispatch(call, &constants(call), &mut Work::default())
}

/// The price and the value of a call of constants.
pub(super) fn priced(call: &Call) -> (u64, Eval<Value<'static>>) {
    let args = constants(call);
    let value = dispatch(call, &args, &mut Work::default());
    (call.rule.price(&args, value.as_ref().ok()), value)
}

fn constants(call: &Call) -> Vec<Value<'static>> {
    let values = call.args.iter().filter_map(|arg| match arg {
        Code::Const(value) => Some(value.clone()),
        _ => None,
    });
    values.collect()
}

pub(super) fn not_optional_element(value: &Value<'_>) -> Fault {
    Fault::Error(format!("cannot initialize optional list element from non-optional value {value}").into())
}

pub(super) fn not_optional_entry(key: &Value<'_>, value: &Value<'_>) -> Fault {
    Fault::Error(format!("cannot initialize optional entry '{key}' from non-optional value {value}").into())
}

/// Whether the reference can use the value as a key; it crashes on others and reports that.
pub(super) fn check_key(key: &Value<'_>) -> Eval<()> {
    let name = match key {
        Value::Bytes(_) => "types.Bytes",
        Value::Semver(_) => "cel.Semver",
        Value::Format(_) => "cel.Format",
        _ => return Ok(()),
    };
    Err(Fault::Abort(format!("internal error: runtime error: hash of unhashable type {name}").into()))
}

impl<'a> Machine<'a> {
    pub(super) fn new(device: &'a DeviceView<'a>, slots: usize, limit: u64, is_after_1_36: bool) -> Self {
        let slots = std::iter::repeat_with(|| Slot::Empty).take(slots).collect();
        Self { device: Some(device), slots, cost: 0, work: Work::default(), limit, passes_through_go: !is_after_1_36 }
    }

    fn charge(&mut self, price: u64) -> Eval<()> {
        // Wrapping, as the reference: only the price of a strange `flatten` comes near.
        self.cost = self.cost.wrapping_add(price);
        if self.cost > self.limit {
            return Err(Fault::Abort("operation cancelled: actual cost limit exceeded".into()));
        }
        self.work.take(usize::try_from(price).unwrap_or(usize::MAX))
    }

    pub(super) fn eval(&mut self, code: &'a Code) -> Eval<Value<'a>> {
        match code {
            Code::Const(value) => Ok(value.clone()),
            Code::Failure(fault) => Err(fault.clone()),
            Code::Path(path) => self.path(path, true),
            Code::And(sides) => self.logic(sides, false),
            Code::Or(sides) => self.logic(sides, true),
            Code::Equal { sides, is_negated } => self.equal(sides, *is_negated),
            Code::InSet(parts) => {
                let value = self.eval(&parts.0)?;
                check_key(&value)?;
                Ok(Value::Bool(parts.1.iter().any(|member| is_member(member, &value))))
            }
            Code::Call(call) => self.call(call),
            Code::List(items) => self.list(items),
            Code::Map(items) => self.map(items),
            Code::Fold(fold) => self.fold(fold),
            Code::Bind(bind) => self.bind(bind),
            Code::OrElse { sides, is_value, is_strict } => self.or_else(sides, *is_value, *is_strict),
            Code::Known { price, value } => {
                self.charge(*price)?;
                value.clone()
            }
            Code::Append { slot, items } => self.append(*slot, items),
        }
    }

    /// `&&` with `decisive` false, `||` with true. The decisive value wins over errors of the other side.
    #[inline(never)]
    fn logic(&mut self, sides: &'a [Code; 2], decisive: bool) -> Eval<Value<'a>> {
        let mut failure = None;
        for side in sides {
            match self.eval(side) {
                Ok(Value::Bool(value)) if value == decisive => return Ok(Value::Bool(decisive)),
                Ok(Value::Bool(_)) => {}
                Ok(_) => {
                    failure.get_or_insert(Fault::Error("no such overload".into()));
                }
                Err(Fault::Abort(message)) => return Err(Fault::Abort(message)),
                Err(fault) => {
                    failure.get_or_insert(fault);
                }
            }
        }
        failure.map_or(Ok(Value::Bool(!decisive)), Err)
    }

    #[inline(never)]
    fn equal(&mut self, sides: &'a [Code; 2], is_negated: bool) -> Eval<Value<'a>> {
        let [left, right] = sides;
        let left = settle(self.eval(left))?;
        let right = settle(self.eval(right))?;
        let rule = if is_negated { Rule::Smaller } else { Rule::Equality };
        match (left, right) {
            (Ok(left), Ok(right)) => {
                self.work.look(&left)?;
                self.work.look(&right)?;
                let result = equality(&left, &right);
                self.charge(rule.price(&[left, right], None))?;
                // An error compares as different, not as an error, when negated.
                if is_negated { Ok(Value::Bool(result != Ok(true))) } else { result.map(Value::Bool) }
            }
            (left, right) => {
                let or_null = |side: &Eval<Value<'a>>| side.as_ref().map_or(Value::Null, Value::clone);
                self.charge(rule.price(&[or_null(&left), or_null(&right)], None))?;
                left.and(right)
            }
        }
    }

    #[inline(never)]
    fn or_else(&mut self, sides: &'a [Code; 2], is_value: bool, is_strict: bool) -> Eval<Value<'a>> {
        let [first, second] = sides;
        let first = self.eval(first)?;
        match &first {
            Value::Optional(None) => self.eval(second),
            Value::Optional(Some(value)) if is_value => (**value).clone().sound(),
            Value::Optional(_) => Ok(first),
            _ if is_strict => no_overload(),
            _ => Ok(first),
        }
    }

    #[inline(never)]
    fn call(&mut self, call: &'a Call) -> Eval<Value<'a>> {
        // No function has more arguments.
        let mut buffer = [const { Value::Null }; MOST_ARGS];
        let count = call.args.len().min(MOST_ARGS);
        let mut failure: Option<Fault> = None;
        let mut failed = [false; MOST_ARGS];
        for (position, (arg, (value, has_failed))) in
            call.args.iter().zip(buffer.iter_mut().zip(failed.iter_mut())).enumerate()
        {
            match settle(self.eval(arg))? {
                Ok(found) => *value = found,
                Err(fault) => {
                    if call.is_variadic && position.saturating_add(1) < count {
                        return Err(fault);
                    }
                    failure.get_or_insert(fault);
                    *has_failed = true;
                }
            }
        }
        let args = buffer.get(..count).unwrap_or_default();
        if let Some(message) = call.rule.crash(args, |position| failed.get(position).copied().unwrap_or_default()) {
            return Err(Fault::Abort(format!("internal error: {message}").into()));
        }
        let func = call.overload.map(|overload| overload.func);
        if let Some(fault) = failure {
            self.charge(call.rule.price(args, None))?;
            return if func == Some(Func::NotStrictlyFalse) { Ok(Value::Bool(true)) } else { Err(fault) };
        }
        if let (Some(Func::Range), Some(Value::Int(length))) = (func, args.first()) {
            if let Some(why) = bad_range(*length).filter(|_| call.is_after_1_36) {
                self.charge(12)?;
                return fail(why);
            }
            // Priced before it is built: the reference builds first, however long.
            self.charge(u64::try_from(*length).unwrap_or(0).saturating_add(11))?;
            return dispatch(call, args, &mut self.work);
        }
        if func != Some(Func::Identity) {
            args.iter().try_for_each(|arg| self.work.look(arg))?;
        }
        let result = settle(dispatch(call, args, &mut self.work))?;
        self.charge(call.rule.price(args, result.as_ref().ok()))?;
        result
    }

    #[inline(never)]
    fn list(&mut self, items: &'a [ListItem]) -> Eval<Value<'a>> {
        let mut values = Vec::with_capacity(items.len());
        let built = settle(self.list_items(items, &mut values))?;
        self.charge(10)?;
        built.map(|()| Value::list(values))
    }

    #[inline(never)]
    fn list_items(&mut self, items: &'a [ListItem], values: &mut Vec<Value<'a>>) -> Eval<()> {
        for item in items {
            let value = self.eval(&item.value)?;
            match value {
                value if !item.is_optional => values.push(value),
                Value::Optional(None) => {}
                Value::Optional(Some(value)) => values.push((*value).clone()),
                other => return Err(not_optional_element(&other)),
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn map(&mut self, items: &'a [MapItem]) -> Eval<Value<'a>> {
        let mut entries = Vec::with_capacity(items.len());
        let built = settle(self.map_items(items, &mut entries))?;
        self.charge(30)?;
        built.map(|()| Value::Map(Map::Entries(Arc::new(entries))))
    }

    #[inline(never)]
    fn map_items(&mut self, items: &'a [MapItem], entries: &mut Entries<'a>) -> Eval<()> {
        for item in items {
            let key = self.eval(&item.key)?;
            let value = self.eval(&item.value)?;
            let value = match value {
                value if !item.is_optional => value,
                Value::Optional(Some(value)) => (*value).clone(),
                Value::Optional(None) => {
                    entries.retain(|(known, _)| super::value::key_order(known, &key).is_ne());
                    continue;
                }
                other => return Err(not_optional_entry(&key, &other)),
            };
            check_key(&key)?;
            insert(entries, key, value);
        }
        Ok(())
    }

    #[inline(never)]
    fn bind(&mut self, bind: &'a Bind) -> Eval<Value<'a>> {
        self.set(bind.slot, Slot::Lazy(&bind.init));
        self.eval(&bind.body)
    }

    fn set(&mut self, slot: usize, value: Slot<'a>) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = value;
        }
    }

    fn variable(&mut self, slot: usize) -> Eval<Value<'a>> {
        match self.slots.get(slot) {
            Some(Slot::Known(value)) => value.clone(),
            Some(Slot::Lazy(init)) => {
                let init = *init;
                let value = settle(self.eval(init))?;
                self.set(slot, Slot::Known(value.clone()));
                value
            }
            Some(Slot::Empty) | None => fail("no such attribute(s)"),
        }
    }

    #[inline(never)]
    fn fold(&mut self, fold: &'a Loop) -> Eval<Value<'a>> {
        let range = self.eval(&fold.range)?;
        self.set(fold.accu, Slot::Lazy(&fold.init));
        match &range {
            Value::List(list) => {
                for (index, value) in list.iter().enumerate() {
                    let (first, second) = match fold.second {
                        Some(_) => (Value::size(index), Some(value)),
                        None => (value, None),
                    };
                    if !self.fold_step(fold, first, second)? {
                        break;
                    }
                }
            }
            Value::Map(map) => {
                for (key, value) in map.entries() {
                    if !self.fold_step(fold, key, Some(value))? {
                        break;
                    }
                }
            }
            other if fold.second.is_some() => {
                return fail(format!("unsupported comprehension range type: {}", go_type(other)));
            }
            other => return fail(format!("got '{}', expected iterable type", go_type(other))),
        }
        self.eval(&fold.result)
    }

    /// False when the loop ends early.
    #[inline(never)]
    fn fold_step(&mut self, fold: &'a Loop, first: Value<'a>, second: Option<Value<'a>>) -> Eval<bool> {
        self.set(fold.first, Slot::Known(Ok(first)));
        if let (Some(slot), Some(second)) = (fold.second, second) {
            self.set(slot, Slot::Known(Ok(second)));
        }
        if let Ok(Value::Bool(false)) = settle(self.eval(&fold.condition))? {
            return Ok(false);
        }
        let value = settle(self.eval(&fold.step))?;
        self.set(fold.accu, Slot::Known(value));
        Ok(true)
    }

    /// `accu + items`, moving the accumulator out of its slot, so that the list grows in place.
    #[inline(never)]
    fn append(&mut self, slot: usize, items: &'a Code) -> Eval<Value<'a>> {
        let accu = settle(self.variable(slot))?;
        self.charge(1)?;
        let items = settle(self.eval(items))?;
        self.set(slot, Slot::Empty);
        self.charge(1)?;
        let (Value::List(accu), Value::List(items)) = (accu?, items?) else {
            return no_overload();
        };
        let mut values = match accu {
            List::Values(values) => values,
            other => Arc::new(other.iter().collect()),
        };
        if values.len() >= LARGEST {
            return too_large();
        }
        Arc::make_mut(&mut values).extend(items.iter());
        Ok(Value::List(List::Values(values)))
    }
}

/// What 1.37 says about lists that are too long, or shorter than nothing.
fn bad_range(length: i64) -> Option<String> {
    const MOST: i64 = 1_000_000;
    match length {
        ..0 => Some(format!("lists.range: size must be non-negative, got {length}")),
        0..=MOST => None,
        _ => Some(format!("lists.range: size {length} exceeds maximum allowed ({MOST})")),
    }
}

/// Separates errors that the expression may absorb from the end of the evaluation.
fn settle<T>(result: Eval<T>) -> Result<Eval<T>, Fault> {
    match result {
        Err(Fault::Abort(message)) => Err(Fault::Abort(message)),
        other => Ok(other),
    }
}

/// Calls the implementation of the overload, or the first one whose declared types fit.
fn dispatch<'a>(call: &Call, args: &[Value<'a>], work: &mut Work) -> Eval<Value<'a>> {
    let function = call.function;
    // A constant pattern is matched without looking at the declaration, and a type is its name to Go.
    let named: Vec<Value<'a>>;
    let args = match args {
        [Value::Type(name), others @ ..] if call.regex.is_some() => {
            named = iter::once(Value::Str(Str::Borrowed(name))).chain(others.iter().cloned()).collect();
            &named
        }
        [Value::Str(_), ..] => args,
        _ if call.regex.is_some() => return no_overload(),
        _ => args,
    };
    match function.binding {
        Binding::Single(demanded) => {
            let func = function.overloads.first().map_or(Func::Unreachable, |overload| overload.func);
            if args.first().is_none_or(|first| demanded.is_met_by(first)) {
                return functions::call(func, call, args, work);
            }
            // Texts and times answer member calls themselves, with an error that names nothing.
            if matches!(args.first(), Some(Value::Str(_) | Value::Duration(_) | Value::Timestamp(_))) {
                return no_overload();
            }
            fail(format!("no such overload: {}", function.name))
        }
        Binding::Overloads | Binding::Unguarded => {
            let is_guarded = function.binding == Binding::Overloads;
            let fits = |overload: &&Overload| {
                overload.args.len() == args.len()
                    && (!is_guarded || args.iter().zip(overload.args).all(|(arg, wanted)| arg.fits(*wanted)))
            };
            let found = match call.overload {
                Some(overload) => Some(overload).filter(|overload| fits(overload)),
                None => function.overloads.iter().find(fits),
            };
            match found {
                Some(overload) => functions::call(overload.func, call, args, work),
                None => {
                    let types: Vec<&str> = args.iter().map(Value::type_name).collect();
                    fail(format!("no such overload: {}({})", function.name, types.join(", ")))
                }
            }
        }
    }
}
