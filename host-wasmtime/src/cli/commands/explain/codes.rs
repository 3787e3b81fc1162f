//! `apportion explain CODE`: what a code means, an example, and the way out.

use std::io;

use anyhow::{Result, bail};
use serde::Serialize;
use serde_json::json;

use crate::cli::arguments::{Output, ViewArguments};
use crate::cli::codes::{Entry, Lesson, entries, known, lesson};
use crate::cli::machine;
use crate::cli::pen::{Ink, Pen};
use crate::cli::shown::Shown;
use crate::cli::text::{self, alike, clean, indented, width, wrap};

/// A code with everything that is written about it.
#[derive(Serialize)]
struct Meaning {
    #[serde(flatten)]
    entry: Entry,
    #[serde(flatten)]
    lesson: &'static Lesson,
}

impl Meaning {
    fn of(entry: Entry) -> Result<Self> {
        Ok(Self { lesson: lesson(entry.code)?, entry })
    }

    fn group(&self) -> &str {
        self.entry.code.split_once('/').map_or(self.entry.code, |(group, _)| group)
    }
}

/// What codes mean: one, those of a group such as `run`, or all.
pub(crate) fn codes(view: &ViewArguments, wanted: Option<&str>) -> Result<Shown> {
    let pen = Pen::new(&view.look, &io::stdout());
    wanted.map_or(Ok(()), known)?;
    let is_wanted = |entry: &Entry| {
        wanted
            .is_none_or(|code| entry.code == code || entry.code.split_once('/').is_some_and(|(group, _)| group == code))
    };
    let chosen: Vec<Meaning> = entries().filter(is_wanted).map(Meaning::of).collect::<Result<_>>()?;
    if matches!(view.output, Output::Json | Output::Yaml) {
        let document = json!({ "format": machine::FORMAT, "kind": "Codes", "codes": chosen });
        return Ok(Shown::text(machine::text(&document, view.output)));
    }
    Ok(Shown::text(match chosen.as_slice() {
        [] => bail!("there are no codes"),
        [only] if wanted.is_some_and(|code| code == only.entry.code) => whole(only, pen),
        _ => text::lines(topics(&chosen, wanted.is_some(), pen)),
    }))
}

/// One code, with its example.
fn whole(meaning: &Meaning, pen: Pen) -> String {
    let Meaning { entry, lesson } = meaning;
    let mut lines = vec![title(entry, pen), String::new()];
    lines.extend(wrap(entry.paragraph, width()));
    lines.push(String::new());
    lines.extend(text::item("Way out: ", &lesson.way_out, 0));
    lines.extend(text::item("Rule: ", &lesson.rule, 0));
    if let Some(occurs) = &lesson.occurs {
        lines.extend(text::item("Occurs: ", occurs, 0));
    }
    let Some(example) = &lesson.example else { return text::lines(lines) };
    let code = |text: &str| text.lines().map(|line| format!("  {}", clean(line))).collect::<Vec<_>>();
    for file in &example.files {
        lines.extend([String::new(), format!("Example `{}`:", file.name), String::new()]);
        lines.extend(code(&file.text));
    }
    lines.push(String::new());
    lines.extend(wrap(&format!("`apportion {}` has this finding.", example.command), width()));
    if let Some(after) = &example.command_after {
        lines.extend(wrap(&format!("`apportion {after}` does not."), width()));
    }
    if !example.change.is_empty() {
        lines.extend(["This change takes it away:".to_owned(), String::new()]);
        let ink = |line: &str| match line.chars().next() {
            Some('+') => Some(Ink::Good),
            Some('-') => Some(Ink::Bad),
            _ => None,
        };
        // What stands in the head of a difference, the names of its files say it already.
        let body = example.change.lines().filter(|line| !line.starts_with("--- ") && !line.starts_with("+++ "));
        lines.extend(body.map(|line| {
            let shown = format!("  {}", clean(line));
            ink(line).map_or_else(|| shown.clone(), |ink| pen.paint(ink, &shown))
        }));
    }
    text::lines(lines.iter().map(|line| line.trim_end().to_owned()))
}

/// Codes under what they are about; with what each means where they are few.
fn topics(chosen: &[Meaning], has_paragraphs: bool, pen: Pen) -> Vec<String> {
    let mut lines = Vec::new();
    for topic in alike(chosen, |meaning| (meaning.group().to_owned(), meaning.lesson.about.clone())) {
        let Some(first) = topic.first() else { continue };
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(pen.paint(Ink::Strong, &format!("{}: {}", first.group(), first.lesson.about)));
        if !has_paragraphs {
            let rows: Vec<_> =
                topic.iter().map(|one| text::row(["", one.entry.code, one.entry.severity_text()])).collect();
            lines.extend(text::table(&rows, &[]));
            continue;
        }
        for meaning in topic {
            lines.push(String::new());
            lines.extend(indented(&title(&meaning.entry, pen), 2));
            lines.extend(indented(meaning.entry.paragraph, 4));
        }
    }
    if has_paragraphs {
        lines.extend([String::new(), "`apportion explain CODE` has an example of a code and the way out.".to_owned()]);
    }
    lines
}

fn title(entry: &Entry, pen: Pen) -> String {
    format!("{} ({})", pen.paint(Ink::Strong, entry.code), entry.severity_text())
}
