//! `apportion replay`.

use anyhow::{Result, bail};
use apportion::Runner;
use apportion_core::ask::SNAPSHOT_FORMAT;
use apportion_core::wire;
use clap::Args;
use serde_json::Value;

use crate::cli::shown::{Shown, Verdict};
use crate::cli::{ask, files};

/// Run a snapshot with the settings in it; the same bytes on every host
#[derive(Args, Debug)]
pub(crate) struct ReplayArguments {
    /// The snapshot; `-` for standard input
    file: String,
    /// Ask the same code outside of the component, for comparison
    #[arg(long)]
    native: bool,
}

/// Runs a snapshot and prints the report as JSON.
pub(super) fn replay(arguments: &ReplayArguments) -> Result<Shown> {
    let sources = files::read(std::slice::from_ref(&arguments.file), files::Network::Refused)?;
    let Some(source) = sources.first() else { bail!("`{}` cannot be read", arguments.file) };
    let snapshot: Option<Value> = serde_json::from_slice(&source.text).ok();
    let format = |snapshot: &Value| snapshot.get("format").and_then(Value::as_str) == Some(SNAPSHOT_FORMAT);
    let Some(mut snapshot) = snapshot.filter(format) else {
        bail!("`{}` is no snapshot (`{SNAPSHOT_FORMAT}`); `apportion snapshot` makes one of manifests", source.name);
    };
    let settings = snapshot.get_mut("settings").map(Value::take).unwrap_or_default();
    let objects = snapshot.get_mut("objects").map(Value::take).unwrap_or_default();
    let (profile, limits) = match wire::settings(settings) {
        Ok(read) => read,
        Err(findings) => {
            let text: Vec<String> = findings.into_iter().map(|finding| finding.message).collect();
            bail!("the settings of `{}` cannot be used: {}", source.name, text.join("; "));
        }
    };
    let runner = if arguments.native { None } else { Some(Runner::new()?) };
    let mut door = ask::open(profile, limits, runner.as_ref())?;
    let texts: Vec<String> = objects.as_array().into_iter().flatten().map(Value::to_string).collect();
    door.submit(&texts)?;
    let report = door.run()?;
    let stdout = format!("{:#}\n", serde_json::to_value(&report)?);
    Ok(Shown { verdict: Verdict::of(report.is_satisfied()), ..Shown::text(stdout) })
}
