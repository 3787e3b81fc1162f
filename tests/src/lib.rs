//! Conformance vectors through every door of the engine, and the doors compared with each other.
//!
//! A *door* is one way to ask: the native core, the component in wasmtime, the npm package in Node.js, the Go package. All of
//! them get the same settings, objects and question as JSON and must answer with the same bytes.

pub mod allocator;
pub mod answers;
pub mod api_server;
pub mod baseline;
#[cfg(feature = "hosts")]
pub mod bench;
pub mod cel;
pub mod corpus;
pub mod differential;
pub mod door;
pub mod generate;
pub mod history;
pub mod lifecycle;
pub mod places;
pub mod published;
pub mod record;
pub mod reference;
pub mod seeds;
pub mod units;
pub mod validation;
pub mod view;

/// One test of the corpus and how it went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Unique id: folder, file, and the case's own id.
    pub id: String,
    /// What was wrong; absent when the case passes.
    pub failure: Option<String>,
}

impl Verdict {
    /// A verdict from a check's result.
    pub fn new(id: impl Into<String>, result: Result<(), String>) -> Self {
        Self { id: id.into(), failure: result.err() }
    }
}
