//! Every test of every language, counted.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::Workspace;
use crate::command::cargo;
use crate::node::Node;
use crate::{browser, component, docs, fuzz, jobs, module, npm, python, web};

/// The crates that link wasmtime. They are built and tested in the release profile only: an unoptimised cranelift
/// would be a second, slow copy.
pub const WITH_WASMTIME: [&str; 2] = ["apportion", "apportion-tests"];

/// The package for Go, and what depends on more than it does and is a Go module of its own.
const GO_MODULES: [&str; 3] = ["host-go", "host-go/structured", "host-go/examples/autoscaling"];

/// How long each fuzz target runs among the tests.
const FUZZ_SECONDS: u64 = 15;

/// Fuzzing begins within this time or not at all: what it finds differs from run to run, so it is the first to give way on a slow machine.
const FUZZ_BEFORE: Duration = Duration::from_mins(40);

/// How many lines of a failed test are shown again below the summary.
const SHOWN_AGAIN: usize = 12;

/// What one group of tests came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed; a group that could not run counts as one.
    pub failed: u64,
    /// What the failed ones said: their first lines.
    pub said: Vec<String>,
}

impl Tally {
    fn new(passed: u64, failed: u64) -> Self {
        Self { passed, failed, said: Vec::new() }
    }

    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.said.extend(other.said);
    }
}

/// Builds what is missing, runs every group to its end even when an earlier one failed, prints a summary whose last line
/// is `N passed, N failed`, and returns whether nothing failed.
///
/// # Errors
///
/// When standard output cannot be written.
pub fn run(workspace: &Workspace) -> Result<bool> {
    thread::scope(|scope| {
        scope.spawn(|| build_ahead(workspace));
        run_groups(workspace, scope)
    })
}

/// Builds what later groups need while the first ones run, which use one processor for long. Errors are not reported here: the group that
/// needs the build tries again and reports them.
fn build_ahead(workspace: &Workspace) {
    let _ = component::build(workspace);
    let _ = npm::build(workspace);
    let _ = module::build(workspace);
    if web::exists(workspace) {
        let _ = web::build(workspace);
    }
}

fn run_groups<'s>(workspace: &'s Workspace, scope: &'s Scope<'s, '_>) -> Result<bool> {
    let mut rows: Vec<(&str, Tally, Duration)> = Vec::new();
    let begin = Instant::now();
    let mut group = |name: &'static str, work: &mut dyn FnMut() -> Result<Tally>| {
        let start = Instant::now();
        eprintln!("\n==> {name} (after {} s)", (start - begin).as_secs());
        let tally = work().unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            Tally { said: vec![format!("error: {error:#}")], ..Tally::new(0, 1) }
        });
        rows.push((name, tally, start.elapsed()));
    };

    group("core, yaml, npm crate", &mut || {
        let excluded = [&WITH_WASMTIME[..], &["apportion-guest", "xtask"]].concat();
        count(cargo_test(workspace).arg("--workspace").args(excluded.iter().flat_map(|name| ["--exclude", name])))
    });
    group("xtask", &mut || count(cargo_test(workspace).args(["--release", "--package", "xtask"])));
    group("program", &mut || {
        component::build(workspace)?;
        // The tests of the crate `tests` reach the package, too.
        npm::build(workspace)?;
        let packages = WITH_WASMTIME.into_iter().filter(|name| is_member(workspace, name));
        let mut test = cargo_test(workspace);
        Node::find(workspace)?.put_on_path(&mut test);
        count(test.arg("--release").args(packages.flat_map(|name| ["--package", name])))
    });
    // A browser uses one processor for long, as most of the next groups do. What its tests say is shown in their turn.
    let mut page = web::exists(workspace).then(|| {
        scope.spawn(|| {
            let mut said = Vec::new();
            (web_page(workspace, &mut said), said)
        })
    });
    // The tests of the program have built what the next groups start.
    let tool = |name: &str| -> Result<Command> {
        let mut tool = Command::new(jobs::built(workspace, name));
        tool.current_dir(workspace.root());
        Node::find(workspace)?.put_on_path(&mut tool);
        Ok(tool)
    };
    group("samples of the pages", &mut || {
        let docs::Outcome { passed, failed, .. } = docs::samples(workspace, &jobs::built(workspace, "apportion"), &[])?;
        let said = failed.iter().flat_map(|text| text.lines().map(str::to_owned)).collect();
        Ok(Tally { said, ..Tally::new(passed, failed.len() as u64) })
    });
    if is_member(workspace, "apportion-tests") {
        group("conformance, all engines", &mut || {
            if jobs::has_go() {
                module::build(workspace)?;
            }
            count(&mut tool("conformance")?)
        });
    }
    group("generated cases against the reference", &mut || {
        // Without Go the program says so in one line and counts nothing.
        count(tool("differential")?.args(["--cases", "150"]))
    });
    group("npm package", &mut || {
        npm::publishable(workspace)?;
        let node = Node::find(workspace)?;
        node.install(workspace, "npm")?;
        count(&mut node.npm(&workspace.path("npm"), &["test", "--silent"]))
    });
    if jobs::has_go() {
        group("Go package", &mut || {
            module::build(workspace)?;
            let mut tally = Tally::default();
            for below in GO_MODULES {
                let mut test = Command::new("go");
                test.current_dir(workspace.path(below)).args(["test", "-v", "./..."]).env("CGO_ENABLED", "0");
                tally.add(count(&mut test)?);
            }
            Ok(tally)
        });
    } else {
        eprintln!("\n==> the Go package is skipped: its tests need Go");
    }
    let pythons = python::Python::edges();
    if pythons.is_empty() {
        eprintln!("\n==> the Python package is skipped: its tests need Python 3.10 or newer with the module venv");
    } else {
        group("Python package", &mut || {
            let mut tally = Tally::default();
            for mut test in python::tests(workspace, &pythons)? {
                tally.add(count(&mut test)?);
            }
            Ok(tally)
        });
    }
    if page.is_some() {
        // The seconds are those for which it is waited.
        group("web page", &mut || {
            let (tally, said) =
                page.take().and_then(|page| page.join().ok()).context("the page's tests have stopped")?;
            std::io::stdout().write_all(&said)?;
            tally
        });
    }
    if !fuzz::is_possible() {
        eprintln!("\n==> fuzzing is skipped: libFuzzer needs a C++ compiler");
    } else if begin.elapsed() > FUZZ_BEFORE {
        eprintln!("\n==> fuzzing is skipped after {} s; `cargo xtask fuzz` runs it", begin.elapsed().as_secs());
    } else {
        group("fuzzing, briefly", &mut || {
            for target in fuzz::TARGETS {
                fuzz::fuzz(workspace, &[target.to_owned()], FUZZ_SECONDS)?;
            }
            Ok(Tally::new(fuzz::TARGETS.len() as u64, 0))
        });
    }
    summary(&rows)
}

