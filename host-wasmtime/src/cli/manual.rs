//! The program's name, its manual pages, and what shells complete.

use std::env;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;

use super::args::{Arguments, CompletionsArguments, ManArguments};
use super::{Shown, Stdout, Verdict};

/// Name under which kubectl finds the program as a plugin: `kubectl apportion`.
const PLUGIN: &str = "kubectl-apportion";

/// The name that users type.
const AS_PLUGIN: &str = "kubectl apportion";

const NAME: &str = "apportion";

/// The arguments, with the name that the program was started by.
pub(super) fn command() -> clap::Command {
    let called = env::args_os().next();
    let stem = called.as_deref().and_then(|path| Path::new(path).file_stem());
    match stem.is_some_and(|stem| stem == PLUGIN) {
        true => Arguments::command().bin_name(AS_PLUGIN),
        false => Arguments::command(),
    }
}

/// What a shell needs to complete arguments.
pub(super) fn completions(arguments: &CompletionsArguments) -> Shown {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), NAME, &mut text);
    Shown {
        stdout: Stdout::Text(String::from_utf8_lossy(&text).into_owned()),
        stderr: String::new(),
        verdict: Verdict::Yes,
    }
}

/// Writes the manual pages.
pub(super) fn pages(arguments: &ManArguments) -> Result<Shown> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder).with_context(|| format!("`{}` cannot be made", folder.display()))?;
    clap_mangen::generate_to(Arguments::command().name(NAME), folder)
        .with_context(|| format!("pages cannot be written to `{}`", folder.display()))?;
    Ok(Shown { stdout: Stdout::Text(String::new()), stderr: String::new(), verdict: Verdict::Yes })
}
