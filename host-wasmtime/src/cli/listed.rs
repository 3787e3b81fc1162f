//! Findings as entries of a list, in answers for people.

use apportion_core::finding::{Finding, Severity};

use super::input::Places;
use super::note::Note;
use super::pen::{Ink, Pen};
use super::text::{alike, clean, indented, item};

/// Findings under a title, by code; of many alike only the first. Nothing where there are none.
pub(crate) fn section<'f>(
    findings: impl Iterator<Item = &'f Finding>,
    places: &Places<'_>,
    pen: Pen,
    is_verbose: bool,
) -> Vec<String> {
    let notes = findings.map(|finding| Note::of_finding(finding.clone(), places.find(finding)));
    let mut lines = Vec::new();
    for alike in alike(notes, |note| note.code) {
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
            lines.extend(help(note.hint.as_deref()));
        }
        let hidden = alike.len().saturating_sub(shown);
        if hidden > 0 {
            lines.push(pen.paint(Ink::Faint, &format!("    {hidden} more like this; `-v` shows them")));
        }
    }
    titled("NOTES", lines, pen)
}

/// Lines under a title, after a free line; nothing where there are none.
pub(crate) fn titled(title: &str, lines: Vec<String>, pen: Pen) -> Vec<String> {
    let head = [String::new(), pen.paint(Ink::Strong, title)];
    if lines.is_empty() { lines } else { head.into_iter().chain(lines).collect() }
}

/// What to do about the entry above.
pub(crate) fn help(hint: Option<&str>) -> Vec<String> {
    hint.map(|hint| indented(&format!("help: {hint}"), 4)).unwrap_or_default()
}

/// An entry of a list with the code behind its text.
pub(crate) fn bullet(message: &str, code: &str, pen: Pen) -> Vec<String> {
    // Behind the first line, since source that a message quotes ends with the place it points to.
    let (first, rest) = message.split_once('\n').map_or((message, None), |(first, rest)| (first, Some(rest)));
    let rest = rest.map(|rest| format!("\n{rest}")).unwrap_or_default();
    let text = format!("{} [{code}]{}", clean(first), clean(&rest));
    let mut lines = item("- ", &text, 2);
    // The code is for looking up, not for reading.
    let tail = format!("[{code}]");
    for line in &mut lines {
        if let Some(body) = line.strip_suffix(&tail) {
            *line = format!("{body}{}", pen.paint(Ink::Faint, &tail));
        }
    }
    lines
}
