//! The runner: the component that decides, embedded and compiled ahead of time, behind a small API.
//!
//! A [`Runner`] is made once per program. It gives out [`Cluster`]s, each in an instance of its own, with limits on
//! memory. Objects go in as the JSON that Kubernetes speaks; questions are answered in the types of
//! [`apportion_core`], so that whoever shows them does not care which side of the border they come from.
//!
//! ```no_run
//! use apportion::{Door, HostLimits, Runner};
//! use apportion_core::{allocate::Limits, profile::Profile};
//!
//! let runner = Runner::new()?;
//! let mut cluster = runner.cluster(&Profile::default(), Limits::default(), HostLimits::default())?;
//! cluster.apply(&[r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-a"}}"#.to_owned()])?;
//! println!("{:?}", cluster.run()?.nodes);
//! # Ok::<(), apportion::Error>(())
//! ```
//!
//! The linker is empty: the component can call nothing. A call that traps costs that call only; the instance is
//! dropped and the next one is filled with the objects that were applied before.

mod batch;
mod bindings;
mod cache;
mod cluster;
mod control;
mod door;
mod embedded;
mod error;
mod from_wit;
mod guard;
mod history;
mod inspection;
mod play;
mod runner;
mod selectors;
mod session;
mod settings;
mod to_wit;
mod validator;

pub use batch::Batch;
pub use cluster::Cluster;
pub use control::Controller;
pub use door::{Door, Native};
pub use error::{Error, Stop};
pub use guard::HostLimits;
pub use history::{History, Notes};
pub use play::Play;
pub use runner::Runner;
pub use validator::{NativeValidator, Validate, Validator, Written};
