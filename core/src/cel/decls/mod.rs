//! The functions of the environment: names, overloads, and what carries them out.

/// A table of functions: how the call is bound, the name, and the overloads, each with its id, types and implementation.
macro_rules! functions {
    ($($binding:ident $(($demands:ident))? $name:literal {
        $($form:ident $id:expr, ($($arg:expr),*) -> $result:expr => $func:ident $(($with:literal))?;)*
    })*) => {
        &[$(super::$binding(
            $name,
            $(crate::cel::call::Trait::$demands,)?
            &[$(super::$form($id, &[$($arg),*], $result, crate::cel::call::Func::$func $(($with))?)),*],
        )),*]
    };
}

mod libraries;
mod standard;

use std::rc::Rc;

use super::call::{Func, Trait};
use super::types::{Bindings, Type};
use crate::near::nearest;

/// A type in a declaration; `A` and `B` stand for any type.
#[derive(Clone, Copy, Debug)]
pub(super) enum T {
    Dyn,
    Bool,
    Int,
    Uint,
    Double,
    Str,
    Bytes,
    Duration,
    Timestamp,
    Quantity,
    Semver,
    Ip,
    Cidr,
    Url,
    Format,
    Authorizer,
    PathCheck,
    GroupCheck,
    ResourceCheck,
    Decision,
    A,
    B,
    List(&'static T),
    Map(&'static T, &'static T),
    Optional(&'static T),
    Type(&'static T),
}

const LIST_A: T = T::List(&T::A);
const LIST_STR: T = T::List(&T::Str);
const MAP_AB: T = T::Map(&T::A, &T::B);
const OPTIONAL_A: T = T::Optional(&T::A);

/// One signature of a function.
#[derive(Debug)]
pub(super) struct Overload {
    /// The reference's name of the signature; costs depend on it.
    pub(super) id: &'static str,
    pub(super) is_member: bool,
    pub(super) args: &'static [T],
    pub(super) result: T,
    pub(super) func: Func,
    /// Whether evaluation stops at the first argument that fails, as the reference does for some functions.
    pub(super) is_variadic: bool,
}

/// How a call finds what carries it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binding {
    /// Each overload has its own implementation, which demands the declared types at run time.
    Overloads,
    /// The same, but the implementations look at the types themselves.
    Unguarded,
    /// One implementation for all overloads, which demands that the first argument has a trait.
    Single(Trait),
}

/// A function and all its signatures.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) binding: Binding,
    pub(super) overloads: &'static [Overload],
}

const fn global(id: &'static str, args: &'static [T], result: T, func: Func) -> Overload {
    Overload { id, is_member: false, args, result, func, is_variadic: args.len() > 2 || args.is_empty() }
}

const fn member(id: &'static str, args: &'static [T], result: T, func: Func) -> Overload {
    Overload { id, is_member: true, args, result, func, is_variadic: args.len() > 2 }
}

/// A member of two arguments that stops at the first argument that fails.
const fn variadic(id: &'static str, args: &'static [T], result: T, func: Func) -> Overload {
    Overload { id, is_member: true, args, result, func, is_variadic: true }
}

const fn function(name: &'static str, overloads: &'static [Overload]) -> Function {
    Function { name, binding: Binding::Overloads, overloads }
}

const fn unguarded(name: &'static str, overloads: &'static [Overload]) -> Function {
    Function { name, binding: Binding::Unguarded, overloads }
}

const fn single(name: &'static str, demands: Trait, overloads: &'static [Overload]) -> Function {
    Function { name, binding: Binding::Single(demands), overloads }
}

/// The functions of a library that is not in every environment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Optionals {
    /// The list library of Kubernetes 1.34.
    pub(super) lists: bool,
    /// `includes` of KEP-5491.
    pub(super) includes: Includes,
}

/// Where `includes` comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Includes {
    Nowhere,
    /// The DRA environment of 1.36, with a limit on the length of lists.
    Device,
    /// The base library of 1.37.
    Library,
}

/// The function of that name.
pub(super) fn find(name: &str, has: Optionals) -> Option<&'static Function> {
    let in_table = |table: &'static [Function]| table.iter().find(|function| function.name == name);
    let tables = [standard::FUNCTIONS, libraries::FUNCTIONS].into_iter();
    let mut tables = tables.chain(standard::COMPARISONS).chain(standard::PARTS_OF_TIME);
    tables.find_map(in_table).or_else(|| has.lists.then(|| in_table(libraries::LISTS)).flatten()).or_else(|| match has
        .includes
    {
        Includes::Nowhere => None,
        Includes::Device => in_table(libraries::DEVICE_INCLUDES),
        Includes::Library => in_table(libraries::LIBRARY_INCLUDES),
    })
}

