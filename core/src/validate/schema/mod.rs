//! The shape of every kind and version: which fields there are and what they hold.
//!
//! An object is held against its schema before any rule looks at it. What does not fit is reported as the API server's
//! decoder would; what is unknown is reported and left out, as the API server does.

/// Fields of an object: names, what they hold, and where not every version has a field, which.
macro_rules! fields {
    ($($($name:ident $(@ $era:ident $(($version:ident))?)?),+: $holds:expr);* $(;)?) => {
        &[$($(super::field(stringify!($name), $holds)
            $(.$era($(crate::profile::Version::$version)?))?,)+)*]
    };
}

/// An object with these fields and no others.
macro_rules! object {
    ($($fields:tt)*) => { Type::Object(fields! { $($fields)* }) };
}

/// An object with more fields than matter here.
macro_rules! open {
    ($($fields:tt)*) => { Type::Open(fields! { $($fields)* }) };
}

/// An object with a kind.
macro_rules! kind {
    ($($fields:tt)*) => { object! { apiVersion, kind: Text; metadata: META; $($fields)* } };
}

mod controllers;
mod core;
mod fit;
#[cfg(test)]
mod listing;
mod meta;
mod others;
mod resource;
mod same;
mod scheduling;
mod source;
mod suggest;

pub(super) use self::core::{
    POD, POD_CLAIMS, POD_SPEC, POD_TEMPLATE, SCHEDULING_GROUP, WORKLOAD_REF as WORKLOAD_REFERENCE,
};
pub(super) use controllers::*;
pub(super) use fit::fit;
pub(super) use meta::META;
pub(super) use others::*;
pub(super) use resource::*;
pub(super) use same::same;
pub(super) use scheduling::*;
pub(super) use source::TEMPLATE_SOURCE;

use crate::profile::Version;

/// What a field holds.
pub(in crate::validate) enum Type {
    /// A text; empty where left out.
    Text,
    /// A boolean; `false` where left out.
    Flag,
    /// A whole number of 32 bits; 0 where left out.
    Int32,
    /// A whole number of 64 bits; 0 where left out.
    Int64,
    /// An amount with an optional suffix.
    Quantity,
    /// RFC 3339.
    Time,
    /// Anything.
    Any,
    /// An object with these fields and no others.
    Object(&'static [Field]),
    /// An object with more fields than matter here.
    Open(&'static [Field]),
    /// A list.
    List(&'static Type),
    /// An object whose keys are free.
    Map(&'static Type),
    /// The same, but being left out differs from being empty.
    Opt(&'static Type),
}

/// A field of an object.
pub(in crate::validate) struct Field {
    /// Its name in JSON.
    pub(in crate::validate) name: &'static str,
    /// What it holds.
    pub(in crate::validate) holds: Type,
    /// When it exists.
    era: Era,
}

/// Which Kubernetes has a field.
#[derive(Clone, Copy)]
enum Era {
    Always,
    Since(Version),
    Until(Version),
    /// Just this one.
    Only(Version),
    /// None any more.
    Gone,
    /// None that was released.
    Proposed,
}

impl Field {
    /// Whether some release of Kubernetes has it.
    pub(super) const fn is_released(&self) -> bool {
        !matches!(self.era, Era::Proposed)
    }

    /// It came with a version.
    const fn since(self, version: Version) -> Self {
        Self { era: Era::Since(version), ..self }
    }

    /// A version was the last to have it.
    const fn until(self, version: Version) -> Self {
        Self { era: Era::Until(version), ..self }
    }

    /// It came with a version and went with it.
    const fn only(self, version: Version) -> Self {
        Self { era: Era::Only(version), ..self }
    }

    /// It went before the first version that is known here.
    const fn gone(self) -> Self {
        Self { era: Era::Gone, ..self }
    }

    /// It is of a proposal that was not released.
    const fn proposed(self) -> Self {
        Self { era: Era::Proposed, ..self }
    }
}

const fn field(name: &'static str, holds: Type) -> Field {
    Field { name, holds, era: Era::Always }
}

/// The fields of an object type; none for others.
pub(super) fn fields(of: &'static Type) -> &'static [Field] {
    match of {
        Type::Object(fields) | Type::Open(fields) => fields,
        Type::Opt(inner) => fields(inner),
        _ => &[],
    }
}
