//! From arguments to an answer on the terminal. Nothing is decided here.

pub(crate) mod arguments;
mod ask;
mod codes;
mod commands;
mod diagnose;
mod difference;
mod fetch;
mod files;
mod input;
mod kustomize;
mod listed;
mod live;
mod machine;
mod note;
mod pen;
mod progress;
mod read;
mod report;
mod scores;
mod shown;
mod stage;
mod swallowed;
mod template_sync;
mod text;
mod tree;
mod validators;

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::FromArgMatches;

use commands::Arguments;
use shown::{InputErrors, Shown, Verdict};

pub(crate) fn main() -> ExitCode {
    let definition = commands::definition();
    let given = swallowed::freed(&definition, env::args_os().collect(), files::is_path);
    // What clap refuses it prints, and ends.
    let matches = definition.term_width(text::width()).get_matches_from(given);
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if arguments.command.ends_by_itself() {
        stage::listen();
    }
    let shown = match commands::wants_role(&matches) {
        true => live::role(arguments.command.reads()),
        false => arguments.command.run(),
    };
    let shown = shown.or_else(|error| error.downcast::<InputErrors>().map(Shown::from));
    stage::end();
    match shown.and_then(Shown::print) {
        Ok(_) if stage::is_interrupted() => ExitCode::from(stage::INTERRUPTED),
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
