//! Documents, positions, recovery and what is told to the author.

use apportion_yaml::{Limits, ProblemCode, Reading, Severity, read};
use serde_json::json;

fn read_all(text: &str) -> Reading {
    read(text.as_bytes(), &Limits::default())
}

/// Each problem as `code text-it-is-about`.
fn told(text: &str) -> Vec<String> {
    let reading = read_all(text);
    let about = |problem: &apportion_yaml::Problem| text.get(problem.span.clone()).unwrap_or("?").to_owned();
    reading.problems.iter().map(|problem| format!("{} {}", problem.code, about(problem))).collect()
}

/// The text that a path leads to: of the key and of the value.
fn found<'t>(text: &'t str, path: &str) -> (Option<&'t str>, &'t str, bool, String) {
    let reading = read_all(text);
    let located = reading.documents.first().and_then(|document| document.positions.find(path)).unwrap_or_default();
    let slice = |range: std::ops::Range<usize>| text.get(range).unwrap_or("?");
    (located.key.map(slice), slice(located.value), located.is_exact, located.found)
}

const CLAIM: &str = r#"
kind: ResourceClaim # a claim
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        count: 3
    - name: "nic"
      exactly: { deviceClassName: nic, selectors: [ { cel: null } ] }
  attributes:
    dra.example.com/model: { string: "x" }
    empty:
  text: |
    one
    two
last: end
"#;

#[test]
fn fields_are_found_by_their_path() {
    let exact = |path, key, value| assert_eq!(found(CLAIM, path), (key, value, true, path.to_owned()), "{path}");
    exact("kind", Some("kind"), "ResourceClaim");
    exact("spec.devices.requests[0].exactly.count", Some("count"), "3");
    exact("spec.devices.requests[1].name", Some("name"), "\"nic\"");
    exact("spec.devices.requests[1].exactly.selectors[0].cel", Some("cel"), "null");
    exact("spec.devices.requests[1].exactly.selectors[0]", None, "{ cel: null }");
    exact("spec.attributes[dra.example.com/model].string", Some("string"), "\"x\"");
    exact("spec.attributes[empty]", Some("empty"), "");
    exact("spec.attributes.empty", Some("empty"), "");
    exact("spec.devices.requests[0]", None, "name: gpu\n      exactly:\n        count: 3");
    exact("spec.text", Some("text"), "one\n    two\n");
    exact("last", Some("last"), "end");
}

#[test]
fn the_longest_existing_prefix_is_found_when_a_path_does_not_exist() {
    let nearest = |path, prefix: &str, key, value| {
        assert_eq!(found(CLAIM, path), (key, value, false, prefix.to_owned()), "{path}");
    };
    nearest("kind.x", "kind", Some("kind"), "ResourceClaim");
    nearest(
        "spec.devices.requests[1].exactly.selectors[7].cel",
        "spec.devices.requests[1].exactly.selectors",
        Some("selectors"),
        "[ { cel: null } ]",
    );
    nearest("spec.attributes[dra.example.com/none]", "spec.attributes", Some("attributes"), {
        "dra.example.com/model: { string: \"x\" }\n    empty:"
    });
    let (key, _, is_exact, prefix) = found(CLAIM, "metadata.name");
    assert_eq!((key, is_exact, prefix.as_str()), (None, false, ""));
}

#[test]
fn positions_lead_through_aliases_and_merge_keys() {
    let text = "base: &b\n  x: { v: 1 }\n  z: 2\nuse: *b\nmore:\n  <<: *b\n  z: 3\n";
    assert_eq!(found(text, "use"), (Some("use"), "*b", true, "use".into()));
    assert_eq!(found(text, "use.x.v"), (Some("v"), "1", true, "use.x.v".into()));
    assert_eq!(found(text, "more.x"), (Some("x"), "{ v: 1 }", true, "more.x".into()));
    assert_eq!(found(text, "more.z"), (Some("z"), "3", true, "more.z".into()));
}

#[test]
fn the_last_of_equal_keys_counts_and_is_told() {
    let text = "a: 1\nb: 2\na: 3\n";
    assert_eq!(read_all(text).documents[0].value, json!({ "a": 3, "b": 2 }));
    assert_eq!(found(text, "a").1, "3");
    assert_eq!(told(text), ["yaml/duplicate-key a"]);
    assert_eq!(read_all(text).problems[0].span, 10..11);
    assert_eq!(told("{\"a\": 1, \"a\": 2}"), ["yaml/duplicate-key \"a\""]);
}

