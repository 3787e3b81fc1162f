//! The checked tree to a tree of instructions: names resolved, constants folded, costs chosen.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{Ast, Element, Entry, Fold, Kind, Literal, NodeId};
use super::check::{Checked, Reference};
use super::cost::{Rule, rule};
use super::decls::{Binding, Function, Overload};
use super::device::Direct;
use super::eval;
use super::regex::Regex;
use super::types::Type;
use super::value::{Entries, Eval, Fault, List, Map, Value, key_order};
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
    /// `or`: the first operand if it has a value, else the second. With `is_value`, `orValue`. Unless strict, what is no optional
    /// stands for itself.
    OrElse {
        sides: Box<[Code; 2]>,
        is_value: bool,
        is_strict: bool,
    },
    /// A call whose arguments are constants, with its price.
    Known {
        price: u64,
        value: Eval<Value<'static>>,
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
    /// What the first steps from the device come to, if they are constants.
    pub(super) direct: Option<Box<Direct>>,
    /// Whether its steps cost nothing: so do those of `.device` in 1.37 where a variable hides `device`.
    pub(super) is_free: bool,
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
    /// Whether the function behaves as in 1.37.
    pub(super) is_after_1_36: bool,
}

pub(super) struct Loop {
    pub(super) range: Box<Code>,
    /// The slots: accumulator, first variable, second variable.
    pub(super) accu: usize,
    pub(super) first: usize,
    pub(super) second: Option<usize>,
    pub(super) init: Box<Code>,
    pub(super) condition: Box<Code>,
    pub(super) step: Box<Code>,
    pub(super) result: Box<Code>,
}

pub(super) struct Bind {
    pub(super) slot: usize,
    pub(super) init: Box<Code>,
    pub(super) body: Box<Code>,
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

/// Functions that are computed once if their arguments are constants. Unlike conversions they keep their price.
const PARSERS: [&str; 10] =
    ["quantity", "isQuantity", "semver", "isSemver", "ip", "isIP", "cidr", "isCIDR", "url", "isURL"];

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

    #[inline(never)]
    fn reference(&self, id: NodeId) -> Planned {
        match self.checked.reference(id) {
            // The reference takes every variable of such a type for the name of a type.
            Reference::Variable(name) if matches!(self.checked.type_of(id), Type::Meta(_) | Type::AnyMeta) => {
                Err(Refusal::Invalid(format!("reference to undefined type: {name}")))
            }
            Reference::Variable(name) => {
                let slot = self.scopes.get(name).and_then(|slots| slots.last());
                let root = slot.map_or(Root::Device, |slot| Root::Slot(*slot));
                Ok(Code::Path(Box::new(Path { is_free: name.starts_with('.'), ..path_of(root) })))
            }
            Reference::Type(name) => Ok(Code::Const(Value::Type(type_name(name)))),
            Reference::Call(..) | Reference::None => Err(Refusal::Invalid("undefined name".to_owned())),
        }
    }

    #[inline(never)]
    fn select(&mut self, id: NodeId, operand: NodeId, field: &Arc<str>, is_test: bool) -> Planned {
        if matches!(self.checked.reference(id), Reference::Variable(_) | Reference::Type(_)) {
            return self.reference(id);
        }
        let mut path = path(self.plan(operand)?);
        path.steps.push(Step { key: Key::Const(Value::text(Arc::clone(field))), is_optional: false });
        path.is_test = is_test;
        set_direct(&mut path);
        Ok(Code::Path(Box::new(path)))
    }

    #[inline(never)]
    fn call(&mut self, id: NodeId, name: &str, target: Option<NodeId>, args: &[NodeId]) -> Planned {
        if let ("_?._", [operand, field]) = (name, args) {
            let (operand, key) = (self.plan(*operand)?, self.plan(*field)?);
            return index(operand, key, true);
        }
        let Reference::Call(function, overloads) = self.checked.reference(id) else {
            return Err(Refusal::Invalid("undefined function".to_owned()));
        };
        let (function, overload) = (*function, if let [only] = overloads.as_slice() { Some(*only) } else { None });
        let codes = self.all(target, args)?;
        build_call(function, overload, codes, self.checked.is_after_1_36)
    }

