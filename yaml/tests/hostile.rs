//! Input made to hurt: it costs a bounded amount and ends as problems.

use apportion_yaml::{Limits, ProblemCode, Reading, read};
use proptest::prelude::*;

fn codes(reading: &Reading) -> Vec<ProblemCode> {
    reading.problems.iter().map(|problem| problem.code).collect()
}

/// Values in all documents: what the reading cost the caller.
fn count(reading: &Reading) -> usize {
    fn values(value: &serde_json::Value) -> usize {
        1 + match value {
            serde_json::Value::Array(items) => items.iter().map(values).sum(),
            serde_json::Value::Object(fields) => fields.values().map(values).sum(),
            _ => 0,
        }
    }
    reading.documents.iter().map(|document| values(&document.value)).sum()
}

#[test]
fn nine_levels_of_aliases_stop_at_the_limit() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let inner = vec![format!("*a{}", level - 1); 9].join(", ");
        text += &format!("a{level}: &a{level} [{inner}]\n");
    }
    text += "---\na: 1\n";
    let reading = read(text.as_bytes(), &Limits::default());
    assert_eq!(codes(&reading), [ProblemCode::Limit]);
    assert_eq!(reading.documents.len(), 1, "the document behind is read");
}

#[test]
fn merge_keys_and_aliased_keys_count_as_aliases() {
    let mut text = String::from("a0: &a0 {");
    text.extend((0..100).map(|key| format!("k{key}: 1, ")));
    text += "}\n";
    for level in 1..60 {
        text += &format!("a{level}: &a{level} [{}]\n", vec!["{<<: *a0}"; 50].join(", "));
    }
    assert_eq!(codes(&read(text.as_bytes(), &Limits::default())), [ProblemCode::Limit]);

    let long = "x".repeat(1000);
    let mut text = format!("- &long {long}\n");
    text.extend((0..20_000).map(|_| "- ? *long\n"));
    assert_eq!(codes(&read(text.as_bytes(), &Limits::default())), [ProblemCode::Limit]);
}

#[test]
fn a_huge_text_behind_many_aliases_is_not_copied_without_end() {
    let mut text = format!("- &a {}\n", "x".repeat(1 << 20));
    text.extend((0..1000).map(|_| "- *a\n"));
    let reading = read(text.as_bytes(), &Limits::default());
    assert_eq!(codes(&reading), [ProblemCode::Limit]);
    assert_eq!(reading.documents.len(), 0);
}

#[test]
fn deep_nesting_stops_at_the_limit() {
    let open = |text: &str| format!("a: 1\n---\n{}\n---\nb: 2\n", text.repeat(5000));
    for text in [open("["), open("{a: "), open("- "), open("? "), open("{\"a\":["), open("[{")] {
        let reading = read(text.as_bytes(), &Limits::default());
        assert_eq!(reading.documents.len(), 2, "{:?}", reading.problems);
        assert_eq!(codes(&reading), [ProblemCode::Limit]);
    }
    let json = format!("{}\n---\nb: 2\n", "[".repeat(5000));
    let reading = read(json.as_bytes(), &Limits::default());
    assert_eq!((codes(&reading), reading.documents.len()), (vec![ProblemCode::Limit], 1));
}

#[test]
fn depth_up_to_the_limit_is_read_and_one_more_is_not() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let limits = Limits::default();
    for prefix in ["", "---\n"] {
        let text = format!("{prefix}{}", nested(limits.max_depth));
        assert_eq!(codes(&read(text.as_bytes(), &limits)), []);
        let text = format!("{prefix}{}", nested(limits.max_depth + 1));
        assert_eq!(codes(&read(text.as_bytes(), &limits)), [ProblemCode::Limit]);
    }
}

#[test]
fn aliases_cannot_nest_deeper_than_the_limit() {
    let mut text = String::from("- &a0 []\n");
    text.extend((1..300).map(|level| format!("- &a{level} [*a{}]\n", level - 1)));
    assert_eq!(codes(&read(text.as_bytes(), &Limits::default())), [ProblemCode::Limit]);
}

