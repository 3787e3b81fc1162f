//! `differential [--count N] [--seed S]`: generated scenarios, answered by the native core and by the reference.
//!
//! A difference is written as a case file, ready for the corpus. `--record` writes all scenarios with the reference's
//! outcome instead; that is how the project's own corpus was made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use apportion_tests::allocator::{self, Mode};
use apportion_tests::{door, generate, reference};
use clap::Parser;
use serde_json::Value;

/// Compares the native core with the reference on generated scenarios.
#[derive(Parser)]
struct Arguments {
    /// How many scenarios.
    #[arg(long, default_value_t = 500)]
    count: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write every scenario with the reference's outcome to this file, one per line, and compare nothing.
    #[arg(long)]
    record: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    if !reference::is_available() {
        println!("SKIPPED: Go is not installed, the reference cannot be asked");
        println!("0 passed, 0 failed");
        return Ok(ExitCode::SUCCESS);
    }
    let mut cases: Vec<Value> =
        (arguments.seed..arguments.seed.saturating_add(arguments.count)).map(generate::scenario).collect();
    let outcomes = reference::outcomes(root, &cases)?;
    for (case, outcome) in cases.iter_mut().zip(outcomes) {
        let mut outcome = outcome;
        if let (Some(case), Some(fields)) = (case.as_object_mut(), outcome.as_object_mut()) {
            fields.remove("nanoseconds");
            case.insert("expected".to_owned(), outcome);
        }
    }
    if let Some(file) = arguments.record {
        let lines: Vec<String> = cases.iter().map(Value::to_string).collect();
        fs::write(&file, lines.join("\n") + "\n")?;
        println!("{} cases written to {}", cases.len(), file.display());
        return Ok(ExitCode::SUCCESS);
    }

    let mut native = door::open("native", root)?;
    let (mut passed, mut failed) = (0_usize, 0_usize);
    let mut statuses = std::collections::BTreeMap::<String, usize>::new();
    for case in &cases {
        let expected = case.pointer("/expected/status").and_then(Value::as_str).unwrap_or_default();
        *statuses.entry(expected.to_owned()).or_default() += 1;
        if expected == "panic" || expected == "timeout" {
            continue;
        }
        let answer = native.ask(&allocator::asked(case, Mode::Reference))?;
        match allocator::check(case, Mode::Reference, &answer) {
            Ok(()) => passed += 1,
            Err(why) => {
                failed += 1;
                let id = case.get("id").and_then(Value::as_str).unwrap_or_default();
                let file = root.join("target/differences").join(format!("{id}.json"));
                fs::create_dir_all(root.join("target/differences"))?;
                fs::write(&file, serde_json::to_string_pretty(case)?)?;
                println!("FAILED {id} ({}): {why}", file.display());
            }
        }
    }
    eprintln!("outcomes of the reference: {statuses:?}");
    println!("{passed} passed, {failed} failed");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
