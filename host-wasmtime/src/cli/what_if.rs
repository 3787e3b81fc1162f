//! `apportion what-if`, `diff` and `taint`: what changes, and who has to go.

use std::io;

use anyhow::{Result, bail};
use apportion_core::ask::Inquiry;
use apportion_core::ask::{Difference, Eviction, Place, Supposition, TaintSpec};
use apportion_core::finding::ObjectRef;
use serde_json::{Value, json};

use super::args::{DiffArguments, EngineArguments, Output, TaintArguments, ViewArguments, WhatIfArguments};
use super::diagnose::diagnose;
use super::explain::refused;
use super::input::{Input, Taken};
use super::pen::{Ink, Pen};
use super::text::{WIDTH, clean, wrap};
use super::{Shown, Verdict, ask, input, machine};
use crate::api_server::READ;

pub(crate) fn what_if(arguments: &WhatIfArguments) -> Result<Shown> {
    let mut door = ask::cluster(&arguments.engine)?;
    let input = input::gather(&arguments.input.files, &arguments.input.cluster, &READ)?;
    let taken = input.apply(door.as_mut())?;
    let with = if arguments.with.is_empty() { None } else { Some(input::load(&arguments.with)?) };
    // A cluster of its own tells the findings apart by document.
    let mut other = ask::cluster(&arguments.engine)?;
    let with_taken = with.as_ref().map(|with| with.apply(other.as_mut())).transpose()?.unwrap_or_default();
    let supposition = Supposition {
        without: arguments.without.iter().map(|text| object(text)).collect::<Result<_>>()?,
        with: with.iter().flat_map(Input::objects).collect(),
        taints: taints(&arguments.taint),
        cordon: arguments.cordon.clone(),
        now: ask::now().to_string(),
    };
    let asked = ask::inquire(door.as_mut(), &Inquiry::WhatIf(supposition), (&input, &taken), &arguments.view.look)?;
    let answer = match asked {
        Ok(answer) => answer,
        Err(shown) => return Ok(shown),
    };
    let shown = difference(&answer, (&input, &taken), &arguments.engine, &arguments.view)?;
    ask::with_remarks(beside(shown, with.as_ref(), &with_taken, &arguments.view), door.as_mut())
}

/// The same with what is to be said of a second input.
fn beside(mut shown: Shown, input: Option<&Input>, taken: &Taken, view: &ViewArguments) -> Shown {
    shown.stderr.extend(input.map(|input| said(input, taken, view)));
    if taken.has_errors() {
        shown.verdict = Verdict::No;
    }
    shown
}

pub(crate) fn diff(arguments: &DiffArguments) -> Result<Shown> {
    let mut door = ask::cluster(&arguments.engine)?;
    let input = input::load(std::slice::from_ref(&arguments.before))?;
    let taken = input.apply(door.as_mut())?;
    let after = input::gather(arguments.after.as_slice(), &arguments.cluster, &READ)?;
    let after_taken = after.apply(ask::cluster(&arguments.engine)?.as_mut())?;
    let objects = after.objects().collect();
    let answer = door.inquire(&serde_json::to_value(Inquiry::Compare { objects })?).map_err(refused)?;
    let shown = difference(&answer, (&input, &taken), &arguments.engine, &arguments.view)?;
    ask::with_remarks(beside(shown, Some(&after), &after_taken, &arguments.view), door.as_mut())
}

const NOBODY: &str = "\
No Pod would be evicted.
Only Pods count that have a node and a claim reserved for them. Where no claim has devices yet, Pods get their places first, as
`apportion run` shows.
";

pub(crate) fn taint(arguments: &TaintArguments) -> Result<Shown> {
    let mut door = ask::cluster(&arguments.engine)?;
    let input = input::gather(&arguments.input.files, &arguments.input.cluster, &READ)?;
    let taken = input.apply(door.as_mut())?;
    let inquiry = Inquiry::Evictions {
        taints: taints(&arguments.taints),
        now: arguments.now.clone().unwrap_or_else(|| ask::now().to_string()),
    };
    let answer = match ask::inquire(door.as_mut(), &inquiry, (&input, &taken), &arguments.view.look)? {
        Ok(answer) => answer,
        Err(shown) => return Ok(shown),
    };
    let evictions: Vec<Eviction> = serde_json::from_value(answer.clone())?;
    let pen = Pen::new(&arguments.view.look, &io::stdout());
    let stdout = match arguments.view.output {
        Output::Table if evictions.is_empty() => NOBODY.to_owned(),
        Output::Table => text(&eviction_lines(&evictions, pen)),
        output => {
            let body = json!({ "input": machine::input(&input, &taken), "evictions": answer });
            machine::write("Evictions", &arguments.engine, body, output)
        }
    };
    let verdict = taken.verdict(evictions.is_empty());
    let stderr = said(&input, &taken, &arguments.view);
    ask::with_remarks(Shown { stdout: stdout.into(), stderr, verdict }, door.as_mut())
}

fn said(input: &Input, taken: &Taken, view: &ViewArguments) -> String {
    diagnose(&taken.notes, &input.sources, Pen::new(&view.look, &io::stderr()), view.look.verbose)
}

fn taints(given: &[(String, String)]) -> Vec<TaintSpec> {
    let spec = |(devices, taint): &(String, String)| TaintSpec { devices: devices.clone(), taint: taint.clone() };
    given.iter().map(spec).collect()
}

