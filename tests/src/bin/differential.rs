//! `differential [--cases N] [--seed S] [--release R]`: generated scenarios and selectors, answered by the native core and
//! by the reference.
//!
//! A difference is written as a case file, ready for the corpus. `--record` writes all scenarios with the reference's
//! outcome instead, and with the correct one where a defect shows; that is how the project's own corpus is made.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, iter};

use anyhow::Result;
use apportion_tests::reference::{self, Release};
use apportion_tests::{differential, generate, record};
use clap::Parser;
use serde_json::Value;

/// Compares the native core with the reference on generated cases.
#[derive(Parser)]
struct Arguments {
    /// How many scenarios and how many selectors for each release.
    #[arg(long, default_value_t = 300)]
    cases: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this release: 1.36 or 1.37.
    #[arg(long, value_parser = ["1.36", "1.37"])]
    release: Option<String>,
    /// Only scenarios, or only selectors.
    #[arg(long, value_parser = ["scenarios", "selectors"])]
    only: Option<String>,
    /// Write every scenario with the reference's outcome to this file, one per line, and compare nothing.
    #[arg(long)]
    record: Option<PathBuf>,
    /// Take the cases of this file, one per line, instead of generated ones.
    #[arg(long)]
    from: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    if !reference::is_available() {
        println!("SKIPPED: Go is not installed, the reference cannot be asked");
        println!("0 passed, 0 failed");
        return Ok(ExitCode::SUCCESS);
    }
    let seeds = || arguments.seed..arguments.seed.saturating_add(arguments.cases);
    let given: Option<Vec<Value>> = arguments.from.as_deref().map(lines).transpose()?;
    if let Some(file) = arguments.record {
        let release = if arguments.release.as_deref() == Some("1.37") { Release::V1_37 } else { Release::V1_36 };
        let cases = given.unwrap_or_else(|| seeds().map(|seed| generate::scenario(seed, release)).collect());
        let cases = record::corpus(root, release, cases)?;
        let lines: Vec<String> = cases.iter().map(Value::to_string).collect();
        fs::write(&file, lines.join("\n") + "\n")?;
        println!("{} cases written to {}", cases.len(), file.display());
        return Ok(ExitCode::SUCCESS);
    }
    let wants = |kind: &str| arguments.only.as_deref().is_none_or(|only| only == kind);
    let (mut passed, mut failed) = (0, 0);
    for release in [Release::V1_36, Release::V1_37] {
        if arguments.release.as_deref().is_some_and(|wanted| wanted != release.name()) {
            continue;
        }
        if let Some(cases) = &given {
            let tally = differential::compare(root, &differential::with_outcomes(root, release, cases.clone())?)?;
            eprintln!("given cases of {}: {tally:?}", release.name());
            passed += tally.passed;
            failed += tally.failed;
            continue;
        }
        let scenarios = wants("scenarios").then(|| differential::scenarios(root, release, seeds()));
        let selectors = wants("selectors").then(|| differential::selectors(root, release, seeds()));
        for (kind, cases) in iter::zip(["scenarios", "selectors"], [scenarios, selectors]) {
            let Some(cases) = cases.transpose()? else { continue };
            let tally = differential::compare(root, &cases)?;
            eprintln!("{kind} of {}: {tally:?}", release.name());
            passed += tally.passed;
            failed += tally.failed;
        }
    }
    println!("{passed} passed, {failed} failed");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The cases of a file, one per line.
fn lines(file: &Path) -> Result<Vec<Value>> {
    let lines: Result<_, _> = fs::read_to_string(file)?.lines().map(serde_json::from_str).collect();
    Ok(lines?)
}
