//! The reference implementation on the same workloads, in the same run.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::timing::Effort;
use super::workload::Workload;

/// The program in `tests/reference`, started once and asked about one workload after the other.
#[derive(Debug)]
pub struct Reference {
    child: Child,
    input: Option<BufWriter<ChildStdin>>,
    output: BufReader<ChildStdout>,
}

/// What it measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// `allocated`, `none`, `error` or `timeout`.
    pub status: String,
    /// How many claims of a sequence were allocated.
    pub claims: u64,
    /// Nanoseconds of the best operation.
    pub best: f64,
    /// Nanoseconds of the middle operation.
    pub median: f64,
    /// How many operations ran.
    pub runs: u64,
}

impl Reference {
    /// Builds and starts the program.
    ///
    /// # Errors
    ///
    /// When it does not build or start.
    pub fn start(root: &Path, effort: Effort) -> Result<Self> {
        let binary = root.join("target/reference");
        let mut build = Command::new("go");
        build.args(["build", "-o"]).arg(&binary).arg(".").current_dir(root.join("tests/reference"));
        ensure!(build.status().context("Go does not start")?.success(), "the reference does not build: see above");
        let (budget, timeout) = if effort.is_quick { ("20ms", "1s") } else { ("1s", "10s") };
        let mut child = Command::new(&binary)
            .args(["-bench", "-budget", budget, "-timeout", timeout])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().map(BufWriter::new);
        let output = BufReader::new(child.stdout.take().context("no output")?);
        Ok(Self { child, input, output })
    }

    /// Measures one workload.
    ///
    /// # Errors
    ///
    /// When the program breaks.
    pub fn measure(&mut self, workload: &Workload) -> Result<Measured> {
        let input = self.input.as_mut().context("the reference was closed")?;
        writeln!(input, "{}", workload.reference())?;
        input.flush()?;
        let mut line = String::new();
        ensure!(self.output.read_line(&mut line)? > 0, "the reference ended");
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // The process ends by itself when its input does.
        self.input = None;
        drop(self.child.wait());
    }
}