#[test]
fn a_broken_document_leaves_the_others_readable() {
    let text = "kind: A\n---\nkind: [\n---\nkind: B\n---\n\tkind: C\n---\nkind: 'D\n---\nkind: E\n";
    let reading = read_all(text);
    let kinds: Vec<_> =
        reading.documents.iter().filter(|d| !d.is_refused).map(|document| document.value["kind"].clone()).collect();
    assert_eq!(kinds, ["A", "B", "E"]);
    let errors = reading.problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    assert_eq!(errors, 3, "{:?}", reading.problems);
    for document in reading.documents.iter().filter(|document| !document.is_refused) {
        assert!(text.get(document.span.clone()).unwrap().starts_with("kind: "), "{:?}", document.span);
    }
}

#[test]
fn bytes_that_are_no_text_cost_only_their_document() {
    let reading = read(b"a: 1\n---\nb: \xff\n---\nc: \0\n---\nd: 4\n", &Limits::default());
    let values: Vec<_> = reading.documents.iter().map(|document| document.value.clone()).collect();
    assert_eq!(values, [json!({ "a": 1 }), json!({ "d": 4 })]);
    assert_eq!(reading.problems.iter().map(|p| p.code).collect::<Vec<_>>(), [ProblemCode::Encoding; 2]);
    assert_eq!(reading.problems[0].span, 12..13);
}

#[test]
fn lists_are_taken_apart_and_keep_their_positions() {
    let text = "apiVersion: v1\nkind: List\nitems:\n- kind: A\n  m: 1\n- kind: List\n  items: [ { kind: B }, { kind: C } ]\n\
                - kind: D\n";
    let reading = read_all(text);
    let kinds: Vec<_> = reading.documents.iter().map(|document| document.value["kind"].clone()).collect();
    assert_eq!(kinds, ["A", "B", "C", "D"]);
    let spans: Vec<_> = reading.documents.iter().map(|d| text.get(d.span.clone()).unwrap()).collect();
    assert_eq!(spans, ["kind: A\n  m: 1", "{ kind: B }", "{ kind: C }", "kind: D"]);
    let located = reading.documents[0].positions.find("m").unwrap();
    assert_eq!(text.get(located.value).unwrap(), "1");

    let typed = "{\"apiVersion\": \"x/v1\", \"kind\": \"ThingList\", \"items\": [{\"n\": 1}, {\"kind\": \"Other\"}]}";
    let values: Vec<_> = read_all(typed).documents.into_iter().map(|document| document.value).collect();
    assert_eq!(values, [json!({ "apiVersion": "x/v1", "kind": "Thing", "n": 1 }), json!({ "kind": "Other" })]);
}

#[test]
fn surprising_values_and_keys_are_told() {
    assert_eq!(
        told("a: yes\non: 1\nb: 012\nc: 1.10\nd: 1_000\ne: 0o12\nf: 12e3\n"),
        [
            "yaml/surprising-scalar yes",
            "yaml/surprising-key on",
            "yaml/surprising-scalar 012",
            "yaml/surprising-scalar 1.10",
            "yaml/surprising-scalar 1_000",
            "yaml/surprising-scalar 0o12",
            "yaml/surprising-scalar 12e3",
        ]
    );
    assert_eq!(
        told("a: true\nb: 'yes'\nc: 1.5\nd: 0x1F\ne: -3\nmode: 0644\ndefaultMode: 0400\n1: x\ntrue: z\n"),
        [""; 0]
    );
    let problem = read_all("a: yes\n").problems.remove(0);
    assert_eq!(problem.message, "`yes` is read as true");
    assert_eq!(problem.hint.as_deref(), Some("write `true` if that is meant, or quote it: `\"yes\"`"));
    assert_eq!(read_all("a: 012\n").problems[0].message, "`012` is read as the number 10");
    assert_eq!(read_all("on: 1\n").problems[0].message, "key `on` is read as `true`");
}

#[test]
fn integers_beyond_64_bits_are_told() {
    for number in ["9223372036854775808", "18446744073709551616", "-9223372036854775809"] {
        assert_eq!(told(&format!("a: {number}\n")), [format!("yaml/large-number {number}")]);
        assert_eq!(told(&format!("{{\"a\": {number}}}\n")), [format!("yaml/large-number {number}")]);
    }
    assert_eq!(told("a: 9223372036854775807\nb: -9223372036854775808\n"), [""; 0]);
    assert_eq!(read_all("a: 9223372036854775808\n").documents[0].value["a"], json!(9_223_372_036_854_775_808u64));
}

