//! Static types, and how they fit each other.

use std::fmt;
use std::rc::Rc;

/// A type as the checker knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Type {
    Dyn,
    Any,
    /// The type of what could not be typed; fits everything, so that one mistake is reported once.
    Error,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Str,
    Bytes,
    Duration,
    Timestamp,
    List(Rc<Type>),
    Map(Rc<Type>, Rc<Type>),
    Optional(Rc<Type>),
    /// A type without visible parts that is compared by name only.
    Opaque(&'static str),
    /// A type with fields (or that calls itself one).
    Struct(&'static str),
    /// The type of a type's name.
    Meta(Rc<Type>),
    /// The type of `type(x)`, whose own parameter is not known.
    AnyMeta,
    /// A variable to be found.
    Var(u32),
}

impl Type {
    pub(super) fn list(element: Self) -> Self {
        Self::List(Rc::new(element))
    }

    pub(super) fn map(key: Self, value: Self) -> Self {
        Self::Map(Rc::new(key), Rc::new(value))
    }

    pub(super) fn optional(value: Self) -> Self {
        Self::Optional(Rc::new(value))
    }

    pub(super) fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any)
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any | Self::Error)
    }

    /// The value's type and true if this is an optional.
    pub(super) fn unwrap_optional(&self) -> (&Self, bool) {
        match self {
            Self::Optional(value) => (value, true),
            other => (other, false),
        }
    }

    fn is_nullable(&self) -> bool {
        matches!(
            self,
            Self::Optional(_)
                | Self::Opaque(_)
                | Self::Struct(_)
                | Self::Any
                | Self::Duration
                | Self::Timestamp
                | Self::Null
        )
    }

    /// Whether any value of `self` is one of `other`, seen without type parameters: the rule for literals' elements.
    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(a), Self::List(b))
            | (Self::Optional(a), Self::Optional(b))
            | (Self::Meta(a), Self::Meta(b)) => a.is_equivalent(b),
            (Self::Map(a, b), Self::Map(c, d)) => a.is_equivalent(c) && b.is_equivalent(d),
            (Self::Var(_), Self::Var(_)) => true,
            (a, b) => a == b,
        }
    }

    fn is_equal_or_less_specific(&self, other: &Self) -> bool {
        if self.is_dyn() || matches!(self, Self::Var(_)) {
            return true;
        }
        if other.is_dyn() || matches!(other, Self::Var(_)) {
            return false;
        }
        match (self, other) {
            (Self::List(a), Self::List(b)) | (Self::Optional(a), Self::Optional(b)) => a.is_equal_or_less_specific(b),
            (Self::Map(a, b), Self::Map(c, d)) => a.is_equal_or_less_specific(c) && b.is_equal_or_less_specific(d),
            (Self::Meta(_) | Self::AnyMeta, Self::Meta(_) | Self::AnyMeta) => true,
            (a, b) => a == b,
        }
    }

    /// The more general of two types that fit each other.
    pub(super) fn most_general(self, other: Self) -> Self {
        if self.is_equal_or_less_specific(&other) { self } else { other }
    }
}

impl Type {
    /// The name of the type if values of it are known to have no other type.
    pub(super) fn known_value(&self) -> Option<String> {
        match self {
            Self::Dyn | Self::Any | Self::Error | Self::Var(_) | Self::Optional(_) | Self::Meta(_) | Self::AnyMeta => {
                None
            }
            known => Some(known.to_string()),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dyn => "dyn",
            Self::Any => "any",
            Self::Error => "!error!",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::Str => "string",
            Self::Bytes => "bytes",
            Self::Duration => "duration",
            Self::Timestamp => "timestamp",
            Self::List(element) => return write!(f, "list({element})"),
            Self::Map(key, value) => return write!(f, "map({key}, {value})"),
            Self::Optional(value) => return write!(f, "optional_type({value})"),
            Self::Opaque(name) | Self::Struct(name) => name,
            Self::Meta(inner) => return write!(f, "type({inner})"),
            Self::AnyMeta => "type",
            Self::Var(id) => return write!(f, "_var{id}"),
        })
    }
}

/// What the type variables stand for so far.
#[derive(Default)]
pub(super) struct Bindings {
    values: Vec<Option<Type>>,
    /// What to restore, newest last.
    trail: Vec<(u32, Option<Type>)>,
}

