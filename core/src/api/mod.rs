//! The API objects: one internal form per kind, read from JSON with findings instead of failures.

pub mod claim;
pub mod class;
pub(crate) mod condition;
pub mod group;
pub mod meta;
pub mod node;
pub mod object;
pub(crate) mod other_workload;
pub mod others;
pub mod pod;
pub mod pool_status;
pub mod quantity;
pub mod read;
pub mod scheduler_configuration;
pub mod slice;
pub mod source;
pub(crate) mod unknown_kind;
pub(crate) mod versions;
pub mod workload;
