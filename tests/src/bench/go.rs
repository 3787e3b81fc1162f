//! The Go package, measured by its own benchmark and by the autoscaler's example.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// What was measured.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Go {
    /// Nanoseconds of a call over 5,000 nodes, by the name of the benchmark.
    pub calls: Vec<(String, f64)>,
    /// The table of the autoscaler's example, with its head.
    pub decisions: Vec<Vec<String>>,
}

/// Measures; the example with the reference's decisions, or without. The plain module is built.
///
/// # Errors
///
/// When a program does not build or fails.
pub fn measure(root: &Path, with_reference: bool) -> Result<Go> {
    eprintln!("the Go package");
    let folder = root.join("host-go");
    let calls = run(&folder, &["test", "-run", "NONE", "-bench", "OnFiveThousandNodes", "-benchtime", "300x", "."])?;
    let cache = root.join("target/bench/wazero").display().to_string();
    let reference = if with_reference { "10" } else { "0" };
    let example = ["run", ".", "-cache", &cache, "-reference", reference];
    let decisions = run(&folder.join("examples/autoscaling"), &example)?;
    Ok(Go { calls: calls.lines().filter_map(call).collect(), decisions: decisions.lines().map(cells).collect() })
}

fn run(folder: &Path, arguments: &[&str]) -> Result<String> {
    let mut go = Command::new("go");
    go.args(arguments).current_dir(folder).env("CGO_ENABLED", "0").stderr(Stdio::inherit());
    let output = go.output().context("Go does not start")?;
    ensure!(output.status.success(), "go {} failed: see above", arguments.join(" "));
    Ok(String::from_utf8(output.stdout)?)
}

/// `BenchmarkOnFiveThousandNodes/Fork,Close-2  300  6510 ns/op`.
fn call(line: &str) -> Option<(String, f64)> {
    let mut words = line.split_whitespace();
    let (name, _) = words.next()?.split_once('/')?.1.rsplit_once('-')?;
    Some((name.to_owned(), words.nth(1)?.parse().ok()?))
}

/// Columns, with two spaces or more between them.
fn cells(line: &str) -> Vec<String> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_programs_print_is_read() {
        let line = "BenchmarkOnFiveThousandNodes/Fork,Close-2         \t     300\t      6510 ns/op";
        assert_eq!(call(line), Some(("Fork,Close".to_owned(), 6510.0)));
        assert_eq!(call("goos: linux"), None);
        assert_eq!(
            cells("apportion  a Pod that needs a new node    47  521µs"),
            ["apportion", "a Pod that needs a new node", "47", "521µs"]
        );
    }
}
