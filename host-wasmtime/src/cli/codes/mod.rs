//! What the codes of findings mean.

mod lessons;

use anyhow::{Result, bail};
use apportion_core::finding::{Code, Severity};
use apportion_yaml::ProblemCode;
use serde::Serialize;

use super::note::severity_of;

pub(crate) use lessons::{Lesson, lesson};

#[derive(Serialize)]
pub(crate) struct Entry {
    pub(crate) code: &'static str,
    pub(crate) severity: Severity,
    pub(crate) paragraph: &'static str,
}

impl Entry {
    pub(crate) const fn severity_text(&self) -> &'static str {
        match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// What a code means, in a paragraph.
pub(crate) fn paragraph_of(code: &str) -> Option<&'static str> {
    entries().find(|entry| entry.code == code).map(|entry| entry.paragraph)
}

/// That there is a code of this name, or a group of codes such as `yaml`.
///
/// # Errors
///
/// Names codes that it resembles.
pub(crate) fn known(name: &str) -> Result<()> {
    let is_it = |entry: Entry| entry.code == name || entry.code.split_once('/').is_some_and(|(group, _)| group == name);
    if entries().any(is_it) {
        return Ok(());
    }
    let ending = name.rsplit('/').next().unwrap_or(name);
    let alike: Vec<String> =
        entries().filter(|entry| entry.code.contains(ending)).map(|entry| format!("`{}`", entry.code)).collect();
    match alike.is_empty() || ending.is_empty() {
        true => bail!("there is no code `{name}`; `apportion explain` lists all"),
        false => bail!("there is no code `{name}`; did you mean {}?", alike.join(" or ")),
    }
}

pub(crate) fn entries() -> impl Iterator<Item = Entry> {
    let findings = Code::ALL.iter().map(|code| Entry {
        code: code.text(),
        severity: code.severity(),
        paragraph: code.paragraph(),
    });
    let problems = ProblemCode::ALL.iter().map(|code| Entry {
        code: code.text(),
        severity: severity_of(code.severity()),
        paragraph: code.paragraph(),
    });
    problems.chain(findings)
}
