//! `conformance [--engine native|component|npm|go] [PATH ...]`: one line per failure, last line `N passed, N failed`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{iter, thread};

use anyhow::{Context, Result, anyhow, ensure};
use apportion_tests::answers::{self, Listed};
use apportion_tests::baseline::Baseline;
use apportion_tests::corpus::Case;
use apportion_tests::{Verdict, corpus, door, reference};
use clap::Parser;

/// Asks the recorded cases through every door and compares the answers, with the recording and with each other.
#[derive(Parser)]
struct Arguments {
    /// An engine to ask; others are compared with the first. All of them when left out, without `go` where Go is missing.
    #[arg(long, value_parser = ["native", "component", "npm", "go"])]
    engine: Vec<String>,
    /// Print the ids that fail, as the baseline lists them.
    #[arg(long)]
    list_failures: bool,
    /// Files or folders of cases; the project's own corpus when left out.
    paths: Vec<PathBuf>,
}

/// What one engine answered.
struct Asked {
    engine: String,
    verdicts: Vec<Verdict>,
    answers: BTreeMap<String, String>,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let is_everything = arguments.paths.is_empty();
    let paths = if is_everything { vec![root.join(corpus::OWN)] } else { arguments.paths };
    let baseline_file = root.join("tests/conformance/baseline.txt");
    let baseline = Baseline::parse(&std::fs::read_to_string(baseline_file).unwrap_or_default());
    let engines = if arguments.engine.is_empty() {
        let mut all = vec!["native", "component", "npm"];
        if reference::is_available() {
            all.push("go");
        } else {
            eprintln!("the engine `go` is skipped: it needs Go");
        }
        all.into_iter().map(str::to_owned).collect()
    } else {
        arguments.engine
    };

    let (mut cases, mut recordings) = (Vec::new(), Vec::new());
    for path in &paths {
        let (read, recorded) = (corpus::read(path)?, answers::below(path)?);
        let requests: usize = recorded.iter().map(|recording| recording.lines.len()).sum();
        eprintln!("{} cases below {}", read.len() + requests, path.display());
        cases.extend(read);
        recordings.extend(recorded);
    }
    ensure!(!is_everything || !recordings.is_empty(), "no recorded answers of API servers below tests/conformance");
    let listed = std::fs::read_to_string(root.join("tests/conformance/validation/differences.list"))?;
    let listed = Listed::parse(&listed)?;

    // Of seeds and histories one engine answers all, the others a tenth: that they are the same engine shows in those.
    let some: Vec<&Case> = cases
        .iter()
        .enumerate()
        .filter(|(index, case)| !case.is_one_of_many() || (index + 1).is_multiple_of(10))
        .map(|(_, case)| case)
        .collect();
    let all: Vec<&Case> = cases.iter().collect();
    let ask = |engine: &str, cases: &[&Case], step: usize| -> Result<Asked> {
        let mut door = door::open(engine, root)?;
        let mut answers = BTreeMap::new();
        let mut verdicts = corpus::run(cases, door.as_mut(), &mut answers);
        verdicts.extend(corpus::run_recorded(&recordings, &listed, step, door.as_mut(), &mut answers));
        Ok(Asked { engine: engine.to_owned(), verdicts, answers })
    };
    let (first, others) = engines.split_first().context("no engine is asked")?;
    // The first engine has as much to do as the others together.
    let asked: Vec<Asked> = thread::scope(|scope| {
        let others = scope.spawn(|| others.iter().map(|engine| ask(engine, &some, 10)).collect::<Result<Vec<_>>>());
        let first = ask(first, &all, 1)?;
        let others = others.join().map_err(|_| anyhow!("a thread that asks an engine has stopped"))??;
        anyhow::Ok(iter::once(first).chain(others).collect())
    })?;

    let (mut passed, mut failed) = (0_usize, 0_usize);
    for Asked { engine, verdicts, answers } in &asked {
        let mut verdicts: Vec<Verdict> = verdicts.clone();
        if !arguments.list_failures {
            verdicts = verdicts.into_iter().map(|verdict| baseline.judge(verdict)).collect();
        }
        if let Some(Asked { engine: other, answers: others, .. }) =
            asked.first().filter(|first| first.engine != *engine)
        {
            verdicts.extend(answers.iter().map(|(id, answer)| {
                let equal = others.get(id) == Some(answer);
                Verdict::new(
                    format!("{id} = {other}"),
                    equal.then_some(()).ok_or_else(|| "the answers differ".to_owned()),
                )
            }));
        }
        for Verdict { id, failure } in &verdicts {
            match failure {
                None => passed += 1,
                Some(_) if arguments.list_failures => {
                    failed += 1;
                    println!("{id}");
                }
                Some(why) => {
                    failed += 1;
                    println!("FAILED {engine} {id}: {}", why.replace('\n', " / "));
                }
            }
        }
    }
    if !baseline.is_empty() {
        eprintln!("{} cases are listed as not passing yet", baseline.len());
    }
    println!("{passed} passed, {failed} failed");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