/// The tests of the page, its parts and then the whole in a browser.
fn web_page(workspace: &Workspace, out: &mut dyn Write) -> Result<Tally> {
    web::build(workspace)?;
    let node = Node::find(workspace)?;
    let browser = browser::find(workspace);
    let mut tally = Tally::default();
    for script in ["test", "e2e"] {
        if node.has_script(workspace, "web", script) {
            let mut npm = node.npm(&workspace.path("web"), &["run", "--silent", script]);
            if let Some(browser) = &browser {
                npm.env("CHROMIUM", browser);
            }
            tally.add(count_to(&mut npm, out)?);
        }
    }
    Ok(tally)
}

fn is_member(workspace: &Workspace, package: &str) -> bool {
    let folder = if package == "apportion-tests" { "tests" } else { "host-wasmtime" };
    workspace.path(folder).join("Cargo.toml").is_file()
}

fn cargo_test(workspace: &Workspace) -> Command {
    let mut command = cargo();
    command.current_dir(workspace.root()).args(["test", "--locked", "--no-fail-fast", "--quiet"]);
    command
}

fn summary(rows: &[(&str, Tally, Duration)]) -> Result<bool> {
    let mut total = Tally::default();
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{:<26} {:>8} {:>8} {:>9}", "", "passed", "failed", "seconds")?;
    for (name, tally, time) in rows {
        writeln!(out, "{name:<26} {:>8} {:>8} {:>9.1}", tally.passed, tally.failed, time.as_secs_f64())?;
        total.add(tally.clone());
    }
    for line in &total.said {
        writeln!(out, "  {line}")?;
    }
    writeln!(out, "\n{} passed, {} failed", total.passed, total.failed)?;
    Ok(total.failed == 0)
}

/// Runs a group, passes its output on and counts what its lines say.
fn count(command: &mut Command) -> Result<Tally> {
    count_to(command, &mut std::io::stdout().lock())
}

fn count_to(command: &mut Command, out: &mut dyn Write) -> Result<Tally> {
    // A test program that crashes is named on standard error alone.
    let (output, writer) = std::io::pipe().context("a pipe for the output of a test run")?;
    command.env("NO_COLOR", "1").env("CI", "1").stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let name = command.get_program().to_string_lossy().into_owned();
    let name = Path::new(&name).file_stem().map_or(name.clone(), |stem| stem.to_string_lossy().into_owned());
    let mut child =
        command.spawn().with_context(|| format!("`{name}` cannot be started: check that it is on the path"))?;
    // Our own ends of the pipe go, so that it ends with the child.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut tally = Tally::default();
    let mut left = 0;
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        out.write_all(&line)?;
        out.write_all(b"\n")?;
        let line = String::from_utf8_lossy(&line);
        tally.add(read_line(&line));
        if begins_failure(&line) {
            left = SHOWN_AGAIN;
        }
        if left > 0 && !line.trim().is_empty() {
            left -= 1;
            tally.said.push(line.into_owned());
        }
    }
    let status = child.wait()?;
    if !status.success() && tally.failed == 0 {
        tally.failed = 1;
    }
    Ok(tally)
}

