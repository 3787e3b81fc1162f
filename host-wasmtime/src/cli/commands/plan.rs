//! `apportion plan`: what template-sync would write, before it does.

use std::collections::BTreeMap;

use anyhow::Result;
use apportion::Controller;
use apportion_core::controller::Conclusion;
use apportion_core::decision::{Action, EventRecord};
use apportion_core::finding::ObjectRef;
use clap::Args;
use serde_json::{Value, json};

use crate::cli::arguments::{InputArguments, KubernetesArguments, ViewArguments};
use crate::cli::ask;
use crate::cli::pen::{Ink, Pen};
use crate::cli::shown::Shown;
use crate::cli::template_sync::{self, SKIPPED, Source, TemplateSyncArguments};
use crate::cli::text::{self, clean, count, row, table};

const EXAMPLE: &str = "\
Example:
  apportion plan -f examples/templates/
  apportion plan --from-cluster -f new-template.yaml";

/// Say which copies of cluster-wide claim templates the controller would make, replace and delete
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    sync: TemplateSyncArguments,
    #[command(flatten)]
    kubernetes: KubernetesArguments,
    #[command(flatten)]
    view: ViewArguments,
}

/// Most rounds of decisions; each is about what the one before it changed.
const MOST_ROUNDS: usize = 16;

/// What happens to one template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    Create,
    Replace,
    Mark,
    Delete,
}

impl Change {
    const fn text(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Mark => "mark",
            Self::Delete => "delete",
        }
    }
}

/// What would be written.
#[derive(Debug, Default)]
struct Planned {
    changes: BTreeMap<(String, String), (Change, usize)>,
    statuses: BTreeMap<String, Value>,
    /// System namespaces that a selector matches and that get no copy, by source.
    skipped: BTreeMap<String, Vec<String>>,
    told: Vec<EventRecord>,
}

pub(super) fn plan(arguments: &PlanArguments) -> Result<Shown> {
    let PlanArguments { input, sync, kubernetes, view } = arguments;
    let mut asked = template_sync::start(&input.files(), &input.cluster, Some(kubernetes), sync, &view.look)?;
    let mut planned = planned(&mut asked.door)?;
    let sources: Vec<Source> = serde_json::from_value(asked.door.standings()?)?;
    let skipping = sources.into_iter().filter(|source| !source.skipped.is_empty());
    planned.skipped = skipping.map(|source| (source.name, source.skipped)).collect();
    let body = || json!({ "plan": for_machines(&planned) });
    Ok(asked.show(view.output, "Plan", body, |pen| show(&planned, pen), planned.told.is_empty()))
}

/// Lets the controller decide as if everything that it writes were taken.
fn planned(controller: &mut Controller) -> Result<Planned> {
    let (mut planned, mut now) = (Planned::default(), ask::now());
    for _ in 0..MOST_ROUNDS {
        let due = controller.due()?;
        if due.is_empty() {
            break;
        }
        for task in due {
            let mut plan = controller.reconcile(&task.object, now)?;
            // What the controller does slowly is part of the plan as well.
            if let Some(later) = plan.wake_up {
                now = later;
                plan = controller.reconcile(&task.object, now)?;
            }
            planned.told.extend(plan.events);
            for write in plan.actions {
                planned.note(controller, write)?;
            }
            controller.conclude(&task.object, Conclusion::Done)?;
        }
    }
    planned.told.sort();
    planned.told.dedup();
    Ok(planned)
}

impl Planned {
    fn note(&mut self, controller: &mut Controller, write: Action<Value>) -> Result<()> {
        let place = |object: &ObjectRef| (object.namespace.clone(), object.name.clone());
        match write {
            Action::Create { object, .. } => {
                let text = object.to_string();
                let of = |field: &str| object.pointer(field).and_then(Value::as_str).unwrap_or_default().to_owned();
                let key = (of("/metadata/namespace"), of("/metadata/name"));
                let was_deleted = self.changes.get(&key).is_some_and(|(change, _)| *change == Change::Delete);
                let change = if was_deleted { Change::Replace } else { Change::Create };
                self.changes.insert(key, (change, text.len()));
                controller.apply(&[text])?;
            }
            Action::Delete { object, .. } => {
                self.changes.insert(place(&object), (Change::Delete, 0));
                controller.delete(&object)?;
            }
            Action::Patch(patch) => drop(self.changes.insert(place(&patch.object), (Change::Mark, 0))),
            Action::UpdateStatus(object) => {
                let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
                self.statuses.insert(name, object.get("status").cloned().unwrap_or_default());
                controller.apply(&[object.to_string()])?;
            }
            Action::Update(_) | Action::Bind { .. } | Action::Record(_) => {}
        }
        Ok(())
    }

    /// What the statuses say about classes that are not there: no reason not to write the copies.
    fn missing_classes(&self) -> Vec<String> {
        let said = |name: &String, status: &Value| {
            let conditions = status.get("conditions").and_then(Value::as_array)?;
            let is_said = |one: &&Value| {
                one.get("type").is_some_and(|kind| kind == "ClassMissing")
                    && one.get("status").is_some_and(|holds| holds == "True")
            };
            let message = conditions.iter().find(is_said)?.get("message")?.as_str()?;
            Some(clean(&format!("{name}: {message}")).into_owned())
        };
        self.statuses.iter().filter_map(|(name, status)| said(name, status)).collect()
    }

    fn bytes(&self) -> usize {
        self.changes.values().map(|(_, bytes)| *bytes).fold(0, usize::saturating_add)
    }
}

fn for_machines(planned: &Planned) -> Value {
    let changes = planned.changes.iter().map(|((namespace, name), (change, bytes))| {
        json!({ "change": change.text(), "namespace": namespace, "name": name, "bytes": bytes })
    });
    json!({
        "changes": changes.collect::<Value>(), "bytes": planned.bytes(), "statuses": planned.statuses,
        "skipped": planned.skipped,
        "events": planned.told.iter().map(|event| json!(event)).collect::<Value>(),
    })
}

fn show(planned: &Planned, pen: Pen) -> String {
    let mut lines = Vec::new();
    if planned.changes.is_empty() {
        lines.push("Nothing would be written.".to_owned());
    } else {
        let mut rows = vec![row(["CHANGE", "NAMESPACE", "TEMPLATE", "BYTES"])];
        rows.extend(
            planned
                .changes
                .iter()
                .map(|((namespace, name), (change, bytes))| row([change.text(), namespace, name, &bytes.to_string()])),
        );
        lines.extend(table(&rows, &[3]));
        let templates = count(planned.changes.len(), "template");
        lines.push(String::new());
        lines.push(pen.paint(Ink::Strong, &format!("{templates} would change, {} bytes written", planned.bytes())));
    }
    lines.extend(planned.missing_classes());
    lines.extend(
        planned.skipped.iter().map(|(source, spaces)| {
            clean(&format!("{source}: no copy in {}: {SKIPPED}", spaces.join(", "))).into_owned()
        }),
    );
    for event in &planned.told {
        lines.push(clean(&format!("{}: {}: {}", event.regarding, event.reason, event.note)).into_owned());
    }
    text::lines(lines)
}
