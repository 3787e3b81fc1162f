//! `apportion plan`: what template-sync would write, before it does.

use std::collections::BTreeMap;
use std::io;

use anyhow::Result;
use apportion::Controller;
use apportion_core::controller::Conclusion;
use apportion_core::decision::{Action, EventRecord};
use apportion_core::finding::ObjectRef;
use serde::Deserialize;
use serde_json::{Value, json};

use super::args::{Output, PlanArguments};
use super::diagnose::diagnose;
use super::pen::{Ink, Pen};
use super::text::{clean, count, table};
use super::{Shown, Verdict, ask, machine, template_sync};

/// Why a selector does not reach a namespace.
pub(super) const SKIPPED: &str = "a selector skips system namespaces (`kube-`), only their names select them";

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

pub(crate) fn plan(arguments: &PlanArguments) -> Result<Shown> {
    let (files, cluster) = (&arguments.input.files, &arguments.input.cluster);
    let profile = template_sync::profile(&arguments.kubernetes)?;
    let (mut controller, input, taken) = template_sync::start(files, cluster, &profile, &arguments.sync)?;
    let mut planned = planned(&mut controller)?;
    planned.skipped = skipped(controller.standings()?)?;
    let view = &arguments.view;
    let stdout = match view.output {
        Output::Table => show(&planned, Pen::new(&view.look, &io::stdout())),
        output => {
            let body = json!({ "input": machine::input(&input, &taken), "plan": for_machines(&planned) });
            machine::text(&machine::document("Plan", machine::kubernetes(&arguments.kubernetes), body), output)
        }
    };
    let stderr = diagnose(&taken.notes, &input.sources, Pen::new(&view.look, &io::stderr()), view.look.verbose);
    let verdict = if taken.has_errors() || !planned.told.is_empty() { Verdict::No } else { Verdict::Yes };
    Ok(Shown { stdout: stdout.into(), stderr, verdict })
}

/// System namespaces that a selector matches and that get no copy, by source; sources that skip none are left out.
fn skipped(standings: Value) -> Result<BTreeMap<String, Vec<String>>> {
    #[derive(Deserialize)]
    struct Source {
        name: String,
        skipped: Vec<String>,
    }
    let sources: Vec<Source> = serde_json::from_value(standings)?;
    let skipping = sources.into_iter().filter(|source| !source.skipped.is_empty());
    Ok(skipping.map(|source| (source.name, source.skipped)).collect())
}

/// Lets the controller decide as if everything that it writes were taken.
fn planned(controller: &mut Controller) -> Result<Planned> {
    let mut planned = Planned::default();
    for _ in 0..MOST_ROUNDS {
        let due = controller.due()?;
        if due.is_empty() {
            break;
        }
        for task in due {
            let plan = controller.reconcile(&task.object, ask::now())?;
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
        let mut rows = vec![["CHANGE", "NAMESPACE", "TEMPLATE", "BYTES"].map(str::to_owned).to_vec()];
        rows.extend(planned.changes.iter().map(|((namespace, name), (change, bytes))| {
            vec![change.text().to_owned(), clean(namespace).into_owned(), clean(name).into_owned(), bytes.to_string()]
        }));
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
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}
