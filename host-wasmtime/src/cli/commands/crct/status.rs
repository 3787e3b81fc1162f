//! `apportion crct status`: how the copies of cluster-wide claim templates stand, namespace by namespace.

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::arguments::{KubernetesArguments, RepeatedArguments, ViewArguments};
use crate::cli::pen::{Ink, Pen};
use crate::cli::shown::Shown;
use crate::cli::template_sync::{self, Counts, Place, SKIPPED, Source, TemplateSyncArguments};
use crate::cli::text::{self, clean, count, row, table, width, wrap};

const EXAMPLE: &str = "\
Example:
  apportion crct status --from-cluster
  apportion crct status --from-cluster single-gpu";

/// Say how the copies of each template stand: in numbers, and where one is missing, why
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct CrctStatusArguments {
    /// Templates, with all their namespaces; without a name all of them, with the namespaces that lack the current copy
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    input: RepeatedArguments,
    /// Show namespaces that have the current copy, too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    sync: TemplateSyncArguments,
    #[command(flatten)]
    kubernetes: KubernetesArguments,
    #[command(flatten)]
    view: ViewArguments,
}

pub(super) fn status(arguments: &CrctStatusArguments) -> Result<Shown> {
    let CrctStatusArguments { input, sync, kubernetes, view, .. } = arguments;
    let mut asked = template_sync::start(&input.files, &input.cluster, Some(kubernetes), sync, &view.look)?;
    let found = chosen(asked.door.standings()?, &arguments.names)?;
    let sources: Vec<Source> = serde_json::from_value(found.clone())?;
    let is_well = sources.iter().all(|source| source.is_ready && source.missing_classes.is_empty());
    let table = |pen| show(&sources, arguments, pen);
    Ok(asked.show(view.output, "TemplateStatus", || json!({ "sources": found }), table, is_well))
}

/// The sources of these names; all where none is given.
fn chosen(mut found: Value, names: &[String]) -> Result<Value> {
    let is_of = |source: &Value, name: &String| source.get("name").is_some_and(|own| own == name);
    let all = found.as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(name) = names.iter().find(|name| !all.iter().any(|source| is_of(source, name))) {
        bail!("there is no cluster-wide claim template `{name}`");
    }
    if let Some(all) = found.as_array_mut().filter(|_| !names.is_empty()) {
        all.retain(|source| names.iter().any(|name| is_of(source, name)));
    }
    Ok(found)
}

fn show(sources: &[Source], arguments: &CrctStatusArguments, pen: Pen) -> String {
    if sources.is_empty() {
        return "There are no cluster-wide claim templates.\n".to_owned();
    }
    let mut lines = overview(sources);
    let shows_all = arguments.all || !arguments.names.is_empty();
    let places = |source: &Source| source.places.iter().filter(|place| shows_all || place.state != "Current").count();
    if sources.iter().any(|source| places(source) > 0) {
        lines.push(String::new());
        lines.extend(details(sources, shows_all));
    }
    let remarks: Vec<String> = sources.iter().flat_map(remarks).collect();
    if !remarks.is_empty() {
        lines.push(String::new());
    }
    lines.extend(remarks.iter().flat_map(|text| wrap(&clean(text), width())));
    let ready = sources.iter().filter(|source| source.is_ready).count();
    lines.push(String::new());
    let ink = if ready == sources.len() { Ink::Good } else { Ink::Bad };
    lines.push(pen.paint(ink, &format!("{ready} of {} ready", count(sources.len(), "template"))));
    text::lines(lines)
}

/// A line for each source, as `kubectl get` has it, with all numbers.
fn overview(sources: &[Source]) -> Vec<String> {
    let mut rows = vec![row(["NAME", "COPIES", "READY", "CURRENT", "MATCHED", "UPDATING", "CONFLICTING", "REFUSED"])];
    rows.extend(sources.iter().map(|source| {
        let Counts { matched, current, updating, conflicting, refused } = &source.counts;
        let ready = if source.is_ready { "True" } else { "False" };
        let numbers = [current, matched, updating, conflicting, refused].map(u64::to_string);
        let mut cells = row([&source.full_name(), &source.target, ready]);
        cells.extend(numbers);
        cells
    }));
    table(&rows, &[3, 4, 5, 6, 7])
}

/// A line for each namespace.
fn details(sources: &[Source], shows_all: bool) -> Vec<String> {
    let mut rows = vec![row(["NAME", "NAMESPACE", "STATE", "REASON", "MESSAGE"])];
    for source in sources {
        let shown = source.places.iter().filter(|place| shows_all || place.state != "Current");
        rows.extend(shown.map(|place| {
            let Place { namespace, state, reason, message } = place;
            // The API server's words may have several lines.
            row([&source.full_name(), namespace, state, reason, &message.replace('\n', " ")])
        }));
    }
    table(&rows, &[])
}

/// What is no matter of one namespace.
fn remarks(source: &Source) -> Vec<String> {
    let mut remarks = Vec::new();
    let mut say = |text: &str| remarks.push(format!("{}: {text}", source.full_name()));
    if source.counts.matched == 0 {
        say("no namespace is selected");
    }
    for class in &source.missing_classes {
        say(&format!("there is no DeviceClass `{class}`, so that claims made of the copies wait"));
    }
    if !source.skipped.is_empty() {
        say(&format!("no copy in {}: {SKIPPED}", source.skipped.join(", ")));
    }
    if source.is_paused {
        say("it is paused: nothing is written");
    }
    if !source.is_observed {
        say("the controller has not written a status for its latest change: is it running?");
    }
    remarks
}
