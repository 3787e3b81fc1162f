//! The checked tree to a tree of instructions: names resolved, constants folded, costs chosen.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{Ast, Element, Entry, Fold, Kind, Literal, NodeId};
use super::check::{Checked, Reference};
use super::cost::{Rule, rule};
use super::decls::{Binding, Function, Overload};
use super::eval;
use super::regex::Regex;
use super::value::{Entries, Fault, List, Map, Value, key_order};
use super::zones;

/// An instruction.
pub(super) enum Code {
    Const(Value<'static>),
    /// A constant expression that fails whenever it is evaluated.
    Failure(Fault),
    Path(Box<Path>),
    And(Box<[Code; 2]>),
    Or(Box<[Code; 2]>),
    /// `==`, or `!=` if negated.
    Equal {
        sides: Box<[Code; 2]>,
        is_negated: bool,
    },
    /// `in` of constants of plain types.
    InSet(Box<(Code, Vec<Value<'static>>)>),
    Call(Box<Call>),
    List(Vec<ListItem>),
    Map(Vec<MapItem>),
    Fold(Box<Loop>),
    /// A variable that is computed when it is first used.
    Bind(Box<Bind>),
    /// `or`: the first operand if it has a value, else the second. With `is_value`, `orValue`.
    OrElse {
        sides: Box<[Code; 2]>,
        is_value: bool,
    },
    /// `accu + [..]` in a loop: appends in place.
    Append {
        slot: usize,
        items: Box<Code>,
    },
}

pub(super) struct ListItem {
    pub(super) value: Code,
    pub(super) is_optional: bool,
}

pub(super) struct MapItem {
    pub(super) key: Code,
    pub(super) value: Code,
    pub(super) is_optional: bool,
}

/// A variable or the value of something, and what is selected of it.
pub(super) struct Path {
    pub(super) root: Root,
    pub(super) steps: Vec<Step>,
    /// `has(..)`: the last step is only tested.
    pub(super) is_test: bool,
}

pub(super) enum Root {
    Device,
    /// A variable of a macro.
    Slot(usize),
    Value(Code),
    Choice(Box<[Code; 3]>),
}

pub(super) struct Step {
    pub(super) key: Key,
    pub(super) is_optional: bool,
}

pub(super) enum Key {
    Const(Value<'static>),
    /// A key from a variable or what is selected of it; the variable itself costs nothing here.
    Path(Path),
    Value(Code),
}

pub(super) struct Call {
    pub(super) function: &'static Function,
    /// The overload, if the checker found exactly one.
    pub(super) overload: Option<&'static Overload>,
    pub(super) args: Vec<Code>,
    pub(super) rule: Rule,
    /// Whether evaluation stops at the first argument that fails.
    pub(super) is_variadic: bool,
    /// The second argument, if it is a constant pattern.
    pub(super) regex: Option<Regex>,
}

pub(super) struct Loop {
    pub(super) range: Code,
    /// The slots: accumulator, first variable, second variable.
    pub(super) accu: usize,
    pub(super) first: usize,
    pub(super) second: Option<usize>,
    pub(super) init: Code,
    pub(super) condition: Code,
    pub(super) step: Code,
    pub(super) result: Code,
}

pub(super) struct Bind {
    pub(super) slot: usize,
    pub(super) init: Code,
    pub(super) body: Code,
}

/// Why no program can be made, although everything type checks.
pub(super) enum Refusal {
    Invalid(String),
    Unsupported(String),
}

/// The instructions and how many variables they need at once.
pub(super) fn plan(ast: &Ast, root: NodeId, checked: &Checked) -> Result<(Code, usize), Refusal> {
    let mut planner = Planner { ast, checked, scopes: BTreeMap::new(), used: 0, slots: 0 };
    let code = planner.plan(root)?;
    Ok((code, planner.slots))
}

type Planned<T = Code> = Result<T, Refusal>;

struct Planner<'p> {
    ast: &'p Ast,
    checked: &'p Checked,
    scopes: BTreeMap<Arc<str>, Vec<usize>>,
    used: usize,
    slots: usize,
}

const CONVERSIONS: [&str; 10] =
    ["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"];

impl Planner<'_> {
    fn plan(&mut self, id: NodeId) -> Planned {
        match self.ast.kind(id) {
            Kind::Literal(literal) => Ok(Code::Const(constant(literal))),
            Kind::Ident(_) => self.reference(id),
            Kind::Select { operand, field, is_test } => self.select(id, *operand, field, *is_test),
            Kind::Call { function, target, args } => self.call(id, function, *target, args),
            Kind::List(elements) => self.list(elements),
            Kind::Map(entries) => self.map(entries),
            Kind::Fold(fold) => self.fold(fold),
            Kind::Struct { name, .. } => Err(Refusal::Unsupported(format!("construction of `{name}`"))),
            Kind::Invalid => Err(Refusal::Invalid("invalid expression".to_owned())),
        }
    }

    fn reference(&self, id: NodeId) -> Planned {
        match self.checked.reference(id) {
            Reference::Variable(name) => {
                let slot = self.scopes.get(name).and_then(|slots| slots.last());
                let root = slot.map_or(Root::Device, |slot| Root::Slot(*slot));
                Ok(Code::Path(Box::new(Path { root, steps: Vec::new(), is_test: false })))
            }
            Reference::Type(name) => Ok(Code::Const(Value::Type(type_name(name)))),
            Reference::Call(..) | Reference::None => Err(Refusal::Invalid("undefined name".to_owned())),
        }
    }

    fn select(&mut self, id: NodeId, operand: NodeId, field: &Arc<str>, is_test: bool) -> Planned {
        if matches!(self.checked.reference(id), Reference::Variable(_) | Reference::Type(_)) {
            return self.reference(id);
        }
        let mut path = path(self.plan(operand)?);
        path.steps.push(Step { key: Key::Const(Value::text(Arc::clone(field))), is_optional: false });
        path.is_test = is_test;
        Ok(Code::Path(Box::new(path)))
    }

    fn call(&mut self, id: NodeId, name: &str, target: Option<NodeId>, args: &[NodeId]) -> Planned {
        if let ("_?._", [operand, field]) = (name, args) {
            let (operand, key) = (self.plan(*operand)?, self.plan(*field)?);
            return Ok(index(operand, key, true));
        }
        let Reference::Call(function, overloads) = self.checked.reference(id) else {
            return Err(Refusal::Invalid("undefined function".to_owned()));
        };
        let (function, overload) = (*function, if let [only] = overloads.as_slice() { Some(*only) } else { None });
        let codes: Vec<Code> = target.iter().chain(args).map(|arg| self.plan(*arg)).collect::<Result<_, _>>()?;
        match (function.name, <[Code; 2]>::try_from(codes)) {
            ("_&&_", Ok(sides)) => Ok(Code::And(Box::new(sides))),
            ("_||_", Ok(sides)) => Ok(Code::Or(Box::new(sides))),
            ("_==_", Ok(sides)) => Ok(Code::Equal { sides: Box::new(sides), is_negated: false }),
            ("_!=_", Ok(sides)) => Ok(Code::Equal { sides: Box::new(sides), is_negated: true }),
            ("_[_]", Ok([operand, key])) => Ok(index(operand, key, false)),
            ("_[?_]", Ok([operand, key])) => Ok(index(operand, key, true)),
            ("or", Ok(sides)) => Ok(Code::OrElse { sides: Box::new(sides), is_value: false }),
            ("orValue", Ok(sides)) => Ok(Code::OrElse { sides: Box::new(sides), is_value: true }),
            ("@in", Ok([element, list])) if overload.is_some_and(|overload| overload.id == "in_list") => {
                in_list(element, list, function, overload)
            }
            (_, Ok(args)) => plain_call(function, overload, args.into()),
            ("_?_:_", Err(args)) => match <[Code; 3]>::try_from(args) {
                Ok(parts) => Ok(Code::Path(Box::new(path_of(Root::Choice(Box::new(parts)))))),
                Err(_) => Err(Refusal::Invalid("wrong number of arguments".to_owned())),
            },
            (_, Err(args)) => plain_call(function, overload, args),
        }
    }

    fn list(&mut self, elements: &[Element]) -> Planned {
        let mut items = Vec::with_capacity(elements.len());
        for element in elements {
            items.push(ListItem { value: self.plan(element.value)?, is_optional: element.is_optional });
        }
        let is_constant = items.iter().all(|item| matches!(item.value, Code::Const(_)));
        if !is_constant {
            return Ok(Code::List(items));
        }
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            let Code::Const(value) = item.value else { continue };
            if item.is_optional {
                return Ok(Code::Failure(eval::not_optional_element(&value)));
            }
            values.push(value);
        }
        Ok(Code::Const(Value::list(values)))
    }

    fn map(&mut self, entries: &[Entry]) -> Planned {
        let mut items = Vec::with_capacity(entries.len());
        for entry in entries {
            let (key, value) = (self.plan(entry.key)?, self.plan(entry.value)?);
            items.push(MapItem { key, value, is_optional: entry.is_optional });
        }
        let is_constant = items.iter().all(|item| matches!((&item.key, &item.value), (Code::Const(_), Code::Const(_))));
        if !is_constant {
            return Ok(Code::Map(items));
        }
        let mut entries: Entries<'static> = Vec::with_capacity(items.len());
        for item in items {
            let (Code::Const(key), Code::Const(value)) = (item.key, item.value) else { continue };
            if item.is_optional {
                return Ok(Code::Failure(eval::not_optional_entry(&key, &value)));
            }
            if let Err(fault) = eval::check_key(&key) {
                return Err(refused(fault));
            }
            insert(&mut entries, key, value);
        }
        Ok(Code::Const(Value::Map(Map::Entries(Arc::new(entries)))))
    }

    fn enter(&mut self, name: &Arc<str>) -> usize {
        let slot = self.used;
        self.used += 1;
        self.slots = self.slots.max(self.used);
        self.scopes.entry(Arc::clone(name)).or_default().push(slot);
        slot
    }

    /// How many variables were in use at most while `work` planned.
    fn with_peak<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> (usize, R) {
        let total = std::mem::replace(&mut self.slots, self.used);
        let result = work(self);
        let peak = self.slots;
        self.slots = total.max(peak);
        (peak, result)
    }

    fn leave(&mut self, name: &Arc<str>) {
        if let Some(slots) = self.scopes.get_mut(name) {
            slots.pop();
        }
    }

    fn fold(&mut self, fold: &Fold) -> Planned {
        let before = self.used;
        let is_bind = matches!(self.ast.kind(fold.range), Kind::List(elements) if elements.is_empty())
            && matches!(self.ast.kind(fold.condition), Kind::Literal(Literal::Bool(false)));
        if is_bind {
            let slot = self.enter(&fold.accu_var);
            let (peak, body) = self.with_peak(|planner| planner.plan(fold.result));
            let body = body?;
            self.leave(&fold.accu_var);
            // The value is computed in the middle of the body: its own variables come after all of the body's.
            self.used = peak;
            let init = self.plan(fold.init)?;
            self.used = before;
            return Ok(Code::Bind(Box::new(Bind { slot, init, body })));
        }
        let init = self.plan(fold.init)?;
        let range = self.plan(fold.range)?;
        let accu = self.enter(&fold.accu_var);
        let first = self.enter(&fold.iter_var);
        let second = fold.iter_var2.as_ref().map(|name| self.enter(name));
        let condition = self.plan(fold.condition)?;
        let step = appending(self.plan(fold.step)?, accu);
        if let Some(name) = &fold.iter_var2 {
            self.leave(name);
        }
        self.leave(&fold.iter_var);
        let result = self.plan(fold.result)?;
        self.leave(&fold.accu_var);
        self.used = before;
        Ok(Code::Fold(Box::new(Loop { range, accu, first, second, init, condition, step, result })))
    }
}

fn constant(literal: &Literal) -> Value<'static> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Uint(value) => Value::Uint(*value),
        Literal::Double(value) => Value::Double(*value),
        Literal::Str(text) => Value::text(Arc::clone(text)),
        Literal::Bytes(bytes) => Value::Bytes(Arc::clone(bytes)),
    }
}

