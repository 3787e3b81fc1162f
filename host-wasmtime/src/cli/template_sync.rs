//! The part `template-sync` in the component, told of manifests: for commands that say what it makes of them.

use anyhow::{Result, bail};
use apportion::{Controller, HostLimits, Runner};
use apportion_core::allocate::Limits;
use apportion_core::api::source::SOURCE_API_VERSION;
use apportion_core::controller::{Part, Settings};
use apportion_core::profile::{Mode, Profile};
use serde_json::{Value, json};

use super::args::{ClusterArguments, KubernetesArguments, TemplateSyncArguments};
use super::ask;
use super::input::{self, Input, Taken};
use crate::api_server::PLANNED;

/// What the part is asked with.
pub(super) fn profile(kubernetes: &KubernetesArguments) -> Result<Profile> {
    if kubernetes.native {
        bail!("template-sync is asked in the component only");
    }
    ask::profile(kubernetes, Mode::Sound)
}

/// A controller that knows of the input, and nothing of it is looked at yet.
pub(super) fn start(
    files: &[String],
    cluster: &ClusterArguments,
    profile: &Profile,
    arguments: &TemplateSyncArguments,
) -> Result<(Controller, Input, Taken)> {
    let input = input::gather(files, cluster, &PLANNED)?;
    let settings = Settings {
        part: Part::TemplateSync,
        home: arguments.namespace.clone(),
        allow_admin_access: arguments.allow_admin_access,
    };
    let mut controller = Runner::new()?.controller(profile, Limits::default(), HostLimits::default(), settings)?;
    let taken = input.taken(controller.apply(&stored(&input))?);
    Ok((controller, input, taken))
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
