//! Recording what real API servers answer, and what happens in real control planes.

use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::Workspace;
use crate::command::{cargo, output, run};
use crate::e2e::{Parts, of_release};
use crate::jobs::differential;

/// The releases whose API servers are recorded.
const RELEASES: [&str; 4] = ["1.34", "1.35", "1.36", "1.37"];

/// The releases whose control planes are recorded.
const PLANES: [&str; 2] = ["1.36", "1.37"];

/// The releases whose kube-scheduler is asked where it places Pods.
const PLACES: [&str; 4] = ["1.34", "1.35", "1.36", "1.37"];

/// Builds the API server of each release, or of the one that `--version` names, where that has changed, and writes what it answers.
///
/// # Errors
///
/// When the arguments are others, Go is missing, a build fails or a server does.
pub fn validation(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let (releases, others) = releases(&RELEASES, "--version", arguments)?;
    ensure!(others.is_empty(), "after `record validation` comes nothing but `--version`");
    for release in releases {
        let mut record = recorder(workspace, "validation", release, Parts::Storage)?;
        record.arg("--output").arg(workspace.path("tests/conformance/validation").join(format!("{release}.jsonl")));
        run(&mut record, "recording", "the message is above")?;
    }
    Ok(())
}

/// The same with whole control planes, and what happens in them to random histories. Further arguments are the recorder's, such as
/// `--cases 100`.
///
/// # Errors
///
/// As [`validation`].
pub fn histories(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let (releases, others) = releases(&PLANES, "--version", arguments)?;
    for release in releases {
        let mut record = recorder(workspace, "histories", release, Parts::Plane)?;
        record.args(others.iter());
        record.arg("--output").arg(workspace.path("tests/conformance/histories").join(format!("{release}.jsonl")));
        run(&mut record, "recording", "the message is above")?;
    }
    Ok(())
}

/// Compares histories in control planes of each release, or of the one that `--release` names, with the simulation. Further arguments are
/// the recorder's, such as `--cases 100 --seed 5000`. A difference is passed on in the status.
///
/// # Errors
///
/// As [`validation`].
pub fn compare_histories(workspace: &Workspace, arguments: &[String]) -> Result<ExitStatus> {
    let (releases, others) = releases(&PLANES, "--release", arguments)?;
    let mut status = ExitStatus::default();
    for release in releases {
        let mut record = recorder(workspace, "histories", release, Parts::Plane)?;
        let one =
            record.args(others.iter()).status().context("cargo cannot be started: check that it is on the path")?;
        if !one.success() {
            status = one;
        }
    }
    Ok(status)
}

/// Compares places of Pods with kube-scheduler's of each release in `PLACES`, or of the one that `--release` or `--kubernetes-version` names.
/// Further arguments are the comparing program's, such as `--cases 1000 --seed 5000`. A difference is passed on in the status.
///
/// # Errors
///
/// When Go is missing, a build fails or cargo cannot be started.
pub fn compare_places(workspace: &Workspace, arguments: &[String]) -> Result<ExitStatus> {
    let arguments: Vec<String> =
        arguments.iter().map(|argument| argument.replace("--kubernetes-version", "--release")).collect();
    let (releases, others) = releases(&PLACES, "--release", &arguments)?;
    let mut status = ExitStatus::default();
    for release in releases {
        let program = of_release(workspace, release, Parts::Places)?;
        let program = program.to_string_lossy().into_owned();
        let chosen = ["--only", "places", "--release", release, "--program", &program].map(str::to_owned);
        let one = differential(workspace, &[&chosen[..], &others[..]].concat())?;
        if !one.success() {
            status = one;
        }
    }
    Ok(status)
}

/// The releases that a flag asks for, all without it, and the other arguments.
fn releases(all: &[&'static str], flag: &str, arguments: &[String]) -> Result<(Vec<&'static str>, Vec<String>)> {
    ensure!(output(Command::new("go").arg("version")).is_some(), "building a control plane needs Go");
    let mut others = arguments.to_vec();
    let Some(at) = others.iter().position(|argument| argument == flag) else { return Ok((all.to_vec(), others)) };
    let wanted = others.get(at + 1).cloned().unwrap_or_default();
    others.drain(at..others.len().min(at + 2));
    match all.iter().find(|release| **release == wanted) {
        Some(release) => Ok((vec![*release], others)),
        None => bail!("`{flag}` is one of {}", all.join(", ")),
    }
}

/// A recorder with the program that it is to start.
fn recorder(workspace: &Workspace, what: &str, release: &str, parts: Parts) -> Result<Command> {
    let program = of_release(workspace, release, parts)?;
    let mut record = cargo();
    record.args(["run", "--quiet", "--locked", "--package", "apportion-tests", "--no-default-features"]);
    record.args(["--bin", &format!("record_{what}"), "--manifest-path"]).arg(workspace.path("Cargo.toml"));
    record.arg("--").arg("--program").arg(program).stdin(Stdio::null());
    Ok(record)
}