/// The run-time name of a type that an expression can name.
fn type_name(name: &str) -> &'static str {
    const NAMES: [&str; 15] = [
        "bool",
        "bytes",
        "double",
        "google.protobuf.Duration",
        "google.protobuf.Timestamp",
        "int",
        "list",
        "map",
        "net.CIDR",
        "net.IP",
        "null_type",
        "optional_type",
        "string",
        "type",
        "uint",
    ];
    NAMES.into_iter().find(|known| *known == name).unwrap_or("dyn")
}

fn path_of(root: Root) -> Path {
    Path { root, steps: Vec::new(), is_test: false }
}

/// The path to select more from.
fn path(code: Code) -> Path {
    match code {
        Code::Path(path) if !path.is_test => *path,
        other => path_of(Root::Value(other)),
    }
}

fn index(operand: Code, key: Code, is_optional: bool) -> Code {
    let mut path = path(operand);
    let key = match key {
        Code::Const(value) if is_plain_key(&value) => Key::Const(value),
        Code::Path(path) => Key::Path(*path),
        other => Key::Value(other),
    };
    path.steps.push(Step { key, is_optional });
    Code::Path(Box::new(path))
}

fn is_plain_key(value: &Value<'_>) -> bool {
    matches!(value, Value::Str(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_))
}

