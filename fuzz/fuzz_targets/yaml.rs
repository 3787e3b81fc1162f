//! The YAML reader: it never fails, its ranges lie in the text, it reads in parts what it reads at once, and what it
//! writes back reads the same.

#![no_main]

use apportion_yaml::{Document, Limits, Reading, join, parts, read, read_part, rewrite, write};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|text: &[u8]| {
    let reading = read(text, &Limits::default());
    for problem in &reading.problems {
        assert!(problem.span.start <= problem.span.end && problem.span.end <= text.len());
    }
    for document in &reading.documents {
        // JSON's `2500.0` is YAML's 2500, so the first way through YAML may change the form of a number.
        if let Some(once) = through_yaml(&document.value) {
            assert_eq!(through_yaml(&once), Some(once));
        }
    }
    in_parts(text, &reading);
    let values: Vec<_> = reading.documents.iter().map(|document| document.value.clone()).collect();
    if let Some(same) = rewrite(text, &reading, &values) {
        assert_eq!(same.text, text);
    }
});

/// Each document read as a part of its own says what it says when all are read at once.
fn in_parts(text: &[u8], whole: &Reading) {
    let limits = Limits::default();
    let mut documents = Vec::new();
    let mut take = |document: Document| documents.push((document.value, document.span));
    let read = parts(text, &limits, 1).iter().map(|part| read_part(text, part, &limits, &mut take)).collect();
    if let Some(problems) = join(text, &limits, read) {
        assert_eq!(problems, whole.problems);
        let whole: Vec<_> = whole.documents.iter().map(|document| (document.value.clone(), document.span.clone())).collect();
        assert_eq!(documents, whole);
    }
}

/// The value written and read. `None` for what is no document of its own: a list is read as its items, null as nothing.
fn through_yaml(value: &Value) -> Option<Value> {
    if value.is_null() || value.get("items").is_some() {
        return None;
    }
    let written = write(value);
    let reading = read(written.as_bytes(), &Limits::default());
    assert!(reading.documents.len() == 1, "{written}\n{:?}", reading.problems);
    reading.documents.into_iter().next().map(|document| document.value)
}
