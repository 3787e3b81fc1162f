//! Certain corrections, made in the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result};
use apportion_core::finding::Finding;
use apportion_yaml::{Limits, read, rewrite};
use serde_json::Value;

use crate::cli::files::STDIN;
use crate::cli::input::Input;
use crate::cli::text::count;

/// What was corrected.
#[derive(Debug, Default)]
pub(crate) struct Fixed {
    corrections: usize,
    /// Files that were written, by their place in the input.
    files: BTreeSet<usize>,
    /// Corrections that the text does not allow, or that standard input cannot take.
    left: usize,
    /// Whether the latest round made any.
    has_news: bool,
}

impl Fixed {
    /// Whether files were written and not looked at since.
    pub(crate) fn has_news(&self) -> bool {
        self.has_news
    }

    /// Adds the next round.
    pub(crate) fn then(&mut self, next: Self) {
        self.corrections = self.corrections.saturating_add(next.corrections);
        self.files.extend(next.files);
        self.left = next.left;
        self.has_news = next.has_news;
    }

    /// What was done, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let left =
            if self.left == 0 { String::new() } else { format!("; {} left to you", count(self.left, "correction")) };
        format!("{} made in {}{left}\n", count(self.corrections, "correction"), count(self.files.len(), "file"))
    }
}

/// Makes all certain corrections.
pub(crate) fn fix(input: &Input, findings: &[Vec<Finding>]) -> Result<Fixed> {
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
        let (text, made) = match source.name == STDIN {
            true => (Vec::new(), 0),
            false => corrected(&source.text, documents),
        };
        fixed.left = fixed.left.saturating_add(wanted.saturating_sub(made));
        if made > 0 {
            fs::write(&source.name, &text).with_context(|| format!("`{}` cannot be written", source.name))?;
            fixed.files.insert(index);
            fixed.has_news = true;
            fixed.corrections = fixed.corrections.saturating_add(made);
        }
    }
    Ok(fixed)
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
