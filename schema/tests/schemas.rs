//! The files and the page are those of the types, and what the program prints is what the schemas say.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests read files and look at what must be there")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use apportion_schema::{page, schemas, text};
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

#[test]
fn the_files_and_the_page_are_those_of_the_types() {
    let all = schemas().unwrap();
    let mut made: BTreeMap<PathBuf, String> =
        all.iter().map(|named| (root().join(format!("schema/v1/{}.json", named.name)), text(&named.schema))).collect();
    made.insert(root().join("docs/formats.md"), page().unwrap());
    if std::env::var_os("APPORTION_RECORD").is_some() {
        made.iter().for_each(|(path, text)| fs::write(path, text).unwrap());
    }
    for (path, text) in &made {
        let kept = fs::read_to_string(path).unwrap_or_default();
        assert!(kept == *text, "{} is not what the types are: record it anew", path.display());
    }
    let files = fs::read_dir(root().join("schema/v1")).unwrap().count();
    assert_eq!(files, all.len(), "a file of `schema/v1` has no type");
}

/// Every recorded output of the command line is valid, and has no field that its schema does not name.
#[test]
fn what_the_program_prints_is_what_the_schemas_say() {
    let schemas: BTreeMap<&str, Value> =
        schemas().unwrap().into_iter().map(|named| (named.name, named.schema)).collect();
    let constant = |schema: &Value, field: &str| schema["properties"][field].get("const").cloned();
    let mut shown = BTreeSet::new();
    for (file, document) in recorded() {
        let is_of = |schema: &&Value| {
            ["format", "kind"].iter().all(|field| constant(schema, field).as_ref() == document.get(field))
        };
        let found = schemas.iter().find(|(_, schema)| is_of(schema));
        let (name, schema) = found.unwrap_or_else(|| panic!("{file}: there is no schema for {document}"));
        let wrong = wrong(schema, &document);
        assert!(wrong.is_empty(), "{file} is not what schema `{name}` says:\n{}", wrong.join("\n"));
        shown.insert(*name);
    }
    let needed = [
        "allocate",
        "check",
        "check-watch",
        "codes",
        "crct-status",
        "explain",
        "fit",
        "run",
        "snapshot",
        "usage",
        "validate",
    ];
    let missing: Vec<&str> = needed.into_iter().filter(|name| !shown.contains(name)).collect();
    assert!(missing.is_empty(), "no recorded output of {missing:?}");
}

#[test]
fn another_document_is_refused() {
    let schemas = schemas().unwrap();
    let codes = &schemas.iter().find(|named| named.name == "codes").unwrap().schema;
    let code = json!({ "code": "a", "severity": "error", "paragraph": "b", "about": "c", "wayOut": "d", "rule": "e" });
    let with = |code: Value| json!({ "format": "apportion/v1", "kind": "Codes", "codes": [code] });
    assert_eq!(wrong(codes, &with(code.clone())), Vec::<String>::new());
    for (field, value) in [("severity", json!("fatal")), ("code", json!(1)), ("code", Value::Null), ("more", json!(1))]
    {
        let mut other = code.clone();
        other[field] = value;
        assert_ne!(wrong(codes, &with(other)), Vec::<String>::new(), "{field}");
    }
    for other in [json!([]), json!({}), json!({ "format": "apportion/v1", "kind": "Fit", "codes": [] })] {
        assert_ne!(wrong(codes, &other), Vec::<String>::new(), "{other}");
    }
}

/// Documents on standard output, from the snapshots of the command line, with the name of the file.
fn recorded() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("host-wasmtime/tests/snapshots")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let Some((_, output)) = text.split_once("----- stdout\n") else { continue };
        let output = output.split("\n----- ").next().unwrap();
        let documents: Vec<Value> = if output.contains("\nformat: apportion/") {
            let reading = apportion_yaml::read(output.as_bytes(), &apportion_yaml::Limits::default());
            reading.documents.into_iter().map(|document| document.value).collect()
        } else {
            serde_json::Deserializer::from_str(output).into_iter().map_while(Result::ok).collect()
        };
        let name = path.file_name().unwrap().to_string_lossy();
        found.extend(documents.into_iter().map(|document| (name.to_string(), document)));
    }
    // Not so the schemas themselves, SARIF and the API's own objects.
    found.retain(|(_, document)| document.get("format").is_some() || document.get("revision").is_some());
    found
}

/// What of a document is not as a schema says. A field that the schema does not name is wrong as well.
fn wrong(schema: &Value, document: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    Checker { root: schema }.part(schema, document, "", &mut wrong);
    wrong
}

struct Checker<'s> {
    root: &'s Value,
}

impl Checker<'_> {
    /// A part of the document with all that is said of it.
    fn part(&self, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
        let mut known = BTreeSet::new();
        self.said(schema, value, at, &mut known, wrong);
        let names = value.as_object().into_iter().flat_map(|fields| fields.keys());
        let unknown = names.filter(|name| !known.contains("*") && !known.contains(*name));
        wrong.extend(unknown.map(|name| format!("{at}/{name} is not in the schema")));
    }

    /// Checks what one schema says, and adds the fields that it names, `*` for all, to `known`.
    fn said(&self, schema: &Value, value: &Value, at: &str, known: &mut BTreeSet<String>, wrong: &mut Vec<String>) {
        let says = schema.as_object().unwrap();
        if says.keys().all(|key| key == "description") {
            known.insert("*".to_owned());
        }
        for (key, rule) in says {
            let is_fine = match key.as_str() {
                "$schema" | "$id" | "$defs" | "description" => true,
                "$ref" => {
                    let of = self.root.pointer(rule.as_str().unwrap().strip_prefix('#').unwrap()).unwrap();
                    self.said(of, value, at, known, wrong);
                    true
                }
                "type" => match rule.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    other => panic!("type {other}"),
                },
                "const" => value == rule,
                "enum" => rule.as_array().unwrap().contains(value),
                "required" => rule.as_array().unwrap().iter().all(|name| value.get(name.as_str().unwrap()).is_some()),
                "properties" => {
                    for (name, of) in rule.as_object().unwrap() {
                        known.insert(name.clone());
                        if let Some(value) = value.get(name) {
                            self.part(of, value, &format!("{at}/{name}"), wrong);
                        }
                    }
                    true
                }
                "additionalProperties" => {
                    let named = |name: &String| schema["properties"].get(name).is_some();
                    for (name, value) in value.as_object().into_iter().flatten().filter(|(name, _)| !named(name)) {
                        known.insert(name.clone());
                        self.part(rule, value, &format!("{at}/{name}"), wrong);
                    }
                    true
                }
                "items" => {
                    for (index, value) in value.as_array().into_iter().flatten().enumerate() {
                        self.part(rule, value, &format!("{at}/{index}"), wrong);
                    }
                    true
                }
                "allOf" => {
                    rule.as_array().unwrap().iter().for_each(|one| self.said(one, value, at, known, wrong));
                    true
                }
                "anyOf" => {
                    // The alternative that is right with all its fields counts, else the one that comes nearest.
                    let tried = rule.as_array().unwrap().iter().map(|one| {
                        let mut own = Vec::new();
                        self.part(one, value, at, &mut own);
                        (own.len(), own, one)
                    });
                    let (_, own, chosen) = tried.min_by_key(|(number, ..)| *number).unwrap();
                    wrong.extend(own);
                    self.said(chosen, value, at, known, &mut Vec::new());
                    true
                }
                other => panic!("the schemas have no `{other}`"),
            };
            if !is_fine {
                wrong.push(format!("{at} is {value}, not {key} {rule}"));
            }
        }
    }
}
