//! A text read in parts says what it says when it is read at once.

use std::fs;

use apportion_yaml::{Document, Limits, Problem, Reading, join, parts, read, read_part};

/// What is read in parts of so many bytes; `None` beyond the limits.
fn in_parts(text: &[u8], limits: &Limits, size: usize) -> Option<(Vec<Document>, Vec<Problem>)> {
    let ranges = parts(text, limits, size);
    assert!(ranges.iter().zip(ranges.iter().skip(1)).all(|(one, next)| one.end == next.start));
    assert!(ranges.last().is_none_or(|last| last.end == text.len()));
    let mut documents = Vec::new();
    let read = ranges.iter().map(|range| read_part(text, range, limits, |document| documents.push(document))).collect();
    let problems = join(text, limits, read)?;
    Some((documents, problems))
}

fn assert_same(name: &str, whole: &Reading, documents: &[Document], problems: &[Problem]) {
    assert_eq!(whole.problems, problems, "{name}");
    assert_eq!(whole.documents.len(), documents.len(), "{name}");
    for (one, other) in whole.documents.iter().zip(documents) {
        assert_eq!((&one.value, &one.span, one.is_refused), (&other.value, &other.span, other.is_refused), "{name}");
        for path in ["", "kind", "metadata.name", "spec", "a", "b[0].c"] {
            assert_eq!(one.positions.find(path), other.positions.find(path), "{name}: {path}");
        }
    }
}

const TEXTS: [&str; 12] = [
    "",
    "\u{feff}kind: A\n---\nkind: B\n",
    "---\nkind: A\n---\n---\n# nothing\n---\nkind: B",
    "kind: A\n--- kind: B\n---\nkind: [\n---\nkind: C\n",
    "kind: A\r\n---\r\nkind: yes\r\n",
    "a: &x {b: 1}\n---\na: *x\n---\nb: [{c: 012}]\n",
    "kind: List\nitems:\n- kind: A\n- kind: B\n---\nkind: A\na: |\n  ---\n  text\n---\nkind: \u{7}\n",
    "{\"kind\": \"A\"}\n{\"kind\": \"B\"}\n---\nkind: C\n",
    "  {kind: A}\n---\nkind: C\n",
    "kind: A\na: 'text\n---\nkind: B'\n---\nkind: C\n",
    "\u{fe}\u{ff}\n---\nkind: A",
    "\t- a\n---\n\tb: 1\n---\na: {{ .Values.x }}\n---\nb: 1\nb: 2\n",
];

#[test]
fn parts_of_any_size_say_what_the_whole_says() {
    let limits = Limits::default();
    for text in TEXTS {
        let whole = read(text.as_bytes(), &limits);
        for size in [0, 1, 8, 20, 1000] {
            let (documents, problems) = in_parts(text.as_bytes(), &limits, size).unwrap();
            assert_same(text, &whole, &documents, &problems);
        }
    }
    assert_eq!(parts(b"kind: A\n---\nkind: B\n", &limits, 1), [0..8, 8..20]);
    assert_eq!(parts(b"{\"a\": 1}\n---\nkind: B\n", &limits, 1).len(), 1);
}

#[test]
fn the_fixtures_say_the_same_in_parts() {
    let limits = Limits::default();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = fs::read(&path) else { continue };
        let whole = read(&text, &limits);
        let (documents, problems) = in_parts(&text, &limits, 1).unwrap();
        assert_same(&path.display().to_string(), &whole, &documents, &problems);
        count += 1;
    }
    assert!(count > 0, "no fixture in {folder}");
}

#[test]
fn limits_are_those_of_the_whole_text() {
    let text = "a: &x [1, 2]\nb: [*x, *x]\n---\n".repeat(10);
    let limited = |limits: Limits| in_parts(text.as_bytes(), &limits, 1).is_some();
    let all = Limits::default();
    assert!(limited(all));
    for (enough, too_few) in [
        (Limits { max_nodes: 92, ..all }, Limits { max_nodes: 90, ..all }),
        (Limits { max_nodes: 92, ..all }, Limits { max_nodes: 3, ..all }),
        (Limits { max_alias_nodes: 60, ..all }, Limits { max_alias_nodes: 59, ..all }),
        (Limits { max_alias_nodes: 60, ..all }, Limits { max_alias_nodes: 5, ..all }),
    ] {
        assert!(limited(enough), "{enough:?}");
        assert!(!limited(too_few), "{too_few:?}");
    }
    // More documents than allowed are not cut, and meet the limit together.
    for max_documents in [0, 9, 10] {
        let limits = Limits { max_documents, ..all };
        assert_eq!(parts(text.as_bytes(), &limits, 1).len(), if max_documents < 10 { 1 } else { 11 });
        let (documents, problems) = in_parts(text.as_bytes(), &limits, 1).unwrap();
        assert_same("documents", &read(text.as_bytes(), &limits), &documents, &problems);
        assert_eq!(documents.len(), max_documents);
    }
    // One more than there are separators is not seen before it is read.
    let open = text.trim_end_matches("---\n");
    assert!(in_parts(open.as_bytes(), &Limits { max_documents: 9, ..all }, 1).is_none());
    // Of the problems the first are kept, whichever parts they are in.
    let text = "a: yes\n---\n".repeat(10);
    for max_problems in [0, 3, 100] {
        let limits = Limits { max_problems, ..all };
        let (_, problems) = in_parts(text.as_bytes(), &limits, 1).unwrap();
        assert_eq!(problems, read(text.as_bytes(), &limits).problems);
    }
}
