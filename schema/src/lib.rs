//! JSON Schemas of what the program prints for other programs, made from the declarations of the core's types (`npm/entry/decisions.d.ts`,
//! which a test compares with the types) and of the documents around them (`documents.d.ts`).
//!
//! `v1/` has the schemas as files, which the program prints by `apportion schema`; `docs/formats.md` is the page about them. The test of this
//! crate makes both: `APPORTION_RECORD=1 cargo test -p apportion-schema`.

mod declaration;
mod page;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

pub use page::page;

/// All formats: the name that `apportion schema` knows, and the type of the document.
const DOCUMENTS: [(&str, &str); 18] = [
    ("allocate", "AllocateDocument"),
    ("batch", "BatchLine"),
    ("cel", "CelDocument"),
    ("check", "CheckDocument"),
    ("check-watch", "CheckWatchLine"),
    ("codes", "CodesDocument"),
    ("crct-status", "CrctStatusDocument"),
    ("explain", "ExplainDocument"),
    ("fit", "FitDocument"),
    ("nodes-needed", "NodesNeededDocument"),
    ("plan", "PlanDocument"),
    ("replay-trace", "ReplayTraceDocument"),
    ("run", "RunDocument"),
    ("snapshot", "Snapshot"),
    ("taint", "TaintDocument"),
    ("usage", "UsageDocument"),
    ("validate", "ValidateDocument"),
    ("what-if", "WhatIfDocument"),
];

/// Where a schema refers to another type.
const TYPES: &str = "#/$defs/";

/// A schema by its name.
#[derive(Clone, PartialEq, Debug)]
pub struct Named {
    /// The name, mostly that of the command.
    pub name: &'static str,
    /// JSON Schema, draft 2020-12, with all types that it refers to. It allows fields that it does not name, as later versions have more.
    pub schema: Value,
}

/// All schemas, by name.
///
/// # Errors
///
/// What in the declarations cannot be read, or is not declared.
pub fn schemas() -> Result<Vec<Named>, String> {
    let types =
        declaration::types(&[include_str!("../../npm/entry/decisions.d.ts"), include_str!("../documents.d.ts")])?;
    DOCUMENTS.iter().map(|(name, of)| Ok(Named { name, schema: schema(&types, name, of)? })).collect()
}

fn schema(types: &BTreeMap<String, Value>, name: &str, of: &str) -> Result<Value, String> {
    let find = |of: &str| types.get(of).ok_or_else(|| format!("there is no type `{of}`"));
    let mut schema = find(of)?.clone();
    let mut used: BTreeMap<String, Value> = BTreeMap::new();
    let mut open = references(&schema);
    while let Some(of) = open.pop_first() {
        let found = find(&of)?;
        if used.insert(of, found.clone()).is_none() {
            open.append(&mut references(found));
        }
    }
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        fields.insert("$id".to_owned(), json!(format!("urn:apportion:schema:v1:{name}")));
        fields.insert("$defs".to_owned(), json!(used));
    }
    Ok(schema)
}

/// The types that a schema refers to.
fn references(schema: &Value) -> BTreeSet<String> {
    match schema {
        Value::Object(parts) => {
            let own = parts.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix(TYPES));
            own.map(str::to_owned).into_iter().chain(parts.values().flat_map(references)).collect()
        }
        Value::Array(parts) => parts.iter().flat_map(references).collect(),
        _ => BTreeSet::new(),
    }
}

/// The text of a file of `v1/`.
pub fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}