/// The name of the function that is nearest to one that there is not, upper and lower case aside.
pub(super) fn nearest_function(name: &str) -> Option<&'static str> {
    let tables = [standard::FUNCTIONS, libraries::FUNCTIONS, libraries::LISTS];
    let names = tables.into_iter().flatten().map(|function| function.name);
    let mut names = names.filter(|known| known.starts_with(|letter: char| letter.is_ascii_alphabetic()));
    let same = names.clone().find(|known| known.eq_ignore_ascii_case(name));
    same.or_else(|| nearest(name, &mut names))
}

/// The type that a type's name stands for in an expression.
pub(super) fn named_type(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "google.protobuf.Duration" => Type::Duration,
        "int" => Type::Int,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "null_type" => Type::Null,
        "string" => Type::Str,
        "google.protobuf.Timestamp" => Type::Timestamp,
        "type" => Type::AnyMeta,
        "uint" => Type::Uint,
        "optional_type" => Type::optional(Type::Dyn),
        "net.IP" => T::Ip.plain(),
        "net.CIDR" => T::Cidr.plain(),
        _ => return None,
    })
}

impl T {
    /// The type with `A` and `B` replaced by variables, made in `vars` where missing.
    pub(super) fn instantiate(self, vars: &mut [Option<Type>; 2], bindings: &mut Bindings) -> Type {
        let [a, b] = vars;
        match self {
            Self::A => a.get_or_insert_with(|| bindings.new_var()).clone(),
            Self::B => b.get_or_insert_with(|| bindings.new_var()).clone(),
            Self::List(inner) => Type::list(inner.instantiate(vars, bindings)),
            Self::Optional(inner) => Type::optional(inner.instantiate(vars, bindings)),
            Self::Type(inner) => Type::Meta(Rc::new(inner.instantiate(vars, bindings))),
            Self::Map(key, value) => {
                let key = key.instantiate(vars, bindings);
                Type::map(key, value.instantiate(vars, bindings))
            }
            other => other.plain(),
        }
    }

    /// The type of a declaration without parts.
    pub(super) fn plain(self) -> Type {
        match self {
            Self::Bool => Type::Bool,
            Self::Int => Type::Int,
            Self::Uint => Type::Uint,
            Self::Double => Type::Double,
            Self::Str => Type::Str,
            Self::Bytes => Type::Bytes,
            Self::Duration => Type::Duration,
            Self::Timestamp => Type::Timestamp,
            Self::Ip | Self::Cidr => Type::Opaque(self.name()),
            Self::Quantity
            | Self::Semver
            | Self::Url
            | Self::Format
            | Self::Authorizer
            | Self::PathCheck
            | Self::GroupCheck
            | Self::ResourceCheck
            | Self::Decision => Type::Struct(self.name()),
            Self::Dyn | Self::A | Self::B => Type::Dyn,
            Self::List(_) => Type::list(Type::Dyn),
            Self::Map(_, _) => Type::map(Type::Dyn, Type::Dyn),
            Self::Optional(_) => Type::optional(Type::Dyn),
            Self::Type(_) => Type::AnyMeta,
        }
    }

    /// The name that a value of this type has at run time.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Dyn | Self::A | Self::B => "dyn",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::Str => "string",
            Self::Bytes => "bytes",
            Self::Duration => "google.protobuf.Duration",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::Quantity => "kubernetes.Quantity",
            Self::Semver => "kubernetes.Semver",
            Self::Ip => "net.IP",
            Self::Cidr => "net.CIDR",
            Self::Url => "kubernetes.URL",
            Self::Format => "kubernetes.NamedFormat",
            Self::Authorizer => "kubernetes.authorization.Authorizer",
            Self::PathCheck => "kubernetes.authorization.PathCheck",
            Self::GroupCheck => "kubernetes.authorization.GroupCheck",
            Self::ResourceCheck => "kubernetes.authorization.ResourceCheck",
            Self::Decision => "kubernetes.authorization.Decision",
            Self::List(_) => "list",
            Self::Map(_, _) => "map",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
        }
    }
}
