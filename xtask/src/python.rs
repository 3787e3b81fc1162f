//! The Python package: its wheel, and its tests in environments that hold nothing but the wheel and what it needs.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::Workspace;
use crate::command::{output, run};
use crate::module;

/// The versions 3.N that the package supports.
const MINORS: [u32; 4] = [10, 11, 12, 13];

/// What the package works without. The tests on the newest Python have them: frames, the plots of the notebook, Kubernetes objects, workers of Ray.
const OPTIONAL: [&str; 4] = ["pandas", "matplotlib", "kubernetes", "ray"];

/// An interpreter that can make environments.
#[derive(Clone, Debug)]
pub struct Python {
    program: PathBuf,
    minor: u32,
}

impl Python {
    /// The oldest and the newest supported version that is on the path or kept by pyenv, in this order; what both can, those between them can.
    #[must_use]
    pub fn edges() -> Vec<Self> {
        let kept = kept_by_pyenv();
        let find = |minor: u32| {
            let on_path = [format!("python3.{minor}"), "python3".to_owned()].into_iter().map(PathBuf::from);
            let program = on_path.chain(kept.iter().cloned()).find(|program| minor_of(program) == Some(minor))?;
            Some(Self { program, minor })
        };
        let oldest = MINORS.into_iter().find_map(find);
        let newest = MINORS.into_iter().rev().find_map(find);
        let is_another = |one: &Self| oldest.as_ref().is_none_or(|oldest| oldest.minor != one.minor);
        oldest.iter().cloned().chain(newest.filter(is_another)).collect()
    }

    /// Makes an empty environment and returns its interpreter.
    fn environment(&self, folder: &Path) -> Result<PathBuf> {
        let mut made = Command::new(&self.program);
        made.args(["-m", "venv", "--clear"]).arg(folder);
        run(&mut made, "making an environment of Python", "on Debian, install python3-venv")?;
        Ok(folder.join("bin/python"))
    }
}

/// The N of an interpreter 3.N that has what `python -m venv` needs.
fn minor_of(program: &Path) -> Option<u32> {
    let version = "import ensurepip, sys, venv; assert sys.version_info.major == 3; print(sys.version_info.minor)";
    output(Command::new(program).args(["-c", version]))?.parse().ok()
}

fn kept_by_pyenv() -> Vec<PathBuf> {
    let Some(root) = output(Command::new("pyenv").arg("root")) else { return Vec::new() };
    let Ok(versions) = fs::read_dir(Path::new(&root).join("versions")) else { return Vec::new() };
    let mut found: Vec<PathBuf> = versions.flatten().map(|version| version.path().join("bin/python")).collect();
    found.sort();
    found
}

/// Builds the wheel with the module in it, and returns its path.
///
/// # Errors
///
/// When there is no Python, or a build step fails.
pub fn wheel(workspace: &Workspace) -> Result<PathBuf> {
    module::build(workspace)?;
    let Some(python) = Python::edges().pop() else {
        bail!("the wheel needs Python 3.10 or newer with the module venv");
    };
    let folder = folder(workspace);
    let wheels = folder.join("wheel");
    if wheels.exists() {
        fs::remove_dir_all(&wheels).with_context(|| format!("`{}` cannot be removed", wheels.display()))?;
    }
    let mut pip = pip(&python.environment(&folder.join("build"))?);
    pip.args(["wheel", "--no-deps", "--wheel-dir"]).arg(&wheels).arg(workspace.path("host-python"));
    run(&mut pip, "building the wheel", "pip says above what is missing")?;
    let entries = fs::read_dir(&wheels).with_context(|| format!("`{}` cannot be listed", wheels.display()))?;
    let mut built = entries.flatten().map(|entry| entry.path());
    built.find(|path| path.extension() == Some(OsStr::new("whl"))).context("pip has built no wheel")
}

/// One command for each interpreter, the newest last: the tests against the wheel, installed into an empty environment.
///
/// # Errors
///
/// When the wheel cannot be built or installed.
pub fn tests(workspace: &Workspace, pythons: &[Python]) -> Result<Vec<Command>> {
    let wheel = wheel(workspace)?;
    let folder = folder(workspace);
    let install = |(number, python): (usize, &Python)| {
        let interpreter = python.environment(&folder.join(format!("3.{}", python.minor)))?;
        let mut pip = pip(&interpreter);
        pip.arg("install").arg(&wheel);
        if number + 1 == pythons.len() {
            pip.args(OPTIONAL);
        }
        run(&mut pip, "installing the wheel", "pip says above what is missing")?;
        let mut test = Command::new(interpreter);
        test.args(["-m", "unittest", "discover", "--verbose"]).current_dir(workspace.path("host-python/tests"));
        // The compiled module is shared by the versions.
        test.env("XDG_CACHE_HOME", folder.join("cache")).env("PYTHONDONTWRITEBYTECODE", "1");
        Ok(test)
    };
    pythons.iter().enumerate().map(install).collect()
}

fn pip(interpreter: &Path) -> Command {
    let mut pip = Command::new(interpreter);
    pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]);
    pip
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("python")
}
