//! `apportion snapshot` and `replay`.

use anyhow::{Context, Result, bail};
use apportion::{Door, HostLimits, Native, Runner};
use apportion_core::ask::Inquiry;
use apportion_core::ask::SNAPSHOT_FORMAT;
use apportion_core::wire;
use serde_json::Value;

use super::args::{ReplayArguments, SnapshotArguments};
use super::diagnose::diagnose;
use super::explain::refused;
use super::pen::Pen;
use super::{Shown, Verdict, ask, files, input};
use crate::api_server::READ;

pub(crate) fn snapshot(arguments: &SnapshotArguments) -> Result<Shown> {
    let mut door = ask::cluster(&arguments.engine)?;
    let input = input::gather(&arguments.input.files, &arguments.input.cluster, &READ)?;
    let taken = input.apply(door.as_mut())?;
    let answer =
        door.inquire(&serde_json::to_value(Inquiry::Snapshot { anonymize: arguments.anonymize })?).map_err(refused)?;
    let stderr = diagnose(&taken.notes, &input.sources, Pen { has_color: false, has_unicode: true }, false);
    Ok(Shown { stdout: format!("{answer:#}\n").into(), stderr, verdict: taken.verdict(true) })
}

/// Runs a snapshot and prints the report as JSON.
pub(crate) fn replay(arguments: &ReplayArguments) -> Result<Shown> {
    let sources = files::read(std::slice::from_ref(&arguments.file))?;
    let Some(source) = sources.first() else { bail!("`{}` cannot be read", arguments.file) };
    let mut snapshot: Value =
        serde_json::from_slice(&source.text).with_context(|| format!("`{}` is not JSON", source.name))?;
    if snapshot.get("format").and_then(Value::as_str) != Some(SNAPSHOT_FORMAT) {
        bail!("`{}` is not a snapshot of the format `{SNAPSHOT_FORMAT}`", source.name);
    }
    let settings = snapshot.get_mut("settings").map(Value::take).unwrap_or_default();
    let objects = snapshot.get_mut("objects").map(Value::take).unwrap_or_default();
    let (profile, limits) = match wire::settings(settings) {
        Ok(read) => read,
        Err(findings) => {
            let text: Vec<String> = findings.into_iter().map(|finding| finding.message).collect();
            bail!("the settings of `{}` cannot be used: {}", source.name, text.join("; "));
        }
    };
    let mut door: Box<dyn Door> = match arguments.native {
        true => Box::new(Native::new(profile, limits)),
        false => Box::new(Runner::new()?.cluster(&profile, limits, HostLimits::default())?),
    };
    let texts: Vec<String> = objects.as_array().into_iter().flatten().map(Value::to_string).collect();
    door.submit(&texts)?;
    let report = door.run()?;
    let is_satisfied = super::run::is_satisfied(&report);
    let stdout = format!("{:#}\n", serde_json::to_value(&report)?);
    let verdict = if is_satisfied { Verdict::Yes } else { Verdict::No };
    Ok(Shown { stdout: stdout.into(), stderr: String::new(), verdict })
}
