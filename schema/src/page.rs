//! The page about all formats, from their schemas.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{Named, TYPES, schemas};

const HEAD: &str = "\
<!-- Made by `APPORTION_RECORD=1 cargo test -p apportion-schema`. Do not edit. -->

# Machine formats

`--output json` and `yaml` print documents of the format `apportion/v1`. `apportion schema NAME` prints their JSON Schema (draft 2020-12),
`apportion schema` lists the names:

```sh
apportion schema run > run.schema.json
```

- **Compatibility.** Within a format fields may be added, and values where a field has one of several; nothing is renamed, removed or given
  another meaning. Ignore fields that you do not know: the schemas allow them. A new value needs the schema of the program that printed it.
  [What versions promise](compatibility.md) has the rest.
- **Version.** `format` says which format a document is of, `kind` which document it is. A change that would break a reader raises `format`.
- Numbers are integers, apart from percentages. Amounts are texts: Kubernetes quantities such as `40Gi`.
- Fields that may be absent are left out where there is nothing to say.
- The entries of a list are alike: none has a meaning by its position.
- `replay` prints what `run` has as `report`. `validate` also prints the formats of others: SARIF, JUnit, and annotations of GitHub.
";

/// The page.
///
/// # Errors
///
/// As [`schemas`].
pub fn page() -> Result<String, String> {
    let all = schemas()?;
    let mut page = HEAD.to_owned();
    let mut types: BTreeMap<&str, &Value> = BTreeMap::new();
    page.push_str("\n| name | document |\n|---|---|\n");
    for Named { name, schema } in &all {
        page.push_str(&format!("| [`{name}`](#format-{name}) | {} |\n", described(schema)));
    }
    for Named { name, schema } in &all {
        page.push_str(&format!("\n## Format `{name}`\n\n{}\n{}", described(schema), body(schema)));
        let own = schema.get("$defs").and_then(Value::as_object);
        types.extend(own.into_iter().flatten().map(|(name, of)| (name.as_str(), of)));
    }
    page.push_str("\n## Types\n");
    for (name, schema) in types {
        page.push_str(&format!("\n### Type {name}\n\n{}\n{}", described(schema), body(schema)));
    }
    Ok(page)
}

fn described(schema: &Value) -> String {
    schema.get("description").and_then(Value::as_str).unwrap_or_default().replace('|', "\\|")
}

/// What a type consists of.
fn body(schema: &Value) -> String {
    if let Some(choices) = list(schema, "anyOf") {
        let one = |choice: &Value| match table(choice) {
            table if table.is_empty() => format!("\nOr {}.\n", in_words(choice)),
            table => format!("\nOr an object{}:\n{table}", marked(choice)),
        };
        let text: String = choices.iter().map(one).collect();
        return text.replacen("\nOr ", "\nEither ", 1);
    }
    match table(schema) {
        table if table.is_empty() => format!("\n{}.\n", in_words(schema)),
        table => table,
    }
}

/// The field whose value differs between the alternatives.
fn marked(schema: &Value) -> String {
    let part = list(schema, "allOf").and_then(<[Value]>::first).unwrap_or(schema);
    let mut fields = part.get("properties").and_then(Value::as_object).into_iter().flatten();
    let found = fields.find_map(|(name, of)| Some((name, of.get("const")?.as_str()?)));
    found.map(|(name, value)| format!(" with `{name}` `{value}`")).unwrap_or_default()
}

/// The fields of an object, with those that it has of another type; nothing where the schema is about no object.
fn table(schema: &Value) -> String {
    let parts = list(schema, "allOf").unwrap_or(std::slice::from_ref(schema));
    let none = Map::new();
    let (mut rows, mut inherited) = (String::new(), String::new());
    for part in parts {
        let required: Vec<&str> = list(part, "required").into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, of) in part.get("properties").and_then(Value::as_object).unwrap_or(&none) {
            let absent = if required.contains(&name.as_str()) { "" } else { ", may be absent" };
            rows.push_str(&format!("| `{name}` | {}{absent} | {} |\n", in_words(of), described(of)));
        }
        if part.get("$ref").is_some() {
            inherited.push_str(&format!("\nand the fields of {}.\n", in_words(part)));
        }
    }
    match rows.is_empty() {
        true => String::new(),
        false => format!("\n| field | type | meaning |\n|---|---|---|\n{rows}{inherited}"),
    }
}

/// A type in words, with a link where it has a name.
fn in_words(schema: &Value) -> String {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix(TYPES)) {
        return format!("[{name}](#type-{})", name.to_lowercase());
    }
    if let Some(value) = schema.get("const").and_then(Value::as_str) {
        return format!("`{value}`");
    }
    if let Some(values) = list(schema, "enum") {
        return values
            .iter()
            .filter_map(Value::as_str)
            .map(|value| format!("`{value}`"))
            .collect::<Vec<_>>()
            .join(", ");
    }
    if let Some(choices) = list(schema, "anyOf") {
        return choices.iter().map(in_words).collect::<Vec<_>>().join(" or ");
    }
    if let Some(parts) = list(schema, "allOf") {
        return parts.iter().map(in_words).collect::<Vec<_>>().join(" with ");
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("array") => format!("list of {}", schema.get("items").map(in_words).unwrap_or_default()),
        Some("object") => match schema.get("additionalProperties") {
            Some(of) => format!("map of names to {}", in_words(of)),
            None => "object".to_owned(),
        },
        Some("string") => "text".to_owned(),
        Some(other) => other.to_owned(),
        None => "any value".to_owned(),
    }
}

fn list<'s>(schema: &'s Value, key: &str) -> Option<&'s [Value]> {
    schema.get(key).and_then(Value::as_array).map(Vec::as_slice)
}
