//! What changes between two clusters, and who has to go.

use anyhow::Result;
use apportion::Door;
use apportion_core::allocate::DeviceId;
use apportion_core::ask::{Difference, Eviction, Place, Placing, Totals};
use serde_json::{Value, json};

use super::arguments::Output;
use super::ask::Asked;
use super::pen::{Ink, Pen};
use super::shown::Shown;
use super::text::{self, alike, clean, count, indented, item, width, wrap};

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
        second.add_to(&mut shown);
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
    list("Nodes that come", &found.nodes_added);
    list("Nodes that go", &found.nodes_removed);
    list("Devices that come", &by_pool(&found.devices_added));
    list("Devices that go", &by_pool(&found.devices_removed));
    if !found.devices_lost.is_empty() {
        lines.push(pen.paint(Ink::Strong, "Claims that have them"));
    }
    for lost in alike(&found.devices_lost, |lost| lost.claim.clone()) {
        let ids: Vec<DeviceId> = lost.iter().map(|lost| lost.device.clone()).collect();
        let Some(first) = lost.first() else { continue };
        let users = if first.users.is_empty() { "no Pod".to_owned() } else { first.users.join(", ") };
        lines.extend(item("", &clean(&format!("{}: {}; used by {users}", first.claim, by_pool(&ids).join(", "))), 2));
    }
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
            let is_over = pod.before == Place::Pending && pod.after != Place::Pending;
            let was = if is_over { "before: " } else { "" };
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
    if !found.unknown.is_empty() {
        let names = found.unknown.iter().map(|object| match object.name.is_empty() {
            true => object.kind.clone(),
            false => object.to_string(),
        });
        let names: Vec<String> = names.collect();
        lines.push(pen.paint(Ink::Strong, "Not compared, as one side lacks or refuses them"));
        lines.extend(indented(&clean(&names.join(", ")), 2));
    }
    if lines.is_empty() {
        lines.push("Nothing changes.".to_owned());
    } else if found.before != found.after && found.unknown.is_empty() {
        let change = format!("{} {} {}", in_total(&found.before), pen.arrow(), in_total(&found.after));
        lines.push(pen.paint(Ink::Strong, "Together"));
        lines.extend(indented(&change, 2));
    }
    let what = match found.placing {
        Some(Placing::Keep) => "Pods that run keep their places, unless the change drives them out.",
        Some(Placing::Anew) => "All Pods are placed anew, before and after the change.",
        Some(Placing::AsGiven) | None => return text::lines(lines),
    };
    text::lines(std::iter::once(what.to_owned()).chain(lines))
}

/// `8 devices, 5 used; 4 Pods, 1 Pending`.
fn in_total(totals: &Totals) -> String {
    let counted = |number: u64, noun: &str| count(usize::try_from(number).unwrap_or(usize::MAX), noun);
    let Totals { devices, used, pods, pending } = totals;
    format!("{}, {used} used; {}, {pending} Pending", counted(*devices, "device"), counted(*pods, "Pod"))
}

/// Devices of a pool that are shown by name.
const MOST_DEVICES: usize = 4;

/// Devices, those of one pool together.
fn by_pool(devices: &[DeviceId]) -> Vec<String> {
    let pools = alike(devices, |id| (id.driver.clone(), id.pool.clone()));
    let line = |ids: &Vec<&DeviceId>| {
        let names: Vec<&str> = ids.iter().map(|id| id.device.as_str()).collect();
        let pool = ids.first().map(|id| format!("{}/{}", id.driver, id.pool)).unwrap_or_default();
        match names.as_slice() {
            [only] => format!("{pool}/{only}"),
            names if names.len() <= MOST_DEVICES => format!("{pool}: {}", names.join(", ")),
            [first, second, .., last] => {
                format!("{pool}: {first}, {second}, .. {last} ({})", count(names.len(), "device"))
            }
            _ => pool,
        }
    };
    pools.iter().map(line).collect()
}

pub(crate) fn eviction_lines(evictions: &[Eviction], pen: Pen) -> Vec<String> {
    let (unknown, known): (Vec<&Eviction>, Vec<&Eviction>) = evictions.iter().partition(|eviction| eviction.unknown);
    let mut lines = Vec::new();
    if !known.is_empty() {
        lines.push(pen.paint(Ink::Strong, "Evicted"));
    }
    for eviction in known {
        let when = match eviction.in_seconds {
            0 => "at once".to_owned(),
            seconds => format!("in {seconds} s"),
        };
        let claims = eviction.claims.join(", ");
        lines.push(clean(&format!("  {} on {}: {when}, for claim {claims}", eviction.pod, eviction.node)).into_owned());
    }
    if !unknown.is_empty() {
        lines.push(pen.paint(Ink::Strong, "Not known whether evicted, as their claims are not given or were refused"));
    }
    for Eviction { pod, node, claims, .. } in unknown {
        lines.extend(indented(&format!("{pod} on {node}, claim {}", claims.join(", ")), 2));
    }
    lines
}
