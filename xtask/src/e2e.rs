//! The controller in a cluster with a real control plane, which is built from Kubernetes' Go modules.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result};

use crate::command::{cargo, output, run};
use crate::fingerprint::Fingerprint;
use crate::{Workspace, alerts};

/// Where the program with the control plane comes from.
const SOURCE: &str = "tests/cluster";

/// How many seconds the scenario `soak` takes: an hour where it is asked for by name.
const SOAK: &str = "APPORTION_SOAK_SECONDS";

/// A folder with histories for the test that plays them, which is left out without one unless it is asked for by name.
const HISTORIES: (&str, &str) = ("APPORTION_HISTORIES", "recorded_histories_settle_in_the_recorded_states");

/// Builds the control plane, where that has changed, and the program, and runs the scenarios one after the other; where all of
/// them are run, alert rules are checked first. Without Go that is skipped, and a line says so.
///
/// # Errors
///
/// When a build fails or a scenario does.
pub fn e2e(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    if output(Command::new("go").arg("version")).is_none() {
        eprintln!("tests with a real control plane are skipped: building it needs Go");
        return Ok(());
    }
    if arguments.is_empty() {
        alerts::check(workspace)?;
    }
    let program = control_plane(workspace)?;
    let mut test = cargo();
    test.current_dir(workspace.root()).args([
        "test",
        "--locked",
        "--release",
        "--package",
        "apportion",
        "--test",
        "cluster",
    ]);
    test.args(["--", "--ignored", "--nocapture", "--test-threads", "1"]).args(arguments);
    let (folder, test_of_histories) = HISTORIES;
    if arguments.is_empty() && env::var_os(folder).is_none() {
        test.args(["--skip", test_of_histories]);
    }
    test.env("APPORTION_CLUSTER", program).stdin(Stdio::null());
    if arguments.iter().any(|name| name == "soak") && env::var_os(SOAK).is_none() {
        test.env(SOAK, "3600");
    }
    run(&mut test, "the tests with a real control plane", "their output is above")
}

/// The program with etcd, kube-apiserver, kube-controller-manager and kube-scheduler in it. Building it takes minutes.
fn control_plane(workspace: &Workspace) -> Result<PathBuf> {
    let program = workspace.target_dir().join("cluster").join("cluster");
    let print = Fingerprint::of(workspace, &[SOURCE])?;
    if print.is_of(&program) {
        return Ok(program);
    }
    build(workspace, &program, ("-s -w", "."), &[])?;
    print.note(&program)?;
    Ok(program)
}

/// Programs of a release that `1.36.mod` and its like name.
#[derive(Clone, Copy)]
pub(crate) enum Parts {
    /// Only etcd and kube-apiserver.
    Storage,
    /// kube-controller-manager and kube-scheduler, too.
    Plane,
    /// Only the parts of kube-scheduler that say where a Pod is placed, as a program of its own.
    Places,
}

/// The program with some parts of a release in it.
pub(crate) fn of_release(workspace: &Workspace, release: &str, parts: Parts) -> Result<PathBuf> {
    let (name, package) = match parts {
        Parts::Storage => ("storage", "."),
        Parts::Plane => ("plane", "."),
        Parts::Places => ("places", "./places"),
    };
    let program = workspace.target_dir().join("cluster").join(format!("{name}-{release}"));
    let print = Fingerprint::of(workspace, &[SOURCE])?;
    if print.is_of(&program) {
        return Ok(program);
    }
    let modules = workspace.path(SOURCE).join(format!("{release}.mod"));
    let modules = fs::read_to_string(&modules).with_context(|| format!("`{}` cannot be read", modules.display()))?;
    let patch = modules.lines().find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes "));
    let patch = patch.with_context(|| format!("{release}.mod names no k8s.io/kubernetes"))?;
    let linked = format!("-s -w -X k8s.io/component-base/version.gitVersion={patch}");
    build(
        workspace,
        &program,
        (linked.as_str(), package),
        &[format!("-tags={name}"), format!("-modfile={release}.mod")],
    )?;
    print.note(&program)?;
    Ok(program)
}

fn build(workspace: &Workspace, program: &Path, (linked, package): (&str, &str), others: &[String]) -> Result<()> {
    let mut build = Command::new("go");
    build.current_dir(workspace.path(SOURCE)).args(["build", "-trimpath", "-ldflags", linked]).args(others);
    build.arg("-o").arg(program).arg(package).env("CGO_ENABLED", "0");
    run(&mut build, "building the control plane", "the message is above")
}
