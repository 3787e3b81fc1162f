//! The static checker: a type for every node, the overloads for every call.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::Environment;
use super::ast::{Ast, Element, Entry, Fold, Kind, Literal, NodeId};
use super::decls::{self, Function, Optionals, Overload, T};
use super::error::Report;
use super::types::{Bindings, Type};

/// What a name or a call was found to mean.
#[derive(Clone, Default)]
pub(super) enum Reference {
    #[default]
    None,
    /// A variable: `device` or one that a macro declared.
    Variable(Arc<str>),
    /// The name of a type, as a value.
    Type(Arc<str>),
    /// A function and those of its overloads that the arguments allow.
    Call(&'static Function, Vec<&'static Overload>),
}

/// The outcome of checking, by node.
pub(super) struct Checked {
    types: Vec<Type>,
    references: Vec<Reference>,
    /// Whether the rules of 1.37 hold.
    pub(super) is_after_1_36: bool,
    /// Something that the reference knows and this implementation does not, with its place.
    pub(super) unsupported: Option<(u32, String)>,
}

impl Checked {
    pub(super) fn type_of(&self, id: NodeId) -> &Type {
        self.types.get(id.index()).unwrap_or(&Type::Error)
    }

    pub(super) fn reference(&self, id: NodeId) -> &Reference {
        self.references.get(id.index()).unwrap_or(&Reference::None)
    }
}

/// The name of the device's type.
pub(super) const DEVICE: &str = "kubernetes.DRADevice";

/// The fields of a device.
pub(super) const DEVICE_FIELDS: [&str; 4] = ["driver", "attributes", "capacity", "allowMultipleAllocations"];

/// Message types of the reference whose values cannot be written here.
const MESSAGES: [&str; 14] = [
    "google.protobuf.Any",
    "google.protobuf.BoolValue",
    "google.protobuf.BytesValue",
    "google.protobuf.DoubleValue",
    "google.protobuf.Empty",
    "google.protobuf.FloatValue",
    "google.protobuf.Int32Value",
    "google.protobuf.Int64Value",
    "google.protobuf.ListValue",
    "google.protobuf.NullValue.NULL_VALUE",
    "google.protobuf.StringValue",
    "google.protobuf.Struct",
    "google.protobuf.UInt32Value",
    "google.protobuf.UInt64Value",
];

/// Checks the tree; errors go to the report.
pub(super) fn check(ast: &mut Ast, root: NodeId, env: &Environment, report: &mut Report<'_>) -> Checked {
    let size = ast.len();
    let mut checker = Checker {
        ast,
        env,
        report,
        types: vec![Type::Error; size],
        references: vec![Reference::None; size],
        bindings: Bindings::default(),
        scopes: BTreeMap::new(),
        unsupported: None,
    };
    checker.check(root);
    let Checker { types, references, bindings, unsupported, .. } = checker;
    let types = types.iter().map(|found| bindings.substitute(found, true)).collect();
    Checked { types, references, is_after_1_36: env.is_after_1_36(), unsupported }
}

struct Checker<'c, 'r, 's> {
    ast: &'c mut Ast,
    env: &'c Environment,
    report: &'r mut Report<'s>,
    types: Vec<Type>,
    references: Vec<Reference>,
    bindings: Bindings,
    /// The variables of macros by name, innermost last.
    scopes: BTreeMap<Arc<str>, Vec<Type>>,
    unsupported: Option<(u32, String)>,
}

