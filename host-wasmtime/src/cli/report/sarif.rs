//! SARIF 2.1.0, which code scanning reads.

use std::collections::BTreeMap;

use apportion_core::finding::Severity;
use serde_json::{Value, json};

use crate::cli::codes;
use crate::cli::files::Source;
use crate::cli::note::{Ignored, Note};

/// The page of the site that has all codes.
const CODES: &str = "https://apportion.dev/reference/codes.html";

/// The whole document. What is ignored is in it, with the reason, as code scanning expects it.
pub(crate) fn write(notes: &[Note], ignored: &[Ignored], sources: &[Source]) -> String {
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    for note in notes.iter().chain(ignored.iter().map(|ignored| &ignored.note)) {
        rules.entry(note.code).or_default();
    }
    for (index, position) in rules.values_mut().enumerate() {
        *position = index;
    }
    let described: Vec<Value> = rules
        .keys()
        .map(|code| {
            let paragraph = codes::paragraph_of(code).unwrap_or(code);
            json!({
                "id": code,
                "fullDescription": { "text": paragraph },
                "helpUri": format!("{CODES}#{}", code.replace('/', "")),
                "shortDescription": { "text": code },
            })
        })
        .collect();
    let mut results: Vec<Value> = notes.iter().map(|note| result(note, &rules, sources)).collect();
    results.extend(ignored.iter().map(|Ignored { note, reason, is_in_source }| {
        let mut result = result(note, &rules, sources);
        let kind = if *is_in_source { "inSource" } else { "external" };
        if let Some(map) = result.as_object_mut() {
            map.insert("suppressions".to_owned(), json!([{ "kind": kind, "justification": reason }]));
        }
        result
    }));
    let driver = json!({ "name": "apportion", "version": env!("CARGO_PKG_VERSION"), "rules": described });
    let run = json!({ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results });
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    });
    format!("{document:#}\n")
}

fn result(note: &Note, rules: &BTreeMap<&str, usize>, sources: &[Source]) -> Value {
    let level = match note.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    };
    let hint = note.hint.as_ref().map(|hint| format!("\nhelp: {hint}")).unwrap_or_default();
    let mut result = json!({
        "ruleId": note.code,
        "ruleIndex": rules.get(note.code),
        "level": level,
        "message": { "text": format!("{}{hint}", note.about()) },
    });
    if let (Some(region), Some(map)) = (note.region(sources), result.as_object_mut()) {
        let location = json!({ "physicalLocation": {
            "artifactLocation": { "uri": uri(region.file) },
            "region": {
                "startLine": region.line,
                "startColumn": region.column,
                "endLine": region.end_line,
                "endColumn": region.end_column,
            },
        } });
        map.insert("locations".to_owned(), json!([location]));
    }
    result
}

/// A relative path as a URI reference.
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path).replace('\\', "/");
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("./a b/ä.yaml"), "a%20b/%C3%A4.yaml");
    }
}
