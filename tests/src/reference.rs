//! The reference implementation as a child process: cases in, outcomes out.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// A release of the reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// `v0.36.2`, with which the vectors were recorded.
    V1_36,
    /// `v0.37.2`: its defects repaired, with derived attributes, compatibility groups and more.
    V1_37,
}

impl Release {
    /// The Kubernetes version.
    pub fn name(self) -> &'static str {
        match self {
            Self::V1_36 => "1.36",
            Self::V1_37 => "1.37",
        }
    }

    /// What `go build` needs beside the defaults.
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::V1_36 => &[],
            Self::V1_37 => &["-modfile=next.mod", "-tags=next"],
        }
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

/// Asks a release about every case, in order.
///
/// # Errors
///
/// When the program does not build or breaks.
pub fn outcomes(root: &Path, release: Release, cases: &[Value]) -> Result<Vec<Value>> {
    let binary = root.join(format!("target/reference-{}", release.name()));
    let built = Command::new("go")
        .arg("build")
        .args(release.flags())
        .arg("-o")
        .arg(&binary)
        .arg(".")
        .current_dir(root.join("tests/reference"))
        .status()
        .context("Go does not start")?;
    ensure!(built.success(), "the reference does not build: see above");
    let mut child = Command::new(&binary).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
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
