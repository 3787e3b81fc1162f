//! From arguments to an answer on the terminal. Nothing is decided here.

mod allocate;
mod args;
mod ask;
mod diagnose;
mod explain;
mod files;
mod input;
mod machine;
mod note;
mod pen;
mod run;
mod show_allocate;
mod show_pending;
mod show_run;
mod text;
mod write_yaml;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use args::{Arguments, Command};

/// The answer in one word; the exit code says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Everything was satisfied.
    Yes,
    /// Something is wrong with the input, or stays Pending.
    No,
}

/// What a command prints.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The answer.
    pub(crate) stdout: String,
    /// Everything else.
    pub(crate) stderr: String,
    pub(crate) verdict: Verdict,
}

pub(crate) fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let shown = match &arguments.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Allocate(arguments) => allocate::allocate(arguments),
        Command::Explain(arguments) => explain::explain(arguments),
    };
    match shown.and_then(print) {
        Ok(Verdict::Yes) => ExitCode::from(0),
        Ok(Verdict::No) => ExitCode::from(1),
        Err(error) => {
            // A closed stderr leaves nobody to tell.
            let _ = writeln!(io::stderr(), "error: {}", text::clean(&format!("{error:#}")));
            let is_ours = error.downcast_ref::<apportion::Error>().is_some_and(apportion::Error::is_ours);
            ExitCode::from(if is_ours { 101 } else { 2 })
        }
    }
}

/// Writes both streams. A reader that has seen enough is no failure.
fn print(shown: Shown) -> Result<Verdict> {
    let quietly = |written: io::Result<()>| match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    };
    quietly(io::stderr().write_all(shown.stderr.as_bytes()))?;
    let mut stdout = io::stdout().lock();
    quietly(stdout.write_all(shown.stdout.as_bytes()).and_then(|()| stdout.flush()))?;
    Ok(shown.verdict)
}
