//! `differential [--cases N] [--seed S] [--release R]`: generated scenarios and selectors, answered by the native core and
//! by the reference. With `--only places --program P` it is generated clusters, answered by a program with kube-scheduler in it.
//!
//! A difference is written as a case file, ready for the corpus. With `--resume` a comparison goes on where it was stopped.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use anyhow::{Context, Result};
use apportion_core::profile::{self, Version};
use apportion_tests::differential::{self, Tally};
use apportion_tests::places;
use apportion_tests::reference::{self, Release};
use apportion_tests::seeds::Kind;
use clap::Parser;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How many cases are asked about at once.
const PART: u64 = 1000;

/// Compares the native core with the reference on generated cases.
#[derive(Parser)]
struct Arguments {
    /// How many scenarios and how many selectors for each release.
    #[arg(long, default_value_t = 300)]
    cases: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this release: 1.36, 1.37 (the newest patch) or a patch such as 1.36.2; with `--program` 1.34 and 1.35 as well.
    #[arg(long, alias = "kubernetes-version")]
    release: Option<String>,
    /// Only scenarios, only selectors, or places of Pods.
    #[arg(long, value_parser = ["scenarios", "selectors", "places"])]
    only: Option<String>,
    /// The program that says where kube-scheduler places Pods, of the release that is stated.
    #[arg(long, requires = "release")]
    program: Option<PathBuf>,
    /// Go on where the last comparison with the same arguments was stopped.
    #[arg(long)]
    resume: bool,
    /// Take the cases of this file, one per line, instead of generated ones.
    #[arg(long)]
    from: Option<PathBuf>,
}

/// How far a comparison came.
#[derive(Serialize, Deserialize, Default)]
struct Progress {
    done: u64,
    tally: Tally,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    if !reference::is_available() {
        println!("SKIPPED: Go is not installed, the reference cannot be asked");
        println!("0 passed, 0 failed");
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(program) = arguments.program.as_deref() {
        let tally = places(root, program, &arguments)?;
        eprintln!("places: {tally:#?}");
        return Ok(summary(&tally));
    }
    let mut all = Tally::default();
    for release in releases(&arguments)? {
        if let Some(file) = &arguments.from {
            let tally = differential::compare(root, &differential::with_outcomes(root, release, lines(file)?)?)?;
            eprintln!("given cases of {release}: {tally:?}");
            all.add(tally);
            continue;
        }
        for kind in Kind::ALL {
            if arguments.only.as_deref().is_none_or(|only| only == kind.name()) {
                let tally = generated(root, release, kind, &arguments)?;
                eprintln!("{} of {release}: {tally:?}", kind.name());
                all.add(tally);
            }
        }
    }
    Ok(summary(&all))
}

fn summary(all: &Tally) -> ExitCode {
    println!("{} passed, {} failed", all.passed, all.failed);
    if all.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The releases of the reference that are asked.
fn releases(arguments: &Arguments) -> Result<Vec<Release>> {
    let Some(release) = arguments.release.as_deref() else { return Ok(vec![Release::V1_36, Release::V1_37]) };
    Ok(vec![Release::parse(release).context("known are 1.36 and 1.37, and their patches")?])
}

fn generated(root: &Path, release: Release, kind: Kind, arguments: &Arguments) -> Result<Tally> {
    in_parts(root, &format!("{} of {release}", kind.name()), arguments, |seeds| {
        let made = seeds.map(|seed| kind.make(seed, release)).collect();
        differential::compare(root, &differential::with_outcomes(root, release, made)?)
    })
}

fn places(root: &Path, program: &Path, arguments: &Arguments) -> Result<Tally> {
    let version = arguments.release.as_deref().and_then(profile::Release::parse).map(|release| release.version);
    let version = version.filter(|version| *version != Version::All).context("known are 1.34 to 1.37")?;
    if let Some(file) = &arguments.from {
        return places::compare(root, program, version, &lines(file)?);
    }
    in_parts(root, &format!("places of {version}"), arguments, |seeds| {
        places::compare(root, program, version, &seeds.map(|seed| places::make(seed, version)).collect::<Vec<_>>())
    })
}

/// Compares the cases of all seeds that are asked for, some at once, and notes how far it came.
fn in_parts(
    root: &Path,
    what: &str,
    arguments: &Arguments,
    compare: impl Fn(Range<u64>) -> Result<Tally>,
) -> Result<Tally> {
    let (first, cases) = (arguments.seed, arguments.cases);
    let file = root.join(format!("target/differential-{}-{first}.json", what.replace(" of ", "-")));
    let mut progress = match fs::read(&file) {
        Ok(bytes) if arguments.resume => serde_json::from_slice(&bytes)?,
        Err(error) if arguments.resume && error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => Progress::default(),
    };
    while progress.done < cases {
        let part = PART.min(cases - progress.done);
        let start = first.saturating_add(progress.done);
        progress.tally.add(compare(start..start.saturating_add(part))?);
        progress.done += part;
        fs::write(&file, serde_json::to_vec(&progress)?)?;
        if cases > PART {
            eprintln!("{} {what}: {} differ", progress.done, progress.tally.failed);
        }
    }
    Ok(progress.tally)
}

/// The cases of a file, one per line.
fn lines(file: &Path) -> Result<Vec<Value>> {
    let lines: Result<_, _> = fs::read_to_string(file)?.lines().map(serde_json::from_str).collect();
    Ok(lines?)
}
