//! Why Pods stay Pending.

use apportion_core::ask::PodReport;
use apportion_core::finding::{Code, Finding, ObjectRef};

use crate::cli::files::Source;
use crate::cli::input::Places;
use crate::cli::listed::{bullet, help};
use crate::cli::pen::{Ink, Pen};
use crate::cli::text::{alike, clean, count, indented};

/// Pods of one group that are named.
const MAX_NAMES: usize = 5;

/// Pods with the same reasons together.
pub(crate) fn show(pods: &[&PodReport], places: &Places<'_>, sources: &[Source], pen: Pen) -> Vec<String> {
    let mut lines = Vec::new();
    for members in alike(pods.iter().copied(), |pod| (likeness(pod), pod.owner.as_ref())) {
        let Some(first) = members.first() else { continue };
        lines.extend(title(&members, pen));
        if first.reasons.is_empty() {
            lines.push("  no reason is known".to_owned());
        }
        for reason in &first.reasons {
            lines.extend(reason_lines(reason, places, sources, pen));
        }
    }
    lines
}

/// What the reasons say, without the names that differ between Pods of one owner.
fn likeness(pod: &PodReport) -> Vec<String> {
    let generated = pod.claims.iter().filter_map(|entry| entry.claim.as_ref()).filter(|_| pod.owner.is_some());
    let claims: Vec<&String> = generated.collect();
    let anonymous = |text: &str| {
        // Claims first: the names of generated ones begin with the Pod's.
        let text = claims.iter().fold(text.to_owned(), |text, claim| text.replace(claim.as_str(), "<claim>"));
        text.replace(&pod.name, "<pod>")
    };
    let reasons = pod.reasons.iter().map(|reason| {
        let about = reason.object.as_ref().map(ObjectRef::to_string).unwrap_or_default();
        format!("{} {} {}", reason.code, anonymous(&about), anonymous(&reason.message))
    });
    reasons.collect()
}

/// The Pods of a group, which is one owner's where it has several with generated names.
fn title(members: &[&PodReport], pen: Pen) -> Vec<String> {
    let name = |pod: &PodReport| clean(&format!("{}/{}", pod.namespace, pod.name)).into_owned();
    let owner =
        members.first().and_then(|first| first.owner.as_ref()).map(|owner| clean(&owner.to_string()).into_owned());
    let shown: Vec<&PodReport> = members.iter().copied().take(MAX_NAMES).collect();
    let more = if members.len() > MAX_NAMES { ", ..." } else { "" };
    match (owner, members) {
        (None, _) => {
            let names: Vec<String> = shown.into_iter().map(name).collect();
            vec![pen.paint(Ink::Bad, &format!("{}{more}", names.join(", ")))]
        }
        (Some(owner), [only]) => {
            vec![format!("{}{}", pen.paint(Ink::Bad, &name(only)), pen.paint(Ink::Faint, &format!("  of {owner}")))]
        }
        (Some(owner), _) => {
            // Pods live in the namespace of what made them.
            let names: Vec<&str> = shown.into_iter().map(|pod| pod.name.as_str()).collect();
            let mut lines = vec![format!("{}, {}", pen.paint(Ink::Bad, &owner), count(members.len(), "Pod"))];
            let names = indented(&format!("{}{more}", names.join(", ")), 4);
            lines.extend(names.iter().map(|line| pen.paint(Ink::Faint, line)));
            lines
        }
    }
}

fn reason_lines(reason: &Finding, places: &Places<'_>, sources: &[Source], pen: Pen) -> Vec<String> {
    if reason.code == Code::RunSchedulerMessage {
        // Source that it quotes stands above already.
        let first = reason.message.lines().next().unwrap_or_default();
        let text = format!("kube-scheduler says: {first}");
        return indented(&text, 4).iter().map(|line| pen.paint(Ink::Faint, line)).collect();
    }
    let mut lines = bullet(&reason.message, reason.code.text(), pen);
    let place = places.find(reason).and_then(|place| {
        let source = sources.get(place.source)?;
        let (line, column) = source.line_column(place.span.start);
        Some(format!("{}:{line}:{column}", source.name))
    });
    let object = reason.object.as_ref().filter(|object| !object.name.is_empty());
    let at = match (place, object) {
        (Some(place), Some(object)) => Some(format!("{place}, {object}")),
        (Some(place), None) => Some(place),
        (None, Some(object)) if !reason.path.is_empty() => Some(format!("{object}, {}", reason.path)),
        (None, _) => None,
    };
    if let Some(at) = at {
        lines.push(pen.paint(Ink::Faint, &clean(&format!("    at {at}"))));
    }
    lines.extend(help(reason.hint.as_deref()));
    lines
}
