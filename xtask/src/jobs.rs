//! The commands that run what was built.

use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};

use crate::command::{cargo, output, run};
use crate::node::Node;
use crate::{Workspace, component, docs, module, npm};

/// What the demo feeds to the program.
const DEMO: &str = "examples/gpu-sharing/";

/// Builds the program in the release profile. Its build script embeds the component, which is built meanwhile: most of that takes one processor.
///
/// # Errors
///
/// When the build fails.
pub fn program(workspace: &Workspace) -> Result<PathBuf> {
    let mut build = cargo();
    build.current_dir(workspace.root()).args(["build", "--release", "--locked", "--package", "apportion"]);
    thread::scope(|scope| {
        // An error here is not reported: the build script asks again and reports it.
        scope.spawn(|| component::build(workspace));
        run(&mut build, "building the program", "the compiler's message is above")
    })?;
    Ok(built(workspace, "apportion"))
}

/// Where a program of the workspace lies after a build in the release profile; that of the tests of its package is one.
#[must_use]
pub fn built(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.target_dir().join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Runs the main job on the examples. They hold a Pod that fits nowhere, so the program's "no" (exit code 1) is a success.
///
/// # Errors
///
/// When the program cannot be built or started, or ends in another way.
pub fn demo(workspace: &Workspace) -> Result<()> {
    let program = program(workspace)?;
    eprintln!("\n$ apportion run -f {DEMO}");
    let mut demo = Command::new(&program);
    demo.current_dir(workspace.root()).args(["run", "-f", DEMO]).stdin(Stdio::null());
    let status =
        demo.status().with_context(|| format!("`{}` cannot be started: remove it and try again", program.display()))?;
    match status.code() {
        Some(0) => Ok(()),
        Some(1) => {
            eprintln!("\n(exit code 1: something stays Pending, for the reason above)");
            Ok(())
        }
        _ => bail!("the demo failed ({status}): its message is above"),
    }
}

/// Runs the samples of all pages, or of those whose path begins with one of `paths`; says what differs, and returns whether nothing does.
///
/// # Errors
///
/// When the program cannot be built, or a page cannot be read.
pub fn samples(workspace: &Workspace, paths: &[String]) -> Result<bool> {
    let outcome = docs::samples(workspace, &program(workspace)?, paths)?;
    for failed in &outcome.failed {
        eprintln!("error: {failed}\n");
    }
    let docs::Outcome { passed, not_run, failed } = &outcome;
    println!("{passed} samples passed, {} failed, {not_run} are marked as not run", failed.len());
    Ok(failed.is_empty())
}

/// Installs the program where cargo puts programs.
///
/// # Errors
///
/// When the build fails.
pub fn install(workspace: &Workspace) -> Result<()> {
    let mut install = cargo();
    install.current_dir(workspace.root()).args(["install", "--locked", "--path", "host-wasmtime"]);
    match crate::web::build(workspace) {
        Ok(page) => {
            install.env("APPORTION_PAGE", page.parent().unwrap_or(&page));
        }
        Err(error) => eprintln!("xtask: the program will have no playground: {error:#}"),
    }
    run(&mut install, "installing the program", "the message is above")
}

/// The conformance runner, with the arguments as they are. What its engines `npm` and `go` run is built first, unless only
/// others are asked for.
///
/// # Errors
///
/// When a build fails. A failed case is passed on in the status.
pub fn conformance(workspace: &Workspace, engines: &[String], paths: &[String]) -> Result<ExitStatus> {
    let mut runner = cargo();
    let is_asked = |engine: &str| engines.is_empty() || engines.iter().any(|asked| asked == engine);
    if is_asked("npm") {
        npm::build(workspace)?;
        Node::find(workspace)?.put_on_path(&mut runner);
    }
    if is_asked("go") && has_go() {
        module::build(workspace)?;
    }
    runner.args(["run", "--quiet", "--release", "--locked", "--package", "apportion-tests", "--bin", "conformance"]);
    // The caller's folder stays: paths are relative to it.
    runner.arg("--manifest-path").arg(workspace.path("Cargo.toml")).arg("--");
    runner.args(engines.iter().flat_map(|engine| ["--engine", engine]));
    runner.args(paths).stdin(Stdio::null());
    runner.status().context("cargo cannot be started: check that it is on the path")
}

/// Whether Go is on this machine.
#[must_use]
pub fn has_go() -> bool {
    output(Command::new("go").arg("version")).is_some()
}

/// The comparison with the reference, with the arguments as they are. It needs no engine but the native one, so nothing of
/// wasmtime is compiled for it.
///
/// # Errors
///
/// When cargo cannot be started. A difference is passed on in the status.
pub fn differential(workspace: &Workspace, arguments: &[String]) -> Result<ExitStatus> {
    of_reference("differential", workspace, arguments)
}

/// Recording the reference's answers, with the arguments as they are.
///
/// # Errors
///
/// When cargo cannot be started.
pub fn record(workspace: &Workspace, arguments: &[String]) -> Result<ExitStatus> {
    of_reference("record", workspace, arguments)
}

fn of_reference(program: &str, workspace: &Workspace, arguments: &[String]) -> Result<ExitStatus> {
    let mut run = cargo();
    run.args(["run", "--quiet", "--locked", "--package", "apportion-tests", "--no-default-features"]);
    run.args(["--bin", program, "--manifest-path"]).arg(workspace.path("Cargo.toml"));
    run.arg("--").args(arguments).stdin(Stdio::null());
    run.status().context("cargo cannot be started: check that it is on the path")
}
