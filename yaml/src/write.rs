//! JSON as YAML that every reader, old or new, reads back as the same JSON.

use serde_json::Value;

/// Levels of nesting that are written as blocks; what is deeper follows in JSON, which is YAML too.
const MAX_DEPTH: usize = 64;

/// A value as YAML in block style, with a newline at its end; keys in the order of the map.
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => block(value, 0, &mut out),
        Value::Array(list) if !list.is_empty() => block(value, 0, &mut out),
        _ => {
            out.push_str(&scalar(value));
            out.push('\n');
        }
    }
    out
}

/// The entries of a list or an object that has some, one per line.
fn block(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(map) => {
            for (index, (key, value)) in map.iter().enumerate() {
                // The first entry stands behind what opened the block.
                if index > 0 || out.is_empty() || out.ends_with('\n') {
                    out.push_str(&indent);
                }
                out.push_str(&plain_or_quoted(key));
                out.push(':');
                match value {
                    _ if !is_block(value, depth) => inline(value, out),
                    Value::Array(_) => {
                        // As kubectl does: a list is not indented below its key.
                        out.push('\n');
                        block(value, depth, out);
                    }
                    _ => {
                        out.push('\n');
                        block(value, depth.saturating_add(1), out);
                    }
                }
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                if index > 0 || out.is_empty() || out.ends_with('\n') {
                    out.push_str(&indent);
                }
                out.push('-');
                if is_block(value, depth) {
                    out.push(' ');
                    block(value, depth.saturating_add(1), out);
                } else {
                    inline(value, out);
                }
            }
        }
        _ => inline(value, out),
    }
}

fn is_block(value: &Value, depth: usize) -> bool {
    let has_entries = match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => false,
    };
    has_entries && depth < MAX_DEPTH
}

fn inline(value: &Value, out: &mut String) {
    out.push(' ');
    out.push_str(&scalar(value));
    out.push('\n');
}

/// What stands on one line: a scalar, or JSON.
pub(crate) fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => plain_or_quoted(text),
        _ => json(value),
    }
}

/// JSON in which everything is escaped that cannot stand in YAML.
fn json(value: &Value) -> String {
    let mut escaped = String::new();
    for character in value.to_string().chars() {
        match character {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Text that no reader takes for anything else stands as it is, all other in quotes.
fn plain_or_quoted(text: &str) -> String {
    let is_word = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
    let starts_well = text.starts_with(|character: char| character.is_ascii_alphabetic());
    // Words that YAML 1.1 reads as booleans, null or numbers.
    let means_more = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"];
    let is_plain = starts_well
        && text.chars().all(|character| is_word(character) || character == ' ')
        && !text.ends_with(' ')
        && !means_more.contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { json(&Value::from(text)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::documents::{Limits, read};

    #[test]
    fn what_is_written_is_read_back_the_same() {
        let values = [
            json!({ "a": [], "b": {}, "c": [[1, [2, { "x": [3] }]], { "d": { "e": null } }], "f": -1.5 }),
            json!({ "text": ["yes", "1.10", "0x1", "", " a", "a: b", "# x", "é\u{1}\n", "-", "~", "a b", "1e3", "NaN", "=", "<<", "\u{7f}\u{85}\u{9f}\u{2028}\u{feff}\u{ffff}"] }),
            json!({ "\u{7f}": 1 }),
            json!({ "on": true, "1": "x", "": 1, "a.b/c": "40Gi" }),
            json!([[["deep"]]]),
        ];
        for value in values {
            let text = write(&value);
            let reading = read(text.as_bytes(), &Limits::default());
            assert_eq!(reading.problems, [], "{text}");
            assert_eq!(reading.documents[0].value, value, "{text}");
        }
    }

    #[test]
    fn it_looks_as_kubectl_writes_it() {
        let value = json!({ "a": [{ "b": 1, "c": ["d"] }], "e": { "f": "g h" } });
        assert_eq!(write(&value), "a:\n- b: 1\n  c:\n  - d\ne:\n  f: g h\n");
    }
}
