//! The reference implementation as a child process: cases in, outcomes out.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fmt, fs};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// A patch release of the reference. A minor release alone means its newest patch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Release {
    minor: u8,
    patch: u8,
}

impl Release {
    /// The newest patch of 1.36.
    pub const V1_36: Self = Self { minor: 36, patch: 6 };
    /// The newest patch of 1.37, in which the known defects are repaired.
    pub const V1_37: Self = Self { minor: 37, patch: 2 };

    /// Reads `1.36` or `1.36.2`.
    pub fn parse(text: &str) -> Option<Self> {
        let (minor, patch) = text
            .strip_prefix("1.")?
            .split_once('.')
            .map_or((text.strip_prefix("1.")?, None), |(minor, patch)| (minor, Some(patch)));
        let newest = [Self::V1_36, Self::V1_37].into_iter().find(|release| release.minor.to_string() == minor)?;
        Some(Self { patch: patch.map_or(Ok(newest.patch), str::parse).ok()?, ..newest })
    }

    /// The minor release, `1.36`.
    pub fn minor(self) -> String {
        format!("1.{}", self.minor)
    }

    /// The version of the Go modules.
    pub fn module(self) -> String {
        format!("v0.{}.{}", self.minor, self.patch)
    }

    /// Whether it has what came with 1.37.
    pub fn is_next(self) -> bool {
        self.minor >= Self::V1_37.minor
    }

    /// The file of its Go modules below `tests/reference`; those of other patches than the newest are made from it.
    fn modules(self) -> &'static str {
        if self.is_next() { "next.mod" } else { "go.mod" }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}.{}", self.minor, self.patch)
    }
}

/// Whether Go is on this machine.
pub fn is_available() -> bool {
    Command::new("go")
        .arg("version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Builds the program of a release below `target`.
///
/// # Errors
///
/// When Go cannot build it, or cannot get the modules of a patch that is not the newest.
pub fn build(root: &Path, release: Release) -> Result<PathBuf> {
    let sources = root.join("tests/reference");
    let go = |arguments: &[&str]| -> Result<()> {
        let done = Command::new("go").args(arguments).current_dir(&sources).status().context("Go does not start")?;
        ensure!(done.success(), "the reference {release} does not build: see above");
        Ok(())
    };
    let binary = root.join(format!("target/reference-{release}"));
    let mut modules = sources.join(release.modules());
    if release != Release::V1_36 && release != Release::V1_37 {
        let own = root.join(format!("target/reference-{release}.mod"));
        if !own.exists() {
            fs::copy(&modules, &own)?;
            fs::copy(modules.with_extension("sum"), own.with_extension("sum"))?;
            let names = ["api", "apimachinery", "apiserver", "dynamic-resource-allocation"];
            let wanted = names.map(|name| format!("k8s.io/{name}@{}", release.module()));
            let file = format!("-modfile={}", own.display());
            go(&[&["get", &file][..], &wanted.each_ref().map(String::as_str)].concat())?;
        }
        modules = own;
    }
    let file = format!("-modfile={}", modules.display());
    let tags = if release.is_next() { "-tags=next" } else { "-tags=" };
    go(&["build", &file, tags, "-o", &binary.to_string_lossy(), "."])?;
    Ok(binary)
}

/// Writes what a release says to the questions that it has for each of its building blocks, one file each below
/// `tests/conformance/units`, and an object of each kind with every field set, to `tests/objects`.
///
/// # Errors
///
/// When the program does not build or breaks, or a file cannot be written.
pub fn units(root: &Path, release: Release) -> Result<()> {
    let binary = build(root, release)?;
    for kind in ["quantity", "capacity", "tolerations", "nodeselector", "objects"] {
        let folder =
            if kind == "objects" { "tests/objects/every-field" } else { &format!("tests/conformance/units/{kind}") };
        let file = root.join(format!("{folder}-{release}.jsonl"));
        fs::create_dir_all(file.parent().unwrap_or(root))?;
        let output = fs::File::create(&file).with_context(|| format!("{} cannot be written", file.display()))?;
        let status = Command::new(&binary).args(["-units", kind]).stdout(output).status()?;
        ensure!(status.success(), "the reference {release} says nothing about {kind}: see above");
        println!("{}", file.display());
    }
    Ok(())
}

/// Asks a release about every case, in order.
///
/// # Errors
///
/// When the program does not build or breaks.
pub fn outcomes(root: &Path, release: Release, cases: &[Value]) -> Result<Vec<Value>> {
    ask(&build(root, release)?, cases)
}

/// Asks a program about every case, in order: a line in, a line out.
///
/// # Errors
///
/// When the program breaks.
pub fn ask(program: &Path, cases: &[Value]) -> Result<Vec<Value>> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = BufWriter::new(child.stdin.take().context("no input")?);
    let output = BufReader::new(child.stdout.take().context("no output")?);
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || -> Result<()> {
            for case in cases {
                writeln!(input, "{case}")?;
            }
            Ok(input.flush()?)
        });
        let outcomes: Result<Vec<Value>> = output.lines().map(|line| Ok(serde_json::from_str(&line?)?)).collect();
        writer.join().map_err(|_| anyhow::anyhow!("the writer broke"))??;
        let outcomes = outcomes?;
        ensure!(outcomes.len() == cases.len(), "{} outcomes for {} cases", outcomes.len(), cases.len());
        drop(child.wait());
        Ok(outcomes)
    })
}
