//! Running other programs.

use std::env;
use std::ffi::OsString;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

/// Runs a program with its output passed through and nothing on its stdin.
///
/// # Errors
///
/// `what` names the step in the sentence, `way_out` ends it.
pub fn run(command: &mut Command, what: &str, way_out: &str) -> Result<()> {
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("{what} failed ({status}): {way_out}"),
        Err(error) => {
            bail!("{what} could not start `{}` ({error}): {way_out}", command.get_program().to_string_lossy())
        }
    }
}

/// The standard output of a program, trimmed; `None` when it cannot run or fails. Nothing is shown.
#[must_use]
pub fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The cargo that runs this process, else the one on the path. It does not hear what that one says of the package it runs: crates that look
/// at it (`ring` does) would be compiled anew whenever cargo is called by hand and by this tool in turn.
#[must_use]
pub fn cargo() -> Command {
    let mut cargo = Command::new(program("CARGO", "cargo"));
    let of_package = |name: &OsString| {
        name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
    };
    for name in env::vars_os().map(|(name, _)| name).filter(of_package) {
        cargo.env_remove(name);
    }
    cargo
}

pub(crate) fn program(variable: &str, default: &str) -> OsString {
    env::var_os(variable).unwrap_or_else(|| default.into())
}

/// Removes what an outer cargo, a build script's environment or a user's setting for native builds would leak into a
/// nested build for another target. What reaches registries and shows output stays.
pub fn without_cargo_environment(command: &mut Command) {
    const KEPT: [&str; 9] = [
        "CARGO_HOME",
        "CARGO_MAKEFLAGS",
        "CARGO_NET_",
        "CARGO_HTTP_",
        "CARGO_REGISTRY",
        "CARGO_REGISTRIES_",
        "CARGO_SOURCE_",
        "CARGO_TERM_",
        "RUSTUP_",
    ];
    const DROPPED: [&str; 9] = [
        "TARGET",
        "HOST",
        "OUT_DIR",
        "PROFILE",
        "OPT_LEVEL",
        "DEBUG",
        "NUM_JOBS",
        "LD_LIBRARY_PATH",
        "DYLD_LIBRARY_PATH",
    ];
    for (name, _) in env::vars_os() {
        let Some(name) = name.to_str() else { continue };
        let is_builds = name.starts_with("CARGO") || name.starts_with("RUST") || name.starts_with("DEP_");
        let is_kept = KEPT.iter().any(|kept| name.starts_with(kept));
        if (is_builds && !is_kept) || DROPPED.contains(&name) {
            command.env_remove(name);
        }
    }
}
