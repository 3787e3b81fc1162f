//! Measuring: the program `bench` of the tests crate does the work.

use std::process::{ExitStatus, Stdio};

use anyhow::{Context, Result};

use crate::command::cargo;
use crate::{Workspace, module};

/// Builds what is missing and measures, with the arguments as they are.
///
/// # Errors
///
/// When cargo cannot be started. A wrong outcome or a failed build is passed on in the status.
pub fn bench(workspace: &Workspace, arguments: &[String]) -> Result<ExitStatus> {
    if !arguments.iter().any(|argument| argument == "--quick") {
        // The Go package embeds it.
        module::build(workspace)?;
    }
    let mut bench = cargo();
    bench.args(["run", "--quiet", "--release", "--locked", "--package", "apportion-tests", "--bin", "bench"]);
    // The caller's folder stays: paths are relative to it.
    bench.arg("--manifest-path").arg(workspace.path("Cargo.toml")).arg("--").args(arguments).stdin(Stdio::null());
    bench.status().context("cargo cannot be started: check that it is on the path")
}
