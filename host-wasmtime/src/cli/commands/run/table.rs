//! The timeline for people who read text.

use apportion_core::ask::Report;
use apportion_core::control_plane::{Happening, Moment, Settled};
use apportion_core::decision::clock;

use super::timeline::{Played, is_main, severity, words};
use crate::cli::pen::{Ink, Pen};
use crate::cli::text::{clean, columns, count, pad, width, wrap};

/// Moments that are listed; of further ones only the number is told.
const MAX_MOMENTS: usize = 120;

/// Moments in columns: when, to which object, what. `with_events` adds what controllers told users, `is_verbose` all else.
pub(crate) fn show(played: &Played, pen: Pen, with_events: bool, is_verbose: bool, with_stages: bool) -> String {
    let is_shown = |moment: &&Moment| {
        is_verbose || is_main(moment.happened) || (with_events && moment.happened == Happening::Event)
    };
    let shown: Vec<&Moment> = played.moments.iter().filter(is_shown).collect();
    let most = if is_verbose { shown.len() } else { MAX_MOMENTS };
    let mut lines = vec![pen.paint(Ink::Strong, "TIMELINE")];
    let times = shown.iter().take(most).map(|moment| columns(&clock(moment.at_millis))).max().unwrap_or_default();
    let name = |moment: &Moment| clean(&moment.object.to_string()).into_owned();
    let names = shown.iter().take(most).map(|moment| columns(&name(moment))).max().unwrap_or_default().min(48);
    let mut last = None;
    for moment in shown.iter().take(most) {
        let time = if last == Some(moment.at_millis) { String::new() } else { clock(moment.at_millis) };
        last = Some(moment.at_millis);
        let ink = match (moment.happened, severity(moment.happened)) {
            (Happening::Requested, _) => Ink::Strong,
            (_, Some(_)) => Ink::Bad,
            (Happening::Allocated, _) => Ink::Device,
            (Happening::Placed, _) => Ink::Good,
            _ => Ink::Faint,
        };
        let lead = format!("{}  {}  ", pad(&time, times), pad(&name(moment), names));
        let words = words(moment);
        let width = width().saturating_sub(columns(&lead)).max(30);
        for (index, line) in wrap(&clean(&words), width).into_iter().enumerate() {
            let lead = if index == 0 { lead.clone() } else { " ".repeat(columns(&lead)) };
            lines.push(format!("{lead}{}", pen.paint(ink, &line)));
        }
    }
    let hidden = shown.len().saturating_sub(most);
    if hidden > 0 {
        lines.push(pen.paint(Ink::Faint, &format!("and {}; `-v` lists them", count(hidden, "more moment"))));
    }
    if shown.is_empty() {
        lines.push("Nothing happens.".to_owned());
    }
    if with_stages && !played.stages.is_empty() {
        lines.push(String::new());
        lines.push(pen.paint(Ink::Strong, "STEPS"));
        for stage in &played.stages {
            lines.push(format!("{}  {}: {}", clock(stage.at_millis), clean(&stage.says), standing(&stage.report)));
        }
    }
    if played.settled == Settled::Restless {
        lines.push(String::new());
        lines.push(pen.paint(Ink::Bad, "Components write without end, so time does not pass any more."));
    }
    lines.push(String::new());
    lines.push(pen.paint(Ink::Strong, &format!("AFTER {}", clock(played.end_millis))));
    lines.join("\n")
}

/// A cluster in one line.
fn standing(report: &Report) -> String {
    let placed = report.pods.iter().filter(|pod| pod.node.is_some()).count();
    let allocated = report.claims.iter().filter(|claim| claim.allocated).count();
    format!(
        "{placed} of {} placed, {allocated} of {} with devices",
        count(report.pods.len(), "Pod"),
        count(report.claims.len(), "claim")
    )
}
