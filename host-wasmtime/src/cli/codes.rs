//! What the codes of findings mean.

use apportion_core::finding::{Code, Severity};
use apportion_yaml::ProblemCode;
use serde::Serialize;

use super::note::severity_of;

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
