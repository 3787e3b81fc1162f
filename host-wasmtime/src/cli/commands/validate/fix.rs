//! Certain corrections, made in the texts of files.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use apportion_core::finding::Finding;
use apportion_yaml::{Limits, read, rewrite};
use bytes::Bytes;
use serde_json::Value;
use similar::TextDiff;

use crate::cli::files::{STDIN, Source};
use crate::cli::input::Input;
use crate::cli::text::count;

/// What was corrected.
#[derive(Debug, Default)]
pub(crate) struct Fixed {
    corrections: usize,
    /// Corrected texts, by place of the file in the input.
    texts: BTreeMap<usize, Bytes>,
    /// Corrections that the text does not allow, or that standard input cannot take.
    left: usize,
    /// Whether the latest round made any.
    has_news: bool,
}

impl Fixed {
    /// Whether there are corrected texts that were not looked at since.
    pub(crate) fn has_news(&self) -> bool {
        self.has_news
    }

    /// Adds the next round.
    pub(crate) fn then(&mut self, next: Self) {
        self.corrections = self.corrections.saturating_add(next.corrections);
        self.texts.extend(next.texts);
        self.left = next.left;
        self.has_news = next.has_news;
    }

    /// The input with the corrected texts.
    pub(crate) fn sources(&self, input: &Input) -> Vec<Source> {
        let text = |(index, source): (usize, &Source)| {
            source.with_text(self.texts.get(&index).unwrap_or(&source.text).clone())
        };
        input.sources.iter().enumerate().map(text).collect()
    }

    /// Writes the corrected texts over the files.
    ///
    /// # Errors
    ///
    /// Where a file cannot be written.
    pub(crate) fn write(&self, input: &Input) -> Result<()> {
        for (source, text) in self.of_files(&input.sources) {
            fs::write(&source.name, text).with_context(|| format!("`{}` cannot be written", source.name))?;
        }
        Ok(())
    }

    /// The difference between files as they are and the corrected texts, as a unified diff.
    pub(crate) fn diff(&self, before: &[Source]) -> String {
        let diff = |(source, text): (&Source, &Bytes)| {
            let (before, after) = (String::from_utf8_lossy(&source.text), String::from_utf8_lossy(text));
            TextDiff::from_lines(&*before, &*after).unified_diff().header(&source.name, &source.name).to_string()
        };
        self.of_files(before).map(diff).collect()
    }

    fn of_files<'f>(&'f self, sources: &'f [Source]) -> impl Iterator<Item = (&'f Source, &'f Bytes)> {
        self.texts.iter().filter_map(|(index, text)| Some((sources.get(*index)?, text)))
    }

    /// What was done, or would be, in a sentence.
    pub(crate) fn sentence(&self, is_shown: bool) -> String {
        let left =
            if self.left == 0 { String::new() } else { format!("; {} left to you", count(self.left, "correction")) };
        let made = if is_shown { "can be made" } else { "made" };
        format!("{} {made} in {}{left}\n", count(self.corrections, "correction"), count(self.texts.len(), "file"))
    }
}

/// Makes all certain corrections in the texts; in those of standard input only where they are shown and not written.
pub(crate) fn fix(input: &Input, findings: &[Vec<Finding>], is_shown: bool) -> Fixed {
    let mut fixed = Fixed::default();
    // Documents by file: the value with all corrections, and how many these are.
    let mut changed: BTreeMap<usize, Vec<(Value, usize)>> = BTreeMap::new();
    for ((document, mut value), findings) in input.documents.iter().zip(input.objects()).zip(findings) {
        let corrections = findings.iter().filter_map(|finding| Some((finding.fix.as_ref()?, finding)));
        let made = corrections.filter(|(fix, finding)| fix.apply(&mut value, &finding.path)).count();
        changed.entry(document.source).or_default().push((value, made));
    }
    for (index, documents) in changed {
        let wanted: usize = documents.iter().map(|(_, made)| *made).sum();
        let Some(source) = input.sources.get(index).filter(|_| wanted > 0) else { continue };
        let (text, made) = match source.name == STDIN && !is_shown {
            true => (Vec::new(), 0),
            false => corrected(&source.text, documents),
        };
        fixed.left = fixed.left.saturating_add(wanted.saturating_sub(made));
        if made > 0 {
            fixed.texts.insert(index, text.into());
            fixed.has_news = true;
            fixed.corrections = fixed.corrections.saturating_add(made);
        }
    }
    fixed
}

/// The text with the corrected documents, as far as they keep their layout, and how many corrections these hold: comments are worth
/// more than a correction that a person can make as well.
fn corrected(text: &[u8], documents: Vec<(Value, usize)>) -> (Vec<u8>, usize) {
    let reading = read(text, &Limits::default());
    // What kubectl refuses as text has no findings and stays as it is.
    let mut documents = documents.into_iter();
    let mut wanted: Vec<(Value, usize)> = Vec::with_capacity(reading.documents.len());
    for document in &reading.documents {
        let next = if document.is_refused { None } else { documents.next() };
        wanted.push(next.unwrap_or_else(|| (document.value.clone(), 0)));
    }
    let rewritten = |wanted: &[(Value, usize)]| {
        let values: Vec<Value> = wanted.iter().map(|(value, _)| value.clone()).collect();
        rewrite(text, &reading, &values)
    };
    let mut result = rewritten(&wanted);
    if let Some(first) = &result
        && !first.anew.is_empty()
    {
        for index in &first.anew {
            if let (Some(place), Some(document)) = (wanted.get_mut(*index), reading.documents.get(*index)) {
                *place = (document.value.clone(), 0);
            }
        }
        result = rewritten(&wanted);
    }
    match result {
        Some(result) if result.anew.is_empty() => (result.text, wanted.iter().map(|(_, made)| *made).sum()),
        _ => (Vec::new(), 0),
    }
}
