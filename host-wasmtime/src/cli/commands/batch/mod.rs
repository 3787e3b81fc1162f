//! `apportion batch`: many clusters, one line each.

mod lines;
mod output;
mod pool;
mod tally;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use apportion::HostLimits;
use apportion_core::wire;
use clap::Args;
use serde_json::{Value, json};

use crate::cli::arguments::EngineArguments;
use crate::cli::shown::{Shown, Verdict};
use crate::cli::{ask, machine};
use lines::Lines;
use output::Output;
use pool::{Answerer, Window};
use tally::Tally;

const EXAMPLE: &str = "\
Example:
  apportion batch fleet/ --ask explain --output answers.ndjson
  apportion batch questions.ndjson --shard 3/16 --output answers-3.ndjson --resume
  apportion batch --merge answers-0.ndjson answers-1.ndjson > answers.ndjson

A line is a cluster and the questions about it: {\"id\": \"a\", \"objects\": [..], \"ask\": \"explain\"}, a snapshot, or a list of the \
API. docs/fleets.md has the format. Exit code 1: a line has no answer, or an object was left out; all other lines are answered.";

/// Answer questions about many clusters: a line of JSON for each in, a line for each out, in order, on all processors
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct BatchArguments {
    /// Lines of JSON (.ndjson, .jsonl, `-` for standard input), folders in which each file or folder is a cluster, or files with a
    /// cluster
    #[arg(value_name = "PATH", default_value = "-")]
    paths: Vec<String>,
    /// What is asked of clusters that do not say it: run, explain, usage, validate, unmodelled, snapshot, or an inquiry as JSON; may be
    /// repeated
    #[arg(long, value_name = "QUESTION", default_value = "run", value_parser = parse_question)]
    ask: Vec<Value>,
    /// Answer every Nth line only, from line I on, both counted from zero
    #[arg(long, value_name = "I/N", value_parser = parse_shard, default_value = "0/1", hide_default_value = true)]
    shard: Shard,
    /// Write to this file, which must not be there yet
    #[arg(long, short = 'o', value_name = "FILE")]
    output: Option<PathBuf>,
    /// Go on where the file ends: lines that are answered are skipped, a line that is cut off is answered again
    #[arg(long, requires = "output")]
    resume: bool,
    /// Put the outputs of all shards, given in their order, together again
    #[arg(long, conflicts_with_all = ["ask", "shard", "resume", "jobs"])]
    merge: bool,
    /// Clusters that are looked at side by side; as many as there are processors where left out
    #[arg(long, short = 'j', value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Longest line, and largest cluster of a folder, in MiB
    #[arg(long, value_name = "MIB", default_value = "64")]
    max_line: NonZeroUsize,
    /// Memory that one cluster may take, in MiB
    #[arg(long, value_name = "MIB", default_value = "2048", value_parser = clap::value_parser!(u32).range(1..=4096))]
    max_memory: u32,
    #[command(flatten)]
    engine: EngineArguments,
}

/// Which lines are answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shard {
    index: u64,
    of: u64,
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let wrong = || format!("`{text}` is no shard: write it as I/N with I from 0 to N-1, for instance 0/16");
    let (index, of) = text.split_once('/').ok_or_else(wrong)?;
    let shard = Shard { index: index.parse().map_err(|_| wrong())?, of: of.parse().map_err(|_| wrong())? };
    if shard.index < shard.of { Ok(shard) } else { Err(wrong()) }
}

fn parse_question(text: &str) -> Result<Value, String> {
    wire::batch::asked(text).map_err(|findings| {
        let first = findings.into_iter().next();
        first.map_or_else(String::new, |one| {
            format!("{}{}", one.message, one.hint.map_or_else(String::new, |hint| format!("; {hint}")))
        })
    })
}

