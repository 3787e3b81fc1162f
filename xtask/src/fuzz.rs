//! Fuzzing everything that reads what a stranger wrote, with libFuzzer.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::Workspace;
use crate::command::{cargo, output, program, run};

/// The targets of `fuzz/`.
pub const TARGETS: [&str; 7] = ["yaml", "object", "cel", "validate", "controller", "script", "wire"];

/// Coverage counters as libFuzzer reads them; the stable compiler has the pass.
const FLAGS: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
];

/// Whether libFuzzer, which is C++, can be built here.
#[must_use]
pub fn is_possible() -> bool {
    ["c++", "g++", "clang++"].into_iter().any(|name| output(Command::new(name).arg("--version")).is_some())
}

/// Runs targets one after another, each for so many seconds. What is found lies in `target/fuzz/found`; the grown
/// corpus in `target/fuzz/corpus`, while `fuzz/corpus` holds what every run begins with.
///
/// # Errors
///
/// When a target finds something, or cannot be built.
pub fn fuzz(workspace: &Workspace, targets: &[String], seconds: u64) -> Result<()> {
    let chosen: Vec<&str> = match targets {
        [] => TARGETS.to_vec(),
        named => named.iter().map(String::as_str).collect(),
    };
    let programs = build(workspace)?;
    for target in chosen {
        let folder = |name: &str| workspace.target_dir().join("fuzz").join(name);
        let grown = folder("corpus").join(target);
        let found = folder("found");
        fs::create_dir_all(&grown).with_context(|| format!("`{}` cannot be made", grown.display()))?;
        fs::create_dir_all(&found).with_context(|| format!("`{}` cannot be made", found.display()))?;
        let mut fuzzer = Command::new(programs.join(target));
        fuzzer.arg(format!("-max_total_time={seconds}")).args([
            "-rss_limit_mb=2048",
            "-timeout=20",
            "-print_final_stats=1",
        ]);
        fuzzer.arg("-max_len=16384").arg(format!("-artifact_prefix={}/{target}-", found.display()));
        fuzzer.arg(&grown).arg(workspace.path("fuzz/corpus").join(target));
        let way_out = format!("the input lies in `{}`: make a test of it and repair what it shows", found.display());
        run(&mut fuzzer, &format!("fuzzing `{target}`"), &way_out)?;
    }
    Ok(())
}

/// Builds all targets, and returns the folder of their programs.
///
/// # Errors
///
/// When the build fails.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let host = output(Command::new(program("RUSTC", "rustc")).arg("-vV"))
        .and_then(|text| text.lines().find_map(|line| line.strip_prefix("host: ").map(str::to_owned)));
    let Some(host) = host else { bail!("`rustc -vV` does not name its host: check the Rust installation") };
    let mut build = cargo();
    build.current_dir(workspace.path("fuzz")).args(["build", "--quiet", "--release", "--locked", "--bins"]);
    // With the target named, build scripts and macros are spared the counters.
    build.args(["--target", &host]).arg("--target-dir").arg(workspace.target_dir().join("fuzz"));
    build.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"));
    run(&mut build, "building the fuzz targets", "the compiler's message is above; libFuzzer needs a C++ compiler")?;
    Ok(workspace.target_dir().join("fuzz").join(host).join("release"))
}
