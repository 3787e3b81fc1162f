//! Why Pods stay Pending, and what is worth knowing about a run.

use std::collections::BTreeMap;

use apportion_core::ask::PodReport;
use apportion_core::finding::{Code, Finding, ObjectRef, Severity};

use super::files::Source;
use super::note::{Note, Places};
use super::pen::{Ink, Pen};
use super::text::{WIDTH, clean, count, wrap};

/// Pods of one group that are named.
const MAX_NAMES: usize = 5;

/// Pods with the same reasons together.
pub(crate) fn show(pods: &[&PodReport], places: &Places<'_>, sources: &[Source], pen: Pen) -> Vec<String> {
    let mut groups: Vec<Vec<&PodReport>> = Vec::new();
    let mut known: BTreeMap<(Vec<String>, Option<&ObjectRef>), usize> = BTreeMap::new();
    for pod in pods {
        let place = *known.entry((likeness(pod), pod.owner.as_ref())).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(members) => members.push(pod),
            None => groups.push(vec![pod]),
        }
    }
    let mut lines = Vec::new();
    for members in groups {
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
    if let Some(hint) = &reason.hint {
        lines.extend(indented(&format!("help: {hint}"), 4));
    }
    lines
}

/// Everything else there is to say about a run, by code; of many alike only the first.
pub(crate) fn notes(notes: &[Note], pen: Pen, is_verbose: bool) -> Vec<String> {
    let mut codes: Vec<&str> = Vec::new();
    for note in notes {
        if !codes.contains(&note.code) {
            codes.push(note.code);
        }
    }
    let mut lines = Vec::new();
    for code in codes {
        let alike: Vec<&Note> = notes.iter().filter(|note| note.code == code).collect();
        let shown = if is_verbose || alike.len() <= 3 { alike.len() } else { 1 };
        for note in alike.iter().take(shown) {
            let word = match note.severity {
                Severity::Error => format!("{}: ", pen.paint(Ink::Bad, "error")),
                Severity::Warning => format!("{}: ", pen.paint(Ink::Doubt, "warning")),
                Severity::Info => String::new(),
            };
            let object = note.object.as_ref().filter(|object| !object.name.is_empty());
            let about = object.map(|object| format!("{object}: ")).unwrap_or_default();
            let mut text = bullet(&format!("{about}{}", note.message), note.code, pen);
            if let Some(first) = text.first_mut() {
                *first = first.replacen("- ", &format!("- {word}"), 1);
            }
            lines.extend(text);
            if let Some(hint) = &note.hint {
                lines.extend(indented(&format!("help: {hint}"), 4));
            }
        }
        let hidden = alike.len().saturating_sub(shown);
        if hidden > 0 {
            lines.push(pen.paint(Ink::Faint, &format!("    {hidden} more like this; `-v` shows them")));
        }
    }
    lines
}

/// An entry of a list with the code behind its text.
fn bullet(message: &str, code: &str, pen: Pen) -> Vec<String> {
    // Behind the first line, since source that a message quotes ends with the place it points to.
    let (first, rest) = message.split_once('\n').map_or((message, None), |(first, rest)| (first, Some(rest)));
    let rest = rest.map(|rest| format!("\n{rest}")).unwrap_or_default();
    let text = format!("{} [{code}]{}", clean(first), clean(&rest));
    let mut lines: Vec<String> = Vec::new();
    for (index, line) in wrap(&text, WIDTH.saturating_sub(4)).into_iter().enumerate() {
        lines.push(format!("{}{line}", if index == 0 { "  - " } else { "    " }));
    }
    // The code is for looking up, not for reading.
    let tail = format!("[{code}]");
    for line in &mut lines {
        if let Some(body) = line.strip_suffix(&tail) {
            *line = format!("{body}{}", pen.paint(Ink::Faint, &tail));
        }
    }
    lines
}

fn indented(text: &str, depth: usize) -> Vec<String> {
    let lead = " ".repeat(depth);
    wrap(&clean(text), WIDTH.saturating_sub(depth)).into_iter().map(|line| format!("{lead}{line}")).collect()
}
