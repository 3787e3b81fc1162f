//! From arguments to an answer on the terminal. Nothing is decided here.

mod allocate;
mod args;
mod ask;
mod cel;
mod check;
mod check_dump;
mod control;
mod convert;
mod crct;
mod crct_export;
mod diagnose;
mod explain;
mod files;
mod fit;
mod fix;
mod input;
mod life;
mod live;
mod machine;
mod manual;
mod note;
mod pen;
mod plan;
mod playground;
mod progress;
mod read;
mod report;
mod run;
mod show_allocate;
mod show_explain;
mod show_pending;
mod show_run;
mod snapshot;
mod template_sync;
mod text;
mod validate;
mod what_if;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::FromArgMatches;

pub(crate) use args::KubernetesArguments;
use args::{Arguments, Command, CrctCommand};

/// The answer in one word; the exit code says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Everything was satisfied.
    Yes,
    /// Something is wrong with the input, or stays Pending.
    No,
}

/// What a command prints.
pub(crate) struct Shown {
    /// The answer.
    pub(crate) stdout: Stdout,
    /// Everything else.
    pub(crate) stderr: String,
    pub(crate) verdict: Verdict,
}

/// An answer.
pub(crate) enum Stdout {
    Text(String),
    /// Written piece by piece: as one text it would take more room than all that it is about.
    Pieces(Box<Writing>),
}

/// What writes an answer.
type Writing = dyn FnOnce(&mut dyn Write) -> io::Result<()>;

impl From<String> for Stdout {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

pub(crate) fn main() -> ExitCode {
    // What clap refuses it prints, and ends.
    let matches = manual::command().get_matches();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let shown = match &arguments.command {
        command if command.cluster().is_some_and(|cluster| cluster.print_rbac) => live::role(command.kinds()),
        Command::Run(arguments) => run::run(arguments),
        Command::Allocate(arguments) => allocate::allocate(arguments),
        Command::Validate(arguments) => validate::validate(arguments),
        Command::Check(arguments) => check_dump::check(arguments),
        Command::Convert(arguments) => convert::convert(arguments),
        Command::Explain(arguments) => explain::explain(arguments),
        Command::WhatIf(arguments) => what_if::what_if(arguments),
        Command::Fit(arguments) => fit::fit(arguments),
        Command::Diff(arguments) => what_if::diff(arguments),
        Command::Taint(arguments) => what_if::taint(arguments),
        Command::Cel(arguments) => cel::cel(arguments),
        Command::Snapshot(arguments) => snapshot::snapshot(arguments),
        Command::Replay(arguments) => snapshot::replay(arguments),
        Command::Playground(arguments) => playground::playground(arguments),
        Command::Plan(arguments) => plan::plan(arguments),
        Command::Crct(CrctCommand::Status(arguments)) => crct::status(arguments),
        Command::Crct(CrctCommand::Export(arguments)) => crct_export::export(arguments),
        Command::Controller(arguments) => control::control(arguments),
        Command::Completions(arguments) => Ok(manual::completions(arguments)),
        Command::Man(arguments) => manual::pages(arguments),
    };
    match shown.and_then(print) {
        Ok(Verdict::Yes) => ExitCode::from(0),
        Ok(Verdict::No) => ExitCode::from(1),
        Err(error) => {
            // A closed stderr leaves nobody to tell.
            let _ = writeln!(io::stderr(), "error: {}", text::clean(&format!("{error:#}")));
            ExitCode::from(failure_code(&error))
        }
    }
}

/// What is our defect, and what is the input's, the arguments' or a limit's.
fn failure_code(error: &anyhow::Error) -> u8 {
    match error.downcast_ref::<apportion::Error>() {
        Some(error) if error.is_ours() => 101,
        _ => 2,
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
    let written = match shown.stdout {
        Stdout::Text(text) => stdout.write_all(text.as_bytes()),
        Stdout::Pieces(write) => write(&mut stdout),
    };
    quietly(written.and_then(|()| stdout.flush()))?;
    Ok(shown.verdict)
}

#[cfg(test)]
mod tests {
    use apportion::{Error, Stop};

    use super::*;

    #[test]
    fn a_trap_is_our_defect_and_a_limit_is_not() {
        let code = |stop| failure_code(&anyhow::Error::new(Error::Stopped(stop)).context("while running"));
        assert_eq!(code(Stop::Trap("unreachable".to_owned())), 101);
        assert_eq!(code(Stop::Memory { limit: 1 << 20 }), 2);
        assert_eq!(failure_code(&anyhow::anyhow!("no such file")), 2);
    }
}