impl Checker<'_, '_, '_> {
    fn type_of(&self, id: NodeId) -> Type {
        self.types.get(id.index()).cloned().unwrap_or(Type::Error)
    }

    fn set_type(&mut self, id: NodeId, found: Type) {
        if let Some(slot) = self.types.get_mut(id.index()) {
            *slot = found;
        }
    }

    fn set_reference(&mut self, id: NodeId, reference: Reference) {
        if let Some(slot) = self.references.get_mut(id.index()) {
            *slot = reference;
        }
    }

    fn error(&mut self, id: NodeId, message: impl Into<String>) {
        self.report.add(self.ast.offset(id), message);
    }

    fn undeclared(&mut self, id: NodeId, name: &str) {
        self.error(id, format!("undeclared reference to '{name}' (in container '')"));
    }

    fn unsupported(&mut self, id: NodeId, what: String) {
        self.unsupported.get_or_insert((self.ast.offset(id), what));
    }

    fn check(&mut self, id: NodeId) {
        let found = match self.ast.kind(id).clone() {
            Kind::Literal(literal) => literal_type(&literal),
            Kind::Ident(name) => self.check_ident(id, &name),
            Kind::Select { operand, field, is_test } => self.check_select(id, operand, &field, is_test),
            Kind::Call { function, target, args } => self.check_call(id, &function, target, &args),
            Kind::List(elements) => self.check_list(&elements),
            Kind::Map(entries) => self.check_map(&entries),
            Kind::Struct { name, values } => self.check_struct(id, &name, &values),
            Kind::Fold(fold) => self.check_fold(&fold),
            Kind::Invalid => Type::Error,
        };
        self.set_type(id, found);
    }

    /// What a possibly qualified name stands for.
    fn lookup(&mut self, id: NodeId, name: &str) -> Option<Type> {
        let absolute = name;
        let name = name.strip_prefix('.').unwrap_or(name);
        // Up to 1.36 a leading dot does not reach past the variables of macros.
        let skips_scopes = name != absolute && self.env.is_after_1_36();
        let in_scope = self.scopes.get(name).and_then(|types| types.last()).cloned();
        if let Some(found) = in_scope.clone().filter(|_| !skips_scopes) {
            self.set_reference(id, Reference::Variable(name.into()));
            return Some(found);
        }
        if name == "device" {
            let name = if in_scope.is_some() { absolute } else { name };
            self.set_reference(id, Reference::Variable(name.into()));
            return Some(Type::Struct(DEVICE));
        }
        if MESSAGES.contains(&name) {
            self.unsupported(id, format!("`{name}`"));
            return Some(Type::Error);
        }
        let named = decls::named_type(name)?;
        self.set_reference(id, Reference::Type(name.into()));
        Some(Type::Meta(Rc::new(named)))
    }

    #[inline(never)]
    fn check_ident(&mut self, id: NodeId, name: &str) -> Type {
        match self.lookup(id, name) {
            Some(found) => found,
            None => {
                self.undeclared(id, name);
                Type::Error
            }
        }
    }

    #[inline(never)]
    fn check_select(&mut self, id: NodeId, operand: NodeId, field: &str, is_test: bool) -> Type {
        if let Some(name) = self.ast.qualified_name(id)
            && let Some(found) = self.lookup(id, &name)
        {
            return found;
        }
        let found = self.check_field(id, operand, field, false);
        if is_test { Type::Bool } else { self.bindings.substitute(&found, false) }
    }

    #[inline(never)]
    fn check_field(&mut self, id: NodeId, operand: NodeId, field: &str, is_optional: bool) -> Type {
        self.check(operand);
        let operand_type = self.bindings.substitute(&self.type_of(operand), false);
        let (target, was_optional) = operand_type.unwrap_optional();
        let found = match target {
            Type::Map(_, value) => (**value).clone(),
            Type::Struct(DEVICE) => match self.env.field(field) {
                Some(found) => found,
                None => {
                    self.error(id, format!("undefined field '{field}'"));
                    Type::Error
                }
            },
            Type::Struct(name) => {
                self.error(id, format!("unexpected failed resolution of '{name}'"));
                Type::Error
            }
            Type::Var(_) => {
                self.bindings.is_assignable(&Type::Dyn, target);
                Type::Dyn
            }
            other => {
                if !other.is_dyn_or_error() {
                    self.error(id, format!("type '{other}' does not support field selection"));
                }
                Type::Dyn
            }
        };
        if was_optional || is_optional { Type::optional(found) } else { found }
    }

    #[inline(never)]
    fn check_call(&mut self, id: NodeId, function: &Arc<str>, target: Option<NodeId>, args: &[NodeId]) -> Type {
        if let ("_?._", [operand, field]) = (&**function, args)
            && let Kind::Literal(Literal::Str(name)) = self.ast.kind(*field).clone()
        {
            let found = self.check_field(id, *operand, &name, true);
            return self.bindings.substitute(&found, false);
        }
        for arg in args {
            self.check(*arg);
        }
        let Some(target) = target else {
            let name = function.strip_prefix('.').unwrap_or(function);
            return match decls::find(name, self.env.optionals()) {
                Some(found) => self.resolve(id, found, None, args),
                None => {
                    self.undeclared(id, function);
                    Type::Error
                }
            };
        };
        if let Some(prefix) = self.ast.qualified_name(target) {
            let name = format!("{}.{function}", prefix.strip_prefix('.').unwrap_or(&prefix));
            if let Some(found) = decls::find(&name, self.env.optionals()) {
                let call = Kind::Call { function: found.name.into(), target: None, args: args.to_vec() };
                self.ast.set(id, call);
                return self.resolve(id, found, None, args);
            }
        }
        self.check(target);
        match decls::find(function, self.env.optionals()) {
            Some(found) => self.resolve(id, found, Some(target), args),
            None => {
                self.undeclared(id, function);
                Type::Error
            }
        }
    }

    #[inline(never)]
    fn resolve(&mut self, id: NodeId, function: &'static Function, target: Option<NodeId>, args: &[NodeId]) -> Type {
        let arg_types: Vec<Type> = target.iter().chain(args).map(|arg| self.type_of(*arg)).collect();
        if matches!(function.name, "_&&_" | "_||_") {
            return self.resolve_logic(id, function, args, &arg_types);
        }
        let mut result: Option<Type> = None;
        let mut overloads = Vec::new();
        for overload in function.overloads.iter().filter(|overload| overload.is_member == target.is_some()) {
            if overload.args.len() != arg_types.len() || !self.env.has(overload) {
                continue;
            }
            let mut vars = [None, None];
            let wanted: Vec<Type> =
                overload.args.iter().map(|arg| arg.instantiate(&mut vars, &mut self.bindings)).collect();
            if !self.bindings.are_assignable(&arg_types, &wanted) {
                continue;
            }
            overloads.push(overload);
            let found = overload.result.instantiate(&mut vars, &mut self.bindings);
            let found = self.bindings.substitute(&found, false);
            result = Some(match result {
                None => found,
                Some(known) if known.is_dyn() || known == found => known,
                Some(_) => Type::Dyn,
            });
        }
        match result {
            Some(found) => {
                self.set_reference(id, Reference::Call(function, overloads));
                found
            }
            None => {
                let signature = self.signature(&arg_types, target.is_some());
                self.error(id, format!("found no matching overload for '{}' applied to '{signature}'", function.name));
                Type::Error
            }
        }
    }

    fn resolve_logic(&mut self, id: NodeId, function: &'static Function, args: &[NodeId], types: &[Type]) -> Type {
        let mut fits = true;
        for (arg, found) in args.iter().zip(types) {
            if !self.bindings.is_assignable(found, &Type::Bool) {
                self.error(*arg, format!("expected type 'bool' but found '{found}'"));
                fits = false;
            }
        }
        self.set_reference(id, Reference::Call(function, function.overloads.iter().collect()));
        if fits { Type::Bool } else { Type::Error }
    }

    fn signature(&self, types: &[Type], is_member: bool) -> String {
        let mut names = types.iter().map(|found| self.bindings.substitute(found, true).to_string());
        let target = if is_member { names.next().map(|name| name + ".") } else { None };
        format!("{}({})", target.unwrap_or_default(), names.collect::<Vec<_>>().join(", "))
    }

    fn join(&mut self, previous: Option<Type>, current: Type) -> Type {
        let Some(previous) = previous else {
            return current;
        };
        if self.bindings.is_assignable(&previous, &current) {
            return previous.most_general(current);
        }
        // The validator of literals refuses this, but only in an expression that is right otherwise.
        Type::Dyn
    }

    /// The type of an element that may be written with `?`.
    #[inline(never)]
    fn element_type(&mut self, id: NodeId, is_optional: bool) -> Type {
        self.check(id);
        let found = self.type_of(id);
        if !is_optional {
            return found;
        }
        let (value, was_optional) = found.unwrap_optional();
        let value = value.clone();
        if !was_optional && !value.is_dyn() {
            self.error(id, format!("expected type '{}' but found '{value}'", Type::optional(value.clone())));
        }
        value
    }

    #[inline(never)]
    fn check_list(&mut self, elements: &[Element]) -> Type {
        let mut joined = None;
        for element in elements {
            let found = self.element_type(element.value, element.is_optional);
            joined = Some(self.join(joined, found));
        }
        Type::list(joined.unwrap_or_else(|| self.bindings.new_var()))
    }

    #[inline(never)]
    fn check_map(&mut self, entries: &[Entry]) -> Type {
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            self.check(entry.key);
            let key = self.type_of(entry.key);
            keys = Some(self.join(keys, key));
            let value = self.element_type(entry.value, entry.is_optional);
            values = Some(self.join(values, value));
        }
        let key = keys.unwrap_or_else(|| self.bindings.new_var());
        Type::map(key, values.unwrap_or_else(|| self.bindings.new_var()))
    }

    #[inline(never)]
    fn check_struct(&mut self, id: NodeId, name: &str, values: &[NodeId]) -> Type {
        match self.lookup(id, name) {
            None => {
                self.undeclared(id, name);
                return Type::Error;
            }
            Some(Type::Error) => {}
            Some(Type::Meta(_)) => self.unsupported(id, format!("construction of `{name}`")),
            Some(found) => self.error(id, format!("'{found}' is not a type")),
        }
        for value in values {
            self.check(*value);
        }
        Type::Error
    }

    #[inline(never)]
    fn check_fold(&mut self, fold: &Fold) -> Type {
        self.check(fold.range);
        self.check(fold.init);
        let range = self.bindings.substitute(&self.type_of(fold.range), false);
        let accu = self.type_of(fold.init);
        let has_second = fold.iter_var2.is_some();
        let (first, second) = match &range {
            Type::List(element) if has_second => (Type::Int, (**element).clone()),
            Type::List(element) => ((**element).clone(), Type::Dyn),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Var(_) => {
                self.bindings.is_assignable(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.error(fold.range, message);
                (Type::Error, Type::Error)
            }
        };
        self.enter(&fold.accu_var, accu.clone());
        self.enter(&fold.iter_var, first);
        if let Some(name) = &fold.iter_var2 {
            self.enter(name, second);
        }
        self.check(fold.condition);
        self.expect(fold.condition, &Type::Bool);
        self.check(fold.step);
        self.expect(fold.step, &accu);
        if let Some(name) = &fold.iter_var2 {
            self.leave(name);
        }
        self.leave(&fold.iter_var);
        self.check(fold.result);
        self.leave(&fold.accu_var);
        self.bindings.substitute(&self.type_of(fold.result), false)
    }

    fn enter(&mut self, name: &Arc<str>, found: Type) {
        self.scopes.entry(Arc::clone(name)).or_default().push(found);
    }

    fn leave(&mut self, name: &Arc<str>) {
        if let Some(types) = self.scopes.get_mut(name) {
            types.pop();
        }
    }

    fn expect(&mut self, id: NodeId, wanted: &Type) {
        let found = self.type_of(id);
        if !self.bindings.is_assignable(wanted, &found) {
            self.error(id, format!("expected type '{wanted}' but found '{found}'"));
        }
    }
}

fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::Str(_) => Type::Str,
        Literal::Bytes(_) => Type::Bytes,
    }
}

impl Environment {
    /// The type of a field of `device`.
    fn field(&self, name: &str) -> Option<Type> {
        let maps = |value: Type| Type::map(Type::Str, Type::map(Type::Str, value));
        match name {
            "driver" => Some(Type::Str),
            "attributes" => Some(maps(self.attribute_type())),
            "capacity" => Some(maps(T::Quantity.plain())),
            "allowMultipleAllocations" if self.has_multiple_allocations() => Some(Type::Bool),
            _ => None,
        }
    }

    /// 1.37 took out a conversion that always failed.
    fn has(&self, overload: &Overload) -> bool {
        overload.id != "int64_to_duration" || !self.is_after_1_36()
    }

    /// The libraries that not every environment has.
    pub(super) fn optionals(&self) -> Optionals {
        Optionals { lists: self.has_lists(), includes: self.includes() }
    }
}
