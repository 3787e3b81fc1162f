//! `apportion completions`.

use clap::Args;

use crate::cli::shown::Shown;

const EXAMPLE: &str = "\
Example:
  apportion completions bash > ~/.local/share/bash-completion/completions/apportion";

/// Print what a shell needs to complete this program's arguments
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

pub(super) fn completions(arguments: &CompletionsArguments, mut program: clap::Command) -> Shown {
    let mut text = Vec::new();
    let name = program.get_name().to_owned();
    clap_complete::generate(arguments.shell, &mut program, name, &mut text);
    Shown::text(String::from_utf8_lossy(&text).into_owned())
}