/// Kinds by the names that kubectl knows them by.
const KINDS: [(&str, &str); 12] = [
    ("pod", "Pod"),
    ("node", "Node"),
    ("resourceclaim", "ResourceClaim"),
    ("claim", "ResourceClaim"),
    ("resourceclaimtemplate", "ResourceClaimTemplate"),
    ("resourceslice", "ResourceSlice"),
    ("slice", "ResourceSlice"),
    ("deviceclass", "DeviceClass"),
    ("devicetaintrule", "DeviceTaintRule"),
    ("podgroup", "PodGroup"),
    ("job", "Job"),
    ("deployment", "Deployment"),
];

fn object(text: &str) -> Result<ObjectRef> {
    let parts: Vec<&str> = text.split('/').collect();
    let (kind, namespace, name) = match parts.as_slice() {
        [kind, name] => (*kind, "", *name),
        [kind, namespace, name] => (*kind, *namespace, *name),
        _ => bail!("`{text}` is not KIND/NAME or KIND/NAMESPACE/NAME"),
    };
    let lower = kind.to_ascii_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    let known = KINDS.iter().find(|(short, _)| *short == lower || *short == singular);
    let kind = known.map_or(kind, |(_, kind)| kind);
    Ok(ObjectRef { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() })
}

fn difference(
    answer: &Value,
    (input, taken): (&Input, &Taken),
    engine: &EngineArguments,
    view: &ViewArguments,
) -> Result<Shown> {
    let found: Difference = serde_json::from_value(answer.clone())?;
    let is_worse = found.pods.iter().any(|pod| pod.after == Place::Pending) || !found.evictions.is_empty();
    let stdout = match view.output {
        Output::Table => show(&found, Pen::new(&view.look, &io::stdout())),
        output => {
            let body = json!({ "input": machine::input(input, taken), "difference": answer });
            machine::write("Difference", engine, body, output)
        }
    };
    let verdict = taken.verdict(!is_worse);
    Ok(Shown { stdout: stdout.into(), stderr: said(input, taken, view), verdict })
}

fn show(found: &Difference, pen: Pen) -> String {
    let mut lines = Vec::new();
    let mut list = |title: &str, names: &[String]| {
        if !names.is_empty() {
            lines.push(pen.paint(Ink::Strong, title));
            lines.extend(names.iter().map(|name| format!("  {}", clean(name))));
        }
    };
    let devices = |all: &[apportion_core::allocate::DeviceId]| -> Vec<String> {
        all.iter().map(|id| format!("{}/{}/{}", id.driver, id.pool, id.device)).collect()
    };
    list("Nodes that come", &found.nodes_added);
    list("Nodes that go", &found.nodes_removed);
    list("Devices that come", &devices(&found.devices_added));
    list("Devices that go", &devices(&found.devices_removed));
    if !found.evictions.is_empty() {
        lines.extend(eviction_lines(&found.evictions, pen));
    }
    if !found.pods.is_empty() {
        lines.push(pen.paint(Ink::Strong, "Pods"));
    }
    let place = |place: &Place| match place {
        Place::Absent => "not there".to_owned(),
        Place::Pending => "Pending".to_owned(),
        Place::Node(node) => node.clone(),
    };
    for pod in &found.pods {
        let text = format!("{}: {} {} {}", pod.pod, place(&pod.before), pen.arrow(), place(&pod.after));
        let ink = if pod.after == Place::Pending { Ink::Bad } else { Ink::Good };
        lines.push(format!("  {}", pen.paint(ink, &clean(&text))));
        if let Some(why) = &pod.why {
            let was = if pod.after == Place::Pending { "" } else { "before: " };
            let wrapped = wrap(&clean(&format!("{was}{why}")), WIDTH.saturating_sub(4));
            lines.extend(wrapped.into_iter().map(|line| format!("    {line}")));
        }
    }
    if !found.claims.is_empty() {
        lines.push(pen.paint(Ink::Strong, "Claims"));
    }
    let held = |devices: &Option<Vec<String>>| match devices.as_deref() {
        None => "not there".to_owned(),
        Some([]) => "no devices".to_owned(),
        Some(devices) => devices.join(", "),
    };
    for claim in &found.claims {
        let text = format!("{}: {} {} {}", claim.claim, held(&claim.before), pen.arrow(), held(&claim.after));
        let wrapped = wrap(&clean(&text), WIDTH.saturating_sub(4)).into_iter().enumerate();
        lines.extend(wrapped.map(|(index, line)| format!("{}{line}", if index == 0 { "  " } else { "    " })));
    }
    if lines.is_empty() {
        lines.push("Nothing changes.".to_owned());
    }
    text(&lines)
}

fn eviction_lines(evictions: &[Eviction], pen: Pen) -> Vec<String> {
    let mut lines = vec![pen.paint(Ink::Strong, "Evicted")];
    for eviction in evictions {
        let when = match eviction.in_seconds {
            0 => "at once".to_owned(),
            seconds => format!("in {seconds} s"),
        };
        let claims = eviction.claims.join(", ");
        lines.push(clean(&format!("  {} on {}: {when}, for claim {claims}", eviction.pod, eviction.node)).into_owned());
    }
    lines
}

fn text(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}
