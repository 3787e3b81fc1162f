//! `apportion schema`: the JSON Schema of a machine format.

use anyhow::{Result, bail};
use clap::Args;

use crate::cli::shown::Shown;
use crate::cli::text;

const EXAMPLE: &str = "\
Example:
  apportion schema run > run.schema.json";

/// Print the JSON Schema of what a command prints with `--output json`
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct SchemaArguments {
    /// The format, mostly the name of the command; without one the names are listed
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

macro_rules! schemas {
    ($($name:literal,)*) => {
        /// Names with their texts, made by the crate `apportion-schema`.
        const SCHEMAS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../schema/v1/", $name, ".json"))),)*];
    };
}

schemas! {
    "allocate", "batch", "cel", "check", "check-watch", "codes", "crct-status", "explain", "fit", "nodes-needed", "plan",
    "replay-trace", "run", "snapshot", "taint", "usage", "validate", "what-if",
}

/// Commands that print what another one prints.
const ALIASES: [(&str, &str); 2] = [("diff", "what-if"), ("explain-code", "codes")];

pub(super) fn schema(arguments: &SchemaArguments) -> Result<Shown> {
    let names = || SCHEMAS.iter().map(|(name, _)| *name);
    let Some(wanted) = &arguments.name else {
        return Ok(Shown::text(text::lines(names().map(str::to_owned))));
    };
    let wanted = ALIASES.iter().find(|(alias, _)| alias == wanted).map_or(wanted.as_str(), |(_, name)| name);
    match SCHEMAS.iter().find(|(name, _)| *name == wanted) {
        Some((_, text)) => Ok(Shown::text((*text).to_owned())),
        None => bail!("there is no format `{wanted}`; there are {}", names().collect::<Vec<_>>().join(", ")),
    }
}
