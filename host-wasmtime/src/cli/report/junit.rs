//! JUnit's XML: a suite for each file, a test case for each object. Errors are failures, warnings are output.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use apportion_core::finding::{ObjectRef, Severity};

use crate::cli::input::{Input, in_default_namespace};
use crate::cli::note::Note;
use crate::cli::text::escape;

/// The whole document.
pub(crate) fn write(notes: &[Note], input: &Input) -> String {
    let mut body = String::new();
    let (mut tests, mut failures) = (0_usize, 0_usize);
    let mut by_source: BTreeMap<usize, BTreeMap<Option<ObjectRef>, Vec<&Note>>> = BTreeMap::new();
    for note in notes {
        if let Some(place) = &note.place {
            let object = note.object.clone().map(in_default_namespace);
            by_source.entry(place.source).or_default().entry(object).or_default().push(note);
        }
    }
    let mut documents = input.documents.iter().peekable();
    for (index, source) in input.sources.iter().enumerate() {
        let mut by_object = by_source.remove(&index).unwrap_or_default();
        let mut cases: Vec<(String, Vec<&Note>)> = Vec::new();
        while let Some(document) = documents.next_if(|document| document.source == index) {
            let name = document.written_reference();
            let mine = by_object.remove(&Some(document.reference())).unwrap_or_default();
            let name = if name.name.is_empty() { name.kind } else { name.to_string() };
            cases.push((name, mine));
        }
        // What is about no document, also under a name that none has: nothing that was found may be missing.
        cases.push(("the text itself".to_owned(), by_object.into_values().flatten().collect()));
        let failed = cases.iter().filter(|(_, notes)| notes.iter().any(|note| is_error(note))).count();
        tests = tests.saturating_add(cases.len());
        failures = failures.saturating_add(failed);
        let name = escape(&source.name);
        let _ = writeln!(body, "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failed}\">", cases.len());
        for (case, notes) in cases {
            write_case(&mut body, &case, &name, &notes, input);
        }
        body.push_str("  </testsuite>\n");
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"apportion validate\" tests=\"{tests}\" failures=\"{failures}\">\n{body}</testsuites>\n"
    )
}

fn write_case(body: &mut String, case: &str, file: &str, notes: &[&Note], input: &Input) {
    let _ = write!(body, "    <testcase classname=\"{file}\" name=\"{}\"", escape(case));
    if notes.is_empty() {
        body.push_str("/>\n");
        return;
    }
    body.push_str(">\n");
    for note in notes.iter().filter(|note| is_error(note)) {
        let _ = writeln!(
            body,
            "      <failure type=\"{}\" message=\"{}\">{}</failure>",
            escape(note.code),
            escape(&note.message),
            escape(&told(note, input))
        );
    }
    let others: Vec<String> = notes.iter().filter(|note| !is_error(note)).map(|note| told(note, input)).collect();
    if !others.is_empty() {
        let _ = writeln!(body, "      <system-out>{}</system-out>", escape(&others.join("\n")));
    }
    body.push_str("    </testcase>\n");
}

fn is_error(note: &Note) -> bool {
    note.severity == Severity::Error
}

fn told(note: &Note, input: &Input) -> String {
    let place =
        note.region(&input.sources).map(|region| format!("{}:{}:{}: ", region.file, region.line, region.column));
    let hint = note.hint.as_ref().map(|hint| format!(" (help: {hint})")).unwrap_or_default();
    format!("{}{} [{}]{hint}", place.unwrap_or_default(), note.about(), note.code)
}
