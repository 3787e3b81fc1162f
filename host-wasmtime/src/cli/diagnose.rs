//! Notes for people: under the line that they are about, similar ones together.

use std::collections::BTreeMap;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use apportion_core::finding::Severity;

use super::files::Source;
use super::note::{Note, Place};
use super::pen::Pen;
use super::text::{alike, clean, count};

/// A group of more similar notes than this shows its first one and a number.
const ALIKE: usize = 3;

/// Groups of warnings that are shown; of further ones only the number is told. Errors are all shown.
const GROUPS: usize = 25;

/// Bytes of a line that is shown. Longer ones are not written by hand, and their place says enough.
const MAX_LINE: usize = 2000;

/// What goes to stderr.
pub(crate) fn diagnose(notes: &[Note], sources: &[Source], pen: Pen, is_verbose: bool) -> String {
    let mut out = String::new();
    let mut infos: BTreeMap<&str, usize> = BTreeMap::new();
    let (hidden, told): (Vec<&Note>, Vec<&Note>) =
        notes.iter().partition(|note| note.severity == Severity::Info && !is_verbose);
    for note in hidden {
        let number = infos.entry(note.code).or_default();
        *number = number.saturating_add(1);
    }
    let mut groups = alike(told, |note| likeness(note));
    let severity = |group: &Vec<&Note>| group.first().map_or(Severity::Info, |note| note.severity);
    groups.sort_by_key(severity);
    let errors = groups.iter().filter(|group| severity(group) == Severity::Error).count();
    let shown = if is_verbose { groups.len() } else { errors.saturating_add(GROUPS) };
    for group in groups.iter().take(shown) {
        let is_cut = !is_verbose && group.len() > ALIKE;
        for note in group.iter().take(if is_cut { 1 } else { usize::MAX }) {
            out.push_str(&render(note, sources, pen));
            out.push('\n');
        }
        if is_cut {
            let more = group.len().saturating_sub(1);
            let code = group.first().map_or("", |note| note.code);
            out.push_str(&format!("note: {more} more like this [{code}]; `-v` shows them\n\n"));
        }
    }
    let left: Vec<&&Note> = groups.iter().skip(shown).flatten().collect();
    if !left.is_empty() {
        let errors = left.iter().filter(|note| note.severity == Severity::Error).count();
        let warnings = left.len().saturating_sub(errors);
        out.push_str(&format!(
            "note: {} and {} more; `-v` shows them\n",
            count(errors, "error"),
            count(warnings, "warning")
        ));
    }
    if !infos.is_empty() {
        let all = infos.values().copied().fold(0, usize::saturating_add);
        let parts: Vec<String> = infos.iter().map(|(code, number)| format!("{number} {code}")).collect();
        out.push_str(&format!(
            "note: {} ({}); `-v` shows {}\n",
            count(all, "remark"),
            parts.join(", "),
            if all == 1 { "it" } else { "them" }
        ));
    }
    out
}

/// Equal for notes that say the same of objects of one kind.
fn likeness(note: &Note) -> (&str, Severity, &str, String, String) {
    let kind = note.object.as_ref().map_or("", |object| object.kind.as_str());
    let without_index =
        |text: &str| -> String { text.chars().filter(|character| !character.is_ascii_digit()).collect() };
    // Of a note without a field the message is all there is to compare.
    let message = if note.path.is_empty() { without_index(&note.message) } else { String::new() };
    (note.code, note.severity, kind, without_index(&note.path), message)
}

/// One note with the line that it is about.
fn render(note: &Note, sources: &[Source], pen: Pen) -> String {
    let level = match note.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let mut group = level.primary_title(clean(&note.message)).id(note.code).elements(Vec::<Element<'_>>::new());
    if let Some((place, source)) = note.place.as_ref().and_then(|place| Some((place, sources.get(place.source)?))) {
        group = with_place(group, place, source);
    }
    if let Some(object) = &note.object {
        let field = if note.path.is_empty() { String::new() } else { format!(", field `{}`", note.path) };
        let object = if object.name.is_empty() { object.kind.clone() } else { object.to_string() };
        group = group.element(Level::NOTE.message(clean(&format!("{object}{field}")).into_owned()));
    }
    if let Some(hint) = &note.hint {
        group = group.element(Level::HELP.message(clean(hint)));
    }
    let renderer = if pen.has_color { Renderer::styled() } else { Renderer::plain() };
    let mut text = renderer.decor_style(DecorStyle::Ascii).render(&[group]);
    text.push('\n');
    text
}

fn with_place<'a>(group: Group<'a>, place: &Place, source: &'a Source) -> Group<'a> {
    let (line, column) = source.line_column(place.span.start);
    let start = source.text.get(..place.span.start).unwrap_or(&source.text);
    let line_start = start.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline.saturating_add(1));
    let rest = source.text.get(line_start..).unwrap_or_default();
    let until_break = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line_length = until_break.strip_suffix(b"\r").unwrap_or(until_break).len();
    if line_length > MAX_LINE {
        return group.element(Origin::path(clean(&source.name)).line(line).char_column(column));
    }
    let written = rest.get(..line_length).unwrap_or_default();
    let offset = place.span.start.saturating_sub(line_start).min(line_length);
    let end = place.span.end.saturating_sub(line_start).clamp(offset, line_length);
    let shown = |range: std::ops::Range<usize>| {
        clean(&String::from_utf8_lossy(written.get(range).unwrap_or_default())).into_owned()
    };
    // What is no UTF-8 or cannot be seen is replaced, and the place moves with it.
    let before = shown(0..offset);
    let marked = shown(offset..end);
    let span = before.len()..before.len().saturating_add(marked.len());
    let text = format!("{before}{marked}{}", shown(end..line_length));
    let snippet = Snippet::source(text).path(clean(&source.name)).line_start(line);
    group.element(snippet.annotation(AnnotationKind::Primary.span(span)))
}