/// Membership in a constant list becomes a search among constants that costs nothing.
fn in_list(element: Code, list: Code, function: &'static Function, overload: Option<&'static Overload>) -> Planned {
    match list {
        Code::Const(Value::List(values)) if values.len() == 0 => Ok(Code::Const(Value::Bool(false))),
        Code::Const(Value::List(List::Values(values)))
            if values.iter().all(|value| {
                matches!(value, Value::Bool(_) | Value::Double(_) | Value::Int(_) | Value::Str(_) | Value::Uint(_))
            }) =>
        {
            Ok(Code::InSet(Box::new((element, values.to_vec()))))
        }
        list => plain_call(function, overload, vec![element, list]),
    }
}

fn plain_call(function: &'static Function, overload: Option<&'static Overload>, args: Vec<Code>) -> Planned {
    let regex = match (function.name, args.get(1)) {
        ("matches" | "find" | "findAll", Some(Code::Const(Value::Str(pattern)))) => {
            match Regex::new(pattern.as_str()) {
                Ok(regex) => Some(regex),
                Err(error) if error.is_unsupported() => {
                    return Err(Refusal::Unsupported(format!("regular expression `{}`: {error}", pattern.as_str())));
                }
                Err(error) => return Err(Refusal::Invalid(error.to_string())),
            }
        }
        _ => None,
    };
    if let (true, Some(Code::Const(Value::Str(zone)))) = (function.name.starts_with("get"), args.get(1))
        && zones::is_unsupported(zone.as_str())
    {
        return Err(Refusal::Unsupported(format!("time zone `{}`", zone.as_str())));
    }
    let is_variadic = match (function.binding, overload) {
        _ if regex.is_some() => true,
        (Binding::Single(_), _) => args.len() > 2 || args.is_empty(),
        (_, Some(overload)) => overload.is_variadic,
        (_, None) => function.overloads.len() > 1,
    };
    let id = match function.binding {
        Binding::Overloads | Binding::Unguarded | Binding::Single(_) => overload.map(|overload| overload.id),
    };
    let rule = rule(function.name, id);
    let is_conversion = CONVERSIONS.contains(&function.name) && matches!(args.as_slice(), [Code::Const(_)]);
    let call = Call { function, overload, args, rule, is_variadic, regex };
    if is_conversion {
        return match eval::constant(&call) {
            Ok(value) => Ok(Code::Const(value)),
            Err(fault) => Err(refused(fault)),
        };
    }
    Ok(Code::Call(Box::new(call)))
}

