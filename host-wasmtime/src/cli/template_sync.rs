//! The part `template-sync` in the component, told of manifests: for commands that say what it makes of them.

use anyhow::{Result, bail};
use apportion::{Controller, HostLimits, Runner};
use apportion_core::allocate::Limits;
use apportion_core::api::source::SOURCE_API_VERSION;
use apportion_core::controller::{Part, Settings};
use apportion_core::finding::Severity;
use apportion_core::profile::{Mode, Profile};
use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::arguments::{ClusterArguments, KubernetesArguments, LookArguments};
use super::ask::{self, Asked};
use super::input::Input;
use super::machine;
use super::read::gather;
use super::validators;
use crate::api_server::PLANNED;

/// Why a selector does not reach a namespace.
pub(crate) const SKIPPED: &str = "a selector skips system namespaces (`kube-`), only their names select them";

// What template-sync would be told when it starts.
#[derive(Args, Debug)]
pub(crate) struct TemplateSyncArguments {
    /// The controller's namespace, where master templates are
    #[arg(long, value_name = "NAMESPACE", default_value = "apportion-system")]
    pub(crate) namespace: String,
    /// As the controller's argument of this name
    #[arg(long)]
    pub(crate) allow_admin_access: bool,
}

/// A source, as the component describes it; see [`apportion_core::controllers::template_sync::Stands`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Source {
    pub(crate) kind: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) target: String,
    pub(crate) rank: usize,
    pub(crate) master: String,
    pub(crate) is_ready: bool,
    pub(crate) is_paused: bool,
    pub(crate) is_observed: bool,
    pub(crate) counts: Counts,
    pub(crate) missing_classes: Vec<String>,
    pub(crate) skipped: Vec<String>,
    pub(crate) places: Vec<Place>,
}

#[derive(Deserialize)]
pub(crate) struct Counts {
    pub(crate) matched: u64,
    pub(crate) current: u64,
    pub(crate) updating: u64,
    pub(crate) conflicting: u64,
    pub(crate) refused: u64,
}

#[derive(Deserialize)]
pub(crate) struct Place {
    pub(crate) namespace: String,
    pub(crate) state: String,
    pub(crate) reason: String,
    pub(crate) message: String,
}

impl Source {
    /// The name; that of a master with its namespace.
    pub(crate) fn full_name(&self) -> String {
        if self.namespace.is_empty() { self.name.clone() } else { format!("{}/{}", self.namespace, self.name) }
    }
}

/// A controller that knows of the input, and nothing of it is looked at yet. Without a stated Kubernetes it is the usual one.
pub(crate) fn start<'a>(
    files: &[String],
    cluster: &ClusterArguments,
    kubernetes: Option<&KubernetesArguments>,
    arguments: &TemplateSyncArguments,
    look: &'a LookArguments,
) -> Result<Asked<'a, Controller>> {
    let (profile, kubernetes) = match kubernetes {
        Some(kubernetes) if kubernetes.native => bail!("template-sync is asked in the component only"),
        Some(kubernetes) => (ask::profile(kubernetes, Mode::Sound)?, machine::kubernetes(kubernetes)),
        None => (Profile::default(), Map::new()),
    };
    let input = gather(files, cluster, &PLANNED)?;
    let settings = Settings {
        part: Part::TemplateSync,
        home: arguments.namespace.clone(),
        allow_admin_access: arguments.allow_admin_access,
        conditions: false,
    };
    let runner = Runner::new()?;
    let mut door = runner.controller(&profile, Limits::default(), HostLimits::default(), settings)?;
    let mut found = door.apply(&stored(&input))?;
    // The controller keeps away from what is not understood. Why it does, `validate` says.
    let refusals = validators::refusals(&mut runner.validator(&profile, HostLimits::default()), &input);
    for (found, refusals) in found.iter_mut().zip(refusals).filter(|(_, refusals)| !refusals.is_empty()) {
        found.retain(|finding| finding.severity != Severity::Error);
        found.extend(refusals);
    }
    let taken = input.taken(found);
    Ok(Asked { door, input, taken, look, kubernetes })
}

/// Manifests as they would be stored: a source that no server has seen has no UID yet, and copies name it by that.
fn stored(input: &Input) -> Vec<String> {
    let stored = |mut value: Value| {
        let name = value.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let is_source = value.get("apiVersion").is_some_and(|version| version == SOURCE_API_VERSION);
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut).filter(|_| is_source) {
            metadata.entry("uid").or_insert_with(|| json!(format!("uid of {name}")));
        }
        value.to_string()
    };
    input.objects().map(stored).collect()
}
