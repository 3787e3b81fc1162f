//! One form for everything there is to say about the input, with its place in the text.

use std::collections::BTreeMap;
use std::ops::Range;

use apportion_core::finding::{Code, ErrorKind, Finding, ObjectRef, Severity};
use apportion_yaml::{Located, Problem, Severity as YamlSeverity};
use serde_json::{Value, json};

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
        let (line, column) = line_column(&source.text, place.span.start);
        let (end_line, end_column) = line_column(&source.text, place.span.end.max(place.span.start));
        Some(Region { file: &source.name, line, column, end_line, end_column })
    }

    pub(crate) fn to_json(&self, sources: &[Source]) -> Value {
        let mut value = json!({ "code": self.code, "severity": self.severity, "message": self.message });
        let Some(map) = value.as_object_mut() else { return value };
        if let Some(kind) = self.kind {
            map.insert("kind".to_owned(), json!(kind));
        }
        if let Some(object) = &self.object {
            map.insert("object".to_owned(), json!(object));
        }
        if !self.path.is_empty() {
            map.insert("path".to_owned(), json!(self.path));
        }
        if let Some(hint) = &self.hint {
            map.insert("hint".to_owned(), json!(hint));
        }
        if let Some(region) = self.region(sources) {
            map.insert("file".to_owned(), json!(region.file));
            map.insert("line".to_owned(), json!(region.line));
            map.insert("column".to_owned(), json!(region.column));
        }
        value
    }
}

/// Line and column of a byte, both from one; the column in characters.
pub(crate) fn line_column(text: &[u8], offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.iter().filter(|byte| **byte == b'\n').count().saturating_add(1);
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline.saturating_add(1));
    let column = before.get(start..).map_or(0, |text| String::from_utf8_lossy(text).chars().count());
    (line, column.saturating_add(1))
}

/// Finds the place of a finding by the object it is about.
#[derive(Debug)]
pub(crate) struct Places<'i> {
    input: &'i Input,
    documents: BTreeMap<ObjectRef, usize>,
}

impl<'i> Places<'i> {
    pub(crate) fn new(input: &'i Input) -> Self {
        let documents = input.documents.iter().enumerate().map(|(index, document)| (document.reference(), index));
        Self { input, documents: documents.collect() }
    }

    /// The place of a field of an object of the input.
    pub(crate) fn find(&self, finding: &Finding) -> Option<Place> {
        let mut object = finding.object.clone()?;
        if object.namespace.is_empty() {
            object.namespace = "default".to_owned();
        }
        self.of_document(*self.documents.get(&object)?, finding)
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
