//! One form for everything there is to say about the input, with its place in the text.

use std::ops::Range;

use apportion_core::finding::{ErrorKind, Finding, ObjectRef, Severity};
use apportion_yaml::{Problem, Severity as YamlSeverity};
use serde::Serialize;

use super::files::Source;

/// Something to say.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Note {
    pub(crate) code: &'static str,
    pub(crate) severity: Severity,
    /// The API server's class of the error, where it is one of its errors.
    pub(crate) kind: Option<ErrorKind>,
    pub(crate) object: Option<ObjectRef>,
    pub(crate) path: String,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) place: Option<Place>,
}

/// A place in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// Which of the sources.
    pub(crate) source: usize,
    /// The bytes; may be empty.
    pub(crate) span: Range<usize>,
}

/// A place as editors count: lines and columns from one, columns in characters, the end behind the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Region<'s> {
    pub(crate) file: &'s str,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) end_line: usize,
    pub(crate) end_column: usize,
}

impl Note {
    pub(crate) fn of_problem(source: usize, problem: Problem) -> Self {
        Self {
            code: problem.code.text(),
            severity: severity_of(problem.severity),
            kind: None,
            object: None,
            path: String::new(),
            message: problem.message,
            hint: problem.hint,
            place: Some(Place { source, span: problem.span }),
        }
    }

    pub(crate) fn of_finding(finding: Finding, place: Option<Place>) -> Self {
        Self {
            code: finding.code.text(),
            severity: finding.severity,
            kind: finding.kind,
            object: finding.object.filter(|object| !object.kind.is_empty()),
            path: finding.path,
            message: finding.message,
            hint: finding.hint,
            place,
        }
    }

    /// The message, with the field that it is about.
    pub(crate) fn about(&self) -> String {
        match self.path.is_empty() {
            true => self.message.clone(),
            false => format!("{}: {}", self.path, self.message),
        }
    }

    /// Where it stands.
    pub(crate) fn region<'s>(&self, sources: &'s [Source]) -> Option<Region<'s>> {
        let place = self.place.as_ref()?;
        let source = sources.get(place.source)?;
        let (line, column) = source.line_column(place.span.start);
        let (end_line, end_column) = source.line_column(place.span.end.max(place.span.start));
        Some(Region { file: &source.name, line, column, end_line, end_column })
    }

    /// For programs.
    pub(crate) fn for_machines<'n>(&'n self, sources: &'n [Source]) -> MachineNote<'n> {
        let place = self.place.as_ref().and_then(|place| Some((sources.get(place.source)?, place.span.start)));
        let (line, column) = place.map(|(source, start)| source.line_column(start)).unzip();
        MachineNote {
            code: self.code,
            column,
            file: place.map(|(source, _)| source.name.as_str()),
            hint: self.hint.as_deref(),
            kind: self.kind,
            line,
            message: &self.message,
            object: self.object.as_ref(),
            path: Some(self.path.as_str()).filter(|path| !path.is_empty()),
            severity: self.severity,
        }
    }
}

/// A note as machine formats show it. Fields in the order of their names.
#[derive(Serialize)]
pub(crate) struct MachineNote<'n> {
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'n str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'n str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<ErrorKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    message: &'n str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'n ObjectRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'n str>,
    severity: Severity,
}

/// A finding that is ignored.
#[derive(Debug)]
pub(crate) struct Ignored {
    pub(crate) note: Note,
    pub(crate) reason: String,
    /// Whether the reason stands beside it, and not in the settings.
    pub(crate) is_in_source: bool,
}

/// An ignored finding for programs.
#[derive(Serialize)]
pub(crate) struct MachineIgnored<'n> {
    #[serde(flatten)]
    note: MachineNote<'n>,
    reason: &'n str,
}

impl Ignored {
    /// For programs.
    pub(crate) fn for_machines<'n>(&'n self, sources: &'n [Source]) -> MachineIgnored<'n> {
        MachineIgnored { note: self.note.for_machines(sources), reason: &self.reason }
    }
}

pub(crate) const fn severity_of(severity: YamlSeverity) -> Severity {
    match severity {
        YamlSeverity::Error => Severity::Error,
        YamlSeverity::Warning => Severity::Warning,
    }
}

/// Errors and warnings in numbers.
pub(crate) fn numbers(notes: &[Note]) -> (usize, usize) {
    let number = |severity| notes.iter().filter(|note| note.severity == severity).count();
    (number(Severity::Error), number(Severity::Warning))
}

/// By place; what has none comes first.
pub(crate) fn order(note: &Note) -> (Option<(usize, usize)>, Severity) {
    (note.place.as_ref().map(|place| (place.source, place.span.start)), note.severity)
}
