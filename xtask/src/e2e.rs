//! The controller in a cluster with a real control plane, which is built from Kubernetes' Go modules.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::command::{cargo, output, run};
use crate::fingerprint::Fingerprint;
use crate::{Workspace, alerts};

/// Where the program with the control plane comes from.
const SOURCE: &str = "tests/cluster";

/// How many seconds the scenario `soak` takes: an hour where it is asked for by name.
const SOAK: &str = "APPORTION_SOAK_SECONDS";

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
    let mut build = Command::new("go");
    build
        .current_dir(workspace.path(SOURCE))
        .args(["build", "-trimpath", "-ldflags", "-s -w", "-o"])
        .arg(&program)
        .arg(".");
    build.env("CGO_ENABLED", "0");
    run(&mut build, "building the control plane", "the message is above")?;
    print.note(&program)?;
    Ok(program)
}