pub(super) fn batch(arguments: &BatchArguments) -> Result<Shown> {
    if arguments.merge {
        return merge(arguments);
    }
    let start = Instant::now();
    let max_line = mebibytes(arguments.max_line.get());
    let mut output = match &arguments.output {
        Some(path) => Output::file(path, arguments.resume, arguments.shard)?,
        None => Output::stdout(),
    };
    let lines = Lines::open(&arguments.paths, arguments.output.as_deref(), max_line, arguments.shard)?;
    let make = answerer(arguments)?;
    let (lines, last) = lines.after(output.before())?;
    if let Some((index, line)) = last
        && make().answer(index, line) != output.before().last_answer
    {
        bail!(
            "the last answer of the output is another than the batch gives to line {index}: the questions, the settings, the line or the program \
             have changed"
        );
    }
    let jobs = arguments.jobs.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from);
    // As many lines wait as are worked on, unless they are large.
    let window = Window { jobs, lines: jobs.saturating_mul(2), bytes: max_line.saturating_mul(2) };
    let mut tally = output.before().clone();
    let resumed = tally.lines;
    let done = pool::answer(lines, window, make, &mut |answer| {
        tally.add(answer)?;
        Ok(output.write(answer)?)
    });
    let stops = match done {
        Err(error) if is_closed_pipe(&error) => 0,
        done => done?,
    };
    let verdict = Verdict::of(tally.is_fine());
    let stderr = tally.sentence(resumed, stops, start.elapsed());
    Ok(Shown { stderr, verdict, ..Shown::text(String::new()) })
}

/// What makes each thread its own component.
fn answerer(arguments: &BatchArguments) -> Result<impl Fn() -> Answerer + Send + Sync + use<>> {
    let EngineArguments { kubernetes, max_steps, mode, .. } = &arguments.engine;
    ask::profile(kubernetes, (*mode).into())?;
    let mut settings = machine::kubernetes_in_mode(&arguments.engine);
    settings.insert("maxSteps".to_owned(), json!(max_steps));
    let configuration = ask::scheduler_configuration(&arguments.engine)?;
    let defaults = json!({ "settings": settings, "ask": arguments.ask, "objects": configuration });
    let limits = HostLimits { memory: mebibytes(usize::try_from(arguments.max_memory)?), ..HostLimits::default() };
    let runner = if kubernetes.native { None } else { Some(kubernetes.runner()?) };
    Ok(move || match &runner {
        Some(runner) => Answerer::Component(Box::new(runner.batch(limits, &defaults))),
        None => Answerer::Native(defaults.to_string()),
    })
}

const fn mebibytes(number: usize) -> usize {
    number.saturating_mul(1 << 20)
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Interleaves the outputs of shards: the bytes that one run without shards would have written.
fn merge(arguments: &BatchArguments) -> Result<Shown> {
    let open = |path: &String| {
        let file = File::open(path).with_context(|| format!("`{path}` cannot be read"))?;
        Ok((path.clone(), BufReader::new(file)))
    };
    let mut shards = arguments.paths.iter().map(open).collect::<Result<VecDeque<_>>>()?;
    let out: Box<dyn Write> = match &arguments.output {
        Some(path) => Box::new(output::new_file(path)?),
        None => Box::new(io::stdout().lock()),
    };
    let (mut out, mut tally, mut line) = (BufWriter::new(out), Tally::default(), String::new());
    let next = |(path, shard): &mut (String, BufReader<File>), line: &mut String| {
        line.clear();
        shard.read_line(line).with_context(|| format!("`{path}` cannot be read"))
    };
    // Line k of the batch is in shard k modulo their number.
    while let Some(mut shard) = shards.pop_front() {
        if next(&mut shard, &mut line)? == 0 {
            shards.push_back(shard);
            break;
        }
        let index = tally.lines;
        if !line.ends_with('\n') || tally.add(&line).ok() != Some(index) {
            bail!(
                "`{}` does not hold line {index} of the batch where it is next: name the complete outputs of all shards in their order",
                shard.0
            );
        }
        out.write_all(line.as_bytes())?;
        shards.push_back(shard);
    }
    for shard in &mut shards {
        if next(shard, &mut line)? > 0 {
            bail!(
                "`{}` goes on where another shard ends after {} lines in all: run that one again with `--resume`",
                shard.0,
                tally.lines
            );
        }
    }
    out.flush()?;
    Ok(Shown { verdict: Verdict::of(tally.is_fine()), ..Shown::text(String::new()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_one_of_those_that_there_are() {
        assert_eq!(parse_shard("3/16"), Ok(Shard { index: 3, of: 16 }));
        for wrong in ["", "3", "16/16", "-1/4", "0/0", "a/b", "1/2/3"] {
            assert!(parse_shard(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_question_is_a_word_or_json() {
        assert_eq!(parse_question("run"), Ok(json!({ "kind": "run" })));
        assert_eq!(parse_question(r#"{"kind": "fit"}"#), Ok(json!({ "kind": "fit" })));
        assert!(parse_question("explian").is_err_and(|message| message.contains("did you mean `explain`?")));
        assert!(parse_question("{").is_err());
    }
}