#[test]
fn templates_are_told_apart_from_broken_yaml() {
    let codes = |text: &str| read_all(text).problems.iter().map(|p| (p.code, p.severity)).collect::<Vec<_>>();
    let error = [(ProblemCode::Template, Severity::Error)];
    assert_eq!(codes("a: {{ .Values.x }}\n"), error);
    assert_eq!(codes("{{- if .Values.x }}\na: b\n{{- end }}\n"), error);
    assert_eq!(codes("a: x-{{ .n }}\nb: {{ .n }}\n"), error);
    assert_eq!(codes("{{ range }}\na: b: c\n"), error);
    assert_eq!(codes("name: x-{{ .n }}\n"), [(ProblemCode::Template, Severity::Warning)]);
    assert_eq!(codes("name: \"{{ $labels.pod }}\"\n# {{ x }}\nb: |\n  {{ y }}\n"), []);
    assert_eq!(codes("name: \"{{ $labels.pod }}\"\nb: [\n"), [(ProblemCode::Syntax, Severity::Error)]);
    assert_eq!(told("a: b\nc: {{ .x }}\n"), ["yaml/template {{ .x }}"]);
}

#[test]
fn what_kubectl_drops_is_told() {
    assert_eq!(told("a: 1\n...\nb: 2\n---\nc: 3\n"), ["yaml/ignored-text b: 2"]);
    assert_eq!(told("a: 1\n...\n# done\n"), [""; 0]);
    assert_eq!(told("  a: 1\n b: 2\n"), ["yaml/ignored-text b: 2"]);
    assert_eq!(told("a: 1\n--- b: 2\nc: 3\n"), ["yaml/separator b: 2"]);
    assert_eq!(told("-----BEGIN CERTIFICATE-----\nabc\n"), ["yaml/separator --BEGIN CERTIFICATE-----"]);
}

#[test]
fn syntax_errors_say_what_and_where() {
    let first = |text: &str| {
        let problem = read_all(text).problems.remove(0);
        (problem.message, problem.span.start)
    };
    assert_eq!(first("a:\n\tb: c\n"), ("a tab is used as indentation".into(), 4));
    assert_eq!(first("a: b\n  c: d\n"), ("a `:` cannot stand here".into(), 8));
    assert_eq!(first("a: @x\n"), ("a value cannot begin with `@`".into(), 3));
    assert_eq!(first("{\"a\": 1 \"b\": 2}"), ("`,` or `}` was expected here".into(), 8));
    assert_eq!(first("a: *x\n"), ("alias `*x` has no anchor before it".into(), 3));
    assert_eq!(first("a: &x [ *x ]\n"), ("alias `*x` repeats the value that it stands in".into(), 8));
    assert_eq!(first("[a]: b\n"), ("a list cannot be a key".into(), 0));
    assert_eq!(first("a: .inf\n"), ("`.inf` is no number that JSON can hold".into(), 3));
    assert_eq!(first("a: !!int x\n"), ("`x` is not an integer, as its tag demands".into(), 9));
}

#[test]
fn byte_order_marks_and_windows_line_ends_keep_the_positions() {
    let text = "\u{feff}a: 1\r\nb:\r\n  c: \"x\"\r\n---\r\n\u{feff}d: 4\r\n";
    let reading = read_all(text);
    assert_eq!(reading.documents[0].value, json!({ "a": 1, "b": { "c": "x" } }));
    assert_eq!(reading.documents[1].value, json!({ "d": 4 }));
    assert_eq!(found(text, "b.c").1, "\"x\"");
    assert_eq!(reading.problems, []);
    let utf16: Vec<u8> = "a: 1".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let reading = read(&[&[0xFF, 0xFE], utf16.as_slice()].concat(), &Limits::default());
    assert_eq!(reading.problems[0].message, "the input is UTF-16, not UTF-8");
}

#[test]
fn codes_are_unique_and_have_a_paragraph() {
    let mut texts: Vec<_> = ProblemCode::ALL.iter().map(|code| code.text()).collect();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), ProblemCode::ALL.len());
    assert!(ProblemCode::ALL.iter().all(|code| code.text().starts_with("yaml/") && code.paragraph().ends_with('.')));
}
