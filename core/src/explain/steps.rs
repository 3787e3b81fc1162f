//! What to do for a suggestion, one step after the other, as `kubectl` does it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::change::Change;
use super::relax::Suggestion;
use crate::arrange::Arrange;
use crate::finding::ObjectRef;

/// One step of a suggestion.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields, rename = "SuggestionStep"))]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// What is done, in one line.
    pub text: String,
    /// The command for it, which reads the manifest from its standard input where there is one; absent where no command does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", ts(optional, type = "Json"))]
    pub manifest: Option<Value>,
}

impl Step {
    fn new(text: String, command: String) -> Self {
        Self { text, command: Some(command), manifest: None }
    }

    fn by_hand(text: String) -> Self {
        Self { text, command: None, manifest: None }
    }
}

/// The steps in their order: what makes Pods and claims is written before these go, so that they are made anew as it says.
pub(crate) fn steps(suggestion: &Suggestion) -> Vec<Step> {
    let mut steps = Vec::new();
    let (last, first): (Vec<&Value>, Vec<&Value>) =
        suggestion.manifests.iter().partition(|manifest| matches!(kind(manifest), "Pod" | "ResourceClaim"));
    steps.extend(first.into_iter().map(write));
    for change in &suggestion.changes {
        match change {
            Change::EnableGate { gate } => steps.push(Step::by_hand(format!(
                "start the components of Kubernetes with `--feature-gates={gate}=true`, for the whole cluster"
            ))),
            Change::Uncordon { node } => {
                let text = format!("make node `{node}` schedulable again");
                steps.push(Step::new(text, format!("kubectl uncordon {}", word(node))));
            }
            Change::FreeClaim { claim, consumers, .. } if consumers.is_empty() => {
                let object = located("ResourceClaim", claim);
                let text = format!("delete claim `{claim}`, which no Pod uses, and create it again where it is needed");
                steps.push(Step::new(text, deletion(&object)));
            }
            Change::FreeClaim { claim, consumers, .. } => steps.extend(consumers.iter().map(|consumer| {
                let text = format!("delete Pod `{consumer}`, which uses claim `{claim}`");
                Step::new(text, deletion(&located("Pod", consumer)))
            })),
            Change::AddDevices { count, class, node, .. } => {
                let what = super::words::plural(*count, "device");
                steps.push(Step::by_hand(format!(
                    "add {what} of class `{class}` to node `{node}`, or a node that has them"
                )));
            }
            Change::UseNodes { .. } => steps.push(Step::by_hand(suggestion.text.clone())),
            _ => {}
        }
    }
    let is_gone = |command: &String| steps.iter().any(|step| step.command.as_ref() == Some(command));
    let mut deletions: Vec<(&ObjectRef, String)> =
        suggestion.deletes.iter().map(|object| (object, deletion(object))).collect();
    deletions.retain(|(_, command)| !is_gone(command));
    // A claim goes when its Pod is gone.
    deletions.arrange_by_key(|(object, _)| object.kind != "Pod");
    steps.extend(deletions.into_iter().map(|(object, command)| {
        Step::new(format!("delete {} `{}`, which cannot be changed", object.kind, shown(object)), command)
    }));
    steps.extend(last.into_iter().map(write));
    steps
}

fn write(manifest: &Value) -> Step {
    let kind = kind(manifest);
    let text = |path: &str| manifest.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let object = ObjectRef::new(kind, text("/metadata/namespace"), text("/metadata/name"));
    // The API server refuses other specs of these.
    let is_fixed = matches!(kind, "ResourceClaimTemplate" | "ClusterResourceClaimTemplate" | "Job");
    let (what, command) = match (is_fixed, kind) {
        (true, _) => ("replace", "kubectl replace --force -f -"),
        (false, "Pod" | "ResourceClaim") => ("create", "kubectl apply -f -"),
        (false, _) => ("apply", "kubectl apply -f -"),
    };
    let whole =
        if matches!(kind, "DeviceClass" | "ClusterResourceClaimTemplate") { ", for the whole cluster" } else { "" };
    Step {
        text: format!("{what} {kind} `{}`{whole}", shown(&object)),
        command: Some(command.to_owned()),
        manifest: Some(manifest.clone()),
    }
}

fn kind(manifest: &Value) -> &str {
    manifest.get("kind").and_then(Value::as_str).unwrap_or_default()
}

fn located(kind: &str, name: &str) -> ObjectRef {
    let (namespace, name) = name.split_once('/').unwrap_or(("", name));
    ObjectRef::new(kind, namespace, name)
}

fn shown(object: &ObjectRef) -> String {
    match object.namespace.as_str() {
        "" => object.name.clone(),
        namespace => format!("{namespace}/{}", object.name),
    }
}

fn deletion(object: &ObjectRef) -> String {
    let namespace = match object.namespace.as_str() {
        "" => String::new(),
        namespace => format!(" -n {}", word(namespace)),
    };
    format!("kubectl delete --ignore-not-found {} {}{namespace}", object.kind.to_lowercase(), word(&object.name))
}

/// A name as a shell reads it.
fn word(name: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_');
    if !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_a_shell() {
        assert_eq!(word("node-1.example"), "node-1.example");
        assert_eq!(word("a b; rm"), "'a b; rm'");
        assert_eq!(word("it's"), "'it'\\''s'");
        assert_eq!(word("--all"), "'--all'");
    }
}