fn refused(fault: Fault) -> Refusal {
    let (Fault::Error(message) | Fault::Abort(message)) = fault;
    Refusal::Invalid(message.into_owned())
}

/// Sets or replaces an entry.
pub(super) fn insert<'a>(entries: &mut Entries<'a>, key: Value<'a>, value: Value<'a>) {
    match entries.binary_search_by(|(known, _)| key_order(known, &key)) {
        Ok(found) => {
            if let Some(entry) = entries.get_mut(found) {
                entry.1 = value;
            }
        }
        Err(place) => entries.insert(place, (key, value)),
    }
}

/// Turns the growth of a loop's list into appending, also behind a condition.
fn appending(step: Code, accu: usize) -> Code {
    let is_accu = |code: &Code| matches!(code, Code::Path(path) if path.steps.is_empty() && matches!(path.root, Root::Slot(slot) if slot == accu));
    match step {
        Code::Call(call) if call.function.name == "_+_" => {
            let Call { function, overload, args, rule, is_variadic, regex } = *call;
            match <[Code; 2]>::try_from(args) {
                Ok([left, right]) if is_accu(&left) && is_list(&right) => {
                    Code::Append { slot: accu, items: Box::new(right) }
                }
                Ok(args) => {
                    Code::Call(Box::new(Call { function, overload, args: args.into(), rule, is_variadic, regex }))
                }
                Err(args) => Code::Call(Box::new(Call { function, overload, args, rule, is_variadic, regex })),
            }
        }
        Code::Path(mut path) if path.steps.is_empty() => {
            if let Root::Choice(parts) = path.root {
                let [condition, yes, no] = *parts;
                path.root = Root::Choice(Box::new([condition, appending(yes, accu), no]));
            }
            Code::Path(path)
        }
        other => other,
    }
}

fn is_list(code: &Code) -> bool {
    matches!(code, Code::List(items) if items.iter().all(|item| !item.is_optional))
        || matches!(code, Code::Const(Value::List(_)))
}
