//! `apportion crct`.

mod export;
mod status;

use anyhow::Result;
use clap::Subcommand;

use crate::cli::shown::Shown;

#[derive(Subcommand, Debug)]
pub(crate) enum CrctCommand {
    Status(Box<status::CrctStatusArguments>),
    Export(export::CrctExportArguments),
}

impl CrctCommand {
    pub(super) fn run(&self) -> Result<Shown> {
        match self {
            Self::Status(arguments) => status::status(arguments),
            Self::Export(arguments) => export::export(arguments),
        }
    }
}