#[test]
fn sizes_and_counts_are_limited() {
    let small = Limits { max_bytes: 10, max_nodes: 20, max_documents: 2, max_problems: 3, ..Limits::default() };
    assert_eq!(codes(&read(b"a: 12345678", &small)), [ProblemCode::Limit]);

    let nodes = Limits { max_bytes: 1000, ..small };
    for text in [
        "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]",
        "- a\n- [b, c, d, e]\n---\n- x\n- [v, z]\n---\n[a, b, c, d, e, f]\n",
    ] {
        let reading = read(text.as_bytes(), &nodes);
        assert_eq!(codes(&reading), [ProblemCode::Limit]);
        assert!(count(&reading) <= 20);
    }

    for text in ["a: 1\n---\nb: 2\n---\nc: 3\n---\nd: 4\n", "{}{}{}{}", "{kind: List, items: [1, 2, 3, 4]}"] {
        let reading = read(text.as_bytes(), &nodes);
        assert_eq!((codes(&reading), reading.documents.len()), (vec![ProblemCode::Limit], 2), "{text}");
    }

    let reading = read(b"[yes, yes, yes, yes, yes]", &nodes);
    assert_eq!(reading.problems.len(), 4);
    assert_eq!(reading.problems[3].message, "2 more problems are not listed");
}

/// Each takes about a second where the cost grows with the square of the size, and hours at the sizes that pass.
#[test]
fn long_input_costs_in_proportion() {
    let n = 200_000;
    let texts = [
        "a".repeat(n),
        format!("a: \"{}\"", "x\\n".repeat(n)),
        format!("a: '{}", "x\n".repeat(n)),
        format!("a: |\n{}", "  x\n".repeat(n)),
        format!("a: {}", "x ".repeat(n)),
        "a: 1\n".repeat(n),
        (0..n).map(|key| format!("k{key}: 1\n")).collect(),
        "- &a x\n- *a\n".repeat(n / 10),
        "---\n".repeat(n),
        "---\na\n".repeat(n / 10),
        format!("[{}", "a, ".repeat(n)),
        format!("{{{}", "a: , ".repeat(n)),
        " ".repeat(n),
        "\t".repeat(n),
        "#".repeat(n),
        format!("a: {}", "#".repeat(n)),
        "&a ".repeat(n),
        "!a ".repeat(n),
        "%a ".repeat(n),
        "? ".repeat(n),
        ": ".repeat(n),
        "{{ a }}\n".repeat(n),
        "a: {{ a\n".repeat(n),
        "\"".repeat(n),
        "{\"a\":1}".repeat(n / 10),
        format!("{{\"a\": [{}1]}}", "1,".repeat(n)),
        format!("{{\"a\": \"{}\"}}", "\\u00e9".repeat(n)),
        format!("a: {}", "9".repeat(n)),
        format!("a: {}", "1_".repeat(n)),
        format!("a: 0x{}", "f".repeat(n)),
        format!("{{\"a\": 1{}}}", "0".repeat(n)),
        "\u{85}\u{2028}".repeat(n),
        "...\n".repeat(n),
        "\n\t".repeat(n),
        "- \n".repeat(n),
        format!("{{\"a\": 1}}{}", "{\"a\": }\n".repeat(n / 10)),
    ];
    for text in &texts {
        let reading = read(text.as_bytes(), &Limits::default());
        assert!(reading.problems.len() <= Limits::default().max_problems + 1);
        assert!(count(&reading) <= 2 * text.len());
    }
}

#[test]
fn every_truncation_of_a_manifest_is_read() {
    let text = "# c\napiVersion: v1\nkind: List\nitems:\n- {a: [1, 'x', \"y\\n\"], b: &a |\n    t\n- *a\n---\n\
                b: >-\n  é😀\n  f\n<<: {c: !!int \"7\"}\n? x\n: y\n---\n{\"j\": [1.5e3, \"\\ud83d\\ude00\", null]}\n";
    for end in 0..text.len() {
        for bytes in [&text.as_bytes()[..end], &text.as_bytes()[end..]] {
            read(bytes, &Limits::default());
        }
    }
}

