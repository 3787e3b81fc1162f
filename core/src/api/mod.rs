//! The API objects: one internal form per kind, read from JSON with findings instead of failures.

pub mod quantity;