/// Whether a runner begins to say what failed with this line: cargo, Go, Node, Vitest, Playwright, or a comparison of ours.
fn begins_failure(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    match *words.as_slice() {
        ["----", _, "stdout", "----"] | ["---", "FAIL:", ..] | ["✖", ..] | ["FAIL" | "FAILED", ..] => true,
        ["FAIL:" | "ERROR:", name, ..] => name.starts_with("test_"),
        [number, test, "›", ..] => number.ends_with(')') && test.contains(".spec.ts:"),
        _ => ["DIFFERENT", "Error: ", "error: test failed"].iter().any(|start| line.starts_with(start)),
    }
}

/// Reads one line of any of our runners: cargo's `test result:`, ours `N passed, N failed`, Go's `--- PASS: TestName`, Node's `# pass N` or
/// `ℹ pass N`, Vitest's `Tests  1 failed | 2 passed (3)`, Playwright's `  2 passed (1s)`,
/// unittest's `test_name (file.Class.test_name) ... ok`.
fn read_line(line: &str) -> Tally {
    let words: Vec<&str> = line.split([' ', ',', ';', '|']).filter(|word| !word.is_empty()).collect();
    let before = |name: &str| {
        let at = words.iter().position(|word| *word == name)?.checked_sub(1)?;
        words.get(at)?.parse::<u64>().ok()
    };
    match *words.as_slice() {
        ["#" | "ℹ", "pass", count] => Tally::new(count.parse().unwrap_or_default(), 0),
        ["#" | "ℹ", "fail", count] => Tally::new(0, count.parse().unwrap_or_default()),
        ["---", "PASS:", ..] => Tally::new(1, 0),
        ["---", "FAIL:", ..] => Tally::new(0, 1),
        [name, _, "...", "ok"] if name.starts_with("test_") => Tally::new(1, 0),
        [name, _, "...", "FAIL" | "ERROR"] if name.starts_with("test_") => Tally::new(0, 1),
        ["test", "result:", ..] | ["Tests", ..] | [_, "passed", _, "failed"] => {
            Tally::new(before("passed").unwrap_or_default(), before("failed").unwrap_or_default())
        }
        [count, "passed", time] if time.starts_with('(') => Tally::new(count.parse().unwrap_or_default(), 0),
        [count, "failed"] => Tally::new(0, count.parse().unwrap_or_default()),
        _ => Tally::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_runner_is_understood() {
        let cases = [
            ("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s", 12, 0),
            ("test result: FAILED. 3 passed; 2 failed; 0 ignored", 3, 2),
            ("1034 passed, 2 failed", 1034, 2),
            ("# pass 4", 4, 0),
            ("ℹ pass 4", 4, 0),
            ("ℹ fail 1", 0, 1),
            ("      Tests  1 failed | 11 passed (12)", 11, 1),
            ("      Tests  12 passed (12)", 12, 0),
            (" Test Files  2 passed (2)", 0, 0),
            ("  5 passed (3.1s)", 5, 0),
            ("  1 failed", 0, 1),
            ("running 12 tests", 0, 0),
            ("--- PASS: TestFits (0.10s)", 1, 0),
            ("--- FAIL: TestFits (0.10s)", 0, 1),
            ("ℹ tests 4", 0, 0),
            ("test_a_claim_fits (test_cluster.Questions.test_a_claim_fits) ... ok", 1, 0),
            ("test_a_claim_fits (test_cluster.Questions.test_a_claim_fits) ... FAIL", 0, 1),
            ("test_cluster (unittest.loader._FailedTest.test_cluster) ... ERROR", 0, 1),
            ("test_frames (test_package.Frames.test_frames) ... skipped 'pandas is not installed'", 0, 0),
            ("", 0, 0),
        ];
        for (line, passed, failed) in cases {
            assert_eq!(read_line(line), Tally::new(passed, failed), "{line}");
        }
    }

    #[test]
    fn what_failed_is_shown_again() {
        let begins = [
            "---- tests::fits stdout ----",
            "--- FAIL: TestFits (0.10s)",
            "✖ a claim fits (3.1ms)",
            " FAIL  test/diff.test.ts > a line changes",
            "FAIL: test_a_claim_fits (test_cluster.Questions.test_a_claim_fits)",
            "  1) e2e/page.spec.ts:12:1 › the picture is drawn ────",
        ];
        for line in begins {
            assert!(begins_failure(line), "{line}");
        }
        for line in ["[1/106] e2e/page.spec.ts:12:1 › the picture is drawn", "--- PASS: TestFits (0.10s)", "ok 1) fits"]
        {
            assert!(!begins_failure(line), "{line}");
        }
    }
}
