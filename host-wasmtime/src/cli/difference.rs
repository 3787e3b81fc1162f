//! What changes between two clusters, and who has to go.

use anyhow::Result;
use apportion::Door;
use apportion_core::allocate::DeviceId;
use apportion_core::ask::{Difference, Eviction, Place};
use serde_json::{Value, json};

use super::arguments::Output;
use super::ask::Asked;
use super::pen::{Ink, Pen};
use super::shown::{Shown, Verdict};
use super::text::{self, clean, indented, width, wrap};

/// The answer, and what is to be said of a second input.
pub(crate) fn shown(
    asked: &mut Asked<'_, Box<dyn Door>>,
    second: Option<&Asked<'_, Box<dyn Door>>>,
    answer: &Value,
    output: Output,
) -> Result<Shown> {
    let found: Difference = serde_json::from_value(answer.clone())?;
    let is_worse = found.pods.iter().any(|pod| pod.after == Place::Pending) || !found.evictions.is_empty();
    let body = || json!({ "difference": answer });
    let mut shown = asked.show(output, "Difference", body, |pen| show(&found, pen), !is_worse);
    if let Some(second) = second {
        shown.stderr.push_str(&second.stderr());
        if second.taken.has_errors() {
            shown.verdict = Verdict::No;
        }
    }
    asked.with_remarks(shown)
}

fn show(found: &Difference, pen: Pen) -> String {
    let mut lines = Vec::new();
    let mut list = |title: &str, names: &[String]| {
        if !names.is_empty() {
            lines.push(pen.paint(Ink::Strong, title));
            lines.extend(names.iter().map(|name| format!("  {}", clean(name))));
        }
    };
    let devices = |all: &[DeviceId]| -> Vec<String> {
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
            lines.extend(indented(&format!("{was}{why}"), 4));
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
        let wrapped = wrap(&clean(&text), width().saturating_sub(4)).into_iter().enumerate();
        lines.extend(wrapped.map(|(index, line)| format!("{}{line}", if index == 0 { "  " } else { "    " })));
    }
    if lines.is_empty() {
        lines.push("Nothing changes.".to_owned());
    }
    text::lines(lines)
}

pub(crate) fn eviction_lines(evictions: &[Eviction], pen: Pen) -> Vec<String> {
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