/// Bytes that look enough like YAML to get deep into the parser.
fn almost_yaml() -> impl Strategy<Value = Vec<u8>> {
    let pieces = vec![
        "a",
        "b: ",
        "- ",
        "? ",
        ": ",
        "\n",
        "\n  ",
        "\n\t",
        " ",
        "{",
        "}",
        "[",
        "]",
        ", ",
        "\"",
        "'",
        "|",
        ">",
        "&x ",
        "*x",
        "!!int ",
        "!",
        "#",
        "---\n",
        "...\n",
        "<<: ",
        "%",
        "{{",
        "}}",
        "\\",
        "\\u00e9",
        "1",
        "0x",
        "é",
        "\r\n",
        "\u{feff}",
        "\u{2028}",
        "yes",
        "~",
        "kind: List\n",
        "items:\n",
        "{\"kind\":\"List\",\"items\":[",
        "null",
        "\0",
    ];
    let piece = prop_oneof![
        12 => prop::sample::select(pieces).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..3),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read(&bytes, &Limits::default());
    }

    #[test]
    fn anything_like_yaml_is_read_with_ranges_inside_the_text(bytes in almost_yaml()) {
        let reading = read(&bytes, &Limits::default());
        for problem in &reading.problems {
            prop_assert!(problem.span.start <= problem.span.end && problem.span.end <= bytes.len());
            prop_assert!(!problem.message.is_empty() && !problem.message.contains('\n'));
        }
        for document in &reading.documents {
            prop_assert!(document.span.start <= document.span.end && document.span.end <= bytes.len());
            prop_assert!(document.positions.find("a.b[0]").is_some());
        }
        // What is one is the same the second time.
        prop_assert_eq!(&reading.problems, &read(&bytes, &Limits::default()).problems);
    }

    #[test]
    fn json_is_read_as_it_was_written(value in json()) {
        let compact = serde_json::to_string(&value).unwrap();
        let reading = read(compact.as_bytes(), &Limits::default());
        prop_assert_eq!(reading.documents.len(), 1);
        prop_assert_eq!(&reading.documents[0].value, &value);
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(&read(pretty.as_bytes(), &Limits::default()).documents[0].value, &value);
        // Behind a separator it is YAML, where only floats without a fraction turn into integers.
        let as_yaml = read(format!("---\n{compact}").as_bytes(), &Limits::default());
        prop_assert_eq!(as_yaml.documents.len(), 1);
        prop_assert!(is_close(&as_yaml.documents[0].value, &value), "{:?}", as_yaml.documents[0].value);
    }

    #[test]
    fn every_path_of_a_json_value_leads_to_its_text(value in json()) {
        let text = serde_json::to_string(&value).unwrap();
        let reading = read(text.as_bytes(), &Limits::default());
        let mut waiting = vec![(String::new(), &value)];
        while let Some((path, value)) = waiting.pop() {
            let located = reading.documents[0].positions.find(&path).unwrap();
            prop_assert!(located.is_exact, "{}", path);
            // Not by serde_json, whose floats are off by one in the last digit.
            let found = [b"{\"v\":", &text.as_bytes()[located.value], b"}"].concat();
            let found = read(&found, &Limits::default());
            prop_assert_eq!(&found.documents[0].value["v"], value);
            match value {
                serde_json::Value::Array(items) => {
                    waiting.extend(items.iter().enumerate().map(|(i, item)| (format!("{path}[{i}]"), item)));
                }
                serde_json::Value::Object(fields) => {
                    waiting.extend(fields.iter().map(|(key, value)| (format!("{path}[{key}]"), value)));
                }
                _ => {}
            }
        }
    }
}

fn is_close(left: &serde_json::Value, right: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Number, Object};
    match (left, right) {
        (Number(left), Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Array(left), Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_close(left, right))
        }
        (Object(left), Object(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| left.0 == right.0 && is_close(left.1, right.1))
        }
        _ => left == right,
    }
}

/// JSON objects and lists whose keys can stand in a path.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<u64>().prop_map(serde_json::Value::from),
        any::<f64>().prop_filter("finite", |float| float.is_finite()).prop_map(serde_json::Value::from),
        "[ -~é😀\n\t]{0,12}".prop_map(serde_json::Value::from),
        any::<String>()
            .prop_filter("no character that YAML 1.1 takes for a line end or refuses", |text| {
                !text.chars().any(|c| {
                    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
                })
            })
            .prop_map(serde_json::Value::from),
    ];
    let nested = leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::btree_map("[a-zé./-]{1,10}", inner, 0..6)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[a-zA-Z0-9 é./_-]{1,10}", nested, 0..6)
        .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect()))
}
