//! `apportion man`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::cli::shown::Shown;

const EXAMPLE: &str = "\
Example:
  apportion man ~/.local/share/man/man1";

/// Write the manual pages of the program and of all its commands
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct ManArguments {
    /// Folder for the pages; it is made where it is missing
    folder: PathBuf,
}

pub(super) fn pages(arguments: &ManArguments, program: clap::Command) -> Result<Shown> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder).with_context(|| format!("`{}` cannot be made", folder.display()))?;
    clap_mangen::generate_to(program, folder)
        .with_context(|| format!("pages cannot be written to `{}`", folder.display()))?;
    Ok(Shown::text(String::new()))
}
