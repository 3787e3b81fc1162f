//! Texts with manifests, as `kubectl` reads them.

use apportion_yaml::{Limits, LineColumn, Problem, Severity, TextIndex, read};
use serde_json::{Value, json};

/// The objects of a text of YAML or JSON documents, without those that `kubectl` refuses, and what the reader says of it: findings with the
/// line and the column, both from one.
pub(crate) fn reading(text: &str) -> Value {
    let reading = read(text.as_bytes(), &Limits::default());
    let index = TextIndex::new(text);
    let findings: Vec<Value> = reading.problems.iter().map(|problem| finding(problem, &index)).collect();
    let accepted = reading.documents.into_iter().filter(|document| !document.is_refused);
    json!({ "objects": accepted.map(|document| document.value).collect::<Vec<_>>(), "findings": findings })
}

fn finding(problem: &Problem, index: &TextIndex<&str>) -> Value {
    let LineColumn { line, column } = index.line_column(problem.span.start);
    let severity = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut finding = json!({
        "code": problem.code.text(), "severity": severity, "message": problem.message, "line": line, "column": column,
    });
    if let (Some(hint), Some(fields)) = (&problem.hint, finding.as_object_mut()) {
        fields.insert("hint".to_owned(), json!(hint));
    }
    finding
}