    // A loop, and functions that are not inlined: this recursion is as deep as expressions nest.
    #[inline(never)]
    fn all(&mut self, target: Option<NodeId>, args: &[NodeId]) -> Planned<Vec<Code>> {
        let mut codes = Vec::with_capacity(args.len().saturating_add(1));
        for arg in target.iter().chain(args) {
            codes.push(self.plan(*arg)?);
        }
        Ok(codes)
    }

    #[inline(never)]
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

    #[inline(never)]
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

    fn leave(&mut self, name: &Arc<str>) {
        if let Some(slots) = self.scopes.get_mut(name) {
            slots.pop();
        }
    }

    #[inline(never)]
    fn boxed(&mut self, id: NodeId) -> Planned<Box<Code>> {
        self.plan(id).map(Box::new)
    }

    #[inline(never)]
    fn fold(&mut self, fold: &Fold) -> Planned {
        let before = self.used;
        let code =
            if self.ast.is_binding(fold) { self.bind(fold).map(Code::Bind) } else { self.repeat(fold).map(Code::Fold) };
        self.used = before;
        code
    }

    #[inline(never)]
    fn bind(&mut self, fold: &Fold) -> Planned<Box<Bind>> {
        let slot = self.enter(&fold.accu_var);
        let total = std::mem::replace(&mut self.slots, self.used);
        let body = self.boxed(fold.result)?;
        self.leave(&fold.accu_var);
        // The value is computed in the middle of the body: its own variables come after all of the body's.
        self.used = self.slots;
        self.slots = self.slots.max(total);
        let init = self.boxed(fold.init)?;
        Ok(Box::new(Bind { slot, init, body }))
    }

