//! `apportion crct status`: how the copies of cluster-wide claim templates stand, namespace by namespace.

use std::io;

use anyhow::{Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};

use super::args::{CrctStatusArguments, Output};
use super::diagnose::diagnose;
use super::pen::{Ink, Pen};
use super::plan::SKIPPED;
use super::text::{WIDTH, clean, count, table, wrap};
use super::{Shown, Verdict, machine, template_sync};

/// A source, as the component describes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Source {
    namespace: String,
    name: String,
    target: String,
    is_ready: bool,
    is_paused: bool,
    is_observed: bool,
    counts: Counts,
    missing_classes: Vec<String>,
    skipped: Vec<String>,
    places: Vec<Place>,
}

#[derive(Deserialize)]
struct Counts {
    matched: u64,
    current: u64,
    updating: u64,
    conflicting: u64,
    refused: u64,
}

#[derive(Deserialize)]
struct Place {
    namespace: String,
    state: String,
    reason: String,
    message: String,
}

pub(crate) fn status(arguments: &CrctStatusArguments) -> Result<Shown> {
    let (files, cluster) = (&arguments.input.files, &arguments.input.cluster);
    let profile = template_sync::profile(&arguments.kubernetes)?;
    let (mut controller, input, taken) = template_sync::start(files, cluster, &profile, &arguments.sync)?;
    let found = chosen(controller.standings()?, &arguments.names)?;
    let sources: Vec<Source> = serde_json::from_value(found.clone())?;
    let view = &arguments.view;
    let stdout = match view.output {
        Output::Table => show(&sources, arguments, Pen::new(&view.look, &io::stdout())),
        output => {
            let body = json!({ "input": machine::input(&input, &taken), "sources": found });
            machine::text(
                &machine::document("TemplateStatus", machine::kubernetes(&arguments.kubernetes), body),
                output,
            )
        }
    };
    let stderr = diagnose(&taken.notes, &input.sources, Pen::new(&view.look, &io::stderr()), view.look.verbose);
    let is_well = |source: &Source| source.is_ready && source.missing_classes.is_empty();
    let verdict = if taken.has_errors() || !sources.iter().all(is_well) { Verdict::No } else { Verdict::Yes };
    Ok(Shown { stdout: stdout.into(), stderr, verdict })
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
    lines.extend(remarks.iter().flat_map(|text| wrap(&clean(text), WIDTH)));
    let ready = sources.iter().filter(|source| source.is_ready).count();
    lines.push(String::new());
    let ink = if ready == sources.len() { Ink::Good } else { Ink::Bad };
    lines.push(pen.paint(ink, &format!("{ready} of {} ready", count(sources.len(), "template"))));
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| clean(cell).into_owned()).collect()
}

/// A line for each source, as `kubectl get` has it, with all numbers.
fn overview(sources: &[Source]) -> Vec<String> {
    let head = ["NAME", "COPIES", "READY", "CURRENT", "MATCHED", "UPDATING", "CONFLICTING", "REFUSED"];
    let mut rows = vec![row(&head)];
    rows.extend(sources.iter().map(|source| {
        let Counts { matched, current, updating, conflicting, refused } = &source.counts;
        let ready = if source.is_ready { "True" } else { "False" };
        let numbers = [current, matched, updating, conflicting, refused].map(u64::to_string);
        let mut cells = row(&[&source.full_name(), &source.target, ready]);
        cells.extend(numbers);
        cells
    }));
    table(&rows, &[3, 4, 5, 6, 7])
}

/// A line for each namespace.
fn details(sources: &[Source], shows_all: bool) -> Vec<String> {
    let mut rows = vec![row(&["NAME", "NAMESPACE", "STATE", "REASON", "MESSAGE"])];
    for source in sources {
        let shown = source.places.iter().filter(|place| shows_all || place.state != "Current");
        rows.extend(shown.map(|place| {
            let Place { namespace, state, reason, message } = place;
            // The API server's words may have several lines.
            row(&[&source.full_name(), namespace, state, reason, &message.replace('\n', " ")])
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

impl Source {
    /// The name; that of a master with its namespace.
    fn full_name(&self) -> String {
        if self.namespace.is_empty() { self.name.clone() } else { format!("{}/{}", self.namespace, self.name) }
    }
}
