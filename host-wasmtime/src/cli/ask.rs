//! The cluster to ask, as the arguments want it.

use std::io;
use std::time::SystemTime;

use anyhow::{Result, bail};
use apportion::{Door, HostLimits, Native, Runner};
use apportion_core::allocate::Limits;
use apportion_core::ask::Inquiry;
use apportion_core::decision::Time;
use apportion_core::finding::Finding;
use apportion_core::profile::{Mode, Profile};
use apportion_core::wire;
use serde_json::Value;

use super::args::{EngineArguments, KubernetesArguments, LookArguments};
use super::diagnose::diagnose;
use super::explain::refused;
use super::input::{Input, Taken};
use super::pen::Pen;
use super::text::clean;
use super::{Shown, Verdict};

/// The profile that the arguments describe.
pub(crate) fn profile(arguments: &KubernetesArguments, mode: Mode) -> Result<Profile> {
    let gates = arguments.feature_gates.iter().map(|(name, enabled)| (name.as_str(), *enabled));
    match wire::profile(arguments.kubernetes_version, gates, mode) {
        Ok(profile) => Ok(profile),
        Err(findings) => match findings.first() {
            Some(finding) => {
                bail!("{}; {}", finding.message, finding.hint.as_deref().unwrap_or("see `--help`"))
            }
            None => bail!("the feature gates cannot be used"),
        },
    }
}

/// An empty cluster: in the component, or outside of it for comparison.
pub(crate) fn cluster(arguments: &EngineArguments) -> Result<Box<dyn Door>> {
    let profile = profile(&arguments.kubernetes, arguments.mode.into())?;
    let limits = Limits { max_steps: arguments.max_steps };
    if arguments.kubernetes.native {
        return Ok(Box::new(Native::new(profile, limits)));
    }
    Ok(Box::new(Runner::new()?.cluster(&profile, limits, HostLimits::default())?))
}

/// Asks an inquiry; see [`or_input`].
pub(crate) fn inquire(
    door: &mut dyn Door,
    inquiry: &Inquiry,
    of: (&Input, &Taken),
    look: &LookArguments,
) -> Result<Result<Value, Shown>> {
    or_input(door.inquire(&serde_json::to_value(inquiry)?).map_err(refused), of, look)
}

/// Where the input has errors and something that is not there is named, the errors are the answer.
pub(crate) fn or_input<T>(
    found: Result<T>,
    (input, taken): (&Input, &Taken),
    look: &LookArguments,
) -> Result<Result<T, Shown>> {
    match found {
        Ok(found) => Ok(Ok(found)),
        Err(error) if taken.has_errors() => {
            let pen = Pen::new(look, &io::stderr());
            let stderr = diagnose(&taken.notes, &input.sources, pen, look.verbose);
            let stderr = format!("{stderr}error: {error}\n");
            Ok(Err(Shown { stdout: String::new().into(), stderr, verdict: Verdict::No }))
        }
        Err(error) => Err(error),
    }
}

/// Adds what is not looked at and matters to the answer.
pub(crate) fn with_remarks(mut shown: Shown, door: &mut dyn Door) -> Result<Shown> {
    let answer = door.inquire(&serde_json::to_value(Inquiry::Unmodelled)?).map_err(refused)?;
    let findings: Vec<Finding> = serde_json::from_value(answer)?;
    shown.stderr.extend(findings.iter().map(|finding| format!("note: {}\n", clean(&finding.message))));
    Ok(shown)
}

/// The time of this machine, in whole seconds.
pub(crate) fn now() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_seconds(i64::try_from(since.as_secs()).unwrap_or_default())
}

/// The Kubernetes that answers, in a few words.
pub(crate) fn in_words(arguments: &EngineArguments) -> String {
    let mode = match arguments.mode {
        super::args::ModeChoice::Sound => "",
        super::args::ModeChoice::Reference => ", known defects included",
    };
    format!("{}{mode}", kubernetes_in_words(&arguments.kubernetes))
}

/// The version and its gates, in a few words.
pub(crate) fn kubernetes_in_words(arguments: &KubernetesArguments) -> String {
    let version = match arguments.kubernetes_version {
        apportion_core::profile::Version::All => "the newest Kubernetes with every feature on".to_owned(),
        version => format!("Kubernetes {version}"),
    };
    let gates: Vec<String> =
        arguments.feature_gates.iter().map(|(name, enabled)| format!("{name}={enabled}")).collect();
    match gates.is_empty() {
        true => version,
        false => format!("{version}, {}", gates.join(", ")),
    }
}
