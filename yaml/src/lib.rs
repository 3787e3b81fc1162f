//! YAML and JSON as `kubectl` reads them, with byte positions, recovery per document, and limits.
//!
//! [`read`] takes the bytes of a file and returns every document in it as JSON, each with a map from field paths to
//! byte ranges, and everything worth telling the author as [`Problem`]s. It never fails and never panics: a document
//! that cannot be read leaves a problem of [`Severity::Error`], and the others are still there.
//!
//! What is written is taken as `kubectl` takes it, which is mostly YAML 1.1: `yes` is true, `012` is ten, `1.10` is
//! 1.1, of two equal keys the last one counts. Where that is likely to surprise, a warning says so.
//!
//! ```
//! use apportion_yaml::{Limits, ProblemCode, read};
//!
//! let text = "kind: Pod\nmetadata: { name: yes }\n---\nkind: [\n---\nkind: Node\n";
//! let reading = read(text.as_bytes(), &Limits::default());
//!
//! let kinds: Vec<_> = reading.documents.iter().map(|d| d.value["kind"].as_str().unwrap()).collect();
//! assert_eq!(kinds, ["Pod", "Node"]);
//! assert_eq!(reading.documents[0].value["metadata"]["name"], true);
//!
//! let codes: Vec<_> = reading.problems.iter().map(|p| p.code).collect();
//! assert_eq!(codes, [ProblemCode::SurprisingScalar, ProblemCode::Syntax]);
//!
//! let name = reading.documents[0].positions.find("metadata.name").unwrap();
//! assert_eq!(&text[name.value], "yes");
//! ```
//!
//! # Where it differs from `kubectl`
//!
//! - `kubectl` stops at the first document that it refuses; here the others are read too.
//! - Of a document that `kubectl` refuses for a single value (an unknown alias, `.inf`, null as a key) the rest is
//!   returned, marked by [`Document::is_refused`].
//! - Rare layouts are told apart: a quoted text whose later lines begin with a tab, or at the first column, is refused
//!   here and read there; a line of nothing but blanks and a tab is read here and at some places refused there.
//!   `tests/kubectl.rs` lists them.
//!
//! # What holds here
//!
//! - Pure: no I/O, no clock, no global state. The same bytes give the same reading.
//! - Bounded: input size, nodes, depth, documents and what aliases unfold to are limited by [`Limits`]. Reaching one
//!   is a problem of code [`ProblemCode::Limit`].
//! - Ranges are byte ranges of the whole input. [`TextIndex`] turns them into lines and columns or UTF-16 ranges.

mod base64;
mod build;
mod documents;
mod event;
mod json;
mod list;
mod number;
mod order;
mod parts;
mod path;
mod positions;
mod problem;
mod resolve;
mod rewrite;
mod scalar;
mod split;
mod strict;
mod surprise;
mod syntax;
mod template;
mod text_index;
mod tree;
mod write;

pub use documents::{Document, Limits, Reading, read, read_each};
pub use parts::{Part, join, parts, read_part};
pub use positions::{Located, Positions};
pub use problem::{Problem, ProblemCode, Severity};
pub use rewrite::{Rewritten, rewrite};
pub use text_index::{LineColumn, TextIndex};
pub use write::write;
