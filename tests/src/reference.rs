//! The reference implementation as a child process: cases in, outcomes out.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Whether Go is on this machine.
pub fn is_available() -> bool {
    Command::new("go")
        .arg("version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Asks the reference about every case, in order.
///
/// # Errors
///
/// When the program does not build or breaks.
pub fn outcomes(root: &Path, cases: &[Value]) -> Result<Vec<Value>> {
    let binary = root.join("target/reference");
    let built = Command::new("go")
        .args(["build", "-o"])
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
