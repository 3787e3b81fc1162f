//! Certain corrections, made in the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result};
use apportion_core::finding::Finding;
use apportion_yaml::{Limits, read, rewrite};
use serde_json::Value;

use super::files::STDIN;
use super::input::Input;
use super::text::count;

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
    for (document, findings) in input.documents.iter().zip(findings) {
        let mut value = document.value();
        let corrections = findings.iter().filter_map(|finding| Some((finding.fix.as_ref()?, finding)));
        let made = corrections.filter(|(fix, finding)| fix.apply(&mut value, &finding.path)).count();
        changed.entry(document.source).or_default().push((value, made));
    }
    for (index, documents) in changed {
        let made: usize = documents.iter().map(|(_, made)| *made).sum();
        let Some(source) = input.sources.get(index).filter(|_| made > 0) else { continue };
        let reading = read(&source.text, &Limits::default());
        // What kubectl refuses as text has no findings and stays as it is.
        let mut corrected = documents.into_iter().map(|(value, _)| value);
        let values = reading.documents.iter().map(|document| match document.is_refused {
            true => Some(document.value.clone()),
            false => corrected.next(),
        });
        let values: Option<Vec<Value>> = values.collect();
        let rewritten = values.and_then(|values| rewrite(&source.text, &reading, &values));
        match rewritten {
            // Comments are worth more than a correction that a person can make as well.
            Some(rewritten) if rewritten.anew.is_empty() && source.name != STDIN => {
                fs::write(&source.name, &rewritten.text)
                    .with_context(|| format!("`{}` cannot be written", source.name))?;
                fixed.files.insert(index);
                fixed.has_news = true;
                fixed.corrections = fixed.corrections.saturating_add(made);
            }
            _ => fixed.left = fixed.left.saturating_add(made),
        }
    }
    Ok(fixed)
}
