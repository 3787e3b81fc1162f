//! One form for everything there is to say about the input, with its place in the text.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

use apportion_core::finding::{Code, ErrorKind, Finding, ObjectRef, Severity};
use apportion_yaml::{Located, Problem, Severity as YamlSeverity};
use serde::Serialize;

use super::files::Source;
use super::input::Input;

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
            severity: match problem.severity {
                YamlSeverity::Error => Severity::Error,
                YamlSeverity::Warning => Severity::Warning,
            },
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

/// Finds the place of a finding by the object it is about.
#[derive(Debug)]
pub(crate) struct Places<'i> {
    input: &'i Input,
    /// Made when an object is sought.
    documents: OnceCell<BTreeMap<ObjectRef, usize>>,
}

impl<'i> Places<'i> {
    pub(crate) fn new(input: &'i Input) -> Self {
        Self { input, documents: OnceCell::new() }
    }

    /// The place of a field of an object of the input.
    pub(crate) fn find(&self, finding: &Finding) -> Option<Place> {
        let mut object = finding.object.clone()?;
        if object.namespace.is_empty() {
            object.namespace = "default".to_owned();
        }
        let all = || self.input.documents.iter().enumerate().map(|(index, document)| (document.reference(), index));
        let documents = self.documents.get_or_init(|| all().collect());
        self.of_document(*documents.get(&object)?, finding)
    }

    /// The place of a finding in the document that it is about.
    pub(crate) fn of_document(&self, document: usize, finding: &Finding) -> Option<Place> {
        let document = self.input.documents.get(document)?;
        let source = self.input.sources.get(document.source)?;
        let located = document.positions.find(&finding.path)?;
        // Of a field that nobody knows the name matters, not the value.
        let span = match (&located.key, finding.code) {
            (Some(key), Code::ReadUnknownField) => key.clone(),
            _ => to_underline(&located, &source.text),
        };
        Some(Place { source: document.source, span })
    }
}

/// What to underline of a field: its value where that stands on one line, else its key, else the value's first line.
fn to_underline(located: &Located, text: &[u8]) -> Range<usize> {
    let value = &located.value;
    let written = text.get(value.clone()).unwrap_or_default();
    let first_line = written.iter().position(|byte| *byte == b'\n');
    match (&located.key, first_line) {
        // A field whose path goes on beyond what is written lacks something: its key shows where.
        (Some(key), _) if !located.is_exact => key.clone(),
        (_, None) if !written.is_empty() => value.clone(),
        (Some(key), _) => key.clone(),
        (None, Some(length)) => value.start..value.start.saturating_add(length),
        (None, None) => value.clone(),
    }
}
