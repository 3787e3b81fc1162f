//! The CustomResourceDefinition, from the schema and the table.

use serde_json::{Map, Value, json};

use super::super::kind::Kind;
use super::super::schema::{Field, Type};
use super::VERSION;
use super::rows::{Bound, Row, row};

/// The CustomResourceDefinition of ClusterResourceClaimTemplates of `apportion.dev`.
pub fn definition() -> Value {
    let column = |name: &str, of: &str, path: &str| json!({ "name": name, "type": of, "jsonPath": path });
    let ready = |field: &str| format!(".status.conditions[?(@.type==\"Ready\")].{field}");
    let mut reason = column("Reason", "string", &ready("reason"));
    put(&mut reason, "priority", json!(1));
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "clusterresourceclaimtemplates.apportion.dev",
            "labels": { "app.kubernetes.io/name": "apportion" },
        },
        "spec": {
            "group": "apportion.dev",
            "scope": "Cluster",
            "names": {
                "kind": "ClusterResourceClaimTemplate",
                "listKind": "ClusterResourceClaimTemplateList",
                "plural": "clusterresourceclaimtemplates",
                "singular": "clusterresourceclaimtemplate",
                "shortNames": ["crct"],
            },
            "versions": [{
                "name": VERSION,
                "served": true,
                "storage": true,
                "subresources": { "status": {} },
                "additionalPrinterColumns": [
                    column("Ready", "string", &ready("status")),
                    column("Current", "integer", ".status.current"),
                    column("Matched", "integer", ".status.matched"),
                    column("Failing", "integer", ".status.failing"),
                    reason,
                    column("Age", "date", ".metadata.creationTimestamp"),
                ],
                "schema": { "openAPIV3Schema": schema(Kind::TemplateSource.schema(VERSION), "") },
            }],
        },
    })
}

fn put(schema: &mut Value, name: &str, value: Value) {
    if let Some(fields) = schema.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}

/// What is said about a place. An alternative of a request is as the request would be.
fn row_of(at: &str) -> Option<&'static Row> {
    row(at).or_else(|| row(&at.replace(".firstAvailable[].", ".exactly."))).or_else(|| {
        match at.strip_suffix(".firstAvailable[]") {
            Some(request) => row(&format!("{request}.exactly")),
            None => None,
        }
    })
}

/// The schema of a value. Bounded: as deep as the types.
fn schema(of: &'static Type, at: &str) -> Value {
    let row = row_of(at);
    let bounds = row.map(|row| row.bounds).unwrap_or_default();
    let mut schema = match of {
        Type::Opt(inner) => return self::schema(inner, at),
        Type::Text => json!({ "type": "string" }),
        Type::Flag => json!({ "type": "boolean" }),
        Type::Int32 => json!({ "type": "integer", "format": "int32" }),
        Type::Int64 => json!({ "type": "integer", "format": "int64" }),
        Type::Quantity => json!({
            "anyOf": [{ "type": "integer" }, { "type": "string" }], "x-kubernetes-int-or-string": true, "pattern": QUANTITY,
        }),
        Type::Time => json!({ "type": "string", "format": "date-time" }),
        Type::Any | Type::Open(_) => json!({ "x-kubernetes-preserve-unknown-fields": true }),
        Type::List(element) => json!({
            "type": "array", "x-kubernetes-list-type": "atomic", "items": self::schema(element, &format!("{at}[]")),
        }),
        Type::Map(element) => {
            json!({ "type": "object", "additionalProperties": self::schema(element, &format!("{at}{{}}")) })
        }
        // What servers know of metadata is not told them again.
        Type::Object(_) if at == "metadata" => json!({ "type": "object" }),
        Type::Object(fields) => object(fields, bounds, at),
    };
    if let Some(row) = row.filter(|row| !row.text.is_empty()) {
        put(&mut schema, "description", json!(row.text));
    }
    let mut rules = Vec::new();
    for bound in bounds {
        apply(bound, of, &mut schema, &mut rules);
    }
    if !rules.is_empty() {
        put(&mut schema, "x-kubernetes-validations", Value::Array(rules));
    }
    schema
}

fn object(fields: &'static [Field], bounds: &[Bound], at: &str) -> Value {
    let only = bounds.iter().find_map(|bound| if let Bound::Only(names) = bound { Some(*names) } else { None });
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in
        fields.iter().filter(|field| field.is_released() && only.is_none_or(|names| names.contains(&field.name)))
    {
        let at = if at.is_empty() { field.name.to_owned() } else { format!("{at}.{}", field.name) };
        if row_of(&at).is_some_and(|row| row.bounds.iter().any(|bound| matches!(bound, Bound::Required))) {
            required.push(json!(field.name));
        }
        properties.insert(field.name.to_owned(), schema(&field.holds, &at));
    }
    let mut object = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        put(&mut object, "required", Value::Array(required));
    }
    object
}

/// Adds to a schema what a bound says.
fn apply(bound: &Bound, of: &Type, schema: &mut Value, rules: &mut Vec<Value>) {
    match bound {
        Bound::Required | Bound::Keys(_) | Bound::Only(_) => {}
        Bound::Default(text) => put(schema, "default", json!(text)),
        Bound::OneOf(known) => put(schema, "enum", json!(known)),
        Bound::Between(least, most) => {
            put(schema, "minimum", json!(least));
            // The type says it already.
            if *most != i64::MAX {
                put(schema, "maximum", json!(most));
            }
        }
        Bound::Most(most) => {
            put(schema, if matches!(of, Type::Map(_)) { "maxProperties" } else { "maxItems" }, json!(most));
        }
        Bound::Is(format) => {
            let (pattern, most) = format.pattern();
            put(schema, "maxLength", json!(most));
            if let Some(pattern) = pattern {
                put(schema, "pattern", json!(pattern));
            }
        }
        Bound::Set => put(schema, "x-kubernetes-list-type", json!("set")),
        Bound::MapBy(key) => {
            put(schema, "x-kubernetes-list-type", json!("map"));
            put(schema, "x-kubernetes-list-map-keys", json!([key]));
        }
        Bound::OneValue => put(schema, "x-kubernetes-map-type", json!("atomic")),
        Bound::Object => put(schema, "type", json!("object")),
        Bound::Rule(rule) => {
            let mut said = json!({ "rule": rule.cel, "message": rule.message, "reason": rule.kind.reason() });
            if !rule.at.is_empty() {
                put(&mut said, "fieldPath", json!(format!(".{}", rule.at)));
            }
            rules.push(said);
        }
        Bound::Claim(cel, message) => rules.push(json!({ "rule": cel, "message": message })),
    }
}

/// A quantity as text.
const QUANTITY: &str = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(([KMGTPE]i)|[numkMGTPE]|([eE][+-]?[0-9]+))?$";