/// A state to go back to.
#[derive(Clone, Copy)]
pub(super) struct Mark(usize);

impl Bindings {
    pub(super) fn new_var(&mut self) -> Type {
        let id = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.values.push(None);
        Type::Var(id)
    }

    fn find(&self, id: u32) -> Option<&Type> {
        self.values.get(id as usize).and_then(Option::as_ref)
    }

    fn bind(&mut self, id: u32, value: Type) {
        if let Some(slot) = self.values.get_mut(id as usize) {
            let old = slot.replace(value);
            self.trail.push((id, old));
        }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.trail.len())
    }

    pub(super) fn reset(&mut self, mark: Mark) {
        while self.trail.len() > mark.0 {
            if let Some((id, old)) = self.trail.pop()
                && let Some(slot) = self.values.get_mut(id as usize)
            {
                *slot = old;
            }
        }
    }

    /// Whether a value of type `from` fits where `to` is wanted. Binds variables if so, and none if not.
    pub(super) fn is_assignable(&mut self, from: &Type, to: &Type) -> bool {
        let mark = self.mark();
        let fits = self.unify(from, to);
        if !fits {
            self.reset(mark);
        }
        fits
    }

    /// The same for each pair.
    pub(super) fn are_assignable(&mut self, from: &[Type], to: &[Type]) -> bool {
        let mark = self.mark();
        let fits = from.len() == to.len() && from.iter().zip(to).all(|(from, to)| self.unify(from, to));
        if !fits {
            self.reset(mark);
        }
        fits
    }

    fn unify(&mut self, from: &Type, to: &Type) -> bool {
        if let Type::Var(id) = to {
            let (is_valid, has_value) = self.substitutes(from, *id);
            if is_valid || has_value {
                return is_valid;
            }
        }
        if let Type::Var(id) = from {
            return self.substitutes(to, *id).0;
        }
        if from.is_dyn_or_error() || to.is_dyn_or_error() {
            return true;
        }
        match (from, to) {
            (Type::Null, other) | (other, Type::Null) => other.is_nullable(),
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => self.unify(a, b),
            (Type::Map(a, b), Type::Map(c, d)) => self.unify(a, c) && self.unify(b, d),
            (Type::Meta(_) | Type::AnyMeta, Type::Meta(_) | Type::AnyMeta) => true,
            (a, b) => a == b,
        }
    }

    /// Whether `other` can stand for the variable, and whether the variable has a value already.
    fn substitutes(&mut self, other: &Type, id: u32) -> (bool, bool) {
        if *other == Type::Var(id) {
            return (true, true);
        }
        if let Some(value) = self.find(id).cloned() {
            if *other == value {
                return (true, true);
            }
            if !self.unify(other, &value) {
                return (false, true);
            }
            let general = other.clone().most_general(value);
            if !self.occurs(id, &general) {
                self.bind(id, general);
            }
            return (true, true);
        }
        if self.occurs(id, other) {
            return (false, false);
        }
        self.bind(id, other.clone());
        (true, false)
    }

    /// Whether the variable is part of the type.
    fn occurs(&self, id: u32, within: &Type) -> bool {
        match within {
            Type::Var(other) => *other == id || self.find(*other).is_some_and(|value| self.occurs(id, value)),
            Type::List(inner) | Type::Optional(inner) | Type::Meta(inner) => self.occurs(id, inner),
            Type::Map(key, value) => self.occurs(id, key) || self.occurs(id, value),
            _ => false,
        }
    }

    /// The type with all variables replaced that have a value; those without become `dyn` if `to_dyn`.
    pub(super) fn substitute(&self, of: &Type, to_dyn: bool) -> Type {
        match of {
            Type::Var(id) => match self.find(*id) {
                Some(value) => self.substitute(value, to_dyn),
                None if to_dyn => Type::Dyn,
                None => of.clone(),
            },
            Type::List(inner) => Type::list(self.substitute(inner, to_dyn)),
            Type::Optional(inner) => Type::optional(self.substitute(inner, to_dyn)),
            Type::Meta(inner) => Type::Meta(Rc::new(self.substitute(inner, to_dyn))),
            Type::Map(key, value) => Type::map(self.substitute(key, to_dyn), self.substitute(value, to_dyn)),
            other => other.clone(),
        }
    }
}
