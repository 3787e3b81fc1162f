//! `apportion fit`.

use std::io;

use anyhow::Result;
use apportion_core::ask::Inquiry;
use apportion_core::ask::{Bounds, Fit, FitRequest, Per};
use apportion_core::finding::ObjectRef;
use serde_json::json;

use super::args::{FitArguments, Output, PerChoice};
use super::diagnose::diagnose;
use super::pen::{Ink, Pen};
use super::text::{WIDTH, clean, table, wrap};
use super::{Shown, ask, input, machine};
use crate::api_server::READ;

pub(crate) fn fit(arguments: &FitArguments) -> Result<Shown> {
    let view = &arguments.view;
    let mut door = ask::cluster(&arguments.engine)?;
    let input = input::gather(&arguments.input.files, &arguments.input.cluster, &READ)?;
    let taken = input.apply(door.as_mut())?;
    let (kind, name) = match (&arguments.claim_template, &arguments.claim) {
        (None, Some(claim)) => ("ResourceClaim", claim.as_str()),
        (template, _) => ("ResourceClaimTemplate", template.as_deref().unwrap_or_default()),
    };
    let (namespace, name) = name.split_once('/').unwrap_or(("", name));
    let subject = ObjectRef { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() };
    let per = match arguments.per {
        PerChoice::Node => Per::Node,
        PerChoice::Pool => Per::Pool,
        PerChoice::Class => Per::Class,
    };
    let inquiry = Inquiry::Fit(FitRequest { subject, per });
    let answer = match ask::inquire(door.as_mut(), &inquiry, (&input, &taken), &view.look)? {
        Ok(answer) => answer,
        Err(shown) => return Ok(shown),
    };
    let found: Fit = serde_json::from_value(answer.clone())?;
    let stdout = match view.output {
        Output::Table => show(&found, per, name, Pen::new(&view.look, &io::stdout())),
        output => {
            let body = json!({ "input": machine::input(&input, &taken), "fit": answer });
            machine::write("Fit", &arguments.engine, body, output)
        }
    };
    let stderr = diagnose(&taken.notes, &input.sources, Pen::new(&view.look, &io::stderr()), view.look.verbose);
    let verdict = taken.verdict(found.total.at_most > 0);
    ask::with_remarks(Shown { stdout: stdout.into(), stderr, verdict }, door.as_mut())
}

/// How many counters and capacities are told.
const MOST_REMAINDERS: usize = 4;

/// `3`, `3 to 5`, `at least 3`.
fn in_words(bounds: Bounds) -> String {
    match (bounds.at_least, bounds.at_most) {
        (least, most) if least == most => least.to_string(),
        (least, u64::MAX) => format!("at least {least}"),
        (least, most) => format!("{least} to {most}"),
    }
}

fn show(found: &Fit, per: Per, name: &str, pen: Pen) -> String {
    let title = format!("{} more of {name} fit", in_words(found.total));
    let mut lines = vec![pen.paint(Ink::Strong, &clean(&title)), String::new()];
    let head = match per {
        Per::Node => "NODE",
        Per::Pool => "POOL",
        Per::Class => "CLASS",
    };
    let mut rows = vec![vec![head.to_owned(), "FITS".to_owned()]];
    rows.extend(found.rows.iter().map(|row| vec![clean(&row.name).into_owned(), in_words(row.fits)]));
    lines.extend(table(&rows, &[1]));
    lines.push(String::new());
    let mut say = |text: String| lines.extend(wrap(&clean(&text), WIDTH));
    say(format!("What runs out: {}.", found.runs_out));
    if found.stranded > 0 {
        say(format!("Left over then: {} that match but do not make up another claim.", devices(found.stranded)));
    }
    let mut remainders = found.remainders.iter().filter(|rest| rest.left != "0").map(|rest| {
        format!("{} of {} {} in {}/{}/{}", rest.left, rest.total, rest.name, rest.driver, rest.pool, rest.of)
    });
    let shown: Vec<String> = remainders.by_ref().take(MOST_REMAINDERS).collect();
    if !shown.is_empty() {
        let more = match remainders.count() {
            0 => String::new(),
            count => format!(", and {count} more (see `--output json`)"),
        };
        say(format!("Counters and capacities then have left: {}{more}.", shown.join(", ")));
    }
    let largest: Vec<String> = found.largest.iter().map(|(class, most)| format!("{most} of {class}")).collect();
    say(format!("Largest claim that fits on one node now: {}.", largest.join(", ")));
    if !found.namespaces.is_empty() {
        let used: Vec<String> =
            found.namespaces.iter().map(|(namespace, count)| format!("{namespace} {count}")).collect();
        say(format!("Devices in use by namespace: {}.", used.join(", ")));
    }
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}

fn devices(count: u64) -> String {
    if count == 1 { "1 device".to_owned() } else { format!("{count} devices") }
}