    #[inline(never)]
    fn repeat(&mut self, fold: &Fold) -> Planned<Box<Loop>> {
        let init = self.boxed(fold.init)?;
        let range = self.boxed(fold.range)?;
        let accu = self.enter(&fold.accu_var);
        let first = self.enter(&fold.iter_var);
        let second = fold.iter_var2.as_ref().map(|name| self.enter(name));
        let condition = self.boxed(fold.condition)?;
        let mut step = self.boxed(fold.step)?;
        make_appending(&mut step, accu);
        if let Some(name) = &fold.iter_var2 {
            self.leave(name);
        }
        self.leave(&fold.iter_var);
        let result = self.boxed(fold.result)?;
        self.leave(&fold.accu_var);
        Ok(Box::new(Loop { range, accu, first, second, init, condition, step, result }))
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
    Path { root, steps: Vec::new(), is_test: false, direct: None, is_free: false }
}

/// The path to select more from.
fn path(code: Code) -> Path {
    match code {
        Code::Path(path) if !path.is_test => *path,
        other => path_of(Root::Value(other)),
    }
}

fn index(operand: Code, key: Code, is_optional: bool) -> Planned {
    let mut path = path(operand);
    let key = match key {
        Code::Const(value) if is_plain_key(&value) => Key::Const(value),
        Code::Const(value) => {
            return Err(Refusal::Invalid(format!("invalid qualifier type: {}", eval::go_type(&value))));
        }
        Code::Path(path) => Key::Path(*path),
        other => Key::Value(other),
    };
    path.steps.push(Step { key, is_optional });
    set_direct(&mut path);
    Ok(Code::Path(Box::new(path)))
}

/// Remembers the field, attribute or capacity that the path has come to, if it is named.
fn set_direct(path: &mut Path) {
    let text = |step: &Step| match (&step.key, step.is_optional) {
        (Key::Const(Value::Str(text)), false) => Some(text.as_str().to_owned()),
        _ => None,
    };
    match (&path.root, path.steps.as_slice(), path.is_test) {
        (Root::Device, [field], false) => {
            path.direct = text(field).and_then(|field| Direct::field(&field)).map(Box::new);
        }
        (Root::Device, [field, domain, id], false) if path.direct.is_none() => {
            if let (Some(field), Some(domain), Some(id)) = (text(field), text(domain), text(id)) {
                path.direct = Direct::named(&field, &domain, &id).map(Box::new);
            }
        }
        _ => {}
    }
}

fn is_plain_key(value: &Value<'_>) -> bool {
    matches!(value, Value::Str(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_))
}

/// Membership in a constant list becomes a search among constants that costs nothing.
fn in_list(
    element: Code,
    list: Code,
    function: &'static Function,
    overload: Option<&'static Overload>,
    is_after_1_36: bool,
) -> Planned {
    match list {
        Code::Const(Value::List(values)) if values.len() == 0 => Ok(Code::Const(Value::Bool(false))),
        Code::Const(Value::List(List::Values(values)))
            if values.iter().all(|value| {
                matches!(value, Value::Bool(_) | Value::Double(_) | Value::Int(_) | Value::Str(_) | Value::Uint(_))
            }) =>
        {
            Ok(Code::InSet(Box::new((element, values.to_vec()))))
        }
        list => plain_call(function, overload, vec![element, list], is_after_1_36),
    }
}

/// The instruction for a call with its arguments planned.
#[inline(never)]
fn build_call(
    function: &'static Function,
    overload: Option<&'static Overload>,
    codes: Vec<Code>,
    is_after_1_36: bool,
) -> Planned {
    match (function.name, <[Code; 2]>::try_from(codes)) {
        ("_&&_", Ok(sides)) => Ok(Code::And(Box::new(sides))),
        ("_||_", Ok(sides)) => Ok(Code::Or(Box::new(sides))),
        ("_==_", Ok(sides)) => Ok(Code::Equal { sides: Box::new(sides), is_negated: false }),
        ("_!=_", Ok(sides)) => Ok(Code::Equal { sides: Box::new(sides), is_negated: true }),
        ("_[_]", Ok([operand, key])) => index(operand, key, false),
        ("_[?_]", Ok([operand, key])) => index(operand, key, true),
        ("or" | "orValue", Ok(sides)) => {
            Ok(Code::OrElse { sides: Box::new(sides), is_value: function.name == "orValue", is_strict: is_after_1_36 })
        }
        ("@in", Ok([element, list])) if overload.is_some_and(|overload| overload.id == "in_list") => {
            in_list(element, list, function, overload, is_after_1_36)
        }
        (_, Ok(args)) => plain_call(function, overload, args.into(), is_after_1_36),
        ("_?_:_", Err(args)) => match <[Code; 3]>::try_from(args) {
            Ok(parts) => Ok(Code::Path(Box::new(path_of(Root::Choice(Box::new(parts)))))),
            Err(_) => Err(Refusal::Invalid("wrong number of arguments".to_owned())),
        },
        (_, Err(args)) => plain_call(function, overload, args, is_after_1_36),
    }
}

fn plain_call(
    function: &'static Function,
    overload: Option<&'static Overload>,
    args: Vec<Code>,
    is_after_1_36: bool,
) -> Planned {
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
    let rule = rule(function.name, id, is_after_1_36);
    let is_conversion = CONVERSIONS.contains(&function.name) && matches!(args.as_slice(), [Code::Const(_)]);
    let call = Call { function, overload, args, rule, is_variadic, regex, is_after_1_36 };
    let is_parser = PARSERS.contains(&function.name) && call.args.iter().all(|arg| matches!(arg, Code::Const(_)));
    if is_parser {
        let (price, value) = eval::priced(&call);
        return Ok(Code::Known { price, value });
    }
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
#[inline(never)]
fn make_appending(step: &mut Code, accu: usize) {
    match step {
        Code::Path(path) if path.steps.is_empty() => {
            if let Root::Choice(parts) = &mut path.root {
                let [_, yes, _] = &mut **parts;
                make_appending(yes, accu);
            }
        }
        Code::Call(call) if call.function.name == "_+_" => {
            let is_growth = matches!(call.args.as_slice(), [Code::Path(left), right]
                if left.steps.is_empty() && matches!(left.root, Root::Slot(slot) if slot == accu) && is_list(right));
            if is_growth && let Some(items) = call.args.pop() {
                *step = Code::Append { slot: accu, items: Box::new(items) };
            }
        }
        _ => {}
    }
}

fn is_list(code: &Code) -> bool {
    matches!(code, Code::List(items) if items.iter().all(|item| !item.is_optional))
        || matches!(code, Code::Const(Value::List(_)))
}
